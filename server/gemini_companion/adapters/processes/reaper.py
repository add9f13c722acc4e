"""The process that stands above one command and ends all that comes of it.

`python -I -S reaper.py STATUS_FD[:[INPUT_FD][:NAMESPACE_FD,…]] WATCHED CWD PROGRAM ARGUMENT…` runs the program in a
session of its own, with no input or with that descriptor's, in the namespaces that others are open on.
What the program starts becomes this process's child when its own parent ends (Linux), so nothing escapes it. When
standard input ends, because the daemon stops the command or is gone, everything is ended: asked, and 200 ms later
forced. When the program ends by itself, the rest has 200 ms too. Then what was only there for it goes
(`placeholders`), and one line of JSON goes to the status descriptor. `WATCHED` is JSON, or `@` and the descriptor of a
file with it, since an argument must not be long. In it `kept` has what goes, each with
the descriptor that locks it, `links` where each leads, and `staged` folders that are mounted a second time, there with
what the command must not replace, or change, mounted on itself. With `apart` it reaches none of this machine's sockets
that have no file. Links that it replaced, where a system cannot do that, are made again after it.

A program may end this process before that. So the first line, written before the program starts, has the id of its
process, which is that of its session too; and on Linux the program ends with this process.

It uses nothing but the standard library, and no site, so that it starts quickly.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress

GRACE = 0.2
"""Seconds from asking to forcing, and for what the command leaves behind."""
PATIENCE = 0.6
"""Seconds that forcing may take."""
_SUBREAPER = 36
_DUMPABLE = 4
_DEATH_SIGNAL = 1
_NEW_MOUNTS = 0x20000
_PRIVATE = 0x40000 | 0x4000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_NEW_RULES, _OBEY_RULES = 444, 446
_ITS_VERSION, _NO_NEW_RIGHTS = 1, 38
_ABSTRACT_SOCKETS, _SINCE = 1, 6
_CLONE, _EMPTY_PATH, _DEEP, _FROM_DESCRIPTOR, _TO_DESCRIPTOR = 1, 0x1000, 0x8000, 4, 0x40
_READ_ONLY, _NO_SETUID, _NO_DEVICES = 1, 2, 4
"""What Linux has numbers for and Python no names."""


def main() -> int:
    """Run the command; report how it ended."""
    said, cwd, command = sys.argv[2], sys.argv[3], sys.argv[4:]
    watched = json.loads(_read(int(said[1:])) if said.startswith("@") else said)
    kept, links = watched.get("kept", ()), watched.get("links", ())
    says, given, joined = (*sys.argv[1].split(":"), "", "")[:3]
    status, source = int(says), int(given or os.open(os.devnull, os.O_RDONLY))
    namespaces = [int(one) for one in joined.split(",") if one]
    for descriptor in (status, source, *namespaces, *(descriptor for descriptor, _ in kept)):
        os.set_inheritable(descriptor, False)
    _control(_SUBREAPER, 1)
    _control(_DUMPABLE, 0)  # or the program could write a report of its own into our descriptors
    wake, woken = os.pipe()
    for end in (wake, woken):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, _notice)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for asked in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(asked, _stop)
    failed, says_failed = os.pipe()  # closed by a program that starts; the reason comes out of it otherwise
    reaper = os.getpid()
    child = os.fork()
    if child == 0:
        staged, is_apart = watched.get("staged", []), watched.get("apart", False)
        _become(command, cwd, source, says_failed, status, reaper, namespaces, staged, is_apart)
    for descriptor in (says_failed, source, *namespaces):
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    reason = os.read(failed, 4096).decode("utf-8", "replace")
    family = _Family(child)
    ended_at = 0.0
    while True:
        family.reap()
        if family.ended is not None:
            ended_at = ended_at or time.monotonic()
            if not family.members() or time.monotonic() - ended_at >= GRACE:
                break
        wait = None if family.ended is None else 0.02
        try:
            ready, _, _ = select.select([0, wake], [], [], wait)
        except OSError:
            break  # standard input was closed by a signal
        if wake in ready:
            with suppress(BlockingIOError):
                os.read(wake, 4096)
        if 0 in ready and not os.read(0, 4096):
            break
    survivors = family.end()
    if not survivors:
        for descriptor, path in kept:
            _take_away(descriptor, path)
        for path, target in links:
            put_back(path, target)
    code = family.ended
    report = {
        "failed": reason,
        "exit": os.WEXITSTATUS(code) if code is not None and os.WIFEXITED(code) else None,
        "signal": os.WTERMSIG(code) if code is not None and os.WIFSIGNALED(code) else 0,
        "survivors": survivors,
    }
    with suppress(OSError):
        os.write(status, json.dumps(report).encode() + b"\n")
    return 0


def _read(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def _take_away(descriptor: int, path: str) -> None:
    """Remove what no other command needs, unless something was put in it."""
    import fcntl  # the daemon imports this module on Windows too, if only for its path

    above, name = os.path.split(path)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = opened(above)
        try:
            if os.path.samestat(os.fstat(descriptor), os.stat(name, dir_fd=folder, follow_symlinks=False)):
                take_away(folder, name)
        finally:
            os.close(folder)
    with suppress(OSError):
        os.close(descriptor)


def take_away(folder: int, name: str) -> None:
    """Remove a file, or an empty folder, in an open folder. One with something in it is the person's from now on."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=folder)
        return
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError:
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fchmod(inner, 0o755)
        finally:
            os.close(inner)


def put_back(path: str, target: str) -> None:
    """Make a link again that a command replaced. What it put there is kept beside it.

    The folder's path had no link in it when it was noted. Where it has one now the command put it there, and it may
    lead out of the workspace: then nothing is done.
    """
    parent, name = os.path.split(path)
    with suppress(OSError):
        folder = opened(parent)
        try:
            with suppress(FileNotFoundError):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode) and os.readlink(name, dir_fd=folder) == target:
                    return
                os.rename(name, f"{name}.replaced-{os.getpid()}", src_dir_fd=folder, dst_dir_fd=folder)
            os.symlink(target, name, dir_fd=folder)
        finally:
            os.close(folder)


def opened(path: str, within: int | None = None) -> int:
    """A descriptor of a folder, reached through no link: from the root of the disk, or from an open folder. Raises
    `OSError` where there is a link.
    """
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
    folder = os.open("/", flags) if within is None else os.open(".", flags, dir_fd=within)
    for name in path.split("/"):
        if name not in {"", "."}:
            try:
                inner = os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
            finally:
                os.close(folder)
            folder = inner
    return folder


def _notice(_number: int, _frame: object) -> None:
    """A child ended: the pipe of wake-ups says so."""


def _stop(_number: int, _frame: object) -> None:
    with suppress(OSError):
        os.close(0)


def _control(option: int, value: int) -> None:
    """Set what Linux knows of this process; elsewhere nothing."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def join(namespaces: list[int]) -> None:
    """Enter namespaces, that of users first. What this process runs is in them, and so is the disk that it sees."""
    libc = ctypes.CDLL(None, use_errno=True)
    for descriptor in namespaces:
        if libc.setns(descriptor, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "what the chat's commands share")


def _stage(staged: list[tuple[str, str, list[tuple[str, str, bool]]]]) -> None:
    """Mount folders a second time, with what is held in them mounted on itself, in a copy of the namespace that was
    joined, which ends with the command.

    What is mounted on can be neither renamed nor deleted, a link neither, and what is fixed can only be read. All of it
    is opened from its folder and mounted by these descriptors. So where another command puts a link in the place of a
    folder, it is not held, and nothing else is opened in its stead. It is done in a second place since no layer can be
    made of a folder with something mounted in it.
    """
    if not staged:
        return
    libc = ctypes.CDLL(None, use_errno=True)

    def checked(result: int, place: str) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), place)
        return result

    def mount(source: int, place: int, name: str, *, is_fixed: bool) -> None:
        """Mount what is open in the place of something that is open, with all that is mounted in it."""
        # bubblewrap would set these flags by the path, which leads elsewhere: it leaves alone what has them.
        flags = (ctypes.c_uint64 * 4)(_NO_SETUID | _NO_DEVICES | (_READ_ONLY if is_fixed else 0), 0, 0, 0)
        tree = checked(libc.syscall(_OPEN_TREE, source, b"", _CLONE | _DEEP | _EMPTY_PATH | os.O_CLOEXEC), name)
        try:
            checked(libc.syscall(_MOUNT_SETATTR, tree, b"", _DEEP | _EMPTY_PATH, flags, ctypes.sizeof(flags)), name)
            checked(libc.syscall(_MOVE_MOUNT, tree, b"", place, b"", _FROM_DESCRIPTOR | _TO_DESCRIPTOR), name)
        finally:
            os.close(tree)

    checked(libc.unshare(_NEW_MOUNTS), "the view of the disk")
    checked(libc.mount(None, b"/", None, _PRIVATE, None), "/")
    for folder, place, held in staged:
        os.makedirs(place, exist_ok=True)
        source, onto = opened(folder), opened(place)
        mount(source, onto, folder, is_fixed=False)
        os.close(source)
        os.close(onto)
        root = opened(place)
        for path, shown, is_fixed in held:
            above, name = os.path.split(path)
            try:
                around = opened(above, root)
                onto = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=around)
                os.close(around)
            except OSError:
                continue  # it has gone, or a link leads elsewhere: it is not what was to be held
            source = os.open(shown, os.O_PATH | os.O_CLOEXEC) if shown else onto
            mount(source, onto, path, is_fixed=is_fixed)
            os.close(onto)
            if shown:
                with suppress(OSError):
                    os.unlink(shown)  # it is seen where it is mounted; a daemon that is killed would leave it
        os.close(root)


def can_stage() -> bool:
    """Whether this system has the calls that mount by descriptors (Linux 5.12)."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(_MOUNT_SETATTR, -1, None, 0, None, 0)
    return ctypes.get_errno() == errno.EINVAL  # no attributes were given; an older system knows no such call


def _set_apart() -> None:
    """Let this process, and what comes of it, reach no socket without a file (X11 and D-Bus have some) but its own.
    Those of this machine are there wherever its network is, whatever is shown of the disk.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    rules = (ctypes.c_uint64 * 3)(0, 0, _ABSTRACT_SOCKETS)
    made = libc.syscall(_NEW_RULES, rules, ctypes.sizeof(rules), 0)
    if made < 0 or libc.prctl(_NO_NEW_RIGHTS, 1, 0, 0, 0) != 0 or libc.syscall(_OBEY_RULES, made, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "what keeps it from sockets without a file")
    os.close(made)


def can_set_apart() -> bool:
    """Whether this system can (Landlock, of Linux 6.12)."""
    return sys.platform == "linux" and ctypes.CDLL(None).syscall(_NEW_RULES, None, 0, _ITS_VERSION) >= _SINCE


def _become(
    command: list[str],
    cwd: str,
    source: int,
    says_failed: int,
    status: int,
    reaper: int,
    namespaces: list[int],
    staged: list[tuple[str, str, list[tuple[str, str, bool]]]],
    is_apart: bool,
) -> None:
    try:
        _control(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != reaper:
            return  # it was ended before it could take this one with it
        signal.set_wakeup_fd(-1)
        for used in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(used, signal.SIG_DFL)
        os.setsid()
        os.write(status, json.dumps({"child": os.getpid()}).encode() + b"\n")
        if namespaces:
            join(namespaces)
            _stage(staged)
        if is_apart:
            _set_apart()
        os.chdir(cwd)
        os.dup2(source, 0)
        os.execvp(command[0], command)
    except OSError as fault:
        os.write(says_failed, f"{fault.strerror}: {fault.filename or cwd}".encode())
    finally:
        os._exit(127)


class _Family:
    """Everything that came of the command."""

    def __init__(self, child: int) -> None:
        self._child = child
        self.ended: int | None = None

    def reap(self) -> None:
        """Take in what has ended."""
        with suppress(ChildProcessError):
            while True:
                pid, code = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._child:
                    self.ended = code

    def members(self) -> dict[int, str]:
        """Ids and names of what still runs."""
        parents, names = _processes()
        below: dict[int, list[int]] = {}
        for pid, parent in parents.items():
            below.setdefault(parent, []).append(pid)
        found: dict[int, str] = {}
        open_ = [os.getpid()]
        while open_:
            for pid in below.get(open_.pop(), ()):
                if pid not in found:
                    found[pid] = names[pid]
                    open_.append(pid)
        found.pop(os.getpid(), None)
        return found

    def end(self) -> list[str]:
        """End all of them; those that could not be ended."""
        asked = self.members()
        for pid, name in asked.items():
            if name != "bwrap":  # with it everything in it would be forced at once
                _send(pid, signal.SIGTERM)
                _send(pid, signal.SIGCONT)
        until = time.monotonic() + GRACE
        while asked and time.monotonic() < until and self._others():
            select.select([], [], [], 0.01)
            self.reap()
        until = time.monotonic() + PATIENCE
        empty = 0
        while empty < 2 and time.monotonic() < until:
            self.reap()
            left = self.members()
            empty = 0 if left else empty + 1
            for pid in left:
                _send(pid, signal.SIGKILL)
            if left:
                select.select([], [], [], 0.005)
        self.reap()
        return [f"{name} ({pid})" for pid, name in self.members().items()]

    def _others(self) -> bool:
        return any(name != "bwrap" for name in self.members().values())


def _send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)


def _processes() -> tuple[dict[int, int], dict[int, str]]:
    """Parents and names of all processes that are no zombies."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    if not os.path.isdir("/proc/self"):
        listing = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid=,stat=,comm="], capture_output=True, text=True, check=False
        ).stdout
        for line in listing.splitlines():
            pid, parent, state, name = (*line.split(None, 3), "", "", "", "")[:4]
            if pid.isdigit() and parent.isdigit() and not state.startswith("Z") and name != "/bin/ps":
                parents[int(pid)] = int(parent)
                names[int(pid)] = name
        return parents, names
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    stat = file.read().decode("utf-8", "replace")
            except OSError:
                continue
            name = stat[stat.find("(") + 1 : stat.rfind(")")]
            state, parent = stat[stat.rfind(")") + 2 :].split()[:2]
            if state not in "ZX":
                parents[int(entry)] = int(parent)
                names[int(entry)] = name
    return parents, names


if __name__ == "__main__":
    if sys.argv[1] == "--join":  # only that, to try it out
        join([int(one) for one in sys.argv[2].split(",")])
        os.execvp(sys.argv[3], sys.argv[3:])
    sys.exit(main())
