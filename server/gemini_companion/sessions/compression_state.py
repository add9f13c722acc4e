"""Where a compression stands: one state machine, from which the status and the events are derived."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.history.log import CompressionResult, Trigger
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.compression_events import (
    CompressionCancelled,
    CompressionCompleted,
    CompressionFailed,
    CompressionProgress,
    CompressionStarted,
    Phase,
)
from gemini_companion.sessions.events import Event, UsageUpdated
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.results import CompressionStatusReport

Kind: TypeAlias = Literal["compress", "preview", "apply"]
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
    the state is kept nowhere else. There is exactly one end: later calls are ignored. `monotonic` gives seconds.
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
    ) -> None:
        self.compression_id = compression_id
        self.kind: Kind = kind
        self.trigger: Trigger = trigger
        self.wish = wish
        self.state: State = "waiting"
        self.phase: Phase | None = None
        """The step under way; see `compression/run`. `None` before the first."""
        self._emit = emit
        self._on_change = on_change
        self._monotonic = monotonic
        self._started = monotonic()
        self.job: Job[CompressionResult]

    @property
    def is_preview(self) -> bool:
        """It installs nothing, so it does not wait for the lane."""
        return self.kind == "preview"

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
        self._emit(CompressionStarted(compression_id=self.compression_id, trigger=self.trigger))
        self._on_change(self)

    def enter(self, phase: Phase, block: int | None = None, blocks: int | None = None) -> None:
        """Enter the next step; `block` of `blocks`, from 1, where the history is larger than any window."""
        self.phase = phase
        self._emit(
            CompressionProgress(
                compression_id=self.compression_id,
                phase=phase,
                elapsed_ms=self.elapsed_ms,
                block=block,
                blocks=blocks,
            )
        )
        self._on_change(self)

    def complete(self, result: CompressionResult) -> CompressionResult:
        """End it as planned, which includes a result that changes nothing."""
        self._end("completed", CompressionCompleted(compression_id=self.compression_id, result=result))
        return result

    def fail(self, result: CompressionResult) -> CompressionResult:
        """End it with a result that changed nothing although it should have."""
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
            self._emit(event)
        self._on_change(self)


class ActiveCompressions:
    """A session's compressions that have not ended: those that will change the view, and previews beside them."""

    def __init__(self) -> None:
        self._known: list[Compression] = []

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
        """The one that the status reports; `None` if there is none."""
        return self.installing or next(self._active(), None)

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
