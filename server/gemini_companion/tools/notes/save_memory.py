"""`save_memory`: a fact that every later chat is to know. The person is always asked, and shown the diff."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from gemini_companion.engine.edits.encoding import Encoded
from gemini_companion.engine.ide_context.secrets import find_secrets
from gemini_companion.engine.memory.saving import MAX_FACT, one_fact, with_fact
from gemini_companion.tools.memory import KeptFact, MemoryKeeper
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal, Touched
from gemini_companion.tools.workspace.changing import (
    Change,
    carried_out,
    file_to_change,
    is_as_before,
    proposal_of,
    text_now,
)

Scope: TypeAlias = Literal["global", "project"]


class SaveMemoryArgs(msgspec.Struct, frozen=True, kw_only=True):
    """One fact."""

    fact: Annotated[
        str, Meta(min_length=1, max_length=MAX_FACT, description="What is to be kept: one sentence that stands alone.")
    ]
    scope: Annotated[
        Scope,
        Meta(
            description="global: about the person, for all their projects. project: for whoever works on this one; it"
            " goes into a file of the project, which others may read."
        ),
    ] = "global"


class SaveMemory:
    """Adds a line to a memory file. No stored rule and no mode lets it through unasked: later chats act on it."""

    name = "save_memory"
    aliases = ()
    description = (
        "Keep a fact for all later chats, when the person says that it is to be remembered, or states a lasting"
        " preference. Not for what only matters now, for what the code says anyway, nor for secrets. The person is"
        " asked."
    )
    arguments = SaveMemoryArgs
    risk: Risk = "edit"
    shape: Shape = "text"

    async def propose(self, args: SaveMemoryArgs, context: ToolContext) -> Proposal:
        """The line that would be added. Raises `ToolRefusal`."""
        keeper = _keeper(context)
        fact = _fact(args)
        if args.scope == "global":
            kept = await keeper.propose(fact)
            touched = Touched(path=kept.path, how="read", is_inside=False)  # outside: always asked, and not undoable
            return Proposal(
                title="Remember in every project",
                touched=(touched,),
                diff=kept.diff,
                warnings=("Every later chat, of any project, is told this.",),
                state=kept,
            )
        if not context.roots:
            raise ToolRefusal("No workspace folder is open, so there is no project file. Keep it with scope global.")
        place, before = await file_to_change(keeper.file_name, context)
        after = with_fact("" if before is None else before.text, fact)
        encoded = Encoded() if before is None else before.encoded
        change = Change(place=place, before=before, after=after, encoded=encoded)
        proposal = await proposal_of(change, "Remember in", context)
        touched = tuple(msgspec.structs.replace(each, is_guarded=True) for each in proposal.touched)
        warning = "Every later chat of this project is told this."
        return msgspec.structs.replace(proposal, touched=touched, warnings=(*proposal.warnings, warning))

    async def run(self, args: SaveMemoryArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Add it, if the file is still as it was. Raises `ToolRefusal`."""
        if isinstance(proposal.state, Change):
            change = proposal.state
            if not is_as_before(await text_now(change.place, context), change.before):
                raise ToolRefusal(f"{change.place.shown} has changed while the question was open. Call it again.")
            return await carried_out(change, context, f"Kept in {change.place.shown}.")
        kept: KeptFact = proposal.state
        await _keeper(context).keep(kept)
        return ToolOutput(output="Kept for every project.", summary="remembered")


def _keeper(context: ToolContext) -> MemoryKeeper:
    if context.ports.keeper is None:
        raise ToolRefusal("There are no memory files here.")
    return context.ports.keeper


def _fact(args: SaveMemoryArgs) -> str:
    try:
        fact = one_fact(args.fact)
    except ValueError as fault:
        raise ToolRefusal(f"Nothing was kept: {fault}.") from None
    if not fact:
        raise ToolRefusal("There is no fact. Say in one sentence what is to be kept.")
    if find_secrets(fact):
        raise ToolRefusal("Nothing was kept: the fact holds a secret. Say where the secret is kept instead.")
    return fact
