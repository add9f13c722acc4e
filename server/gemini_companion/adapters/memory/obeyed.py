"""Where the files are that this program obeys, so that a command can be held to what they were before it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from gemini_companion.adapters.memory.discovery import Below, folders_down_to, project_top
from gemini_companion.settings.obeyed import Made, Watch, gate
from gemini_companion.settings.programs import expect_run

_FOLDERS: Final = (".gemini", ".agents")
"""Of a workspace folder, and of a home."""
_OWN: Final = ("commands", "agents", "skills", "extensions")
"""What is read of the person's `.gemini` beside its own files; the rest is other programs' and ours."""
_LEFT_OUT: Final = frozenset(("node_modules", ".git"))
_MAX_FILES: Final = 20_000
_MAX_DEPTH: Final = 12


class ObeyedFiles:
    """Around a command; see `Obeyed`. `names` are those of memory files, `max_dirs` how far these are looked for,
    `lines` what hooks and servers run.
    """

    def __init__(
        self,
        home: Path,
        names: Callable[[], Sequence[str]],
        max_dirs: Callable[[], int],
        lines: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._home = os.path.realpath(home)
        self._names = names
        self._max_dirs = max_dirs
        self._lines = lines
        self._below = Below()

    async def begin(self, roots: Sequence[str]) -> Watch:
        """Note what they are."""
        return await asyncio.to_thread(lambda: gate.begin(self._found(roots)[0], self._scopes(roots)))

    async def end(
        self,
        watch: Watch,
        roots: Sequence[str],
        changed: Iterable[str],
        *,
        is_persons: Callable[[str, bytes], bool],
        goes_on: bool = False,
    ) -> tuple[Made, ...]:
        """Those that came about since, and that count for nothing as yet."""

        def work() -> tuple[Made, ...]:
            paths, is_cut = self._found(roots)
            names = {os.path.basename(name) for name in self._names()}
            more = [path for path in changed if os.path.basename(path) in names]
            # Where there are more than can be looked at, the watch goes on: what it does not know does not count.
            return gate.end(watch, [*paths, *more], is_persons=is_persons, goes_on=goes_on or is_cut)

        return await asyncio.to_thread(work)

    def _scopes(self, roots: Sequence[str]) -> list[str]:
        return [*roots, *(os.path.join(self._home, folder) for folder in _FOLDERS)]

    def _found(self, roots: Sequence[str]) -> tuple[list[str], bool]:
        """The files, those among them that are not there, and whether there are more than were looked at. Blocks."""
        names = self._names()
        own = os.path.join(self._home, ".gemini")
        found = [os.path.join(own, name) for name in (*names, "settings.json", ".env", "system.md")]
        found.append(os.path.join(self._home, ".env"))
        found += expect_run(self._lines(), roots)
        for root in roots:
            for folder in folders_down_to(root, project_top(root)):
                found += [os.path.join(folder, name) for name in names]
            for folder in (root, *map(str, Path(root).parents)):
                found += [os.path.join(folder, ".env"), os.path.join(folder, ".gemini", ".env")]
        found += [path for _, path in self._below.search(list(roots), names, self._max_dirs())]
        trees = [os.path.join(root, folder) for root in roots for folder in _FOLDERS]
        trees += [*(os.path.join(own, folder) for folder in _OWN), os.path.join(self._home, ".agents")]
        for tree in dict.fromkeys(trees):
            if tree != own:
                for path in _files_in(tree, _MAX_DEPTH):
                    if len(found) >= _MAX_FILES:
                        return found, True
                    found.append(path)
        return found, False


def _files_in(folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    if depth > 0 and entry.name not in _LEFT_OUT:
                        yield from _files_in(entry.path, depth - 1)
                else:
                    yield entry.path
    except OSError:
        return
