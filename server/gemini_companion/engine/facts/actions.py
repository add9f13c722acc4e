"""Calls and what came of them: a command, its outcome, and the files that it read or changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.facts.extract import as_json, command_of, error_lines, result_text
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.paths import is_path_key, paths_of_argument
from gemini_companion.engine.facts.patterns import ERROR_HINTS, hinted
from gemini_companion.engine.facts.sentences import pieces, sentences
from gemini_companion.engine.history.part import call_of, is_thought, response_of, text_of

Verb: TypeAlias = Literal["created", "changed", "deleted", "read", "ran"]
Status: TypeAlias = Literal["ok", "failed", "open"]

_OUTPUT_LOOKED_AT: Final = 40_000
"""Characters of an output's head and of its tail that are looked at."""


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the model and its result."""

    index: int
    """Of the content that holds the call."""
    name: str
    args: dict[str, Any]
    command: str | None
    """The whole command string of a call to something like a shell."""
    why: str
    """What the model said just before it called."""
    output: str | None
    """What came back; `None` if nothing did in these contents."""
    refused: bool = False
    """The response says itself that it is an error."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of an action."""

    status: Status
    line: str
    """The line that says so, or the most telling line of the output; may be empty."""


class Touch(msgspec.Struct, frozen=True):
    """A file, and what an action did to it."""

    verb: Verb
    path: str


def read_actions(sources: Sequence[FactSource]) -> list[Action]:
    """Every call in order, with its result: the one with its id, else the next of its name, else the next."""
    actions: list[Action | None] = []
    open_calls: list[tuple[int, Action, str]] = []
    for source in sources:
        said = ""
        for part in source.content.parts:
            if (text := text_of(part)) is not None:
                said = said if is_thought(part) else text
            elif (call := call_of(part)) is not None:
                open_calls.append((len(actions), _action(source.index, call, said), str(call.get("id") or "")))
                actions.append(None)
            elif (response := response_of(part)) is not None and open_calls:
                slot, action, _ = open_calls.pop(_matching(open_calls, response))
                body: object = response.get("response")
                refused = isinstance(body, dict) and bool(cast("dict[str, Any]", body).get("error"))
                actions[slot] = msgspec.structs.replace(action, output=result_text(response), refused=refused)
    for slot, action, _ in open_calls:
        actions[slot] = action
    return [action for action in actions if action is not None]


def outcome_of(action: Action) -> Outcome:
    """Whether it worked, going by exit codes, the response's own word, and errors that open or close the output."""
    if action.output is None:
        return Outcome("open", "")
    output = _without_prompt(action.output)
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


def working_directory(actions: Sequence[Action]) -> str | None:
    """The directory that the newest output names as the current one."""
    for action in reversed(actions):
        if action.output and (matches := _directory().findall(action.output[-2_000:]) or _directory().findall(action.output[:2_000])):
            return str(matches[-1]).strip()
    return None


def call_name(action: Action) -> str:
    """The call in a few words: the first line of its command, or its name and its short arguments."""
    if action.command is not None:
        first, _, rest = action.command.strip().partition("\n")
        return f"{first} … (+{counted_lines(rest)})" if rest else first
    short = (f"{key}={text}" for key, value in action.args.items() if len(text := _plain(value)) <= 80 and "\n" not in text)
    return " ".join((action.name, ", ".join(short))).rstrip()


def cleaned_output(action: Action) -> str:
    """The output without what an agent's shell adds to it."""
    return _without_prompt(action.output or "")


def counted_lines(text: str) -> str:
    """`3 lines`."""
    lines = text.count("\n") + 1
    return f"{lines} lines" if lines > 1 else "1 line"


def call_text(action: Action, limit: int) -> str:
    """The call on one line, `name key=value, …`: strings as they are, each cut to `limit` characters."""
    return f"{action.name} {', '.join(f'{key}={_cut(_plain(value), limit)}' for key, value in action.args.items())}".rstrip()


def _action(index: int, call: dict[str, Any], said: str) -> Action:
    args: object = call.get("args")
    arguments = cast("dict[str, Any]", args) if isinstance(args, dict) else {}
    return Action(index=index, name=str(call.get("name") or ""), args=arguments, command=command_of(call), why=said.strip(), output=None)


def _matching(open_calls: Sequence[tuple[int, Action, str]], response: dict[str, Any]) -> int:
    identifier, name = response.get("id"), response.get("name")
    for number, (_, _, call_id) in enumerate(open_calls):
        if identifier and call_id == identifier:
            return number
    for number, (_, action, _) in enumerate(open_calls):
        if action.name == name:
            return number
    return 0


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


def _without_prompt(output: str) -> str:
    """The output without the lines that an agent's shell adds under it; of a long one the head and the tail."""
    if len(output) > 2 * _OUTPUT_LOOKED_AT:
        output = f"{output[:_OUTPUT_LOOKED_AT]}\n{output[-_OUTPUT_LOOKED_AT:]}"
    return _shell_frame().sub("", output).strip()


def _plain(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit} characters)"


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


@cache
def _directory() -> re.Pattern[str]:
    return re.compile(r"(?im)(?:^|\()(?:current (?:working )?directory|cwd|directory)(?: is)?:[ \t]*([^)\n]{1,1024})")


@cache
def _shell_frame() -> re.Pattern[str]:
    frame = r"\((?:Open file|Current directory): [^\n]*\)|bash-\$|\[File: [^\n]*\]|\(\d+ more lines (?:above|below)\)|-{20,}"
    return re.compile(rf"^(?:{frame})[ \t]*$\n?", re.MULTILINE)
