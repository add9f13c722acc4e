"""Command files on disk: TOML in the folders of the person, of the project and of extensions."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from gemini_companion.adapters.extending.walking import FoundFile, Root, Stamp, Walk, read_whole
from gemini_companion.adapters.memory.discovery import enabled_extensions
from gemini_companion.adapters.memory.opening import Unreadable, Withheld
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.commands.definition import Definition, definition_of, line_of
from gemini_companion.engine.commands.expansion import Unbalanced
from gemini_companion.engine.commands.naming import CommandScope, flattened, name_of_path
from gemini_companion.engine.escapes import one_line
from gemini_companion.sessions.commands.files import CommandFile, CommandsRead, FileProblem, FileWish

MAX_FILES: Final = 1_000
"""Command files that count, of all folders."""
MAX_PROBLEMS: Final = 50
"""Bad files that are told of."""
_ENDING: Final = ".toml"
_DOTS_IN_KEYS: Final = re.compile(r"[\w\"'-][ \t]*+\.(?=[ \t]*+[\w\"'-])")
"""In a text sentences and names count too, which costs nothing below the bound."""
_MOST_STEPS: Final = 1_000_000
"""A key of a thousand parts: some 60 ms of the parser's, on a thread. No prompt has a thousand sentences in a line."""
_AT_LINE: Final = re.compile(r" \(at line (\d+), column \d+\)$")


class _Place(NamedTuple):
    root: Root
    scope: CommandScope
    owner: str


class _Bad(Exception):
    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


class DiskCommandFiles:
    """`CommandFiles` of a home folder. A file is parsed once, until its stamp changes."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._parsed: dict[str, tuple[Stamp, Definition | _Bad]] = {}

    async def read(self, wish: FileWish) -> CommandsRead:
        """Find all of them, and read those that have changed."""
        return await asyncio.to_thread(self._read, wish)

    def _read(self, wish: FileWish) -> CommandsRead:
        files: dict[tuple[str, str, str], CommandFile] = {}
        problems: list[FileProblem] = []
        watched: list[str] = []
        known = self._parsed
        self._parsed = {}
        for place in self._places(wish):
            walk = Walk()
            walk.through(place.root, _ENDING)
            watched += walk.folders or [place.root.path]
            for found in walk.files:
                shown = one_line(found.path)
                if len(files) >= MAX_FILES:
                    problems.append(
                        FileProblem(path=shown, line=1, message=f"only {MAX_FILES} command files count, not this one")
                    )
                    break
                parsed = self._parse(place.root, found, known)
                if isinstance(parsed, _Bad):
                    problems.append(FileProblem(path=shown, line=parsed.line, message=str(parsed)))
                    continue
                file = _file(place, found, parsed)
                key = (file.scope, file.owner, file.name)
                if key in files:
                    problems.append(
                        FileProblem(path=shown, line=1, message=f"the name /{file.name} is that of {files[key].path}")
                    )
                    continue
                files[key] = file
            if walk.is_cut:
                problems.append(
                    FileProblem(path=one_line(place.root.path), line=1, message="it has too many files: not all count")
                )
        return CommandsRead(
            files=tuple(files.values()), problems=tuple(problems[:MAX_PROBLEMS]), watched=tuple(dict.fromkeys(watched))
        )

    def _places(self, wish: FileWish) -> Iterator[_Place]:
        own = os.path.join(self._home, ".gemini", "commands")
        yield _Place(Root(own, own, is_own=True), "user", "")
        if not wish.trusted:
            return
        folders = real_folders(wish)
        for folder in folders:
            path = os.path.join(folder, ".gemini", "commands")
            if path != followed(own):
                yield _Place(Root(path, folder), "workspace", "")
        if folders:
            for extension, manifest in enabled_extensions(self._home, folders[0]):
                name = owner_of(extension, manifest)
                yield _Place(Root(os.path.join(extension, "commands"), extension), "extension", name)

    def _parse(
        self, root: Root, found: FoundFile, known: dict[str, tuple[Stamp, Definition | _Bad]]
    ) -> Definition | _Bad:
        before = known.get(found.path)
        if before is not None and before[0] == found.stamp:
            parsed = before[1]
        else:
            try:
                parsed = _definition(read_whole(root, found.path, found.stamp[2]))
            except Withheld as fault:
                return _Bad(str(fault))  # not for long, perhaps
            except Unreadable as fault:
                parsed = _Bad(str(fault))
            except _Bad as fault:
                parsed = fault
        self._parsed[found.path] = (found.stamp, parsed)
        return parsed


def real_folders(wish: FileWish) -> list[str]:
    """The workspace folders that there are, by their real paths."""
    real = (followed(folder) for folder in wish.folders if os.path.isabs(folder) and "\0" not in folder)
    return [folder for folder in dict.fromkeys(real) if os.path.isdir(folder)]


def owner_of(folder: str, manifest: dict[str, Any]) -> str:
    """The name of an extension, for people."""
    name = manifest.get("name")
    return flattened(name if isinstance(name, str) and name.strip() else os.path.basename(folder), 50)


def _file(place: _Place, found: FoundFile, parsed: Definition) -> CommandFile:
    shown = one_line(found.parts[-1])
    said = parsed.description or flattened(f"Custom command from {shown}")
    return CommandFile(
        name=name_of_path([*map(one_line, found.parts[:-1]), shown.removesuffix(_ENDING)]),
        scope=place.scope,
        owner=place.owner,
        path=one_line(found.path),
        description=f"[{place.owner}] {said}" if place.owner else said,
        prompt=parsed.prompt,
    )


def _definition(text: str) -> Definition:
    import tomllib

    # `tomllib` takes the square of a key's parts; 120 kB of `a.a.a.…` kept it busy for minutes.
    if sum(len(_DOTS_IN_KEYS.findall(line)) ** 2 for line in text.splitlines()) > _MOST_STEPS:
        raise _Bad("its keys have too many parts, with dots between them")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        told = str(fault)
        where = _AT_LINE.search(told)
        line = int(where[1]) if where else text.count("\n") + 1
        raise _Bad(f"it is no TOML: {_AT_LINE.sub('', told)}", line) from None
    except (RecursionError, ValueError):
        raise _Bad("it is no TOML") from None
    try:
        return definition_of(table)
    except Unbalanced as fault:
        raise _Bad(str(fault), line_of(text, "prompt") + fault.line - 1) from None
    except ValueError as fault:
        key = "description" if "description" in str(fault) else "prompt"
        raise _Bad(str(fault), line_of(text, key)) from None
