"""`Statistics`: what sessions did and cost, kept up to date by what their logs have grown."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final
from weakref import ReferenceType, WeakKeyDictionary, ref

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.part import call_of, response_of
from gemini_companion.engine.history.settled import Settled
from gemini_companion.engine.statistics.sums import Sums, decoded, encoded, sums_of
from gemini_companion.engine.statistics.tally import Tally, UseKey
from gemini_companion.engine.statistics.uses import ModelUse, ToolUse
from gemini_companion.sessions.kept_sums import KeptSums
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.answers import compression_sums, request_points, stats_of, turn_sums
from gemini_companion.sessions.statistics.shapes import Stats
from gemini_companion.sessions.threads import off_loop

logger = logging.getLogger(__name__)

SLICE: Final = 2_000
"""Entries that are taken in before others have their turn."""
_UNPACKED: Final = 250
"""Of those that are put away: two blocks of short ones, and some megabytes of long ones."""
_SUMS_AT_ONCE: Final = 100
"""Sums of sessions that are taken in before others have their turn."""
_LOGS_AT_ONCE: Final = 20
"""Logs that are read before what they say is kept."""


class _Known:
    """What is known of a session that is loaded."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.lock = asyncio.Lock()
        self._taken = 0
        """Entries of the log that it has."""
        self._counted = (0, 0)
        """Version and epoch of that view."""
        self._settled: ReferenceType[Settled] | None = None
        """What of the view is counted for good. The view itself is not held: most of it may be packed by now."""
        self._settled_to = 0
        self._settled_tokens: Counter[str] = Counter()
        """Of so many of those items."""
        self._tokens: Counter[str] = Counter()

    async def catch_up(self, session: Session) -> None:
        """Take in what the log has grown by."""
        async with self.lock:
            entries = session.history.entries
            while self._taken < len(entries):
                start, end = self._taken, self._taken + (SLICE if self._taken >= entries.gone else _UNPACKED)
                for entry in await off_loop(entries.units_of(start, end), partial(_between, entries, start, end)):
                    self.tally.apply(entry)
                    self._taken += 1
                await asyncio.sleep(0)

    def tokens(self, session: Session) -> Counter[str]:
        """Estimated tokens of each tool's calls and results in the view: together its `tool_outputs`.

        Of a view that has only grown, only what came since is counted.
        """
        history = session.history
        if (history.version, history.epoch) == self._counted:
            return self._tokens
        self._counted = (history.version, history.epoch)
        view, settled = history.curated(), history.settled
        if self._settled is None or self._settled() is not settled:
            self._settled, self._settled_to, self._settled_tokens = ref(settled), 0, Counter()
        for item in settled.items[self._settled_to :]:
            _count_results(item, self._settled_tokens)
        self._settled_to = len(settled.items)
        self._tokens = self._settled_tokens.copy()
        for item in view[self._settled_to :]:
            _count_results(item, self._tokens)
        return self._tokens


class Statistics:
    """The statistics of an application's sessions. `loaded` finds one that is in memory."""

    def __init__(self, services: Services, loaded: Callable[[str], Session | None]) -> None:
        self._services = services
        self._loaded = loaded
        self._known: WeakKeyDictionary[Session, _Known] = WeakKeyDictionary()
        self._stored: dict[str, tuple[int, Sums]] = {}
        """Sums of sessions, as of the number of their newest entry."""
        self._reading = asyncio.Lock()

    async def tally(self, session: Session) -> Tally:
        """The session's tally, as of now. Must not be changed."""
        known = self._known.setdefault(session, _Known())
        await known.catch_up(session)
        return known.tally

    async def of_session(self, session: Session) -> Stats:
        """What a session did and cost. After the first time the price depends on what was added since, not on all."""
        tally = await self.tally(session)
        return stats_of(
            tally.uses,
            tally.tools,
            session_id=session.session_id,
            turns=tally.turns,
            loops=tally.loops,
            compressions=len(tally.installed),
            tokens_saved=tally.tokens_saved,
            span=(tally.started_at, tally.ended_at),
            tool_tokens=self._known[session].tokens(session),
            compression_list=compression_sums(tally),
            requests=request_points(tally.sent),
            turn_list=turn_sums(tally),
        )

    async def of_project(self) -> Stats:
        """The same over all sessions of the project; of imported ones what was done since.

        A log is read once: what comes of it is kept beside it, for other processes too, until it grows. What cannot be
        read is left out, and counted. Raises `StorageFault` if the sessions cannot be listed.
        """
        async with self._reading:
            all_sums, unreadable = await self._sums()
        uses: dict[UseKey, ModelUse] = {}
        tools: dict[str, ToolUse] = {}
        for number, sums in enumerate(all_sums, start=1):
            sums.add_to(uses, tools)
            if number % _SUMS_AT_ONCE == 0:
                await asyncio.sleep(0)
        starts = [sums.started_at for sums in all_sums if sums.started_at is not None]
        ends = [sums.ended_at for sums in all_sums if sums.ended_at is not None]
        return stats_of(
            uses,
            tools,
            sessions=len(all_sums),
            unreadable=unreadable,
            turns=sum(sums.turns for sums in all_sums),
            loops=sum(sums.loops for sums in all_sums),
            compressions=sum(sums.compressions for sums in all_sums),
            tokens_saved=sum(sums.tokens_saved for sums in all_sums),
            span=(min(starts, default=None), max(ends, default=None)),
        )

    async def _sums(self) -> tuple[list[Sums], int]:
        """The sums of every session, and of how many there are none."""
        newest = await self._services.store.sums.newest()
        known: dict[str, tuple[int, Sums]] = {}
        for session_id, seq in newest.items():
            if (session := self._loaded(session_id)) is not None:
                known[session_id] = (seq, sums_of((await self.tally(session)).here))
            elif (held := self._stored.get(session_id)) is not None and held[0] == seq:
                known[session_id] = held
        await self._take_kept({one: seq for one, seq in newest.items() if one not in known}, known)
        missing = [one for one in newest if one not in known]
        for start in range(0, len(missing), _LOGS_AT_ONCE):
            await self._read_logs(missing[start : start + _LOGS_AT_ONCE], newest, known)
        self._stored = known
        return [sums for _, sums in known.values()], len(newest) - len(known)

    async def _take_kept(self, wanted: dict[str, int], known: dict[str, tuple[int, Sums]]) -> None:
        """Add what is kept of sessions."""
        kept = await self._services.store.sums.load(wanted) if wanted else {}
        for number, (session_id, data) in enumerate(kept.items(), start=1):
            if (sums := decoded(data)) is not None:
                known[session_id] = (wanted[session_id], sums)
            if number % _SUMS_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _read_logs(
        self, session_ids: Sequence[str], newest: Mapping[str, int], known: dict[str, tuple[int, Sums]]
    ) -> None:
        """Add what logs say, and keep it. A log that grew meanwhile counts as it was read and is read again."""
        made: list[KeptSums] = []
        for session_id in session_ids:
            try:
                _, entries = await self._services.store.load(session_id)
            except CompanionError:
                continue
            sums = sums_of((await _tally_of(entries)).here)
            known[session_id] = (newest[session_id], sums)
            if not entries or entries[-1].seq <= newest[session_id]:
                made.append(KeptSums(session_id, newest[session_id], encoded(sums)))
        try:
            await self._services.store.sums.save(made)
        except CompanionError as fault:
            logger.warning("Statistics were not kept: %s", fault.message)


async def _tally_of(entries: Sequence[Entry]) -> Tally:
    tally = Tally()
    for start in range(0, len(entries), SLICE):
        for entry in entries[start : start + SLICE]:
            tally.apply(entry)
        await asyncio.sleep(0)
    return tally


def _between(entries: Entries[Entry], start: int, end: int) -> Sequence[Entry]:
    return entries[start:end]


def _count_results(item: Item, tokens: Counter[str]) -> None:
    """Add a content's calls or results to the tokens of their tools, by the length of each where there are several."""
    whole = item.measure[1]
    if whole <= 0:
        return
    found = [one for part in item.content.parts if (one := response_of(part) or call_of(part)) is not None]
    if not found:
        return
    names = [str(one.get("name", "")) for one in found]
    left = whole
    if len(found) > 1:
        lengths = [max(1, len(str(one.get("response", one.get("args", ""))))) for one in found]
        chars = sum(lengths)
        for name, length in zip(names[:-1], lengths, strict=False):
            share = whole * length // chars
            tokens[name] += share
            left -= share
    tokens[names[-1]] += left
