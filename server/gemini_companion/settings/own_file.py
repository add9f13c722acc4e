"""A settings file, changed for the person who asked: a key set or removed, a rule of consent more or less.

Comments and everything else stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

import msgspec

from gemini_companion.engine.errors import InvalidSettings, StorageFault
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.settings.jsonc import parse
from gemini_companion.settings.jsonc_edit import NotEditable, with_element, with_value, without_elements, without_value
from gemini_companion.settings.obeyed import gate
from gemini_companion.settings.objects import JsonObject, value_at
from gemini_companion.settings.reading import Aside, put_in_place, read_text, shown, unnoted
from gemini_companion.settings.tool_rules import RULES, rule_json

_BY_HAND: Final = "Correct the file, or add the rule to companion.tools.rules by hand."
_CORRECT: Final = "Correct the file first, or change it in an editor; nothing was written."


def rule_id(rule: ToolRule) -> str:
    """By which a rule of the user's file is taken back: equal rules have the same."""
    return f"user-{hashlib.sha256(msgspec.json.encode(rule)).hexdigest()[:16]}"


class OwnSettings:
    """A settings file of the user's. Blocks on a small file; for one thread at a time."""

    def __init__(self, file: Path, aside: Aside = unnoted) -> None:
        self._file = file
        self._aside = aside

    def add(self, rule: ToolRule) -> None:
        """Add a rule, unless it is there. Raises `InvalidSettings` if the file cannot be changed, `StorageFault`."""
        element = rule_json(rule)

        def changed(text: str) -> str:
            held = value_at(cast("JsonObject", parse(text)), RULES) if text.strip() else None
            return text if isinstance(held, list) and element in held else with_element(text, RULES, element)

        self._change(changed)

    def remove(self, unwanted: str) -> bool:
        """Take the rules with this id away; whether there were any. Raises `InvalidSettings`, `StorageFault`."""

        def changed(text: str) -> str:
            held = value_at(cast("JsonObject", parse(text)), RULES) if text.strip() else None
            return without_elements(text, RULES, [one for one in _elements(held) if _id_of(one) == unwanted])

        return self._change(changed)

    def set(self, path: tuple[str, ...], value: object) -> None:
        """Give a key a value. Raises `InvalidSettings` if the file cannot be changed, `StorageFault`."""
        self._change(lambda text: with_value(text, path, value), _CORRECT)

    def unset(self, path: tuple[str, ...]) -> bool:
        """Remove a key; whether it was there. Raises `InvalidSettings`, `StorageFault`."""
        return self._change(lambda text: without_value(text, path), _CORRECT)

    def put_in(self, path: tuple[str, ...], element: object) -> bool:
        """Add an element to a list; whether it was not there yet. Raises `InvalidSettings`, `StorageFault`."""

        def changed(text: str) -> str:
            held = value_at(cast("JsonObject", parse(text)), path) if text.strip() else None
            return text if element in _elements(held) else with_element(text, path, element)

        return self._change(changed, _CORRECT)

    def take_out(self, path: tuple[str, ...], element: object) -> bool:
        """Remove an element from a list; whether it was there. Raises `InvalidSettings`, `StorageFault`."""
        return self._change(lambda text: without_elements(text, path, [element]) if text.strip() else text, _CORRECT)

    def _change(self, change: Callable[[str], str], hint: str = _BY_HAND) -> bool:
        text = read_text(self._file) or ""
        try:
            new = change(text)
        except NotEditable as fault:
            raise InvalidSettings(f"{shown(self._file)}: {fault}", hint=hint) from None
        except (ValueError, AttributeError) as fault:
            raise InvalidSettings(f"{shown(self._file)}: is not valid JSON ({fault})", hint=hint) from None
        if new == text:
            return False
        try:
            real = Path(os.path.realpath(self._file))
            _replace(real, new, self._aside)
            gate.wrote(real, lambda data: data.removeprefix(b"\xef\xbb\xbf") == new.encode())
        except OSError as fault:
            raise StorageFault(f"{shown(self._file)} could not be written ({fault.strerror or fault}).") from None
        return True


def _elements(held: object) -> list[object]:
    return cast("list[object]", held) if isinstance(held, list) else []


def _id_of(element: object) -> str | None:
    try:
        return rule_id(msgspec.convert(element, ToolRule))
    except msgspec.ValidationError:
        return None


def _replace(file: Path, text: str, aside: Aside) -> None:
    """Give a file a new text at once and durably. A link stays one: its target is replaced; so do mode and mark."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode, mark = 0o600, b""
    with contextlib.suppress(FileNotFoundError):
        mode = file.stat().st_mode & 0o777
        with file.open("rb") as old:
            mark = b"\xef\xbb\xbf" if old.read(3) == b"\xef\xbb\xbf" else b""
    put_in_place(file, mark + text.encode("utf-8"), aside, mode)
