"""A small file of ours, 0600, written as a whole: what people chose about servers, and what is kept of logins."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gemini_companion.adapters.private_files import (
    make_private_directory,
    read_private_file,
    replace_private_file,
)
from gemini_companion.engine.errors import StorageFault
from gemini_companion.sessions.mcp.choices import Choices


class ChoicesInFile:
    """The port `ChoiceStore`, in a file of the data directory."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "mcp.json"

    def read(self) -> Choices:
        """What is kept; nothing where it cannot be read."""
        try:
            return msgspec.json.decode(read_own(self._file), type=Choices)
        except msgspec.DecodeError:
            return Choices()

    def write(self, choices: Choices) -> None:
        """Keep it. Raises `StorageFault`."""
        write_own(self._file, msgspec.json.format(msgspec.json.encode(choices)))


def read_own(file: Path) -> bytes:
    """The bytes of a file of ours, none if it is none or cannot be read."""
    return read_private_file(str(file)) or b""


def write_own(file: Path, data: bytes) -> None:
    """Write a file of ours, or put this in its place. Raises `StorageFault`."""
    try:
        make_private_directory(str(file.parent))
        replace_private_file(str(file), data)
    except OSError as fault:
        raise StorageFault(
            f"{file} could not be written: {fault.strerror or type(fault).__name__}.",
            hint="See whether there is room on the disk, and whether the folder is yours.",
        ) from None
