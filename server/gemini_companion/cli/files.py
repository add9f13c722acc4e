"""Reading and writing files named on the command line."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gemini_companion.engine.errors import CompanionError, InvalidInput
from gemini_companion.sessions.interchange import ImportedSession, decode_session_file
from gemini_companion.settings.reading import Aside, put_in_place, unnoted

FILE_LIMIT: Final = 256 * 1024 * 1024
"""Bytes of an input file at most."""


def read_session(name: str) -> ImportedSession:
    """The session in a file, or on stdin for `-`. Raises `InvalidInput`."""
    if name == "-":
        data = sys.stdin.buffer.read(FILE_LIMIT + 1)
        if len(data) > FILE_LIMIT:
            raise InvalidInput(f"standard input is larger than {FILE_LIMIT // 1024**2} MiB.")
        return decode_session_file(data, "standard input")
    return decode_session_file(read_bytes(name), Path(name).name)


def read_bytes(name: str) -> bytes:
    """A file's bytes. Raises `InvalidInput`."""
    path = Path(name)
    try:
        if path.is_dir():
            raise InvalidInput(f"{name} is a folder; a file was expected.")
        if path.stat().st_size > FILE_LIMIT:
            raise InvalidInput(f"{name} is larger than {FILE_LIMIT // 1024**2} MiB.")
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror or error}.") from None


def read_text(name: str) -> str:
    """A file's text. Raises `InvalidInput`."""
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 (byte {error.start}).", hint="Save it as UTF-8.") from None


def aside(env: Mapping[str, str]) -> Aside:
    """Notes what is written aside for the next daemon, which takes away what a killed command left."""
    from gemini_companion.adapters.asides import Asides  # a command seldom writes
    from gemini_companion.wiring.places import asides_directory, data_directory

    if not data_directory(env).is_dir():  # no daemon was ever here, and a command makes no folder for it
        return unnoted
    return Asides(asides_directory(env)).in_folder


def check_writable(name: str) -> None:
    """Check that a file can be written there, as far as that is known before. Raises `CompanionError`."""
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        why = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise CompanionError(f"{name} cannot be written: {why}.", hint="Name a file in a folder that exists.")


def write_whole(name: str, data: bytes, *, is_private: bool = False) -> None:
    """Write a file completely or not at all. Raises `CompanionError`.

    A new one is readable by its owner only, for it holds a conversation; one that is replaced keeps its mode, unless
    the new one `is_private`.
    """
    path = Path(name)
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() and not is_private else 0o600
        put_in_place(path, data, aside(os.environ), mode)
    except OSError as error:
        raise CompanionError(f"{name} cannot be written: {error.strerror or error}.") from None
