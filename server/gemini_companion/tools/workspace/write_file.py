"""The tool `write_file`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec

from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.edits.rewriting import rewritten
from gemini_companion.engine.escapes import bytes_back, well_formed
from gemini_companion.tools.counting import counted
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.workspace.changing import (
    AGAIN,
    Change,
    carried_out,
    changed,
    changed_since,
    file_to_change,
    is_as_before,
    new_file,
    proposal_of,
    text_now,
)
from gemini_companion.tools.workspace.loading import Seen


class WriteFileArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `write_file` is called with."""

    file_path: Annotated[
        str, msgspec.Meta(description="The file: relative to the workspace folder, or absolute and inside it.")
    ]
    content: Annotated[
        str,
        msgspec.Meta(
            max_length=10_000_000,
            description="Its whole new text, word for word, with nothing abbreviated or left out.",
        ),
    ]


class WriteFile:
    """Makes a file, or gives it a new text."""

    name: str = "write_file"
    aliases: tuple[str, ...] = ()
    description: str = (
        "Make a file of the workspace, its folders with it, or give one a whole new text. To change part of a file use"
        " replace. A file keeps its encoding and its line endings. The user may change the text first; you are told."
    )
    arguments: type[WriteFileArguments] = WriteFileArguments
    risk: Risk = "edit"
    shape: Shape = "text"

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def propose(self, args: WriteFileArguments, context: ToolContext) -> Proposal:
        """Work out the new text and its diff."""
        place, before = await file_to_change(args.file_path, context)
        content = well_formed(args.content)
        if before is None:
            return await proposal_of(await new_file(place, content, context), "Create", context, seen=self._seen)
        since = await changed_since(before.text, place, context, self._seen)
        if since and not self._seen.is_vouched(context, place, before.text):
            self._seen.note(context, place, with_line_feeds(before.text))
            raise ToolRefusal(
                f"{place.shown} has changed since it was last read, and the new text would undo that. Nothing was"
                f" written. What has changed:\n{since}\n{AGAIN} with a text that has these changes, or use replace."
            )
        if before.encoded.has_strays:
            content = bytes_back(content)
        after = await asyncio.to_thread(rewritten, before.text, content)
        warnings: tuple[str, ...] = ()
        if self._seen.last(context, place) is None:
            warnings = ("The model has not read this file before.",)
        change = await changed(place, before, after, context)
        return await proposal_of(change, "Overwrite", context, seen=self._seen, warnings=warnings)

    async def run(self, args: WriteFileArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Write it, if the file is still as it was."""
        change: Change = proposal.state
        if not is_as_before(await text_now(change.place, context), change.before):
            raise ToolRefusal(
                f"{change.place.shown} has changed while the question was open. Nothing was written: read it again."
            )
        done = "Applied: created" if change.before is None else "Applied: wrote"
        lines = change.after.count("\n") + (not change.after.endswith("\n") and bool(change.after))
        output = await carried_out(
            change, context, f"{done} {change.place.shown}, {counted(lines, 'line')}.", self._seen
        )
        self._seen.note(context, change.place, with_line_feeds(change.after))
        return output
