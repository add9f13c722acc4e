"""`PrivateTexts`: the files of a store's sessions, which only their owner may read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from gemini_companion.adapters.storage import records
from gemini_companion.adapters.storage.faults import storage_fault
from gemini_companion.adapters.storage.private_files import (
    close_to_others,
    make_private_directory,
    move_private_file,
    read_private_text,
    remove_file,
    safe_name,
    write_private_text,
)
from gemini_companion.adapters.storage.worker import Worker


class PrivateTexts:
    """What a store does with private files; part of `SqliteStore`."""

    worker: Worker
    _directory: str

    async def save_text(self, session_id: str, name: str, text: str) -> str:
        """Write a private file and return its absolute path, unless it is there; a name taken by another text gets a
        number.
        """
        directory = await self._known(session_id)

        def work() -> str:
            make_private_directory(directory)
            close_to_others(directory)
            return write_private_text(directory, safe_name(name), text)

        return await self.worker.run_file(work)

    async def keep_file(self, session_id: str, name: str, path: str) -> str:
        """Take a file in as a private text: it is moved, and its new path returned. Raises `StorageFault`."""
        directory = await self._known(session_id)

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
        return await asyncio.to_thread(read_private_text, self.text_path(session_id, name))

    async def remove_texts(self, session_id: str, names: Sequence[str]) -> None:
        """Delete private files, if they exist."""

        def work() -> None:
            for name in names:
                remove_file(self.text_path(session_id, name))

        await self.worker.run_file(work)

    def text_path(self, session_id: str, name: str) -> str:
        """The path that `save_text` uses for `name`, if that is not taken."""
        return os.path.join(self._files_of(session_id), safe_name(name))

    async def _known(self, session_id: str) -> str:
        await self.worker.run("read", lambda connection: records.require_session(connection, session_id))
        return self._files_of(session_id)

    def _files_of(self, session_id: str) -> str:
        return os.path.join(self._directory, "files", safe_name(session_id))
