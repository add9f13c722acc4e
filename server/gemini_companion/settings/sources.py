"""Where a layer of settings comes from, and how a fault in it is pointed at."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.jsonc import JsonFault, locate, parse, position
from gemini_companion.settings.reading import read_text, shown
from gemini_companion.settings.validation import Misfit

EDITOR_SECTION: Final = "geminiCompanion"
"""The name of our section in the editor's configuration."""


class Source(Protocol):
    """A place that settings come from."""

    def read(self) -> object:
        """The JSON value that stands there, an empty object if nothing does. Raises `InvalidSettings`."""
        ...

    def problem(self, misfit: Misfit) -> InvalidSettings:
        """What is wrong with what was read, and where."""
        ...


class FileSource:
    """A settings file: JSON, comments allowed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = ""

    def read(self) -> object:
        """The file's value, an empty object if there is no such file. Raises `InvalidSettings`."""
        text = read_text(self._path)
        if text is None:
            return {}
        self._text = text
        try:
            return parse(text)
        except JsonFault as fault:
            raise InvalidSettings(f"{self._at(fault.offset)}: is not valid JSON: {fault.what}") from None

    def problem(self, misfit: Misfit) -> InvalidSettings:
        """A sentence as in `/home/me/.gemini/settings.json:3:5: model.name: expected a text`."""
        offset = locate(self._text, misfit.path) if misfit.path else 0
        place = shown(self._path) if offset is None else self._at(offset)
        return InvalidSettings(f"{place}: {misfit.key}: {misfit.what}" if misfit.path else f"{place}: {misfit.what}")

    def _at(self, offset: int) -> str:
        line, column = position(self._text, offset)
        return f"{shown(self._path)}:{line}:{column}"


class EditorSource:
    """The editor's section, which came over the wire."""

    def __init__(self, section: object) -> None:
        self._section = section

    def read(self) -> object:
        """The section as it is, an empty object if the editor has none."""
        return {} if self._section is None else self._section

    def problem(self, misfit: Misfit) -> InvalidSettings:
        """A sentence that names the key as the editor shows it."""
        key = f"{EDITOR_SECTION}.{misfit.key}" if misfit.path else EDITOR_SECTION
        return InvalidSettings(f"the editor's settings: {key}: {misfit.what}")
