"""The fidelity gate beside a run: what is hidden is looked through while the model writes, then the snapshot is judged.

One entry point for whatever makes a snapshot: a run, a preview that was edited, one prepared ahead of time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

from gemini_companion.engine.compression.appendix import read_appendix
from gemini_companion.engine.compression.gate import Evidence, Gated, GateOptions
from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.compression.types import Plan
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.statements import Unwanted
from gemini_companion.engine.history.appending import CONTENT_KINDS
from gemini_companion.engine.history.compose import span as within
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.item import PROMPTS, REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    ConstraintEntry,
    Entry,
    IdeContextEntry,
)
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.retention import KeptWords, MissingFact, Retention
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.compression.summariser import Written
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import Poll, in_thread

logger = logging.getLogger(__name__)

WINDOW_SHARE: Final = 20
"""An appendix may have a twentieth of the model's window."""

_LEAST_ROOM: Final = 100_000
"""Tokens of a window in which a record has room for what most chats are about."""
_SMALL_ROOM: Final = 80_000
_SMALL_TIMES: Final = 5
"""In a smaller window the shares of it would leave next to nothing of what the person said. There the room is counted
as that, or as five times the history that starts compression: a record, a tenth of its room, then takes half of that.
"""

_SAID: Final = PROMPTS | {"reply"}
"""What may say that a task is done: people, those who steer among them, and the model."""

UNCHECKED: Final = " What its snapshot leaves out could not be checked: nothing was put back behind it."
"""What the message of a result goes on with where the gate failed."""

MADE_UP_FOR: Final = " Its snapshot says little by itself: what was said is quoted beside it."

BUILT_IN: Final = " The model wrote no usable snapshot, so the built-in summariser wrote it."

Repair = Callable[[Sequence[MissingFact]], Awaitable[Written | None]]
"""Asks the author of a snapshot for what it left out."""


class Span(NamedTuple):
    """What a compression hides, and what stays beside its snapshot."""

    hides: tuple[int, int]
    keeps: frozenset[int]
    """Sequence numbers inside the span that stay word for word."""
    fresh: frozenset[int] | None
    """Sequence numbers of what no earlier compression hid; `None` for all."""
    beside: Sequence[Item]
    """The contents that stay word for word."""


class Admission(NamedTuple):
    """A snapshot and what the gate said of it."""

    written: Written
    gated: Gated | None
    """`None` if the gate itself failed."""
    is_built_in: bool = False
    """No model wrote it: the one that was asked could not."""
    by_model: bool = True
    """A model wrote it, or a person. The built-in summariser leaves to a record what that quotes anyway."""

    @property
    def is_refused(self) -> bool:
        """Whether it may not be installed."""
        return self.gated is not None and self.gated.verdict != "pass"

    @property
    def appendix(self) -> str:
        """What is to stand behind the snapshot, `""` for nothing."""
        return self.gated.appendix if self.gated else ""

    @property
    def words(self) -> KeptWords | None:
        """What the record in it has; `None` where there is none."""
        return self.gated.words if self.gated else None

    @property
    def retention(self) -> Retention | None:
        """What was kept."""
        return self.gated.retention if self.gated else None


class _Looked(NamedTuple):
    """What a look through everything hidden came to."""

    evidence: Evidence
    hidden_tokens: int


class SnapshotGate:
    """Looks through everything hidden in a thread, while the model writes its snapshot: that takes longer.

    What is hidden and what stays beside it are those of the moment when it is made.
    """

    def __init__(
        self, session: Session, span: Span, *, window: int, guidance: str = "", has_record: bool = False
    ) -> None:
        self._session = session
        self._record_window, self._has_record = _room_of_record(session, window), has_record
        history = session.history
        sources = history.sources.copied()
        entries = history.entries.copied()
        self._units = len(sources)
        self._most_tokens = window // WINDOW_SHARE
        self._settings = session.services.settings()
        imported = tuple(_imported_snapshots(history, span.hides))
        pins = tuple(constraint.text for constraint in history.standing)
        # A rule that was released comes back by its prompt else, as something that the user said.
        let_go = tuple(
            one.text for one in history.constraints.all() if one.state == "released" and one.text not in pins
        )
        unwanted = Unwanted(history.unwanted)
        withdrawn = tuple(text for text in _withdrawn(entries) if text not in pins)
        also = (session.system_instruction or "", guidance, *_environment(session))
        beside = tuple(span.beside)

        def look(poll: Poll) -> _Looked:
            spanned = list(within(sources, *span.hides))
            items = [item for item in spanned if item.seq not in span.keeps]
            whole = [item for item in spanned if item.seq in span.keeps]
            evidence = Evidence(
                (*imported, *sources_of(items, session.fact_cache)),
                pins,
                beside=[item.content for item in beside],
                kept_whole=sources_of(whole, session.fact_cache),
                fresh=span.fresh,
                also=(*also, *_editor_states(entries)),
                let_go=let_go,
                unwanted=unwanted,
                withdrawn=withdrawn,
                earlier=len(imported),
                strangers=partial(_put_away_elsewhere, entries, session.fact_cache, span.hides),
                later=[item.content for item in beside if item.seq > span.hides[1] and item.kind in _SAID],
                cache=session.fact_cache,
                poll=poll,
            )
            return _Looked(evidence, sum(item.measure.tokens for item in items))

        self._look = look
        self._looking: asyncio.Task[_Looked] | None = None

    def begin(self) -> asyncio.Task[_Looked]:
        """Look through it, unless that is under way: a request that is made at the same time takes twice as long."""
        if self._looking is None:
            name = f"gate:{self._session.session_id}"
            self._looking = asyncio.create_task(in_thread(self._look, self._units), name=name)
        return self._looking

    def cancel(self) -> None:
        """Nobody will ask for it."""
        if self._looking is not None:
            self._looking.cancel()

    async def admit(self, written: Written, *, can_repair: bool = False, repair: Repair | None = None) -> Admission:
        """Judge a snapshot. One that falls below the floor is repaired once, if its author can be asked; the better
        of the two is judged then. If the gate itself fails, which is logged and told, the snapshot passes as it is.
        """
        can_repair = can_repair and repair is not None
        first = await self._check(written.snapshot, can_repair=can_repair)
        if first is None or first.verdict != "repair" or repair is None:
            return Admission(written, first)
        again = await repair(first.lost)
        second = await self._check(again.snapshot, lost_before=first.lost) if again else None
        if again is None or second is None or second.own_score <= first.own_score:
            return Admission(written, await self._check(written.snapshot))
        return Admission(again, second)

    async def append_only(self, written: Written) -> Admission:
        """Put back what a snapshot left out, and refuse none: a person wrote it."""
        return Admission(written, await self._check(written.snapshot, floor=0.0))

    async def _check(
        self,
        snapshot: str,
        *,
        can_repair: bool = False,
        lost_before: Sequence[MissingFact] = (),
        floor: float | None = None,
    ) -> Gated | None:
        options = GateOptions(
            is_on=self._settings.compression_gate,
            floor=self._settings.retention_floor if floor is None else floor,
            can_repair=can_repair,
            most_tokens=self._most_tokens,
            record_window=self._record_window,
            own_words=self._settings.own_words,
            has_record=self._has_record,
            lost_before=tuple(lost_before),
        )
        try:
            evidence, hidden_tokens = await self.begin()
            gated = await in_thread(
                lambda poll: evidence.check(
                    snapshot,
                    options,
                    count_text=self._session.ledger.count_text,
                    hidden_tokens=hidden_tokens,
                    poll=poll,
                ),
                self._units,
            )
        except Exception:
            logger.exception("The snapshot was not checked")
            return None
        _log(gated)
        return gated


def judged(result: CompressionResult, admission: Admission) -> CompressionResult:
    """A result with what the gate said of its snapshot."""
    told = msgspec.structs.replace(result, appendix=admission.appendix or None, retention=admission.retention)
    if admission.is_built_in:
        told = written_here(told)
    is_news = admission.by_model or result.strategy != "record"
    if admission.gated is not None and admission.gated.is_made_up_for and is_news:
        told = msgspec.structs.replace(told, message=f"{told.message}{MADE_UP_FOR}")
    return with_note(told)


def written_here(result: CompressionResult) -> CompressionResult:
    """A result that says that the built-in summariser wrote its snapshot in the model's place."""
    return msgspec.structs.replace(result, message=f"{result.message}{BUILT_IN}", built_in=True)


def with_note(result: CompressionResult) -> CompressionResult:
    """A result whose message says so if nobody could look at what its snapshot leaves out."""
    if result.retention is not None:
        return result
    return msgspec.structs.replace(result, message=f"{result.message}{UNCHECKED}")


def span_of_plan(plan: Plan) -> Span:
    """What a plan hides; everything else in its view stays."""
    fresh = frozenset(item.seq for item in plan.hidden)
    beside = [item for item in plan.trim.cut_items if item.seq not in fresh and item.kind not in REPLACEMENT_KINDS]
    return Span(plan.hides, frozenset(item.seq for item in beside), fresh, beside)


def span_of_entry(entry: CompressionEntry, view: Sequence[Item]) -> Span | None:
    """What a planned entry hides of the present view; `None` if it hides nothing."""
    if entry.hides is None:
        return None
    first, last = entry.hides
    keeps = frozenset(entry.keeps)
    hidden = [item for item in view if first <= item.seq <= last and item.seq not in keeps]
    gone = {id(item) for item in hidden}
    beside = [item for item in view if id(item) not in gone and item.kind not in REPLACEMENT_KINDS]
    return Span(entry.hides, keeps, frozenset(item.seq for item in hidden), beside)


def _room_of_record(session: Session, window: int) -> int:
    """The window that a record's budgets are shares of: what instruction and tools leave of the model's. Smaller where
    compression starts early: a record as large as the count that starts it would have it start at every prompt.
    """
    mark = session.mark(session.choice()).tokens
    surroundings = session.parts().surroundings
    room = free = max(1, window - surroundings)
    history = free
    if mark is not None:
        room, history = min(free, max(2 * mark, _LEAST_ROOM)), max(0, min(window, mark) - surroundings)
    return max(room, min(_SMALL_ROOM, _SMALL_TIMES * history))


def _withdrawn(entries: Entries[Entry]) -> Iterator[str]:
    """Rules that a person released by hand."""
    newest = {entry.constraint.constraint_id: entry for entry in entries.of(ConstraintEntry)}
    for entry in newest.values():
        if entry.constraint.state == "released" and entry.by_turn is None:
            yield entry.constraint.text


def _imported_snapshots(history: History, hides: tuple[int, int]) -> Iterator[FactSource]:
    """Snapshots that came with an imported file: of what they replaced nothing else is left."""
    first, last = hides
    entries = (entry for entry in history.in_force.values() if entry.from_file and entry.hides is not None)
    for entry in entries:
        if entry.hides is not None and first <= entry.hides[0] <= last:
            at = entry.snapshot_at
            for part in (part for content in entry.replacement[at : at + 1] for part in content.parts):
                text = text_of(part) or ""
                lines = read_appendix(text)
                yield FactSource(0, user_text("\n".join(lines) if lines else text), entry.hides[0])


def _environment(session: Session) -> Iterator[str]:
    if session.environment is not None:
        yield text_of_content(session.environment)


def _put_away_elsewhere(entries: Entries[Entry], cache: FactCache, hides: tuple[int, int]) -> Iterator[str]:
    """Texts of which the cache has the words, outside of what is hidden."""
    first, last = hides
    others = entries.of(*CONTENT_KINDS, among=lambda seq: not first <= seq <= last and cache.has_put_away(seq))
    return (text_of_content(entry.content) for entry in others)


def _editor_states(entries: Entries[Entry]) -> Iterator[str]:
    """What the editor showed: it leaves the view with every change of it, and snapshots may still speak of it."""
    return (text_of_content(entry.content) for entry in entries.of(IdeContextEntry))


def _log(gated: Gated) -> None:
    retention = gated.retention
    logger.info(
        "Gate: %s, %d of %d facts kept, %.2f by the snapshot itself, %d put back, %d repaired, %d without a source",
        gated.verdict,
        retention.kept,
        retention.facts,
        gated.own_score,
        retention.appended,
        retention.repaired,
        len(retention.unsupported),
    )
