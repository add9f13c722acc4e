"""A round: all calls of one answer, and their results in the same order."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.called import Called, Ended, called_behind
from gemini_companion.sessions.tools.calls import BY_END, BY_USER, CallRun, Setting
from gemini_companion.tools.tool import ToolRefusal

SIDE_BY_SIDE: Final = 8
"""Reads and subagents that run at the same time."""

_SIDE_BY_SIDE: Final = frozenset({"read", "agent"})
"""Risks of the tools that do: what a subagent changes is judged, and recorded, call by call."""

MOST_CALLS: Final = 128
"""Calls of one answer that are made; the others are told to come again."""

MOST_BEHIND: Final = 5
"""Calls that hooks can have made behind one call, one behind the other."""

STOP_SECONDS: Final = 0.06
"""Seconds that cancelled calls are waited for; the turn's end is due within 0.1 s."""


class Round:
    """The calls of one answer. `run` can be called once."""

    def __init__(self, calls: Iterable[Called], setting: Setting) -> None:
        self._setting = setting
        self._runs = [CallRun(_bounded(called, number), setting) for number, called in enumerate(calls)]
        self._ended: dict[int, Ended] = {}
        self._before: dict[int, Ended] = {}
        """Calls that have ended, and behind which a hook has another one made."""
        self._one_by_one = asyncio.Lock()

    @property
    def is_empty(self) -> bool:
        """The answer calls nothing."""
        return not self._runs

    async def run(self) -> None:
        """Run all of them: reads and subagents that stand beside each other side by side, the others one by one.

        Cancelled, it stops what runs, and every call has a result all the same.
        """
        for run in self._runs:
            run.announce()
        tasks: set[asyncio.Task[None]] = set()
        try:
            for batch in self._batches():
                free = asyncio.Semaphore(SIDE_BY_SIDE)
                tasks = {asyncio.create_task(self._run_one(number, free), name="tool call") for number in batch}
                await asyncio.wait(tasks)
                for task in tasks:
                    task.result()
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=STOP_SECONDS)
            raise

    def close(self, by: str) -> None:
        """Give every call that has no result one that says that it was interrupted; `by` is who stopped it."""
        message = BY_END if by == "shutdown" else BY_USER
        for number, run in enumerate(self._runs):
            if number not in self._ended:
                self._ended[number] = self._behind(number, run.interrupted(message))

    @property
    def ended(self) -> list[Ended]:
        """The calls that have their results, in the order of the calls."""
        return [self._ended[number] for number in sorted(self._ended)]

    def entry(self) -> Draft:
        """The entry with all results."""
        return results_entry(self._setting.session, self._setting.turn_id, self.ended)

    async def _run_one(self, number: int, free: asyncio.Semaphore) -> None:
        async with free:
            ended = await self._runs[number].run()
        for _ in range(MOST_BEHIND):
            if (tail := self._runs[number].tail) is None:
                break
            self._before.setdefault(number, ended)
            new_id = self._setting.session.services.new_id
            async with self._one_by_one:  # it may be one that acts
                run = CallRun(called_behind(self._runs[number].called, tail.name, tail.args, new_id), self._setting)
                self._runs[number] = run
                run.announce()
                ended = self._behind(number, await run.run())
        self._ended.setdefault(number, ended)

    def _behind(self, number: int, ended: Ended) -> Ended:
        """The end of a call as that of the one that it was made behind, if it was."""
        before = self._before.get(number)
        if before is None:
            return ended
        name, record = ended.called.call.name, ended.record
        return replace(
            ended,
            called=before.called,
            record=msgspec.structs.replace(
                before.record, outcome=record.outcome, summary=f"{name[:80]}: {record.summary}"[:200]
            ),
            acted=before.acted or ended.acted,
        )

    def _batches(self) -> Iterator[list[int]]:
        reads: list[int] = []
        for number, run in enumerate(self._runs):
            if self._is_harmless(run.called):
                reads.append(number)
                continue
            if reads:
                yield reads
                reads = []
            yield [number]
        if reads:
            yield reads

    def _is_harmless(self, called: Called) -> bool:
        try:
            return self._setting.session.tools.find(called.call.name).risk in _SIDE_BY_SIDE
        except ToolRefusal:
            return True  # it only gets a refusal


def results_entry(session: Session, turn_id: str, ended: Sequence[Ended]) -> Draft:
    """The entry with the results of a round."""
    stamp = session.stamp()
    content = Content(role="user", parts=tuple(one.part for one in ended))
    records = tuple(one.record for one in ended)
    return lambda seq: ToolResultEntry(**stamp, seq=seq, turn_id=turn_id, content=content, calls=records)


def _bounded(called: Called, number: int) -> Called:
    """The call, with a fault if it is one too many."""
    if number < MOST_CALLS:
        return called
    return replace(
        called, fault=f"Not made: of one answer, {MOST_CALLS} calls are. Call it again if it is still needed."
    )
