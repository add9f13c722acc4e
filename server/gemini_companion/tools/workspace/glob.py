"""The tool `glob`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from gemini_companion.engine.escapes import one_line
from gemini_companion.tools.counting import counted
from gemini_companion.tools.paths import shown_path
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput
from gemini_companion.tools.workspace.places import folder_to_read, found, read_of

_MOST: Final = 500
_MORE: Final = f"[There are more; these {_MOST} were changed last.]"


class GlobArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `glob` is called with."""

    pattern: Annotated[
        str, msgspec.Meta(min_length=1, description="Paths wanted, for instance `src/**/*.ts` or `**/*.{yml,yaml}`.")
    ]
    dir_path: Annotated[
        str | None, msgspec.Meta(description="The folder that the pattern begins in; without it each workspace folder.")
    ] = None
    case_sensitive: Annotated[bool, msgspec.Meta(description="Whether the case of letters counts.")] = False


class GlobFiles:
    """Finds files by their paths."""

    name: str = "glob"
    aliases: tuple[str, ...] = ()
    description: str = (
        "Find files of the workspace by a glob of their paths, the last changed first. `*` stands for part of a name,"
        " `**` for any folders: `*.py` finds files at the top alone, `**/*.py` all. Ignored files and"
        " secrets are left out."
    )
    arguments: type[GlobArguments] = GlobArguments
    risk: Risk = "read"
    shape: Shape = "listing"

    async def propose(self, args: GlobArguments, context: ToolContext) -> Proposal:
        """Find the folder."""
        place = await folder_to_read(args.dir_path, context) if args.dir_path else None
        pattern = args.pattern if place is None else _below(args.pattern, [place.path])
        if place is None:
            pattern, place = await begun_in(args.pattern, context)
        where = await found(".", context) if place is None else place
        return Proposal(title=f"Find {args.pattern}", touched=(read_of(where),), state=(pattern, place))

    async def run(self, args: GlobArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Search."""
        pattern, within = proposal.state
        paths = await context.ports.search.files(
            pattern, context.roots, within=within, is_case_sensitive=args.case_sensitive, limit=_MOST + 1
        )
        lines = [one_line(shown_path(path, context.roots)) for path in paths[:_MOST]]
        if not lines:
            return ToolOutput(
                output=f"No file matches {args.pattern}. Ignored files and secrets were left out.", summary="no files"
            )
        is_more = len(paths) > _MOST
        summary = counted(len(lines), "file", more=is_more)
        if is_more:
            lines.append(_MORE)
        return ToolOutput(output="\n".join(lines), summary=summary)


def paths_alone(told: str) -> str:
    """What the model was told, without the note to it; that there are more stands in the summary."""
    return told.removesuffix(f"\n{_MORE}")


async def begun_in(pattern: str, context: ToolContext) -> tuple[str, Place | None]:
    """A pattern, and the workspace folder that it begins in by its path, or by its name where there are several."""
    pattern = _below(pattern, context.roots)
    first, slash, rest = pattern.partition("/")
    if len(context.roots) > 1 and slash and first in map(os.path.basename, context.roots):
        return rest, await folder_to_read(first, context)
    return pattern, None


def _below(pattern: str, folders: Sequence[str]) -> str:
    """A pattern that begins with the path of a folder that is searched, without it."""
    for folder in folders:
        if pattern.startswith(f"{folder}/"):
            return pattern[len(folder) + 1 :]
    return pattern
