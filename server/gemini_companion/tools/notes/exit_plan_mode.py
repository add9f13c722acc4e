"""`exit_plan_mode`: the model shows its plan, the person says how it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gemini_companion.engine.history.tool_entries import Mode
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

ASKING: Final = "Yes, ask before each change"
ACCEPTING: Final = "Yes, and change files without asking"
PLANNING: Final = "No, go on planning"
_MODES: Final[Mapping[str, Mode]] = {ASKING: "ask", ACCEPTING: "acceptEdits"}


class ExitPlanModeArgs(msgspec.Struct, frozen=True, kw_only=True):
    """The plan."""

    plan: Annotated[
        str,
        Meta(min_length=1, max_length=10_000, description="What you will do, step by step, for the person to read."),
    ]


class ExitPlanMode:
    """Asks the person to approve a plan. Approved, it is pinned, and the session goes on in their mode."""

    name = "exit_plan_mode"
    aliases = ()
    description = (
        "In plan mode: show the person your plan and ask whether to carry it out. Call it once you have read enough to"
        " be sure of the plan. If the answer is no, change the plan as they say and ask again."
    )
    arguments = ExitPlanModeArgs
    risk: Risk = "question"
    shape: Shape = "text"

    async def propose(self, args: ExitPlanModeArgs, context: ToolContext) -> Proposal:
        """Nothing is touched. Raises `ToolRefusal` outside of plan mode."""
        if context.mode != "plan":
            raise ToolRefusal("This is not plan mode: there is nothing to leave. Go on with the work.")
        if not args.plan.strip():
            raise ToolRefusal("The plan is empty. Write what you will do, step by step.")
        return Proposal(title="Ask whether to carry out the plan")

    async def run(self, args: ExitPlanModeArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Ask, and follow the answer. Raises `ToolRefusal` if it is no, or if there is none."""
        if context.ports.notes is None:
            raise ToolRefusal("There is no session that could follow a plan.")
        question = f"Carry out this plan?\n\n{args.plan}"
        given = await context.ports.editor.ask(question, [ASKING, ACCEPTING, PLANNING], allows_text=True)
        if given is None:
            raise ToolRefusal("Nobody answered; plan mode holds. Only read, or end your turn.", outcome="declined")
        mode = _MODES.get(given.text)
        if mode is None:
            words = "" if given.text == PLANNING else f" Their words: {given.text}"
            raise ToolRefusal(f"The person wants no such plan yet; plan mode holds.{words}", outcome="declined")
        await context.ports.notes.follow_plan(args.plan, mode)
        return ToolOutput(output="The person approved the plan. Carry it out now.", summary=f"approved, mode {mode}")
