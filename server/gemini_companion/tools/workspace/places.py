"""From a path that the model names to a place that it may touch, or to what it is told instead."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from gemini_companion.tools.documents import Buffer
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import ToolContext, ToolRefusal, Touched

_NAMES: Final = 2_000
"""Names of a folder among which a similar one is looked for."""
_NOTHING_DONE: Final = "Nothing was done, and this is no fault that another try would mend."


async def file_to_read(path: str, context: ToolContext) -> Place:
    """A file that may be shown. Raises `ToolRefusal` that says why not, and what to do instead."""
    place = await existing(path, context)
    if place.kind == "folder":
        raise ToolRefusal(f"{place.shown} is a folder. list_directory shows what it has.")
    return place


async def folder_to_read(path: str, context: ToolContext) -> Place:
    """A folder that may be shown."""
    place = await existing(path or ".", context)
    if place.kind == "file":
        raise ToolRefusal(f"{place.shown} is a file. read_file shows it.")
    return place


async def existing(path: str, context: ToolContext) -> Place:
    """A file or folder that may be shown."""
    place = await found(path, context)
    if place.kind == "missing":
        raise ToolRefusal(f"{place.shown} does not exist.{await _similar(place, context)}")
    return place


async def found(path: str, context: ToolContext) -> Place:
    """A place inside the workspace folders that is not withheld, whether there is something or not."""
    if not context.roots:
        raise ToolRefusal("No workspace folder is open, so there are no files to work with.")
    place = await context.ports.files.place(path, context.roots)
    if not place.path:
        raise ToolRefusal(f"{path[:200]!r} is not a path.")
    if place.root is None:
        folders = ", ".join(context.roots)
        raise ToolRefusal(
            f"{place.shown} is outside the workspace folders ({folders}), which no tool for files leaves."
            f" {_NOTHING_DONE}",
            outcome="declined",
        )
    if place.kind == "other":
        raise ToolRefusal(f"{place.shown} is neither a file nor a folder, and is left alone.", outcome="declined")
    if place.withheld and not await context.named_by_person(place.path):
        raise ToolRefusal(
            f"{place.shown} is withheld: {place.withheld}. The user has to name it in a prompt first. {_NOTHING_DONE}",
            outcome="declined",
        )
    return place


def read_of(place: Place) -> Touched:
    """What consent is told of a file or folder that is looked at."""
    return Touched(path=place.path, how="read", secret=place.withheld if place.is_secret else "")


def unsaved(place: Place, context: ToolContext) -> Buffer | None:
    """The open document of a place, if it has unsaved edits."""
    buffer = context.ports.editor.buffer(place.path)
    return buffer if buffer is not None and buffer.is_dirty else None


async def _similar(place: Place, context: ToolContext) -> str:
    """A sentence with names that are like the one that does not exist."""
    folder, _, name = place.path.replace("\\", "/").rpartition("/")
    above = await context.ports.files.place(folder or "/", context.roots)
    if above.root is None or above.kind != "folder" or above.withheld:
        return ""
    try:
        names = await context.ports.files.names(above, limit=_NAMES)
    except ToolRefusal:
        return ""
    by_letters = {each.name.casefold(): each.name for each in names.entries}
    close = [by_letters[found] for found in get_close_matches(name[:255].casefold(), by_letters, n=3, cutoff=0.6)]
    return f" There is: {', '.join(close)}." if close else ""
