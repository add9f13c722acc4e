"""`Content`: one entry of a conversation, in Gemini's JSON form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["user", "model"]

Part: TypeAlias = dict[str, Any]
"""One piece of a content, kept as the JSON object it arrived as, so that unknown fields survive.

Treat it as immutable. `engine.history.part` reads it.
"""


class _AbsentParts(tuple[Part, ...]):
    """The empty tuple that marks a missing key `parts`, which is not the same JSON as `[]`."""

    __slots__ = ()


ABSENT: Final[tuple[Part, ...]] = _AbsentParts()


class Content(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A role and its parts: `{"role": "user", "parts": [{"text": "hi"}]}`.

    Decode with `msgspec.convert(obj, Content)` or `msgspec.json.decode(data, type=Content)`; either raises
    `msgspec.ValidationError` for another role or for parts that are no JSON objects. Unknown fields of a part survive.
    """

    # The collector of cycles passes contents over (`gc=False`): JSON has none, and a long history has a great many.

    role: Role
    parts: tuple[Part, ...] = ABSENT


def user_text(text: str) -> Content:
    """A user content of one text part."""
    return Content(role="user", parts=({"text": text},))


def model_text(text: str) -> Content:
    """A model content of one text part."""
    return Content(role="model", parts=({"text": text},))


def merge_neighbours(contents: Iterable[Content]) -> list[Content]:
    """Join neighbouring contents of one role, as a request requires; a content without parts adds nothing."""
    merged: list[Content] = []
    last = ""
    for content in contents:
        role = content.role
        if role == last:
            merged[-1] = Content(role=role, parts=(*merged[-1].parts, *content.parts))
        else:
            merged.append(content)
            last = role
    return merged


def visible_text_of(parts: Iterable[Part]) -> str:
    """All text of some parts except thoughts, concatenated."""
    texts = (part.get("text") for part in parts if part.get("thought") is not True)
    return "".join(text for text in texts if isinstance(text, str))
