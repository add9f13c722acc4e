"""What is done in the background: after the start, every day, every minute."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from gemini_companion.engine.constraints.detect import detect
from gemini_companion.engine.errors import CompanionError, StorageFault
from gemini_companion.engine.history.block import packed
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.recall.words import indexed
from gemini_companion.sessions.maintenance import keep_house, keep_within_limits, maintain, redact_older
from gemini_companion.sessions.retention import StoredSession
from gemini_companion.sessions.turn.rehearsal import rehearse
from gemini_companion.settings.session_retention import DAY_MS, SessionRetention
from tests.support.logs import user


class Parts:
    """Models and a store that record what was asked of them, and fail if they should; a clock that ends after days."""

    def __init__(self, *, fail: bool = False, days: int = 1, aged: int = 0) -> None:
        self.fail = fail
        self.calls: list[object] = []
        self.told: list[str] = []
        self.kept: list[StoredSession] = []
        self.sized: list[Collection[str] | None] = []
        self._days, self._aged = days, aged

    async def warm_up(self) -> None:
        self.calls.append("warm")
        if self.fail:
            raise CompanionError("No network.")

    async def stored(self, sized: Collection[str] | None = None) -> list[StoredSession]:
        self.sized.append(sized)
        return self.kept

    async def redact_older(self) -> None:
        self.calls.append("redact")
        if self.fail:
            raise StorageFault("No disk.")

    async def sweep(self, *, older_than_ms: int) -> int:
        self.calls.append(older_than_ms)
        if self.fail:
            raise StorageFault("No disk.")
        return self._aged

    async def remove_unused(self, sessions: Sequence[StoredSession]) -> int:
        self.calls.append([one.session_id for one in sessions])
        self.kept = [one for one in self.kept if one not in sessions]
        return len(sessions)

    def now(self) -> int:
        return 100 * DAY_MS

    async def sleep(self, seconds: float) -> None:
        assert seconds == 86_400
        self._days -= 1
        if not self._days:
            raise asyncio.CancelledError

    async def sweep_with(self, **limits: Any) -> None:
        """For as many days as it has."""
        with pytest.raises(asyncio.CancelledError):
            await keep_within_limits(self, lambda: SessionRetention(**limits), self, self.told.append)


async def test_sessions_are_swept_at_the_start_and_on_every_day():
    parts = Parts(days=3)
    await parts.sweep_with(max_age=2 * DAY_MS)
    assert parts.calls == [2 * DAY_MS] * 3
    assert parts.told == []


async def test_without_limits_nothing_is_swept():
    parts = Parts()
    await parts.sweep_with(max_age=None)
    assert parts.calls == []


async def test_no_age_is_below_the_least_one():
    parts = Parts()
    await parts.sweep_with(max_age=DAY_MS, min_age=5 * DAY_MS)
    assert parts.calls == [5 * DAY_MS]


async def test_what_goes_is_told_with_the_settings_that_say_so():
    parts = Parts(aged=2)
    parts.kept = [StoredSession(name, 0, 10, is_kept=False, is_open=False) for name in ("a", "b")]
    await parts.sweep_with(max_sessions=1)
    assert parts.calls[1:] == [["a"]]
    (told,) = parts.told
    assert told.startswith("3 chats of this project went: unused for too long and more than are kept.")
    assert "general.sessionRetention" in told


async def test_sizes_are_measured_only_where_room_is_limited():
    parts = Parts(days=2)
    limits = iter([SessionRetention(max_sessions=1), SessionRetention(max_bytes=1)])
    with pytest.raises(asyncio.CancelledError):
        await keep_within_limits(parts, lambda: next(limits), parts, parts.told.append)
    assert parts.sized == [frozenset(), None]


async def test_settings_that_change_count_on_the_next_day():
    parts = Parts(days=2)
    limits = iter([SessionRetention(max_age=None), SessionRetention(max_age=DAY_MS)])
    with pytest.raises(asyncio.CancelledError):
        await keep_within_limits(parts, lambda: next(limits), parts, parts.told.append)
    assert parts.calls == [DAY_MS]


async def test_a_fault_stops_nothing_and_is_logged(caplog: pytest.LogCaptureFixture):
    parts = Parts(fail=True, days=2)
    with caplog.at_level(logging.WARNING), pytest.raises(asyncio.CancelledError):
        await maintain(parts, parts, lambda: SessionRetention(max_age=DAY_MS), parts, parts.told.append)
    assert parts.calls == ["warm", DAY_MS, DAY_MS]
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


async def test_what_was_unpacked_for_a_moment_does_not_stay_for_hours():
    (block,) = packed([PromptEntry(id="p1", seq=1, time=1, turn_id="t1", content=user({"text": "What?"}))])
    before = block.entries
    assert block.entries is before

    class House:
        slept = False

        async def sleep(self, seconds: float) -> None:
            if self.slept:
                raise asyncio.CancelledError
            self.slept = True

        async def let_go_idle(self) -> None:
            pass

    with pytest.raises(asyncio.CancelledError):
        await keep_house(House(), House())
    assert block.entries is not before
    assert block.entries == before


@pytest.mark.parametrize("fail", [False, True])
async def test_earlier_chats_are_gone_through_for_secrets_and_a_fault_only_logged(
    caplog: pytest.LogCaptureFixture, *, fail: bool
):
    parts = Parts(fail=fail)
    await redact_older(parts)
    assert parts.calls == ["redact"]
    assert ("still have the secrets" in caplog.text) == fail


async def test_a_prompt_that_was_rehearsed_compiles_no_pattern(monkeypatch: pytest.MonkeyPatch):
    await rehearse()
    compiled: list[str] = []
    plain = re.compile

    def compile_and_note(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return plain(source, flags)

    with monkeypatch.context() as patch:
        patch.setattr(re, "compile", compile_and_note)
        assert detect("Always answer in German. Don't use `tabs`.")
        assert indexed("camelCase in 日本語")
    assert compiled == []


async def test_messages_are_answered_between_the_steps_of_a_rehearsal():
    turns = 0

    async def answer() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    answering = asyncio.create_task(answer())
    await rehearse()
    answering.cancel()
    assert turns >= 2
