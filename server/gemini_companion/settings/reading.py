"""Reading a small, untrusted text file; and writing one, whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TypeAlias

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.obeyed import gate

Aside: TypeAlias = Callable[[str], AbstractContextManager[str]]
"""Gives a file that stands in a folder for a moment a name that nobody has, and sees to it that a kill leaves none."""

SIZE_LIMIT = 1 << 20
"""Bytes; a larger settings file or system prompt is refused."""

# A pipe or a terminal with the file's name must not block the server.
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotAgreed(InvalidSettings):
    """A command wrote the file, and nobody agreed to it: it is as if it were not there, or were as it was."""


def read_text(path: Path, refuse: Callable[[os.stat_result], str | None] = lambda _: None) -> str | None:
    """The text of a file, without a byte order mark; `None` if there is no such file, and no link in its place.

    `refuse` sees the open file's data and says why it must not be read, or `None`. Raises `InvalidSettings` for that,
    for what a command wrote and nobody agreed to, and for what is no regular file, cannot be read, is over
    `SIZE_LIMIT` or is not UTF-8; without a hint, which only the caller can give.
    """
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        if link := _dangling(path):
            raise InvalidSettings(
                f"{shown(path)}: cannot be read, for {shown(link)} is a link that leads nowhere"
            ) from None
        return None
    except (OSError, ValueError) as fault:
        raise InvalidSettings(f"{shown(path)}: cannot be read ({_why(fault)})") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise InvalidSettings(f"{shown(path)}: is not a regular file")
        if reason := refuse(found):
            raise InvalidSettings(f"{shown(path)}: {reason}")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as fault:
        raise InvalidSettings(f"{shown(path)}: cannot be read ({_why(fault)})") from None
    finally:
        os.close(descriptor)
    if reason := gate.refusal(path, data, found.st_size):
        raise NotAgreed(f"{shown(path)}: does not count: {reason}")
    if len(data) > SIZE_LIMIT:
        raise InvalidSettings(f"{shown(path)}: is larger than {SIZE_LIMIT:,} bytes")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        column = fault.start - data.rfind(b"\n", 0, fault.start)
        raise InvalidSettings(f"{shown(path)}:{line}:{column}: is not UTF-8 (byte 0x{data[fault.start]:02x})") from None


def aside_name() -> str:
    """A name for a file that stands beside another one for a moment. Nobody else has it."""
    return f".{secrets.token_hex(8)}.gemini-companion"


def unnoted(folder: str) -> AbstractContextManager[str]:
    """A name that is noted nowhere: a kill leaves the file."""
    return nullcontext(aside_name())


def put_in_place(path: Path, data: bytes, aside: Aside, mode: int = 0o600) -> None:
    """Give a file these bytes at once and durably. Raises `OSError`."""
    with aside(str(path.parent)) as name:
        fresh = path.with_name(name)
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(fresh, mode)
            os.replace(fresh, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh)
            raise


def shown(path: Path) -> str:
    """The path as text that can be printed and sent, whatever bytes are in its names."""
    return str(path).encode("utf-8", "replace").decode("utf-8")


def _dangling(path: Path) -> Path | None:
    """The link to nothing that a file which is not there is, or lies behind; `None` if there is none."""
    for one in (path, *path.parents):
        if os.path.lexists(one):
            return None if os.path.exists(one) else one
    return None


def _why(fault: OSError | ValueError) -> str:
    return fault.strerror or str(fault) if isinstance(fault, OSError) else "its path is not valid"
