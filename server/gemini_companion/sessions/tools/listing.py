"""The tools of a session as a client lists them."""

from __future__ import annotations

from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import ToolInfo, ToolList, ToolQuestion, UnfinishedTurn
from gemini_companion.sessions.tools.judging import situation_of
from gemini_companion.sessions.tools.modes import mode_of
from gemini_companion.sessions.tools.resuming import resumable
from gemini_companion.tools.policy.decide import Asked, decide
from gemini_companion.tools.ports import SandboxWish
from gemini_companion.tools.tool import Proposal, ToolRefusal, rule_names
from gemini_companion.tools.web import NAMES


def listed_tools(session: Session, questions: tuple[ToolQuestion, ...]) -> ToolList:
    """Every tool with what would be decided of a plain call now, the tasks, and the questions that wait."""
    services = session.services
    roots = session.meta.workspace_folders
    situation = situation_of(session, roots)
    grounds = session.choice().provider.capabilities.grounds
    return ToolList(
        mode=mode_of(session),
        tools=tuple(
            ToolInfo(
                name=tool.name,
                title=tool.name.replace("_", " ").capitalize(),
                description=tool.description,
                risk=tool.risk,
                decision=decide(
                    Asked(names=rule_names(tool), risk=tool.risk, proposal=Proposal(title="")), situation
                ).decision,
            )
            for tool in session.tools
            if services.settings().tools.enabled and (grounds or tool.name not in NAMES)
        ),
        todos=session.tools_state.todos,
        questions=questions,
        sandbox=_sandbox(session, roots),
        unfinished=_unfinished(session),
    )


def _unfinished(session: Session) -> UnfinishedTurn | None:
    if session.lane.has_turn:  # the log is as that turn leaves it, which nobody knows yet
        return None
    before = resumable(session)
    return UnfinishedTurn(turn_id=before.turn_id, outcome=before.outcome, reason=before.reason) if before else None


def _sandbox(session: Session, roots: tuple[str, ...]) -> str:
    services, options = session.services, session.services.settings().tools
    if services.ports is None or not any(tool.risk == "command" for tool in services.tools):
        return ""
    try:
        return services.ports.commands.describe_sandbox(
            SandboxWish(
                use=options.sandbox,
                network=options.network,
                chat=session.principal.session_id,
                environment=options.environment,
                without=options.without_environment,
                sockets=options.sockets,
            ),
            roots,
        )
    except ToolRefusal as refusal:
        return refusal.message
