"""Secrets that stand by what is said of them: behind an option, a program, a header, in SQL and in files of logins.

Whatever looks like a value counts where a program or a word is known to take a secret. Elsewhere, as behind "the
password", only what nobody would write as a word counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from gemini_companion.engine.ide_context.secret_patterns import (
    QUOTED_VALUE,
    holds_login,
    is_bearer,
    is_placeholder,
    looks_invented,
    looks_random,
    unlike_words,
)
from gemini_companion.engine.ide_context.token_runs import Span, places_of

# -- behind a key: `--password X`, `login me password X`, `PASSWORD 'X'`, `the password is X`

_SAID: Final = re.compile(
    r"(?P<between>\\{0,8}+[\"'`]?,?[ \t\r\n]{1,8}+\(?|[ \t]?\([ \t]?)"
    r"(?P<is>(?:is|was|are|of|to|be|è|Ã¨|=|:|->)[ \t]{1,4}+)?" + QUOTED_VALUE
)
_OPTION_BEFORE: Final = re.compile(rb"(?:\A|[\s\"'`=(\[,\\])--?[a-z0-9_-]{0,40}\Z")
_LOGIN_BEFORE: Final = re.compile(
    rb"\b(?:login|account|user|username)[ \t]{1,8}+(?!(?:and|or|with|by|using|the|a|in|is|to)\s)"
    rb"[^\s,=()]{1,128}+[ \t\r\n]{1,16}+\Z"
    rb"|\bmachine\s{1,8}+\S{1,128}+\s{1,16}+\Z"
)
_SQL_BEFORE: Final = re.compile(
    rb"(?:\b(?:create|alter)\s{1,8}(?:user|role|login|group|credential|certificate|master|symmetric|application)\b[^;]{0,160}"
    rb"|\b(?:set|encrypted|unencrypted|identified with \S{1,64} by)\s{1,8})\Z"
)
_PROMPT_BEFORE: Final = re.compile(rb"(?:\A|\n)[ \t]{0,8}[$#>%][ \t][^\n]{0,200}\Z")
_BEFORE: Final = 208
"""Characters before a key that say what it is the key of."""
_LONGEST_VALUE: Final = 512


_LISTED: Final = re.compile(
    r"[A-Za-z0-9_-]{0,32}+\\{0,8}+(?P<quote>[\"'`]),[ \t]{0,16}+\\{0,8}+[\"'`]"
    r"(?P<secret>[^\s\"'`\\]{8,512}+)\\{0,8}+(?P=quote)"
)
"""What follows a name in a call, as in `define('DB_PASSWORD', 'X')`."""


def said_secret(text: str, lower: bytes, key: Span) -> Span | None:
    """The value that stands apart from the key that names it, without a sign between."""
    listed = _LISTED.match(text, key[1])
    if listed is not None and looks_invented(listed["secret"]):
        return listed.span("secret")
    found = _SAID.match(text, key[1])
    if found is None:
        return None
    span = _value(found)
    value = text[slice(*span)]
    if len(value) < 3 or value[0] == "-" or is_placeholder(value):
        return None
    before = lower[max(0, key[0] - _BEFORE) : key[0]]
    is_broken = "\n" in found["between"]
    is_apart = found["between"].strip(" \t\r\n") == ""
    name = lower[key[0] : key[1]]
    if _OPTION_BEFORE.search(before[-48:]):
        if is_broken and "\\" not in found["between"]:
            return None
        if is_apart and _is_command(before) and not found["is"]:
            return span
        return span if _is_given(value) else None
    if name.startswith((b"pass", b"pwd")):
        if is_apart and not found["is"] and _LOGIN_BEFORE.search(before[-160:]):
            return span
        if found["quote"] and not is_broken and name.startswith(b"password") and _SQL_BEFORE.search(before[-176:]):
            return span
        is_prose = is_apart or found["is"] or found["between"].strip(" \t") == "("
        return span if is_prose and not is_broken and looks_invented(value) else None
    # "token", "secret", "key" and the like stand before names of all kinds.
    is_told = found["is"] is not None and found["is"][:2] in ("is", "wa")
    return span if is_told and looks_invented(value) else None


def _value(found: re.Match[str]) -> Span:
    start, end = found.span("quoted") if found["quoted"] is not None else found.span("bare")
    if found["quoted"] is None:
        value = found["bare"]
        end -= len(value) - len(value.rstrip(".,;:)]}>"))
    return start, end


def _is_given(value: str) -> bool:
    """Whether a value is no word, no name of a kind of value as manuals have it, and no name in code."""
    if value.isupper() and "_" in value:
        return False
    return looks_invented(value) or (
        any(map(str.isdigit, value)) and value.isalnum() and len(value) >= 6 and not _NAME.fullmatch(value)
    )


_NAME: Final = re.compile(r"[A-Z]?[a-z]+\d|[a-z]+\d[a-z]*|v?\d+|[A-Z_]+\d?|0x[0-9a-fA-F]+|[0-9a-f]{7,64}")


def is_given_to_program(text: str, lower: bytes, key: Span, value: str) -> bool:
    """Whether `password=X` is an argument of a program that takes secrets, whatever the value looks like."""
    if text[key[1] : key[1] + 1] != "=" or len(value) < 3 or value[0] == "-" or is_placeholder(value):
        return False
    behind = _PROGRAM_BEHIND.match(lower, key[1] + 1 + len(value))  # `PGPASSWORD=X psql`
    return _names_program(lower[max(0, key[0] - _BEFORE) : key[0]]) or (
        behind is not None and behind["name"] in _OF_PROGRAMS
    )


_PROGRAM_BEHIND: Final = re.compile(rb"[ \t]{1,4}+(?:[a-z0-9_./-]{0,64}/)?(?P<name>[a-z0-9_.-]{2,32}+)")


def _is_command(before: bytes) -> bool:
    """Whether a line, as far as it goes, is a command: a program that takes secrets, or a prompt, begins it."""
    return _PROMPT_BEFORE.search(before) is not None or _names_program(before)


def _names_program(before: bytes) -> bool:
    line = before[before.rfind(b"\n") + 1 :]
    return any(word.lstrip(b"-") in _OF_PROGRAMS for word in re.split(rb"[^a-z0-9_.-]+", line))


# -- behind the word for it in another language: `Passwort: X`, `パスワードはX`

_ABROAD: Final = (
    *(
        "asswort",
        "ennwort",
        "ontraseña",
        "senha",
        "Senha",
        "ot de passe",
        "achtwoord",
        "asło",
        "parola",
        "şifre",
        "Şifre",
    ),
    *("ароль", "パスワード", "暗証番号", "密码", "密碼", "口令", "비밀번호", "암호"),
)
"""Without the first letter where that may be a capital one."""
_IN_BYTES: Final = tuple(word.encode().decode("latin-1") for word in _ABROAD if not word.isascii())
"""The same as an address or the bytes of a program have them, whose layers are read byte by byte."""
_TOLD: Final = re.compile(
    r"[^\w\n]{0,16}+(?:[^\W\d_]{1,12}+[^\w\n]{1,4}+){0,4}?(?:(?![!-~])[^\W\d_]){0,8}+"
    r"(?![A-Za-z]{1,12}[.,]?(?:[^!-~]|\Z))(?P<secret>[!#-&*-;=?-~]{8,512}+)"
)
"""Up to four words may stand between, for the value must look like nothing that is one of them."""


def secrets_abroad(text: str) -> Iterator[Span]:
    """The passwords that stand behind a word for one, in languages whose word is another than English's."""
    for word in _ABROAD + _IN_BYTES:
        for place in places_of(text, word):
            found = _TOLD.match(text, place + len(word))
            if found is None:
                continue
            value = found["secret"].rstrip(".,;:)]}>!?")
            if looks_invented(value):
                yield found.start("secret"), found.start("secret") + len(value)


# -- behind the options of programs

_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "sshpass": ("-p",),
    "redis-cli": ("-a",),
    "curl": ("-u:", "-U:", "--user:", "--proxy-user:"),
    "http": ("-a:", "--auth:"),
    "https": ("-a:", "--auth:"),
    "wget": ("--user:",),
    "twine": ("-p",),
    "cqlsh": ("-p",),
    "rdesktop": ("-p",),
    "xfreerdp": ("/p:",),
    "xfreerdp3": ("/p:",),
    "smbclient": ("-U%",),
    "rpcclient": ("-U%",),
    "lftp": ("-u,",),
    "ipmitool": ("-P",),
    "snmpwalk": ("-A", "-X"),
    "snmpget": ("-A", "-X"),
    "unzip": ("-P",),
    "zip": ("-P",),
    "7z": ("-p",),
    "7za": ("-p",),
    "gpg": ("--passphrase",),
    "useradd": ("-p",),
    "usermod": ("-p",),
    "vault": (),
    "psql": (),
    "gh": (),
    "aws": (),
    "gcloud": (),
    "kubectl": (),
    "svn": (),
    "wpa_passphrase": (),
    **dict.fromkeys(("keytool", "jarsigner"), ("-storepass", "-keypass")),
    **dict.fromkeys(
        ("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlsh", "mariadb", "mariadb-dump"), ("-p",)
    ),
    **dict.fromkeys(("mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"), ("-p",)),
    **dict.fromkeys(("sqlcmd", "bcp", "isql", "osql"), ("-P",)),
    **dict.fromkeys(("ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldappasswd"), ("-w", "-s")),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "az", "oc", "cf"), ("login -p",)
    ),
    "openssl": ("-passin:", "-passout:", "-pass:", "-k"),
}
"""Programs, and their options that a secret follows, at once or behind blanks. One that ends with a sign has it behind
that: `-u user:X`. One with a word before it has it behind that command alone.
"""
_OF_PROGRAMS: Final = {name.encode(): options for name, options in _OPTIONS.items()}
_FLAGS: Final = sorted(
    {option.rpartition(" ")[2].rstrip(":%,").lower().encode() for options in _OPTIONS.values() for option in options}
)


def _behind(sign: bytes) -> bytes:
    """What the options that begin with the sign have behind it, as alternatives of a pattern."""
    return b"|".join(re.escape(flag[1:]) for flag in _FLAGS if flag.startswith(sign))


_FLAG: Final = (
    re.compile(rb"-(?<=[ '\"]-)(?:%b)" % _behind(b"-")),
    re.compile(rb"/(?<=[ '\"]/)(?:%b)" % _behind(b"/")),
)
"""By the sign that each begins with, so that `re` goes from one of these to the next."""
_STEMS: Final = tuple(
    name for name in sorted(_OF_PROGRAMS) if not any(name != other and other in name for other in _OF_PROGRAMS)
)
"""One of these is in the name of every program."""
_WORD: Final = re.compile(r"[^\s|;&]{1,1024}+|[|;&]")
_NAME_LAST: Final = re.compile(r"(?s)\A.*[^A-Za-z0-9_.-]|\A-")
"""What stands before the name of a program: folders, the opening of a string or of an element, the sign of a diff."""
_LINE: Final = 2048
"""Characters of a command that are looked at."""
_QUOTES: Final = "\"'`"


def command_secrets(text: str, lower: bytes) -> Iterator[Span]:
    """The secrets that are arguments of programs, line by line."""
    done = 0
    for place in sorted(found.start() for flag in _FLAG for found in flag.finditer(lower)):
        if place < done:
            continue
        start = max(done, _start_of_line(text, place))
        done = _end_of_line(text, place)
        if _has_program(lower, start, done):
            yield from _arguments(text, start, done)


def _start_of_line(text: str, place: int) -> int:
    """Where a command begins: a backslash before the end of a line lets it go on."""
    bound = max(0, place - _LINE)
    start = text.rfind("\n", bound, place)
    while start > 0 and text[start - 1] == "\\":
        start = text.rfind("\n", bound, start)
    return max(start + 1, bound)


def _end_of_line(text: str, start: int) -> int:
    bound = min(len(text), start + _LINE)
    end = text.find("\n", start, bound)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1, bound)
    return bound if end < 0 else end


def _has_program(lower: bytes, start: int, end: int) -> bool:
    return any(lower.find(stem, start, end) >= 0 for stem in _STEMS)


def _arguments(text: str, start: int, end: int) -> Iterator[Span]:
    """The secrets of a line."""
    options: tuple[str, ...] = ()
    wanted: str | None = None
    words: set[str] = set()
    for found in _WORD.finditer(text, start, end):
        word, first = found[0], found.start()
        bare = word.strip("\"'`,()[]\\$")
        program = _OPTIONS.get(_NAME_LAST.sub("", bare).lower()) if bare[:2] != "--" else None
        span = None
        if program is not None:
            options, wanted, words = program, None, set()
        elif word in "|;&":
            options, wanted = (), None
        elif wanted is not None:
            span, wanted = _argument(text, first, end, wanted), None
        else:
            words.add(bare)
            lead = len(word) - len(word.lstrip(_QUOTES + "\\"))
            for option in options:
                command, _, flag = option.rpartition(" ")
                sign = flag[-1] if flag[-1] in ":%," and not flag.startswith("/") else ""
                flag = flag.removesuffix(sign) if sign else flag
                if (command and command not in words) or not word.startswith(flag, lead):
                    continue
                rest = word[lead + len(flag) :].strip(_QUOTES + ",\\")
                if not rest:
                    wanted = sign
                    break
                offset = lead + len(flag) + (word[lead + len(flag)] == "=")
                if flag.startswith("--") and word[lead + len(flag)] != "=":
                    continue
                span = _argument(text, first + offset, end, sign)
                break
        if span is not None:
            yield span


def _argument(text: str, start: int, end: int, sign: str) -> Span | None:
    """The secret of an argument that begins there: all of it, or what stands behind the sign."""
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead is not None else start
    quote = text[start - 1] if start and text[start - 1] in _QUOTES else ""
    if quote:
        close = text.find(quote, start, min(end, start + _LONGEST_VALUE))
        last = close if close >= 0 else min(end, start + _LONGEST_VALUE)
        while last > start and text[last - 1] == "\\":
            last -= 1
    else:
        word = _ARGUMENT.match(text, start, end)
        last = word.end() if word is not None else start
    if sign:
        place = text.find(sign, start, last)
        if place < 0:
            return None
        start = place + 1
    value = text[start:last]
    is_one = (
        len(value) >= 3 and value[0] != "-" and not is_placeholder(value) and not value.startswith(("file:", "env:"))
    )
    return (start, last) if is_one else None


_LEAD: Final = re.compile(r"[\s,]*\\{0,8}[\"'`]?")
_ARGUMENT: Final = re.compile(r"[^\s\"'`|;&)\]},\\]{1,512}+")


# -- forms that have a pattern, over the text in lower case


class Form(NamedTuple):
    """A form of a secret, in a text in lower case."""

    pattern: re.Pattern[bytes]
    """Begins with the word that the form stands under, but for its `lead`. The secret is its group `secret`."""
    accepts: Callable[[str], bool] = lambda value: not is_placeholder(value)
    lead: bytes = b""
    """Characters that stand in a match before the word, `_LONGEST_LEAD` of them at most."""


_LONGEST_LEAD: Final = 254
_SCHEMES: Final = (
    rb"(?:(?:bearer|basic|token|apikey|api-key|key|negotiate|jwt|oauth|digest|ssws|genie-?key|sso-key|bot|client-?id|pat"
    rb"|hmac|splunk)[ \t:=]{1,4}+)"
)
_HEADER_VALUE: Final = rb"(?:token=|key=)?\\{0,8}+[\"']?(?P<secret>[a-z0-9._~+/=:|-]{8,4096}+)"


def _opens(value: str) -> bool:
    """What counts behind a header that has a secret: anything that is no example of one, and no name in code."""
    if is_placeholder(value) or _CALL.fullmatch(value):
        return False
    return holds_login(value) or looks_random(value) or unlike_words(value) or _SINGLE.fullmatch(value) is not None


_CALL: Final = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+|[A-Z][A-Z_]+")
_SINGLE: Final = re.compile(
    r"[a-z]{20,}|(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]{16,}|(?=[A-Za-z]*[0-9])(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{10,}"
)


_PORT: Final = Form(
    re.compile(
        rb"(?<![^\s\"'`>+\[=])[a-z0-9.*_-]{1,253}+:(?:543[0-9]|\*):[^:\s]{1,64}:[^:\s]{1,64}:(?P<secret>[^\s:\"'`,<]{3,256})"
    ),
    lead=b"abcdefghijklmnopqrstuvwxyz0123456789.*_-",
)
_SESSION_ID: Final = Form(
    re.compile(
        rb"(?:(?<=php)sessid|(?<=j)sessionid|(?<=asp)sessionid\w{0,16}|(?<=asp\.net_)sessionid|connect\.sid)[\"']?"
        rb"[ \t]{0,4}+[=:][ \t]{0,4}+[\"']?(?P<secret>[a-z0-9%._~+/-]{16,512}+)"
    ),
    looks_random,
)
_SCHEME: Final = Form(
    re.compile(rb"\b(?:bearer|basic)[ \t]{1,4}(?P<secret>[a-z0-9._~+/-]{16,2048}+={0,2}+)"), is_bearer
)
_SET: Final = Form(
    re.compile(
        rb"set(?:x|env| -gx| -ux| -x)[ \t]{1,4}+(?=[a-z0-9_]{0,48}(?:pass|pwd|secret|token|key|credential))"
        rb"[a-z0-9_]{3,64}+[ \t]{1,4}+[\"']?(?P<secret>[^\s\"'`\\]{8,512}+)"
    ),
    looks_invented,
)
"""A variable as it is set by Windows, csh and fish."""
FORMS: Final[tuple[tuple[bytes, tuple[Form, ...]], ...]] = (
    (
        b"auth",
        (
            Form(
                re.compile(
                    rb"authorization\\{0,8}+[\"'`]?\]?[ \t]{0,8}+(?:=>|[:=,])[ \t]{0,8}+(?:\\{0,8}+[bfru]{0,2}[\"'`])?+"
                    + _SCHEMES
                    + rb"?+"
                    + _HEADER_VALUE
                ),
                _opens,
            ),
            Form(
                re.compile(
                    rb"(?:(?<=\")|(?<=\"_))auth\"[ \t]{0,8}+:[ \t]{0,8}+\\{0,8}+\"(?P<secret>[a-z0-9+/]{8,2048}+={0,2})"
                ),
                holds_login,
            ),
            Form(
                re.compile(
                    rb"(?<=[^a-z0-9_.>$]_)auth(?:token)?[ \t]{0,4}+=[ \t]{0,4}+"
                    rb"[\"']?(?P<secret>[a-z0-9+/=_-]{6,2048}+)"
                )
            ),
        ),
    ),
    (
        b"pass",
        (
            Form(re.compile(rb"(?<=:_)password[ \t]{0,4}+=[ \t]{0,4}+[\"']?(?P<secret>[a-z0-9+/=_-]{6,2048}+)")),
            Form(
                re.compile(rb"(?<=-)pass(?:in|out)?[ \t=]{1,4}+[\"']?pass:(?P<secret>[^\s\"'`|;&\\]{3,256}+)"),
            ),
        ),
    ),
    (
        b"echo",
        (
            Form(
                re.compile(
                    rb"\becho[ \t]{1,4}+(?:-[ne]{1,2}[ \t]{1,4}+)?\\{0,8}+[\"']?(?:[a-z_][a-z0-9_-]{0,32}:)?"
                    rb"(?P<secret>[^\s\"'`|;&\\]{3,256}+)\\{0,8}[\"']?[ \t]{0,4}+\|[ \t]{0,4}+[^\n|]{0,120}?"
                    rb"(?:sudo -s|--password-stdin|passwd --stdin|chpasswd)"
                ),
            ),
        ),
    ),
    (
        b"identified",
        (
            Form(
                re.compile(
                    rb"\bidentified\s{1,8}+(?:with\s{1,8}+\S{1,64}+\s{1,8}+)?(?:by|as)\s{1,8}+(?:password\s{1,8}+)?+\\{0,8}+[\"']{1,2}+(?P<secret>[^\s\"'`\\]{3,256}+)"
                ),
            ),
            Form(
                re.compile(
                    rb"\bidentified\s{1,8}+by\s{1,8}+(?:values\s{1,8}+)?(?P<secret>[a-z0-9_$#!]{3,128}+)(?=[ \t]*;)"
                ),
            ),
        ),
    ),
    (
        b"sig",
        (
            Form(
                re.compile(rb"(?<![a-z0-9])signature=\\{0,8}+[\"']?(?P<secret>[a-z0-9+/%_=-]{32,512}+)"),
                looks_random,
            ),
            Form(re.compile(rb"(?<=[?&;])sig=(?P<secret>[a-z0-9+/%_=-]{20,512}+)"), looks_random),
        ),
    ),
    (
        b"response=",
        (
            Form(
                re.compile(rb"(?<![a-z0-9])response=\\{0,8}+[\"']?(?P<secret>[a-z0-9+/%_=-]{32,512}+)"),
                looks_random,
            ),
        ),
    ),
    (
        b"sqlplus",
        (
            Form(
                re.compile(
                    rb"\bsqlplus(?:[ \t]{1,4}+-[a-z0-9]{1,8}+){0,4}[ \t]{1,4}+"
                    rb"[\"']?[a-z0-9_$#.]{1,64}+/(?P<secret>[^\s@\"'/]{3,128}+)@"
                )
            ),
        ),
    ),
    (
        b"securestring",
        (Form(re.compile(rb"securestring[ \t]{1,4}+(?:-string[ \t]{1,4}+)?[\"'](?P<secret>[^\s\"'`]{3,256}+)[\"']")),),
    ),
    (b"setx", (_SET,)),
    (b"setenv", (_SET,)),
    (b"set -", (_SET,)),
    (b":543", (_PORT,)),
    (b":*:", (_PORT,)),
    (b"sessi", (_SESSION_ID,)),
    (b"connect.sid", (_SESSION_ID,)),
    (b"bearer", (_SCHEME,)),
    (b"basic", (_SCHEME,)),
)
"""By the word that is in each: a text is gone through once for each word, and a form tried there alone."""

_COOKIE: Final = re.compile(
    rb"\bcookies?\\{0,8}+[\"'`]?[ \t]{0,8}+(?:=>|[:=,])[ \t]{0,8}+(?:\\{0,8}+[\"'`])?+(?=[a-z0-9_.$-]{1,64}+=)"
)
_PAIR: Final = re.compile(r"[ \t]{0,8}([A-Za-z0-9_.$-]{1,64}+)=([^;,\s\"'`\\<>\[\]]{0,4096}+);?")
_SESSION: Final = re.compile(r"(?i)sess|sid\b|auth|token|jwt|login|remember|csrf|xsrf|secret|key|\bid\b")


def form_secrets(text: str, lower: bytes) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of what the forms find, and what a header of cookies has."""
    for word, forms in FORMS:
        places = list(places_of(lower, word))
        for form in forms if places else ():
            for start, end in _matches(form, lower, places):
                if form.accepts(text[start:end]):
                    yield start, end, "credential"
    done = 0
    for place in places_of(lower, b"cookie"):
        if place >= done and (header := _COOKIE.match(lower, place)) is not None:
            done = header.end()
            yield from _cookies(text, done)


def _matches(form: Form, lower: bytes, places: Iterable[int]) -> Iterator[Span]:
    """The secrets of a form, without those that begin within a match of it."""
    done = 0
    for place in places:
        if place < done:
            continue
        first = max(done, place - _LONGEST_LEAD)
        start = first + len(lower[first:place].rstrip(form.lead)) if form.lead else place
        if (found := form.pattern.match(lower, start)) is not None:
            yield found.span("secret")
            done = found.end()


def _cookies(text: str, place: int) -> Iterator[tuple[int, int, str]]:
    for _ in range(64):
        pair = _PAIR.match(text, place)
        if pair is None:
            return
        value = pair[2]
        if len(value) >= 8 and not is_placeholder(value):
            is_named = _SESSION.search(pair[1]) is not None and (len(value) >= 16 or any(map(str.isdigit, value)))
            if (is_named and not _CALL.fullmatch(value)) or looks_invented(value):
                yield *pair.span(2), "cookie"
        place = pair.end()
