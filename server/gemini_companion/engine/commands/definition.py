"""A command file: what a table of TOML says, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gemini_companion.engine.commands.expansion import pieces_of
from gemini_companion.engine.commands.naming import flattened

MAX_PROMPT: Final = 200_000
"""Characters."""


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """What a command file says."""

    prompt: str
    description: str
    """One line; empty if it gives none."""


def definition_of(table: Mapping[str, Any]) -> Definition:
    """The command that a table defines. Raises `ValueError` that says what is wrong with it."""
    prompt, description = table.get("prompt"), table.get("description", "")
    if prompt is None:
        raise ValueError("it has no prompt")
    if not isinstance(prompt, str):
        raise ValueError("its prompt is no text")  # noqa: TRY004
    if not prompt.strip():
        raise ValueError("its prompt is empty")
    if len(prompt) > MAX_PROMPT:
        raise ValueError(f"its prompt has more than {MAX_PROMPT:,} characters")
    if not isinstance(description, str):
        raise ValueError("its description is no text")  # noqa: TRY004
    pieces_of(prompt)
    return Definition(prompt=prompt, description=flattened(description))


def line_of(text: str, key: str) -> int:
    """The line of a TOML text in which a key's value begins, from 1; 1 where the key is not given."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith(key) and line.lstrip()[len(key) :].lstrip().startswith("="):
            is_below = line.rstrip()[-3:] in ('"""', "'''") and line.count(line.rstrip()[-3:]) == 1
            return number + is_below
    return 1
