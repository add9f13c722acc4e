"""The sources of settings layers, and how they locate a fault."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.jsonc import JsonFault, locate, parse, position, strip_comments
from gemini_companion.settings.objects import KeyPath, spelled
from gemini_companion.settings.places import why_unsafe
from gemini_companion.settings.reading import read_text, shown
from gemini_companion.settings.strictness import is_harmless, is_known, with_nothing_usable
from gemini_companion.settings.validation import Misfit

EDITOR_SECTION: Final = "geminiCompanion"
"""The name of the editor's section for this server."""


class Source(Protocol):
    """A source of one layer."""

    def read(self) -> object:
        """The JSON value of the layer, an empty object if there is none. Raises `InvalidSettings`."""
        ...

    @property
    def is_there(self) -> bool:
        """Whether the last reading found a layer, good or not."""
        ...

    @property
    def doubled(self) -> Sequence[Misfit]:
        """The keys of what was read that have two values, of which none is lost or it does no harm."""
        ...

    @property
    def clashes(self) -> Container[KeyPath]:
        """Those of which one would be lost: nothing can be used in their place, so the strictest value holds."""
        ...

    def problems(self, misfits: Iterable[Misfit]) -> list[InvalidSettings]:
        """A fault for each misfit of what was read, with its position as far as the source has one."""
        ...

    def remark(self, paths: Iterable[KeyPath]) -> InvalidSettings:
        """A warning that these keys have no effect yet, with their lines as far as the source has any."""
        ...

    @property
    def path(self) -> Path | None:
        """The file, if the layer is one."""
        ...

    def lines(self, paths: Iterable[KeyPath]) -> dict[KeyPath, int]:
        """The lines of keys of what was read, from 1, as far as the source has any."""
        ...


class BlankFile(InvalidSettings):
    """A file with nothing in it: whoever made it forbade nothing yet; or it lost what it held."""


def _says_something(text: str) -> bool:
    try:
        return bool(strip_comments(text).strip())
    except JsonFault:
        return True


def _remark(source: str, places: Iterable[str]) -> InvalidSettings:
    return InvalidSettings(f"{source}: nothing uses this yet, so it has no effect: {', '.join(places)}")


class FileSource:
    """A settings file: JSON, comments allowed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = ""
        """Of the last reading that `parse` accepted: positions are looked up in it."""
        self.is_there = False
        self.doubled: Sequence[Misfit] = ()
        self.clashes: Container[KeyPath] = ()

    def read(self) -> object:
        """The file's value, an empty object if there is no such file. Raises `InvalidSettings`."""
        self.is_there = True
        text = read_text(self._path, self._refuse)
        if text is None:
            self.is_there = False
            return {}
        doubled: dict[KeyPath, bool] = {}
        try:
            value = parse(text, doubled)
        except JsonFault as fault:
            message = f"{self._at(fault.offset, text)}: is not valid JSON: {fault.what}"
            raise (InvalidSettings if _says_something(text) else BlankFile)(message) from None
        self._text = text
        known = [path for path in doubled if is_known(path)]
        self.clashes = frozenset(path for path in known if doubled[path] and not is_harmless(path))
        self.doubled = [
            Misfit(path, f"stands there twice; {'the last one counts' if doubled[path] else 'both count'}")
            for path in known
            if path not in self.clashes
        ]
        for path in known:
            if path in self.clashes:
                # Of a server none of it counts: what is left might be more than was meant.
                value = with_nothing_usable(value, path[:2] if path[0] == "mcpServers" else path)
        return value

    def problems(self, misfits: Iterable[Misfit]) -> list[InvalidSettings]:
        """Faults such as `/home/me/.gemini/settings.json:3:5: model.name: expected a text`."""
        found = list(misfits)
        offsets = locate(self._text, [misfit.path for misfit in found]) if found else {}
        return [
            InvalidSettings(f"{self._at(offsets.get(misfit.path, 0), self._text)}: {_described(misfit)}")
            for misfit in found
        ]

    def remark(self, paths: Iterable[KeyPath]) -> InvalidSettings:
        """A warning such as `/home/me/.gemini/settings.json: nothing uses this yet, …: hooks (line 3)`."""
        offsets = locate(self._text, found := list(paths))
        return _remark(
            shown(self._path),
            (
                f"{spelled(path)} (line {position(self._text, offsets[path])[0]})" if path in offsets else spelled(path)
                for path in found
            ),
        )

    @property
    def path(self) -> Path | None:
        """The file, existing or not."""
        return self._path

    def lines(self, paths: Iterable[KeyPath]) -> dict[KeyPath, int]:
        """The lines of those keys that the text has."""
        return {path: position(self._text, offset)[0] for path, offset in locate(self._text, paths).items()}

    def _at(self, offset: int, text: str) -> str:
        line, column = position(text, offset)
        return f"{shown(self._path)}:{line}:{column}"

    def _refuse(self, found: os.stat_result) -> str | None:
        """Why the open file must not be read: nothing speaks against a person's own."""
        return None


class SystemFileSource(FileSource):
    """A settings file of the system, which counts for everybody here and is skipped if others may write it."""

    def _refuse(self, found: os.stat_result) -> str | None:
        reason = why_unsafe(found, self._path.parent)
        return f"is skipped, for {reason}: only root or you may (chmod go-w)" if reason else None


class EditorSource:
    """The editor's section, as it came over the wire; or other values that came as JSON, called `name` in messages."""

    def __init__(self, section: object, name: str = f"the editor's {EDITOR_SECTION} settings") -> None:
        self._section = section
        self._name = name
        self.doubled: Sequence[Misfit] = ()
        self.clashes: Container[KeyPath] = ()
        self.is_there = bool(section)

    def read(self) -> object:
        """The section as it is, an empty object if the editor has none."""
        return {} if self._section is None else self._section

    def problems(self, misfits: Iterable[Misfit]) -> list[InvalidSettings]:
        """Faults that name the section, and the key below it."""
        return [InvalidSettings(f"{self._name}: {_described(misfit)}") for misfit in misfits]

    def remark(self, paths: Iterable[KeyPath]) -> InvalidSettings:
        """A warning that names the section and the keys below it."""
        return _remark(self._name, map(spelled, paths))

    @property
    def path(self) -> Path | None:
        """No file."""
        return None

    def lines(self, paths: Iterable[KeyPath]) -> dict[KeyPath, int]:
        """None."""
        return {}


def _described(misfit: Misfit) -> str:
    """A misfit as text: its key, if it has one, and what is wrong."""
    return f"{misfit.key}: {misfit.what}" if misfit.path else misfit.what
