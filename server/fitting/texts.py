"""What the fit reads: folders of texts by kind and source, conversations, and a few texts made on the spot."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from gemini_companion.engine.tokens.json_text import json_text

CONVERSATIONS = "conversation: "
"""How the kind of a conversation begins; the folder's name follows."""

_MADE_SIZE = 4_000
_MADE_OF_EACH = 4


class Sample(NamedTuple):
    """One text, or one conversation as the texts of its parts."""

    kind: str
    source: str
    """What must not be split between fitting and checking: a project, a translation, a conversation."""
    texts: tuple[str, ...]


def read_texts(folder: Path) -> Iterator[Sample]:
    """Yield the files of `folder`, laid out as `kind/source/…`. What is not UTF-8 is replaced."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        kind, source, *_ = path.relative_to(folder).parts
        yield Sample(kind, source, (path.read_bytes().decode("utf-8", "replace"),))


def read_conversations(folder: Path) -> Iterator[Sample]:
    """Yield the conversations under `folder` as the ledger counts them: system instruction and history, per part."""
    for path in sorted(folder.rglob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        if isinstance(document, dict) and "history" in document:
            yield Sample(CONVERSATIONS + path.parent.name, path.stem, tuple(_parts_of(document)))  # pyright: ignore[reportUnknownArgumentType]


def make_texts() -> Iterator[Sample]:
    """Yield random base64 and hexadecimal, of which no folder has enough, always the same."""
    chance = random.Random(0)  # not for secrets
    for index in range(_MADE_OF_EACH):
        data = chance.randbytes(_MADE_SIZE)
        yield Sample("base64", f"made{index % 2}", (base64.b64encode(data).decode(),))
        yield Sample("base64", f"lines{index % 2}", (base64.encodebytes(data).decode(),))
        yield Sample("hex", f"made{index % 2}", (data.hex(),))


def _parts_of(document: Mapping[str, Any]) -> Iterator[str]:
    instruction = document.get("systemInstruction")
    if isinstance(instruction, str):
        yield instruction
    elif _is_object(instruction):
        yield from _texts_of(instruction)
    for content in document["history"]:
        yield from _texts_of(content)


def _texts_of(content: Mapping[str, Any]) -> Iterator[str]:
    for part in content["parts"]:
        yield part["text"] if "text" in part else json_text(part.get("functionCall") or part.get("functionResponse"))


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
