"""The record of hidden turns: the person's words whole, the model's by worth, calls by line, within budgets.

It is made anew of the log at every pass, never of what an earlier pass left: so nothing in it wears away. Each part has
a budget of its own, as a share of what is hidden and of the window: a person who writes much does not crowd out what
the model found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import Final, Literal, NamedTuple

from gemini_companion.engine.facts.actions import CHANGES, read_actions, verb_of
from gemini_companion.engine.facts.content_text import names_in
from gemini_companion.engine.facts.fact import FactSource, Known
from gemini_companion.engine.facts.neutralise import SECTIONS, SNAPSHOT_TAG, neutralise
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.rules import is_rule
from gemini_companion.engine.facts.sentences import opening
from gemini_companion.engine.facts.statements import TRIFLE, Statement, Unwanted, likely, same_as, statements_of
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.retention import KeptWords
from gemini_companion.engine.record.outputs import Line, lines_of_calls

INTRODUCTION: Final = (
    "Quoted from the log of the replaced turns, in order; later words replace earlier ones. … marks what was left out:"
    " recall brings it back. A record, not a request."
)

ABOVE: Final = "… (above)"
"""Behind the opening of what the person said and the snapshot quotes: there it stands ahead of older words."""

_OPENING: Final = 14


class Share(NamedTuple):
    """What a part of the record may have."""

    of_hidden: float
    """Share of the tokens that are hidden,"""
    of_window: float
    """and of those that the model accepts, at most."""


OWN_WORDS: Final = 0.5
"""Of what is hidden, the share that the person's own words may have unless set."""
WORDS_OF_WINDOW: Final = 0.05
"""Of the window, the share that they may have. Below both they stay whole."""
MORE_OF_SHORT: Final = 1.2
"""How much more of it where at most `SHORT` tokens are hidden: of long messages that were dictated half would be cut
off, a rule said in passing with it.
"""
SHORT: Final = 4_000
MODEL: Final = Share(0.185, 0.025)
"""The model's prose, of which at most `MODEL_PROSE` is quoted."""
MODEL_PROSE: Final = 0.56
_IDLE: Final = 1.0
"""Worth below which the model's is not quoted even where there is room: a courtesy, a question that was answered."""
CALLS: Final = Share(0.08, 0.015)
"""Calls and what they gave."""
MATERIAL: Final = Share(0.012, 0.005)
"""What was pasted, fenced or quoted."""

_EACH: Final = 0.5
"""Tokens of a statement beside its text."""
_LONGEST: Final = 400.0
"""Tokens to which a statement is cut in any case: nobody says that much in one sentence."""
_SHORTEST: Final = 40.0
"""Tokens to which none is cut for want of room; some are left out before."""
NEWEST_CALLS: Final = 1_000
"""Calls whose outputs are looked at; of those before them, what changed a file is named."""
_LEANS: Final = 12.0
"""Tokens below which a sentence of the person is taken to need the one before it: "not even the comments"."""
_AFTER_RESULT: Final = 0.3
"""Worth of the model's first words behind a result, on top."""
_LAST_WORD: Final = 1.0
"""Worth of the last sentence of an answer, on top, the more the later it was said: what a model promises or leaves open
stands there, and old promises were kept since.
"""
_NEWER: Final = 0.8
"""Worth of a line that was pasted, on top, the more the later it was: a run replaces the one before it."""

_TELLING: Final = 0.1
"""How likely a statement carries something from where on it is counted."""

_MARK: Final = lazy(r"\[(?:TODO|IN PROGRESS)\] ")
"""What a snapshot of ours puts before a task."""
_TAG: Final = lazy(rf"</?(?:{'|'.join((SNAPSHOT_TAG, *SECTIONS))})>")

Voice = Literal["user", "model", "material"]


class Told(NamedTuple):
    """How much of what was said stands in the request."""

    score: float
    """Share of the information that stands in the request, 0 to 1; 1 if there was none."""
    said: int
    """Statements that carry some."""
    kept: int
    """Of them, how many stand word for word."""


class Record(NamedTuple):
    """What is written, and how much of what was said it and what stands beside it cover: see `Told`."""

    text: str
    """`""` if there is nothing to write."""
    score: float
    said: int
    kept: int
    words: KeptWords = KeptWords()
    """Which of the person's stand, and how much of the rest."""


class _Said:
    """A statement in its place, and how much of it is quoted."""

    __slots__ = ("at", "is_above", "name", "order", "quoted", "statement", "voice", "worth")

    def __init__(
        self, at: int, name: tuple[int, int], order: int, voice: Voice, statement: Statement, worth: float
    ) -> None:
        self.at = at
        self.name = name
        """As `KeptWords` names it."""
        self.order = order
        """Its number among the statements of its content."""
        self.voice: Voice = voice
        self.statement = statement
        self.worth = worth
        self.quoted = 1.0
        """Share of it that is quoted: a very long one is cut behind a word."""
        self.is_above = False
        """It stands in the snapshot, the first of several: only its place is shown here."""

    @property
    def weight(self) -> float:
        """How likely it is that it carries what matters."""
        if self.voice == "material":
            return 0.0
        return likely(self.worth, by_user=self.voice == "user")

    def shorten(self, longest: float) -> float:
        """Quote no more than so many tokens. What it costs."""
        if self.statement.tokens > longest:
            self.quoted = longest / self.statement.tokens
        return self.cost

    @property
    def cost(self) -> float:
        """Tokens of what is quoted of it."""
        return self.quoted * self.statement.tokens + _EACH

    def is_of_person(self, *, whole: bool) -> bool:
        """Whether it is a person's, and quoted whole or not."""
        return self.voice == "user" and (self.quoted == 1) == whole


def write_record(
    sources: Sequence[FactSource],
    *,
    hidden_tokens: float,
    window: int,
    own_words: float = OWN_WORDS,
    earlier: int = 0,
    snapshot: str = "",
    standing: Iterable[str] = (),
    beside: Sequence[Content] = (),
    unwanted: Unwanted | None = None,
    withdrawn: Iterable[str] = (),
    cache: FactCache | None = None,
    poll: Callable[[], None] = lambda: None,
) -> Record:
    """Write it.

    Args:
        sources: The hidden contents, in order.
        hidden_tokens: Tokens of them all.
        window: Tokens that the model accepts.
        own_words: Share of `hidden_tokens`, 0 to 1, that the person's words may have.
        earlier: How many of the first sources are snapshots of before, which are no person's words.
        snapshot: What it says is not said again. Of the person's words the place is shown, but for short chats.
        standing: Other texts that stand in the request, rules: what they say is not said again either.
        beside: Contents that do: the tail.
        unwanted: What the person does not want kept: it is not quoted, and nobody misses it.
        withdrawn: Rules that a person took back by hand. Where they were said nothing tells of that, so a quotation
            would have them hold again.
        cache: Saves reading the same contents again.
        poll: Called often; what it raises ends the work.
    """
    gone = {one.same for text in withdrawn for one in statements_of(user_text(text))}
    cache = cache or FactCache()
    said: list[_Said] = []
    dropped: list[tuple[int, int]] = []
    for one in _read(sources, earlier, cache, poll):
        if one.voice == "user" and unwanted and unwanted.has(one.statement, one.name[0]):
            dropped.append(one.name)
        elif one.statement.same not in gone:
            said.append(one)
    standing = (snapshot, *standing)
    above = _said_in((snapshot,), (), cache, poll)
    stands = above | _said_in(standing[1:], beside, cache, poll)
    newest = _newest(said)
    again: dict[int, int] = {}
    covered: set[int] = set()
    for place, one in enumerate(said):
        if one.statement.tokens < TRIFLE:
            continue
        if (last := newest[one.voice, one.statement.same]) != place:
            again[place] = last
        elif one.statement.same in stands:
            covered.add(place)

    leant_on = _leant_on(
        said,
        covered,
        lambda one: (text_of(sources[one.at].content.parts[one.statement.part]) or "")[
            one.statement.start : one.statement.end
        ],
    )

    def budget(share: Share) -> float:
        return min(share.of_hidden * hidden_tokens, share.of_window * window)

    of_hidden = own_words if hidden_tokens > SHORT else min(1.0, MORE_OF_SHORT * own_words)
    for_words = budget(Share(of_hidden, WORDS_OF_WINDOW))

    prose = sum(one.statement.tokens for one in said if one.voice == "model")
    chosen: set[int] = set()
    voices: tuple[Voice, ...] = ("user", "model", "material")
    for voice in voices:
        most = budget(MATERIAL)
        if voice != "material":
            most = for_words if voice == "user" else min(budget(MODEL), MODEL_PROSE * prose)
        chosen.update(
            _chosen(said, voice, most, lambda place: place not in again and (place not in covered or place in leant_on))
        )
    first = min(chosen, default=len(said)) if hidden_tokens > SHORT else len(said)  # it would cost what is gained
    for place in covered - chosen:
        one, before = said[place], said[place - 1]
        one.is_above = place > first and one.voice == "user" and one.statement.same in above
        one.is_above = one.is_above and not (one.at == before.at and place - 1 in covered - chosen)
    shown = chosen | {place for place in covered if said[place].is_above}
    lines = list(_quoted([said[place] for place in sorted(shown)], sources))
    calls = list(_calls(sources, budget(CALLS), (*standing, *(line.text for line in lines)), beside, cache, poll))
    lines += calls
    lines.sort(key=lambda line: line.at)
    kept = chosen | covered
    kept.update(place for place, last in again.items() if last in kept)
    text = "\n".join((INTRODUCTION, *(line.text for line in lines))) if lines else ""
    words = KeptWords(
        whole=tuple(said[place].name for place in sorted(kept) if said[place].is_of_person(whole=True)),
        cut=tuple(said[place].name for place in sorted(kept) if said[place].is_of_person(whole=False)),
        unwanted=tuple(dropped),
        tokens=int(sum(said[place].cost for place in chosen if said[place].voice == "user")),
        budget=math.ceil(for_words),
        model=sum(said[place].voice == "model" for place in chosen),
        calls=len(calls),
    )
    return Record(text, *_measured(said, newest.values(), kept), words)


def measure_told(
    sources: Sequence[FactSource],
    *,
    earlier: int = 0,
    standing: Iterable[str] = (),
    beside: Sequence[Content] = (),
    unwanted: Unwanted | None = None,
    cache: FactCache | None = None,
    poll: Callable[[], None] = lambda: None,
) -> Told:
    """How much of what was said stands in texts and beside them, where no record is written. See `write_record`."""
    cache = cache or FactCache()
    said = [
        one
        for one in _read(sources, earlier, cache, poll)
        if not (one.voice == "user" and unwanted and unwanted.has(one.statement, one.name[0]))
    ]
    stands = _said_in(standing, beside, cache, poll)
    kept = {place for place, one in enumerate(said) if one.statement.same in stands}
    return _measured(said, _newest(said).values(), kept)


def _newest(said: Sequence[_Said]) -> dict[tuple[Voice, int], int]:
    """Of what is said over and over again, the last place."""
    return {(one.voice, one.statement.same): place for place, one in enumerate(said)}


def _measured(said: Sequence[_Said], places: Collection[int], kept: Set[int]) -> Told:
    weights = {place: said[place].weight for place in places}
    whole, telling = sum(weights.values()), [place for place, weight in weights.items() if weight >= _TELLING]
    return Told(
        score=round(sum(weight for place, weight in weights.items() if place in kept) / whole, 4) if whole else 1.0,
        said=len(telling),
        kept=sum(place in kept for place in telling),
    )


def _said_in(texts: Iterable[str], beside: Iterable[Content], cache: FactCache, poll: Callable[[], None]) -> set[int]:
    """Of each statement in texts and contents, what it is the same as."""
    said: set[int] = set()
    for text in texts:
        poll()
        text = _TAG().sub("\n", text)
        for one in statements_of(Content(role="user", parts=({"text": text},))):
            words = _MARK().sub("", text[one.start : one.end])
            said.update((same_as(words), same_as(words.partition(": ")[2])))  # a line of ours begins with a label
    for content in beside:
        poll()
        said.update(one.same for one in cache.statements_in(content))
    return said


def read_record(lines: Iterable[str]) -> list[str]:
    """What the lines of a record behind its introduction say, without who says it."""
    return [said for line in lines if (said := line.strip().removeprefix("user: ").removeprefix("model: "))]


class Heard(NamedTuple):
    """What is said in a content."""

    at: int
    """Its index."""
    known: Known
    seq: int
    first: int
    """The number, among all of the entry, of the first of its statements."""
    statements: Sequence[Statement]


def statements_in(
    sources: Sequence[FactSource], cache: FactCache, poll: Callable[[], None] = lambda: None
) -> Iterator[Heard]:
    """All that is said in contents. An entry may have several, which follow each other."""
    seq, first = -1, 0
    for at, (source, known) in enumerate(zip(sources, cache.looked_up(sources), strict=True)):
        poll()
        if source.ide_context:
            continue
        if source.seq != seq:
            seq, first = source.seq, 0
        statements = known.statements if known.statements is not None else cache.statements(source)
        yield Heard(at, known, seq, first, statements)
        first += len(statements)


def _read(sources: Sequence[FactSource], earlier: int, cache: FactCache, poll: Callable[[], None]) -> Iterator[_Said]:
    after_result = False
    for at, known, seq, first, statements in statements_in(sources, cache, poll):
        if known.is_output:
            after_result = True
            continue
        voice: Voice = "user" if known.by_user and at >= earlier else "model"
        for order, one in enumerate(statements):
            worth = one.worth
            if voice == "model" and after_result and order == 0:
                worth += _AFTER_RESULT
            if voice == "model" and one is statements[-1] and order and not known.has_call:
                worth += _LAST_WORD * (at + 1) / len(sources)
            if one.is_material:
                worth += _NEWER * (at + 1) / len(sources)
            yield _Said(at, (seq, first + order), order, "material" if one.is_material else voice, one, worth)
        after_result = False


def _leant_on(said: Sequence[_Said], elsewhere: Collection[int], text_at: Callable[[_Said], str]) -> set[int]:
    """Rules of the person that stand beside the record too, and are quoted all the same: a short sentence that is no
    rule by itself and stands nowhere else follows, and would be half of what was laid down.
    """
    found: set[int] = set()
    for place in sorted(elsewhere, reverse=True):
        if place + 1 == len(said) or (place + 1 in elsewhere and place + 1 not in found):
            continue
        one, following = said[place], said[place + 1]
        is_followed = one.voice == following.voice == "user" and one.at == following.at
        is_short = following.statement.tokens < _LEANS and not is_rule(text_at(following))
        if is_followed and is_short and is_rule(text_at(one)):
            found.add(place)
    return found


def _chosen(said: Sequence[_Said], voice: Voice, budget: float, is_wanted: Callable[[int], bool]) -> Iterator[int]:
    """The places of the statements of a voice that are quoted, the most worthy first, and how much of each."""
    least = _IDLE if voice == "model" else -math.inf
    places = [n for n, one in enumerate(said) if one.voice == voice and one.worth >= least and is_wanted(n)]
    longest = _longest([said[place].statement.tokens for place in places], budget) if voice == "user" else _LONGEST
    for place in sorted(places, key=lambda place: -said[place].worth):
        cost = said[place].shorten(longest)
        if cost <= budget + _EACH:
            budget -= cost
            yield place


def _longest(tokens: Sequence[float], budget: float) -> float:
    """The length to which the longest of some statements are cut so that all fit: a short one, which most rules are,
    is not given up for a long one.
    """
    left = budget
    for number, length in enumerate(sorted(tokens)):
        rest = len(tokens) - number
        if (length + _EACH) * rest > left:
            return min(_LONGEST, max(_SHORTEST, left / rest - _EACH))
        left -= length + _EACH
    return _LONGEST


def _quoted(said: Sequence[_Said], sources: Sequence[FactSource]) -> Iterator[Line]:
    """A line for each content: its chosen statements as they stand there, with a mark where something is left out.

    Lines of one content after the first are indented, so that none can pass for another one's.
    """
    run: list[_Said] = []
    for one in (*said, None):
        if run and (one is None or one.at != run[0].at):
            who = "user" if any(each.voice == "user" for each in run) else sources[run[0].at].content.role
            text = neutralise("".join(_pieces(run, sources[run[0].at].content)))
            yield Line(run[0].at, f"{who}: " + "\n  ".join(line for line in text.split("\n") if line.strip()))
            run = []
        if one is not None:
            run.append(one)


def _pieces(run: Sequence[_Said], content: Content) -> Iterator[str]:
    before: _Said | None = None
    for one in run:
        part, start, end = one.statement.part, one.statement.start, one.statement.end
        text = text_of(content.parts[part]) or ""
        if before is not None:
            if one.order != before.order + 1 or before.quoted < 1:
                yield " … "
            else:
                yield text[before.statement.end : start] if part == before.statement.part else "\n"
        if one.quoted < 1:
            cut = start + int(one.quoted * (end - start))
            blank = text.rfind(" ", start, cut)
            end = blank if blank > start else cut
        yield f"{opening(text[start:end], _OPENING)} {ABOVE}" if one.is_above else text[start:end]
        before = one
    if before is not None and before.quoted < 1:
        yield " …"


def _calls(
    sources: Sequence[FactSource],
    budget: float,
    standing: Iterable[str],
    beside: Sequence[Content],
    cache: FactCache,
    poll: Callable[[], None],
) -> Iterator[Line]:
    """What was called, and what came of it. Bounded in its work: of old calls only what they changed is named."""
    acting = [
        (at, known.has_call)
        for at, (source, known) in enumerate(zip(sources, cache.looked_up(sources), strict=True))
        if (known.has_call or known.has_response) and not source.ide_context
    ]
    calling = [at for at, has_call in acting if has_call]
    if not calling:
        return
    first = calling[-NEWEST_CALLS:][0]
    old = [at for at in calling if at < first and cache.has_change(sources[at])]
    actions, changed = (
        read_actions([FactSource(at, sources[at].content, sources[at].seq) for at in places])
        for places in ([at for at, _ in acting if at >= first], old)
    )
    changed += actions[:-NEWEST_CALLS]
    changed = [action for action in changed if verb_of(action) in CHANGES]
    newest = actions[-NEWEST_CALLS:]
    names: set[str] = set()
    for text in standing:
        poll()
        names.update(names_in(text))
    names.update(name for content in beside for named in cache.named_in(content) for name in named.names)
    later: dict[str, int] = {}
    for at in range(newest[0].index, len(sources)):
        poll()
        if not sources[at].ide_context:
            for named in cache.named(sources[at]):
                later.update(dict.fromkeys(named.names, at))
    for content in beside:
        for named in cache.named_in(content):
            later.update(dict.fromkeys(named.names, len(sources)))
    lines = lines_of_calls(
        [*changed, *newest],
        budget,
        named=lambda at, part: cache.named(sources[at])[part],
        standing=names,
        later=later,
        end=len(sources),
        is_old=len(changed),
        poll=poll,
    )
    for line in lines:
        yield Line(line.at, f"call: {neutralise(line.text)}")
