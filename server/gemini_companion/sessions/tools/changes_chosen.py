"""Which steps a person means when they take changes back."""

from __future__ import annotations

import asyncio

import msgspec

from gemini_companion.engine.changes.merging import without_hunks
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.change_record import ChangeRecord, Step
from gemini_companion.engine.history.tool_entries import FileChange
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.changes_numbers import counted, own_versions
from gemini_companion.sessions.tools.changes_versions import kept, version_of


class RevertWish(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be put back; see `RevertParams`."""

    turn_id: str | None = None
    path: str | None = None
    since: str | None = None
    hunks: tuple[int, ...] | None = None
    change_id: str | None = None
    dry_run: bool = False


def chosen(record: ChangeRecord, wish: RevertWish) -> list[Step]:
    """The steps that are meant, newest first. Raises `InvalidInput` if there are none, unless it is only asked."""
    if wish.change_id is not None:
        entry = record.entries.get(wish.change_id)
        if entry is None:
            raise InvalidInput("There is no change with this id.", path="$.changeId")
        gone = record.taken_back()
        own = [Step(entry.change_id, entry.turn_id, change, entry.by_command) for change in entry.changes]
        found = [step for step in reversed(own) if step.place not in gone]
    else:
        found = list(record.steps())[::-1]
        if wish.since is not None:
            turns = list(record.turns)
            if wish.since not in record.turns:
                raise InvalidInput("There is no turn with this id.", path="$.since")
            later = set(turns[turns.index(wish.since) :])
            found = [step for step in found if step.turn_id in later]
        elif wish.turn_id is None and wish.path is None:
            newest = next((step.change_id for step in found), None)
            found = [step for step in found if step.change_id == newest]
    if wish.turn_id is not None:
        found = [step for step in found if step.turn_id == wish.turn_id]
    if wish.path is not None:
        found = [step for step in found if wish.path in (step.change.path, step.change.from_path)]
    if not found and not wish.dry_run:
        raise InvalidInput("There is nothing to take back.", hint="It was taken back already, or nothing was changed.")
    return found


async def hunk_step(session: Session, record: ChangeRecord, wish: RevertWish) -> list[Step]:
    """Some places of a turn's change of a file, as one step that makes them."""
    if wish.turn_id is None or wish.path is None or wish.change_id is not None or wish.since is not None:
        raise InvalidInput("Places of a change are named with a turn and a file.", path="$.hunks")
    files = [one for one in record.files() if (one.turn_id, one.path) == (wish.turn_id, wish.path)]
    one = next((one for one in files if one.state != "reverted"), None)
    if one is None or one.before is None or one.after is None or not wish.hunks:
        raise InvalidInput("There is no such change of a file to take places back from.", path="$.hunks")
    old, new, is_exact = await own_versions(session, one)
    if old.data is None or new.data is None:
        raise InvalidInput(old.problem or new.problem, path="$.hunks")
    if not is_exact:
        raise InvalidInput(
            "You edited the same lines while the model worked, so single places cannot be told apart.",
            hint="Take the whole file back, or undo the lines by hand.",
            path="$.hunks",
        )
    try:
        wished = await asyncio.to_thread(without_hunks, old.data, new.data, new.data, set(wish.hunks))
    except IndexError:
        raise InvalidInput("There is no such place in the change.", path="$.hunks") from None
    if wished is None:
        raise InvalidInput("This file has no lines to take back one by one.", path="$.hunks")
    version = version_of(wished, one.after.mode)
    await session.services.store.versions.save(session.session_id, one.turn_id, kept([version]))
    added, removed = await counted(wished, new.data)
    change = FileChange(
        path=one.path, kind="changed", before=version.noted, after=one.after, added=added, removed=removed
    )
    return [Step("", one.turn_id, change)]
