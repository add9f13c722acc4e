"""What the rows of a store say, and what they were given: secrets go into the vault's table on the way in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.log import Entry, decode_entry, encode_entry
from gemini_companion.engine.redaction import mask
from gemini_companion.engine.redaction.markers import has_markers, ids_in
from gemini_companion.sessions.ports import SessionMeta

if TYPE_CHECKING:
    import sqlite3

    from gemini_companion.adapters.vault.vault import Vault

PROJECT: Final = ""
"""The session under which the project's own rules use secrets."""


class Row(NamedTuple):
    """The JSON of a row, and what must stand in the vault with it."""

    data: bytes
    redacted: int = 0
    """1 if it has markers for its secrets and is escaped."""
    secrets: Mapping[str, bytes] = {}


class WrittenEntry(NamedTuple):
    """An entry as it is written and indexed."""

    entry: Entry
    row: Row


class WrittenMeta(NamedTuple):
    """What is known of a session as it is written and indexed."""

    meta: SessionMeta
    row: Row


class Vaulted:
    """Rows on their way in and out. Without a vault they are as they are."""

    def __init__(self, vault: Vault | None = None) -> None:
        self._vault = vault

    @property
    def is_on(self) -> bool:
        """Whether secrets are kept out of what is written now."""
        return self._vault is not None and self._vault.is_on()

    def row(self, data: bytes) -> Row:
        """A document on its way in. Takes time in proportion to it; no part of a transaction."""
        if self._vault is None or not self._vault.is_on():
            return Row(data)
        try:
            redacted = self._vault.document(data)
        except (msgspec.DecodeError, RecursionError):  # it is damaged: kept for those who look at it by hand
            return Row(mask(data.decode(errors="replace")).encode())
        return Row(redacted.data, 1, redacted.secrets)

    def entries(self, entries: Iterable[Entry]) -> list[WrittenEntry]:
        """Entries on their way in. Raises `UnicodeEncodeError` on lone surrogates."""
        written: list[WrittenEntry] = []
        entries = list(entries)
        for entry, is_clean in zip(entries, self._unchanged(entries), strict=True):
            data = encode_entry(entry)
            row = Row(data, 1) if is_clean else self.row(data)
            written.append(WrittenEntry(entry if row.data is data else decode_entry(row.data), row))
        return written

    def _unchanged(self, entries: Sequence[Entry]) -> Iterator[bool]:
        """Whether the row of each is known to be as it is."""
        if self._vault is None or not self._vault.is_on():
            return repeat(False, len(entries))
        return self._vault.unchanged(map(msgspec.to_builtins, entries))

    def meta(self, meta: SessionMeta) -> WrittenMeta:
        """What is known of a session on its way in, without its holder."""
        bare = msgspec.structs.replace(meta, held_by=None)
        data = msgspec.json.encode(bare)
        row = self.row(data)
        return WrittenMeta(bare if row.data is data else msgspec.json.decode(row.data, type=SessionMeta), row)

    def constraints(self, constraints: Sequence[Constraint]) -> list[tuple[Constraint, Row]]:
        """Rules of the project on their way in."""
        return [(one, self.row(msgspec.json.encode(one))) for one in constraints]

    def restored(self, connection: sqlite3.Connection, data: bytes | str, redacted: int) -> bytes:
        """The JSON of a row as it was given. Markers whose secret cannot be had stay."""
        raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        if not redacted or self._vault is None or not has_markers(raw):
            return raw
        return self._vault.restored(raw, lambda secret_id: sealed_of(connection, secret_id), in_json=True)

    def restored_text(self, connection: sqlite3.Connection, text: str, redacted: int) -> str:
        """A text beside the JSON, such as a title, as it was given."""
        raw = text.encode(errors="replace")
        if not redacted or self._vault is None or not has_markers(raw):
            return text
        lookup = self._vault.restored(raw, lambda secret_id: sealed_of(connection, secret_id), in_json=False)
        return lookup.decode(errors="replace")


def sealed_of(connection: sqlite3.Connection, secret_id: str) -> bytes | None:
    """What the vault has under an id, still closed."""
    row = connection.execute("SELECT CAST(sealed AS BLOB) FROM vault WHERE id = ?", (secret_id,)).fetchone()
    return bytes(row[0]) if row is not None else None


def keep_secrets(connection: sqlite3.Connection, session_id: str, secrets: Mapping[str, bytes]) -> None:
    """Put secrets into the vault for a session, in the transaction of what has their markers, or in one before it."""
    connection.executemany("INSERT OR IGNORE INTO vault (id, sealed) VALUES (?, ?)", secrets.items())
    connection.executemany(
        "INSERT OR IGNORE INTO vault_uses (session_id, id) VALUES (?, ?)", [(session_id, one) for one in secrets]
    )


def share_secrets(connection: sqlite3.Connection, parent: str, session_id: str) -> None:
    """A fork has the private files of its parent, and their markers."""
    connection.execute(
        "INSERT OR IGNORE INTO vault_uses (session_id, id) SELECT ?, id FROM vault_uses WHERE session_id = ?",
        (session_id, parent),
    )


def use_only(connection: sqlite3.Connection, session_id: str, rows: Iterable[bytes]) -> None:
    """Let go of the secrets that none of these rows has a marker of."""
    used = {secret_id for data in rows for secret_id in ids_in(data)}
    held = [row[0] for row in connection.execute("SELECT id FROM vault_uses WHERE session_id = ?", (session_id,))]
    connection.executemany(
        "DELETE FROM vault_uses WHERE session_id = ? AND id = ?",
        [(session_id, one) for one in held if one not in used],
    )
    forget_unused(connection)


def forget_unused(connection: sqlite3.Connection) -> None:
    """Delete the secrets that no session uses any more."""
    connection.execute("DELETE FROM vault WHERE id NOT IN (SELECT id FROM vault_uses)")


def note_left(connection: sqlite3.Connection, what: Literal["files", "pages"], *, is_left: bool = True) -> None:
    """Note whether files beside the database, or its free pages, may have secrets as they are."""
    connection.execute("INSERT OR IGNORE INTO redaction (id, files, pages) VALUES (1, 1, 1)")
    connection.execute(f"UPDATE redaction SET {what} = ?", (int(is_left),))


def count_secrets(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many secrets the vault has for this project, and how many entries of the log were not gone through yet."""
    (secrets,) = connection.execute("SELECT count(*) FROM vault").fetchone()
    (left,) = connection.execute("SELECT count(*) FROM log WHERE redacted = 0").fetchone()
    return int(secrets), int(left)
