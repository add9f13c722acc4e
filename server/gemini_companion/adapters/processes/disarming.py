"""What a command in a sandbox made of git, looked at when it has ended: what a person's own git would run is taken out.

No mount keeps a command from making a repository, nor from changing one that it may delete. So whatever of settings,
hooks and files that lead elsewhere is new since the command began is judged then. Settings that are not known to run
nothing go from the file; hooks, and what cannot be judged, get another name. Nothing is deleted but these settings, and
the result says how the person puts each back.

Other commands may still run, and write. So everything is opened from the workspace folder, without following a link.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from gemini_companion.adapters.files.folder import Folder, held
from gemini_companion.adapters.processes.git_folders import led_to, open_up
from gemini_companion.adapters.processes.repositories import Repositories, may_run, written
from gemini_companion.tools.paths import printable

_SETTINGS: Final = ("config", "config.worktree")
_MOST_OF_SETTINGS: Final = 256_000
_MOST_JUDGED: Final = 500
"""Files with settings that git is asked about after one command; others get another name."""
_MOST_HOOKS: Final = 1_000
_MOST_SHOWN: Final = 20
ASIDE: Final = "disarmed"
"""What the names of hooks that no longer run end in."""
_OF_LARGE_FILES: Final = re.compile(
    rb"#!/bin/sh\n"
    rb'command -v git-lfs >/dev/null 2>&1 \|\| \{ (?:echo|printf) >&2 "(?:[^"$`\\\n]|\\n)*"; exit \d+; \}\n'
    rb'git lfs (?:pre-push|post-checkout|post-commit|post-merge) "\$@"\n?'
)
"""The whole of a hook that `git-lfs` writes into each clone: it runs the person's own program."""

State = Mapping[tuple[str, str], object]
"""What decides what git runs: `settings`, `leads` or `hook` with a path, and what tells that it is another: its text,
where it can be judged by that.
"""


class Disarmed(NamedTuple):
    """What was done, for people and models, and the line by which the person has it as it was."""

    what: str
    line: str
    is_done: bool = True


class Disarmer:
    """Looks at repositories before a command and after it."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    def look(self, root: str, folders: Iterable[str], settings: Iterable[str], *, opens: bool = False) -> State:
        """What decides in some repositories of a workspace folder, and in some more files with settings. With `opens`
        their folders are made so that they can be listed and changed.
        """
        found: dict[tuple[str, str], object] = {}
        for folder in folders:
            for path in (folder, os.path.join(folder, "hooks")) if opens else ():
                with suppress(OSError):
                    open_up(path, os.lstat(path))
            with self._noting(found, folder), held(root, _parts(root, folder)) as opened:
                for name in _SETTINGS:
                    if opened.status(name) is not None:
                        found["settings", os.path.join(folder, name)] = _text(opened, name)
                if opened.status("commondir") is not None:
                    found["leads", os.path.join(folder, "commondir")] = _text(opened, "commondir")
                found.update({("hook", os.path.join(folder, name)): value for name, value in _hooks(opened)})
        for path in settings:
            with suppress(OSError), held(root, _parts(root, os.path.dirname(path))) as opened:
                name = os.path.basename(path)
                if opened.status(name) is not None:
                    found["settings", path] = _text(opened, name)
        return found

    @staticmethod
    @contextmanager
    def _noting(found: dict[tuple[str, str], object], folder: str) -> Generator[None]:
        """A repository that cannot be opened is noted as a whole."""
        try:
            yield
        except OSError:
            with suppress(OSError):
                found["hook", folder] = os.lstat(folder)[:7]

    def disarm(self, root: str, roots: Sequence[str], now: State, before: State) -> list[Disarmed]:
        """Disarm what is new. Raises nothing."""
        done: list[Disarmed] = []
        left = _MOST_JUDGED
        for (kind, path), value in now.items():
            if before.get((kind, path)) == value:
                continue
            if kind == "leads" and isinstance(value, bytes) and _is_within(_led(path), roots):
                continue  # what it leads to is looked at as well
            try:
                with held(root, _parts(root, os.path.dirname(path))) as folder:
                    old = before.get((kind, path))
                    if kind == "settings" and left > 0:
                        left -= 1
                        done += self._settings(folder, path, root, value, old if isinstance(old, bytes) else b"")
                    elif kind != "hook" or not self._is_persons(folder, path):
                        done += _moved(folder, path, root)
            except OSError as fault:
                if os.path.lexists(path):
                    shown = os.path.relpath(path, root)
                    what = f"{shown} could not be changed ({fault.strerror})"
                    done.append(Disarmed(what, shlex.join(("rm", "-rf", shown)), is_done=False))
        return done

    def _settings(self, folder: Folder, path: str, root: str, data: object, old: bytes) -> Iterator[Disarmed]:
        found = self._repositories.settings_in(data) if isinstance(data, bytes) else None
        if found is None:
            yield from _moved(folder, path, root)
            return
        known = [] if not old else self._repositories.settings_in(old) or []
        taken = [one for one in found if one not in known and _may_run(one, path, root)]
        if not taken:
            return
        name = os.path.basename(path)
        new = _other_name(folder, name)
        with open(folder.open_new(new, 0o644), "wb") as file:
            file.write(written([one for one in found if one not in taken]))
        folder.replace(name, new)
        shown = os.path.relpath(path, root)
        for key, value in taken:
            words = ("git", "config", "--file", shown, "--add", os.fsdecode(key), os.fsdecode(value or b"true"))
            yield Disarmed(f"{os.fsdecode(key)} is taken out of {shown}", shlex.join(words))

    def _is_persons(self, folder: Folder, path: str) -> bool:
        """Whether a hook is of git-lfs, or from the person's own template of repositories."""
        name = os.path.basename(path)
        text = _text(folder, name)
        if not isinstance(text, bytes):
            return False
        if _OF_LARGE_FILES.fullmatch(text):
            return True
        template = self._repositories.template()
        if not template:
            return False
        with suppress(OSError), open(os.path.join(template, "hooks", name), "rb") as file:
            return file.read(_MOST_OF_SETTINGS + 1) == text
        return False


def told(done: Sequence[Disarmed], *, is_partial: bool = False) -> tuple[str, ...]:
    """For the model and people, a line each."""
    lines: list[str] = []
    for one in sorted(done, key=lambda one: one.is_done)[:_MOST_SHOWN]:
        head, then = "Disarmed, for", "If the user wants it, they run"
        if not one.is_done:
            head, then = "Not disarmed, though", "Tell the user to delete it, and run"
        lines.append(
            f"{head} the user's own git would run it: {printable(one.what)}. {then} in the workspace folder:"
            f" {printable(one.line)}"
        )
    if len(done) > _MOST_SHOWN:
        lines.append(f"Disarmed as well: {len(done) - _MOST_SHOWN:,} more of the same kinds.")
    if is_partial:
        lines.append(
            "Not all folders could be looked through for repositories that it made: there are too many, or some cannot"
            " be listed. Look at what git would run before you use git in one of them."
        )
    return tuple(lines)


def _hooks(opened: Folder) -> Iterator[tuple[str, object]]:
    """What would run, of what is in a repository's folder, by its path in there."""
    status = opened.status("hooks")
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        yield "hooks", _odd(opened, "hooks")
        return
    inner = opened.enter("hooks")
    try:
        for at, entry in enumerate(inner.scan()):
            if at >= _MOST_HOOKS:
                yield "hooks", _odd(opened, "hooks")
                return
            if entry.name.endswith(".sample") or f".{ASIDE}" in entry.name:
                continue
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_mode & 0o111):
                yield os.path.join("hooks", entry.name), _odd(inner, entry.name)
    finally:
        inner.close()


def _text(folder: Folder, name: str) -> object:
    """The text of a file; where it cannot be judged by that, as a link or one that is too long, what tells it apart."""
    with suppress(OSError), open(folder.open_file(name), "rb") as file:
        data = file.read(_MOST_OF_SETTINGS + 1)
        # By another name it could be changed where nobody looks.
        if len(data) <= _MOST_OF_SETTINGS and os.fstat(file.fileno()).st_nlink == 1:
            return data
    return _odd(folder, name)


def _odd(folder: Folder, name: str) -> object:
    """What is another if a file, or what a link leads to, is."""
    found = [folder.status(name)]
    with suppress(OSError):
        found.append(os.stat(name, dir_fd=folder.descriptor))
    return tuple((one.st_dev, one.st_ino, one.st_size, one.st_mode, one.st_ctime_ns) for one in found if one)


def _may_run(setting: tuple[bytes, bytes | None], path: str, root: str) -> bool:
    key, value = setting
    if key == b"core.worktree":
        # As a submodule has it. Elsewhere git would write, and read what it runs, where the command could not.
        return not _is_within(os.path.join(os.path.dirname(path), os.fsdecode(value or b"")), (root,))
    return may_run(key, value)


def _led(path: str) -> str:
    return os.path.join(os.path.dirname(path), led_to(path))


def _is_within(path: str, roots: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(real.startswith(root.rstrip("/") + "/") for root in roots)


def _moved(folder: Folder, path: str, root: str) -> Iterator[Disarmed]:
    """Give something a name by which git does not find it."""
    name = os.path.basename(path)
    new = _other_name(folder, name)
    folder.replace(new, name)
    shown = os.path.relpath(path, root)
    aside = os.path.join(os.path.dirname(shown), new)
    yield Disarmed(f"{shown} is {new} now", shlex.join(("mv", aside, shown)))


def _other_name(folder: Folder, name: str) -> str:
    names = (f"{name}.{ASIDE}{number or ''}" for number in range(_MOST_HOOKS))
    return next((one for one in names if folder.status(one) is None), f"{name}.{ASIDE}")


def _parts(root: str, folder: str) -> list[str]:
    return [part for part in os.path.relpath(folder, root).split(os.sep) if part != os.curdir]
