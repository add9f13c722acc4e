"""What every session shares: the ports, the clock, the models, the settings in force."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.agents.service import AgentService, Create
from gemini_companion.sessions.commands.registry import SlashCommands
from gemini_companion.sessions.hooks.service import HooksOfSessions
from gemini_companion.sessions.models.registry import ModelRegistry
from gemini_companion.sessions.observing.service import Observing
from gemini_companion.sessions.ports import Clock, SessionStore, WorkspaceFiles
from gemini_companion.sessions.question_vectors import QuestionVectors
from gemini_companion.sessions.results import ErrorData
from gemini_companion.sessions.slots import Slots
from gemini_companion.sessions.system_prompt import GitStates, NoGit
from gemini_companion.settings.effective import Settings
from gemini_companion.tools.ports import Ports
from gemini_companion.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from gemini_companion.sessions.mcp.service import McpService
    from gemini_companion.sessions.memory.service import MemoryService
    from gemini_companion.sessions.skills.service import SkillService


def describe_plainly(fault: CompanionError) -> ErrorData:
    """A fault for clients, without the wire's codes: -32803 is LSP's RequestFailed."""
    return ErrorData(
        code=-32803, kind=type(fault).__name__, message=fault.message, hint=fault.hint, retryable=fault.retryable
    )


@dataclass(slots=True, kw_only=True)
class Services:
    """What every session gets. `settings` is called anew for each decision, so that a change takes effect at once."""

    store: SessionStore
    clock: Clock
    models: ModelRegistry
    workspace: WorkspaceFiles
    settings: Callable[[], Settings]
    new_id: Callable[[str], str]
    """Makes an id that begins with the given word."""
    new_nonce: Callable[[], str]
    """Makes the secret marker of the summariser's quotations."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    system_prompt_override: Callable[[], str | None] = lambda: None
    """The text of `GEMINI_SYSTEM_MD`, if set."""
    write_system_prompt: Callable[[Callable[[], str]], None] = lambda text: None
    """Write the built-in prompt where `GEMINI_WRITE_SYSTEM_MD` says, if it says so."""
    git: GitStates = field(default_factory=NoGit)
    """What git says of the workspace."""
    today: Callable[[], str] = lambda: ""
    """The date as a person writes it, for the environment content."""
    platform: str = ""
    trusted: Callable[[], bool] = lambda: False
    """Whether the workspace is trusted now."""
    describe_fault: Callable[[CompanionError], ErrorData] = describe_plainly
    questions: QuestionVectors = field(default_factory=QuestionVectors)
    """The vectors of what is searched for by meaning."""
    with_environment: bool = True
    """False where a file's history is compressed, which has a system instruction of its own or none."""
    tools: ToolRegistry = field(default_factory=ToolRegistry)
    """What the model can call, as far as its provider calls tools."""
    hooks: HooksOfSessions = field(default_factory=HooksOfSessions)
    """Runs the hooks of the settings."""
    observing: Observing = field(default_factory=Observing)
    """Who watches what happens; by default the last events are kept, and that is all."""
    slots: Slots = field(default_factory=Slots)
    """How much goes on at once, over all sessions."""
    tell: Callable[[str], None] = lambda sentence: None
    """Shows a sentence to people, in every editor."""
    mcp: McpService | None = None
    """The MCP servers; `None` where there are none."""
    ports: Ports | None = None
    """What tools reach the world through; without them none is offered. The editor is replaced by the client's own."""
    agents: AgentService | None = None
    """The subagents; `None` where there are none, as in one's own session."""
    exported: Callable[[str], str] = lambda document: document
    """A JSON text as it may leave this machine, without secrets. May take long."""
    marked: Callable[[bytes], bytes] = lambda document: document
    """The same with marks for secrets, for a piece of a session file."""
    vouched: Callable[[Iterable[bytes]], str | None] = lambda pieces: None
    """What has `SessionStore.restored_export` know a session file of our own, which is in these pieces, again."""
    slash_commands: SlashCommands = field(default_factory=SlashCommands)
    """What can be typed behind a slash."""
    skills: SkillService | None = None
    """The skills; `None` where there are none to be read."""
    memory: MemoryService | None = None
    """The memory files; `None` where there are none to be read."""

    def __post_init__(self) -> None:
        self.models.availability.now = self.clock.monotonic

    def use_sessions(self, create: Create) -> None:
        """Make the sessions of subagents this way."""
        if self.agents is not None:
            self.agents.create = create
