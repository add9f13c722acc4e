"""Calls with their results, and how to tell them in a line or in full."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.facts.commands import command_of
from gemini_companion.engine.facts.extract import as_json, result_text
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.history.part import call_of, is_thought, response_of, text_of

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


def _without_prompt(output: str) -> str:
    """The output without the lines that an agent's shell adds under it; of a long one the head and the tail."""
    if len(output) > 2 * _OUTPUT_LOOKED_AT:
        output = f"{output[:_OUTPUT_LOOKED_AT]}\n{output[-_OUTPUT_LOOKED_AT:]}"
    return _shell_frame().sub("", output).strip()


def _plain(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit} characters)"


@cache
def _directory() -> re.Pattern[str]:
    return re.compile(r"(?im)(?:^|\()(?:current (?:working )?directory|cwd|directory)(?: is)?:[ \t]*([^)\n]{1,1024})")


@cache
def _shell_frame() -> re.Pattern[str]:
    frame = r"\((?:Open file|Current directory): [^\n]*\)|bash-\$|\[File: [^\n]*\]|\(\d+ more lines (?:above|below)\)|-{20,}"
    return re.compile(rf"^(?:{frame})[ \t]*$\n?", re.MULTILINE)
