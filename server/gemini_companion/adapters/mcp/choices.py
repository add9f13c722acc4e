"""A small file of ours, 0600, written as a whole: what people chose about servers, and what is kept of logins."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.engine.errors import StorageFault
from gemini_companion.sessions.mcp.choices import Choices

_MAX_BYTES: Final = 4 * 2**20


class ChoicesInFile:
    """The port `ChoiceStore`, in a file of the data directory."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "mcp.json"

    def read(self) -> Choices:
        """What is kept; nothing where it cannot be read."""
        try:
            return msgspec.json.decode(read_own(self._file), type=Choices)
        except (OSError, msgspec.DecodeError):
            return Choices()

    def write(self, choices: Choices) -> None:
        """Keep it. Raises `StorageFault`."""
        write_own(self._file, msgspec.json.format(msgspec.json.encode(choices)))


def read_own(file: Path) -> bytes:
    """The bytes of a file of ours, no link. Raises `OSError`."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as opened:
        return opened.read(_MAX_BYTES)


def write_own(file: Path, data: bytes) -> None:
    """Write it aside and put it in place; its owner alone can read it. Raises `StorageFault`."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, aside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")  # 0600
        try:
            with open(descriptor, "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fsync(descriptor)
            os.replace(aside, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(aside)
            raise
    except OSError as fault:
        raise StorageFault(
            f"{file} could not be written: {fault.strerror or type(fault).__name__}.",
            hint="See whether there is room on the disk, and whether the folder is yours.",
        ) from None
