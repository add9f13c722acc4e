"""Variables in the texts of settings: `$NAME`, `${NAME}`, `${NAME:-default}`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

_VARIABLE: Final = re.compile(
    r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*+))?+\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))"
)
_NAMED: Final = re.compile(r"\$\{?[!#]?([A-Za-z_][A-Za-z0-9_]*)")


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A variable of the person's own that their settings refer to."""

    name: str
    value: str
    origin: str
    """Where it comes from, for people: `your environment`, `your ~/.gemini/.env`."""

    def __repr__(self) -> str:
        return f"Reference({self.name!r}, from {self.origin})"


def filled_in(
    text: str, value_of: Callable[[str], str | None], is_left: Callable[[str], bool] = lambda name: False
) -> str:
    """The text with its variables replaced, once. Unknown names without a default stay as written, and those that
    `is_left` names; an empty value counts.
    """
    if "$" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        name = match.group("braced") or match.group("bare")
        if is_left(name):
            return match.group()
        found = value_of(name)
        if found is not None:
            return found
        default: str | None = match.group("default")
        return match.group() if default is None else default

    return _VARIABLE.sub(replaced, text)


def names_in(text: str) -> tuple[str, ...]:
    """The names of the variables that a text, or a shell's line, refers to, each once."""
    return tuple(dict.fromkeys(_NAMED.findall(text))) if "$" in text else ()
