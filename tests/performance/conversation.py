"""The conversation that is measured: a description, from which this module and `gemini_cli.mjs` make the same contents.

Prompts, answers, and in each block of six one call of a tool with its output; every text has 1,000 characters, some of
them Chinese.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

Json = dict[str, Any]

DESCRIPTION: Final[Json] = {
    "seed": 42,
    "characters": 1_000,
    "texts": 997,
    "lineBreaks": 0.08,
    "tool": "run_shell_command",
    "block": ["prompt", "call", "output", "answer", "prompt", "answer"],
    "words": [
        "parser",
        "cursor",
        "branch",
        "merge",
        "commit",
        "thread",
        "socket",
        "buffer",
        "render",
        "layout",
        "schema",
        "column",
        "migrate",
        "rollback",
        "retry",
        "timeout",
        "payload",
        "header",
        "closure",
        "iterator",
        "assert",
        "fixture",
        "mock",
        "漢字",
        "fn",
    ],
}
"""`texts` are made by a random generator; the contents take them in turns, each behind its own number, so that no two
are alike.
"""

TEXT_ONLY: Final = ("prompt", "answer")
"""The block of a chat in which no tool is called."""

_MODULUS: Final = 2**32


def make_contents(
    count: int, *, characters: int = DESCRIPTION["characters"], block: Sequence[str] = tuple(DESCRIPTION["block"])
) -> list[Json]:
    """The first `count` contents, as JSON objects, with texts of `characters` at most; what they are, by turns, is in
    `block`.
    """
    return [_content(index, block[index % len(block)], characters) for index in range(count)]


def fingerprint(contents: list[Json]) -> str:
    """SHA-256 of the compact JSON of the first thousand, to see that both sides made the same."""
    text = json.dumps(contents[:1_000], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _content(index: int, kind: str, characters: int) -> Json:
    texts = _texts()
    text = f"{index} {texts[index % len(texts)]}"[:characters]
    name, call_id = DESCRIPTION["tool"], f"call-{index // len(DESCRIPTION['block'])}"
    match kind:
        case "call":
            return {
                "role": "model",
                "parts": [{"functionCall": {"id": call_id, "name": name, "args": {"command": text}}}],
            }
        case "output":
            return {
                "role": "user",
                "parts": [{"functionResponse": {"id": call_id, "name": name, "response": {"output": text}}}],
            }
        case _:
            return {"role": "user" if kind == "prompt" else "model", "parts": [{"text": text}]}


@cache
def _texts() -> tuple[str, ...]:
    state = DESCRIPTION["seed"]
    words = DESCRIPTION["words"]

    def chance() -> float:
        nonlocal state
        state = (state * 1_664_525 + 1_013_904_223) % _MODULUS
        return state / _MODULUS

    def text() -> str:
        said = ""
        while len(said) < DESCRIPTION["characters"]:
            word = words[int(chance() * len(words))]
            said += word + ("\n" if chance() < DESCRIPTION["lineBreaks"] else " ")
        return said[: DESCRIPTION["characters"]]

    return tuple(text() for _ in range(DESCRIPTION["texts"]))
