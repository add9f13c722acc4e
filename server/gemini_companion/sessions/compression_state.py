"""Where a compression stands: one state machine, from which the status and the events are derived."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.history.log import CompressionResult, Trigger
from gemini_companion.engine.history.model_call import CallPurpose
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.engine.scheduling.fair_slots import Urgency
from gemini_companion.sessions.compression_events import (
    CompressionCancelled,
    CompressionCompleted,
    CompressionFailed,
    CompressionPrepared,
    CompressionProgress,
    CompressionStarted,
    Phase,
)
from gemini_companion.sessions.compression_guidance import Guidance
from gemini_companion.sessions.events import Event, UsageUpdated
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.results import CompressionStatusReport

Kind: TypeAlias = Literal["compress", "preview", "prepare", "apply"]
"""`prepare`: a preview that the daemon makes for itself, ahead of need."""
State: TypeAlias = Literal["waiting", "running", "completed", "failed", "cancelled"]
"""waiting ─▶ running ─▶ completed | failed | cancelled; waiting ─▶ cancelled. The last three are final."""

ENDS: Final = frozenset[State]({"completed", "failed", "cancelled"})
"""The final states."""


class Wish(NamedTuple):
    """What a request asks of a compression. Two requests with the same wish ask for the same thing."""

    guidance: str = ""
    """What the user wants kept, `""` for no wish."""
    strategy: StrategyName | None = None
    """`None` for the settings'."""
    up_to: str | None = None
    """Hide everything through this turn."""
    since: str | None = None
    """Hide this turn and everything after it, but for the running one."""

    @property
    def reach(self) -> tuple[str | None, str | None]:
        """The turns that it names."""
        return self.up_to, self.since


NO_WISH: Final = Wish()


class Compression:
    """One compression of one session, from the request to its end.

    Every change of state goes through a method here, emits its event, and calls `on_change`, which reports the status;
    the state is kept nowhere else. There is exactly one end: later calls are ignored. `monotonic` gives seconds,
    `behind` the turn under way whose prompt is written.
    """

    def __init__(
        self,
        compression_id: str,
        kind: Kind,
        trigger: Trigger,
        *,
        wish: Wish = NO_WISH,
        emit: Callable[[Event], None],
        on_change: Callable[[Compression], None],
        monotonic: Callable[[], float],
        behind: Callable[[], str | None],
    ) -> None:
        self.compression_id = compression_id
        self.kind: Kind = kind
        self.was_prepared = kind == "prepare"
        """Begun for nobody, whoever waits for it by now."""
        self.trigger: Trigger = trigger
        self.wish = wish
        self.guidance = Guidance(wish.guidance)
        self.urgency = Urgency("later" if kind == "prepare" else "first")
        """Whether its model calls go first: once somebody waits for it."""
        self.state: State = "waiting"
        self.phase: Phase | None = None
        """The step under way; see `compression/run`. `None` before the first."""
        self.as_of: int | None = None
        """The last sequence number of the log that it plans with; `None` for whatever is there by then."""
        self.failed_with: CompressionResult | None = None
        """The result that it failed with; `None` unless it failed."""
        self._block: tuple[int | None, int | None] = (None, None)
        self._emit = emit
        self._on_change = on_change
        self._monotonic = monotonic
        self._behind = behind
        self._started = monotonic()
        self.job: Job[CompressionResult]

    @property
    def is_preview(self) -> bool:
        """It installs nothing, so it does not wait for the lane."""
        return self.kind in ("preview", "prepare")

    @property
    def is_quiet(self) -> bool:
        """Nobody asked for it or waits for it: its status tells of it, and no event but a good end."""
        return self.kind == "prepare"

    @property
    def purpose(self) -> CallPurpose:
        """What its model calls are for."""
        return "preparing" if self.is_quiet else "compression"

    @property
    def has_ended(self) -> bool:
        """True in a final state."""
        return self.state in ENDS

    @property
    def shown_phase(self) -> str | None:
        """The step under way, or `waiting` while one that was asked for has to wait for what runs."""
        waits = self.state == "waiting" and self.trigger == "manual" and not self.is_preview
        return "waiting" if waits else self.phase

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since it began to run, or to wait."""
        return max(0, round((self._monotonic() - self._started) * 1000))

    def prepare(self, run: Callable[[], Awaitable[CompressionResult]]) -> Job[CompressionResult]:
        """The job that runs it. However the job ends, the compression then has a final state."""
        self.job = Job("compression", self.compression_id, lambda _: run())
        self.job.future.add_done_callback(lambda _: self.cancel())  # one that is cancelled while it waits never runs
        self._on_change(self)
        return self.job

    def begin(self) -> None:
        """Enter the state `running`."""
        self.state = "running"
        self._started = self._monotonic()
        self._tell(self._beginning())
        self._on_change(self)

    def adopt(self, trigger: Trigger) -> None:
        """Make one that is prepared somebody's preview, or what a turn waits for: from here on it tells what it does.
        Nothing happens to any other.
        """
        if not self.is_quiet or self.has_ended:
            return
        self.kind, self.trigger = "preview", trigger
        self.urgency.rise()
        if self.state == "running":
            self._emit(self._beginning())
            if self.phase is not None:
                self._emit(self._progress(self.phase, *self._block))
        self._on_change(self)

    def enter(self, phase: Phase, block: int | None = None, blocks: int | None = None) -> None:
        """Enter the next step; `block` of `blocks`, from 1, where the history is larger than any window."""
        self.phase, self._block = phase, (block, blocks)
        self._tell(self._progress(phase, block, blocks))
        self._on_change(self)

    def complete(self, result: CompressionResult) -> CompressionResult:
        """End it as planned, which includes a result that changes nothing."""
        end: Event = CompressionCompleted(compression_id=self.compression_id, result=result)
        if self.is_quiet and result.status == "PREVIEW" and not self.has_ended:
            before, after = result.original_token_count, result.new_token_count
            self._emit(
                CompressionPrepared(compression_id=self.compression_id, tokens_before=before, tokens_after=after)
            )
        self._end("completed", end)
        return result

    def fail(self, result: CompressionResult) -> CompressionResult:
        """End it with a result that changed nothing although it should have."""
        if not self.has_ended:
            self.failed_with = result
        self._end("failed", CompressionFailed(compression_id=self.compression_id, result=result))
        return result

    def cancel(self) -> None:
        """End it as cancelled; if it never ran, there is no event."""
        begun = self.state == "running"
        self._end("cancelled", CompressionCancelled(compression_id=self.compression_id) if begun else None)

    def _end(self, state: State, event: Event | None) -> None:
        if self.has_ended:
            return
        self.state = state  # before the event, so that its subscribers see the final state
        if event is not None:
            self._tell(event)
        self._on_change(self)

    def _tell(self, event: Event) -> None:
        if not self.is_quiet:
            self._emit(event)

    def _beginning(self) -> CompressionStarted:
        return CompressionStarted(compression_id=self.compression_id, trigger=self.trigger, behind_turn=self._behind())

    def _progress(self, phase: Phase, block: int | None, blocks: int | None) -> CompressionProgress:
        return CompressionProgress(
            compression_id=self.compression_id, phase=phase, elapsed_ms=self.elapsed_ms, block=block, blocks=blocks
        )


class Preparations:
    """What this process remembers of preparing in a session."""

    def __init__(self) -> None:
        self.failures = 0
        """Runs that came to nothing, in a row."""
        self.not_before = 0
        """The token count below which none is begun."""
        self.joined: str | None = None
        """Id of a person's preview that was under way when one would have been prepared."""
        self.idle: asyncio.Task[None] | None = None
        """Waits for idle time."""

    def forget_failures(self) -> None:
        """What failed before says nothing of the next."""
        self.failures = self.not_before = 0

    def stop_waiting(self) -> None:
        """Nothing is to be begun in idle time."""
        if self.idle is not None:
            self.idle.cancel()


class LookingAhead:
    """What this process remembers of looking through a session's contents (`compression/ahead`)."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.reached = 0
        """How many of the history's sources were looked through."""
        self.is_allowed = True
        """False from the session's end on: a turn that ends with it begins nothing any more."""

    def stop(self) -> None:
        """The session ends, or is let go."""
        self.is_allowed = False
        if self.task is not None:
            self.task.cancel()


class ActiveCompressions:
    """A session's compressions that have not ended: those that will change the view, and previews beside them."""

    def __init__(self) -> None:
        self._known: list[Compression] = []
        self.undos: dict[str, Job[CompressionResult]] = {}
        """Undos that wait or run, by the compression that they were asked for."""
        self.failed_for: tuple[str | None, int] | None = None
        """The turn and the newest content for which an automatic run came to nothing; see `service._prompt_of`."""
        self.preparations = Preparations()
        self.ahead = LookingAhead()

    def add(self, compression: Compression) -> None:
        """Others may see it and join it from here on."""
        self._known.append(compression)

    def discard(self, compression: Compression) -> None:
        """It has ended."""
        self._known = [known for known in self._known if known is not compression]

    @property
    def installing(self) -> Compression | None:
        """The one that will change the view: the running one, else the first that waits; `None` if there is none."""
        candidates = [compression for compression in self._active() if not compression.is_preview]
        running = (compression for compression in candidates if compression.state == "running")
        return next(running, None) or next(iter(candidates), None)

    def joinable(self, wish: Wish) -> Compression | None:
        """The one that a second request to compress joins; `None` if there is none.

        One that names turns joins only one that names the same.
        """
        candidates = (
            compression
            for compression in self._active()
            if compression.kind == "compress" and wish.reach in (NO_WISH.reach, compression.wish.reach)
        )
        return next((compression for compression in candidates if not compression.job.cancelled_by), None)

    def preview_with(self, wish: Wish) -> Compression | None:
        """The preview under way with this wish; a second request for it joins it."""
        previews = (preview for preview in self.previews() if preview.wish == wish)
        return next((preview for preview in previews if not preview.job.cancelled_by), None)

    def applying(self, compression_id: str) -> Compression | None:
        """The application of this preview that is under way."""
        applies = (compression for compression in self._active() if compression.kind == "apply")
        return next((compression for compression in applies if compression.compression_id == compression_id), None)

    def reusable(self, wish: Wish) -> Compression | None:
        """What a request to compress with this wish need not pay for again: one being applied, or a preview."""
        applies = (compression for compression in self._active() if compression.kind == "apply" and wish == NO_WISH)
        return next(applies, None) or self.preview_with(wish)

    @property
    def shown(self) -> Compression | None:
        """The one that shows: what people wait for, else a preview, else one that is prepared; `None` without any."""
        loud = (compression for compression in self._active() if not compression.is_quiet)
        return self.installing or next(loud, None) or next(self._active(), None)

    def reported(self, *, is_prepared: bool) -> Compression | None:
        """The one whose id, step and time the status has; `None` where that is of what `is_prepared`."""
        shown = self.shown
        return None if is_prepared and shown is not None and shown.is_quiet else shown

    def state(self, *, is_prepared: bool) -> Literal["idle", "running", "preparing", "prepared"]:
        """What the status says; one that people wait for comes first."""
        shown = self.shown
        if shown is not None and not shown.is_quiet:
            return "running"
        return "prepared" if is_prepared else "idle" if shown is None else "preparing"

    def beside(self) -> list[Job[CompressionResult]]:
        """The jobs of all previews, to be ended with the session; none is begun in idle time any more."""
        self.preparations.stop_waiting()
        self.ahead.stop()
        return [preview.job for preview in self.previews()]

    def previews(self, compression_id: str | None = None) -> list[Compression]:
        """The previews under way, oldest first; of this id alone, if one is given."""
        previews = (compression for compression in self._active() if compression.is_preview)
        return [preview for preview in previews if compression_id in (None, preview.compression_id)]

    def _active(self) -> Iterator[Compression]:
        return (compression for compression in self._known if not compression.has_ended)


def usage_of(report: CompressionStatusReport) -> UsageUpdated:
    """The session's numbers as an event."""
    return UsageUpdated(
        token_count=report.token_count,
        token_limit=report.token_limit,
        source=report.token_count_source,
        tokens_until_compression=report.tokens_until_compression,
        is_due=report.is_due,
    )
