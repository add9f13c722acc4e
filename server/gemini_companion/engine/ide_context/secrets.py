"""What must not reach a model: files that are secrets by name, and secrets inside a text.

What secrets look like is in `secret_patterns`, what is said of them in `secret_forms`, what may stand around them in
`secret_layers`. A pattern is tried only where it can match: what costs time is to try many patterns at every character.
Every secret is found that trying each on the whole text finds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from gemini_companion.engine.ide_context.secret_forms import (
    command_secrets,
    form_secrets,
    is_given_to_program,
    said_secret,
    secrets_abroad,
)
from gemini_companion.engine.ide_context.secret_layers import layers, raw_spans
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.engine.ide_context.secret_patterns import (
    BARE,
    CHANCE,
    KEY,
    KEY_NAME,
    KEY_WORDS,
    KIND_BEFORE,
    LINE_START,
    LONGEST_KIND,
    QUOTED,
    RULES,
    SHORTEST_RUN,
    Rule,
    ends_of_keys,
    is_chance,
    is_credential,
    is_placeholder,
    is_uuid,
    numbered_keys,
)
from gemini_companion.engine.ide_context.token_runs import Sifted, Span, joined, places_of

__all__ = ["Finder", "Secret", "find_secrets", "is_secret_name", "mask_between", "mask_secrets", "merged"]

REACH = 16_384
"""Characters around an excerpt that are read to mask it: longer than any secret, PEM blocks of 16,384-bit keys too."""


class Secret(NamedTuple):
    """A secret at `text[start:end]`."""

    start: int
    end: int
    kind: str

    """What the mask shows, for instance `GitHub token`."""


Finder: TypeAlias = Callable[[str], Sequence[Secret]]
"""What finds secrets in a text, in time proportional to its length."""


def mask_secrets(text: str) -> tuple[str, int]:
    """The text with every secret replaced by `[masked: kind]`, and how many there were. Linear in its length."""
    return mask_between(text, 0, len(text))


def mask_between(text: str, start: int, end: int, *, keep_lines: bool = False) -> tuple[str, int]:
    """Like `mask_secrets` for `text[start:end]`, looking far enough around it that no part of a secret stays.

    `keep_lines` keeps the line breaks within a secret, so that what follows has the same line numbers.
    """
    start, end = max(0, start), min(end, len(text))
    base = max(0, start - REACH)
    pieces: list[str] = []
    count, done = 0, start
    for secret in find_secrets(text[base : end + REACH]):
        first, last = secret.start + base, secret.end + base
        if last <= done or first >= end:
            continue
        pieces += [text[done : max(done, first)], f"[masked: {secret.kind}]"]
        if keep_lines:
            pieces.append("\n" * text.count("\n", max(done, first), min(last, end)))
        done = min(last, end)
        count += 1
    pieces.append(text[done:end])
    return "".join(pieces), count


def find_secrets(text: str, finders: Sequence[Finder] = ()) -> list[Secret]:
    """Every secret in the text, in order and without overlaps; of those that overlap, one covers all.

    Our own patterns and the finders look through the text, and through what is behind its escapes and encodings.
    """
    found: list[Secret] = []
    for sift, back in layers(text):
        inside = _secrets_in(sift)
        for finder in finders:
            inside += finder(sift.text)
        if not back:
            found += inside
            continue
        for secret in inside:
            found += [Secret(start, end, secret.kind) for start, end in raw_spans(secret.start, secret.end, back)]
    return merged(found)


def merged(found: list[Secret]) -> list[Secret]:
    """In order; of those that overlap, one covers all, and has the more specific kind."""
    if len(found) < 2:
        return found
    apart: list[Secret] = []
    for secret in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if apart and secret.start < apart[-1].end:
            before = apart[-1]
            kind = secret.kind if before.kind == "credential" else before.kind
            apart[-1] = Secret(before.start, max(before.end, secret.end), kind)
        elif secret.end > secret.start:
            apart.append(secret)
    return apart


def _secrets_in(sift: Sifted) -> list[Secret]:
    """What our own patterns find in one layer."""
    lower = lower_of(sift)
    found = list(_assigned_secrets(sift, lower))
    found += [Secret(*one) for one in form_secrets(sift.text, lower)]
    behind = (*command_secrets(sift.text, lower), *secrets_abroad(sift.text))
    found += [Secret(start, end, "password") for start, end in behind]
    if KEY_NAME in sift.plain:
        runs = (*ends_of_keys(sift.text), *numbered_keys(sift.text))
        found += [Secret(start, end, "private key") for start, end in runs if start < end]
    found += by_rules(sift)
    found += _of_unknown_issuers(sift)
    return found


def _of_unknown_issuers(sift: Sifted) -> Iterator[Secret]:
    in_runs = sift.in_runs
    for match in CHANCE.finditer(in_runs):
        if not is_chance(match["body"].decode()):
            continue
        kind = KIND_BEFORE.search(in_runs[max(0, match.start() - LONGEST_KIND) : match.start()])
        if kind is not None:
            start = sift.place(match.start() - len(kind["kind"]))
            yield Secret(start, start + len(kind["kind"]) + len(match[0]), "token")


def by_rules(sift: Sifted) -> Iterator[Secret]:
    """What the table of issuers' forms finds."""
    for rule, match in _begun(sift):
        if rule.accepts(match["secret"]):
            yield Secret(*match.span("secret"), rule.kind)
    for number in sorted(_tried(sift)):
        rule = RULES[number]
        for start, end in _searched(sift, rule):
            for match in rule.pattern.finditer(sift.text, start, end):
                if rule.accepts(match["secret"]):
                    yield Secret(*match.span("secret"), rule.kind)


_NEEDLES: Final = [(needle, number, rule.place) for number, rule in enumerate(RULES) for needle in rule.needles]
_LONG_RUN: Final = re.compile(rb"[A-Za-z0-9+/_.~=-]{%d,}+" % SHORTEST_RUN)
_IN_RUNS: Final = [
    (needle, number)
    for needle, number, place in _NEEDLES
    if place == "run" or (place == "text" and _LONG_RUN.fullmatch(needle))
]
_IN_TEXTS: Final = [
    (needle, number) for needle, number, place in _NEEDLES if place == "text" and not _LONG_RUN.fullmatch(needle)
]
_BEGINNINGS: Final[dict[bytes, list[int]]] = {}
"""The rules that one of these begins; none of them begins with another."""
for _needle, _number, _place in sorted(_NEEDLES):
    if _place == "beginning":
        _known = next((known for known in _BEGINNINGS if _needle.startswith(known)), _needle)
        _BEGINNINGS.setdefault(_known, []).append(_number)


def _any_of(words: Iterable[bytes]) -> bytes:
    """A pattern of these words that tries those alone that have the letter in question."""
    by_letter: dict[bytes, list[bytes]] = {}
    for word in words:
        by_letter.setdefault(word[:1], []).append(word[1:])
    branches = [
        re.escape(letter) + (re.escape(rests[0]) if len(rests) == 1 else b"(?:%b)" % _any_of(rests))
        for letter, rests in by_letter.items()
    ]
    return b"|".join(branches)


_BEGUN: Final = re.compile(b"[^A-Za-z0-9](?=(%b))" % _any_of(_BEGINNINGS))
"""Begins with the sign before a token: to go from one of these to the next takes less time than to look behind each."""


def _begun(sift: Sifted) -> Iterator[tuple[Rule, re.Match[str]]]:
    """What begins as tokens of an issuer do."""
    done: dict[int, int] = {}
    for found in _BEGUN.finditer(b"\n" + sift.in_runs):
        place = sift.place(found.start())
        for number in _BEGINNINGS[found[1]]:
            if place < done.get(number, 0):
                continue
            match = RULES[number].pattern.match(sift.text, place)
            if match is not None:
                done[number] = match.end()
                yield RULES[number], match


def _tried(sift: Sifted) -> set[int]:
    """The numbers of the rules that may have a match, for one of their needles is there."""
    in_runs, plain = sift.in_runs, sift.plain
    tried = {number for needle, number in _IN_TEXTS if needle in plain}
    if in_runs:
        tried.update([number for needle, number in _IN_RUNS if needle in in_runs])
    return tried


def _searched(sift: Sifted, rule: Rule) -> Sequence[Span]:
    """Where a rule may have matches, none of which reaches out of its place."""
    if rule.place == "run":
        numbers = {
            bisect_right(sift.starts, place) - 1 for needle in rule.needles for place in places_of(sift.plain, needle)
        }
        return [sift.runs[number] for number in sorted(numbers) if number >= 0]
    return [(0, len(sift.text))]


_MASK: Final = b"[masked: "
_SIGNS: Final = (b"=", b":", b">")
"""One of these stands between every key and its value."""


def _assigned_secrets(sift: Sifted, lower: bytes) -> Iterator[Secret]:
    """Values of a key that names a secret."""
    text = sift.text
    has_signs = any(sign in sift.plain for sign in _SIGNS)
    for key in keys_of(lower):
        near = lower[max(0, key.start() - 40) : key.start()]
        if near.endswith(b"public") or b"public" in near[-10:] or near.rfind(_MASK) > near.rfind(b"]"):
            continue  # a public key, or the name of what was masked
        if near.endswith(b":") and b"arn:" in lower[max(0, key.start() - 80) : key.start()]:
            continue  # the name of a secret
        match = QUOTED.match(text, key.end()) if has_signs else None
        literal = match is not None
        if match is None and has_signs and (match := BARE.match(text, key.end())):
            literal = _is_literal(text, key.start(), match.end())
        if match is None:
            span = said_secret(text, lower, key.span())
            if span is not None:
                yield Secret(*span, "password" if key[0].startswith((b"pass", b"pwd")) else "credential")
        elif _NUMBER_OF.match(text, key.end()) and is_uuid(match["secret"]) and not key[0].startswith(b"secret"):
            continue  # which token it is, and not that
        elif is_credential(key[0].decode(), match["secret"], literal=literal) or (
            key[0].startswith((b"pass", b"pwd"))
            and (_is_of_connection(text, lower, match) or is_given_to_program(text, lower, key.span(), match["secret"]))
        ):
            yield Secret(*match.span("secret"), "credential")


def _is_literal(text: str, start: int, end: int) -> bool:
    """In code a bare value is a name. In a configuration file it is a literal too, alone on its line with its key, and
    so it is in a header between quotes.
    """
    before, after = text[max(0, start - 80) : start], text[end : end + 1]
    if after in "\r\n":
        return LINE_START.search(before) is not None
    header = _HEADER_START.search(before)
    return header is not None and header[1] == after


_NUMBER_OF: Final = re.compile(r"[_-]?[iI][dD]s?\b")
_HEADER_START: Final = re.compile(r"([\"'])[A-Za-z][A-Za-z-]{0,40}\Z")
_CONNECTION: Final = re.compile(
    rb"(?:\A|[;\"'\s])"
    rb"(?:server|data source|host|user id|uid|user|database|initial catalog|accountname|endpoint|driver|dsn)="
)
_SENT: Final = re.compile(r"[;\"']|\s|\Z")


def _is_of_connection(text: str, lower: bytes, found: re.Match[str]) -> bool:
    """Whether it is the password of a connection string, `Server=x;User Id=y;Password=z`: any text may be one."""
    start, value = found.start(), found["secret"]
    if ";" not in text[max(0, start - 40) : start] + text[found.end() : found.end() + 1] or is_placeholder(value):
        return False
    near = lower[max(0, start - 240) : found.end() + 120]
    return _CONNECTION.search(near) is not None and _SENT.match(text, found.end()) is not None


def keys_of(lower: bytes) -> Iterator[re.Match[bytes]]:
    """The keys that name a secret. Their words are sought one by one, which takes a fifth of the pattern's time."""
    around = [
        (max(0, place - before), place + after) for word, before, after in KEY_WORDS for place in places_of(lower, word)
    ]
    for start, end in joined(around):
        yield from KEY.finditer(lower, start, end)


def lower_of(sift: Sifted) -> bytes:
    """The text in lower case, one byte a character, also where a letter of ASCII is the small one of another letter."""
    text = sift.text
    if text.isascii() or not ("\u0130" in text or "\u212a" in text):
        return sift.plain.lower()
    return text.replace("\u0130", "I").replace("\u212a", "K").encode("ascii", "replace").lower()
