"""The bytes that files had before and after a turn changed them, by their digest, beside the log.

A blob is a file `<first two digits>/<digest>.zst` of zstd frames with a checksum; blobs that no session needs any more
go. Which session needs which is in the table `versions` of the project's file. With a vault the frames are closed with
its key, whatever is in them: a file has to come back byte for byte, so nothing in it can be replaced.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.private_files import (
    make_private_directory,
    open_private_file,
    remove_file,
    replace_private_file,
)
from gemini_companion.adapters.vault.sealing import is_sealed
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.tool_entries import MAX_VERSION

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.vault.vault import Vault

_log = logging.getLogger(__name__)

MAX_FILE: Final = MAX_VERSION
_LEVEL: Final = 3


def digest_of(data: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


class VersionFiles:
    """The blobs of one project. Every method blocks and raises `StorageFault`; any number of threads may call it."""

    def __init__(self, directory: str, vault: Vault | None = None) -> None:
        self._directory = directory
        self._vault = vault

    def save(self, data: bytes) -> str:
        """Keep these bytes, at most `MAX_FILE`, and return their digest; they are on disk when this returns."""
        if len(data) > MAX_FILE:
            raise ValueError("the version is too large to be kept")
        digest = digest_of(data)
        path = self._path(digest)
        try:
            if not self._holds(path, digest, data):
                self._write(path, digest, data)
        except OSError as fault:
            raise _told(fault, "kept") from fault
        return digest

    def load(self, digest: str) -> bytes | None:
        """The bytes of this digest, `None` if they are gone. Raises `StorageFault` if they are damaged."""
        path = self._path(digest)
        try:
            with open_private_file(path) as file:
                packed = self._opened(file.read(MAX_FILE * 2), digest)
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise _told(fault, "read") from fault
        if packed is None:
            raise StorageFault(
                f"An earlier version of a file is closed with a key that the vault does not have ({digest[:12]}).",
                hint="It cannot be brought back until the key is there again; `doctor` says where it was. Nothing was"
                " changed.",
            )
        data = _unpacked(packed)
        if data is None or digest_of(data) != digest:
            raise StorageFault(
                f"An earlier version of a file is damaged on the disk ({digest[:12]}).",
                hint="It cannot be brought back. Nothing was changed.",
            )
        return data

    def size(self, digest: str) -> int:
        """Bytes that it takes on the disk; 0 if it is gone."""
        try:
            return os.stat(self._path(digest)).st_size
        except OSError:
            return 0

    def remove(self, digests: Iterable[str]) -> None:
        """Delete blobs. What cannot be deleted is logged and stays."""
        for digest in digests:
            remove_file(self._path(digest))

    def remove_unfinished(self, before: float) -> None:
        """Delete what was being written when its process ended; `before` is in seconds since 1970."""
        with suppress(OSError):
            for folder in [entry.path for entry in os.scandir(self._directory) if entry.is_dir(follow_symlinks=False)]:
                for entry in os.scandir(folder):
                    if not entry.name.endswith(".zst") and entry.stat(follow_symlinks=False).st_mtime < before:
                        remove_file(entry.path)

    def close_older(self) -> bool:
        """Close the blobs that are open, one by one; False if some could not be, which is logged."""
        is_whole = True
        for digest in self.all():
            path = self._path(digest)
            try:
                with open_private_file(path) as file:
                    packed = file.read(MAX_FILE * 2)
                if not is_sealed(packed):
                    replace_private_file(path, self._closed(packed, digest))
            except FileNotFoundError:
                continue
            except (OSError, StorageFault) as fault:
                _log.warning("An earlier version of a file could not be closed: %s", fault)
                is_whole = False
        return is_whole

    def all(self) -> set[str]:
        """The digests of all blobs there are."""
        found: set[str] = set()
        try:
            folders = [entry.path for entry in os.scandir(self._directory) if entry.is_dir(follow_symlinks=False)]
            for folder in folders:
                found |= {entry.name[:-4] for entry in os.scandir(folder) if entry.name.endswith(".zst")}
        except FileNotFoundError:
            pass
        except OSError as fault:
            raise _told(fault, "listed") from fault
        return found

    def _path(self, digest: str) -> str:
        if len(digest) != 64 or not all(character in "0123456789abcdef" for character in digest):
            raise StorageFault("This names no version of a file.", hint="The log of this session is damaged.")
        return os.path.join(self._directory, digest[:2], f"{digest}.zst")

    def _holds(self, path: str, digest: str, data: bytes) -> bool:
        """Whether the blob is there, whole: one that was damaged is written anew."""
        try:
            with open_private_file(path) as file:
                packed = self._opened(file.read(MAX_FILE * 2), digest)
        except FileNotFoundError:
            return False
        return packed is not None and _unpacked(packed) == data

    def _write(self, path: str, digest: str, data: bytes) -> None:
        import zstandard

        make_private_directory(os.path.dirname(path))
        packed = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(data)  # one a call: not shareable
        replace_private_file(path, self._closed(packed, digest))

    def _closed(self, packed: bytes, digest: str) -> bytes:
        closed = packed if self._vault is None else self._vault.sealed(packed, f"version:{digest}")
        if closed is None:
            raise StorageFault(
                "An earlier version of a file could not be kept: the vault of secrets has no key.",
                hint="`gemini-companion doctor` says why. Until it has one, changes cannot be taken back.",
            )
        return closed

    def _opened(self, packed: bytes, digest: str) -> bytes | None:
        return packed if self._vault is None else self._vault.unsealed(packed, f"version:{digest}")


def _unpacked(packed: bytes) -> bytes | None:
    """The bytes of a blob, `None` if it is damaged or says that it holds more than any version has."""
    import zstandard

    try:
        stated = zstandard.frame_content_size(packed)  # the library would believe any size that a frame states
        if not 0 <= stated <= MAX_FILE:
            return None
        return zstandard.ZstdDecompressor().decompress(packed)
    except zstandard.ZstdError:
        return None


def _told(fault: OSError, what: str) -> StorageFault:
    full = fault.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", -1))
    return StorageFault(
        f"An earlier version of a file could not be {what}: {fault.strerror or fault}.",
        hint="The disk is full: make room, then try again." if full else "Look at the rights of the data folder.",
    )


# --- which session needs which version: rows of the project's file


def note_versions(connection: sqlite3.Connection, session_id: str, turn_id: str, digests: Iterable[str]) -> None:
    """A turn of a session needs these blobs."""
    connection.executemany(
        "INSERT OR IGNORE INTO versions (session_id, turn_id, digest) VALUES (?, ?, ?)",
        [(session_id, turn_id, digest) for digest in digests],
    )


def share_versions(connection: sqlite3.Connection, session_id: str, with_session: str) -> None:
    """A fork needs what its parent needs."""
    connection.execute(
        "INSERT OR IGNORE INTO versions (session_id, turn_id, digest)"
        " SELECT ?, turn_id, digest FROM versions WHERE session_id = ? ORDER BY rowid",
        (with_session, session_id),
    )


def needed_versions(connection: sqlite3.Connection) -> set[str]:
    """The digests that some session needs."""
    return {str(digest) for (digest,) in connection.execute("SELECT DISTINCT digest FROM versions")}


def oldest_turns(connection: sqlite3.Connection) -> list[tuple[str, str, list[str]]]:
    """Session, turn and digests of each turn that changed files, the oldest first."""
    turns: dict[tuple[str, str], list[str]] = {}
    for session_id, turn_id, digest in connection.execute(
        "SELECT session_id, turn_id, digest FROM versions ORDER BY rowid"
    ):
        turns.setdefault((str(session_id), str(turn_id)), []).append(str(digest))
    return [(session_id, turn_id, digests) for (session_id, turn_id), digests in turns.items()]


def forget_version(connection: sqlite3.Connection, session_id: str, turn_id: str, digest: str) -> bool:
    """This blob is not needed for a turn any more. True if it is for another one."""
    connection.execute(
        "DELETE FROM versions WHERE session_id = ? AND turn_id = ? AND digest = ?", (session_id, turn_id, digest)
    )
    return connection.execute("SELECT 1 FROM versions WHERE digest = ? LIMIT 1", (digest,)).fetchone() is not None


def forget_turn(connection: sqlite3.Connection, session_id: str, turn_id: str) -> None:
    """The blobs of this turn are not needed for it any more."""
    connection.execute("DELETE FROM versions WHERE session_id = ? AND turn_id = ?", (session_id, turn_id))
