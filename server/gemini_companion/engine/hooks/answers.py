"""What a hook's end means: its output, or what went wrong. Everything that a hook writes is somebody else's text."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias, cast

import msgspec

from gemini_companion.engine.hooks.events import HookEvent

HookOutput: TypeAlias = dict[str, Any]
"""The JSON object that a hook answers with."""

MAX_OUTPUT_BYTES: Final = 1_048_576
"""What a hook may write to each of its streams."""
_DEEPEST: Final = 40
_LONGEST_TEXT: Final = 100_000
_BLOCK: Final = 2
"""The exit code that says no."""


class HookEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a hook's process ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    """`None` where a signal ended it."""
    timed_out: bool = False
    flooded: bool = False
    """It wrote more than `MAX_OUTPUT_BYTES`, and was ended."""
    failed: str = ""
    """Why it could not be started."""
    withheld: str = ""
    """Why it must not run before the person agrees."""
    duration_ms: int = 0


class Answer(NamedTuple):
    """What a hook said."""

    output: HookOutput | None
    """`None` where it said nothing that counts."""
    fault: str = ""
    """What went wrong with it, for people."""


def answer_of(end: HookEnd, event: HookEvent = "BeforeTool") -> Answer:
    """Read a hook's end.

    A JSON object is its output, also behind lines of log. Other text is a message, or a refusal by its exit code: 2
    always refuses, 1 warns, any other above 0 refuses if it says why. Of a hook that did not end by itself nothing
    counts.
    """
    if end.failed:
        return Answer(None, end.failed)
    if end.withheld and event != "BeforeTool":
        return Answer(None, end.withheld)
    if end.withheld:  # it may have been there to refuse the call, so the person decides in its place
        return Answer({"decision": "ask", "reason": end.withheld}, end.withheld)
    if end.timed_out:
        return Answer(None, "it took too long and was ended")
    if end.flooded:
        return Answer(None, f"it wrote more than {MAX_OUTPUT_BYTES:,} bytes and was ended")
    if end.exit_code is None:
        return Answer(None, "a signal ended it")
    fault = f"exit code {end.exit_code}" if end.exit_code else ""
    text = end.stdout.strip() or end.stderr.strip()
    value = _json_of(text)
    if isinstance(value, dict):
        output = cast("HookOutput", value)
        if end.exit_code == _BLOCK and not _says(output):
            output = {**output, "decision": "deny", "reason": _reason(output, end)}
        return Answer(output, fault)
    if end.exit_code == _BLOCK:
        return Answer({"decision": "deny", "reason": _cut(end.stderr.strip() or text)}, fault)
    if not text or value is None or isinstance(value, int | float):
        return Answer(None, fault)
    if end.exit_code == 0:
        return Answer({"decision": "allow", "systemMessage": _cut(text)})
    if end.exit_code == 1:
        return Answer({"decision": "allow", "systemMessage": f"Warning: {_cut(text)}"}, fault)
    return Answer({"decision": "deny", "reason": _cut(text)}, fault)


def _says(output: HookOutput) -> bool:
    return isinstance(output.get("decision"), str) and bool(output["decision"])


def _reason(output: HookOutput, end: HookEnd) -> str:
    given = output.get("reason")
    return given if isinstance(given, str) and given else _cut(end.stderr.strip())


def _json_of(text: str) -> object:
    """The JSON value that the text is, or that begins at its first line with a brace; else the text. Too deep a one
    is text.
    """
    lines = text.splitlines(keepends=True)
    first = next((number for number, line in enumerate(lines) if line.lstrip().startswith("{")), 0)
    for candidate in dict.fromkeys((text, "".join(lines[first:]))):
        try:
            value: object = msgspec.json.decode(candidate.encode("utf-8", "replace"))
        except (msgspec.DecodeError, RecursionError):
            continue
        return text if _is_deep(value) else value
    return text


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[object] = []
        for one in level:
            if isinstance(one, dict):
                inner += cast("dict[str, object]", one).values()
            elif isinstance(one, list):
                inner += cast("list[object]", one)
        if not inner:
            return False
        level = inner
    return True


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
