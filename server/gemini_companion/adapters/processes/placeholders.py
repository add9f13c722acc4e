"""What a workspace does not have and no command may make, for as long as commands run in a sandbox.

A command that makes `.gemini` would set our own settings, one that makes `.vscode` the editor's, and only what is there
can be covered. So it is made, empty, with permissions that nobody gives a folder: by them whoever finds one knows whose
it is. Everyone who needs it holds a lock on it, which goes with the process however that ends; whoever finds no other
lock takes the folder away: the command's reaper, which outlives a daemon that is killed; the daemon, where the reaper
was killed; the next command in that workspace, where both were.

The file `commondir` of a repository says where `git` finds its settings and hooks. The one that is made here says:
where it always does. `config.worktree` has settings; the one that is made here has none.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from gemini_companion.adapters.files.stamps import PLACEHOLDER
from gemini_companion.adapters.processes.git_folders import DECIDING, HeldGit

FOLDERS: Final = (
    ".agents", ".amazonq", ".augment", ".claude", ".cline", ".clinerules", ".codex", ".continue", ".cursor",
    ".devcontainer", ".fleet", ".gemini", ".helix", ".husky", ".idea", ".junie", ".kilocode", ".kiro", ".opencode",
    ".qwen", ".roo", ".trae", ".vscode", ".windsurf", ".zed",
)  # fmt: skip
"""What editors, agents and `git` obey, outside of any sandbox, as soon as it is there. A list, since commands must make
other folders that begin with a dot: `.venv`, `.next`, `.tox`. What runs elsewhere, after a push, is none of it
(`.github`).
"""
_ORDINARY: Final = 0o755
_FILE_MODE: Final = 0o1400
_FILES: Final = {"commondir": b".\n", "config.worktree": b""}
_TRIES: Final = 20
"""Another daemon may take it away while this one reaches for it."""


class Placeholder:
    """One that is held: `descriptor` has the lock, and is -1 where the file system has none."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    def close(self) -> None:
        """Let go of the lock; a process that was given the descriptor still has it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def hold(held: Iterable[HeldGit]) -> tuple[Placeholder, ...]:
    """Make what is missing in workspace folders, and take part in what others made; nothing for what is somebody's."""
    return tuple(one for each in held for path in _wanted(each) if (one := _held(path)))


def remove_unused(path: str) -> None:
    """Take one away that nobody holds; one with something in it becomes an ordinary folder."""
    import fcntl  # there is none on Windows, and no sandbox either

    if not _is_one(path):
        return
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        finally:
            os.close(descriptor)


def fixed_in(held: HeldGit) -> Iterator[str]:
    """What is there, in a workspace folder, that no command may change as a whole: real paths."""
    yield from filter(os.path.exists, _real(held.root, (*_folders(held), *_files(held), *held.hook_links)))
    yield from held.pointers


def links_in(held: HeldGit) -> Iterator[tuple[str, str]]:
    """The links among all that is not to be changed, and where they lead."""
    own = (path for path in held.gits if os.path.islink(path))
    for path in dict.fromkeys((*_folders(held), *_files(held), *own)):
        with suppress(OSError):
            yield path, os.readlink(path)


def _folders(held: HeldGit) -> Iterator[str]:
    yield from (os.path.join(held.root, name) for name in FOLDERS if not held.is_home)
    yield from held.hook_folders
    yield from _deciding_links(held.repositories, "hooks")


def _files(held: HeldGit) -> Iterator[str]:
    yield from held.settings_files
    yield from _deciding_links(held.repositories, *(name for name in DECIDING if name != "hooks"))


def _deciding_links(repositories: Sequence[str], *names: str) -> Iterator[str]:
    paths = (os.path.join(folder, name) for folder in repositories for name in names)
    return filter(os.path.islink, paths)


def _real(root: str, paths: Iterable[str]) -> Iterator[str]:
    """Where paths lead to, of those that do not lead out of a folder."""
    return (real for real in map(os.path.realpath, paths) if real.startswith(root.rstrip("/") + "/"))


def _wanted(held: HeldGit) -> Iterator[str]:
    yield from _real(held.root, _folders(held))
    yield from held.missing


def _held(path: str) -> Placeholder | None:
    for _ in range(_TRIES):
        if not os.path.lexists(path):
            with suppress(OSError):
                _make(path)
        if not _is_one(path):
            return None
        descriptor = _locked(path)
        if descriptor is not None:
            return Placeholder(path, descriptor)
    return None


def _is_file(path: str) -> bool:
    return os.path.basename(path) in _FILES


def _make(path: str) -> None:
    if not _is_file(path):
        os.mkdir(path, PLACEHOLDER)
        return
    # Never there without its text: `git` would find an empty one, and end.
    made = f"{path}.{os.getpid()}.lock"
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, _FILES[os.path.basename(path)])
        os.fchmod(descriptor, _FILE_MODE)
        os.link(made, path)
    finally:
        os.close(descriptor)
        os.unlink(made)


def _remove(path: str) -> None:
    try:
        (os.unlink if _is_file(path) else os.rmdir)(path)
    except OSError:
        os.chmod(path, _ORDINARY)  # the person, or their editor, has put something in it: it is theirs


def _is_one(path: str) -> bool:
    with suppress(OSError):
        found = os.lstat(path)
        kind, mode = (stat.S_ISREG, _FILE_MODE) if _is_file(path) else (stat.S_ISDIR, PLACEHOLDER)
        return kind(found.st_mode) and stat.S_IMODE(found.st_mode) == mode and found.st_uid == os.getuid()
    return False


def _locked(path: str) -> int | None:
    """A descriptor with a lock that others may have too; `None` where it has just gone."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:  # somebody is about to take it away
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        return -1
    if os.fstat(descriptor).st_nlink and _same(path, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _same(path: str, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    return False
