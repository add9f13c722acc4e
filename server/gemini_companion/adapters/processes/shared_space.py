"""What the commands of one chat share though each has a sandbox of its own: a network without a way out, and `/tmp`.

Both are namespaces. A helper makes them, the daemon opens them, and the helper ends: from then on they are there for as
long as the daemon, or a command in them, is. Nothing is left on the disk, or running, whoever is killed.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gemini_companion.adapters.processes import bubblewrap
from gemini_companion.adapters.processes.disk_view import is_below

_MOST: Final = 200
"""Chats that have one at a time; then the one that was used longest ago goes."""
_LEAST_BYTES: Final = 256 * 1024**2
_SECONDS: Final = 5.0


class SpaceFault(Exception):
    """There is none, and why."""


@dataclass(frozen=True, slots=True)
class _Space:
    descriptors: tuple[int, int, int]
    mounted: frozenset[tuple[str, str]]
    """Places and devices, as they were when it was made."""


class Spaces:
    """Of all chats. Made with the first command of each, and given up with the chat."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._of: dict[str, _Space] = {}

    def join(self, program: str, chat: str, roots: Sequence[str], *, network: bool) -> tuple[int, ...]:
        """Descriptors of a chat's namespaces, for the caller to close: of users, of the disk, and of the network unless
        that of this machine is to be used. Raises `SpaceFault`.
        """
        import fcntl  # there is none on Windows, and no sandbox either

        mounted = _mounted()
        with self._lock:
            held = self._of.pop(chat, None)
            if held is not None and any(_place(root, mounted) not in held.mounted for root in roots):
                _close(held.descriptors)  # a workspace folder was mounted after it was made, and is not in it
                held = None
            if held is None:
                held = _Space(self.make(program), mounted)
            self._of[chat] = held
            while len(self._of) > _MOST:
                _close(self._of.pop(next(iter(self._of))).descriptors)
            wanted = held.descriptors[:2] if network else held.descriptors
            return tuple(fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 0) for one in wanted)

    def give_up(self, chat: str) -> None:
        """The chat has no commands any more."""
        with self._lock:
            if held := self._of.pop(chat, None):
                _close(held.descriptors)

    def close(self) -> None:
        """No chat has."""
        for chat in tuple(self._of):
            self.give_up(chat)

    def make(self, program: str) -> tuple[int, int, int]:
        """Descriptors of new namespaces. Raises `SpaceFault`."""
        try:
            with subprocess.Popen(
                bubblewrap.holder(program, _bytes()),
                env=self._environment,
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            ) as holder:
                assert holder.stdout is not None
                try:
                    ready, _, _ = select.select([holder.stdout], [], [], _SECONDS)
                    said = os.read(holder.stdout.fileno(), 100) if ready else b""
                    if said.strip().isdigit():
                        return _opened(int(said))
                finally:
                    holder.kill()  # the namespaces stay, since they are open
                raise SpaceFault("bubblewrap makes no namespaces here")
        except (OSError, subprocess.SubprocessError) as fault:
            raise SpaceFault(str(fault)) from fault


def _mounted() -> frozenset[tuple[str, str]]:
    with suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return frozenset((words[4], words[2]) for line in file if len(words := line.split(" ", 5)) > 5)
    return frozenset()


def _place(path: str, mounted: frozenset[tuple[str, str]]) -> tuple[str, str]:
    """The mount that a path is in."""
    within = (one for one in mounted if is_below(path, (one[0],)))
    return max(within, key=lambda one: len(one[0]), default=("", ""))


def _opened(process: int) -> tuple[int, int, int]:
    found: list[int] = []
    try:
        found.extend(os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY) for name in ("user", "mnt", "net"))
    except OSError:
        _close(found)
        raise
    user, disk, network = found
    return user, disk, network


def _close(descriptors: tuple[int, ...] | list[int]) -> None:
    for one in descriptors:
        with suppress(OSError):
            os.close(one)


def _bytes() -> int:
    """What `/tmp` may hold: a quarter of the memory, since that is where it is."""
    with suppress(OSError, ValueError):
        return max(_LEAST_BYTES, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    return _LEAST_BYTES
