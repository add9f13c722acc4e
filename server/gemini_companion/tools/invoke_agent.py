"""The tool `invoke_agent`: hands a task to a subagent."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gemini_companion.engine.agents.definition import AgentDefinition
from gemini_companion.tools.delegation import Delegation
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

MAX_TASK: Final = 100_000
"""Characters of a task."""


class InvokeAgentArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Who is to do what."""

    agent_name: Annotated[str, Meta(max_length=100, description="The name of the subagent.")]
    prompt: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_TASK,
            description="The whole task: it sees nothing of this conversation. Say what is wanted, what is known"
            " already (paths, names, what was tried), and what the report must have.",
        ),
    ]


class InvokeAgent:
    """Has a subagent do a task, and gives back its report. Its own calls are judged one by one."""

    name: str = "invoke_agent"
    aliases: tuple[str, ...] = ("delegate_to_agent",)
    description: str = (
        "Hand a task to a subagent, which works with tools in a window of its own and reports once. Good for work that"
        " reads or runs much and comes to a short result; several calls in one answer run side by side. Its report is"
        " a claim to be checked, not the person's word."
    )
    arguments: type[InvokeAgentArguments] = InvokeAgentArguments
    risk: Risk = "agent"
    shape: Shape = "text"

    async def propose(self, args: InvokeAgentArguments, context: ToolContext) -> Proposal:
        """Find the agent. Raises `ToolRefusal` that names those that there are."""
        known = await _delegation(context).known()
        agent = next((one for one in known if one.name == args.agent_name.strip()), None)
        if agent is None:
            names = ", ".join(one.name for one in known) or "none"
            raise ToolRefusal(f"There is no subagent {args.agent_name[:80]!r}. The subagents are: {names}.")
        if not args.prompt.strip():
            raise ToolRefusal("There is no task. Say what the subagent is to do.")
        return Proposal(title=f"{agent.title}: {_first_line(args.prompt)}", state=agent)

    async def run(self, args: InvokeAgentArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Have it work."""
        agent: AgentDefinition = proposal.state

        def begun(session_id: str) -> None:
            context.agent_session_id = session_id

        report = await _delegation(context).run(agent, args.prompt, begun)
        return ToolOutput(output=report.text, summary=report.summary)


def _delegation(context: ToolContext) -> Delegation:
    if context.ports.agents is None:
        raise ToolRefusal("There are no subagents here.")
    return context.ports.agents


def _first_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
