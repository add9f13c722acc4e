"""`SqliteRecall`: the `RecallStore` port. Searches on a thread and a connection of its own, so that no write waits."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING, Final, TypeVar

from gemini_companion.adapters.storage import recall_index
from gemini_companion.adapters.storage.faults import BROKEN, result_code, storage_fault
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.recall.query import RecallQuery
from gemini_companion.sessions.recall_store import PassageText, Vector
from gemini_companion.sessions.recalled import RecallHit, RecallResult

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_AT_ONCE: Final = 2
"""Searches that run at the same time."""
_STEPS_OF_A_QUERY: Final = 10_000
"""Instructions of the database, some tenths of a millisecond, after which it looks whether anybody still waits."""
_ENTRIES_AT_ONCE: Final = 50
"""Entries whose passages are read at once, to be embedded."""
_SECONDS_BEFORE_INDEXING: Final = 1.0
"""Between the end of a long write and its index: whoever waits for the session that was written has it first."""
_STEPS_BEFORE_A_SEARCH: Final = 20
"""Steps of indexing that a search waits for: half a second or so."""


class SqliteRecall:
    """Recall over the sessions of one file. `notify` gets a sentence for people, on any thread."""

    def __init__(
        self, worker: Worker, path: str, notify: Callable[[str], None], vaulted: Vaulted | None = None
    ) -> None:
        self._vaulted = vaulted
        self._worker = worker
        self._path = path
        self._notify = notify
        self._searching = asyncio.Semaphore(_AT_ONCE)
        self._unembedded: tuple[str, list[int]] = ("", [])
        """A model, and spots that had no vector of it when all were looked through, the newest last."""
        self._indexing: set[asyncio.Task[None]] = set()
        self._leaving: set[str] = set()
        """Sessions that are being deleted."""

    async def search(
        self, query: RecallQuery, *, session_id: str | None = None, limit: int = 10, vector: Vector | None = None
    ) -> RecallResult:
        """The turns that answer a question best."""

        def work(connection: sqlite3.Connection) -> list[RecallHit]:
            from gemini_companion.adapters.storage import recall_search, recall_vectors  # loaded with the first search

            dense: list[tuple[int, int]] = []
            if vector is not None:
                rows = recall_search.rows_of_session(connection, session_id)
                dense = recall_vectors.nearest(connection, vector, rows)
            found = recall_search.search(connection, query, session_id=session_id, limit=limit, dense=dense)
            if not found and not recall_index.is_sound(connection):
                raise _DamagedIndex
            return recall_search.hits(connection, found, query.words, self._vaulted)

        return await self._answer(work, session_id)

    async def whole(
        self, *, session_id: str | None = None, turn_id: str | None = None, entry_id: str | None = None
    ) -> RecallResult:
        """All that was said in a turn, or one entry."""

        def work(connection: sqlite3.Connection) -> list[RecallHit]:
            from gemini_companion.adapters.storage import recall_search

            return recall_search.whole(
                connection, session_id=session_id, turn_id=turn_id, entry_id=entry_id, vaulted=self._vaulted
            )

        return await self._answer(work, session_id)

    async def passages_without_vector(self, model: str) -> list[PassageText] | None:
        """Some of the passages that have no vector of a model yet."""
        from gemini_companion.adapters.storage import recall_vectors

        known, spots = self._unembedded
        if known != model or not spots:
            spots = await self._worker.run("read", lambda connection: recall_vectors.spots_without(connection, model))
            self._unembedded = model, spots
            if not spots:
                return None
        some = [spots.pop() for _ in range(min(len(spots), _ENTRIES_AT_ONCE))]
        return await self._worker.run(
            "relaxed", lambda connection: recall_vectors.passages_without(connection, model, some)
        )

    async def save_vectors(self, vectors: Sequence[tuple[PassageText, Vector]]) -> None:
        """Keep the vectors of passages."""
        from gemini_companion.adapters.storage import recall_vectors

        await self._worker.run("relaxed", lambda connection: recall_vectors.save(connection, vectors))

    async def index(self) -> None:
        """Index what is missing, in steps between which others get their turn."""
        while await self._worker.run("relaxed", self._index_step):
            pass

    def index_later(self, written: Sequence[Entry], *, is_fork: bool = False) -> None:
        """Index in the background what writing left out: many entries, or those that a fork shares.

        A fault goes to the log.
        """
        if not (is_fork or recall_index.is_left_for_later(written)):
            return
        task = asyncio.create_task(self._index_quietly(), name="indexing for recall")
        self._indexing.add(task)
        task.add_done_callback(self._indexing.discard)

    async def with_index(self, work: Callable[[sqlite3.Connection], _T]) -> tuple[_T, int]:
        """What `work` reads once the indexes are complete, or nearly so, and how many sessions have more to be indexed.

        It reads anew if the indexes turned out to be damaged.
        """
        behind = await self.catch_up()
        found = await self._read_or_mend(work)
        if behind or not await self._count_behind():
            return found, behind
        behind = await self.catch_up()
        return await self._read_or_mend(work), behind

    @asynccontextmanager
    async def leaving(self, session_ids: Sequence[str]) -> AsyncGenerator[None]:
        """Take sessions that are to be deleted out of the indexes, in steps between which others get their turn.

        Within it the background does not put them in again. What another process puts in, deleting them takes out.
        """
        self._leaving.update(session_ids)
        try:
            for one in session_ids:
                left = await self._worker.run(
                    "read", lambda connection, one=one: recall_index.steps_to_forget(connection, one)
                )
                while left > 0 and await self._worker.run(
                    "relaxed", lambda connection, one=one: recall_index.forget_some(connection, one)
                ):
                    left -= 1
            yield
        finally:
            self._leaving.difference_update(session_ids)

    async def close(self) -> None:
        """End what goes on in the background; the next search does the rest of it."""
        for task in tuple(self._indexing):
            task.cancel()
        if self._indexing:
            await asyncio.wait(tuple(self._indexing))

    def _index_step(self, connection: sqlite3.Connection, session_id: str | None = None) -> int:
        return recall_index.index_step(connection, session_id, without=frozenset(self._leaving))

    async def _index_quietly(self) -> None:
        await asyncio.sleep(_SECONDS_BEFORE_INDEXING)
        try:
            await self.index()
        except StorageFault as fault:
            _log.warning("A chat was not indexed: %s", fault.message)

    async def _answer(
        self, work: Callable[[sqlite3.Connection], list[RecallHit]], session_id: str | None
    ) -> RecallResult:
        behind = await self.catch_up(session_id)
        try:
            return RecallResult(hits=tuple(await self._read(work)), unindexed=behind)
        except _DamagedIndex:
            await self._renew()
        behind = await self.catch_up(session_id)
        try:
            return RecallResult(hits=tuple(await self._read(work)), unindexed=behind)
        except _DamagedIndex as damage:
            raise storage_fault(damage.__cause__ or damage, self._path) from damage

    async def catch_up(self, session_id: str | None = None) -> int:
        """Index some of what is missing; returns how many sessions have more."""
        behind = await self._count_behind(session_id)
        for _ in range(_STEPS_BEFORE_A_SEARCH):
            if not behind:
                break
            behind = await self._worker.run("relaxed", lambda connection: self._index_step(connection, session_id))
        return behind

    async def _count_behind(self, session_id: str | None = None) -> int:
        return await self._worker.run("read", lambda connection: recall_index.count_behind(connection, session_id))

    async def _read(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        import sqlite3

        from gemini_companion.adapters.storage.database import open_reader

        given_up = threading.Event()

        def run() -> _T:
            try:
                with closing(open_reader(self._path)) as connection:
                    connection.set_progress_handler(given_up.is_set, _STEPS_OF_A_QUERY)
                    connection.execute("BEGIN")  # one state of the file, whatever is written meanwhile
                    return work(connection)
            except (sqlite3.Error, UnicodeDecodeError) as fault:
                if result_code(fault) in BROKEN:
                    raise _DamagedIndex from fault
                raise storage_fault(fault, self._path) from fault

        async with self._searching:  # until the thread is done, whether or not somebody still waits
            searching = asyncio.ensure_future(asyncio.to_thread(run))
            try:
                return await asyncio.shield(searching)
            except asyncio.CancelledError:
                given_up.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([searching])
                if not searching.cancelled():
                    searching.exception()  # marks it as retrieved
                raise

    async def _read_or_mend(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """What is read where no write waits for it; of a damaged file what the writer, which mends it, finds."""
        try:
            return await self._read(work)
        except _DamagedIndex:
            return await self._worker.run("read", work)

    async def _renew(self) -> None:
        _log.error("The index for recall in %s is damaged; it is made anew from the sessions.", self._path)
        await self._worker.run("write", recall_index.repair)
        self._notify(
            "The index that finds what was said earlier was damaged. It is being made anew from your chats, of which"
            " nothing was lost; check the disk."
        )


class _DamagedIndex(Exception):
    """What was read of the index makes no sense."""
