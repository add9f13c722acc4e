"""What secrets look like: formats that issuers publish, and values that are assigned to a key that names a secret.

The table is our own: PyPI's detect-secrets reads files line by line through plugins, cannot see a key that spans lines,
and takes longer to import than the daemon takes to start. Every pattern is linear: runs are bounded or possessive and
start where a run starts, so that hostile text costs no more than any other.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias

Place: TypeAlias = Literal["text", "run", "beginning"]
"""Where matches of a rule stand: anywhere, within one run of token characters (`token_runs`), or there with one of its
needles as the beginning and no letter or digit before it. In a run each has `SHORTEST_RUN` characters or more.
"""

SHORTEST_RUN: Final = 15
"""Characters of the shortest secret that a run holds, `xapp-` and ten more."""
RUN_CHARACTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-.~="
"""Whatever stands in a match of a rule whose place is a run."""


class Rule(NamedTuple):
    """One kind of secret."""

    kind: str
    needles: tuple[bytes, ...]
    """One of these is in every match, or begins it: a quick test before the pattern runs."""
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


_FOLLOWS: Final = (
    "05651241503656050657433241"
    "64436222641733630553601052"
    "60426106505532720546511030"
    "63247330711433630553531130"
    "52564431302556242765143530"
    "61336620700522621645611030"
    "51327245600535530663521021"
    "72237201601333720545401040"
    "44555450002557640466040304"
    "60327101514202730352702031"
    "52348342600525431364415030"
    "62347311702623630155420050"
    "75237200602353660153400030"
    "61566471514324531266441020"
    "34552341314557550655645221"
    "72337324502622651645412040"
    "30030201220414000442922001"
    "62447340603344630465432040"
    "51527235604433551267513040"
    "62437306700432530655412141"
    "45545440500657350666010101"
    "71118221700032520221122111"
    "72346315701415621653013311"
    "53646403601431470347122332"
    "44446432600556560466334123"
    "62318011600433510343301044"
    # How well each letter of the alphabet follows the one that the row is of, in words of English and names in code.
)
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_PAIRS: Final = {
    first + second: int(_FOLLOWS[26 * row + column])
    for row, first in enumerate(_ALPHABET)
    for column, second in enumerate(_ALPHABET)
}
_HUMP, _DIGIT_BESIDE, _WORDS = 5, 2, 9
"""For a capital behind a small letter, for a digit beside a letter, and for what is too short to be judged."""
_CHUNK = re.compile(r"[A-Za-z0-9]{12,512}+")


def unlike_words(value: str) -> bool:
    """True where letters follow each other as in no word: of 1,000 random runs of 16 letters one is not seen."""
    return any(_likeness(chunk) < (4.9 if len(chunk) >= 16 else 4.5) for chunk in _CHUNK.findall(value))


def _likeness(chunk: str) -> float:
    """From 0 to 9. Words have about 5.7, random letters 3.1."""
    lower = chunk.lower()
    points: list[int] = []
    for place in range(len(chunk) - 1):
        pair = lower[place : place + 2]
        if pair.isalpha():
            is_hump = chunk[place].islower() and chunk[place + 1].isupper()
            points.append(_HUMP if is_hump else _PAIRS.get(pair, 0))
        elif not pair.isdigit():
            points.append(_DIGIT_BESIDE)
    return sum(points) / len(points) if len(points) >= 8 else _WORDS


_PLACEHOLDER = re.compile(
    r"(?i)(?:(?:your|my|the|some|any|an?|new|old|bad|good|in|valid|invalid|expired|wrong|correct|real|fake|dummy|mock|test|testing|example|sample"
    r"|demo|default|changeme|change|replace|insert|put|enter|goes|here|placeholder|redacted|masked|hidden|removed|secret|secrets|token|tokens|access"
    r"|refresh|bearer|basic|auth|authentication|authorization|api|app|client|user|username|users|admin|root|guest|login|name|email|id|key|keys|pass"
    r"|password|passwords|passwd|passphrase|passcode|pwd|pw|credential|credentials|creds|jwt|oauth|value|values|string|str|text|data|type|none|null|nil|true|false"
    r"|undefined|xxx+|x+|and|or|of|for|to|from|is|not|no|with|me|personal|private|public|github|gitlab|google|openai"
    r"|docker|hub|registry|npm|slack|aws|azure|gcp|postgres|mysql|redis|mongo|db|database|something|whatever"
    r"|plain|encrypted|hashed|super|very|long|strong|weak|random|unique|hash|hex|base)[-_. ]?)++[0-9]{0,6}[!?.]?"
)
"""What examples have in the place of a secret."""


def is_placeholder(value: str) -> bool:
    """Whether a value is a template, or says of itself that it is none: `${TOKEN}`, `YOUR_API_KEY`, `******`."""
    if len(set(value)) <= 2 or _TEMPLATE.search(value) or "..." in value or "…" in value:
        return True
    return value[0] in "$%<{[" or _PLACEHOLDER.fullmatch(value) is not None


def looks_invented(value: str) -> bool:
    """Whether a value is a secret without much beside it that says so: random, or a person's password with a sign."""
    if len(value) < 8 or is_placeholder(value) or _DATE.match(value):
        return False
    if looks_random(value) or unlike_words(value):
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and any(sign in "!@#$%^&*?+=~" for sign in value) and not _CODE_SIGN.search(value)


_CODE_SIGN = re.compile(r"[(){}\[\]<>\"'`|;,]|[=!]=|&&|\+=|->|::|^[-+*/&]|[=*?+]$|^\w+=|\^[-\w]*$|\.[a-z]")
"""What expressions have and passwords seldom do."""


_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_ADDRESS: Final = re.compile(r"(?:0x)?[0-9a-f]{1,12}|0x(?:[0-9A-Fa-f]{1,16}|[0-9A-Fa-f]{40})")
"""Of a commit, of memory, or of an account in a chain of blocks: shorter or longer than keys are."""


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID."""
    return _UUID.fullmatch(value) is not None


def is_address(value: str) -> bool:
    """Whether a value says where something is."""
    return _ADDRESS.fullmatch(value) is not None


def is_credential(key: str, value: str, *, literal: bool) -> bool:
    """Whether a value is a secret that stands under `key`, a match of `KEY`. `literal`: it cannot be a name in code."""
    if _TEMPLATE.search(value) or _DATE.match(value):
        return False
    if is_address(value) and not key.startswith(("pass", "pwd")):
        return False
    if looks_random(value):
        return True
    is_password = key.startswith(("pass", "pwd", "psk"))
    is_long = len(value) >= (12 if is_password else 16 if literal else 20)
    if is_long and (literal or value.isalnum()) and unlike_words(value) and not is_placeholder(value):
        return True
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if not mixed or not is_password:
        return False
    # A password that a person invented is not random: a symbol in it, or a one-word literal, sets it apart from a name.
    return any(sign in "!@#$%^&*?+=~" for sign in value) or (literal and value.isalnum())


KEY: Final = re.compile(
    rb"pass(?:word|wd|phrase|(?![a-z]))|pwd|(?<![a-z])psk(?![a-z])|secret|token|credential"
    rb"|(?:api|access|account|app|auth|encryption|private|preshared|shared|subscription|signing|session|sdk|master|admin|license|deploy|webhook)[_-]?key"
)
"""A key that names a secret, in lower case."""
KEY_WORDS: Final[tuple[tuple[bytes, int, int], ...]] = (
    (b"pass", 0, 10),
    (b"pwd", 0, 3),
    (b"psk", 0, 4),
    (b"secret", 0, 6),
    (b"token", 0, 5),
    (b"credential", 0, 10),
    (b"key", 13, 3),
)
"""One of these is in every such key, with at most so many characters before it, and so many from its first one on."""
_ASSIGNED = (
    r"[A-Za-z0-9_-]{0,32}+\\?[\"'`]?+\]?+[ \t]{0,16}+"  # the rest of the name, as in `token_v2` or `["password"]`
    r"(?::[ \t]{0,4}+[\w.\[\]|]{1,40}+[ \t]{0,4}+(?==[^=]))?+"  # the annotation in `token: str = ...`
    r"(?:=>|:=|={1,3}+|:|>)[ \t]{0,16}+"
)
QUOTED: Final = re.compile(
    _ASSIGNED
    + r"[BFRUbfru]{0,2}+\\?(?P<quote>\"{1,2}+|'{1,2}+|`)(?:base64:)?+(?P<secret>[^\s\"'`\\]{6,512}+)\\?(?P=quote)"
)
BARE: Final = re.compile(
    _ASSIGNED
    + r"(?:base64:)?+(?P<secret>[A-Za-z0-9+/_~!@#$%^*?-][A-Za-z0-9+/_.:~!@#$%^*?-]{5,511}+={0,2}+)"
    + r"(?=[\s\"'`;,&)}\]<\\]|\Z)"
)
QUOTED_VALUE: Final = (
    r"(?:(?P<quote>\\{0,8}+(?:\"{1,2}+|'{1,2}+|`))(?P<quoted>[^\"'`\\\n]{3,512}+)"
    r"|(?P<bare>[^\s\"'`\\<>(){}\[\]|&;,]{3,512}+))"
)
"""What stands behind a word apart from it: in quotes, or up to a blank."""
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


_KEY_BOUND = re.compile(r"-----(?P<which>BEGIN|END) (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_RUN = re.compile(r"(?P<run>[A-Za-z0-9/=+]{1,200}+)[\s\"'`,;|\\]{0,8}+\Z")
_LONG = 40
"""Characters of a key that a line has; writers break them at 64, 70 or 76."""
_NEAR = 200
"""Characters of a line's end that are looked at."""
_HEADERS = 8
"""Lines that a key may have before its own."""


def numbered_keys(text: str) -> Iterator[tuple[int, int]]:
    """What each line of a private key ends in, where something stands before it on each: a number, a name, a time."""
    bounds = list(_KEY_BOUND.finditer(text))
    for at, bound in enumerate(bounds):
        if bound["which"] == "BEGIN":
            stop = bounds[at + 1].start() if at + 1 < len(bounds) else len(text)
            yield from _key_runs(_lines_after(text, bound.end(), stop))
        elif at == 0 or bounds[at - 1]["which"] == "END":  # its beginning was cut off
            start = bounds[at - 1].end() if at else 0
            yield from _key_runs(_lines_before(text, bound.start(), start), is_backward=True)


def _key_runs(lines: Iterator[re.Match[str] | None], *, is_backward: bool = False) -> Iterator[tuple[int, int]]:
    """The runs of a key in lines, from its beginning, or from its end. Its last line alone is short."""
    has_begun, last = False, (0, 0)
    for at, line in enumerate(islice(lines, _KEY_LINES)):
        run = line.span("run") if line is not None else (0, 0)
        if run[1] - run[0] >= _LONG:
            has_begun = True
            yield from (last, run)
            last = (0, 0)
        elif has_begun:
            yield from () if is_backward else (run,)
            return
        elif is_backward:
            if at > 0:
                return
            last = run
        elif at >= _HEADERS:
            return


def _lines_after(text: str, start: int, stop: int) -> Iterator[re.Match[str] | None]:
    start = text.find("\n", start, stop) + 1
    while start and (close := text.find("\n", start, stop)) >= 0:
        yield _KEY_RUN.search(text, max(start, close - _NEAR), close)
        start = close + 1


def _lines_before(text: str, stop: int, start: int) -> Iterator[re.Match[str] | None]:
    close = text.rfind("\n", start, stop)
    while close > start:
        begin = text.rfind("\n", start, close) + 1 or start
        yield _KEY_RUN.search(text, max(begin, close - _NEAR), close)
        close = begin - 1


# -- the table, of which of two kinds for one place the first counts

_RUN = r"(?<![A-Za-z0-9])"
"""Where a token starts. A letter or digit before it would make its beginning the end of a name."""


def _token(
    kind: str, needles: tuple[bytes, ...], pattern: str, accepts: Callable[[str], bool] = lambda _: True
) -> Rule:
    """A kind whose beginning is enough. Of what follows as much counts as is of the alphabet."""
    return Rule(kind, needles, re.compile(f"{_RUN}(?P<secret>{pattern})"), accepts, "beginning")


def _within(kind: str, needles: tuple[bytes, ...], pattern: str) -> Rule:
    """A kind that has something to know it by further on."""
    return Rule(kind, needles, re.compile(f"{_RUN}(?P<secret>{pattern})"))


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


_PUTTY = (
    # No other file begins between: every character is gone through once, however often the first line stands there.
    r"PuTTY-User-Key-File(?:[^P]|P(?!rivate-Lines|uTTY-User-Key-File)){0,4096}+"
    rf"Private-Lines: [0-9]{{1,4}}{_BETWEEN}{{1,16}}+"
    rf"(?P<secret>(?:[A-Za-z0-9/=+]{{16,}}+{_BETWEEN}*+)++)"
)


def _varied(value: str) -> bool:
    """Whether what follows a short or ordinary beginning is no name: random, or letters as in no word."""
    return "AAAA" not in value and (looks_random(value) or unlike_words(value))


_NAMED_API_KEY = re.compile(r"sk-(?:proj|svcacct|admin|None|service|or|lf|litellm)-")


def _is_api_key(value: str) -> bool:
    """`sk-` begins names too: of a class, of a package."""
    if len(value) >= 35 and looks_random(value):
        return True
    body = _NAMED_API_KEY.sub("", value).removeprefix("sk-")
    return any(len(chunk) >= 20 and (looks_random(chunk) or unlike_words(chunk)) for chunk in body.split("-"))


_ONE_RUN = re.compile(r"[a-z]{20,}|[A-Z]{20,}")


def is_bearer(value: str) -> bool:
    """Whether what stands behind `Bearer` or `Basic` is no word of a sentence."""
    if looks_random(value) or holds_login(value):
        return True
    return (unlike_words(value) or _ONE_RUN.fullmatch(value) is not None) and not is_placeholder(value)


def _is_no_example(value: str) -> bool:
    return not is_placeholder(value)


def _is_no_gene(value: str) -> bool:
    return not set(value) <= set("ACGTN")


def _mixed(value: str) -> bool:
    return _varied(value) and not value.isupper()


def holds_login(value: str) -> bool:
    """Whether base64 stands for `user:password`."""
    try:
        data = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False
    name, colon, password = data.partition(b":")
    return bool(colon and password) and all(32 <= byte < 127 for byte in name + password)


CHANCE: Final = re.compile(rb"[_-](?P<body>[A-Za-z0-9]{30,512}+)(?![A-Za-z0-9_+/-])")
"""Thirty or more letters and digits that end a run: what chance chose in the token of an issuer that the table does not
know. Ids of calls and answers are shorter, digests have small letters alone.
"""
KIND_BEFORE: Final = re.compile(
    rb"(?:\A-?|\n-|[^A-Za-z0-9_-])(?P<kind>(?!sha[0-9]|md5)[a-z][a-z0-9]{1,11}(?:[_-][A-Za-z0-9]{1,11}){0,3})\Z"
)
"""What stands before that: a few small letters that name the kind, and what it is for."""
LONGEST_KIND: Final = 50


def is_chance(body: str) -> bool:
    """Whether chance chose these from capitals, small letters and digits, or many of them from all but capitals."""
    is_mixed = body.lower() != body != body.upper() or (len(body) >= 40 and body.islower() and max(body) > "f")
    return is_mixed and any(map(str.isdigit, body)) and unlike_words(body)


RULES: Final[tuple[Rule, ...]] = (
    Rule("private key", (KEY_NAME,), re.compile(_PEM), place="text"),
    Rule("private key", (b"PuTTY-User-Key-File",), re.compile(_PUTTY), place="text"),
    _token("AWS key", (b"AKIA", b"ASIA", b"ABIA", b"ACCA"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16,}+", _is_no_gene),
    _token("AWS key", (b"ABSK",), r"ABSK[A-Za-z0-9+/]{80,}+={0,2}"),
    _token("Google API key", (b"AIza",), r"AIza[A-Za-z0-9_-]{35,}+"),
    _token("Google token", (b"ya29.", b"GOCSPX-"), r"(?:ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,}+)"),
    _token("Google token", (b"1//0",), r"1//0[A-Za-z0-9_-]{30,}+"),
    _token("GitHub token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,}+"),
    _token("GitHub token", (b"github_pat_",), r"github_pat_[A-Za-z0-9_]{22,}+"),
    _token("GitLab token", (b"glpat-",), r"glpat-[A-Za-z0-9_-]{20,}+(?:\.[A-Za-z0-9]{2,16}+){0,4}"),
    _token(
        "GitLab token", (b"gl",), r"gl(?:dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_-]{20,}+", _varied
    ),
    _token("GitLab token", (b"GR1348941",), r"GR1348941[A-Za-z0-9_-]{20,}+"),
    _token("Slack token", (b"xox", b"xapp-"), r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}+"),
    Rule(
        "Slack webhook",
        (b"hooks.slack.com",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,}+)"),
    ),
    Rule(
        "Discord webhook",
        (b"/api/webhooks/",),
        re.compile(r"discord(?:app)?\.com/api/webhooks/\d{15,20}+/(?P<secret>[A-Za-z0-9_-]{50,}+)"),
    ),
    _token(
        "Stripe key",
        (b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_", b"pk_live_", b"pk_test_", b"whsec_"),
        r"(?:[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/=]{24,}+)",
    ),
    _token("Anthropic key", (b"sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    _token("API key", (b"sk-",), r"sk-[A-Za-z0-9_-]{20,}+", _is_api_key),
    _token("API key", (b"sk_",), r"sk_[A-Za-z0-9]{40,}+", _varied),
    _token("npm token", (b"npm_",), r"npm_[A-Za-z0-9]{36,}+"),
    _token("PyPI token", (b"pypi-",), r"pypi-[A-Za-z0-9_-]{50,}+"),
    _token("RubyGems key", (b"rubygems_",), r"rubygems_[0-9a-f]{48,}+"),
    _token("NuGet key", (b"oy2",), r"oy2[a-z0-9]{43,}+"),
    _token("Cargo registry token", (b"cio",), r"cio[A-Za-z0-9]{32,}+", _varied),
    _token("Docker token", (b"dckr_",), r"dckr_[a-z]{3}_[A-Za-z0-9_-]{24,}+"),
    _token("Hugging Face token", (b"hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    _token("Hugging Face token", (b"api_org_",), r"api_org_[A-Za-z0-9]{30,}+"),
    _token("SendGrid key", (b"SG.",), r"SG\.[A-Za-z0-9_-]{16,32}+\.[A-Za-z0-9_-]{16,}+"),
    _token("Mailgun key", (b"key-",), r"key-[0-9a-f]{32,}+"),
    _within("Mailchimp key", (b"-us",), r"[0-9a-f]{32}-us[0-9]{1,2}"),
    _token("Brevo key", (b"xkeysib-", b"xsmtpsib-"), r"x(?:keysib|smtpsib)-[A-Za-z0-9-]{60,}+"),
    _token("Resend key", (b"re_",), r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+", _varied),
    _token("Twilio key", (b"SK", b"AC"), r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("JWT", (b"eyJ",), r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    _token("DigitalOcean token", (b"dop_v1_", b"doo_v1_", b"dor_v1_"), r"do[opr]_v1_[0-9a-f]{40,}+"),
    _token("Vault token", (b"hvs.", b"hvb.", b"hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{20,}+"),
    _within("Terraform token", (b".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}+"),
    _token("Databricks token", (b"dapi",), r"dapi[0-9a-f]{32,}+(?:-[0-9])?"),
    _token(
        "Grafana token", (b"glsa_", b"glc_"), r"(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}+={0,2})"
    ),
    _token("Shopify token", (b"shp",), r"shp(?:at|ca|pa|ss|ua|tka)_[0-9A-Fa-f]{32,}+"),
    _token(
        "Doppler token", (b"dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}+"
    ),
    _token("Linear key", (b"lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    _token("age key", (b"AGE-",), r"AGE-(?:SECRET-KEY-(?:PQ-)?1|PLUGIN-[A-Z0-9]{1,20}-1)[A-Z0-9]{50,}+"),
    _token("Notion token", (b"ntn_", b"secret_"), r"(?:ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{40,}+)", _varied),
    _token("PlanetScale key", (b"pscale_",), r"pscale_(?:tkn|pw|oauth|app)_[A-Za-z0-9_=.-]{32,}+"),
    _token("Tailscale key", (b"tskey-",), r"tskey-(?:[a-z]{2,20}-)?[A-Za-z0-9-]{16,}+"),
    _token("New Relic key", (b"NR",), r"NR(?:AK|BR|RA|II|IQ|SP)-[A-Za-z0-9_-]{25,}+|NRJS-[0-9a-f]{19,}+"),
    _within("New Relic key", (b"NRAL",), r"[0-9a-f]{32,36}(?:FFFF)?NRAL"),
    _token("Sentry token", (b"sntry",), r"sntry[a-z]_[A-Za-z0-9+/=_-]{40,}+"),
    _token("Facebook token", (b"EAA",), r"EAA[A-Za-z0-9]{50,}+(?![+/=])", _mixed),
    Rule(
        "Telegram token",
        (b":AA",),
        re.compile(r"(?:(?<![A-Za-z0-9])|(?<=bot))(?P<secret>[0-9]{8,12}:AA[A-Za-z0-9_-]{32,})(?![A-Za-z0-9_-])"),
        place="text",
    ),
    _token(
        "Discord token",
        (b"MT", b"Mj", b"Mz", b"ND", b"NT", b"Nj", b"Nz", b"OD", b"OT"),  # base64 of a number
        r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
        looks_random,
    ),
    _within("Azure client secret", (b"Q~",), r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}+"),
    _token("Groq key", (b"gsk_",), r"gsk_[A-Za-z0-9]{40,}+"),
    _token("xAI key", (b"xai-",), r"xai-[A-Za-z0-9]{60,}+"),
    _token("Perplexity key", (b"pplx-",), r"pplx-[A-Za-z0-9]{40,}+"),
    Rule("token", (b"_PAT=",), re.compile(r"_PAT=(?P<secret>[A-Za-z0-9]{20,512}+)"), _varied),
    _token("LangSmith key", (b"lsv2_",), r"lsv2_[a-z]{2,4}_[0-9a-f]{32}_[0-9a-f]{8,}+"),
    _token("Sonar token", (b"squ_", b"sqp_", b"sqa_"), r"sq[upa]_[0-9a-f]{40,}+"),
    _token("Artifactory key", (b"AKCp",), r"AKCp[A-Za-z0-9]{60,}+"),
    _token("Artifactory token", (b"cmVmdGtuO",), r"cmVmdGtuO[A-Za-z0-9+/=]{40,}+"),
    _token("Plaid token", (b"access-",), r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{27,}+"),
    _token("Dropbox token", (b"sl.",), r"sl\.[A-Za-z0-9_.-]{100,}+"),
    _token("Mapbox token", (b"sk.eyJ",), r"sk\.eyJ[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{16,}+"),
    _token("Fireworks key", (b"fw_",), r"fw_[A-Za-z0-9]{22,}+", _varied),
    _token("Firecrawl key", (b"fc-",), r"fc-[0-9a-f]{32,}+"),
    _token("Anyscale token", (b"esecret_",), r"esecret_[A-Za-z0-9]{24,}+"),
    _token("Clickup token", (b"pk_",), r"pk_[0-9]{5,12}_[A-Z0-9]{32,}+"),
    _token("Cloudflare key", (b"v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146,}+"),
    _token("Replicate token", (b"r8_",), r"r8_[A-Za-z0-9]{37,}+"),
    _token("NVIDIA key", (b"nvapi-",), r"nvapi-[A-Za-z0-9_-]{50,}+"),
    _token("Together key", (b"tgp_v1_",), r"tgp_v1_[A-Za-z0-9_-]{40,}+"),
    _token("Postman key", (b"PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{30,}+"),
    _token("Figma token", (b"fig",), r"fig[a-z]_[A-Za-z0-9_-]{38,}+", _varied),
    _token("Airtable token", (b"pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}+"),
    _token(
        "Atlassian token", (b"ATATT3", b"ATCTT3", b"ATBB"), r"(?:AT[AC]TT3[A-Za-z0-9_=-]{100,}+|ATBB[A-Za-z0-9]{28,}+)"
    ),
    _token("Sourcegraph token", (b"sgp_",), r"sgp_(?:[A-Za-z0-9]{1,20}_)?[0-9a-f]{40,}+"),
    _token("Supabase key", (b"sbp_", b"sb_secret_"), r"(?:sbp_[0-9a-f]{40,}+|sb_secret_[A-Za-z0-9_-]{24,}+)"),
    _token("Pulumi token", (b"pul-",), r"pul-[0-9a-f]{40,}+"),
    _token("PostHog key", (b"phx_", b"phc_"), r"ph[xc]_[A-Za-z0-9]{40,}+"),
    _token("Square token", (b"sq0",), r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}+"),
    _token("Shippo token", (b"shippo_",), r"shippo_(?:live|test)_[0-9a-f]{40,}+"),
    _token("Dynatrace token", (b"dt0",), r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}+"),
    _token("Fly token", (b"fo1_", b"fm2_"), r"(?:fo1_[A-Za-z0-9_-]{40,}+|fm2_[A-Za-z0-9+/=_-]{80,}+)"),
    _token("Heroku key", (b"HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,}+"),
    _token("Render key", (b"rnd_",), r"rnd_[A-Za-z0-9]{28,}+", _varied),
    _token("1Password key", (b"ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/_-]{100,}+={0,2}"),
    _token("Alibaba key", (b"LTAI",), r"LTAI[A-Za-z0-9]{16,}+", _varied),
    _token("EasyPost key", (b"EZ",), r"EZ[AT]K[A-Za-z0-9]{54,}+"),
    _token("Typeform token", (b"tfp_",), r"tfp_[A-Za-z0-9_.=-]{40,}+"),
    _token("Contentful token", (b"CFPAT-",), r"CFPAT-[A-Za-z0-9_-]{40,}+"),
    _token("Buildkite token", (b"bkua_",), r"bkua_[0-9a-f]{40,}+"),
    _token("CircleCI token", (b"CCIPAT_",), r"CCIPAT_[A-Za-z0-9]{20,}+_[0-9a-f]{40,}+"),
    Rule(
        "password hash",
        (b"$",),
        re.compile(
            r"(?P<secret>\$(?:apr1|1|2[abxy]|5|6|7|y|argon2(?:id|i|d)|scrypt|pbkdf2(?:-sha[0-9]{1,3})?"
            r"|(?:production|sandbox)\$[0-9a-z]{16})\$[A-Za-z0-9./$=,+_-]{22,512}+)"  # the last one is Braintree's
        ),
        place="text",
    ),
    Rule(
        "password",
        (b"://",),
        re.compile(r"://[^\s:/?#@\"'`<>]{0,128}+:(?![$%]?[{<(]|\$\w|%\w\b|\*+@)(?P<secret>[^\s/\"'`<>]{1,256})@[^\s@]"),
        _is_no_example,
        "text",
    ),
)
