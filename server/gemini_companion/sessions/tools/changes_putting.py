"""Putting one file, link or folder back, only if it still is what was looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

from gemini_companion.engine.changes.plan import Kind, State
from gemini_companion.sessions.tools.changes_versions import Look, Version, can_be_in_editor, text_of
from gemini_companion.tools.ports import EditorPort, FileSystem
from gemini_companion.tools.tool import ToolRefusal
from gemini_companion.tools.workspace.changing import not_made

_LABEL: Final = "Take back the model's changes"


def in_order(results: Mapping[str, State | None]) -> list[str]:
    """The paths as they are to be written: what makes room for another one, what is to be there, what goes.

    Folders come before what is in them, and go after it.
    """
    files = {path for path, state in results.items() if state is not None and state.kind != "folder"}

    above = {folder for path, state in results.items() if state is not None for folder in _above(path)}

    def order(path: str) -> tuple[int, int, str]:
        depth = path.count(os.sep)
        if results[path] is not None:
            return 1, depth, path
        makes_room = any(path.startswith(file + os.sep) for file in files) or path in above
        return 0 if makes_room else 2, -depth, path

    return sorted(results, key=order)


def _above(path: str) -> Iterator[str]:
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder


async def put(seen: Look, state: State | None, files: FileSystem, editor: EditorPort) -> bool:
    """Make what was looked at into `state`, `None` for nothing. False for a folder that stays, for something is in it.

    Raises `ToolRefusal` if it cannot be done, with nothing lost.
    """
    now = seen.disk
    if state is None or (now is not None and kind_of(now) != state.kind):
        is_gone = await _remove(seen, files)
        if state is None:
            return is_gone
        if not is_gone:
            raise ToolRefusal(f"{seen.place.shown} is a folder now, with other files in it.")
        now = None
    if state.kind == "folder":
        await files.make_folder(seen.place, mode=state.mode)
    elif state.kind == "link":
        if now is not None:
            await files.delete_link(seen.place, target=os.fsdecode(now.data or b""))
        await files.make_link(seen.place, os.fsdecode(state.data))
    else:
        await _write(seen, now, state, files, editor)
    return True


def kind_of(version: Version) -> Kind:
    """The kind of a version, as `State` names it."""
    return "folder" if version.is_folder else "link" if version.link is not None else "file"


async def _remove(seen: Look, files: FileSystem) -> bool:
    place, now = seen.place, seen.disk
    if seen.unsaved is not None:
        raise ToolRefusal(f"{place.shown} has unsaved edits in the editor. It was not deleted.")
    if now is None:
        return True
    if now.is_folder:
        return await files.delete_folder(place)
    if now.link is not None:
        await files.delete_link(place, target=os.fsdecode(now.data or b""))
    else:
        await files.delete(place, expected=now.digest)
    return True


async def _write(seen: Look, now: Version | None, state: State, files: FileSystem, editor: EditorPort) -> None:
    place, expected = seen.place, now.digest if now is not None else None
    if seen.is_open and seen.shown is not None and seen.shown.data != state.data:
        text = text_of(state.data)
        answer = (
            "unable"
            if text is None or not can_be_in_editor(state.data)
            else await editor.apply_edit(place.path, text, _LABEL)
        )
        if refusal := not_made(answer, place.shown):
            raise refusal
        if answer == "made":
            if seen.unsaved is None and not await editor.save(place.path):
                await files.write(place, state.data, expected=expected, mode=state.mode)
            return
        if seen.unsaved is not None:
            raise ToolRefusal(f"{place.shown} has unsaved edits in the editor, which did not take the change.")
    if seen.unsaved is None and (now is None or (now.data, now.mode) != (state.data, state.mode)):
        await files.write(place, state.data, expected=expected, mode=state.mode)
