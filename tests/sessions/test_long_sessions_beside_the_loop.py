"""What takes its time with a long session is done in a thread: the event loop only waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.history import view
from gemini_companion.engine.history.item import Item
from gemini_companion.sessions.threads import IN_THREAD_FROM
from tests.sessions.conftest import Opener
from tests.support.conversations import dialogue
from tests.support.sessions import Studio

LONG = dialogue(IN_THREAD_FROM // 2, 1)
LAST = 4
"""Contents of the last round, which may be asked for again."""


@pytest.fixture
def on_the_loop(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many contents each round had that was curated in the event loop's own thread."""
    found: list[int] = []
    own, curate = threading.current_thread(), view.curate_round

    def noted(items: Sequence[Item], *more: Any, **named: Any) -> list[Item]:
        if threading.current_thread() is own:
            found.append(len(items))
        return curate(items, *more, **named)

    monkeypatch.setattr(view, "curate_round", noted)
    return found


async def test_the_view_of_one_that_is_imported_and_forked_is_made_beside_the_loop(
    tmp_path: Path, on_the_loop: list[int]
) -> None:
    file = tmp_path / "long.json"
    file.write_text(json.dumps(msgspec.to_builtins(LONG)), "utf-8")
    studio = Studio(tmp_path)
    info = await studio.app.import_session(studio.client, str(file))
    await studio.app.fork(studio.client, info.session_id, None)
    assert sum(on_the_loop) <= 2 * LAST


async def test_the_view_of_one_that_begins_is_made_beside_the_loop_whoever_asks_for_its_size(
    studio: Studio, on_the_loop: list[int]
) -> None:
    session = await studio.load(LONG)
    assert studio.app.info(session).session_id == session.session_id
    assert len(session.history.curated()) == len(LONG) >= IN_THREAD_FROM
    assert sum(on_the_loop) <= LAST


async def test_the_view_of_one_that_is_opened_again_is_made_beside_the_loop(
    opened: Opener, on_the_loop: list[int]
) -> None:
    first = opened()
    session = await first.load(LONG)
    await first.app.close()
    again = opened()
    on_the_loop.clear()
    info = await again.app.open_session(again.client, session.session_id)
    assert sum(on_the_loop) <= LAST
    assert info.token_count == session.token_count(session.choice()).tokens
