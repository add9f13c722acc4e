"""`recall`: what was said or put out earlier, word for word, where the model is no longer shown it."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gemini_companion.engine.recall.excerpt import matching_lines
from gemini_companion.tools.memory import Remembered, SessionMemory
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

_HITS: Final = 5


class RecallArgs(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for."""

    query: Annotated[
        str, Meta(max_length=2_000, description="Words to look for, alone or inside of what an id names.")
    ] = ""
    tool_call_id: Annotated[str, Meta(max_length=200, description="The call whose whole output you want.")] = ""
    arguments: Annotated[
        bool, Meta(description="With tool_call_id: what the call was made with, in place of what it put out.")
    ] = False
    entry_id: Annotated[str, Meta(max_length=200, description="The entry that you want, as a hit names it.")] = ""
    turn_id: Annotated[str, Meta(max_length=200, description="The turn that you want, as a hit names it.")] = ""
    offset: Annotated[int, Meta(ge=0, description="The character to begin with, from 0, to read on.")] = 0


class Recall:
    """Gives back what compressions hide, and what was cut or masked; what was withheld is nowhere, so it stays so."""

    name = "recall"
    aliases = ()
    description = (
        "Get back, word for word, anything from earlier in this project's conversations that you no longer see: what a"
        " summary replaced, an output that says it was shortened, a decision made days ago. Use it before you guess,"
        " ask the person again, or run the same command again. With an id that a shortened text names you get all of"
        " that, in pieces that say how to go on; with `query` too, only its lines with those words. With `query` alone"
        " you get the passages that answer it best, from other conversations of the project too."
    )
    arguments = RecallArgs
    risk: Risk = "read"
    shape: Shape = "text"

    async def propose(self, args: RecallArgs, context: ToolContext) -> Proposal:
        """Nothing is touched. Raises `ToolRefusal` unless there is one thing to look for."""
        if sum(map(bool, (args.tool_call_id, args.entry_id, args.turn_id))) > 1:
            raise ToolRefusal("Give one of tool_call_id, entry_id and turn_id, not several.")
        if not _named(args) and not args.query.strip():
            raise ToolRefusal("Say what to recall: some words as query, or a tool_call_id, entry_id or turn_id.")
        return Proposal(title=f"Recall {args.query.strip()[:80] or _named(args)}")

    async def run(self, args: RecallArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Look for it. Raises `ToolRefusal` where there is nothing of that id."""
        memory = context.ports.memory
        if memory is None:
            raise ToolRefusal("There is no conversation here to recall from.")
        if not _named(args):
            found = await memory.search(args.query, _HITS)
            return ToolOutput(output=found or "Nothing of the kind was said in this project.", summary="searched")
        remembered = await _remembered(memory, args)
        if remembered is None:
            raise ToolRefusal(f"There is nothing with the id {_named(args)!r}. Look for some words with query instead.")
        if args.query.strip():
            return _matching(remembered, args.query, memory.most_characters)
        return _piece(remembered, args.offset, memory.most_characters)


def _named(args: RecallArgs) -> str:
    return args.tool_call_id or args.entry_id or args.turn_id


async def _remembered(memory: SessionMemory, args: RecallArgs) -> Remembered | None:
    if args.tool_call_id and args.arguments:
        return await memory.arguments(args.tool_call_id)
    if args.tool_call_id:
        return await memory.output(args.tool_call_id)
    return await memory.entry(args.entry_id) if args.entry_id else await memory.turn(args.turn_id)


def _piece(remembered: Remembered, offset: int, most: int) -> ToolOutput:
    text, total = remembered.text, len(remembered.text)
    if offset >= total and total:
        raise ToolRefusal(f"It has {total} characters only; begin before that.")
    end = min(total, offset + most)
    if end < total:  # whole lines, where they are not too long
        line = text.rfind("\n", offset + most // 2, end)
        end = line + 1 if line >= 0 else end
    shown = f"characters {offset} to {end} of {total}" if offset or end < total else "whole"
    more = f"\n[There is more: go on with offset={end}.]" if end < total else ""
    return ToolOutput(
        output=f"[{remembered.title}, {shown}:]\n{text[offset:end]}{more}",
        media=remembered.media if not offset else (),
        summary=f"{end - offset:,} of {total:,} characters",
    )


def _matching(remembered: Remembered, query: str, most: int) -> ToolOutput:
    """The lines with all words of the query, or else with any, with those beside them."""
    found = matching_lines(remembered.text, query, most)
    shown = f"{found.shown} of {found.found} matching lines of {found.of}"
    text = f"[{remembered.title}: {shown}, with their numbers:]"
    return ToolOutput(
        output=f"{text}\n{found.text}" if found.text else text, summary=f"{found.shown} of {found.found} lines"
    )
