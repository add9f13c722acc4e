"""The tool `read_file`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec

from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.media_types import media_type
from gemini_companion.tools.counting import counted
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.workspace.excerpts import UNSAVED, shown
from gemini_companion.tools.workspace.loading import MAX_BYTES, Seen, loaded
from gemini_companion.tools.workspace.media import media_part
from gemini_companion.tools.workspace.places import file_to_read, read_of, unsaved

_Line = Annotated[int, msgspec.Meta(ge=1)]


class ReadFileArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `read_file` is called with."""

    file_path: Annotated[
        str, msgspec.Meta(description="The file: relative to the workspace folder, or absolute and inside it.")
    ]
    start_line: Annotated[_Line | None, msgspec.Meta(description="The first line wanted, counted from 1.")] = None
    end_line: Annotated[_Line | None, msgspec.Meta(description="The last line wanted, itself included.")] = None


class ReadFile:
    """Reads a file: its text as the user sees it, unsaved edits included, or an image, a document, a recording."""

    name: str = "read_file"
    aliases: tuple[str, ...] = ()
    description: str = (
        "Read one file of the workspace. A text comes with the user's unsaved edits in it; at most 2,000 lines of at"
        " most 2,000 characters at once, and word of how to read on where there is more: give start_line and end_line."
        " PNG, JPEG, GIF, WebP, HEIC and BMP images, PDF documents and sound (WAV, MP3, AAC, FLAC, OGG, AIFF) come as"
        " they are, up to 10 MB."
    )
    arguments: type[ReadFileArguments] = ReadFileArguments
    risk: Risk = "read"
    shape: Shape = "file"

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def propose(self, args: ReadFileArguments, context: ToolContext) -> Proposal:
        """Find the file."""
        if args.start_line and args.end_line and args.start_line > args.end_line:
            raise ToolRefusal(f"start_line {args.start_line} is behind end_line {args.end_line}.")
        place = await file_to_read(args.file_path, context)
        return Proposal(title=f"Read {place.shown}", touched=(read_of(place),), state=place)

    async def run(self, args: ReadFileArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Read it."""
        place = proposal.state
        disk = await context.ports.files.read(place, limit=MAX_BYTES)
        buffer = unsaved(place, context)
        kind = None if buffer is not None else media_type(place.shown, disk.data)
        if kind is not None:
            part = await asyncio.to_thread(media_part, place, kind, disk)
            return ToolOutput(
                output=f"{place.shown} is attached ({kind}, {disk.size:,} bytes).",
                media=(part,),
                summary=f"{kind}, {disk.size:,} bytes",
                source=f"{place.path} {disk.digest}",
            )
        file = await loaded(place, disk, buffer, context)
        excerpt = await asyncio.to_thread(shown, file.text, args.start_line, args.end_line, masks=not place.is_secret)
        if not excerpt.of:
            return ToolOutput(output=f"{place.shown} is empty.", summary="empty", source=f"{place.path} {file.digest}")
        if excerpt.first > excerpt.last:
            raise ToolRefusal(f"{place.shown} has {counted(excerpt.of, 'line')}; there is no line {args.start_line}.")
        self._seen.note(context, place, with_line_feeds(file.text))
        notes = excerpt.notes()
        if file.is_unsaved:
            notes.insert(0, UNSAVED)
        lead = f"[{' '.join(notes)}]\n" if notes else ""
        count = excerpt.last - excerpt.first + 1
        part = f"lines {excerpt.first}–{excerpt.last} of {excerpt.of}"
        return ToolOutput(
            output=lead + excerpt.text,
            summary=counted(count, "line") if excerpt.is_all else part,
            source=f"{place.path} {excerpt.first}-{excerpt.last} {file.digest}",
        )
