"""The rules of the whole project as rows. Every function runs within the caller's transaction."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import msgspec

from gemini_companion.engine.history.constraint import Constraint

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)


def read_constraints(connection: sqlite3.Connection) -> tuple[Constraint, ...]:
    """The constraints, oldest first. One that is damaged is left out, and logged."""
    read: list[Constraint] = []
    for constraint_id, data in connection.execute("SELECT constraint_id, json FROM constraints ORDER BY rowid"):
        try:
            read.append(msgspec.json.decode(data, type=Constraint))
        except ValueError as fault:
            _log.warning("The project's rule %s is damaged and is left out: %s", constraint_id, fault)
    return tuple(read)


def save_constraint(connection: sqlite3.Connection, constraint: Constraint) -> None:
    """Add a constraint, or replace the one with its id."""
    connection.execute(
        "INSERT INTO constraints (constraint_id, json) VALUES (?, ?)"
        " ON CONFLICT (constraint_id) DO UPDATE SET json = excluded.json",
        (constraint.constraint_id, msgspec.json.encode(constraint)),
    )
