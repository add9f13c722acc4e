"""The tool `diagnostics`, and the sentences that follow an edit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from gemini_companion.engine.escapes import one_line
from gemini_companion.tools.counting import counted
from gemini_companion.tools.documents import FileDiagnostics
from gemini_companion.tools.paths import shown_path
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal
from gemini_companion.tools.workspace.places import file_to_read, read_of

_MOST: Final = 50
"""Problems of one file that are named."""
_AFTER_EDIT: Final = 20
_MESSAGE: Final = 500
_ORDER: Final = {"error": 0, "warning": 1, "information": 2, "hint": 3}


class DiagnosticsArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `diagnostics` is called with."""

    paths: Annotated[
        list[str],
        msgspec.Meta(min_length=1, max_length=50, description="Files: relative to the workspace folder, or absolute."),
    ]


class Diagnostics:
    """Asks the editor for the problems of files."""

    name: str = "diagnostics"
    aliases: tuple[str, ...] = ()
    description: str = (
        "Ask the user's editor what problems its language servers and linters report for files, as they are now with"
        " unsaved edits. Cheaper than a build. Files that no tool of the editor looks at have none."
    )
    arguments: type[DiagnosticsArguments] = DiagnosticsArguments
    risk: Risk = "read"
    shape: Shape = "listing"

    async def propose(self, args: DiagnosticsArguments, context: ToolContext) -> Proposal:
        """Find the files."""
        places = [await file_to_read(path, context) for path in dict.fromkeys(args.paths)]
        what = places[0].shown if len(places) == 1 else f"{len(places)} files"
        return Proposal(title=f"Problems of {what}", touched=tuple(map(read_of, places)), state=tuple(places))

    async def run(self, args: DiagnosticsArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Ask."""
        paths = [place.path for place in proposal.state]
        reported = await context.ports.editor.diagnostics(paths, wait=True)
        if reported is None:
            raise ToolRefusal("The editor reports no problems to this program. Run the project's own checks instead.")
        texts = [described(each, context.roots, _MOST) for each in reported]
        count = sum(len(each.diagnostics) for each in reported)
        missing = [path for path in paths if path not in {each.path for each in reported}]
        texts += [f"{one_line(shown_path(path, context.roots))}: the editor says nothing about it." for path in missing]
        return ToolOutput(output="\n".join(texts), summary=counted(count, "problem"))


async def after_edit(path: str, context: ToolContext) -> str:
    """What the editor says of a file's new text, as sentences for the model; empty if it cannot say anything."""
    reported = await context.ports.editor.diagnostics([path], wait=True)
    if reported is None:
        return ""
    own = next((each for each in reported if os.path.normcase(each.path) == os.path.normcase(path)), None)
    if own is None or not own.is_current:
        return "The editor's problems of the new text are not known yet."
    if not own.diagnostics:
        return "The editor reports no problems in the new text."
    problems = described(own, context.roots, _AFTER_EDIT)
    return f"The editor's problems of the new text, which may be older than this edit:\n{problems}"


def described(file: FileDiagnostics, roots: Sequence[str], most: int) -> str:
    """The problems of a file, errors first, each on a line."""
    name = one_line(shown_path(file.path, roots))
    age = "" if file.is_current else " (of an earlier text)"
    if not file.diagnostics:
        return f"{name}: no problems{age}"
    ordered = sorted(file.diagnostics, key=lambda each: (_ORDER[each.severity], each.line))
    lines = [f"{name}:{age}"]
    for each in ordered[:most]:
        origin = " ".join(filter(None, (each.source, each.code)))
        message = " ".join(each.message[:_MESSAGE].split())
        lines.append(f"  line {each.line}: {each.severity}: {message}{f' [{origin}]' if origin else ''}")
    if len(ordered) > most:
        lines.append(f"  and {len(ordered) - most} more")
    return "\n".join(lines)
