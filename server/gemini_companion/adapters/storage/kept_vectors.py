"""Which vectors stay when passages come and go: each is known by a digest of the text of which it was made.

Every function runs within the caller's transaction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def digest(text: str) -> bytes:
    """What stands for a text beside its vector."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def remove_vectors(connection: sqlite3.Connection, rows: tuple[int, int]) -> None:
    """Remove the vectors of these rows, the first and the last of them."""
    connection.execute("DELETE FROM vectors WHERE id BETWEEN ? AND ?", rows)


def remove_others(connection: sqlite3.Connection, rows: tuple[int, int], texts: Mapping[int, str]) -> None:
    """Remove the vectors of these rows that were not made of the texts that stand there now."""
    known = connection.execute("SELECT id, hash FROM vectors WHERE id BETWEEN ? AND ?", rows).fetchall()
    others = [(row,) for row, made_of in known if row not in texts or made_of != digest(texts[row])]
    connection.executemany("DELETE FROM vectors WHERE id = ?", others)
