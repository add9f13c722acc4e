"""One request, as the emulator got it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass
class RecordedRequest:
    """One request to a model, as it came."""

    index: int
    method: str
    model: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Json
    vertex: bool
    status: int = 0
    """What it was answered with; 0 while that is open."""
    hung_up: bool = False
    """True if the client closed the connection before the answer was complete."""

    @property
    def contents(self) -> list[Json]:
        """The conversation."""
        return list(self.body.get("contents", []))

    @property
    def system(self) -> str:
        """The system instruction's text."""
        return _text_of(self.body.get("systemInstruction", {}))

    @property
    def prompt(self) -> str:
        """The text of the last content."""
        return _text_of(self.contents[-1]) if self.contents else ""

    @property
    def text(self) -> str:
        """All text of the conversation."""
        return "\n".join(_text_of(content) for content in self.contents)

    @property
    def declarations(self) -> list[Json]:
        """The functions that it offers."""
        return [declared for tool in self.body.get("tools", []) for declared in tool.get("functionDeclarations", [])]

    @property
    def calls(self) -> list[Json]:
        """Every part of it that calls a function, in order, signatures included."""
        return [part for content in self.contents for part in content["parts"] if "functionCall" in part]

    @property
    def responses(self) -> list[Json]:
        """The function responses of its last content, in order."""
        last = self.contents[-1]["parts"] if self.contents else []
        return [part["functionResponse"] for part in last if "functionResponse" in part]

    @property
    def characters(self) -> int:
        """Characters of the conversation's text."""
        return len(self.text)


def _text_of(content: Json) -> str:
    return "\n".join(
        part["text"]
        for part in content.get("parts", [])
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    )
