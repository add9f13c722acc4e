"""How much of what must survive a compression stands in its snapshot, or beside it word for word."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Final, NamedTuple, get_args

from gemini_companion.engine.facts.extract import facts_of, result_text, strings_in
from gemini_companion.engine.facts.fact import Fact, FactKind, FactSource
from gemini_companion.engine.facts.open_tasks import Said, is_left_open, said_in, still_open
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.facts.word_sets import AT_ONCE, words_of_texts
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import call_of, is_plain_user, response_of, text_of
from gemini_companion.engine.history.retention import MissingFact, Retention

MOST_MISSING: Final = 50
"""Missing facts that a result names."""
NEWEST: Final = 20
"""Contents at the end of what is hidden in which everything counts."""

_CACHED: Final = 250_000
"""Contents whose facts a cache holds; of more than that it begins anew. One without facts costs a hundred bytes."""
_MOST_WORDS: Final = 1_000_000
"""Different words that a cache holds."""
LOOKED_FOR: Final = 2_000
"""Facts that are looked for at most, the most worthy first."""
LOOKED_THROUGH: Final = 1_000_000
"""Characters of what takes their place that are looked through at most."""

_LONGEST_LINE: Final = 160
"""Characters of a command or of an error that are looked for: its first line that far."""
_LONGEST_TEXT: Final = 400
"""Characters of any other fact."""
_TOGETHER: Final = 64
"""Contents whose words are looked for together."""
_MOST_PLACES: Final = 100
"""Places where a fact of several words is tried."""
_LASTING: Final[frozenset[FactKind]] = frozenset(("directive", "decision"))
_SAID: Final[frozenset[FactKind]] = frozenset(("path", "symbol", "url", "number"))
_WORTH: Final[dict[str, int]] = {kind: place for place, kind in enumerate(get_args(FactKind))}
INVISIBLE: Final[dict[int, None]] = dict.fromkeys(
    code
    for first, last in ((0, 8), (14, 27), (0x7F, 0x84), (0x86, 0x9F), (0x202A, 0x202E), (0x2060, 0x206F))
    for code in range(first, last + 1)
)
"""Control characters and marks that nobody sees, for `str.translate`: terminal codes, directions of writing."""
_SIGNS: Final = INVISIBLE | str.maketrans({"‹": "<", "’": "'", "`": None, "*": None, "“": '"', "”": '"'})
_SIGN: Final = lazy(f"[{re.escape(''.join(map(chr, _SIGNS)))}]")
_WORDS: Final = lazy(r"[a-z0-9_]+")


class FactCache:
    """The facts of contents that were looked through before.

    A history's contents are the same objects from one compression to the next.
    """

    def __init__(self) -> None:
        self._facts: dict[int, tuple[Content, Sequence[Fact]]] = {}
        self._said: dict[int, tuple[Content, Said]] = {}
        self._read: dict[int, Content] = {}
        self._words: set[str] = set()
        self._derived: dict[int, tuple[Content, tuple[Content, ...]]] = {}

    def facts_of(self, source: FactSource) -> Sequence[Fact]:
        """The facts of a content; they carry the index that it had when it was first looked through."""
        known = self._facts.get(id(source.content))
        if known is not None and known[0] is source.content:
            return known[1]
        facts: Sequence[Fact] = facts_of(source) or ()
        if len(self._facts) >= _CACHED:
            self._facts.clear()
        self._facts[id(source.content)] = (source.content, facts)
        return facts

    def said_in(self, content: Content, poll: Callable[[], None]) -> Said:
        """What a content says of tasks being over."""
        known = self._said.get(id(content))
        if known is not None and known[0] is content:
            return known[1]
        said = said_in(content, poll)
        if len(self._said) >= _CACHED:
            self._said.clear()
        self._said[id(content)] = (content, said)
        return said

    def words_in(self, sources: Iterable[FactSource], poll: Callable[[], None]) -> set[str]:
        """Every word of contents, and of those that were asked about before. Must not be changed."""
        fresh = (source.content for source in sources if self._read.get(id(source.content)) is not source.content)
        while some := list(islice(fresh, _TOGETHER)):
            words = words_of_texts(
                map(text_of_content, some), poll
            )  # may end here: they count as read with their words
            if len(self._read) >= _CACHED or len(self._words) >= _MOST_WORDS:
                self._read.clear()
                self._words = set()
            self._read.update((id(content), content) for content in some)
            self._words.update(words)
        return self._words

    def look_through(self, sources: Sequence[FactSource], poll: Callable[[], None]) -> None:
        """Find what a compression will ask for, ahead of it; of outputs nothing, for they count only while new."""
        for source in sources:
            poll()
            if not _is_output(source.content):
                self.facts_of(source)
        self.words_in(sources, poll)

    def derived(self, content: Content, make: Callable[[], tuple[Content, ...]]) -> tuple[Content, ...]:
        """What is read in a content's stead, made once: the facts of it are known by its identity."""
        known = self._derived.get(id(content))
        if known is not None and known[0] is content:
            return known[1]
        if len(self._derived) >= _CACHED:
            self._derived.clear()
        made = make()
        self._derived[id(content)] = content, made
        return made

    def known(self, source: FactSource) -> Sequence[Fact]:
        """The facts of a content if it was looked through, else none."""
        entry = self._facts.get(id(source.content))
        return entry[1] if entry is not None and entry[0] is source.content else ()


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


class Needle(NamedTuple):
    """A fact as it is looked for."""

    plain: str
    """Without what makes no difference: capitals, blanks, emphasis, escaped tags."""
    words: tuple[str, ...]


class Wanted(NamedTuple):
    """A fact that counts."""

    fact: Fact
    needle: Needle
    place: int
    """Index of the last content that counts for it."""


class Haystack:
    """Texts in which facts are looked for, the first 1,000,000 characters of them."""

    def __init__(self, texts: Iterable[str], *, poll: Callable[[], None] = lambda: None) -> None:
        self._text = "\n".join(_plain_texts(texts, poll))
        words = _WORDS().findall(self._text)
        self._words = set(words)
        self._pairs = set(pairwise(words))

    def add(self, text: str) -> None:
        """Put a short text behind what is there."""
        plain = _plain(text)
        self._text = f"{self._text}\n{plain}"
        words = _WORDS().findall(plain)
        self._words.update(words)
        self._pairs.update(pairwise(words))

    def has_most(self, needle: Needle, share: float) -> bool:
        """Whether so many of a fact's words stand there, wherever."""
        words = set(needle.words)
        return bool(words) and len(words & self._words) >= share * len(words)

    def has(self, needle: Needle) -> bool:
        """Whether a fact stands there as whole words: `80` does not in `8080`.

        Most that are missing are told by a word that is, or by two that do not follow each other.
        """
        if not self._words.issuperset(needle.words) or not self._pairs.issuperset(pairwise(needle.words)):
            return False
        if not needle.plain:
            return True
        plain, haystack = needle.plain, self._text
        if needle.words == (plain,):
            return True
        start = haystack.find(plain)
        for _ in range(_MOST_PLACES):
            if start < 0:
                return False
            end = start + len(plain)
            if not (_joined(haystack[start - 1 : start], plain[0]) or _joined(plain[-1], haystack[end : end + 1])):
                return True
            start = haystack.find(plain, start + 1)
        return False


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
    look = known.facts_of
    newest_from = len(sources) - NEWEST
    chosen: dict[tuple[FactKind, str], tuple[int, Fact]] = {}
    seen: set[tuple[FactKind, str]] = set()
    left: dict[tuple[FactKind, str], tuple[int, Fact]] = {}
    for place, source in enumerate(sources):
        poll()
        if place < newest_from and _is_output(source.content):
            continue  # of an old output nothing counts: what it lists never does, what went wrong only while it is new
        by_user = is_plain_user(source.content)
        for fact in look(source):
            key = (fact.kind, fact.text)
            if fact.listed:
                continue
            again = fact.kind in _SAID and (by_user or key in seen)
            seen.add(key)
            if fact.kind == "task" and is_left_open(fact, source.content):
                left.pop(key, None)
                left[key] = place, fact
            elif place >= newest_from or fact.kind in _LASTING or again:
                chosen[key] = (place, fact)
    if left:
        contents = [source.content for source in sources]
        open_ones = still_open(list(left.values()), contents, partial(known.said_in, poll=poll), later)
        chosen.update((("task", fact.text), (place, fact)) for place, fact in open_ones)
    return sorted(chosen.values(), key=lambda entry: (_WORTH[entry[1].kind], -entry[0]))


def _is_output(content: Content) -> bool:
    return all(response_of(part) is not None for part in content.parts)


def text_of_content(content: Content) -> str:
    """Everything in a content that can hold a fact: texts, what calls were given, what they returned."""
    texts: list[str] = []
    for part in content.parts:
        if (text := text_of(part)) is not None:
            texts.append(text)
        elif (call := call_of(part)) is not None:
            texts.extend(value for _, value in strings_in(call.get("args")))
        elif (response := response_of(part)) is not None:
            texts.append(result_text(response))
    return "\n".join(texts)


def shown(fact: Fact) -> str:
    """What of a fact is looked for, and named where it is missing: a command may be a whole file. Ends with a word."""
    text, limit = fact.text, _LONGEST_TEXT
    if fact.kind in ("command", "error"):
        text, limit = text.lstrip().partition("\n")[0], _LONGEST_LINE
    if len(text) <= limit:
        return text
    end = text.rfind(" ", 0, limit + 1)
    return text[: end if end > 0 else limit]


def _plain_texts(texts: Iterable[str], poll: Callable[[], None]) -> Iterator[str]:
    left = LOOKED_THROUGH
    for text in texts:
        poll()
        for piece in pieces(text[:left], AT_ONCE):
            yield _plain(piece)
        left -= len(text)
        if left <= 0:
            return


def needle_of(fact: Fact) -> Needle:
    """How a fact is looked for."""
    plain = _plain(shown(fact))
    plain = plain.strip(" .:;!。！：；-") or plain
    return Needle(plain, tuple(_WORDS().findall(plain)))


def _plain(text: str) -> str:
    if text.isascii() or _SIGN().search(text):  # to translate what is not ASCII takes far longer than to search it
        text = text.translate(_SIGNS)
    return " ".join(text.casefold().split())


def _joined(before: str, after: str) -> bool:
    """True if two neighbours are in the middle of one word."""
    return bool(before and after and before.isascii() and after.isascii() and before.isalnum() and after.isalnum())
