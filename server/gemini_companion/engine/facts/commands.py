"""Commands: the strings that calls hand to a shell, and the lines of fenced shell blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, cast

from gemini_companion.engine.facts.patterns import SHELL_FENCE
from gemini_companion.engine.facts.sentences import fenced_spans

_COMMAND_KEYS: Final = ("command", "cmd", "shell_command", "bash_command", "commands", "script", "code", "input")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMAND_COMPANIONS: Final = _words(
    "description dir_path directory cwd workdir working_directory timeout timeout_ms timeout_seconds is_background background explanation "
    "shell env restart run_in_background login"
)
_LONGEST_LINE: Final = 400
"""Characters of a line that may be a command without anything saying so."""
_SHORT_BLOCK: Final = 2
"""Lines of a fenced block without a language that may be commands."""


def command_of(call: dict[str, Any]) -> str | None:
    """The whole command string of a call to something like a shell, without the line break at its end; `None` for other calls."""
    args: object = call.get("args")
    if not isinstance(args, dict):
        return None
    arguments = cast("dict[str, Any]", args)
    shell = _shell_name().search(str(call.get("name") or "")) is not None
    for key in _COMMAND_KEYS:
        if key in arguments and (shell or (key in _COMMAND_KEYS[:4] and _COMMAND_COMPANIONS.issuperset(arguments.keys() - {key}))):
            command = _joined(arguments[key])
            if command:
                return command
    return None


def fenced_commands(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of fenced shell blocks; where some have a prompt, only those, without it. A line continued with a backslash is one.

    A block of a line or two without a language may be one: its lines are not certain.
    """
    for start, end, language in fenced_spans(text):
        body = text[start:end].split("\n")[1:]
        if body and body[-1].lstrip().startswith(("```", "~~~")):
            body.pop()
        if _shell_fence().fullmatch(language):
            yield from ((command, True) for command in _command_lines(body))
        elif not language and len(body) <= _SHORT_BLOCK:
            yield from ((line, False) for line in body if len(line) <= _LONGEST_LINE and _plain_command().fullmatch(line))


def _command_lines(body: Sequence[str]) -> Iterator[str]:
    prompts = any(line.lstrip().startswith("$ ") for line in body)
    held: list[str] = []
    for line in body:
        if not held and prompts and not line.lstrip().startswith("$ "):
            continue
        held.append(line if held else line.lstrip().removeprefix("$ "))
        if not line.endswith("\\"):
            command = "\n".join(held).rstrip()
            held.clear()
            if command and not command.startswith("#"):
                yield command
    if held:
        yield "\n".join(held).rstrip()


def _joined(value: object) -> str:
    if isinstance(value, str):
        return value.rstrip()
    if isinstance(value, list) and all(isinstance(word, str) for word in cast("list[Any]", value)):
        return " ".join(cast("list[str]", value)).rstrip()
    return ""


@cache
def _shell_name() -> re.Pattern[str]:
    return re.compile(r"(?i)shell|bash|terminal|command|powershell|console|(?<![a-z])(?:exec|execute|run|sh|zsh|cmd|process)(?![a-z])")


@cache
def _shell_fence() -> re.Pattern[str]:
    return re.compile(SHELL_FENCE)


@cache
def _plain_command() -> re.Pattern[str]:
    return re.compile(r"[a-z./][\w./-]*+(?: [^(){};=]*)?")
