"""A session that is made while the disk fills is there and told of, or it is not there: never both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.errors import StorageFault
from gemini_companion.sessions.results import SessionInfo
from tests.sessions.conftest import Opener
from tests.support.sessions import Studio

Make = Callable[[Studio, Path], Awaitable[SessionInfo]]


async def fork(studio: Studio, folder: Path) -> SessionInfo:
    return await studio.app.fork(studio.client, (await studio.session()).session_id, None)


async def fork_at_a_turn(studio: Studio, folder: Path) -> SessionInfo:
    return await studio.app.fork(studio.client, (await studio.session()).session_id, 1)


async def read_in(studio: Studio, folder: Path) -> SessionInfo:
    file = folder / "chat.json"
    file.write_text('[{"role": "user", "parts": [{"text": "A question"}]}]', "utf-8")
    return await studio.app.import_session(studio.client, str(file))


async def begin(studio: Studio, folder: Path) -> SessionInfo:
    return await studio.app.new_session(studio.client)


@pytest.mark.parametrize("make", [fork, fork_at_a_turn, read_in, begin])
@pytest.mark.parametrize("writes", [0, 1, 2, 3])
async def test_what_failed_to_be_made_is_not_there_and_what_is_there_was_told(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make, writes: int
) -> None:
    studio = opened()
    await studio.chat("Never touch the folder legacy/.")
    before = {one.session_id for one in (await studio.app.list_sessions()).sessions}
    told: set[str] = set()
    with monkeypatch.context() as patched:
        fill_after(studio, patched, writes)
        with suppress(StorageFault):
            told.add((await make(studio, tmp_path)).session_id)
    there = {one.session_id for one in (await studio.app.list_sessions()).sessions}
    assert there - before == told
    for session_id in told:
        assert (await studio.chat("On", session_id=session_id)).session_id == session_id


def fill_after(studio: Studio, patched: pytest.MonkeyPatch, writes: int) -> None:
    """After so many transactions that somebody waits for the disk is full."""
    assert isinstance(studio.store, SqliteStore)
    worker, left = studio.store.worker, [writes]
    run, write = worker.run, worker.write

    def there_is_room() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StorageFault("There is no space left.")

    def running(kind: Any, work: Any) -> Any:
        if kind == "write":
            there_is_room()
        return run(kind, work)

    def writing(prepare: Any, work: Any) -> Any:
        there_is_room()
        return write(prepare, work)

    patched.setattr(worker, "run", running)
    patched.setattr(worker, "write", writing)
