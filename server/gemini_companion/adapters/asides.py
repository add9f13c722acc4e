"""What is written aside before it gets the name of a file in another's folder, and stays there if it is killed.

Each such file is noted first, below a private folder, by its path and the process that makes it. The path has a random
name: what a dead process noted is its own, and goes with the next start.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.adapters.private_files import make_private_directory, remove_file
from gemini_companion.adapters.storage.process import ProcessIdentity, ProcessTable, SystemProcesses
from gemini_companion.settings.reading import aside_name

logger = logging.getLogger(__name__)

UNKNOWN_SECONDS: Final = 30 * 24 * 3600
"""Age from which on a note goes whose process cannot be proved dead. What it names stays: it may be another machine's.
"""

_NAME: Final = re.compile(r"\.[0-9a-f]{16}\.gemini-companion")


class _Note(msgspec.Struct, frozen=True):
    owner: ProcessIdentity
    folder: str
    name: str


class Asides:
    """Notes of this process below `folder`. Everything blocks."""

    def __init__(self, folder: str, processes: ProcessTable | None = None) -> None:
        self._folder = folder
        self._processes = processes or SystemProcesses()

    @cached_property
    def _me(self) -> ProcessIdentity:
        return self._processes.me()

    @contextmanager
    def in_folder(self, folder: str) -> Generator[str]:
        """A name of its own for a file in the folder, noted within the block."""
        name = aside_name()
        with self.noted(folder, name):
            yield name

    @contextmanager
    def noted(self, folder: str, name: str) -> Generator[None]:
        """Within the block there may be a file of this `aside_name` in the folder. A note that cannot be kept costs
        nothing but that it is not found.
        """
        path = os.path.join(self._folder, f"{name.strip('.')}.json")
        note = _Note(owner=self._me, folder=folder, name=name)
        try:
            make_private_directory(self._folder)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.encode(note))
        except (OSError, UnicodeEncodeError) as fault:
            logger.debug("A file that is written aside is not noted: %s", fault)
            path = ""
        try:
            yield
        finally:
            if path:
                remove_file(path)


def sweep_asides(folder: str, *, processes: ProcessTable | None = None, now: float | None = None) -> int:
    """Take away what dead processes wrote aside, by their notes below `folder`; returns how many files that were.

    `now` is in seconds since 1970. Raises nothing.
    """
    processes, now, swept = processes or SystemProcesses(), time.time() if now is None else now, 0
    try:
        notes = [Path(entry.path) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
    except OSError:
        return 0
    for path in notes:
        with suppress(OSError):
            try:
                note = msgspec.json.decode(path.read_bytes(), type=_Note)
            except msgspec.DecodeError:
                is_alive = None
            else:
                is_alive = processes.is_alive(note.owner)
                if is_alive is False:
                    swept += _take_away(note)
            if is_alive is False or (is_alive is None and now - path.stat().st_mtime > UNKNOWN_SECONDS):
                path.unlink()
    return swept


def _take_away(note: _Note) -> bool:
    """Delete what is noted, if it is a file of the person's own with such a name. Raises `OSError`."""
    path = os.path.join(note.folder, note.name)
    with suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(path)
        is_ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
        if _NAME.fullmatch(note.name) and stat.S_ISREG(found.st_mode) and is_ours:
            os.unlink(path)
            return True
    return False
