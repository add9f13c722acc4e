"""The tables, as append-only migrations. `PRAGMA user_version` is the number of migrations that a file has had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from gemini_companion.engine.errors import StorageFault

if TYPE_CHECKING:
    import sqlite3

FILE_NAME: Final = "sessions.db"

Migration: TypeAlias = tuple[str, ...]
"""Statements, run in one transaction."""

MIGRATIONS: Final[tuple[Migration, ...]] = (
    (
        # `title` and `updated_at` repeat fields of `meta` (a SessionMeta as JSON), for ordering, and for use if that is
        # damaged.
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, updated_at INTEGER NOT NULL, meta BLOB NOT NULL)""",
        "CREATE INDEX sessions_by_time ON sessions (updated_at, session_id)",
        """CREATE TABLE entries (
            session_id TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,
            json BLOB NOT NULL, PRIMARY KEY (session_id, seq))""",
        # Rows that can no longer be decoded and had the numbers of new ones. Kept for manual recovery.
        "CREATE TABLE damaged_entries (session_id TEXT NOT NULL, seq INTEGER NOT NULL, json BLOB NOT NULL)",
        """CREATE TABLE leases (
            session_id TEXT PRIMARY KEY NOT NULL, instance TEXT NOT NULL, machine TEXT NOT NULL, pid INTEGER NOT NULL,
            started TEXT NOT NULL, heartbeat INTEGER NOT NULL)""",
        # The next number to reserve, and the highest one whose event is no longer stored.
        """CREATE TABLE event_numbers (
            session_id TEXT PRIMARY KEY NOT NULL, next INTEGER NOT NULL, gone_to INTEGER NOT NULL DEFAULT 0)""",
        """CREATE TABLE events (
            session_id TEXT NOT NULL, seq INTEGER NOT NULL, json BLOB NOT NULL, PRIMARY KEY (session_id, seq))""",
        # One row of `texts` (by rowid) per title (seq 0) and per entry with text.
        "CREATE TABLE documents (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL)",
        "CREATE UNIQUE INDEX documents_by_entry ON documents (session_id, seq)",
        "CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2')",
    ),
    # Version 0.1 cannot read entries by their new names. It refuses to open the file from here on, and one that has it
    # open finds its table gone instead of dropping what it does not know. The entries' JSON stays as it is.
    ("UPDATE entries SET type = 'compression' WHERE type = 'compaction'", "ALTER TABLE entries RENAME TO log"),
    # Sessions that a sweep found old enough to go, and when it first did (ms since 1970).
    ("CREATE TABLE due_sessions (session_id TEXT PRIMARY KEY NOT NULL, since INTEGER NOT NULL)",),
    # What `recall` searches. All of it is made of the log, and made anew wherever `indexed_to` is behind that.
    (
        """CREATE TABLE recall_sessions (
            number INTEGER PRIMARY KEY, session_id TEXT UNIQUE NOT NULL, indexed_to INTEGER NOT NULL, places INTEGER NOT NULL)""",
        # `id` is the spot: the session's number and the entry's place in it (`engine.recall.ranking`).
        """CREATE TABLE passages (
            id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, time INTEGER NOT NULL, about INTEGER NOT NULL, parts INTEGER NOT NULL,
            entry_id TEXT NOT NULL, turn_id TEXT NOT NULL)""",
        # The rowids of both: the spot, whether a tool said it, the number of the part.
        "CREATE VIRTUAL TABLE recall USING fts5 (body, tokenize = 'porter unicode61 remove_diacritics 2')",
        "CREATE TABLE vectors (id INTEGER PRIMARY KEY, model TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL)",
        "CREATE INDEX vectors_by_hash ON vectors (hash)",
        "CREATE INDEX compressions_by_session ON log (session_id, seq) WHERE type IN ('compression', 'undo')",
    ),
    # The rules that hold in every session of the project (a Constraint as JSON), oldest first by rowid.
    ("CREATE TABLE constraints (constraint_id TEXT PRIMARY KEY NOT NULL, json BLOB NOT NULL)",),
    # Which turn of which session needs which version of a file; oldest first by rowid.
    (
        """CREATE TABLE versions (
            session_id TEXT NOT NULL, turn_id TEXT NOT NULL, digest TEXT NOT NULL, UNIQUE (session_id, turn_id, digest))""",
        "CREATE INDEX versions_by_digest ON versions (digest)",
    ),
    # The chat that a subagent's session belongs to; it repeats a field of `meta`, for listings and deletions.
    ("ALTER TABLE sessions ADD COLUMN agent_of TEXT", "CREATE INDEX sessions_by_chat ON sessions (agent_of)"),
    # What a session did and cost, as of the entry with this number (`engine.statistics.sums`). Made of the log.
    (
        """CREATE TABLE sums (
            session_id TEXT PRIMARY KEY NOT NULL, newest INTEGER NOT NULL, json BLOB NOT NULL)""",
    ),
    # Secrets, closed with the vault's key, and which session has a marker of which; '' is the project as a whole.
    # `redacted` is 1 where a row's JSON has markers for its secrets and is escaped. Those of earlier versions, and what
    # was written while redaction was off, have 0, and the background goes through them.
    (
        "CREATE TABLE vault (id TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL)",
        "CREATE TABLE vault_uses (session_id TEXT NOT NULL, id TEXT NOT NULL, UNIQUE (session_id, id))",
        "CREATE INDEX vault_uses_by_id ON vault_uses (id)",
        "ALTER TABLE sessions ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE log ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE damaged_entries ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE constraints ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX unredacted ON log (session_id, seq) WHERE redacted = 0",
        # Whether the files beside the database, and the free pages within it, still have what was written before.
        "CREATE TABLE redaction (id INTEGER PRIMARY KEY CHECK (id = 1), files INTEGER NOT NULL, pages INTEGER NOT NULL)",
        "INSERT INTO redaction SELECT 1, count(*) > 0, count(*) > 0 FROM sessions",
    ),
    # What requests to models have cost, by the quarter of an hour (`engine.statistics.spending`).
    (
        """CREATE TABLE spending (
            slot INTEGER PRIMARY KEY NOT NULL, tokens INTEGER NOT NULL, micro_dollars INTEGER NOT NULL)""",
    ),
    # Sizes of contents, many in a row (`storage.counts`), by which rules of counting. Made of the log.
    (
        "CREATE TABLE counts (session_id TEXT NOT NULL, rules INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE INDEX counts_by_session ON counts (session_id)",
    ),
    # Indexes without texts of their own (`storage.full_text`), filled in the background with what they had. A process
    # of an earlier version that has the file open finds a table gone instead of taking out words that it did not put in.
    (
        "DROP TABLE texts",
        "DROP TABLE documents",
        "DROP TABLE recall",
        """CREATE VIRTUAL TABLE texts USING fts5 (
            body, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2')""",
        """CREATE VIRTUAL TABLE recall USING fts5 (
            body, content = '', tokenize = 'porter unicode61 remove_diacritics 2')""",
        "DELETE FROM passages",
        "UPDATE recall_sessions SET indexed_to = 0, places = 0",
        "ALTER TABLE recall_sessions ADD COLUMN titled INTEGER NOT NULL DEFAULT 0",
        # Which words an index takes of a text (`engine.recall.words.RULES_OF_WORDS`).
        "CREATE TABLE index_rules (id INTEGER PRIMARY KEY CHECK (id = 1), words INTEGER NOT NULL)",
        "INSERT INTO index_rules VALUES (1, 1)",
        "UPDATE redaction SET pages = 1 WHERE (SELECT count(*) FROM sessions) > 0",  # gives the room of the copies back
    ),
    # The entries that a fork began with: by whom they were written, whose session may be gone (`storage.log_rows`). A
    # process of an earlier version that has the file open finds a table gone instead of taking what a fork wrote itself
    # for its whole log, or deleting rows that are shared.
    (
        """CREATE TABLE shares (
            session_id TEXT NOT NULL, owner TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
            UNIQUE (session_id, first))""",
        "CREATE INDEX shares_by_owner ON shares (owner, first)",
        "ALTER TABLE counts RENAME TO sizes",
    ),
)

TABLES: Final = (
    "sessions",
    "log",
    "damaged_entries",
    "leases",
    "event_numbers",
    "events",
    "due_sessions",
    "versions",
    "sums",
    "sizes",
    "shares",
    "vault_uses",
)
"""Every table of the sessions but the indexes, all with a column `session_id`."""

SHARED: Final = ("log", "damaged_entries", "shares")
"""Those of them with rows that stay as long as another session has them (`storage.log_rows`)."""

PROJECT_TABLES: Final = ("constraints", "spending", "vault", "redaction")
"""Every table of the project as a whole."""


def version_of(connection: sqlite3.Connection) -> int:
    """The number of migrations that the file has had."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def check_version(connection: sqlite3.Connection, path: str, *, newest: int = len(MIGRATIONS)) -> None:
    """Raise `StorageFault` for a file of a later version, which is not changed."""
    version = version_of(connection)
    if version > newest:
        raise StorageFault(
            f"{path} was written by a newer gemini-companion (store version {version}; this one knows {newest}).",
            hint="Update gemini-companion, or set COMPANION_DATA_DIR to another folder. The file was not touched.",
        )


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the file to the newest version, one transaction per migration; another process may do the same."""
    for version, statements in enumerate(migrations, start=1):
        if version_of(connection) >= version:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version_of(connection) < version:
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
