"""What calls need beside the tools themselves: consent, the record of changes, what outputs leave behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.background import Commands
from gemini_companion.sessions.tools.consent import Consent, Decided
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.delegation import Delegation
from gemini_companion.tools.ports import EditorPort
from gemini_companion.tools.tool import Proposal, Risk, Tool, ToolCall, ToolContext, ToolOutput

_UNASKED: Final[frozenset[Risk]] = frozenset({"read", "note"})


class Recorded(Protocol):
    """What is known of a call once its block has ended."""

    @property
    def told(self) -> str:
        """The files that it changed, for the model; empty if there are none, or if the model knows them."""
        ...

    @property
    def deciding(self) -> str:
        """Those of them that decide what runs or what a model is told, for people and the model."""
        ...

    @property
    def made(self) -> Sequence[Made]:
        """Those that this program would obey, and that count for nothing until the person agrees."""
        ...


class Changes(Protocol):
    """The record of changed files."""

    def recorded(
        self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext
    ) -> AbstractAsyncContextManager[Recorded | None]:
        """Around a call that may change files: what they were is durable when the block begins, what they are once it
        has ended. Entering it raises `ToolRefusal` if that cannot be kept; then nothing is done.
        """
        ...

    async def settle(self, session: Session, context: ToolContext) -> None:
        """Close the changes that were cut short with a daemon, by what is on the disk now."""
        ...

    async def at_rest(self, session: Session) -> None:
        """Wait until all that calls which ended have changed is recorded."""
        ...

    def wrote(self, session: Session, path: str, digest: str) -> None:
        """A session wrote a file: commands of others, which run meanwhile, did not."""
        ...


class Outputs(Protocol):
    """What an output leaves in the history."""

    async def shape(
        self, session: Session, tool: Tool[Any], call: ToolCall, output: ToolOutput
    ) -> tuple[dict[str, Any], tuple[Part, ...]]:
        """The `response` of the function response, within its limit, and the media that go with it."""
        ...

    async def mask_if_due(self, session: Session) -> None:
        """Shorten old outputs in the view if that saves enough; called where no call is open."""
        ...

    async def fit(self, session: Session, room: int, *, texts: bool) -> bool:
        """Shorten what is largest in the view until it takes at most `room` tokens, as far as that goes; whether it
        did. `texts` allows what the model said.
        """
        ...

    def note_spent(self, session: Session, tokens: int) -> None:
        """Models took tokens for a call of the session."""
        ...

    def take_spent(self, session: Session) -> int:
        """Tokens that models took for the session's calls since this was asked last."""
        ...


class CautiousConsent:
    """Lets tools look and take notes, and nothing else."""

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
        if tool.risk in _UNASKED:
            return Decided(allowed=True, consent="reading needs no consent")
        return Decided(
            allowed=False,
            consent="nobody can be asked",
            refusal="Not done. This is no fault: nobody can be asked for consent here.",
        )

    async def refusal(self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext) -> str:
        """Why no person could let a call through."""
        return "" if tool.risk in _UNASKED else "Nobody can be asked for consent here."

    async def agrees(
        self, session: Session, client: Client, call: ToolCall, made: Sequence[Made], context: ToolContext
    ) -> bool:
        """Nobody can be asked."""
        return False

    def reconsider(self, session_id: str | None = None) -> None:
        """Nothing waits."""


class NoRecord:
    """Records nothing."""

    def recorded(
        self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext
    ) -> AbstractAsyncContextManager[Recorded | None]:
        """Nothing around the call."""
        return nullcontext()

    async def settle(self, session: Session, context: ToolContext) -> None:
        """There is none."""

    async def at_rest(self, session: Session) -> None:
        """Nothing is recorded."""

    def wrote(self, session: Session, path: str, digest: str) -> None:
        """Nothing is recorded."""


class WholeOutputs:
    """Leaves every output as it is."""

    async def shape(
        self, session: Session, tool: Tool[Any], call: ToolCall, output: ToolOutput
    ) -> tuple[dict[str, Any], tuple[Part, ...]]:
        """Output or error, whole."""
        response = {"output": output.output} if output.error is None else {"error": output.error}
        return response, output.media

    async def mask_if_due(self, session: Session) -> None:
        """Nothing is masked."""

    async def fit(self, session: Session, room: int, *, texts: bool) -> bool:
        """Nothing is shortened."""
        return False

    def note_spent(self, session: Session, tokens: int) -> None:
        """Nothing is told."""

    def take_spent(self, session: Session) -> int:
        """None."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tooling:
    """All of it. One per application."""

    consent: Consent = field(default_factory=CautiousConsent)
    changes: Changes = field(default_factory=NoRecord)
    outputs: Outputs = field(default_factory=WholeOutputs)
    commands: Commands = field(default_factory=Commands)
    """The commands that run, and background ones that ended."""
    editor_of: Callable[[Session, Client, str], EditorPort] | None = None
    """The editor and the person of a client, for the call of this id; `None` for the one of `Services.ports`."""
    delegation_of: Callable[[Session, Client, str, str, Tooling], Delegation] | None = None
    """The subagents for a call: of its session, client, turn and id; `None` where there are none."""
    can_ask: Callable[[Client], bool] = lambda client: False
    """Whether a person can be asked through a client."""
    options: Callable[[], Mapping[str, Any]] = dict[str, Any]
    """The settings of tools, for `ToolContext.options`."""
    tell: Callable[[str], None] = lambda text: None
    """Warns the person, in every editor."""
    limit_seconds: float = 60.0
    """Seconds that a tool may take that reads, edits or keeps a note; the others see to their own limits."""
