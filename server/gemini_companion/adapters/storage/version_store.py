"""`SqliteVersions`: versions of files, and which turn of which session needs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.records import require_session
from gemini_companion.adapters.storage.vaulted import note_left
from gemini_companion.adapters.storage.versions import (
    VersionFiles,
    digest_of,
    forget_turn,
    forget_version,
    needed_versions,
    note_versions,
    oldest_turns,
)
from gemini_companion.sessions.ports import Clock

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.storage.worker import Worker
    from gemini_companion.adapters.vault.vault import Vault

MAX_STORE: Final = 2**30
"""Bytes on disk of all versions of a project."""
_FILLED_TO: Final = 0.9
"""Share of the room that is still filled after the oldest turns' versions went."""
_UNFINISHED_SECONDS: Final = 86_400.0
_LOOKED_EVERY: Final = 32
"""Saves after which it is looked how much room is taken: other processes fill it too."""


class SqliteVersions:
    """The `VersionStore` of one project. A version is needed before it is written and removed only where nobody needs
    it, both within a transaction: no process removes what another has just begun to rely on.

    `room` is in bytes on disk. `notify` gets a sentence for people when versions had to go.
    """

    def __init__(
        self,
        worker: Worker,
        directory: str,
        clock: Clock,
        notify: Callable[[str], None],
        *,
        room: int = MAX_STORE,
        vault: Vault | None = None,
    ) -> None:
        self.room = room
        self._worker = worker
        self._vault = vault
        self._files = VersionFiles(directory, vault)
        self._clock = clock
        self._notify = notify
        self._saves = 0
        self._unknown = 0
        """Bytes that were saved since it was looked how much room is taken, uncompressed."""

    async def save(self, session_id: str, turn_id: str, versions: Sequence[bytes]) -> None:
        """Keep versions for a turn of a session."""
        digests = await asyncio.to_thread(lambda: [digest_of(data) for data in versions])

        def note(connection: sqlite3.Connection) -> None:
            require_session(connection, session_id)
            note_versions(connection, session_id, turn_id, digests)
            if self._vault is not None and not self._vault.is_on():
                note_left(connection, "files")

        await self._worker.run("write", note)
        await asyncio.to_thread(lambda: [self._files.save(data) for data in versions])
        self._unknown += sum(map(len, versions))
        if self._saves % _LOOKED_EVERY == 0 or self._unknown > self.room // 8:
            self._unknown = 0
            await self._make_room(session_id, turn_id)
        self._saves += 1

    async def load(self, digest: str) -> bytes | None:
        """The version with this digest."""
        return await asyncio.to_thread(self._files.load, digest)

    async def forget(self, session_id: str, turn_id: str, digest: str) -> None:
        """Delete a version if only this turn needed it."""

        def work(connection: sqlite3.Connection) -> None:
            if not forget_version(connection, session_id, turn_id, digest):
                self._files.remove([digest])

        await self._worker.run("relaxed", work)

    def close_older(self) -> bool:
        """Close what was kept before there was a vault, or while redaction was off; False if some could not be."""
        return self._files.close_older()

    async def remove_unneeded(self) -> None:
        """Delete the versions that no session needs any more, and what was left unfinished a day ago."""
        await self._worker.run("write", self._remove_unneeded)
        before = self._clock.now() / 1000 - _UNFINISHED_SECONDS
        await self._worker.run_file(lambda: self._files.remove_unfinished(before))

    async def _make_room(self, session_id: str, turn_id: str) -> None:
        """Let the oldest turns' versions go if there are too many; those of this turn stay in any case."""

        def work(connection: sqlite3.Connection) -> int:
            sizes = {digest: self._files.size(digest) for digest in self._files.all()}
            if sum(sizes.values()) <= self.room:
                return 0
            users: dict[str, int] = {}
            turns = oldest_turns(connection)
            for _, _, digests in turns:
                for digest in digests:
                    users[digest] = users.get(digest, 0) + 1
            left, forgotten = sum(size for digest, size in sizes.items() if digest in users), 0
            for of_session, turn, digests in turns:
                if left <= self.room * _FILLED_TO:
                    break
                if (of_session, turn) == (session_id, turn_id):
                    continue
                forget_turn(connection, of_session, turn)
                forgotten += 1
                for digest in digests:
                    users[digest] -= 1
                    left -= sizes.get(digest, 0) if users[digest] == 0 else 0
            self._remove_unneeded(connection)
            return forgotten

        forgotten = await self._worker.run("write", work)
        if forgotten:
            self._notify(
                f"Earlier versions of changed files had no more room: those of the {forgotten} oldest turns were"
                " deleted, and these turns' changes can no longer be taken back."
            )

    def _remove_unneeded(self, connection: sqlite3.Connection) -> None:
        self._files.remove(self._files.all() - needed_versions(connection))
