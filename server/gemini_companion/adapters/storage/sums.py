"""`SqliteSums`: what is kept of sessions' statistics, so that no log is read for them twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage.worker import Worker
from gemini_companion.engine.redaction import mask
from gemini_companion.sessions.kept_sums import KeptSums

if TYPE_CHECKING:
    import sqlite3

_AT_ONCE: Final = 500
"""Parameters of one statement, of which old versions of SQLite take 999."""


class SqliteSums:
    """The `SumsStore` port on the file of the sessions."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def newest(self) -> dict[str, int]:
        """The number of each session's newest entry, 0 for one without."""

        def work(connection: sqlite3.Connection) -> dict[str, int]:
            rows = connection.execute(
                "SELECT session_id, (SELECT max(seq) FROM log WHERE log.session_id = sessions.session_id) FROM sessions"
            )
            return {session_id: newest or 0 for session_id, newest in rows}

        return await self._worker.run("read", work)

    async def load(self, wanted: Mapping[str, int]) -> dict[str, bytes]:
        """What is kept of sessions as of these numbers of entries; nothing of those that have gone on."""

        def work(connection: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            ids = list(wanted)
            for start in range(0, len(ids), _AT_ONCE):
                some = ids[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                rows = connection.execute(
                    f"SELECT session_id, newest, CAST(json AS BLOB) FROM sums WHERE session_id IN ({marks})", some
                )
                found |= {session_id: data for session_id, newest, data in rows if newest == wanted[session_id]}
            return found

        return await self._worker.run("read", work)

    async def save(self, kept: Sequence[KeptSums]) -> None:
        """Keep the sums of sessions that are still there, in place of what was kept of them."""

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR REPLACE INTO sums (session_id, newest, json)"
                " SELECT session_id, ?2, ?3 FROM sessions WHERE session_id = ?1",
                masked,
            )

        masked = [
            one._replace(data=mask(one.data.decode(errors="replace")).encode()) for one in kept
        ]  # models make up names of tools
        await self._worker.run("relaxed", work)
