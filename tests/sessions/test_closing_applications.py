"""Closing an application: what runs ends, all sessions at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.transcript.pages import history_page
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio


async def test_closing_ends_what_runs_and_a_later_start_finds_it_cancelled(opened: Opener) -> None:
    first = opened()
    await first.chat("one")
    session_id = (await first.session()).session_id
    first.model.called.clear()
    first.model.gate.clear()
    task = asyncio.create_task(first.chat("two"))
    async with asyncio.timeout(PATIENCE):
        await first.model.called.wait()
    await first.app.close()
    await asyncio.gather(task, return_exceptions=True)
    second = opened()
    await second.app.open_session(second.client, session_id)
    session = await second.session()
    transcript = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert transcript[-1].outcome == "cancelled"
    assert json.loads(json.dumps([dict(part) for part in transcript[-1].parts])) == [{"text": "two"}]


class MeetingStore(MemoryStore):
    """Writes nothing until as many writes wait as it was told."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.barrier: asyncio.Barrier | None = None

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        if self.barrier is not None:
            await self.barrier.wait()
        await super().append(session_id, entries)


async def test_closing_ends_all_sessions_at_once_and_none_waits_for_another(tmp_path: Path) -> None:
    store = MeetingStore(str(tmp_path / "files"))
    studio = Studio(tmp_path, store=store)
    studio.model.gate.clear()
    tasks: list[asyncio.Task[ChatResult]] = []
    for number in range(3):
        client, _ = studio.connect(f"editor {number}")
        studio.model.called.clear()
        tasks.append(asyncio.create_task(studio.chat("one", client)))
        async with asyncio.timeout(PATIENCE):
            await studio.model.called.wait()
    store.barrier = asyncio.Barrier(len(tasks))
    async with asyncio.timeout(PATIENCE):
        await studio.app.close()
        await asyncio.gather(*tasks, return_exceptions=True)
