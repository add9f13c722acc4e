"""What takes its time with a long session is done in a thread: the event loop only waits for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history import view
from gemini_companion.engine.history.item import Item
from gemini_companion.sessions.threads import IN_THREAD_FROM
from tests.support.sessions import Studio


@pytest.fixture
def rounds_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many contents each round had that was curated in the event loop's own thread."""
    found: list[int] = []
    own, curate = threading.current_thread(), view.curate_round

    def noted(items: Sequence[Item], *more: Any, **named: Any) -> list[Item]:
        if threading.current_thread() is own:
            found.append(len(items))
        return curate(items, *more, **named)

    monkeypatch.setattr(view, "curate_round", noted)
    return found


async def test_the_view_of_a_long_session_is_made_beside_the_loop(
    tmp_path: Path, rounds_of_the_loop: list[int]
) -> None:
    contents = [
        {"role": role, "parts": [{"text": f"{number}"}]}
        for number in range(IN_THREAD_FROM // 2)
        for role in ("user", "model")
    ]
    file = tmp_path / "long.json"
    file.write_text(json.dumps(contents), "utf-8")
    studio = Studio(tmp_path)
    info = await studio.app.import_session(studio.client, str(file))
    await studio.app.fork(studio.client, info.session_id, None)
    assert len(rounds_of_the_loop) <= 4  # the last one may be asked for again
    assert sum(rounds_of_the_loop) <= 8
