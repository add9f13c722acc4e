"""Work in a thread: the event loop stays free, and what nobody waits for any more ends."""

from __future__ import annotations

import asyncio
import importlib
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from gemini_companion.sessions.late_turns import LateTurns
from gemini_companion.sessions.threads import Poll, in_steps, in_thread, is_much, load, load_soon
from gemini_companion.sessions.tools.tooling import Tooling
from tests.support.patience import PATIENCE, until_in


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


async def test_a_module_is_loaded_off_the_event_loop_and_one_that_is_missing_is_told_to_whoever_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loaded_late.py").write_text("import threading\nBY = threading.current_thread()\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    await load("loaded_late")
    assert importlib.import_module("loaded_late").BY is not threading.current_thread()
    load_soon("missing_late")
    with pytest.raises(ModuleNotFoundError):
        await load("missing_late")


async def test_prompts_that_wait_for_turns_to_be_loaded_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, begun, order = asyncio.Event(), asyncio.Event(), list[int]()

    async def slowly_at_first(_module: str) -> None:
        if not begun.is_set():
            begun.set()
            await loading.wait()

    monkeypatch.setattr("gemini_companion.sessions.late_turns.load", slowly_at_first)
    turns, anything = LateTurns(), cast("Any", None)

    async def prompt(number: int) -> None:
        await turns.start(anything, anything, Tooling())
        order.append(number)

    prompts: list[asyncio.Task[None]] = []
    async with asyncio.timeout(PATIENCE):
        for number in range(3):
            prompts.append(asyncio.create_task(prompt(number)))
            await until_in(turns.start, number + 1)
        loading.set()
        prompts.append(asyncio.create_task(prompt(3)))
        await asyncio.gather(*prompts)
    assert order == [0, 1, 2, 3]


async def test_work_in_steps_lets_others_have_their_turn_between_them() -> None:
    seen: list[str] = []

    def step(units: int) -> bool:
        assert is_much(units)
        asyncio.get_running_loop().call_soon(seen.append, "another")
        seen.append("step")
        return seen.count("step") == 3

    await in_steps(step)
    assert seen == ["step", "another", "step", "another", "step"]
