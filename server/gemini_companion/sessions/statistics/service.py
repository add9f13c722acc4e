"""`Statistics`: what sessions did and cost, kept up to date by what their logs have grown."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from operator import is_
from typing import Final
from weakref import WeakKeyDictionary

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.part import call_of, response_of
from gemini_companion.engine.statistics.tally import Tally, UseKey
from gemini_companion.engine.statistics.uses import ModelUse, ToolUse
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.answers import compression_sums, request_points, stats_of
from gemini_companion.sessions.statistics.shapes import Stats

SLICE: Final = 2_000
"""Entries that are taken in before others have their turn."""


class _Known:
    """What is known of a session that is loaded."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.lock = asyncio.Lock()
        self._taken = 0
        """Entries of the log that it has."""
        self._counted = (0, 0)
        """Version and epoch of that view."""
        self._items: list[Item] = []
        """The view whose results it has."""
        self._tokens: Counter[str] = Counter()

    async def catch_up(self, session: Session) -> None:
        """Take in what the log has grown by."""
        async with self.lock:
            entries = session.history.entries
            while self._taken < len(entries):
                for entry in islice(entries, self._taken, self._taken + SLICE):
                    self.tally.apply(entry)
                    self._taken += 1
                await asyncio.sleep(0)

    def tokens(self, session: Session) -> Counter[str]:
        """Estimated tokens of each tool's calls and results in the view: together its `tool_outputs`.

        Only what differs from the view of the last time is counted.
        """
        history = session.history
        if (history.version, history.epoch) == self._counted:
            return self._tokens
        self._counted = (history.version, history.epoch)
        old, new = self._items, history.curated()
        same = next((at for at, is_same in enumerate(map(is_, old, new)) if not is_same), min(len(old), len(new)))
        for item in islice(old, same, None):
            _count_results(item, self._tokens, -1)
        for item in islice(new, same, None):
            _count_results(item, self._tokens, 1)
        self._items = new
        return self._tokens


class Statistics:
    """The statistics of an application's sessions. `loaded` finds one that is in memory."""

    def __init__(self, services: Services, loaded: Callable[[str], Session | None]) -> None:
        self._services = services
        self._loaded = loaded
        self._known: WeakKeyDictionary[Session, _Known] = WeakKeyDictionary()
        self._stored: dict[str, tuple[SessionMeta, Tally]] = {}
        """Sessions that are not loaded, as of their metadata."""
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
        )

    async def of_project(self) -> Stats:
        """The same over all sessions of the project.

        Logs are read once, and again only where they have changed. What cannot be read is left out, and counted.
        Raises `StorageFault` if the sessions cannot be listed.
        """
        async with self._reading:
            tallies, unreadable = await self._tallies()
        uses: dict[UseKey, ModelUse] = {}
        tools: dict[str, ToolUse] = {}
        for tally in tallies:
            for key, use in tally.uses.items():
                uses.setdefault(key, ModelUse()).add(use)
            for name, used in tally.tools.items():
                tools.setdefault(name, ToolUse()).add(used)
        starts = [tally.started_at for tally in tallies if tally.started_at is not None]
        ends = [tally.ended_at for tally in tallies if tally.ended_at is not None]
        return stats_of(
            uses,
            tools,
            sessions=len(tallies),
            unreadable=unreadable,
            turns=sum(tally.turns for tally in tallies),
            loops=sum(tally.loops for tally in tallies),
            compressions=sum(len(tally.installed) for tally in tallies),
            tokens_saved=sum(tally.tokens_saved for tally in tallies),
            span=(min(starts, default=None), max(ends, default=None)),
        )

    async def _tallies(self) -> tuple[list[Tally], int]:
        metas = await self._listed()
        tallies: list[Tally] = []
        unreadable = 0
        stored: dict[str, tuple[SessionMeta, Tally]] = {}
        for meta in metas:
            session = self._loaded(meta.session_id)
            if session is not None:
                tallies.append(await self.tally(session))
                continue
            known = self._stored.get(meta.session_id)
            if known is None or known[0] != meta:
                try:
                    _, entries = await self._services.store.load(meta.session_id)
                except CompanionError:
                    unreadable += 1
                    continue
                known = (meta, await _tally_of(entries))
            stored[meta.session_id] = known
            tallies.append(known[1])
        self._stored = stored
        return tallies, unreadable

    async def _listed(self) -> list[SessionMeta]:
        metas: list[SessionMeta] = []
        cursor: str | None = None
        while True:
            page = await self._services.store.list(limit=100, cursor=cursor)
            metas += page.sessions
            cursor = page.next_cursor
            if cursor is None:
                return metas


async def _tally_of(entries: Sequence[Entry]) -> Tally:
    tally = Tally()
    for start in range(0, len(entries), SLICE):
        for entry in entries[start : start + SLICE]:
            tally.apply(entry)
        await asyncio.sleep(0)
    return tally


def _count_results(item: Item, tokens: Counter[str], times: int) -> None:
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
            tokens[name] += times * share
            left -= share
    tokens[names[-1]] += times * left
