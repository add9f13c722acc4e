"""The rules of the whole project as rows. Every function runs within the caller's transaction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from gemini_companion.adapters.storage.vaulted import PROJECT, Row, Vaulted, keep_secrets, use_only
from gemini_companion.engine.constraints.budget import is_over_budget
from gemini_companion.engine.history.constraint import Constraint

if TYPE_CHECKING:
    import sqlite3

_log = logging.getLogger(__name__)


def read_constraints(connection: sqlite3.Connection, vaulted: Vaulted) -> tuple[Constraint, ...]:
    """The constraints, oldest first. One that is damaged is left out, and logged."""
    read: list[Constraint] = []
    for constraint_id, data, redacted in connection.execute(
        "SELECT constraint_id, CAST(json AS BLOB), redacted FROM constraints ORDER BY rowid"
    ):
        try:
            read.append(msgspec.json.decode(vaulted.restored(connection, data, redacted), type=Constraint))
        except ValueError as fault:
            _log.warning("The project's rule %s is damaged and is left out: %s", constraint_id, fault)
    return tuple(read)


def save_constraints(
    connection: sqlite3.Connection, vaulted: Vaulted, constraints: Sequence[tuple[Constraint, Row]]
) -> bool:
    """Add constraints, or replace those with their ids; False, and nothing is saved, where the budget has no room."""
    before = {one.constraint_id: one for one in read_constraints(connection, vaulted)}
    after = before | {one.constraint_id: one for one, _ in constraints}
    if is_over_budget(before.values(), after.values()):
        return False
    for one, row in constraints:
        connection.execute(
            "INSERT INTO constraints (constraint_id, json, redacted) VALUES (?, ?, ?)"
            " ON CONFLICT (constraint_id) DO UPDATE SET json = excluded.json, redacted = excluded.redacted",
            (one.constraint_id, row.data, row.redacted),
        )
        keep_secrets(connection, PROJECT, row.secrets)
    use_only(
        connection,
        PROJECT,
        [bytes(data) for (data,) in connection.execute("SELECT CAST(json AS BLOB) FROM constraints")],
    )
    return True
