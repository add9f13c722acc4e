"""One job at a time per session: turns in order, compressions ahead of waiting prompts, everything cancellable.

A job runs in a task of its own. Whoever asked for it waits for its future; when the last of them gives up, the job is cancelled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from gemini_companion.engine.errors import Cancelled, Overloaded

T = TypeVar("T")
JobKind: TypeAlias = Literal["turn", "compression"]

QUEUE_LIMIT: Final = 16
"""Prompts that may wait in one session."""

SETTLE_SECONDS: Final = 0.07
"""How long a cancelled request waits for its job to say whether it had committed already; the answer is due within 0.1 s."""


class Job(Generic[T]):
    """Something that runs alone in its session. `job_id` is the turn's or the compaction's id."""

    def __init__(
        self,
        kind: JobKind,
        job_id: str,
        run: Callable[[Job[T]], Awaitable[T]],
        *,
        abandon: Callable[[str], Awaitable[None]] | None = None,
        client: str = "",
    ) -> None:
        self.kind: JobKind = kind
        self.job_id = job_id
        self.client = client
        self.cancelled_by = ""
        self._run = run
        self._abandon = abandon
        self._waiters = 0
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    @property
    def is_running(self) -> bool:
        """True from start to end."""
        return self._task is not None and not self.future.done()

    def start(self) -> None:
        """Run it now, in its own task."""
        self._task = asyncio.create_task(self._settle(), name=f"{self.kind}:{self.job_id}")

    def cancel(self, by: str) -> None:
        """Ask it to end. One that has not begun ends without having run."""
        if self.future.done() or self.cancelled_by:
            return
        self.cancelled_by = by
        if self._task is None:
            self._task = asyncio.create_task(self._settle(), name=f"abandon:{self.job_id}")
        elif self._has_begun:
            self._task.cancel()  # a task cancelled before its first step never takes one, and nobody would settle the future

    async def wait(self, client: str = "") -> T:
        """Wait for the result. Cancelling the last waiter cancels the job; what it had committed already is still returned."""
        self._waiters += 1
        try:
            return await asyncio.shield(self.future)
        except asyncio.CancelledError:
            if self.future.cancelled():
                raise
            if self._waiters == 1:
                self.cancel(client)
                await asyncio.wait({self.future}, timeout=SETTLE_SECONDS)
                if self.future.done() and self.future.exception() is None:
                    return self.future.result()
            raise
        finally:
            self._waiters -= 1

    async def settled(self) -> None:
        """Wait until it has ended, however it does."""
        await asyncio.wait({self.future})

    async def _give_up(self) -> T:
        if self._abandon is not None:
            await self._abandon(self.cancelled_by)
        raise asyncio.CancelledError

    async def _settle(self) -> None:
        self._has_begun = True
        try:
            result = await (self._give_up() if self.cancelled_by else self._run(self))
        except asyncio.CancelledError:
            self._fail(Cancelled("The request was cancelled."))
        except Exception as error:  # the waiter decides what it is
            self._fail(error)
        else:
            if not self.future.done():
                self.future.set_result(result)

    def _fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # taken notice of: the waiter may be gone


class Lane:
    """The order of a session's jobs."""

    def __init__(self) -> None:
        self._current: Job[Any] | None = None
        self._inner: Job[Any] | None = None
        self._turns: deque[Job[Any]] = deque()
        self._compressions: deque[Job[Any]] = deque()

    @property
    def current(self) -> Job[Any] | None:
        """The job that holds the lane."""
        return self._current

    @property
    def is_idle(self) -> bool:
        """True if nothing runs or waits."""
        return self._current is None

    def submit(self, job: Job[Any]) -> int:
        """Start the job, or let it wait. Returns how many stand before it, 0 if it runs. Raises `Overloaded` for the seventeenth waiting prompt."""
        if self._current is None:
            self._begin(job)
            return 0
        if job.kind == "turn":
            if len(self._turns) >= QUEUE_LIMIT:
                job.future.cancel()
                raise Overloaded(f"{QUEUE_LIMIT} prompts are waiting already.", hint="Wait for an answer, or cancel one of them, and send it again.")
            self._turns.append(job)
            return len(self._turns)
        self._compressions.append(job)
        return len(self._compressions)

    def run_inside(self, job: Job[T]) -> Job[T]:
        """Run a compression within the turn that holds the lane; should the turn end first, the compression holds the lane on."""
        self._inner = job
        job.start()
        return job

    async def let_in(self, job: Job[Any]) -> None:
        """The turn that holds the lane is at a safe point: `job`, if it waits for the turn, runs now and within it, after those before it."""
        while job in self._compressions:
            waiting = self.run_inside(self._compressions.popleft())
            if waiting is not job:
                await waiting.settled()

    def cancel(self, by: str, job_id: str | None = None) -> bool:
        """Cancel the job of this id, or else whatever runs. False if there is none."""
        candidates = [job for job in (self._inner, self._current) if job is not None and not job.future.done()]
        candidates += [*self._turns, *self._compressions]
        if job_id is not None:
            candidates = [job for job in candidates if job.job_id == job_id]
        elif self._current is not None:
            candidates = [self._current]
        if not candidates:
            return False
        candidates[0].cancel(by)  # a turn takes the compression within it along, unless somebody else waits for that one
        return True

    async def drain(self, by: str) -> None:
        """Cancel everything and wait for it to end."""
        jobs = [job for job in (self._inner, self._current, *self._turns, *self._compressions) if job is not None]
        for job in jobs:
            job.cancel(by)
        for job in jobs:
            await job.settled()

    def _begin(self, job: Job[Any]) -> None:
        self._current = job
        job.future.add_done_callback(self._advance)
        if not job.future.done() and not job.cancelled_by:
            job.start()

    def _advance(self, _: object) -> None:
        self._current = None
        if self._inner is not None and not self._inner.future.done():
            self._current = self._inner
            self._inner.future.add_done_callback(self._advance)
            return
        self._inner = None
        for queue in (self._compressions, self._turns):
            while queue:
                job = queue.popleft()
                if not job.future.done() and not job.cancelled_by:
                    self._begin(job)
                    return
