"""Work in a thread: the event loop stays free, and what nobody waits for any more ends."""

from __future__ import annotations

import asyncio
import threading

import pytest

from gemini_companion.sessions.threads import Poll, in_thread
from tests.support.patience import PATIENCE


async def test_a_cancel_returns_at_once_and_the_work_ends_with_its_next_poll() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    went_on: list[str] = []

    def work(poll: Poll) -> None:
        begun.set()
        go_on.wait(PATIENCE)
        try:
            poll()
            went_on.append("past the poll")
        finally:
            ended.set()

    async with asyncio.timeout(PATIENCE):
        job = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(begun.wait, PATIENCE)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        assert not ended.is_set()
        go_on.set()
        await asyncio.to_thread(ended.wait, PATIENCE)
    assert went_on == []


async def test_what_the_work_returns_or_raises_arrives() -> None:
    def fail(poll: Poll) -> None:
        raise ValueError("no")

    assert await in_thread(lambda poll: 7) == 7
    with pytest.raises(ValueError, match="no"):
        await in_thread(fail)
