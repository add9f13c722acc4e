"""What is done once after the start."""

from __future__ import annotations

import asyncio
import logging

import pytest

from gemini_companion.engine.errors import CompanionError, StorageFault
from gemini_companion.sessions.maintenance import keep_house, maintain, redact_older


class Parts:
    """Models and a store that record what was asked of them, and fail if they should."""

    def __init__(self, *, fail: bool = False) -> None:
        self.fail = fail
        self.calls: list[object] = []

    async def warm_up(self) -> None:
        self.calls.append("warm")
        if self.fail:
            raise CompanionError("No network.")

    async def redact_older(self) -> None:
        self.calls.append("redact")
        if self.fail:
            raise StorageFault("No disk.")

    async def sweep(self, *, older_than_ms: int) -> int:
        self.calls.append(older_than_ms)
        if self.fail:
            raise StorageFault("No disk.")
        return 0


async def test_models_are_warmed_up_and_sessions_swept_past_their_retention():
    parts = Parts()
    await maintain(parts, parts, retention_days=2)
    assert parts.calls == ["warm", 2 * 86_400_000]


async def test_without_a_retention_no_session_is_swept():
    parts = Parts()
    await maintain(parts, parts, retention_days=None)
    assert parts.calls == ["warm"]


async def test_neither_fault_stops_the_other_and_both_are_logged(caplog: pytest.LogCaptureFixture):
    parts = Parts(fail=True)
    with caplog.at_level(logging.WARNING):
        await maintain(parts, parts, retention_days=1)
    assert len(parts.calls) == 2
    assert "No network." in caplog.text
    assert "No disk." in caplog.text


async def test_idle_sessions_are_let_go_again_and_again_until_the_end():
    done: list[str] = []

    class House:
        async def sleep(self, seconds: float) -> None:
            if len(done) == 3:
                raise asyncio.CancelledError

        async def let_go_idle(self) -> None:
            done.append("let go")

    with pytest.raises(asyncio.CancelledError):
        await keep_house(House(), House())
    assert len(done) == 3


@pytest.mark.parametrize("fail", [False, True])
async def test_earlier_chats_are_gone_through_for_secrets_and_a_fault_only_logged(
    caplog: pytest.LogCaptureFixture, *, fail: bool
):
    parts = Parts(fail=fail)
    await redact_older(parts, lambda: parts.calls.append("load"))
    assert parts.calls == ["load", "redact"]
    assert ("still have the secrets" in caplog.text) == fail
