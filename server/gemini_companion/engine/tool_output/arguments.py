"""The arguments of a call, shortened: each that is long by its beginning and its end, with what it was."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from gemini_companion.engine.compression.truncate import HEAD_SHARE, MINIMUM_OUTPUT_CHARACTERS
from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tool_output.levels import level
from gemini_companion.engine.tool_output.preview import PREVIEW_CHARACTERS, preview

_SHORT: Final = 200
"""Characters up to which an argument stays."""

_MOST_NAMES: Final = 32
"""Arguments that are shown one by one; more are shown as one text."""

_DIGITS: Final = 16


def shortened_arguments(args: Mapping[str, Any], *, room: int, reference: str) -> str:
    """The JSON of the arguments in about `room` characters, never less than a preview of each long one.

    Short ones stay as they are. `reference` is how the model asks for all of them.
    """
    texts = {name: value if isinstance(value, str) else json_text(value) for name, value in args.items()}
    if len(texts) > _MOST_NAMES or any(len(name) > _SHORT for name in texts):
        return json_text({"omitted": _shortened(json_text(dict(args)), room, reference)})
    most = max(_SHORT, level([len(text) for text in texts.values()], room))
    return json_text(
        {
            name: value if len(texts[name]) <= most else _shortened(texts[name], most, reference)
            for name, value in args.items()
        }
    )


def _shortened(text: str, room: int, reference: str) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    opening = f"[{len(text):,} characters, SHA-256 {digest}…, shortened here. {reference} gives them back.]\n"
    if room < MINIMUM_OUTPUT_CHARACTERS:
        return opening + preview(text) if len(text) > PREVIEW_CHARACTERS else text
    head = int(room * HEAD_SHARE)
    return f"{opening}{text[:head]}\n[…]\n{text[len(text) - (room - head) :]}"
