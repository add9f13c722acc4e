"""A long history is gone through beside the event loop, also where somebody asks for its sizes first."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history import view
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.curation import curate_round
from gemini_companion.sessions.threads import IN_THREAD_FROM
from tests.support.sessions import Studio


def contents(count: int) -> list[Content]:
    return [user_text(f"prompt {n}") if n % 2 == 0 else model_text(f"answer {n}") for n in range(count)]


async def test_a_long_view_is_curated_in_a_thread_before_its_session_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    on_the_loop = 0

    def count(*args: Any, **more: Any) -> Any:
        nonlocal on_the_loop
        on_the_loop += threading.current_thread() is threading.main_thread()
        return curate_round(*args, **more)

    monkeypatch.setattr(view, "curate_round", count)
    studio = Studio(tmp_path)
    session = await studio.load(contents(IN_THREAD_FROM))
    info = studio.app.info(session)
    assert len(session.history.curated()) == IN_THREAD_FROM
    assert info.session_id == session.session_id
    assert on_the_loop <= 2, "the last round alone"
