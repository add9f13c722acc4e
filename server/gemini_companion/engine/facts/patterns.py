"""How a fact is recognised in text, English, German, Japanese or Chinese.

Three rules hold for every pattern: it is linear on any input (possessive or bounded repeats), it is compiled at first
use, and what it finds is a substring of the text, word for word. What a pattern alone cannot decide (is `start/end` a
path?) is in `paths` and `rules`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final


def lazy(source: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A pattern that is compiled when it is first called for."""
    return cache(lambda: re.compile(source, flags))


def hints(text: str) -> tuple[str, ...]:
    """Strings of which one must stand in a text for a pattern to find anything: a plain search is quicker."""
    return tuple(text.split("|"))


# --- Commands ---------------------------------------------------------------------------------------------------------

_PROGRAMS: Final = (
    "apt|apt-get|aws|az|bash|brew|bun|bundle|cargo|cat|cd|chmod|cmake|composer|conda|cp|curl|deno|docker"
    "|docker-compose|dotnet|eslint|export|find|flutter|gcc|gcloud|gh|git|go|gradle|grep|helm|java|javac|jest|jq"
    "|kubectl|ls|make|mkdir|mv|mvn|mypy|node|npm|npx|perl|php|pip3?|pnpm|poetry|psql|pyright|pytest|python3?|rails"
    "|rake|rg|rm|rsync|ruby|ruff|rustc|scp|sed|sh|source|sqlite3|ssh|sudo|swift|systemctl|tail|tar|terraform|touch|tox"
    "|tsc|uv|uvicorn|uvx|wget|yarn"
)
COMMANDS: Final = lazy(
    r"^[ \t]*+(?:\(\w{1,40}\)[ ])?(?:[\w.-]{1,60}@[\w.-]{1,60}:?[^\s$#]{0,120}"
    r"|[\w.-]{0,20})?[$][ \t]+(?P<prompt>[A-Za-z_./~(\"'][^\n]*)|^PS [^>\n]{0,200}>[ \t]*(?P<windows>\S[^\n]*)"
    rf"|(?<!`)`(?P<quoted>(?:(?:{_PROGRAMS})[ \t]|\.{{0,2}}/[\w./-]{{1,200}}[ \t])[^`\n]{{1,400}})`(?!`)",
    re.MULTILINE,
)
SHELL_FENCE: Final = lazy(
    r"(?:ba|z|fi|c|k|tc)?sh|shell|console|terminal|shell-?session|powershell|ps1|pwsh|cmd|bat|batch"
)

# --- Errors: the fact is the line around what is found ----------------------------------------------------------------

ERRORS: Final = lazy(
    r"^[ \t>|E-]{0,8}(?:Caused by: |Uncaught |Unhandled |- E\d{3} )?(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error"
    r"|Exception|Failure|Fault|Interrupt)(?:: |:?$)|(?<![\w.])(?i:errors?|fatal|panic|failed|failure"
    r"|fehler)(?:\[\w{1,20}\]|[ \t]\w{1,12}\d)?:[ \t]{0,4}(?=[^\s)])|^[ \t]{0,8}(?:FAILED|ERROR|FATAL|CRITICAL"
    r"|npm ERR!|✗|✖)[ \t]\S|(?i:command not found|no such file or directory|permission denied|segmentation fault"
    r"|core dumped|is not recognized as an?|connection refused|cannot find module|timed out|syntax error\(s\)"
    r"|have not been applied|out of memory)|\bE(?:CONNREFUSED|NOENT|ACCES|ADDRINUSE|PERM)\b"
    r"|(?i:\bexit(?:ed)?(?: with)?(?: (?:code|status|exit code))?[: ]{1,3}-?[1-9]\d{0,9}\b)|エラー(?=[が:：です発に\n]|$)"
    r"|失敗しました|例外が|見つかりません|できませんでした|错误[:：]|失败|异常[:：]",
    re.MULTILINE,
)
ERROR_HINTS: Final = hints(
    "err|exception|fail|fault|fatal|panic|interrupt|exit|not found|no such|denied|dumped|recognized|refused|"
    "cannot find|timed out|not been applied|out of memory|critical|fehler|✗|✖|econn|enoent|eacces|eaddr|eperm|"
    "エラー|失敗|例外|見つかり|できません|错误|失败|异常"
)
"""If none of these stands in a text in small letters, `ERRORS` finds nothing: plain searches are quicker."""
EXIT_CODE: Final = lazy(r"(?i)\bexit(?:ed)?(?: with)?(?: (?:code|status|exit code))?[: ]{1,3}-?[1-9]\d{0,9}\b")

# --- Numbers, addresses, symbols, marked tasks ------------------------------------------------------------------------

_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_UNIT: Final = (
    r"(?:ms|kB|KB|MB|GB|TB|KiB|MiB|GiB|px|rem|Hz|fps|rpm|seconds?|minutes?|hours?|days?|tokens?|retries|Sekunden"
    r"|Minuten|%)"
)
NUMBERS: Final = lazy(
    r"\b(?:(?i:ports?)[ \t]{0,3}(?:[=:]|is|to|on)?[ \t]{0,3}\d{2,5}\b|(?:localhost|(?:\d{1,3}\.){3}\d{1,3}):\d{2,5}\b"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|v?\d{1,5}\.\d{1,5}\.\d{1,6}(?:[.-][0-9A-Za-z.-]{1,30}\b)?|(?i:version|release|python|node(?:\.js)?|java|ruby"
    r"|php|postgres(?:ql)?|mysql|redis|django|react|ubuntu|debian|android|ios|cuda|gemini|issue|pr|ticket|step|phase"
    r"|room|gate|flight|option|v)[ \t-]?v?\d{1,5}(?:\.\d{1,6}){0,3}\b"
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?[ ])?{_MONTH}\.?[ ]\d{{1,4}}(?:st|nd|rd|th)?(?:, ?\d{{4}})?\b|\d{{1,2}}(?:st"
    rf"|nd|rd|th)?[ ]{_MONTH}\b(?:,? \d{{4}}\b)?"
    r"|[A-Z]{2,10}-\d{1,7}\b|(?=[A-Z0-9]{0,11}\d)(?=[A-Z0-9]{0,11}[A-Z])[A-Z0-9]{5,12}\b"
    r"|[a-z]{2,20}(?:_[a-z]{1,20}){1,4}_\d{2,12}\b|(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b"
    r"|0x[0-9a-fA-F]{2,32}\b|(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b"
    rf"|\d[\d,]{{0,12}}(?:\.\d{{1,4}})?[ \t]?{_UNIT}(?!\w))"
    r"|(?:ポート(?:番号)?[ はを：:]{0,3}\d{2,5}|バージョン[ ]?\d{1,4}(?:\.\d{1,6}){0,3}|端口[ 是为：:]{0,3}\d{2,5}"
    r"|版本[ ]?\d{1,4}(?:\.\d{1,6}){0,3})|(?<![\w&])#\d{1,7}\b|[$€£¥]\d{1,15}(?:,\d{2,3}){0,5}(?:\.\d{1,4})?|\d[\d,]{0,15}[ ]?(?:円"
    r"|万円|ドル|元|€)|(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?|(?i:\blines?)[ \t]\d{1,7}(?:[ \t]?[-–][ \t]?\d{1,7})?\b"
    r"|\d{1,7}(?:行目|行|秒|分)"
)
NUMBER_CONTEXT: Final = lazy(
    r"(?i:port)|ポート|バージョン|端口|版本"
    r"|\b(?i:version|release|python|node(?:\.js)?|java|ruby|php|postgres(?:ql)?|mysql|redis|django|react|ubuntu"
    r"|debian|android|ios|cuda|gemini|issue|pr|ticket|step|phase|room|gate|flight|option|v|lines?)(?!\S)"
    rf"|\b{_MONTH}|(?<!\S){_UNIT}(?!\w)|(?<!\S)(?:円|万円|ドル|元|€)"
)
"""Words beside a number of which `NUMBERS` needs one where the number is nothing but digits between blanks."""
_BEFORE_FIRST: Final = 64
"""Characters before the first number of a text that can belong to it: `version `, `gift_card_`."""
_BEFORE: Final = 128
"""More than what `NUMBERS` finds can have before its first digit."""
_BEHIND: Final = 64
"""More than it can have behind its last, or between two digits."""
_DIGITS: Final = lazy(rf"\d++(?:\D{{1,{_BEFORE + _BEHIND}}}+\d++)*+")
"""Digits that are so close together that one fact may reach from one to the next."""
_DIGITLESS: Final = lazy(r"[a-fA-F]{8}-(?:[a-fA-F]{4}-){3}[a-fA-F]{12}")
"""The one thing that `NUMBERS` finds though it may have no digit."""
URLS: Final = lazy(r"\b(?:https?|ftp|ssh|wss?|file|git)://[^\s<>\"'`{}|\\^()（）「」『』、。，\[\]]{2,2000}")
SYMBOLS: Final = lazy(
    r"(?<!`)`(?P<quoted>[A-Za-z_$@][\w.$:#@-]{2,59}(?:\(\))?)`(?!`)"
    r"|(?<![\w/.\\-])(?P<bare>[A-Za-z]\w{0,40}_\w{1,40}(?:\(\))?|[a-z]{1,30}[A-Z]\w{1,40}(?:\(\))?"
    r"|[A-Z][a-z0-9]{1,30}[A-Z]\w{1,40}|[A-Za-z_]\w{2,40}\(\))(?![\w/\\])"
)
_INNER: Final = lazy(r"[a-z][A-Z]")
MARKED_TASKS: Final = lazy(
    r"^[ \t]*+(?:[-*+]|\d{1,3}[.)])[ \t]++(?P<box>\[ \][ \t]++[^\n]{1,400})|(?P<mark>\[(?:TODO|IN PROGRESS|PENDING"
    r"|BLOCKED|未完了|進行中|待办)\][^\n]{1,400})|(?P<word>\b(?:TODO|FIXME|XXX)\b[:( ][^\n]{1,400})",
    re.MULTILINE,
)
"""Lines that say themselves that something is open."""


def may_hold_symbol(text: str) -> bool:
    """False if no name out of a program is looked for in a text: a quick look."""
    return "_" in text or "`" in text or "()" in text or _INNER().search(text) is not None


def found(pattern: re.Pattern[str], text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[str]:
    """What a pattern finds in `text`, or in a span of it: its named group where it has one, else all of it."""
    for match in pattern.finditer(text, start, end):
        yield match[match.lastgroup or 0].rstrip()


def numbers_in(text: str) -> Iterator[str]:
    """Ports, versions, ids, sums, dates, measures and line numbers: what `NUMBERS` finds, but in a text without digits,
    where it finds nothing that counts.

    It is looked for around digits alone: the pattern has many alternatives, and most of a text is words.
    """
    start = 0
    for digits in _DIGITS().finditer(text):
        if start == 0:
            start = max(0, digits.start() - _BEFORE_FIRST)
            if text.count("-") >= 4 and _DIGITLESS().search(text, start):
                yield from found(NUMBERS(), text, start)
                return
        else:
            start = digits.start() - _BEFORE
        yield from found(NUMBERS(), text, start, digits.end() + _BEHIND)
        start = digits.end()


def hinted(lowered: str, hints: tuple[str, ...]) -> bool:
    """True if any hint stands in a text that is in small letters."""
    for hint in hints:  # noqa: SIM110, a loop takes half the time of `any` here
        if hint in lowered:
            return True
    return False
