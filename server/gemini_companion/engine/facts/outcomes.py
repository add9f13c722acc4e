"""What came of a call: whether it worked, the line that says so, and the files that it touched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.facts.actions import Action, cleaned_output
from gemini_companion.engine.facts.extract import error_lines
from gemini_companion.engine.facts.paths import is_path_key, paths_of_argument
from gemini_companion.engine.facts.patterns import ERROR_HINTS, hinted
from gemini_companion.engine.facts.sentences import pieces, sentences

Verb: TypeAlias = Literal["created", "changed", "deleted", "read", "ran"]
Status: TypeAlias = Literal["ok", "failed", "open"]


class Outcome(msgspec.Struct, frozen=True):
    """What came of an action."""

    status: Status
    line: str
    """The line that says so, or the most telling line of the output; may be empty."""


class Touch(msgspec.Struct, frozen=True):
    """A file, and what an action did to it."""

    verb: Verb
    path: str


def outcome_of(action: Action) -> Outcome:
    """Whether it worked, going by exit codes, the response's own word, and errors that open or close the output."""
    if action.output is None:
        return Outcome("open", "")
    output = cleaned_output(action)
    lines = _telling_lines(output)
    errors = _errors(output)
    if action.refused:
        return Outcome("failed", errors[0] if errors else next(iter(lines), ""))
    if failure := _exit_code().search(output):
        real = [line for line in errors if not _exit_code().search(line)]
        return Outcome("failed", f"{failure.group()}: {real[-1]}" if real else failure.group())
    if errors and (errors[0] in lines[:2] or _failure().search(output)) and not _only_looks(action):
        return Outcome("failed", _decisive(errors))
    return Outcome("ok", _summary(lines, ends=not _only_looks(action)))


def touches(action: Action, outcome: Outcome) -> Iterator[Touch]:
    """The files that an action names, with what it did to them; a change that failed is none."""
    verb = _verb(action)
    if verb is None:
        return
    arguments = list(_arguments(action))
    called_so = [(key, value) for key, value in arguments if is_path_key(key)]
    named = [path for key, value in called_so or arguments for piece in pieces(value) for path, certain in paths_of_argument(key, piece) if certain]
    if not named and verb == "changed" and action.output:  # an editor that has the file open already
        named = [match["path"] for match in _open_file().finditer(action.output[-2_000:])][-1:]
    if verb in ("created", "changed", "deleted") and outcome.status == "failed":
        return
    for path in dict.fromkeys(named):
        yield Touch(verb, path)


def _errors(output: str) -> list[str]:
    return [line for piece in pieces(output) if hinted(piece.lower(), ERROR_HINTS) for line in error_lines(piece)]


def _decisive(errors: Sequence[str]) -> str:
    """The last exception of a traceback, else the first line with an error's own name, else the first line."""
    named = [line for line in errors if _exception().search(line)]
    return named[-1] if named else errors[0]


def _telling_lines(output: str) -> list[str]:
    return [line.strip() for line in output.split("\n") if line.strip()]


def _summary(lines: Sequence[str], *, ends: bool) -> str:
    """A short output whole, the verdict of a run, else the first line, how many more there are, and the last; a listing is only counted."""
    if not lines:
        return ""
    plain = [line for line in lines if not _numbered().match(line)]
    if not plain:
        return f"({len(lines)} numbered lines)" if len(lines) > 1 else lines[0] if lines[0][-1] not in ":|" else ""
    for line in reversed(plain[-12:]):
        if _verdict().search(line):
            return next(iter(sentences(line)), line)
    joined = " ⏎ ".join(plain)
    if len(joined) <= 200:
        return joined
    if ends and len(plain) > 2:
        return f"{plain[0][:80]} … (+{len(plain) - 2} lines) … {plain[-1]}"
    return f"{plain[0]} … (+{len(plain) - 1} lines)"


def _only_looks(action: Action) -> bool:
    """True for what shows text that may well be about errors: a listing, a file, a search."""
    return _verb(action) == "read"


def _verb(action: Action) -> Verb | None:
    if action.command is not None:
        words = action.command.split(None, 2)
        while words and (words[0] in ("sudo", "time", "env") or "=" in words[0]):
            words = words[1:]
        program = words[0].rpartition("/")[2] if words else ""
        if program in ("sed", "perl") and " -i" in action.command:
            return "changed"
        if program in ("cat", "echo", "tee", "printf") and (">" in action.command or program == "tee"):
            return "created"
        return _PROGRAMS.get(program)
    for pattern, verb in _tool_verbs():
        if pattern.search(action.name):
            return verb
    return None


def _arguments(action: Action) -> Iterator[tuple[str, str]]:
    if action.command is not None:
        yield "command", action.command.split("\n", 1)[0]
        return
    for key, value in action.args.items():
        if isinstance(value, str) and "\n" not in value:
            yield key, value
        elif isinstance(value, list):
            yield from ((key, item) for item in cast("list[object]", value) if isinstance(item, str))


def _all(verb: Verb, programs: str) -> dict[str, Verb]:
    return dict.fromkeys(programs.split(), verb)


_PROGRAMS: Final[dict[str, Verb]] = {
    **_all("read", "cat head tail less more open view bat nl od hexdump xxd strings file stat wc ls tree find find_file grep rg ag ack awk"),
    **_all("read", "search_file search_dir decompile disassemble goto scroll_up scroll_down diff type dir jq cut sort"),
    **_all("created", "touch mkdir create cp ln"),
    **_all("changed", "edit mv patch chmod chown sed insert str_replace apply_patch"),
    **_all("deleted", "rm rmdir unlink del"),
    **_all("ran", "python python3 node deno bun ruby perl php bash sh zsh java go cargo pytest make npm npx"),
}
"""What a program does to the files that its command line names."""


@cache
def _tool_verbs() -> tuple[tuple[re.Pattern[str], Verb], ...]:
    return (
        (re.compile(r"(?i)delete|remove|unlink"), "deleted"),
        (re.compile(r"(?i)create|write|save|new_file|touch|mkdir"), "created"),
        (re.compile(r"(?i)edit|replace|insert|patch|update|append|rename|move|modify"), "changed"),
        (re.compile(r"(?i)read|open|view|cat|list|ls|glob|search|grep|find|show|get"), "read"),
    )


@cache
def _numbered() -> re.Pattern[str]:
    """A line of a listing."""
    return re.compile(r"\d{1,7}[:|\t]")


@cache
def _exit_code() -> re.Pattern[str]:
    return re.compile(r"(?i)\bexit(?:ed)?(?: with)?(?: (?:code|status|exit code))?[: ]{1,3}-?[1-9]\d{0,9}\b")


@cache
def _failure() -> re.Pattern[str]:
    signs = r"Traceback \(most recent|TIMED OUT|^FAILED |\b[1-9]\d* (?:failed|errors?)\b|npm ERR!|^error[\[:]|^fatal:|NOT been applied"
    return re.compile(signs, re.MULTILINE)


@cache
def _exception() -> re.Pattern[str]:
    return re.compile(r"\b[A-Z]\w{0,60}(?:Error|Exception|Failure|Fault)\b|error[\[:]")


@cache
def _verdict() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\b\d+ (?:passed|failed|tests?|errors?|warnings?|problems?)\b|\btests?:? [^\n]{0,80}(?:pass|fail|ok)|^ok\b|\bsuccess"
        r"|\bbuilt in\b|\bdone in\b|^file updated"
    )


@cache
def _open_file() -> re.Pattern[str]:
    return re.compile(r"\(Open file: (?P<path>[^)\n]{3,1024})\)")
