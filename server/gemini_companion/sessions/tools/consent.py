"""Consent: whether a call may go ahead, by the rules, the mode, and the person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.session import Session
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.tool import Proposal, Tool, ToolCall, ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What became of the question whether a call may go ahead."""

    allowed: bool
    consent: str
    """Why, in a few words, for people: the rule, the mode, the person's answer."""
    refusal: str = ""
    """For the model, where it may not: that nothing was done and that this is no fault, and the person's reason."""
    edited_args: Mapping[str, Any] | None = None
    """The arguments to go on with, the person's or, where a file changed meanwhile, the same: they are proposed and
    decided anew.
    """
    edited_content: str | None = None
    """The text of the file as the person corrected it: it is written as a whole in place of what was proposed, and
    decided anew.
    """
    note: str = ""
    """For the model, behind the result: what the person changed."""


class Consent(Protocol):
    """Decides. Returns when it is settled; cancelled, it takes its question back."""

    async def decide(
        self,
        session: Session,
        client: Client,
        call: ToolCall,
        tool: Tool[Any],
        proposal: Proposal,
        context: ToolContext,
    ) -> Decided:
        """Whether this call may go ahead as proposed."""
        ...

    async def refusal(self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext) -> str:
        """Why no person could let a call through now; empty where it may go ahead, or where somebody is asked."""
        ...

    async def agrees(
        self, session: Session, client: Client, call: ToolCall, made: Sequence[Made], context: ToolContext
    ) -> bool:
        """Whether the person lets files count that a command wrote."""
        ...

    def reconsider(self, session_id: str | None = None) -> None:
        """Look at what waits for an answer again, in one session or in all: a mode, a rule or trust has changed."""
        ...
