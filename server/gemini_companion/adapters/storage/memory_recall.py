"""Finding what was said, in sessions that are in memory alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.storage import recall_index, recall_search
from gemini_companion.adapters.storage.records import insert_session
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.recall.query import RecallQuery
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.recall_store import PassageText, Vector
from gemini_companion.sessions.recalled import RecallResult

if TYPE_CHECKING:
    import sqlite3

_AS_IT_IS: Final = Vaulted()


class MemoryRecall:
    """A `RecallStore` over sessions in memory, indexed anew for every question."""

    def __init__(self, sessions: Sequence[tuple[SessionMeta, Sequence[Entry]]]) -> None:
        self._sessions = sessions

    async def search(
        self, query: RecallQuery, *, session_id: str | None = None, limit: int = 10, vector: Vector | None = None
    ) -> RecallResult:
        """The turns that answer a question best."""
        with closing(self._indexed()) as connection:
            found = recall_search.search(connection, query, session_id=session_id, limit=limit)
            return RecallResult(hits=tuple(recall_search.hits(connection, found, query.words)))

    async def whole(
        self, *, session_id: str | None = None, turn_id: str | None = None, entry_id: str | None = None
    ) -> RecallResult:
        """All that was said in a turn, or one entry."""
        with closing(self._indexed()) as connection:
            found = recall_search.whole(connection, session_id=session_id, turn_id=turn_id, entry_id=entry_id)
            return RecallResult(hits=tuple(found))

    async def passages_without_vector(self, model: str) -> list[PassageText] | None:
        """None: sessions in memory are not searched by meaning."""
        return None

    async def save_vectors(self, vectors: Sequence[tuple[PassageText, Vector]]) -> None:
        """Do nothing."""

    async def index(self) -> None:
        """Do nothing: every question does it."""

    def _indexed(self) -> sqlite3.Connection:
        import sqlite3

        connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(connection)
        for meta, log in self._sessions:
            insert_session(connection, _AS_IT_IS.meta(meta), _AS_IT_IS.entries(log))
        while recall_index.index_step(connection):
            pass
        return connection
