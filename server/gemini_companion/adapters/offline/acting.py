"""The offline model as one that calls tools: what to call for a prompt, and what to say of the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from gemini_companion.adapters.offline.conversation import read_conversation
from gemini_companion.adapters.offline.wishes import Rename, Wish, plain_pattern, renaming, wish_of
from gemini_companion.adapters.offline.wording import wording_for
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.part import is_thought, response_of, text_of
from gemini_companion.engine.prompts.environment import ENVIRONMENT_TAG
from gemini_companion.sessions.models.port import OpenDocument

_LINES: Final = 40
"""Lines of a result that are quoted; of a longer one the first and the last."""


class Result(NamedTuple):
    """A call and what came of it."""

    name: str
    args: dict[str, Any]
    output: str
    error: str


def next_step(
    contents: Sequence[Content], documents: Sequence[OpenDocument], tools: frozenset[str]
) -> tuple[Part, ...] | str | None:
    """The parts of the next call, or what is said of results; `None` where the prompt asks for no tool.

    Pure, deterministic, never raises.
    """
    if not tools or not contents:
        return None
    results = _results(contents)
    if results:
        return _after_results(contents, results, documents, tools)
    prompt = read_conversation(contents).prompt
    wish = wish_of(prompt, tools, documents, _environment(contents))
    if isinstance(wish, Rename):
        return _renamed(wish, prompt, documents, tools)
    return _call(wish) if wish is not None else None


def _after_results(
    contents: Sequence[Content], results: Sequence[Result], documents: Sequence[OpenDocument], tools: frozenset[str]
) -> tuple[Part, ...] | str:
    """What follows from results: the change that a file was read for, or a report."""
    prompt = _prompt_behind(contents)
    wish = wish_of(prompt, tools, documents, _environment(contents))
    last = results[-1]
    if isinstance(wish, Rename) and last.name == "read_file" and not last.error:
        change = renaming(wish, str(last.args.get("file_path") or wish.path), last.output)
        if isinstance(change, Wish):
            return _call(change)
        return _said(prompt, [_no_change(wish, change)])
    return _said(prompt, [_report(result) for result in results])


def _renamed(
    wish: Rename, prompt: str, documents: Sequence[OpenDocument], tools: frozenset[str]
) -> tuple[Part, ...] | str:
    """The change at once where the file is open, else the call that reads it."""
    known = next((file for file in documents if wish.path and file.path.endswith(wish.path)), None)
    if known is None or not wish.path:
        return _call(Wish("read_file", {"file_path": wish.path})) if "read_file" in tools and wish.path else ""
    change = renaming(wish, known.path, known.text)
    return _call(change) if isinstance(change, Wish) else _said(prompt, [_no_change(wish, change)])


def _no_change(wish: Rename, why: str) -> str:
    if why == "part":
        return f"Nothing was changed: `{wish.old}` is part of longer names in `{wish.path}` too. That takes a model."
    return f"Nothing was changed: `{wish.old}` does not occur in `{wish.path}`."


def _report(result: Result) -> str:
    """One result, quoted."""
    if result.error:
        return f"`{result.name}` did not go ahead. It says:\n\n{_fenced(result.error)}"
    heads = {
        "run_shell_command": f"I ran `{result.args.get('command', '')}`. It put out:",
        "grep_search": f"I searched for `{plain_pattern(str(result.args.get('pattern', '')))}`:",
        "glob": f"I looked for `{result.args.get('pattern', '')}`:",
        "list_directory": f"In `{result.args.get('dir_path', '.')}`:",
        "read_file": f"`{result.args.get('file_path', '')}` holds:",
        "replace": f"`{result.args.get('file_path', '')}` was changed:",
        "write_file": f"`{result.args.get('file_path', '')}` was written:",
        "diagnostics": "The editor reports:",
        "recall": "I found, word for word:",
    }
    return f"{heads.get(result.name, f'`{result.name}` gave:')}\n\n{_fenced(result.output)}"


def _said(prompt: str, blocks: Sequence[str]) -> str:
    return "\n\n".join((wording_for(prompt).note, *blocks))


def _fenced(text: str) -> str:
    lines = text.rstrip().split("\n")
    if len(lines) > _LINES:
        left = len(lines) - _LINES
        lines = [*lines[: _LINES // 4], f"… {left} lines are left out here …", *lines[-(_LINES * 3 // 4) :]]
    body = "\n".join(lines)
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}\n{body}\n{fence}"


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _call(wish: Wish) -> tuple[Part, ...]:
    return ({"functionCall": {"name": wish.tool, "args": wish.args}},)


def _results(contents: Sequence[Content]) -> list[Result]:
    """The results that the newest content brings, with their calls; empty if it is a prompt."""
    newest = contents[-1]
    if newest.role != "user":
        return []
    parts = (part for content in contents[-2:-1] for part in content.parts)
    calls: list[dict[str, Any]] = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    found: list[Result] = []
    for number, part in enumerate(part for part in newest.parts if response_of(part) is not None):
        response = _fields(part.get("functionResponse"))
        call = calls[number] if number < len(calls) else {}
        fields = _fields(response.get("response"))
        found.append(
            Result(
                str(response.get("name") or call.get("name") or ""),
                _fields(call.get("args")),
                str(fields.get("output") or fields.get("content") or ""),
                str(fields.get("error") or ""),
            )
        )
    return found


def _prompt_behind(contents: Sequence[Content]) -> str:
    """The prompt of the turn whose results are here."""
    for place in range(len(contents) - 2, -1, -1):
        content = contents[place]
        if content.role == "user" and not any(response_of(part) for part in content.parts):
            return read_conversation(contents[: place + 1]).prompt
    return ""


def _environment(contents: Sequence[Content]) -> str:
    """The text about the workspace; it is the first content's."""
    texts = (text_of(part) or "" for part in contents[0].parts if not is_thought(part))
    return next((text for text in texts if text.lstrip().startswith(f"<{ENVIRONMENT_TAG}>")), "")


def _fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
