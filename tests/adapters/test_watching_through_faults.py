"""A watch whose system tells nothing but faults keeps nobody busy."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from gemini_companion.adapters.watching import FileWatch
from tests.support.patience import PATIENCE


async def test_a_fault_that_lasts_is_met_less_and_less_often_and_the_log_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    rests: list[float] = []
    enough, step = asyncio.Event(), asyncio.sleep

    class Broken:
        def __init__(self, *args: object) -> None: ...

        def watch(self, *args: object) -> object:
            raise RuntimeError("It cannot tell")

        def close(self) -> None: ...

    async def rest(seconds: float) -> None:
        rests.extend([seconds] if seconds else [])
        if len(rests) >= 9:
            enough.set()
        await step(0)

    async def ignore(changed: frozenset[Path]) -> None: ...

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: Broken)
    monkeypatch.setattr("gemini_companion.adapters.watching.asyncio.sleep", rest)
    watching = asyncio.create_task(FileWatch([tmp_path / "settings.json"]).run(ignore))
    async with asyncio.timeout(PATIENCE):
        await enough.wait()
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    assert "RuntimeError: It cannot tell" in caplog.text
    assert rests[:9] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
