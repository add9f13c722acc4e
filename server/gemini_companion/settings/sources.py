"""Where a layer of settings comes from, and how a fault in it is pointed at."""

from __future__ import annotations

from collections.abc import Iterable
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

    def problems(self, misfits: Iterable[Misfit]) -> list[InvalidSettings]:
        """What is wrong with what was read, and where, a sentence each."""
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

    def problems(self, misfits: Iterable[Misfit]) -> list[InvalidSettings]:
        """Sentences as in `/home/me/.gemini/settings.json:3:5: model.name: expected a text`."""
        found = list(misfits)
        offsets = locate(self._text, [misfit.path for misfit in found]) if found else {}
        return [InvalidSettings(f"{self._at(offsets.get(misfit.path, 0))}: {_said(misfit)}") for misfit in found]

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

    def problems(self, misfits: Iterable[Misfit]) -> list[InvalidSettings]:
        """Sentences that name the section, and the key as the editor knows it below it."""
        return [InvalidSettings(f"the editor's {EDITOR_SECTION} settings: {_said(misfit)}") for misfit in misfits]


def _said(misfit: Misfit) -> str:
    """A misfit in words."""
    return f"{misfit.key}: {misfit.what}" if misfit.path else misfit.what
