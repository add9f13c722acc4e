"""Where memory files are: the person's own, those of extensions, of the project, and below its workspace folders."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, cast

import msgspec

from gemini_companion.adapters.memory.opening import Unreadable, read_below
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.adapters.workspace.ignore import IgnoreFiles, Scope
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.tools.paths import innermost, parts_below

MARKERS: Final = (".git",)
"""Names that only the top folder of a project has."""
MAX_EXTENSIONS: Final = 100
MAX_SECONDS: Final = 5.0
"""A search below the workspace folders that takes longer ends where it is."""
_MAX_ENTRIES: Final = 20_000
"""Names of one folder that are looked at."""
_MAX_DEPTH: Final = 64


def project_top(folder: str, markers: Sequence[str] = MARKERS) -> str:
    """The nearest folder upwards, or this one, that has one of the markers; this one if none has. A real path."""
    usable = [name for name in markers if name and not os.path.isabs(name) and ".." not in name.split("/")]
    at = folder
    while True:
        if any(os.path.lexists(os.path.join(at, name)) for name in usable):
            return at
        above = os.path.dirname(at)
        if above == at:
            return folder
        at = above


def folders_down_to(folder: str, top: str) -> list[str]:
    """The folders from `top` to `folder`, both included."""
    found = [top]
    for name in parts_below(folder, top):
        found.append(os.path.join(found[-1], name))
    return found


def extension_files(home: str, folder: str) -> Iterator[tuple[str, str]]:
    """The folder of each extension that is enabled for a workspace folder, a real path, and each memory file in it."""
    for own, manifest in enabled_extensions(home, folder):
        for file in _file_names(manifest.get("contextFileName", "GEMINI.md")):
            yield own, os.path.join(own, file)


def enabled_extensions(home: str, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The folder of each extension that is enabled for a workspace folder, a real path, and its manifest. Blocks."""
    extensions = os.path.join(home, ".gemini", "extensions")
    try:
        with os.scandir(extensions) as found:
            names = sorted(entry.name for entry in islice(found, _MAX_ENTRIES) if entry.is_dir())
    except OSError:
        return
    enabled = _json(followed(extensions), "extension-enablement.json")
    for name in names[:MAX_EXTENSIONS]:
        own = followed(os.path.join(extensions, name))
        manifest = _json(own, "gemini-extension.json")
        if manifest and _is_enabled(enabled.get(str(manifest.get("name"))), folder):
            yield own, manifest


def _json(folder: str, name: str) -> dict[str, Any]:
    """The object in a file; empty if there is none that can be used."""
    try:
        value = msgspec.json.decode(read_below(folder, os.path.join(folder, name))[0])
    except (Unreadable, msgspec.DecodeError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _file_names(value: object) -> list[str]:
    given = cast("list[object]", value) if isinstance(value, list) else [value]
    return [each for each in given[:10] if isinstance(each, str) and each.strip() and "\0" not in each]


def _is_enabled(config: object, folder: str) -> bool:
    """Whether an extension is enabled for a folder: the last rule that is met decides, one with `!` against it."""
    rules = cast("dict[str, object]", config).get("overrides") if isinstance(config, dict) else None
    enabled, path = True, f"/{folder.strip('/')}/".replace("\\", "/")
    for rule in cast("list[object]", rules)[:1_000] if isinstance(rules, list) else ():
        if not isinstance(rule, str):
            continue
        bare = rule.removeprefix("!")
        with_below = bare.endswith("*")
        bare = "/" + bare.rstrip("*").strip("/")
        base = bare.rstrip("/") + "/"
        if path == base or (with_below and path.startswith(base)):
            enabled = not rule.startswith("!")
    return enabled


class Below:
    """Memory files below workspace folders, as far as ignore files show them. Threads may share it."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._ignore_files = IgnoreFiles()
        self._monotonic = monotonic

    def search(self, folders: Sequence[str], names: Sequence[str], max_dirs: int) -> list[tuple[str, str]]:
        """Each file with its workspace folder, breadth first, in at most `max_dirs` folders. Blocks.

        `folders` are real paths. Links are not followed, and a workspace folder in another one is searched for itself.
        """
        pending = deque((folder, self._ignore_files.scope(folder), 0) for folder in folders)
        found: list[tuple[str, str]] = []
        until, left = self._monotonic() + MAX_SECONDS, max_dirs
        while pending and self._monotonic() < until:
            folder, scope, depth = pending.popleft()
            if depth:
                if left <= 0:
                    break
                left -= 1
                found += [(folder, path) for path in self._files_in(scope, names)]
            if depth < _MAX_DEPTH:
                for name in self._folders_in(scope):
                    if os.path.join(scope.path, name) not in folders:
                        pending.append((folder, self._ignore_files.enter(scope, name), depth + 1))
        return found

    def around(self, path: str, folders: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
        """Those in the folders from a workspace folder, itself left out, down to a path, with that folder. Blocks."""
        try:
            real = followed(path)
        except ValueError:  # no path at all
            return []
        root = innermost(real, folders)
        if root is None:
            return []
        scope = self._ignore_files.scope(root)
        found: list[tuple[str, str]] = []
        for name in parts_below(real, root)[:_MAX_DEPTH]:
            if name == ".git" or is_secret_name(f"{name}/-") or scope.hidden_by(name, is_folder=True):
                break
            scope = self._ignore_files.enter(scope, name)
            if not os.path.isdir(scope.path):
                break
            found += [(root, each) for each in self._files_in(scope, names)]
        return found

    def _files_in(self, scope: Scope, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            path = os.path.join(scope.path, name)
            hidden = scope.hidden_by(name.split("/")[0], is_folder="/" in name)
            if not hidden and os.path.isfile(path):
                yield path

    def _folders_in(self, scope: Scope) -> list[str]:
        try:
            with os.scandir(scope.path) as found:
                names = [entry.name for entry in islice(found, _MAX_ENTRIES) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return []
        return sorted(
            name
            for name in names
            if name != ".git" and not is_secret_name(f"{name}/-") and not scope.hidden_by(name, is_folder=True)
        )
