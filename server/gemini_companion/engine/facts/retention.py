"""How much of what must survive a compression stands in its snapshot, or beside it word for word."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final, NamedTuple, get_args

from gemini_companion.engine.facts.actions import CHANGES, read_actions, verb_of
from gemini_companion.engine.facts.content_text import named_in
from gemini_companion.engine.facts.extract import facts_of
from gemini_companion.engine.facts.fact import Fact, FactKind, FactSource, Known, Named, Said
from gemini_companion.engine.facts.haystack import Haystack, Needle, needle_of, shown
from gemini_companion.engine.facts.open_tasks import is_left_open, said_in, still_open
from gemini_companion.engine.facts.statements import Statement, statements_of
from gemini_companion.engine.facts.vocabulary import Vocabulary
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import is_plain_user
from gemini_companion.engine.history.retention import MissingFact, Retention

MOST_MISSING: Final = 50
"""Missing facts that a result names."""
NEWEST: Final = 20
"""Contents at the end of what is hidden in which everything counts."""

_CACHED: Final = 250_000
"""Contents whose facts a cache holds; of more than that it begins anew. One without facts costs two hundred bytes."""
_NAMED: Final = 12_000
"""Contents that are put away of which it is known what they name: more than a record asks for, which looks at the
newest thousand calls and what was said behind them. Each takes some hundred bytes.
"""
LOOKED_FOR: Final = 2_000
"""Facts that are looked for at most, the most worthy first."""
_POLLED: Final = 64
"""Contents that are known after which it is asked whether to go on."""
_LASTING: Final[frozenset[FactKind]] = frozenset(("directive", "decision"))
_SAID: Final[frozenset[FactKind]] = frozenset(("path", "symbol", "url", "number"))
_WORTH: Final[dict[str, int]] = {kind: place for place, kind in enumerate(get_args(FactKind))}


class FactCache:
    """The facts of contents that were looked through before.

    A history's contents are the same objects from one compression to the next.
    """

    def __init__(self, most: int = _CACHED) -> None:
        self._most = most
        self._contents: dict[int, Known] = {}
        self._past: dict[int, tuple[Known, ...]] = {}
        """By the number of an entry that is put away, what is known of the contents that were read of it."""
        self._named: dict[tuple[int, int], tuple[Named, ...]] = {}
        """What the newest of them name that somebody asked for, in the same way as `_told`."""
        self._told: dict[tuple[int, int], Said] = {}
        """What they say of tasks being over, as far as somebody asked: by entry, and which of its contents it is."""
        self._silent: dict[tuple[bool, bool, bool, bool, bool, int], tuple[Known]] = {}
        """What is known of most of them, which say nothing that counts: shared, so that they take no room each."""
        self._vocabulary = Vocabulary(most)
        self._said: dict[int, tuple[Content, Said]] = {}
        self._derived: dict[int, tuple[Content, tuple[Content, ...]]] = {}

    def facts_of(self, source: FactSource) -> Sequence[Fact]:
        """The facts of a content; they carry the index that it had when it was first looked through."""
        known = source.known or self.content(source.content)
        if known.facts is None:
            known.facts = facts_of(source) or ()
        return known.facts

    def statements(self, source: FactSource) -> Sequence[Statement]:
        """The statements of a content."""
        return _statements(source.known or self.content(source.content), source.content)

    def statements_in(self, content: Content) -> Sequence[Statement]:
        """The statements of a content that is no source: it stays."""
        return _statements(self.content(content), content)

    def has_change(self, source: FactSource) -> bool:
        """Whether one of the calls in a content alters a file."""
        known = source.known or self.content(source.content)
        return _has_change(known, source.content) if known.has_change is None else known.has_change

    def named(self, source: FactSource) -> tuple[Named, ...]:
        """What is named in each part of a content."""
        if source.known is None:
            return self.named_in(source.content)
        place = source.seq, source.number
        if (named := self._named.get(place)) is None:
            named = self._name(place, named_in(source.content))
        return named

    def named_in(self, content: Content) -> tuple[Named, ...]:
        """The same of a content that is no source: it stays."""
        known = self.content(content)
        if known.named is None:
            known.named = named_in(content)
        return known.named

    def _name(self, place: tuple[int, int], named: tuple[Named, ...]) -> tuple[Named, ...]:
        if len(self._named) >= _NAMED:
            for gone in list(self._named)[: _NAMED // 10]:  # threads may change it meanwhile
                self._named.pop(gone, None)
        self._named[place] = named
        return named

    def content(self, content: Content) -> Known:
        """What is known of a content."""
        known = self._contents.get(id(content))
        if known is None or known.content is not content:
            if len(self._contents) >= self._most:
                self._contents.clear()
            known = self._contents[id(content)] = Known(content)
        return known

    def looked_up(self, sources: Sequence[FactSource]) -> Iterator[Known]:
        """What is known of each content."""
        find = self._contents.get
        for source in sources:
            known = source.known or find(id(source.content))
            if known is None or (source.known is None and known.content is not source.content):
                known = self.content(source.content)
            yield known

    def past(self, seq: int, contents: Callable[[], Sequence[Content]]) -> tuple[Known, ...]:
        """What is known of the contents that are read of an entry which is put away; `contents` reads them."""
        known = self._past.get(seq)
        if known is None:
            known = self._past[seq] = tuple(map(Known, contents()))
            for one in known:
                one.content = None
        return known

    def keep_only(self, ids: Collection[int]) -> None:
        """Forget all contents but those with these identities and what is read in their stead; words stay."""
        read = (made for key, (_, made) in list(self._derived.items()) if key in ids)  # threads may add to it
        ids = {*ids, *(id(content) for contents in read for content in contents)}
        for known in (self._contents, self._said, self._derived):
            for gone in known.keys() - ids:
                del known[gone]
        self._vocabulary.keep_only(ids)

    def has_put_away(self, seq: int) -> bool:
        """Whether something is known of an entry that was put away, since the cache was made."""
        return seq in self._past

    def find_open(self, contents: Iterable[Content]) -> None:
        """Find the tasks that these contents left open and the like, ahead of `put_away`, which asks for them."""
        for content in contents:
            known = self._contents.get(id(content))
            if known is not None and known.content is content:
                _left_open(known, content)
                _has_change(known, content)
                _statements(known, content)

    def put_away(self, seq: int, content: Content, contents: Sequence[Content]) -> None:
        """An entry's content goes, and the contents that were read in its stead; what is known of them stays."""
        self._derived.pop(id(content), None)
        known = [self._contents.pop(id(content), None) for content in contents]
        said = [self._said.pop(id(content), None) for content in contents]
        read = [self._vocabulary.put_away(content) for content in contents]
        stays: list[Known] = []
        for content, one, told, words in zip(contents, known, said, read, strict=True):
            if one is None or one.content is not content:
                return  # found out when it is asked for
            if told is not None:
                self._told[seq, len(stays)] = told[1]
            if one.named is not None:
                self._name((seq, len(stays)), one.named)
                one.named = None
            _left_open(one, content)
            has_change = _has_change(one, content)
            one.content = None
            one.read = words
            statements = _statements(one, content)
            if one.facts is not None and not one.facts and not statements and len(contents) == 1:
                alike = one.by_user, one.is_output, one.has_call, has_change, one.has_response, one.read
                self._past[seq] = self._silent.setdefault(alike, (one,))
                return
            stays.append(one)
        self._past[seq] = tuple(stays)

    def said_in(self, content: Content, poll: Callable[[], None]) -> Said:
        """What a content says of tasks being over."""
        known = self._said.get(id(content))
        if known is not None and known[0] is content:
            return known[1]
        said = said_in(content, poll)
        if len(self._said) >= self._most:
            self._said.clear()
        self._said[id(content)] = (content, said)
        return said

    def words_of(self, sources: Sequence[FactSource], beside: Iterable[Content], poll: Callable[[], None]) -> set[str]:
        """Every word of sources and of contents beside them, and of those asked about before. Must not be changed."""
        return self._vocabulary.of(sources, beside, poll)

    def told(self, source: FactSource, poll: Callable[[], None]) -> Said:
        """What a source says of tasks being over."""
        if source.known is None:
            return self.said_in(source.content, poll)
        place = source.seq, source.number
        if (told := self._told.get(place)) is None:
            told = self._told[place] = said_in(source.content, poll)
        return told

    def read(self) -> tuple[Content, ...]:
        """The contents whose words it has."""
        return self._vocabulary.read()

    def look_through(self, sources: Sequence[FactSource], poll: Callable[[], None]) -> None:
        """Find what a compression will ask for, ahead of it: what is said, and what calls and their outputs name. Facts
        of outputs are not, for they count only while new.
        """
        for source in sources:
            poll()
            known = source.known or self.content(source.content)
            if not known.is_output:
                self.facts_of(source)
                self.statements(source)
            if known.has_call or known.has_response:
                self.has_change(source)
                self.named(source)
        self.words_of(sources, (), poll)

    def derived(self, content: Content, make: Callable[[], tuple[Content, ...]]) -> tuple[Content, ...]:
        """What is read in a content's stead, made once: the facts of it are known by its identity."""
        known = self._derived.get(id(content))
        if known is not None and known[0] is content:
            return known[1]
        if len(self._derived) >= self._most:
            self._derived.clear()
        made = make()
        self._derived[id(content)] = content, made
        return made

    def known(self, source: FactSource) -> Sequence[Fact]:
        """The facts of a content if it was looked through, else none."""
        if source.known is not None:
            return source.known.facts or ()
        known = self._contents.get(id(source.content))
        return (known.facts or ()) if known is not None and known.content is source.content else ()


def measure_retention(
    sources: Sequence[FactSource],
    snapshot: str,
    kept: Iterable[str] = (),
    *,
    repaired: int = 0,
    cache: FactCache | None = None,
    poll: Callable[[], None] = lambda: None,
) -> Retention:
    """Look for the facts of what a compression hides in what takes its place.

    Bounded, and total: the 2,000 most worthy facts are looked for, in the first 1,000,000 characters of what takes
    their place; no content makes it raise.

    A fact stands there if it does so word for word, but for capitals, blanks, emphasis and escaped tags; of a command
    or an error the first line is enough. Each text of a kind counts once.

    Args:
        sources: The hidden contents, in order.
        snapshot: The text that takes their place.
        kept: Texts that stay word for word beside it: the tail, the pins.
        repaired: How many facts were put back after the model had left them out.
        cache: Saves looking through the same contents again.
        poll: Called once for each content, text and fact; what it raises ends the work.
    """
    wanted = wanted_facts(sources, cache=cache, poll=poll)[:LOOKED_FOR]
    haystack = Haystack((snapshot, *kept), poll=poll)
    missing: list[Fact] = []
    for fact in wanted:
        poll()
        if not haystack.has(needle_of(fact)):
            missing.append(fact)
    return retention_of(len(wanted), missing, repaired=repaired)


def retention_of(facts: int, missing: Sequence[Fact], *, repaired: int = 0, appended: int = 0) -> Retention:
    """What it comes to if of so many facts these are missing."""
    kept = facts - len(missing)
    return Retention(
        score=round(kept / facts, 4) if facts else 1.0,
        facts=facts,
        kept=kept,
        repaired=min(repaired, kept),
        missing=tuple(MissingFact(kind=fact.kind, text=shown(fact)) for fact in missing[:MOST_MISSING]),
        appended=appended,
    )


class Wanted(NamedTuple):
    """A fact that counts."""

    fact: Fact
    needle: Needle
    place: int
    """Index of the last content that counts for it."""


def wanted_facts(
    sources: Sequence[FactSource], *, cache: FactCache | None = None, poll: Callable[[], None] = lambda: None
) -> list[Fact]:
    """The facts that count, the most worthy kind first, the newest first within one.

    Rules and decisions count wherever they stand. What the user named counts; what only the model named does if it
    was named in two contents or in the newest ones. A task that was left for later counts until it is done. Of
    commands, errors and other plans only the newest count: the rest is history. What an output merely lists does not
    count at all.
    """
    return [fact for _, fact in placed_facts(sources, cache=cache, poll=poll)]


def placed_facts(
    sources: Sequence[FactSource],
    *,
    later: Collection[Content] = (),
    cache: FactCache | None = None,
    poll: Callable[[], None] = lambda: None,
) -> list[tuple[int, Fact]]:
    """The same, each with its place: the index into `sources` of the last content that counts for it.

    `later` are contents behind them, which may say that a task is done.
    """
    known = cache or FactCache()
    newest_from = len(sources) - NEWEST
    chosen: dict[tuple[FactKind, str], tuple[int, Fact]] = {}
    seen: set[tuple[FactKind, str]] = set()
    left: dict[tuple[FactKind, str], tuple[int, Fact]] = {}
    for place, (source, content) in enumerate(zip(sources, known.looked_up(sources), strict=True)):
        if not content.facts and content.facts is not None and place % _POLLED:
            continue
        if content.facts is None or place % _POLLED == 0:
            poll()
        if place < newest_from and content.is_output:
            continue  # of an old output nothing counts: what it lists never does, what went wrong only while it is new
        by_user = content.by_user
        for fact in content.facts if content.facts is not None else known.facts_of(source):
            key = (fact.kind, fact.text)
            if fact.listed:
                continue
            again = fact.kind in _SAID and (by_user or key in seen)
            seen.add(key)
            if fact.kind == "task" and fact.text in (content.left_open or _left_open(content, source.content)):
                left.pop(key, None)
                left[key] = place, fact
            elif place >= newest_from or fact.kind in _LASTING or again:
                chosen[key] = (place, fact)
    if left:
        voices = [*known.looked_up(sources)]
        heard = chain(
            ((voice.by_user, partial(known.told, source, poll)) for voice, source in zip(voices, sources, strict=True)),
            ((is_plain_user(content), partial(known.said_in, content, poll)) for content in later),
        )
        open_ones = still_open(list(left.values()), heard)
        chosen.update((("task", fact.text), (place, fact)) for place, fact in open_ones)
    return sorted(chosen.values(), key=lambda entry: (_WORTH[entry[1].kind], -entry[0]))


_NONE: Final[frozenset[str]] = frozenset()


def _statements(known: Known, content: Content) -> Sequence[Statement]:
    if known.statements is None:
        known.statements = () if known.is_output else statements_of(content)
    return known.statements


def _has_change(known: Known, content: Content) -> bool:
    if known.has_change is None:
        known.has_change = any(verb_of(action) in CHANGES for action in read_actions((FactSource(0, content, 0),)))
    return known.has_change


def _left_open(known: Known, content: Content) -> frozenset[str]:
    """The texts of its tasks that were left for later."""
    if known.left_open is None:
        tasks = [fact for fact in known.facts or () if fact.kind == "task"]
        known.left_open = frozenset(task.text for task in tasks if is_left_open(task, content)) if tasks else _NONE
    return known.left_open
