"""What must not reach a model: files that are secrets by name, and secrets inside a text.

What secrets look like is in `secret_patterns`. A pattern is tried only where it can match: what costs time is to try
many patterns at every character. Every secret is found that trying each on the whole text finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.engine.ide_context.secret_patterns import (
    BARE,
    KEY,
    KEY_NAME,
    KEY_WORDS,
    LIKE_ASCII,
    LINE_START,
    LONGEST_WORD,
    QUOTED,
    RULES,
    Rule,
    ends_of_keys,
    is_credential,
)
from gemini_companion.engine.ide_context.token_runs import Sifted, Span, joined, places_of, sifted

__all__ = ["Secret", "find_secrets", "is_secret_name", "mask_between", "mask_secrets", "secrets_in"]

REACH = 16_384
"""Characters around an excerpt that are read to mask it: longer than any secret, PEM blocks of 16,384-bit keys too."""


class Secret(NamedTuple):
    """A secret at `text[start:end]`."""

    start: int
    end: int
    kind: str

    """What the mask shows, for instance `GitHub token`."""


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


def find_secrets(text: str) -> list[Secret]:
    """Every secret in the text, in order and without overlaps; of two that overlap, one covers both."""
    return secrets_in(sifted(text))


def secrets_in(sift: Sifted) -> list[Secret]:
    """The same for a text whose runs are known."""
    found = list(_assigned_secrets(sift))
    if KEY_NAME in sift.plain:
        found += [Secret(start, end, "private key") for start, end in ends_of_keys(sift.text)]
    for number in sorted(_tried(sift)):
        rule = RULES[number]
        for start, end in _searched(sift, rule):
            found += [
                Secret(*match.span("secret"), rule.kind)
                for match in rule.pattern.finditer(sift.text, start, end)
                if rule.accepts(match["secret"])
            ]
    if len(found) < 2:
        return found
    found.sort(key=lambda secret: (secret.start, -secret.end))
    merged: list[Secret] = []
    for secret in found:
        if merged and secret.start < merged[-1].end:
            kind = secret.kind if merged[-1].kind == "credential" else merged[-1].kind  # the more specific one
            merged[-1] = Secret(merged[-1].start, max(merged[-1].end, secret.end), kind)
        else:
            merged.append(secret)
    return merged


_NEEDLES: Final = [(needle, number, rule.place) for number, rule in enumerate(RULES) for needle in rule.needles]
_IN_RUNS: Final = [(needle, number) for needle, number, place in _NEEDLES if place == "run"]
_IN_TEXTS: Final = [(needle, number) for needle, number, place in _NEEDLES if place == "text"]
_BEFORE_RUNS: Final = [(needle, number) for needle, number, place in _NEEDLES if place == "behind a word"]


def _tried(sift: Sifted) -> set[int]:
    """The numbers of the rules that may have a match, for one of their needles is there."""
    in_runs, plain = sift.in_runs, sift.plain
    tried = {number for needle, number in _IN_TEXTS if needle in plain}
    if in_runs:
        tried.update([number for needle, number in _IN_RUNS if needle in in_runs])
    if in_runs or _has_letters_like_ascii(sift.text):
        tried.update([number for needle, number in _BEFORE_RUNS if needle in plain])
    return tried


def _searched(sift: Sifted, rule: Rule) -> Sequence[Span]:
    """Where a rule may have matches, none of which reaches out of its place."""
    if rule.place == "run":
        return [span for span in sift.runs if any(sift.plain.find(needle, *span) >= 0 for needle in rule.needles)]
    if rule.place == "text" or _has_letters_like_ascii(sift.text):
        return [(0, len(sift.text))]
    return joined((max(0, start - LONGEST_WORD), end) for start, end in sift.runs)


def _has_letters_like_ascii(text: str) -> bool:
    return not text.isascii() and any(letter in text for letter in LIKE_ASCII)


_MASK: Final = b"[masked: "
_SIGNS: Final = (b"=", b":", b">")
"""One of these stands between every key and its value."""


def _assigned_secrets(sift: Sifted) -> Iterator[Secret]:
    """Values after a key that names a secret."""
    if not any(sign in sift.plain for sign in _SIGNS):
        return
    text, lower = sift.text, _lower(sift)
    for key in _keys(lower):
        match = QUOTED.match(text, key.end())
        literal = match is not None
        if match is None and (match := BARE.match(text, key.end())):
            # In code the value is a name. In a configuration file it is a literal too, alone on its line with its key.
            before = text[max(0, key.start() - 80) : key.start()]
            literal = text[match.end() : match.end() + 1] in "\r\n" and LINE_START.search(before) is not None
        if match is None or b"public" in lower[max(0, key.start() - 10) : key.start()]:
            continue
        near = lower[max(0, key.start() - 40) : key.start()]
        if near.rfind(_MASK) > near.rfind(b"]"):
            continue  # the name of what was masked
        if is_credential(key[0].decode(), match["secret"], literal=literal):
            yield Secret(*match.span("secret"), "credential")


def _keys(lower: bytes) -> Iterator[re.Match[bytes]]:
    """The keys that name a secret. Their words are sought one by one, which takes a fifth of the pattern's time."""
    around = [
        (max(0, place - before), place + after) for word, before, after in KEY_WORDS for place in places_of(lower, word)
    ]
    for start, end in joined(around):
        yield from KEY.finditer(lower, start, end)


def _lower(sift: Sifted) -> bytes:
    """The text in lower case, one byte a character, also where a letter of ASCII is the small one of another letter."""
    text = sift.text
    if text.isascii() or not ("\u0130" in text or "\u212a" in text):
        return sift.plain.lower()
    return text.replace("\u0130", "I").replace("\u212a", "K").encode("ascii", "replace").lower()
