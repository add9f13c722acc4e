"""What a snapshot names that never occurred: paths, addresses, versions, measures and ids that somebody made up."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final

from gemini_companion.engine.facts.extract import addresses_in
from gemini_companion.engine.facts.fact import Fact, FactKind
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.facts.patterns import lazy, numbers_in
from gemini_companion.engine.facts.sentences import pieces

MOST_UNSUPPORTED: Final = 50
"""Claims without a source that a result names."""
MOST_CLAIMS: Final = 2_000
"""Claims of a snapshot that are looked at."""

_LOOKED_AT: Final = 131_072
"""Characters of a snapshot that are looked at."""
_WORD: Final = lazy(r"[a-z]+|[0-9]+(?:[.,][0-9]+)*+")
_FEWEST_DIGITS: Final = 3
"""A number of fewer digits may have been counted, or summed up, and proves nothing; unless it has a point in it."""
_DIGITS: Final = lazy(r"[A-Za-z]{0,10}\d[\d.,:-]*[A-Za-z0-9]*")
_MEASURE: Final = lazy(r"^[vV]?(?P<digits>\d+(?:[.,]\d+)*)(?:[A-Za-z]{1,8})?$")
_SEPARATORS: Final = lazy(r"[\\/]+")
_OUR_OWN: Final = lazy(
    r"\(\+[\d,]{1,20} (?:characters|lines?)\)|… and [\d,]{1,20} more|\([\d,]{1,20} (?:pasted|numbered) lines"
)
"""Counts that our own snapshots add."""


def unsupported_claims(
    snapshot: str,
    facts: Iterable[Fact],
    texts: Callable[[], Iterator[str]],
    *,
    words: Container[str],
    strangers: Callable[[], Iterator[str]] = lambda: iter(()),
    poll: Callable[[], None] = lambda: None,
) -> list[tuple[FactKind, str]]:
    """What the snapshot names and no source does, in order, at most 50.

    A path counts as named if any part of one is it, or if its two parts are named apart: a directory that somebody
    went into, and a file in it. Of a number the digits must occur.

    Args:
        snapshot: The text with its tags.
        facts: Every fact that was found in what it replaces, merely listed ones too: most claims are among them.
        words: Every word of these texts, in small letters: a claim with another one needs no search.
        strangers: Gives the other texts of which `words` has every word, if there are any.
        texts: Gives all text that the snapshot may rest on, the likeliest first.
        poll: Called often; what it raises ends the work.
    """
    claims = _different(_claims(snapshot[:_LOOKED_AT]), MOST_CLAIMS)
    if not claims:
        return []
    named = {fact.text for fact in facts}
    doubtful = [claim for claim in claims if claim[1] not in named]
    missing: set[str] = set()
    for needles_of in (_needles, _apart):  # what stands there whole need not be looked for in parts
        needles = {needle for claim in doubtful for needle in needles_of(*claim)}
        found = {needle: _WORD().findall(needle.casefold()) for needle in needles}
        possible = {needle for needle, parts in found.items() if all(part in words for part in parts)}
        # A number is one word, and a text that has the word has the number: unless it may be a stranger's, it need not
        # be searched for.
        sure = {needle for needle in possible if found[needle] == [needle] and needle[0].isdigit()}
        sure = _not_in(sure, strangers, poll)
        missing |= (needles - possible) | _not_in(possible - sure, texts, poll)
        doubtful = [claim for claim in doubtful if not _is_supported(*claim, missing, apart=needles_of is _apart)]
    return doubtful[:MOST_UNSUPPORTED]


def _different(claims: Iterator[tuple[FactKind, str]], most: int) -> list[tuple[FactKind, str]]:
    """The first so many different ones, and no more is looked for."""
    found: dict[tuple[FactKind, str], None] = {}
    for claim in claims:
        found[claim] = None
        if len(found) == most:
            break
    return list(found)


def _claims(snapshot: str) -> Iterator[tuple[FactKind, str]]:
    for piece in pieces(_without_cut_words(_OUR_OWN().sub(" ", snapshot))):
        for path in paths_in(piece):
            yield "path", path
        for url in addresses_in(piece):
            yield "url", url
        for number in numbers_in(piece):
            if _cores(number):
                yield "number", number


def _without_cut_words(text: str) -> str:
    """`text` without the words that an ellipsis cut off."""
    *cut, last = text.split("…")
    return "".join(f"{_all_but_the_last_word(piece.rstrip(' '))} " for piece in cut) + last


def _all_but_the_last_word(text: str) -> str:
    return text[: max(text.rfind(" "), text.rfind("\n")) + 1]


def _cores(number: str) -> list[str]:
    """What of a number must occur: of `port 3000` and `3000ms` it is `3000`, of `v1.2` `1.2`, an id is whole."""
    cores = (core.rstrip(".,:-") for core in _DIGITS().findall(number))
    bare = (_MEASURE().sub(r"\g<digits>", core) for core in cores)
    return [core for core in bare if sum(map(str.isdigit, core)) >= _FEWEST_DIGITS or "." in core]


def _forms(core: str) -> tuple[str, ...]:
    """How a number may be written: `1500` and `1,500`."""
    plain = core.replace(",", "")
    return (core, plain, f"{int(plain):,}") if plain.isdigit() and 3 < len(plain) < 16 else (core,)


def _needles(kind: FactKind, text: str) -> Iterator[str]:
    """Strings of which some must occur for a claim to be supported."""
    if kind == "number":
        yield from (form for core in _cores(text) for form in _forms(core))
    else:
        yield text if kind == "url" else _bare(text)


def _apart(kind: FactKind, text: str) -> Iterator[str]:
    """The parts of a path, which may be named apart."""
    if kind == "path":
        for head, tail in _splits(text):
            yield head
            yield tail


def _is_supported(kind: FactKind, text: str, missing: set[str], *, apart: bool) -> bool:
    """Going by the strings that are missing; `apart` says whether parts of paths were looked for."""
    if kind == "number":
        return all(any(form not in missing for form in _forms(core)) for core in _cores(text))
    if kind == "url":
        return text not in missing
    return _bare(text) not in missing or (apart and _is_in_parts(text, missing))


def _is_in_parts(path: str, missing: set[str]) -> bool:
    return any(head not in missing and tail not in missing for head, tail in _splits(path))


def _bare(path: str) -> str:
    return path.removeprefix("./").rstrip("/\\") or path


def _splits(path: str) -> Iterator[tuple[str, str]]:
    """A path as a directory and what lies in it, in every way."""
    bare = _bare(path)
    for match in list(_SEPARATORS().finditer(bare, 1))[:16]:
        if match.end() < len(bare):
            yield bare[: match.start()], bare[match.end() :]


def _not_in(needles: set[str], texts: Callable[[], Iterator[str]], poll: Callable[[], None]) -> set[str]:
    """Those of the needles that stand in no text as whole words."""
    left = set(needles)
    if not left:
        return left
    for text in texts():
        if not left:
            break
        poll()
        left -= {needle for needle in left if needle in text and _stands_whole(needle, text)}
    return left


def _stands_whole(needle: str, text: str) -> bool:
    """Whether it stands there without a letter or a digit before or after it; a number may have letters."""
    is_number = not any(map(str.isalpha, needle))
    start = text.find(needle)
    for _ in range(100):
        if start < 0:
            return False
        end = start + len(needle)
        before, after = text[start - 1 : start], text[end : end + 1]
        if is_number and not (before.isdigit() or after.isdigit()):
            return True
        if not (_is_joined(before, needle[0]) or _is_joined(needle[-1], after)):
            return True
        start = text.find(needle, start + 1)
    return False


def _is_joined(before: str, after: str) -> bool:
    return bool(before and after and before.isascii() and after.isascii() and before.isalnum() and after.isalnum())
