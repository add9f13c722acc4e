"""What turns did to files, as clients read it: with diffs, and whether it can be taken back."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from gemini_companion.engine.changes.merging import has_places
from gemini_companion.engine.changes.text import difference
from gemini_companion.engine.history.change_record import FileRecord
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import Change, ChangeList
from gemini_companion.sessions.tools.changes_numbers import own_versions
from gemini_companion.sessions.tools.changes_of_chat import changes_of_chat

MOST_LISTED: Final = 1_000
"""Changes of a list; the newest."""
_LONGEST_DIFF: Final = 400_000
"""Characters; a longer one is left out."""
_LONGEST_LIST: Final = 8_000_000
"""Characters of all diffs of a list."""
_TAKEN_BACK: Final = "It was taken back."


async def change_list(session: Session) -> ChangeList:
    """The files that turns changed, their subagents' work included, newest turn first. Raises `StorageFault`."""
    changes_made = await changes_of_chat(session)
    record = changes_made.record
    files = record.files()
    left = _LONGEST_LIST
    changes: list[Change] = []
    for one in files[:MOST_LISTED]:
        change = await _shown(session, one, changes_made.agents_of(one))
        if len(change.diff) > min(left, _LONGEST_DIFF):
            change = _without_diff(change)
        left -= len(change.diff)
        changes.append(change)
    notes = dict.fromkeys(entry.note for entry in record.entries.values() if entry.note)
    if len(files) > MOST_LISTED:
        notes[f"{len(files) - MOST_LISTED:,} older changes are not listed."] = None
    return ChangeList(changes=tuple(changes), note=" ".join(notes))


async def _shown(session: Session, one: FileRecord, agents: tuple[str, ...]) -> Change:
    old, new, is_exact = await own_versions(session, one)
    if is_exact and old.data is not None and new.data is not None:
        is_exact = await asyncio.to_thread(has_places, old.data, new.data)
    known = not (one.before and not one.before.is_kept)  # what a command overwrote has no lines
    found = await asyncio.to_thread(difference, old.data, new.data, one.path, one.from_path)
    has_diff = known and not old.problem and not new.problem
    reason = _TAKEN_BACK if one.state == "reverted" else old.problem
    is_file = all(
        version is None or (version.link is None and not version.is_folder) for version in (one.before, one.after)
    )
    steps = [step.change for step in one.steps]
    return Change(
        turn_id=one.turn_id,
        path=one.path,
        kind=one.kind,
        added=found.added if has_diff else sum(change.added for change in steps),
        removed=found.removed if has_diff else sum(change.removed for change in steps),
        diff=found.diff if has_diff else "",
        from_path=one.from_path,
        state=one.state,
        can_revert=not reason,
        reason=reason,
        by_command=one.by_command,
        agents=agents,
        hunks=len(found.hunks) if has_diff and is_exact and is_file and one.before and one.after else 0,
    )


def _without_diff(change: Change) -> Change:
    return msgspec.structs.replace(change, diff="", hunks=0)
