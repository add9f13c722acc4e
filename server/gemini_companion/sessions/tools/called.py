"""A call as a model wrote it, and as it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import msgspec

from gemini_companion.engine.escapes import value_for_model
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import call_of
from gemini_companion.engine.history.tool_entries import BEHIND, CallRecord
from gemini_companion.tools.tool import ToolCall

Response: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A call as it stands in an answer, with our id."""

    call: ToolCall
    wire_id: str | None
    """The model's own id; it may be missing or repeated."""
    fault: str = ""
    """What is wrong with the call itself, for the model."""
    in_place_of: str = ""
    """The tool that the model called, where a hook has this call made behind that one; its result is that one's."""

    @property
    def key(self) -> str:
        """Equal for calls of one tool with equal arguments."""
        return f"{self.call.name} {msgspec.json.encode(self.call.args, order='sorted').decode()}"

    def result(self, response: Response, media: tuple[Part, ...] = ()) -> Part:
        """The function response that answers it."""
        fields: dict[str, Any] = {} if self.wire_id is None else {"id": self.wire_id}
        fields |= {"name": self.in_place_of or self.call.name, "response": value_for_model(response)}
        return {"functionResponse": {**fields, "parts": list(media)} if media else fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A call with its result."""

    called: Called
    part: Part
    record: CallRecord
    acted: bool = False
    """It ran, and is one that leaves something behind."""


def called_in(parts: Iterable[Part], new_id: Callable[[str], str]) -> list[Called]:
    """The calls in an answer, each with an id of ours."""
    made = (wire for part in parts if (wire := call_of(part)) is not None)
    return [_called(wire, new_id("call"), number) for number, wire in enumerate(made)]


def called_behind(before: Called, name: str, args: Mapping[str, Any], new_id: Callable[[str], str]) -> Called:
    """The call that a hook wants made behind another one, whose result takes the place of that one's.

    Its number tells that, and the place of the call that it stands for.
    """
    call = ToolCall(call_id=new_id("call"), name=name, args=dict(args), number=before.call.number + BEHIND)
    return Called(call=call, wire_id=before.wire_id, in_place_of=before.in_place_of or before.call.name)


def _called(wire: Mapping[str, Any], call_id: str, number: int) -> Called:
    name, given, args = wire.get("name"), wire.get("id"), wire.get("args")
    is_right = args is None or isinstance(args, dict)
    return Called(
        call=ToolCall(
            call_id=call_id,
            name=name if isinstance(name, str) else "",
            args=cast("dict[str, Any]", args) if isinstance(args, dict) else {},
            number=number,
        ),
        wire_id=given if isinstance(given, str) and given else None,
        fault="" if is_right else "The arguments must be one JSON object. Call it again with one.",
    )
