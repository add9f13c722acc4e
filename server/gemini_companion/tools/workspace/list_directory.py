"""The tool `list_directory`."""

from __future__ import annotations

import re
from typing import Annotated, Final

import msgspec

from gemini_companion.engine.escapes import one_line
from gemini_companion.tools.counting import counted
from gemini_companion.tools.ports import Listed
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput
from gemini_companion.tools.workspace.names import NamePatterns
from gemini_companion.tools.workspace.places import folder_to_read, read_of

_MOST: Final = 1_000
_INSTEAD: Final = "; glob finds those that are wanted"
_NOTES: Final = re.compile(
    r"\n\[(\d+ (?:left out as asked|ignored or secret)[^\n]*\.|There are more than [^\n]*\.)\]\Z"
)


class ListDirectoryArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `list_directory` is called with."""

    dir_path: Annotated[
        str, msgspec.Meta(description="The folder: relative to the workspace folder (`.`), or absolute and inside it.")
    ]
    ignore: Annotated[
        list[Annotated[str, msgspec.Meta(max_length=255)]] | None,
        msgspec.Meta(description="Names to leave out; `*` and `?` are wildcards."),
    ] = None


class ListDirectory:
    """Lists the names in a folder."""

    name: str = "list_directory"
    aliases: tuple[str, ...] = ()
    description: str = (
        "List the files and folders directly in one folder of the workspace, folders first, with the sizes of files."
        " What ignore files hide, and secrets, are left out and counted."
    )
    arguments: type[ListDirectoryArguments] = ListDirectoryArguments
    risk: Risk = "read"
    shape: Shape = "listing"

    async def propose(self, args: ListDirectoryArguments, context: ToolContext) -> Proposal:
        """Find the folder."""
        place = await folder_to_read(args.dir_path, context)
        return Proposal(title=f"List {place.shown}", touched=(read_of(place),), state=place)

    async def run(self, args: ListDirectoryArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """List it."""
        place = proposal.state
        names = await context.ports.files.names(place, limit=_MOST)
        ignored = NamePatterns(args.ignore or ())
        entries = [entry for entry in names.entries if not ignored.match(entry.name)]
        notes: list[str] = []
        if left_out := len(names.entries) - len(entries):
            notes.append(f"{left_out} left out as asked.")
        if names.hidden:
            notes.append(f"{names.hidden} ignored or secret names are not shown.")
        if names.is_truncated:
            notes.append(f"There are more than {_MOST:,} names{_INSTEAD}.")
        lines = [f"{place.shown}: {'empty' if not entries else counted(len(entries), 'name')}", *map(_line, entries)]
        if notes:
            lines.append(f"[{' '.join(notes)}]")
        return ToolOutput(
            output="\n".join(lines),
            summary=counted(len(entries), "name"),
            source=f"{place.path} {sorted(args.ignore or ())}",
        )


def names_alone(told: str) -> str:
    """What the model was told, for people: what was left out is a line like others, without what the model may do."""
    return _NOTES.sub(lambda notes: f"\n\n{notes[1].replace(_INSTEAD, '')}", told)


def _line(entry: Listed) -> str:
    name = one_line(entry.name)
    if entry.kind == "folder":
        return f"{name}/"
    return f"{name} ({entry.size:,} bytes)" if entry.kind == "file" else f"{name} ({entry.kind})"
