"""What must not reach a model: files that are secrets by name, and secrets inside a text.

The table is our own: PyPI's detect-secrets reads files line by line through plugins, cannot see a key that spans lines,
and takes longer to import than the daemon takes to start. Formats are those that the issuers publish. Every pattern is
linear: runs are bounded or possessive and start where a run starts, so that hostile text costs no more than any other.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gemini_companion.engine.ide_context.secret_names import is_secret_name

__all__ = ["Secret", "find_secrets", "is_secret_name", "mask_between", "mask_secrets"]

REACH = 16_384
"""Characters around an excerpt that are read to mask it: longer than any secret, PEM blocks of 16,384-bit keys too."""


class Secret(NamedTuple):
    """A secret at `text[start:end]`."""

    start: int
    end: int
    kind: str

    """What the mask shows, for instance `GitHub token`."""


class _Rule(NamedTuple):
    kind: str
    needles: tuple[str, ...]
    """One of these is in every match: a quick test before the pattern runs."""
    pattern: re.Pattern[str]
    """The secret is its group `secret`."""
    accepts: Callable[[str], bool] = lambda _: True


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
    found = [*_assigned_secrets(text), *_ends_of_keys(text)]
    for rule in _RULES:
        if any(needle in text for needle in rule.needles):
            found += [
                Secret(*match.span("secret"), rule.kind)
                for match in rule.pattern.finditer(text)
                if rule.accepts(match["secret"])
            ]
    found.sort(key=lambda secret: (secret.start, -secret.end))
    merged: list[Secret] = []
    for secret in found:
        if merged and secret.start < merged[-1].end:
            kind = secret.kind if merged[-1].kind == "credential" else merged[-1].kind  # the more specific one
            merged[-1] = Secret(merged[-1].start, max(merged[-1].end, secret.end), kind)
        else:
            merged.append(secret)
    return merged


# -- values that are assigned to a key that names a secret

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TEMPLATE = re.compile(r"\{[^{}]*\}|<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]|\$\w|://|^(?:~|\.{1,2})?/[a-z]+/")
"""Placeholders, regular expressions, addresses and paths."""
_CLASS_CHANGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


def _entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _looks_random(value: str) -> bool:
    """True for values that nobody would write as a name: letters and digits mixed, or long and of high entropy."""
    changes = len(_CLASS_CHANGE.findall(value))
    if changes >= 3 and len(value) >= 12:
        return _entropy(value) >= 2.8
    return changes >= 2 and len(value) >= 20 and value.lower() != value != value.upper() and _entropy(value) >= 4.0


def _is_credential(key: str, value: str, *, literal: bool) -> bool:
    if _TEMPLATE.search(value) or _DATE.match(value):
        return False
    if _looks_random(value):
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if not mixed or not key.startswith(("pass", "pwd")):
        return False
    # A password that a person invented is not random: a symbol in it, or a one-word literal, sets it apart from a name.
    return any(sign in "!@#$%^&*?+=~" for sign in value) or (literal and value.isalnum())


_KEY = re.compile(
    r"pass(?:word|wd|phrase|(?![a-z]))|pwd|secret|token|credential|(?:api|access|account|auth|encryption|private|shared)[_-]?key"
)
_ASSIGNED = (
    r"[A-Za-z0-9_-]{0,32}+\\?[\"'`]?+\]?+[ \t]{0,16}+"  # the rest of the name, as in `token_v2` or `["password"]`
    r"(?::[ \t]{0,4}+[\w.\[\]|]{1,40}+[ \t]{0,4}+(?==[^=]))?+"  # the annotation in `token: str = ...`
    r"(?:=>|:=|={1,3}+|:|>)[ \t]{0,16}+"
)
_QUOTED = re.compile(_ASSIGNED + r"[BFRUbfru]{0,2}+\\?(?P<quote>[\"'`])(?P<secret>[^\s\"'`\\]{6,512}+)\\?(?P=quote)")
_BARE = re.compile(
    _ASSIGNED + r"(?P<secret>[A-Za-z0-9+/_~!@#$%^*?-][A-Za-z0-9+/_.~!@#$%^*?-]{5,511}+={0,2}+)(?=[\s\"'`;,&)}\]<\\]|\Z)"
)
_LINE_START = re.compile(r"(?:\A|[\r\n])[ \t-]*(?:export )?[\w.-]*\Z")


_MASK = "[masked: "


def _assigned_secrets(text: str) -> Iterator[Secret]:
    """Values after a key that names a secret. Keys are sought in lower case, four times as fast as ignoring case."""
    lower = text.lower()
    if len(lower) != len(text):  # only U+0130 grows
        lower = text.replace("\u0130", "I").lower()
    for key in _KEY.finditer(lower):
        if "public" in lower[max(0, key.start() - 10) : key.start()]:
            continue
        near = lower[max(0, key.start() - 40) : key.start()]
        if near.rfind(_MASK) > near.rfind("]"):
            continue  # the name of what was masked
        match = _QUOTED.match(text, key.end())
        literal = match is not None
        if match is None and (match := _BARE.match(text, key.end())):
            # In code the value is a name. In a configuration file it is a literal too, alone on its line with its key.
            before = text[max(0, key.start() - 80) : key.start()]
            literal = text[match.end() : match.end() + 1] in "\r\n" and _LINE_START.search(before) is not None
        if match and _is_credential(key[0], match["secret"], literal=literal):
            yield Secret(*match.span("secret"), "credential")


# -- keys whose beginning was cut off

_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[A-Za-z0-9/=+]{4,76}")
_KEY_LINES = 512


def _ends_of_keys(text: str) -> Iterator[Secret]:
    """The last lines of a private key that stand without its first, as in an output that was cut."""
    if "-----END " not in text:
        return
    for end in _KEY_END.finditer(text):
        start = end.start()
        for _ in range(_KEY_LINES):
            close = (
                start - 1 if text[start - 1 : start] == "\n" else start - 2 if text[start - 2 : start] == "\\n" else -1
            )
            if close < 0:
                break
            near = max(0, close - 80)
            line = max(text.rfind("\n", near, close) + 1, text.rfind("\\n", near, close) + 2, near)
            if not _KEY_LINE.fullmatch(text, line, close):
                break
            start = line
        if start < end.start():
            yield Secret(start, end.end(), "private key")


# -- the table

_RUN = r"(?<![A-Za-z0-9_-])"  # where a run of token characters starts
_END = r"(?![A-Za-z0-9])"


def _token(kind: str, needles: tuple[str, ...], pattern: str) -> _Rule:
    return _Rule(kind, needles, re.compile(f"{_RUN}(?P<secret>{pattern}){_END}"))


_BETWEEN = (  # line ends, also as escapes, and what code has around the lines of a string
    r"(?:\\[nr]|[\s\"'`+,;>#*|\\]|-(?!-{4}))"
)
_PEM = (
    r"(?P<secret>-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_BETWEEN}{{0,16}}+"
    # Proc-Type, DEK-Info, Version, Comment
    rf"(?:[A-Z][A-Za-z-]{{1,24}}: [^\n\\]{{0,200}}+{_BETWEEN}{{1,16}}+){{0,8}}+"
    rf"(?:[A-Za-z0-9/=+]{{16,}}+{_BETWEEN}*+)++(?:[A-Za-z0-9/=+]{{1,16}}+{_BETWEEN}*+)?+"
    r"(?:-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----)?+)"
)
_RULES: tuple[_Rule, ...] = (
    _Rule("private key", ("PRIVATE KEY",), re.compile(_PEM)),
    _token("AWS key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _token("Google API key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    _token("Google token", ("ya29.", "GOCSPX-"), r"(?:ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,}+)"),
    _token("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,255}+"),
    _token("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,255}+"),
    _token("GitLab token", ("glpat-",), r"glpat-[A-Za-z0-9_-]{20,}+"),
    _token("Slack token", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}+"),
    _Rule(
        "Slack webhook",
        ("hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{20,}+)"),
    ),
    _token(
        "Stripe key",
        ("k_live_", "k_test_", "whsec_"),
        r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{24,}+)",
    ),
    _Rule("API key", ("sk-",), re.compile(rf"{_RUN}(?P<secret>sk-[A-Za-z0-9_-]{{32,}}+)"), _looks_random),
    _token("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
    _token("PyPI token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,}+"),
    _token("Hugging Face token", ("hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    _token("SendGrid key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,32}+\.[A-Za-z0-9_-]{16,64}+"),
    _token("JWT", ("eyJ",), r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    _Rule(
        "credential",
        ("earer", "asic", "EARER", "ASIC"),
        re.compile(r"(?i)\b(?:bearer|basic)[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/-]{16,2048}+={0,2}+)"),
        _looks_random,
    ),
    _Rule(
        "password",
        ("://",),
        re.compile(r"://[^\s:/?#@\"'`<>]{0,128}+:(?![$%]?[{<(]|\$\w|%\w\b|\*+@)(?P<secret>[^\s/\"'`<>]{1,256})@[^\s@]"),
    ),
)
