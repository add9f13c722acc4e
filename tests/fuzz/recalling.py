"""Recall, fuzzed: whatever was said is indexed, whatever is asked is answered."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Final

from gemini_companion.adapters.storage import recall_search
from gemini_companion.adapters.storage.records import delete_session, insert_session
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.ports import SessionMeta

QUESTIONS: Final = (
    b'When did I say "never touch NEAR(a b) -x col: body*" on 7 May 2023, 2026-02-28?',
    "接続タイムアウトの再試行は parseConfigFile ｒｅｔｒｙ × é\u0301 😀 ไทย".encode(),
    b"what did you suggest about snake_case/a/path.py:12 HTTPServer2 \x00 utf8? " * 40,
)


@asynccontextmanager
async def recalling() -> AsyncGenerator[Callable[[bytes], Awaitable[None]]]:
    """Each text is said, and asked."""
    count = 0
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)

        async def feed(data: bytes) -> None:
            nonlocal count
            count += 1
            said = user_text(data.decode(errors="replace"))
            entry = PromptEntry(id=f"e{count}", seq=1, time=count, turn_id="t", content=said)
            meta = SessionMeta(session_id=f"s{count % 50}", title="", model="", created_at=0, updated_at=0)
            if count > 50:
                delete_session(connection, meta.session_id)
            insert_session(connection, Vaulted().meta(meta), Vaulted().entries([entry]))
            query = parse_query(data.decode("utf-8", "surrogateescape"))
            recall_search.hits(connection, recall_search.search(connection, query), query.words)

        yield feed
