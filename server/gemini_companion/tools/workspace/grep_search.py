"""The tool `grep_search`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Annotated, Final

import msgspec

from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.ide_context.secrets import mask_between
from gemini_companion.tools.counting import counted
from gemini_companion.tools.ports import Line, Place, SearchOptions
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.workspace.places import existing, read_of

_MOST: Final = 100
_MOST_EVER: Final = 2_000
_KEPT_BACK: Final = "Files that the user's rules keep from you were left out."
_MORE: Final = "There are more matches: search a folder, or for something narrower."
_LEAD: Final = re.compile(r"[\d,]+\+? match(?:es)? in [\d,]+\+? files?(?: \((?P<notes>.*)\))?\n")

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Around = Annotated[int, msgspec.Meta(ge=0)]


class GrepSearchArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `grep_search` is called with."""

    pattern: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=10_000, description="A regular expression, read as ripgrep reads it."),
    ]
    dir_path: Annotated[
        str | None, msgspec.Meta(description="The folder or file to search; without it each workspace folder.")
    ] = None
    include_pattern: Annotated[
        str | None, msgspec.Meta(description="A glob of the files to search, for instance `*.py` or `src/**`.")
    ] = None
    exclude_pattern: Annotated[
        str | None, msgspec.Meta(description="A regular expression; lines that it matches too are left out.")
    ] = None
    names_only: Annotated[bool, msgspec.Meta(description="Only the names of the files that have a match.")] = False
    case_sensitive: Annotated[bool, msgspec.Meta(description="Whether the case of letters counts.")] = False
    fixed_strings: Annotated[bool, msgspec.Meta(description="The pattern is plain text.")] = False
    context: Annotated[_Around, msgspec.Meta(description="Lines shown before and after each match.")] = 0
    before: Annotated[_Around, msgspec.Meta(description="Lines shown before each match.")] = 0
    after: Annotated[_Around, msgspec.Meta(description="Lines shown after each match.")] = 0
    max_matches_per_file: Annotated[_Count | None, msgspec.Meta(description="Matches shown of one file.")] = None
    total_max_matches: Annotated[_Count, msgspec.Meta(description="Matches shown in all.")] = _MOST


class GrepSearch:
    """Searches files for lines."""

    name: str = "grep_search"
    aliases: tuple[str, ...] = ("search_file_content",)
    description: str = (
        "Search the files of the workspace for lines that a regular expression matches. Unsaved edits are searched too."
        " Ignored files, secrets and binary files are left out. The case of letters does not count unless asked for,"
        " and no more than 100 matches are shown unless asked for."
    )
    arguments: type[GrepSearchArguments] = GrepSearchArguments
    risk: Risk = "read"
    shape: Shape = "search"

    async def propose(self, args: GrepSearchArguments, context: ToolContext) -> Proposal:
        """Find where to search."""
        place = await existing(args.dir_path or ".", context)
        where = f" in {place.shown}" if args.dir_path else ""
        state = place if args.dir_path else None
        return Proposal(title=f"Search for {_plain(args.pattern)[:80]}{where}", touched=(read_of(place),), state=state)

    async def run(self, args: GrepSearchArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Search."""
        within: Place | None = proposal.state
        options = SearchOptions(
            include=args.include_pattern,
            exclude=args.exclude_pattern,
            is_case_sensitive=args.case_sensitive,
            is_literal=args.fixed_strings,
            before=0 if args.names_only else max(args.before, args.context),
            after=0 if args.names_only else max(args.after, args.context),
            per_file=1 if args.names_only else args.max_matches_per_file,
            limit=min(args.total_max_matches, _MOST_EVER),
        )
        result = await context.ports.search.grep(
            args.pattern, context.roots, within=within, unsaved=context.ports.editor.unsaved(), options=options
        )
        notes = [result.note] if result.note else []
        lines = await _showable(result.lines, context)
        matches = sum(line.is_match for line in lines)
        if len(lines) < len(result.lines):
            notes.append(_KEPT_BACK)
        if not matches:
            notes.append("Ignored files, secrets and binary files were left out.")
            return ToolOutput(output=f"No line matches {args.pattern}. {' '.join(notes)}", summary="no matches")
        files = list(dict.fromkeys(line.path for line in lines))
        if result.is_truncated:
            notes.append(_MORE)
        body = "\n".join(map(one_line, files)) if args.names_only else await asyncio.to_thread(_grouped, lines)
        count = f"{counted(matches, 'match', 'matches', more=result.is_truncated)} in {counted(len(files), 'file')}"
        output = f"{count}{' (' + ' '.join(notes) + ')' if notes else ''}\n{body}"
        return ToolOutput(output=output, summary=count)


def lines_alone(told: str) -> str:
    """What the model was told, for people: the lines, whose count stands in the summary, and below them what was left
    out.
    """
    told = told.replace(_KEPT_BACK, "Files that your rules keep from Gemini were left out.", 1)
    lead = _LEAD.match(told)
    if lead is None:
        return told
    notes = (lead["notes"] or "").removesuffix(_MORE).strip()
    return told[lead.end() :] + (f"\n\n{notes}" if notes else "")


async def _showable(lines: Sequence[Line], context: ToolContext) -> Sequence[Line]:
    """The lines of files that the rules let be read unasked."""
    shown: set[str] = set()
    for path in dict.fromkeys(line.path for line in lines):
        with suppress(ToolRefusal):
            place = await context.ports.files.place(path, context.roots)
            if context.may_show(place.path):
                shown.add(path)
    return [line for line in lines if line.path in shown]


def _grouped(lines: Sequence[Line]) -> str:
    """The lines of each file under its name, numbered; `:` behind the numbers of matches, `-` behind the others."""
    groups: list[str] = []
    for path, of_file in groupby(lines, key=lambda line: line.path):
        numbered = list(of_file)
        # A secret that spans lines is masked over them; the lines stay as many.
        joined = "\n".join(line.text for line in numbered)
        text, _ = mask_between(joined, 0, len(joined), keep_lines=True)
        shown = [
            f"{line.number}{':' if line.is_match else '-'} {own}"
            for line, own in zip(numbered, text.split("\n"), strict=False)
        ]
        gaps: list[str] = []
        for at, line in enumerate(shown):
            if at and numbered[at].number > numbered[at - 1].number + 1 and not all(each.is_match for each in numbered):
                gaps.append("--")
            gaps.append(line)
        groups.append(f"{one_line(path)}\n" + "\n".join(gaps))
    return "\n\n".join(groups)


def _plain(pattern: str) -> str:
    """The pattern for people: of one whole word, the word."""
    word = pattern[2:-2]
    return word if pattern == rf"\b{word}\b" and word.replace("_", "a").isalnum() else pattern
