"""One job at a time per session: turns in order, compressions ahead of waiting prompts, everything cancellable.

A job runs in a task of its own. Callers wait for its future; when the last of them gives up, the job is cancelled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from gemini_companion.engine.errors import Cancelled, Overloaded
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.shown import Shown
from gemini_companion.sessions.clients import Client

T = TypeVar("T")
JobKind: TypeAlias = Literal["turn", "compression"]

QUEUE_LIMIT: Final = 16
"""Prompts that may wait in one session."""

SETTLE_SECONDS: Final = 0.07
"""Seconds that a cancelled request waits for its job, which may have committed; an answer is due within 0.1 s."""


@dataclass(slots=True)
class Steered:
    """A prompt that a turn under way takes along."""

    prompt: tuple[Part, ...]
    client: Client
    steer_id: str = ""
    """The id of its entry, if it has one of its own."""
    is_taken: bool = False
    """It goes along with a request, or has become a prompt of its own."""


Steer: TypeAlias = Callable[[tuple[Part, ...], Client], Awaitable[Steered | None]]
"""Takes a prompt of a client along; `None` where that is too late."""


class Job(Generic[T]):
    """Work that runs alone in its session. `job_id` is the turn's or the compression's id.

    `run` does the work; `abandon` is called instead, with the canceller, if the job is cancelled before it begins.
    `client` is the id of the client that asked for it.
    """

    def __init__(
        self,
        kind: JobKind,
        job_id: str,
        run: Callable[[Job[T]], Awaitable[T]],
        *,
        abandon: Callable[[str], Awaitable[None]] | None = None,
        client: str = "",
        steer: Steer | None = None,
        shown: Callable[[], Shown | None] = lambda: None,
    ) -> None:
        self.kind: JobKind = kind
        self.job_id = job_id
        self.client = client
        self.steer = steer
        """Takes a prompt along, while the job can; `None` if it never does."""
        self.shown = shown
        """What people see of an answer that it has not written; `None` if there is none."""
        self.cancelled_by = ""
        self.is_written = False
        """What it was asked for is on its way into the log, or there: too late to cancel it."""
        self._run = run
        self._abandon = abandon
        self._waiters = 0
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self._on_withdrawn: Callable[[], None] | None = None
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def enqueue(self, on_withdrawn: Callable[[], None]) -> None:
        """Note that it waits for its turn; `on_withdrawn` is called at once if it is cancelled before that comes."""
        self._on_withdrawn = on_withdrawn

    def start(self) -> None:
        """Run it now, in a task of its own."""
        self._on_withdrawn = None
        self._task = asyncio.create_task(self._settle(), name=f"{self.kind}:{self.job_id}")

    def cancel(self, by: str) -> None:
        """Ask it to end; `by` is a client's id or a reason. A job that has not begun ends without running; nothing
        happens to one that `is_written`.
        """
        if self.future.done() or self.cancelled_by or self.is_written:
            return
        self.cancelled_by = by
        if self._task is None:
            if self._on_withdrawn is not None:
                self._on_withdrawn()
            self._task = asyncio.create_task(self._settle(), name=f"abandon:{self.job_id}")
        elif self._has_begun:
            # A task cancelled before its first step never takes one, and its future would stay pending.
            self._task.cancel()

    async def wait(self, client: str = "") -> T:
        """Wait for the result. Raises what the job raised, `Cancelled` if it was cancelled.

        Cancelling the last waiter cancels the job; a result that was already committed is still returned.
        """
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
        """Wait until it has ended, in whatever way."""
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
        except Exception as error:  # raised again for the waiter
            self._fail(error)
        else:
            if not self.future.done():
                self.future.set_result(result)

    def _fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # marks it as retrieved: there may be no waiter left


class Lane:
    """The order of a session's jobs: one at a time, except for a compression within the turn that holds the lane."""

    def __init__(self) -> None:
        self._holders: list[Job[Any]] = []
        """What runs: the job that was begun, and those admitted within it. The lane is free when all have ended."""
        self._turns: deque[Job[Any]] = deque()
        self._compressions: deque[Job[Any]] = deque()
        self._withdrawn: list[Job[Any]] = []
        """What was cancelled while it waited, until its end is written."""

    @property
    def current(self) -> Job[Any] | None:
        """The job that holds the lane."""
        return self._holders[0] if self._holders else None

    @property
    def running_turn(self) -> str | None:
        """The id of the turn that runs."""
        return next((job.job_id for job in self._holders if job.kind == "turn"), None)

    @property
    def shown(self) -> dict[str, Shown]:
        """By turn, what people see of the answer under way."""
        return {job.job_id: shown for job in self._holders if (shown := job.shown()) is not None}

    @property
    def is_idle(self) -> bool:
        """True if nothing runs or waits, and no end of what was cancelled is still being written."""
        return not self._holders and not self._withdrawn

    @property
    def has_turn(self) -> bool:
        """True if a turn runs or waits."""
        return bool(self._turns) or any(job.kind == "turn" for job in self._holders)

    def submit(self, job: Job[Any]) -> int:
        """Start the job, or queue it. Returns its position in the queue from 1, or 0 if it runs.

        Raises `Overloaded` if `QUEUE_LIMIT` prompts are waiting already.
        """
        if not self._holders:
            self._hold(job)
            return 0
        if job.kind == "turn":
            if len(self._turns) >= QUEUE_LIMIT:
                job.future.cancel()
                raise Overloaded(
                    f"{QUEUE_LIMIT} prompts are waiting already.",
                    hint="Wait for an answer, or cancel one of them, and send it again.",
                )
            return self._wait_in(self._turns, job)
        return self._wait_in(self._compressions, job)

    def admit(self, job: Job[Any]) -> None:
        """Run a job within the one that holds the lane. If that one ends first, this one holds the lane."""
        self._hold(job)

    async def admit_waiting(self, job: Job[Any]) -> None:
        """Run `job`, if it is queued, after those before it; to be called by the holder of the lane at a safe point."""
        while job in self._compressions:
            waiting = self._compressions.popleft()
            self._hold(waiting)
            if waiting is not job:
                await waiting.settled()

    def cancel(self, by: str, job_id: str | None = None) -> bool:
        """Cancel the job of this id, or without one the job that holds the lane. False if there is none, or
        if it is too late for that one.

        A turn takes the compression within it along, unless another waiter needs that.
        """
        jobs = (*reversed(self._holders), *self._turns, *self._compressions, *self._withdrawn)
        if job_id is None and self._holders:
            jobs = (self._holders[0],)
        candidates = [job for job in jobs if not job.future.done() and not job.is_written]
        if job_id is not None:
            candidates = [job for job in candidates if job.job_id == job_id]
        if not candidates:
            return False
        candidates[0].cancel(by)
        return True

    async def drain(self, by: str) -> None:
        """Cancel every job and wait until all have ended."""
        jobs = [*self._holders, *self._turns, *self._compressions, *self._withdrawn]
        for job in jobs:
            job.cancel(by)
        for job in jobs:
            await job.settled()

    def _wait_in(self, queue: deque[Job[Any]], job: Job[Any]) -> int:
        """Queue a job; returns its position from 1. One that is cancelled makes room at once, before its end is
        written.
        """
        queue.append(job)
        job.enqueue(lambda: self._withdraw(queue, job))
        return len(queue)

    def _withdraw(self, queue: deque[Job[Any]], job: Job[Any]) -> None:
        if job not in queue:
            return  # its turn has come
        queue.remove(job)
        self._withdrawn.append(job)
        job.future.add_done_callback(lambda _: self._withdrawn.remove(job))

    def _hold(self, job: Job[Any]) -> None:
        self._holders.append(job)
        job.future.add_done_callback(lambda _: self._release(job))
        if not job.future.done() and not job.cancelled_by:
            job.start()

    def _release(self, job: Job[Any]) -> None:
        self._holders.remove(job)
        if self._holders:
            return
        for queue in (self._compressions, self._turns):
            while queue:
                waiting = queue.popleft()
                if not waiting.future.done() and not waiting.cancelled_by:
                    self._hold(waiting)
                    return
