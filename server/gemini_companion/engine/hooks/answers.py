"""What a hook's end means: its output, or what went wrong. Everything that a hook writes is somebody else's text."""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, cast

import msgspec

from gemini_companion.engine.escapes import json_with_whole_signs, well_formed
from gemini_companion.engine.hooks.events import HookEvent

HookOutput: TypeAlias = dict[str, Any]
"""The JSON object that a hook answers with."""

MAX_OUTPUT_BYTES: Final = 1_048_576
"""What is kept of each of a hook's streams: the end, where its answer stands."""
MAX_WRITTEN_BYTES: Final = 64 * MAX_OUTPUT_BYTES
"""What a hook may write to each of its streams."""
_DEEPEST: Final = 40
_LONGEST_TEXT: Final = 100_000
_BLOCK: Final = 2
"""The exit code that says no."""
_ANSWERS: Final = frozenset({
    "continue", "decision", "hookSpecificOutput", "permissionDecision", "reason", "stopReason", "suppressOutput",
    "systemMessage",
})  # fmt: skip
"""Fields of which an answer has one; an object without any may be a line of a log."""
_TRIES: Final = 200
"""Lines that begin as an object does and are none, after which no more is looked for."""
_WIDE: Final = (  # UTF-32's mark begins as UTF-16's does
    *((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
    *((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
)
_NULS: Final = 0.4
"""The share of NULs among the high bytes of UTF-16 from which on it is known without a mark."""
_BLANK: Final = "".join(map(chr, range(0x21))) + "\x7f\ufeff"
"""What may stand around a text and says nothing: blanks, control signs, byte order marks."""
_AROUND: Final = _BLANK + "".join(map(chr, range(0xDC80, 0xDD00)))
"""And around an answer, also bytes that are no text."""
_DIGITS: Final = 18
_RANKS: Final = {"": 0, "approve": 1, "allow": 1, "ask": 2, "deny": 4, "block": 4}
_UNKNOWN: Final = 3
"""The rank of a decision of which nobody knows what it means."""
_STYLES: Final = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\))")
_REFUSES: Final = re.compile(
    r"(?:^|[{,])[ \t]{0,9}[\\\"']{0,4}(?:permissionD|d)ecision[\\\"']{0,4}[ \t]{0,9}[:=][ \t]{0,9}[\\\"']{0,4}"
    r"(?:deny|block)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A refusal in what is no JSON, or not all of it: `{'decision': 'deny'}`, `decision: deny`."""


def _number(written: str) -> float | None:
    number = float(written)
    return number if math.isfinite(number) else None


_LENIENT: Final = json.JSONDecoder(
    strict=False,
    parse_constant=lambda _: None,
    parse_float=_number,
    parse_int=lambda digits: int(digits) if len(digits) <= _DIGITS else _number(digits),
)
"""Takes control signs in strings, and what follows the value."""


class HookEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a hook's process ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    """`None` where a signal ended it."""
    timed_out: bool = False
    flooded: bool = False
    """It wrote more than `MAX_WRITTEN_BYTES`, and was ended."""
    is_cut: bool = False
    """It wrote more than `MAX_OUTPUT_BYTES`, of which the beginning was left out."""
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


def text_of(data: bytes, start: bytes) -> str:
    """What a hook wrote to a stream, which began with `start`.

    UTF-8, or what its byte order mark or its NULs say. Of a byte that is no text half of a surrogate pair stays, for
    `answer_of`.
    """
    for mark, encoding in _WIDE:
        if start.startswith(mark):
            return data.decode(encoding, "replace")
    for encoding, low, high in (("utf-16-le", data[::2], data[1::2]), ("utf-16-be", data[1::2], data[::2])):
        # UTF-16 without a mark: of a western text half of the bytes are NUL.
        if len(low) == len(high) and b"\0" not in low and high.count(0) > _NULS * len(high):
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "surrogateescape")


def answer_of(end: HookEnd, event: HookEvent = "BeforeTool") -> Answer:
    """Read a hook's end.

    A JSON object is its output, also between lines of log. Other text is a message, or a refusal by its exit code: 2
    always refuses, 1 warns, any other above 0 refuses if it says why. Of a hook that did not end by itself nothing
    counts but a refusal.
    """
    if end.failed:
        return Answer(None, end.failed)
    if end.withheld and event != "BeforeTool":
        return Answer(None, end.withheld)
    if end.withheld:  # it may have been there to refuse the call, so the person decides in its place
        return Answer({"decision": "ask", "reason": end.withheld}, end.withheld)
    fault = (
        "it took too long and was ended" if end.timed_out
        else f"it wrote more than {MAX_WRITTEN_BYTES:,} bytes and was ended" if end.flooded
        else "a signal ended it" if end.exit_code is None
        else ""
    )  # fmt: skip
    said = end.stdout.strip(_BLANK) or end.stderr.strip(_BLANK)
    value = _json_of(said)
    if not _is_answer(value) and end.stdout.strip(_BLANK):
        other = _json_of(end.stderr)
        value = other if _rank(other) >= _RANKS["deny"] else value
    if fault:
        refusal = cast("HookOutput", value) if _rank(value) >= _RANKS["deny"] else None
        return Answer(refusal and _decided(refusal), fault)
    fault = f"exit code {end.exit_code}" if end.exit_code else ""
    if isinstance(value, dict):
        output = _decided(cast("HookOutput", value))
        if end.exit_code == _BLOCK and _rank(output) < _RANKS["deny"]:
            return Answer({**output, "decision": "deny", "reason": _reason(output, end)}, fault)
        if _rank(output) == _UNKNOWN:
            fault = fault or f"it decided {_shown(str(output['decision']))[:80]!r}, which means nothing"
            if event == "BeforeTool":  # it may have meant to refuse the call, so the person decides
                return Answer({**output, "decision": "ask", "reason": f"Of a hook: {fault}."}, fault)
        return Answer(output, fault)
    if end.is_cut and not fault:
        fault = f"it wrote more than {MAX_OUTPUT_BYTES:,} bytes, and no answer stands in the last ones"
        if event == "BeforeTool" and end.exit_code == 0:  # what was left out may have refused the call
            return Answer({"decision": "ask", "reason": f"Of a hook: {fault}."}, fault)
    text = _shown(said)
    if end.exit_code == _BLOCK:
        return Answer({"decision": "deny", "reason": _shown(end.stderr.strip(_BLANK)) or text}, fault)
    if not said or value is None or isinstance(value, int | float):
        return Answer(None, fault)
    if end.exit_code == 0:
        if said.startswith("{") and not fault:
            fault = "its answer is no JSON"
        return Answer({"decision": "allow", "systemMessage": text}, fault)
    if end.exit_code == 1:
        return Answer({"decision": "allow", "systemMessage": f"Warning: {text}"}, fault)
    return Answer({"decision": "deny", "reason": text}, fault)


def _is_answer(value: object) -> bool:
    return isinstance(value, dict) and not _ANSWERS.isdisjoint(cast("HookOutput", value))


def _decision(output: Mapping[str, Any]) -> tuple[str, object]:
    """The strictest decision that an output has, also as Claude's hooks write it, and the reason beside it."""
    inner = output.get("hookSpecificOutput")
    specific = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    given = [(output.get("decision"), output.get("reason"))]
    given += [(one.get("permissionDecision"), one.get("permissionDecisionReason")) for one in (output, specific)]
    # What is no text, such as `false`, is none that is known.
    decisions = [("" if name is None else str(name).strip().lower(), reason) for name, reason in given]
    return max(decisions, key=lambda one: _RANKS.get(one[0], _UNKNOWN))


def _rank(value: object) -> int:
    return _RANKS.get(_decision(cast("HookOutput", value))[0], _UNKNOWN) if isinstance(value, dict) else 0


def _decided(output: HookOutput) -> HookOutput:
    """The output with its strictest decision as `decision`."""
    decision, reason = _decision(output)
    if not decision or output.get("decision") == decision:
        return output
    return {**output, "decision": decision, "reason": reason or output.get("reason", "")}


def _reason(output: HookOutput, end: HookEnd) -> str:
    given = output.get("reason")
    return given if isinstance(given, str) and given else _shown(end.stderr.strip(_BLANK))


def _json_of(text: str) -> object:
    """The JSON value that the text is, or the answer among the objects in it; else the text. Too deep a one is text.

    Of several answers the strictest counts, of equally strict ones the last.
    """
    # What one program wrote as UTF-16 may stand among UTF-8.
    source = _STYLES.sub("", text).strip(_AROUND).replace("\0", "")
    found: object = None
    try:
        value: object = msgspec.json.decode(source)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        objects = list(_objects(source))
        answers = [one for one in objects if _is_answer(one)]
        found = max(reversed(answers), key=_rank) if answers else next(iter(objects), None)
        if found is not None and not _is_deep(found):
            found = msgspec.json.decode(json_with_whole_signs(json.dumps(found).encode()))
            value = found
        else:
            value = text
    else:
        if _is_deep(value):
            return text
        if isinstance(value, dict):
            return cast("object", value)
    if not _rank(value) and _REFUSES.search(source):
        return {"reason": _shown(text), **(cast("HookOutput", found) if found else {}), "decision": "deny"}
    return value


def _objects(source: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that begin a line, and answers that begin within one, with nothing behind them on their last; a
    refusal wherever it stands.
    """
    at = past = tries = 0
    for line in source.splitlines(keepends=True):
        start, at = at, at + len(line)
        while tries < _TRIES and (begin := source.find("{", max(start, past), at)) >= 0:
            before = source[start:begin].strip(_AROUND)
            try:
                value, past = _LENIENT.raw_decode(source, begin)
            except (ValueError, RecursionError):
                tries += 1
                break
            end_of_line = source.find("\n", past)
            behind = source[past : end_of_line if end_of_line >= 0 else None].strip(_AROUND)
            if _rank(value) >= _RANKS["deny"] or (not behind and (not before or _is_answer(value))):
                yield value


def _shown(text: str) -> str:
    """The text as people see it, cut."""
    return well_formed(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…")


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
