"""The writer thread: everything that touches the file happens there, one job after the other.

Jobs that wait in the queue together share a transaction, so that ten sessions that append at once cost one fsync. Each
job has a savepoint of its own: one that fails does not affect the others. If the transaction as a whole fails (a full
disk), its jobs are tried again one by one, so that each gets its own result.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from gemini_companion.adapters.storage.faults import MALFORMED, result_code, storage_fault
from gemini_companion.engine.errors import InvalidInput, StorageFault

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.storage.database import Database

_log = logging.getLogger(__name__)

_T = TypeVar("_T")
_P = TypeVar("_P")

Kind: TypeAlias = Literal["read", "write", "relaxed", "file", "alone"]
"""`write` is on disk when it is done; `relaxed` may be lost if the machine fails, not if the process does; `file` needs
no database; `alone` needs it outside of any transaction.
"""

_APART: Final = ("file", "alone")

Work: TypeAlias = Callable[["sqlite3.Connection"], _T]

_MAX_GROUP: Final = 256


class _Job:
    """Work, and the future for its result on the caller's loop; without one, a failure is logged."""

    __slots__ = ("before", "fault", "future", "kind", "loop", "on_failure", "value", "work")

    def __init__(
        self,
        kind: Kind,
        work: Callable[..., Any],
        loop: asyncio.AbstractEventLoop | None = None,
        on_failure: Callable[[], None] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self.kind: Kind = kind
        self.before = before
        self.work = work
        self.loop = loop
        self.on_failure = on_failure
        self.future: asyncio.Future[Any] | None = loop.create_future() if loop else None
        self.value: Any = None
        self.fault: BaseException | None = None

    def settle(self) -> None:
        """Deliver the result. The loop may be closed by now, and the waiter cancelled."""
        if self.loop is None:
            if self.fault is not None:
                _log.warning("The session store could not do something in the background: %s", self.fault)
                if self.on_failure is not None:
                    self.on_failure()
            return
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        if self.future is None or self.future.done():
            return
        if self.fault is not None:
            self.future.set_exception(self.fault)
        else:
            self.future.set_result(self.value)


class Worker:
    """Owns the thread and the `Database`, which is made on the thread for the first job.

    `beat` is run every `beat_seconds` as a relaxed job, from the first call of `keep_beating` on.
    """

    def __init__(self, make_database: Callable[[], Database], *, beat: Work[None], beat_seconds: float) -> None:
        self._make_database = make_database
        self._beat = beat
        self._beat_seconds = beat_seconds
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._is_beating = False
        self._posted = 0  # written by the loop's thread only
        self._post_done = 0  # written by our own only

    @property
    def is_closed(self) -> bool:
        """True once `close` was called."""
        return self._is_closed

    @property
    def posts_waiting(self) -> int:
        """The number of posted jobs that are not done yet."""
        return self._posted - self._post_done

    def run(self, kind: Kind, work: Work[_T]) -> asyncio.Future[_T]:
        """Do the work on the thread, within a transaction. It may run more than once, but only one run has effect.

        Faults of the database and of the file system are raised as `StorageFault`, other exceptions of `work` as they
        are.
        """
        job = _Job(kind, work, asyncio.get_running_loop())
        self._put(job)
        return job.future  # type: ignore[return-value]

    def write(self, prepare: Callable[[], _P], work: Callable[[sqlite3.Connection, _P], _T]) -> asyncio.Future[_T]:
        """Do the work like a `write` of `run`, with what `prepare` gives once, on the thread, ahead of the transaction.

        So what takes its time without the database keeps no other process waiting.
        """
        prepared: list[_P] = []

        def with_it(connection: sqlite3.Connection) -> _T:
            return work(connection, prepared[0])

        job = _Job("write", with_it, asyncio.get_running_loop(), before=lambda: prepared.append(prepare()))
        self._put(job)
        return job.future  # type: ignore[return-value]

    def run_file(self, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """Do work on files on the thread, outside any transaction."""
        job = _Job("file", work, asyncio.get_running_loop())
        self._put(job)
        return job.future  # type: ignore[return-value]

    def post(self, work: Work[None], *, on_failure: Callable[[], None]) -> None:
        """Do relaxed work soon; a failure is logged, and `on_failure` called on the thread."""
        self._posted += 1
        self._put(_Job("relaxed", work, on_failure=on_failure))

    def keep_beating(self) -> None:
        """Call `beat` regularly from now on. The next job starts it."""
        self._is_beating = True

    async def close(self, last: Work[None]) -> None:
        """Finish what is queued, then run `last` if `keep_beating` was called, and end the thread."""
        if self._is_closed:
            return
        waiting = self.run("write", last) if self._is_beating and self._thread is not None else None
        self._is_closed = True
        try:
            if waiting is not None:
                await waiting
        finally:
            if self._thread is not None:
                self._queue.put(None)
                await asyncio.to_thread(self._thread.join)

    def _put(self, job: _Job) -> None:
        if self._is_closed:
            raise StorageFault("The session store is closed.", hint="Start gemini-companion again.")
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="gemini-companion-storage", daemon=True)
            self._thread.start()
        self._queue.put(job)

    def _serve(self) -> None:
        database = self._make_database()
        next_beat = time.monotonic() + self._beat_seconds
        is_open = True
        while is_open:
            jobs, is_open = self._next_jobs(next_beat)
            if self._is_beating and time.monotonic() >= next_beat:
                jobs.append(_Job("relaxed", self._beat))
                next_beat = time.monotonic() + self._beat_seconds
            for group in _grouped(jobs):
                _do(database, [job for job in group if _is_prepared(job, database)])
                for job in group:
                    job.settle()
                    self._post_done += job.on_failure is not None
        database.drop()

    def _next_jobs(self, next_beat: float) -> tuple[list[_Job], bool]:
        """The jobs that wait, up to a bound, after waiting for the first until the next heartbeat is due.

        False with the last jobs before the end.
        """
        jobs: list[_Job] = []
        try:
            timeout = max(0.0, next_beat - time.monotonic()) if self._is_beating else None
            job = self._queue.get(timeout=timeout)
            while job is not None:
                jobs.append(job)
                if len(jobs) >= _MAX_GROUP:
                    return jobs, True
                job = self._queue.get_nowait()
        except Empty:
            return jobs, True
        return jobs, False


def _grouped(jobs: list[_Job]) -> list[list[_Job]]:
    """Neighbouring jobs that may share a transaction."""
    groups: list[list[_Job]] = []
    for job in jobs:
        if groups and job.kind not in _APART and groups[-1][0].kind not in _APART:
            groups[-1].append(job)
        else:
            groups.append([job])
    return groups


def _is_prepared(job: _Job, database: Database) -> bool:
    """Do what comes before the job; False if that failed, which is then its fault."""
    try:
        if job.before is not None:
            job.before()
    except BaseException as fault:
        job.fault = _translated(fault, database.path)
        return False
    return True


def _do(database: Database, jobs: list[_Job], *, is_second_try: bool = False) -> None:
    """Run a group; afterwards every job has its value or its fault."""
    if not jobs:
        return
    try:
        if jobs[0].kind == "file":
            jobs[0].value = jobs[0].work()
        elif jobs[0].kind == "alone":
            jobs[0].value = jobs[0].work(database.connection())
        else:
            _transact(database, jobs)
    except BaseException as fault:
        database.doubt(fault)
        if len(jobs) > 1:
            for job in jobs:
                _do(database, [job])
        elif result_code(fault) in MALFORMED and not is_second_try:
            _do(database, jobs, is_second_try=True)  # on what was salvaged of the damaged file
        else:
            jobs[0].fault = _translated(fault, database.path)


def _transact(database: Database, jobs: list[_Job]) -> None:
    """Run all jobs in one transaction. Raises, after a rollback, if it fails as a whole."""
    import sqlite3

    kinds = {job.kind for job in jobs}
    connection = database.connection()
    if kinds != {"read"}:
        database.be_durable("write" in kinds)
    connection.execute("BEGIN" if kinds == {"read"} else "BEGIN IMMEDIATE")
    try:
        for job in jobs:
            job.value = job.fault = None
            connection.execute("SAVEPOINT job")
            try:
                job.value = job.work(connection)
            except (sqlite3.Error, UnicodeDecodeError):
                raise
            except Exception as fault:
                connection.execute("ROLLBACK TO job")
                job.fault = _translated(fault, database.path)
            connection.execute("RELEASE job")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def _translated(fault: BaseException, path: str) -> BaseException:
    import sqlite3

    if isinstance(fault, sqlite3.Error | OSError | UnicodeDecodeError):
        translated = storage_fault(fault, getattr(fault, "filename", None) or path)
        translated.__cause__ = fault
        return translated
    if isinstance(fault, UnicodeEncodeError):
        return InvalidInput("A text holds half of a character (a lone surrogate), which cannot be stored.")
    return fault
