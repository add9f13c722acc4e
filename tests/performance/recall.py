"""How long a question takes over many turns, and how long their indexing did."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from gemini_companion.adapters.storage import recall_index, recall_search
from gemini_companion.adapters.storage.records import insert_session
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry, PromptEntry, ReplyEntry
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.ports import SessionMeta
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options

NAME: Final = "recall"
TARGET_MS: Final = 50.0
"""For 95 of 100 questions, over 4,000 turns."""
_IN_A_SESSION: Final = 200
_VOCABULARY: Final = 6_000


def run(options: Options) -> Iterator[Finding]:
    """Questions over sessions of made-up talk, whose words are as unevenly frequent as a language's."""
    for turns in (400,) if options.quick else (4_000, 40_000) if options.thorough else (4_000,):
        chance = random.Random(turns)
        with closing(sqlite3.connect(options.scratch / f"{turns}.db", isolation_level=None)) as connection:
            migrate(connection)
            begun = time.process_time()
            _fill(connection, turns, chance)
            filled = time.process_time() - begun
            times = sorted(_asked(connection, chance) for _ in range(20 if options.quick else 200))
        name = f"{turns:,} turns"
        yield Figure(bench=NAME, name=f"{name}: a question, median", value=times[len(times) // 2], unit="ms")
        yield Figure(
            bench=NAME,
            name=f"{name}: a question, 95 of 100",
            value=times[int(0.95 * (len(times) - 1))],
            unit="ms",
            target=TARGET_MS if turns <= 4_000 else None,
        )
        yield Figure(
            bench=NAME, name=f"{name}: stored and indexed, a turn", value=filled / turns * 1_000, unit="ms", note="CPU"
        )


def _fill(connection: sqlite3.Connection, turns: int, chance: random.Random) -> None:
    for session in range(turns // _IN_A_SESSION):
        entries: list[Entry] = []
        for seq in range(1, _IN_A_SESSION + 1):
            kind = PromptEntry if seq % 2 else ReplyEntry
            said = Content(role="user" if seq % 2 else "model", parts=({"text": _words(chance, 12, 80)},))
            entry_id = f"e{session}-{seq}"
            entries.append(kind(id=entry_id, seq=seq, time=seq, turn_id=f"t{session}-{seq}", content=said))
        connection.execute("BEGIN")
        meta = SessionMeta(session_id=f"s{session}", title="", model="", created_at=0, updated_at=session)
        insert_session(connection, Vaulted().meta(meta), Vaulted().entries(entries))
        connection.execute("COMMIT")
    while recall_index.index_step(connection):
        pass


def _asked(connection: sqlite3.Connection, chance: random.Random) -> float:
    """Milliseconds of CPU time of one search with all that a client gets of it."""
    question = f"What did I say about {_words(chance, 4, 9)}?"
    begun = time.thread_time()
    query = parse_query(question)
    recall_search.hits(connection, recall_search.search(connection, query), query.words)
    return (time.thread_time() - begun) * 1_000


def _words(chance: random.Random, fewest: int, most: int) -> str:
    """Words of which the second is half as frequent as the first, the third a third, and so on."""
    count = chance.randint(fewest, most)
    return " ".join(f"w{_letters(int(_VOCABULARY ** chance.random()))}" for _ in range(count))


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
