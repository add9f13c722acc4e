"""What a stand-in model understands of a request for a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import text_of
from gemini_companion.sessions.models.port import ModelRequest

_OPEN: Final = re.compile(r"^<<<content (?P<index>\d+)\b[^\n]*?\b(?P<role>user|model)\b[^\n]*$", re.MULTILINE)
_CLOSE: Final = re.compile(r"^content \d+\b[^\n]*>>>$", re.MULTILINE)
_EARLIER: Final = re.compile(r"^<<<earlier snapshot [^\n]*\n", re.MULTILINE)
_EARLIER_END: Final = re.compile(r"\nearlier snapshot [^\n]*>>>$", re.MULTILINE)
_CALL: Final = re.compile(r"\A\[call (?P<name>\S*) (?P<args>\{.*\})\]\Z", re.DOTALL)
_RESULT: Final = re.compile(r"\A\[result (?P<name>[^\]\n]*)\]\n?")
_BEGIN, _END = "<state_snapshot>", "</state_snapshot>"


class Reading(msgspec.Struct, frozen=True):
    """A request, taken apart."""

    contents: tuple[Content, ...]
    """What is to be summarised."""
    earlier: str
    """The snapshot of what came before, `""` for none."""
    request: str
    """What is asked last."""
    is_first: bool
    """It begins a snapshot; else it asks for the same again, or for better."""

    @property
    def text(self) -> str:
        """Everything that may be said of the conversation."""
        return "\n".join((self.earlier, *map(text_of_content, self.contents)))


def read_request(request: ModelRequest) -> Reading:
    """Take a request apart: history quoted between fences, or given as contents of its own with a question behind."""
    asked = _text(request.contents[-1])
    first = _text(request.contents[0])
    if _OPEN.search(first):
        contents = tuple(_quoted(first))
        tail = first[max((match.end() for match in _CLOSE.finditer(first)), default=0) :]
        is_first = len(request.contents) == 1
        return Reading(contents, _earlier_in(first), tail if is_first else asked, is_first)
    history = list(request.contents[:-1])
    is_first = not (history and history[-1].role == "model" and _snapshot_in(_text(history[-1])) is not None)
    if not is_first:
        history.pop()  # the draft that this asks to better
    earlier = ""
    kept: list[Content] = []
    for content in history:
        found = _snapshot_in(_text(content)) if content.role == "user" else None
        if found is None:
            kept.append(content)
        else:
            earlier = found
    return Reading(tuple(kept), earlier, asked, is_first)


def _text(content: Content) -> str:
    return "\n".join(text for part in content.parts if (text := text_of(part)) is not None)


def _snapshot_in(text: str) -> str | None:
    """What stands between the tags of the first snapshot; `None` if there is none."""
    start = text.find(_BEGIN)
    end = -1 if start < 0 else text.find(_END, start)
    return None if end < 0 else text[start + len(_BEGIN) : end]


def _earlier_in(text: str) -> str:
    """The earlier snapshot that a request quotes, `""` if it quotes none."""
    opening = _EARLIER.search(text)
    closing = None if opening is None else _EARLIER_END.search(text, opening.end() - 1)
    return text[opening.end() : max(opening.end(), closing.start())] if opening and closing else ""


def _quoted(text: str) -> Iterator[Content]:
    """The quoted contents as they were, as far as the quotation says."""
    for opening in _OPEN.finditer(text):
        closing = re.compile(rf"^content {opening['index']}\b[^\n]*>>>$", re.MULTILINE).search(text, opening.end())
        body = text[opening.end() + 1 : closing.start() - 1 if closing else len(text)]
        role = "user" if opening["role"] == "user" else "model"
        yield Content(role=role, parts=(_part(body),))


def _part(body: str) -> dict[str, object]:
    if (call := _CALL.match(body)) is not None:
        try:
            return {"functionCall": {"name": call["name"], "args": msgspec.json.decode(call["args"])}}
        except msgspec.DecodeError:
            return {"text": body}
    if (result := _RESULT.match(body)) is not None:
        return {"functionResponse": {"name": result["name"], "response": {"output": body[result.end() :]}}}
    return {"text": body}


def bullets(snapshot: str) -> Sequence[tuple[str, str]]:
    """The lines of a snapshot that say something, each with its section."""
    section = ""
    found: list[tuple[str, str]] = []
    for line in snapshot.splitlines():
        stripped = line.strip()
        tag = re.match(r"[<‹](/?)([a-z_]+)>\Z", stripped)
        if tag:
            section = "" if tag[1] else tag[2]
        elif stripped.startswith("- ") and section:
            found.append((section, stripped[2:]))
    return found
