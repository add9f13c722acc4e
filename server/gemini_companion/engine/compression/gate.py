"""The fidelity gate: what every snapshot passes before it takes the place of a part of a conversation.

    Evidence (gathered beside the model that writes) ─▶ check(snapshot) ─▶ pass, repair or refuse

It asks three things: what of all that is hidden stands neither in the snapshot nor word for word beside it (put back,
in an appendix); whether so much of what is newly hidden is missing that the snapshot is of no use; and what the
snapshot names that never occurred. Without a model, deterministic, and linear in what is hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from gemini_companion.engine.compression.appendix import write_appendix
from gemini_companion.engine.compression.sources import without_unwanted
from gemini_companion.engine.facts.actions import outcome_of, read_actions
from gemini_companion.engine.facts.claims import unsupported_claims
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import Fact, FactKind, FactSource
from gemini_companion.engine.facts.haystack import Haystack, needle_of, shown
from gemini_companion.engine.facts.open_tasks import is_told_over, ticked_in
from gemini_companion.engine.facts.retention import (
    LOOKED_FOR,
    MOST_MISSING,
    NEWEST,
    FactCache,
    Wanted,
    placed_facts,
    retention_of,
)
from gemini_companion.engine.facts.statements import Unwanted
from gemini_companion.engine.facts.word_sets import words_of_texts
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.retention import KeptWords, MissingFact, Retention
from gemini_companion.engine.record.record import OWN_WORDS, measure_told, write_record

Verdict: TypeAlias = Literal["pass", "repair", "refuse"]

FLOOR_KINDS: Final[frozenset[FactKind]] = frozenset(("directive", "decision", "task", "error", "path"))
"""Kinds that the floor is about: what the work depends on. Of commands a good snapshot tells what came of them, and
names and numbers nobody keeps all.
"""
FLOOR_FACTS: Final = 12
"""With fewer newly hidden facts of these kinds a share says nothing, and no snapshot is refused for it."""
FEWEST_LOST: Final = 3
"""Facts of these kinds that a snapshot must leave out before more than they are quoted beside it."""
IN_OTHER_WORDS: Final = 0.6
"""Share of its words that must stand in a snapshot for a sentence to count as told, for the floor alone."""

BUDGET_SHARE: Final = 0.08
"""Share of the hidden tokens that an appendix may have."""
LEAST_BUDGET: Final = 300
MOST_BUDGET: Final = 8_000
"""Tokens that it may have whatever is hidden, and at most."""
GAIN_SHARE: Final = 0.5
"""Share of what the compression gains without it that it may use up."""
SMALL_GAIN: Final = 60
"""Tokens that it may have whatever is gained: a compression that gains less than that is worth no fact, and if nothing
is gained with them it is not installed.
"""

_BATCH: Final = 65_536
"""Characters of the sources that are searched in one go."""


class GateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate may do."""

    is_on: bool = True
    """False: retention is measured, and nothing else."""
    floor: float = 0.5
    """Share of the newly hidden facts below which a snapshot is not taken as it is, 0 to 1."""
    can_repair: bool = False
    """Whether its author can be asked once more."""
    most_tokens: float = MOST_BUDGET
    """Tokens that the appendix may have at most, whatever is hidden."""
    record_window: int = 0
    """Tokens that the model accepts, of which a record may have a share; 0: none is written."""
    own_words: float = OWN_WORDS
    """Share of what is hidden, 0 to 1, that the person's words may have of it."""
    has_record: bool = False
    """Whether a record stands beside the snapshot in any case, whatever that says."""
    lost_before: tuple[MissingFact, ...] = ()
    """What an earlier snapshot of the same span had lost, if this one is its repair."""


class Gated(NamedTuple):
    """What the gate says of a snapshot."""

    verdict: Verdict
    appendix: str
    """What stands behind the snapshot, `""` for nothing."""
    retention: Retention
    """With the appendix; of a snapshot that does not pass, without."""
    own_score: float
    """Share of the newly hidden facts of `FLOOR_KINDS` that the snapshot tells by itself, 0 to 1."""
    lost: tuple[MissingFact, ...]
    """What a repair should bring back, the most worthy first: the newly hidden facts that the snapshot left out."""
    is_made_up_for: bool = False
    """The snapshot says too little by itself, and a record beside it makes up for that."""
    words: KeptWords | None = None
    """What that record has."""


class Evidence:
    """Everything that a compression hides, looked through once; then any number of snapshots are checked against it.

    Args:
        sources: The contents of everything hidden, oldest first: what earlier compressions hid as well, as it was.
        kept: Texts that stay word for word beside the snapshot: the pins and constraints, or whatever does.
        beside: Contents that do so too, behind them: the tail.
        kept_whole: Those of them that stand among the hidden ones: a part of what was said, of which all is left.
        fresh: Sequence numbers of what is newly hidden, which its author was shown; `None` for all.
        also: Other texts that a snapshot may rest on: the system instruction, the user's guidance, the editor's state.
        let_go: Rules that the user released: nobody misses them.
        unwanted: What else the user said and does not want kept: nobody misses that either.
        withdrawn: Those of them that were released by hand, of which no later words tell.
        earlier: How many of the first sources are snapshots that came with a file.
        later: Contents behind the hidden ones, which may say that a task is done.
        strangers: Gives the texts of other contents that the cache knows, and that are not in memory.
        cache: Saves looking through the same contents again.
        poll: Called often; what it raises ends the work.
    """

    def __init__(
        self,
        sources: Sequence[FactSource],
        kept: Iterable[str] = (),
        *,
        beside: Sequence[Content] = (),
        kept_whole: Sequence[FactSource] = (),
        fresh: Collection[int] | None = None,
        also: Iterable[str] = (),
        let_go: Iterable[str] = (),
        unwanted: Unwanted | None = None,
        withdrawn: Iterable[str] = (),
        later: Collection[Content] = (),
        earlier: int = 0,
        strangers: Callable[[], Iterator[str]] = lambda: iter(()),
        cache: FactCache | None = None,
        poll: Callable[[], None] = lambda: None,
    ) -> None:
        self._sources = sources
        self._kept, self._kept_whole = tuple(kept), tuple(kept_whole)
        self._beside = beside
        self._also = tuple(also)
        self._unwanted, self._earlier = unwanted, earlier
        self._withdrawn = tuple(withdrawn)
        self._cache = cache or FactCache()
        released = Haystack(let_go, poll=poll)
        standing = Haystack(chain(self._kept, map(text_of_content, beside)), poll=poll)
        self._wanted: list[Wanted] = []
        """The facts that count, as many as are looked for."""
        self._elsewhere: list[Wanted] = []
        """Those of them that do not stand beside the snapshot."""
        asked = without_unwanted(sources, unwanted, self._cache, earlier)
        for place, fact in placed_facts(asked, later=later, cache=self._cache, poll=poll):
            if len(self._wanted) == LOOKED_FOR:
                break
            poll()
            wanted = Wanted(fact, needle_of(fact), place)
            if fact.kind == "directive" and released.has(wanted.needle):
                continue
            self._wanted.append(wanted)
            if not standing.has(wanted.needle):
                self._elsewhere.append(wanted)
        for source, known in zip(sources, self._cache.looked_up(sources), strict=True):
            if known.statements is None:
                poll()
                self._cache.statements(source)
        self._not_in_memory = strangers
        words = self._cache.words_of(sources, beside, poll)
        self._words = words | words_of_texts((*self._kept, *self._also), poll)
        self._is_fresh = [fresh is None or source.seq in fresh for source in sources]
        self._counted = sum(map(self._counts, self._wanted))
        """Newly hidden facts that the floor is about."""
        self._outcomes: dict[str, str] | None = None

    def check(
        self,
        snapshot: str,
        options: GateOptions,
        *,
        count_text: Callable[[str], float],
        hidden_tokens: float,
        poll: Callable[[], None] = lambda: None,
    ) -> Gated:
        """Check a snapshot.

        `hidden_tokens` are those of the sources; they and `count_text` give the appendix its budget.
        """
        if options.has_record:
            return self._with_record(snapshot, options, hidden_tokens, poll)
        standing = Haystack((snapshot,), poll=poll)
        missing: list[Wanted] = []
        for wanted in self._elsewhere:
            poll()
            if not standing.has(wanted.needle):
                missing.append(wanted)
        missing = _without_done(missing, snapshot)
        lost = [wanted for wanted in missing if self._counts(wanted) and not _is_told(wanted, standing)]
        own_score = 1 - len(lost) / self._counted if self._counted else 1.0
        is_low = options.is_on and self._counted >= FLOOR_FACTS and own_score < options.floor
        is_poor = is_low or (options.is_on and self._tells_less(missing, standing, options.floor))
        if is_poor and options.record_window and not (is_low and options.can_repair):
            made_up = self._with_record(snapshot, options, hidden_tokens, poll)
            written = Haystack((made_up.appendix,), poll=poll)
            gone = sum(not written.has(one.needle) and not _is_told(one, written) for one in lost)
            if not is_low or 1 - gone / self._counted >= options.floor:
                return made_up
        appendix, still_missing, appended = "", missing, 0
        if options.is_on and not is_low and missing:
            budget = min(options.most_tokens, appendix_budget(hidden_tokens, count_text(snapshot)))
            appendix, still_missing, appended = write_appendix(
                missing,
                budget_tokens=budget,
                count_text=count_text,
                outcomes=self._outcomes_of_commands(poll),
                poll=poll,
            )
        named = tuple(MissingFact(kind=fact.kind, text=shown(fact)) for fact, *_ in lost)
        repaired = len(set(options.lost_before).difference(named))
        retention = retention_of(
            len(self._wanted), [wanted.fact for wanted in still_missing], repaired=repaired, appended=appended
        )
        told = measure_told(
            (*self._sources, *self._kept_whole),
            earlier=self._earlier,
            standing=(snapshot, appendix, *self._kept),
            beside=self._beside,
            unwanted=self._unwanted,
            cache=self._cache,
            poll=poll,
        )
        return Gated(
            verdict="pass" if not is_low else "repair" if options.can_repair else "refuse",
            appendix=appendix,
            retention=msgspec.structs.replace(
                retention, score=told.score, unsupported=self._unsupported(snapshot, poll)
            ),
            own_score=round(own_score, 4),
            lost=named,
        )

    def _with_record(
        self, snapshot: str, options: GateOptions, hidden_tokens: float, poll: Callable[[], None]
    ) -> Gated:
        """A snapshot beside a record, which makes up for what it leaves out: none is refused."""
        record = write_record(
            self._sources,
            hidden_tokens=hidden_tokens,
            window=options.record_window,
            own_words=options.own_words,
            earlier=self._earlier,
            snapshot=snapshot,
            standing=self._kept,
            beside=self._beside,
            unwanted=self._unwanted,
            withdrawn=self._withdrawn,
            cache=self._cache,
            poll=poll,
        )
        standing = Haystack((snapshot,), poll=poll)
        written = Haystack((record.text,), poll=poll)
        lost = [one for one in self._elsewhere if self._counts(one) and not standing.has(one.needle)]
        lost = [one for one in lost if not _is_told(one, standing)]
        missing = [one.fact for one in self._elsewhere if not standing.has(one.needle) and not written.has(one.needle)]
        own_score = round(1 - len(lost) / self._counted, 4) if self._counted else 1.0
        retention = retention_of(record.said, (), appended=record.kept)
        named = tuple(MissingFact(kind=fact.kind, text=shown(fact)) for fact in missing[:MOST_MISSING])
        return Gated(
            verdict="pass",
            appendix=record.text,
            retention=msgspec.structs.replace(
                retention,
                score=record.score,
                kept=record.kept,
                missing=named,
                unsupported=self._unsupported(snapshot, poll),
            ),
            own_score=own_score,
            lost=tuple(MissingFact(kind=one.fact.kind, text=shown(one.fact)) for one in lost),
            is_made_up_for=own_score < options.floor,
            words=record.words,
        )

    def _tells_less(self, missing: Sequence[Wanted], standing: Haystack, floor: float) -> bool:
        """Whether a snapshot tells less than such a share of all that is hidden, whenever that was."""
        asked = sum(one.fact.kind in FLOOR_KINDS for one in self._wanted)
        lost = sum(one.fact.kind in FLOOR_KINDS and not _is_told(one, standing) for one in missing)
        return lost >= FEWEST_LOST and lost > (1 - floor) * asked

    def _counts(self, wanted: Wanted) -> bool:
        return wanted.fact.kind in FLOOR_KINDS and self._is_fresh[wanted.place]

    def _unsupported(self, snapshot: str, poll: Callable[[], None]) -> tuple[MissingFact, ...]:
        claims = unsupported_claims(
            snapshot, self._facts(), self._batched, words=self._words, strangers=self._strangers, poll=poll
        )
        return tuple(MissingFact(kind=kind, text=text) for kind, text in claims)

    def _facts(self) -> Iterator[Fact]:
        return (fact for source in self._sources for fact in self._cache.known(source))

    def _batched(self) -> Iterator[str]:
        """All text that a snapshot may rest on, in batches, what stands beside it and the newest first."""
        batch: list[str] = []
        size = 0
        hidden = (text_of_content(source.content) for source in reversed(self._sources))
        for text in chain(self._also, self._kept, map(text_of_content, self._beside), hidden):
            batch.append(text)
            size += len(text)
            if size >= _BATCH:
                yield "\n".join(batch)
                batch, size = [], 0
        yield "\n".join(batch)

    def _strangers(self) -> Iterator[str]:
        """Other texts whose words the cache has: of turns that are gone, say."""
        live = (source.content for source in self._sources if source.known is None)
        own = {id(content) for content in chain(live, self._beside)}
        gone = (content for content in self._cache.read() if id(content) not in own)
        return chain(map(text_of_content, gone), self._not_in_memory())

    def _outcomes_of_commands(self, poll: Callable[[], None]) -> dict[str, str]:
        """What came of the newest commands: older ones do not count."""
        if self._outcomes is None:
            self._outcomes = {}
            for action in read_actions(self._sources[-NEWEST - 1 :]):
                poll()
                if action.command:
                    outcome = outcome_of(action)
                    said = outcome.line or ("no result yet" if outcome.status == "open" else "ok")
                    self._outcomes[action.command] = f"failed: {said}" if outcome.status == "failed" else said
        return self._outcomes


def _without_done(missing: list[Wanted], snapshot: str) -> list[Wanted]:
    """Without the tasks that the snapshot marks as done in its own words."""
    if not any(wanted.fact.kind == "task" for wanted in missing):
        return missing
    ticked = tuple(ticked_in(snapshot))
    return [one for one in missing if one.fact.kind != "task" or not is_told_over(one.fact, ticked)]


def _is_told(wanted: Wanted, standing: Haystack) -> bool:
    """True for a sentence of which most words stand in the snapshot; a path stands there or not."""
    return wanted.fact.kind != "path" and standing.has_most(wanted.needle, IN_OTHER_WORDS)


def appendix_budget(hidden_tokens: float, snapshot_tokens: float) -> float:
    """Tokens that an appendix may have: a share of what is hidden, within bounds, and not most of a real gain."""
    budget = min(max(hidden_tokens * BUDGET_SHARE, LEAST_BUDGET), MOST_BUDGET)
    gain = hidden_tokens - snapshot_tokens
    return min(budget, max(gain * GAIN_SHARE, SMALL_GAIN)) if gain > 0 else 0.0


def gate(
    sources: Sequence[FactSource],
    snapshot: str,
    kept: Iterable[str],
    options: GateOptions,
    *,
    count_text: Callable[[str], float],
    hidden_tokens: float,
    fresh: Collection[int] | None = None,
    also: Iterable[str] = (),
    let_go: Iterable[str] = (),
    later: Collection[Content] = (),
    cache: FactCache | None = None,
    poll: Callable[[], None] = lambda: None,
) -> Gated:
    """Check one snapshot against everything that it hides. See `Evidence`, which checks several at the cost of one."""
    evidence = Evidence(sources, kept, fresh=fresh, also=also, let_go=let_go, later=later, cache=cache, poll=poll)
    return evidence.check(snapshot, options, count_text=count_text, hidden_tokens=hidden_tokens, poll=poll)
