"""The folder where the outputs of a process's commands are put while they run, and what dead processes left there."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.adapters.private_files import make_private_directory, remove_directory, remove_file
from gemini_companion.adapters.storage.process import ProcessIdentity, ProcessTable, SystemProcesses

logger = logging.getLogger(__name__)

UNKNOWN_SECONDS: Final = 30 * 24 * 3600
"""Age from which on files go whose process cannot be proved dead: another machine's, or an earlier version's."""

_OWNER: Final = "owner.json"


class SpillFolder:
    """A folder below `parent` that is this process's alone. Everything blocks."""

    def __init__(self, parent: str, processes: ProcessTable | None = None) -> None:
        self._processes = processes or SystemProcesses()
        self._path = os.path.join(parent, f"{os.getpid()}-{secrets.token_hex(4)}")

    def made(self) -> str | None:
        """Its path; it is made if it is not there. `None` if it cannot be."""
        owner = Path(self._path, _OWNER)
        try:
            if not owner.exists():
                make_private_directory(self._path)
                # A folder without it is taken for one of an unknown owner, which is left alone for long enough.
                owner.write_bytes(msgspec.json.encode(self._processes.me()))
        except OSError as fault:
            logger.warning("Long outputs of commands are not kept whole: %s", fault)
            return None
        return self._path

    def remove(self) -> None:
        """Delete it with all that nobody took out of it."""
        remove_directory(self._path)


def sweep_spills(parent: str, *, processes: ProcessTable | None = None, now: float | None = None) -> int:
    """Delete what processes that are dead left below `parent`; returns how many folders and files that were.

    What a living process has is never touched. Whatever cannot be told goes when nothing in it was changed for
    `UNKNOWN_SECONDS`. `now` is in seconds since 1970. Raises nothing.
    """
    processes, now = processes or SystemProcesses(), time.time() if now is None else now
    swept = 0
    for entry in _entries(parent):
        with suppress(OSError):
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not entry.is_file(follow_symlinks=False):
                continue
            owner = _owner_of(entry.path) if is_folder else None
            is_alive = processes.is_alive(owner) if owner is not None else None
            if is_alive or (is_alive is None and now - _changed_at(entry) < UNKNOWN_SECONDS):
                continue
            (remove_directory if is_folder else remove_file)(entry.path)
            swept += 1
    return swept


def _owner_of(folder: str) -> ProcessIdentity | None:
    try:
        return msgspec.json.decode(Path(folder, _OWNER).read_bytes(), type=ProcessIdentity)
    except (OSError, msgspec.DecodeError):
        return None


def _changed_at(entry: os.DirEntry[str]) -> float:
    """When it, or anything in it, was changed last."""
    inside = _entries(entry.path) if entry.is_dir(follow_symlinks=False) else ()
    return max(one.stat(follow_symlinks=False).st_mtime for one in (entry, *inside))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from list(entries)
    except OSError:
        return
