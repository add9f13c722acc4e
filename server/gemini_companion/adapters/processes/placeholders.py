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
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from gemini_companion.adapters.files.stamps import PLACEHOLDER
from gemini_companion.adapters.processes.git_folders import DECIDING, HeldGit, is_in
from gemini_companion.adapters.processes.reaper import opened, take_away
from gemini_companion.adapters.workspace.following import followed

FOLDERS: Final = (
    ".agents", ".amazonq", ".augment", ".claude", ".cline", ".clinerules", ".codex", ".continue", ".cursor",
    ".devcontainer", ".fleet", ".gemini", ".helix", ".husky", ".idea", ".junie", ".kilocode", ".kiro", ".opencode",
    ".qwen", ".roo", ".trae", ".vscode", ".windsurf", ".zed",
)  # fmt: skip
"""What editors, agents and `git` obey, outside of any sandbox, as soon as it is there. A list, since commands must make
other folders that begin with a dot: `.venv`, `.next`, `.tox`. What runs elsewhere, after a push, is none of it
(`.github`).
"""
_FILE_MODE: Final = 0o1400
_FILES: Final = {"commondir": b".\n", "config.worktree": b""}
_MOST_LINKS: Final = 40
"""Links that Linux follows in one path."""
_LONGEST: Final = 4_096
"""Characters of a path that it follows."""
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


def hold(held: HeldGit) -> tuple[Placeholder, ...]:
    """Make what is missing in a workspace, and take part in what others made; nothing for what is somebody's."""
    return tuple(one for path in dict.fromkeys(_wanted(held)) if (one := _held(path)))


def is_placeholder(path: str) -> bool:
    """Whether one stands there."""
    with suppress(OSError), _place(path) as (folder, name):
        return _is_one(folder, name)
    return False


def remove_unused(path: str) -> None:
    """Take one away that nobody holds; one with something in it becomes an ordinary folder."""
    import fcntl  # there is none on Windows, and no sandbox either

    with suppress(OSError), _place(path) as (folder, name):
        if not _is_one(folder, name):
            return
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            take_away(folder, name)
        finally:
            os.close(descriptor)


def fixed_in(held: HeldGit) -> Iterator[str]:
    """What is there, in a workspace folder, that no command may change as a whole: real paths."""
    yield from filter(os.path.exists, _real(held.places, (*_folders(held), *_files(held), *held.hook_links)))
    yield from held.pointers


def links_in(held: HeldGit) -> Iterator[tuple[str, str]]:
    """The links on the way to all that is not to be changed, and where they lead. By another one git, or an editor,
    would come to what a command made.
    """
    ways = (*_folders(held), *_files(held), *held.gits, *held.hook_links, *held.ways)
    found = dict(link for path in dict.fromkeys(ways) for link in links_to(path))
    yield from ((path, target) for path, target in found.items() if is_in(path, held.places))


def links_to(path: str) -> Iterator[tuple[str, str]]:
    """The links that a path leads through, by paths without a link in them, as far as the system follows them."""
    at, left = os.sep, _MOST_LINKS
    pending = deque(path.split(os.sep) if len(path) <= _LONGEST else ())
    while pending and left:
        name = pending.popleft()
        if name in {"", os.curdir}:
            continue
        one = os.path.dirname(at) if name == os.pardir else os.path.join(at, name)
        try:
            target = os.readlink(one)
        except (OSError, ValueError):  # it is none
            at = one
            continue
        yield one, target
        left -= 1
        at = os.sep if os.path.isabs(target) else at
        pending.extendleft(reversed(target.split(os.sep)))


def _folders(held: HeldGit) -> Iterator[str]:
    yield from (os.path.join(root, name) for root in held.roots for name in FOLDERS if root != held.home)
    yield from held.hook_folders
    yield from _deciding_links(held.repositories, "hooks")


def _files(held: HeldGit) -> Iterator[str]:
    yield from held.settings_files
    yield from _deciding_links(held.repositories, *(name for name in DECIDING if name != "hooks"))


def _deciding_links(repositories: Sequence[str], *names: str) -> Iterator[str]:
    paths = (os.path.join(folder, name) for folder in repositories for name in names)
    return filter(os.path.islink, paths)


def _real(places: Sequence[str], paths: Iterable[str]) -> Iterator[str]:
    """Where paths lead to, of those that do not lead out of some folders."""
    return (real for real in map(followed, paths) if is_in(real, places) and real not in places)


def _wanted(held: HeldGit) -> Iterator[str]:
    yield from _real(held.places, _folders(held))
    yield from held.missing


@contextmanager
def _place(path: str) -> Generator[tuple[int, str]]:
    """A descriptor of the folder that something is in, and its name. A command that runs may have put a link in its
    path: then this raises `OSError`, and nothing is made elsewhere.
    """
    above, name = os.path.split(path)
    folder = opened(above)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _held(path: str) -> Placeholder | None:
    with suppress(OSError), _place(path) as (folder, name):
        for _ in range(_TRIES):
            with suppress(OSError):
                _make(folder, name)
            if not _is_one(folder, name):
                return None
            descriptor = _locked(folder, name)
            if descriptor is not None:
                return Placeholder(path, descriptor)
    return None


def _make(folder: int, name: str) -> None:
    if name not in _FILES:
        os.mkdir(name, PLACEHOLDER, dir_fd=folder)
        return
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return
    _sweep(folder, name)
    # Never there without its text: `git` would find an empty one, and end.
    made = f"{name}.{os.getpid()}.lock"
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        os.write(descriptor, _FILES[name])
        os.fchmod(descriptor, _FILE_MODE)
        os.link(made, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(descriptor)
        os.unlink(made, dir_fd=folder)


def _sweep(folder: int, name: str) -> None:
    """Take away what daemons were writing when they were killed."""
    names: list[str] = []
    with suppress(OSError):
        readable = os.open(os.curdir, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        try:
            names = os.listdir(readable)
        finally:
            os.close(readable)
    for one in names:
        process = one.removeprefix(f"{name}.").removesuffix(".lock")
        if one == f"{name}.{process}.lock" and process.isdecimal() and not _is_running(int(process)):
            with suppress(OSError):
                os.unlink(one, dir_fd=folder)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's
        pass
    return True


def _is_one(folder: int, name: str) -> bool:
    with suppress(OSError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kind, mode = (stat.S_ISREG, _FILE_MODE) if name in _FILES else (stat.S_ISDIR, PLACEHOLDER)
        # Git gives a file that it writes anew the permissions of the one before: the person's settings have them then.
        is_as_made = name not in _FILES or found.st_size == len(_FILES[name])
        return (
            is_as_made and kind(found.st_mode) and stat.S_IMODE(found.st_mode) == mode and found.st_uid == os.getuid()
        )
    return False


def _locked(folder: int, name: str) -> int | None:
    """A descriptor with a lock that others may have too; `None` where it has just gone."""
    import fcntl

    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
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
    with suppress(OSError):
        here = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if os.fstat(descriptor).st_nlink and os.path.samestat(here, os.fstat(descriptor)):
            return descriptor
    os.close(descriptor)
    return None
