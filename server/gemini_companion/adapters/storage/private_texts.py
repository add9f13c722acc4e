"""`PrivateTexts`: the files of a store's sessions, which only their owner may read."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.private_files import (
    close_to_others,
    link_private_files,
    make_private_directory,
    make_room,
    move_private_file,
    read_private_file,
    remove_file,
    safe_name,
    write_private_file,
)
from gemini_companion.adapters.storage import records
from gemini_companion.adapters.storage.faults import storage_fault
from gemini_companion.adapters.storage.vaulted import keep_secrets, note_left, sealed_of
from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.adapters.vault.sealing import OUTPUT

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.vault.vault import Vault

_log = logging.getLogger(__name__)


REDACTED: Final = b"\n[[secret::]]\n"
"""How a text ends that has markers, or is escaped; every other one is as it was given, for nothing in it opens one."""


def written_text(vault: Vault | None, text: str) -> tuple[bytes, Mapping[str, bytes]]:
    """A text as it may stand in a file, and the secrets that must be in the vault before."""
    if vault is None:
        return text.encode(errors="replace"), {}
    redacted = vault.text(text)
    return (redacted.data + REDACTED if redacted.is_changed else redacted.data), redacted.secrets


class PrivateTexts:
    """What a store does with private files; part of `SqliteStore`."""

    worker: Worker
    _directory: str
    _vault: Vault | None
    _notify: Callable[[str], None]
    _limited: set[str]
    """Sessions of which it was told that their files are limited."""

    async def save_text(self, session_id: str, name: str, text: str) -> str:
        """Write a private file and return its absolute path, unless it is there; a name taken by another text gets a
        number.
        """
        directory = await self._known(session_id)
        data, secrets = await asyncio.to_thread(written_text, self._vault, text)
        if secrets:  # ahead of the file: a marker without its secret would be all that is left of it
            await self.worker.run("write", lambda connection: keep_secrets(connection, session_id, secrets))
        await self._note_open()

        def work() -> str:
            make_private_directory(directory)
            close_to_others(directory)
            return write_private_file(directory, safe_name(name), data)

        return await self.worker.run_file(work)

    async def keep_file(self, session_id: str, name: str, path: str) -> str:
        """Take a file in as a private text: it is moved, and its new path returned. Raises `StorageFault`."""
        directory = await self._known(session_id)
        await self._note_open()

        def work() -> str:
            try:
                make_private_directory(directory)
                close_to_others(directory)
                return move_private_file(path, directory, safe_name(name))
            except OSError as fault:
                raise storage_fault(fault, directory) from fault

        return await asyncio.to_thread(work)

    async def read_text(self, session_id: str, name: str) -> str | None:
        """A private text by the name given to `save_text`; `None` if there is none."""
        data = await asyncio.to_thread(read_private_file, self.text_path(session_id, name))
        if data is None or self._vault is None:
            return None if data is None else data.decode(errors="backslashreplace")
        if not data.endswith(REDACTED):
            opened = await asyncio.to_thread(self._vault.unsealed_stream, data, OUTPUT)
            return None if opened is None else opened.decode(errors="backslashreplace")
        vault, inside = self._vault, data[: -len(REDACTED)]

        def work(connection: sqlite3.Connection) -> bytes:
            return vault.restored(inside, lambda secret_id: sealed_of(connection, secret_id), in_json=False)

        return (await self.worker.run("read", work)).decode(errors="backslashreplace")

    async def remove_texts(self, session_id: str, names: Sequence[str]) -> None:
        """Delete private files, if they exist."""

        def work() -> None:
            for name in names:
                remove_file(self.text_path(session_id, name))

        await self.worker.run_file(work)

    async def limit_texts(self, session_id: str, most_bytes: int, *, first: Sequence[str], spared: str) -> int:
        """Delete private files beyond so many bytes; people are told of the first time in a session."""
        directory = self._files_of(session_id)

        def work() -> int:
            try:
                return make_room(directory, most_bytes, [safe_name(name) for name in first], safe_name(spared))
            except OSError as fault:
                raise storage_fault(fault, directory) from fault

        removed = await self.worker.run_file(work)
        if removed and session_id not in self._limited:
            self._limited.add(session_id)
            self._notify(
                f"The outputs that a chat keeps whole have reached {most_bytes // 2**20} MB, so the oldest ones are"
                " deleted from now on. What the chat shows of them stays."
            )
        return removed

    async def share_texts(self, session_id: str, parent: str) -> None:
        """Give a fork its parent's private files. What cannot be given is logged: their texts stay cut."""
        source, directory = self._files_of(parent), self._files_of(session_id)

        def work() -> None:
            try:
                link_private_files(source, directory)
            except OSError as fault:
                _log.warning("A fork has not all private files of its parent: %s", fault)

        await self.worker.run_file(work)

    def text_path(self, session_id: str, name: str) -> str:
        """The path that `save_text` uses for `name`, if that is not taken."""
        return os.path.join(self._files_of(session_id), safe_name(name))

    async def _note_open(self) -> None:
        """While redaction is off: note that files have to be gone through once it is on."""
        if self._vault is not None and not self._vault.is_on():
            await self.worker.run("relaxed", lambda connection: note_left(connection, "files"))

    async def _known(self, session_id: str) -> str:
        await self.worker.run("read", lambda connection: records.require_session(connection, session_id))
        return self._files_of(session_id)

    def _files_of(self, session_id: str) -> str:
        return os.path.join(self._directory, "files", safe_name(session_id))
