"""The tool `read_many_files`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Final

import msgspec

from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.media_types import extension, media_type
from gemini_companion.tools.counting import counted
from gemini_companion.tools.paths import shown_path
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.workspace.excerpts import shown
from gemini_companion.tools.workspace.glob import begun_in
from gemini_companion.tools.workspace.loading import MAX_BYTES, Seen, loaded
from gemini_companion.tools.workspace.media import NAMES, media_part
from gemini_companion.tools.workspace.places import existing, found, read_of, unsaved

_FILES: Final = 100
_CHARACTERS: Final = 400_000
"""Of all texts together."""
_MEDIA_BYTES: Final = 12 * 1024 * 1024
"""Of all media together."""
_WILD: Final = frozenset("*?[{")
_DEFAULT_EXCLUDES: Final = (
    "**/node_modules/**", "**/.venv/**", "**/__pycache__/**", "**/dist/**", "**/build/**", "**/coverage/**",
    "**/*.{pyc,class,o,a,so,dll,exe,wasm,bin,zip,gz,tar,7z,jar,lock,woff,woff2,ttf,ico,mp4,mov,db,sqlite}",
)  # fmt: skip
"""What is rarely meant by a wide pattern."""

_Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
_Patterns = Annotated[list[_Pattern], msgspec.Meta(max_length=100)]


class ReadManyFilesArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `read_many_files` is called with."""

    include: Annotated[
        list[_Pattern],
        msgspec.Meta(
            min_length=1, max_length=100, description='Paths and globs: `["README.md", "src/**/*.ts", "docs/"]`.'
        ),
    ]
    exclude: Annotated[_Patterns | None, msgspec.Meta(description="Globs to leave out.")] = None
    recursive: Annotated[bool, msgspec.Meta(description="Whether folders in a named folder are read too.")] = True
    useDefaultExcludes: Annotated[
        bool, msgspec.Meta(description="Whether dependencies, build outputs and binary files are left out.")
    ] = True


@dataclass(slots=True)
class _Read:
    """What was read so far."""

    texts: list[str] = field(default_factory=list[str])
    media: list[Part] = field(default_factory=list[Part])
    skipped: list[str] = field(default_factory=list[str])
    sources: list[str] = field(default_factory=list[str])
    left: int = _CHARACTERS
    media_left: int = _MEDIA_BYTES


class ReadManyFiles:
    """Reads several files at once."""

    name: str = "read_many_files"
    aliases: tuple[str, ...] = ()
    description: str = (
        "Read several files of the workspace at once, named by paths and globs, each under a line with its name. At"
        f" most {_FILES} files and {_CHARACTERS:,} characters in all; what is left out is named. Images, PDF documents"
        " and sound only if the pattern names their kind. Ignored files and secrets are left out."
    )
    arguments: type[ReadManyFilesArguments] = ReadManyFilesArguments
    risk: Risk = "read"
    shape: Shape = "file"

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def propose(self, args: ReadManyFilesArguments, context: ToolContext) -> Proposal:
        """Find the files."""
        await found(".", context)
        named, skipped = await self._named(args, context)
        if not named and not skipped:
            raise ToolRefusal(f"No file matches {', '.join(args.include)}. Ignored files and secrets were left out.")
        return Proposal(
            title=f"Read {named[0].shown if len(named) == 1 else f'{len(named)} files'}",
            touched=tuple(map(read_of, named)),
            warnings=tuple(f"{place.shown}: {place.withheld}." for place in named if place.is_secret),
            state=(tuple(named), tuple(skipped)),
        )

    async def run(self, args: ReadManyFilesArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Read them."""
        places, skipped = proposal.state
        read = _Read(skipped=list(skipped))
        wants_media = any(extension(pattern) in NAMES for pattern in args.include)
        for place in places:
            try:
                await self._read(place, read, context, wants_media=wants_media)
            except ToolRefusal as refusal:
                read.skipped.append(refusal.message)
        if read.skipped:
            read.texts.append("--- Left out ---\n" + "\n".join(read.skipped))
        count = len(read.sources)
        return ToolOutput(
            output="\n".join(read.texts),
            media=tuple(read.media),
            summary=counted(count, "file") + (f", {len(read.skipped)} left out" if read.skipped else ""),
            source="\n".join(read.sources) or None,
        )

    async def _named(self, args: ReadManyFilesArguments, context: ToolContext) -> tuple[list[Place], list[str]]:
        excluding = [*(args.exclude or ()), *(_DEFAULT_EXCLUDES if args.useDefaultExcludes else ())]
        paths: dict[str, Place | None] = {}
        skipped: list[str] = []
        for pattern in args.include:
            if _WILD.isdisjoint(pattern):
                try:
                    place = await existing(pattern, context)
                except ToolRefusal as refusal:
                    skipped.append(refusal.message)
                    continue
                if place.kind == "file":
                    paths[place.path] = place
                    continue
                wide = "**" if args.recursive else "*"
            else:
                wide, place = await begun_in(pattern, context)
            below = await context.ports.search.files(
                wide, context.roots, within=place, excluding=excluding, limit=_FILES * 5
            )
            for path in below:
                paths.setdefault(path, None)
        wanted_kinds = {extension(pattern) for pattern in args.include} & NAMES
        places: list[Place] = []
        for path, known in paths.items():
            if known is None and extension(path) in NAMES and extension(path) not in wanted_kinds:
                continue
            if len(places) >= _FILES:
                skipped.append(f"{one_line(shown_path(path, context.roots))}: only {_FILES} files are read at once.")
                continue
            places.append(known or await context.ports.files.place(path, context.roots))
        return places, skipped[:_FILES]

    async def _read(self, place: Place, read: _Read, context: ToolContext, *, wants_media: bool) -> None:
        if read.left <= 0:
            read.skipped.append(f"{place.shown}: over {_CHARACTERS:,} characters in all.")
            return
        disk = await context.ports.files.read(place, limit=MAX_BYTES)
        buffer = unsaved(place, context)
        kind = None if buffer is not None else media_type(place.shown, disk.data)
        if kind is not None:
            read.media_left -= disk.size
            if not wants_media or read.media_left < 0:
                read.skipped.append(f"{place.shown}: {kind}; read_file shows it.")
                return
            read.media.append(await asyncio.to_thread(media_part, place, kind, disk))
            read.texts.append(f"--- {place.shown} ---\n[attached, {kind}]")
        else:
            file = await loaded(place, disk, buffer, context)
            excerpt = await asyncio.to_thread(shown, file.text, None, None, masks=not place.is_secret)
            text = excerpt.text
            notes = excerpt.notes()
            if len(text) > read.left:
                text = text[: read.left].rpartition("\n")[0] + "\n"
                notes = [f"Cut: over {_CHARACTERS:,} characters in all. read_file shows the rest."]
            if file.is_unsaved:
                notes.insert(0, "With edits that are not saved yet.")
            read.left -= len(text)
            lead = f"[{' '.join(notes)}]\n" if notes else ""
            read.texts.append(f"--- {place.shown} ---\n{lead}{text}")
            self._seen.note(context, place, with_line_feeds(file.text))
        read.sources.append(f"{place.path} {disk.digest}")
