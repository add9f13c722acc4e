"""What one call did, as people read it: what it changed in files, and what it put out.

Left out is what only the model was told, which is most of what the tools say that edit or keep notes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from gemini_companion.engine.changes.text import difference
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.tool_output.places import FoundCall, find_call
from gemini_companion.sessions.recall.outputs import whole_output
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import ShownCall
from gemini_companion.sessions.tools.calls import UNTIL_THEN
from gemini_companion.sessions.tools.changes_numbers import load_version
from gemini_companion.sessions.tools.repeats import AGAIN_FAILED
from gemini_companion.tools.paths import shown_path
from gemini_companion.tools.shell.run_shell_command import put_out
from gemini_companion.tools.tool import ToolRefusal
from gemini_companion.tools.workspace.changing import AGAIN
from gemini_companion.tools.workspace.excerpts import without_lead
from gemini_companion.tools.workspace.glob import paths_alone
from gemini_companion.tools.workspace.grep_search import lines_alone
from gemini_companion.tools.workspace.list_directory import names_alone

MOST_CHARACTERS: Final = 20_000
"""Of an output; its end is shown."""
_LONGEST_DIFF: Final = 200_000
"""Characters of all files together."""
_MOST_FILES: Final = 50
_INSTRUCTIONS: Final = ("activate_skill", "exit_plan_mode")
"""Tools beside those below whose outputs tell the model what to do next."""


_FOR_PEOPLE: Final[Mapping[str, Callable[[str], str]]] = {
    "glob": paths_alone,
    "grep_search": lines_alone,
    "list_directory": names_alone,
}
"""What of an output is for people, of tools that tell the model more."""


async def call_shown(session: Session, call_id: str) -> ShownCall:
    """What a call that has ended did; empty for one that the session does not know. Raises `StorageFault`."""
    diff, is_partial = await _diff(session, call_id)
    _, entries = await session.services.store.load(session.session_id)
    found = find_call(entries, call_id)
    output = "" if found is None else await _seen(session, found)
    return ShownCall(diff=diff, output=output[-MOST_CHARACTERS:], is_cut=is_partial or len(output) > MOST_CHARACTERS)


async def _diff(session: Session, call_id: str) -> tuple[str, bool]:
    """What the call changed, and whether that is not all of it."""
    done = [one for one in session.tools_state.changes.entries.values() if one.call_id == call_id and one.is_done]
    changes = [change for one in done for change in one.changes if change.added or change.removed]
    diffs: list[str] = []
    left = _LONGEST_DIFF
    for change in changes[:_MOST_FILES]:
        old, new = await load_version(session, change.old), await load_version(session, change.new)
        if old.problem or new.problem:
            continue
        path = shown_path(change.path, session.meta.workspace_folders)
        diff = (await asyncio.to_thread(difference, old.data, new.data, path)).diff
        if len(diff) > left:
            return "".join(diffs), True
        left -= len(diff)
        diffs.append(diff)
    return "".join(diffs), len(changes) > _MOST_FILES


async def _seen(session: Session, found: FoundCall) -> str:
    """What people see of an output."""
    try:
        tool = session.tools.find(found.name)
    except ToolRefusal:  # of an MCP server that is gone, or of another version
        tool = None
    whole = await whole_output(session.services.store, session.session_id, found)
    response = (response_of(found.part) or {}).get("response")
    if isinstance(response, dict) and "error" in response and "output" not in response:
        if tool is None or tool.risk == "server":
            return whole
        if tool.risk == "edit":  # what is there instead, or has changed meanwhile, is for people too
            lines = whole.partition(AGAIN_FAILED)[0].split("\n")
            return "\n".join(line for line in lines if not line.startswith(AGAIN))
        return whole.partition(UNTIL_THEN)[2] or whole.partition("\n")[0]  # below stands what to do instead
    if found.name in _INSTRUCTIONS or (tool is not None and tool.risk in ("edit", "note")):
        return ""
    if tool is not None and tool.risk == "command":
        return put_out(whole)
    if tool is None:
        return whole
    return without_lead(whole) if tool.shape == "file" else _FOR_PEOPLE.get(tool.name, lambda told: told)(whole)
