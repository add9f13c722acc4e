"""What secrets look like: formats that issuers publish, and values that are assigned to a key that names a secret.

The table is our own: PyPI's detect-secrets reads files line by line through plugins, cannot see a key that spans lines,
and takes longer to import than the daemon takes to start. Every pattern is linear: runs are bounded or possessive and
start where a run starts, so that hostile text costs no more than any other.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

Place: TypeAlias = Literal["text", "run", "behind a word"]
"""Where matches of a rule stand: anywhere, within one run of token characters (`token_runs`), or as the beginning of
one behind a word and blanks. In a run each has `SHORTEST_RUN` characters or more.
"""

SHORTEST_RUN: Final = 15
"""Characters of the shortest secret that a run holds, `xapp-` and ten more."""
RUN_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-.~="
"""Whatever stands in a match of a rule whose place is a run."""
LONGEST_WORD: Final = 10
"""Characters of the longest word before a run, with its blanks."""
LIKE_ASCII: Final = "\u0130\u0131\u017f\u212a"
"""Letters that a pattern which ignores case takes for letters of ASCII: a text that has some is searched as a whole."""


class Rule(NamedTuple):
    """One kind of secret."""

    kind: str
    needles: tuple[bytes, ...]
    """One of these is in every match: a quick test before the pattern runs. Of one that stands behind a word, one
    of them is in the text.
    """
    pattern: re.Pattern[str]
    """The secret is its group `secret`."""
    accepts: Callable[[str], bool] = lambda _: True
    place: Place = "run"


# -- values that are assigned to a key that names a secret

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TEMPLATE = re.compile(r"\{[^{}]*\}|<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]|\$\w|://|^(?:~|\.{1,2})?/[a-z]+/")
"""Placeholders, regular expressions, addresses and paths."""
_CLASS_CHANGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


def _entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def looks_random(value: str) -> bool:
    """True for values that nobody would write as a name: letters and digits mixed, or long and of high entropy."""
    changes = len(_CLASS_CHANGE.findall(value))
    if changes >= 3 and len(value) >= 12:
        return _entropy(value) >= 2.8
    return changes >= 2 and len(value) >= 20 and value.lower() != value != value.upper() and _entropy(value) >= 4.0


def is_credential(key: str, value: str, *, literal: bool) -> bool:
    """Whether a value is a secret that stands under `key`, a match of `KEY`. `literal`: it cannot be a name in code."""
    if _TEMPLATE.search(value) or _DATE.match(value):
        return False
    if looks_random(value):
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if not mixed or not key.startswith(("pass", "pwd")):
        return False
    # A password that a person invented is not random: a symbol in it, or a one-word literal, sets it apart from a name.
    return any(sign in "!@#$%^&*?+=~" for sign in value) or (literal and value.isalnum())


KEY: Final = re.compile(
    rb"pass(?:word|wd|phrase|(?![a-z]))|pwd|secret|token|credential|(?:api|access|account|auth|encryption|private|shared)[_-]?key"
)
"""A key that names a secret, in lower case."""
KEY_WORDS: Final[tuple[tuple[bytes, int, int], ...]] = (
    (b"pass", 0, 10),
    (b"pwd", 0, 3),
    (b"secret", 0, 6),
    (b"token", 0, 5),
    (b"credential", 0, 10),
    (b"key", 11, 3),
)
"""One of these is in every such key, with at most so many characters before it, and so many from its first one on."""
_ASSIGNED = (
    r"[A-Za-z0-9_-]{0,32}+\\?[\"'`]?+\]?+[ \t]{0,16}+"  # the rest of the name, as in `token_v2` or `["password"]`
    r"(?::[ \t]{0,4}+[\w.\[\]|]{1,40}+[ \t]{0,4}+(?==[^=]))?+"  # the annotation in `token: str = ...`
    r"(?:=>|:=|={1,3}+|:|>)[ \t]{0,16}+"
)
QUOTED: Final = re.compile(
    _ASSIGNED + r"[BFRUbfru]{0,2}+\\?(?P<quote>[\"'`])(?P<secret>[^\s\"'`\\]{6,512}+)\\?(?P=quote)"
)
BARE: Final = re.compile(
    _ASSIGNED + r"(?P<secret>[A-Za-z0-9+/_~!@#$%^*?-][A-Za-z0-9+/_.~!@#$%^*?-]{5,511}+={0,2}+)(?=[\s\"'`;,&)}\]<\\]|\Z)"
)
LINE_START: Final = re.compile(r"(?:\A|[\r\n])[ \t-]*(?:export )?[\w.-]*\Z")
"""What stands before a key that is alone on its line with its value."""


# -- keys whose beginning was cut off

KEY_NAME: Final = b"PRIVATE KEY"
"""Stands in the first and the last line of every private key."""
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[A-Za-z0-9/=+]{4,76}")
_KEY_LINES = 512


def ends_of_keys(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the last lines of private keys that stand without their first, as in an output that was cut."""
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
            yield start, end.end()


# -- the table, of which of two kinds for one place the first counts

_RUN = r"(?<![A-Za-z0-9_-])"  # where a run of token characters starts
_END = r"(?![A-Za-z0-9])"


def _token(kind: str, needles: tuple[bytes, ...], pattern: str) -> Rule:
    return Rule(kind, needles, re.compile(f"{_RUN}(?P<secret>{pattern}){_END}"))


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
RULES: Final[tuple[Rule, ...]] = (
    Rule("private key", (KEY_NAME,), re.compile(_PEM), place="text"),
    _token("AWS key", (b"AKIA", b"ASIA", b"ABIA", b"ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _token("Google API key", (b"AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    _token("Google token", (b"ya29.", b"GOCSPX-"), r"(?:ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,}+)"),
    _token("GitHub token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,255}+"),
    _token("GitHub token", (b"github_pat_",), r"github_pat_[A-Za-z0-9_]{22,255}+"),
    _token("GitLab token", (b"glpat-",), r"glpat-[A-Za-z0-9_-]{20,}+"),
    _token("Slack token", (b"xox", b"xapp-"), r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}+"),
    Rule(
        "Slack webhook",
        (b"hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{20,}+)"),
    ),
    _token(
        "Stripe key",
        (b"k_live_", b"k_test_", b"whsec_"),
        r"(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{24,}+)",
    ),
    Rule("API key", (b"sk-",), re.compile(rf"{_RUN}(?P<secret>sk-[A-Za-z0-9_-]{{32,}}+)"), looks_random),
    _token("npm token", (b"npm_",), r"npm_[A-Za-z0-9]{36}"),
    _token("PyPI token", (b"pypi-",), r"pypi-[A-Za-z0-9_-]{50,}+"),
    _token("Hugging Face token", (b"hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    _token("SendGrid key", (b"SG.",), r"SG\.[A-Za-z0-9_-]{16,32}+\.[A-Za-z0-9_-]{16,64}+"),
    _token("JWT", (b"eyJ",), r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    Rule(
        "credential",
        (b"earer", b"asic", b"EARER", b"ASIC"),
        re.compile(r"(?i)\b(?:bearer|basic)[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/-]{16,2048}+={0,2}+)"),
        looks_random,
        "behind a word",
    ),
    Rule(
        "password",
        (b"://",),
        re.compile(r"://[^\s:/?#@\"'`<>]{0,128}+:(?![$%]?[{<(]|\$\w|%\w\b|\*+@)(?P<secret>[^\s/\"'`<>]{1,256})@[^\s@]"),
        place="text",
    ),
)
