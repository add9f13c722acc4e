"""What a daemon that was killed had not looked at: its commands may have made something of git that a person's own git
would run. The next daemon looks at that in its place.

While commands run, a file says where, and by digests what decided there before. Its lock goes with the process that
holds it, however that ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from gemini_companion.adapters.private_files import make_private_directory

_ENDING: Final = ".running"
_MOST_FILES: Final = 100


class Unfinished(msgspec.Struct, frozen=True):
    """A workspace in which commands ran when their daemon was killed."""

    roots: tuple[str, ...]
    before: tuple[tuple[str, str, str], ...]
    """A kind, a path and a digest; see `disarming.State`."""
    held: tuple[str, ...] = ()
    """The folders of the repositories that no command could change."""


class Known(msgspec.Struct, frozen=True):
    """Of something that decides only what tells it from another is known."""

    mark: str


def mark_of(value: object) -> str:
    """What tells one thing that decides from another."""
    if isinstance(value, Known):
        return value.mark
    return hashlib.sha256(repr(value).encode("utf-8", "surrogateescape")).hexdigest()


class Book:
    """Of one daemon. `folder` is for all of a person's; without one nothing is written."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path, self._file = "", -1

    def left(self) -> Generator[Unfinished]:
        """What daemons that are gone had not looked at. It is kept until whoever asks has taken all of it."""
        names: list[str] = []
        with suppress(OSError):
            names = sorted(os.listdir(self._folder))[:_MOST_FILES] if self._folder else []
        for name in names:
            if name.endswith(_ENDING):
                yield from _taken(os.path.join(self._folder, name))

    def write(self, held: Mapping[tuple[str, ...], Iterable[str]], before: Mapping[tuple[str, str], str]) -> None:
        """Commands run in some workspaces, by their folders, or in none. Raises nothing: what cannot be written is not
        told later.
        """
        import fcntl  # there is none on Windows, and no sandbox either

        with suppress(OSError):
            if not held:
                if self._file >= 0:
                    os.unlink(self._path)
                    os.close(self._file)
                    self._file = -1
                return
            if not self._folder:
                return
            if self._file < 0:
                make_private_directory(self._folder)
                self._path = os.path.join(self._folder, secrets.token_hex(8) + _ENDING)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            known = tuple((kind, path, mark) for (kind, path), mark in before.items())
            # Names of files may have bytes that are no text: this writes them all the same.
            every = [Unfinished(roots, known, tuple(folders)) for roots, folders in held.items()]
            data = json.dumps(msgspec.to_builtins(every)).encode()
            os.pwrite(self._file, data, 0)
            os.ftruncate(self._file, len(data))


def _taken(path: str) -> Generator[Unfinished]:
    import fcntl

    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found: list[Unfinished] = []
            with suppress(msgspec.MsgspecError, ValueError):
                found = msgspec.convert(json.loads(file.read() or b"[]"), list[Unfinished])
            yield from found
            os.unlink(path)
