"""The contract of a tool: what the model calls, what a person is asked about, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import msgspec

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.tool_entries import Mode, ToolOutcome

if TYPE_CHECKING:
    from gemini_companion.tools.ports import Ports

Risk: TypeAlias = Literal["read", "edit", "command", "network", "server", "question", "note", "agent"]
"""What a tool may do: look, change files, run something, ask the network, whatever an MCP server does, ask the person,
keep a note for itself, have another model work, each of whose calls is judged by itself.
"""

Shape: TypeAlias = Literal["text", "file", "listing", "search", "command"]
"""How its output is cut where it is too long."""

A = TypeVar("A", bound=msgspec.Struct)


class ToolRefusal(Exception):
    """A call cannot be done as asked. `message` tells the model what is wrong and what to do instead."""

    def __init__(self, message: str, *, outcome: ToolOutcome = "failed") -> None:
        super().__init__(message)
        self.message = message
        self.outcome: ToolOutcome = outcome


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the model made it."""

    call_id: str
    """Ours, unique in the session; the model's own id may be missing or repeated."""
    name: str
    args: Mapping[str, Any]
    number: int = 0
    """Its place among the calls of the answer, from 0."""


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """A file or folder that a call would touch."""

    path: str
    """Absolute, the real one."""
    how: Literal["read", "write", "delete"]
    is_inside: bool = True
    """In a workspace folder, by its real path."""
    secret: str = ""
    """Why it counts as a secret; empty if it does not."""
    is_guarded: bool = False
    """Ours, or one that decides what runs: settings, hooks, build files. No stored rule allows it."""
    is_unknown: bool = False
    """It is not known to be free where edits are accepted: no mode allows it, a rule may."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """What a call would do, found out before anything is done. Texts are for people."""

    title: str
    """Verb and object: `Edit src/a.py`."""
    touched: tuple[Touched, ...] = ()
    command: str | None = None
    """A shell line, to be judged by its parts."""
    cwd: str | None = None
    path: str | None = None
    """The file that would be changed, for a diff editor."""
    new_content: str | None = None
    """Its text as it would be."""
    diff: str | None = None
    """Unified."""
    sandbox: str = ""
    warnings: tuple[str, ...] = ()
    irreversible: str = ""
    """What cannot be taken back; empty if everything can."""
    asks: str = ""
    """Why a person is asked unless a rule allows it, where the risk alone would let it through; empty otherwise."""
    server: str = ""
    """The name of the MCP server that is asked."""
    of_workspace: bool = False
    """A rule that allows it holds in this workspace only: the workspace says what it does."""
    state: Any = None
    """What the tool wants to find again in `run`, such as the file's digest."""


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gives back."""

    output: str = ""
    """For the model; whole, it is cut elsewhere."""
    error: str | None = None
    """For the model, in place of `output`: what is wrong and what to do instead."""
    media: tuple[Part, ...] = ()
    """`inlineData` parts."""
    summary: str = ""
    """For people, a few words: `42 lines`."""
    outcome: ToolOutcome = "ok"
    source: str | None = None
    """What was read, and how, for outputs that repeat an earlier one: a path and a range, and the content's digest."""
    is_whole_file: str | None = None
    """A private file that already has all of the output, where it was too long to be held."""


NamedByPerson: TypeAlias = Callable[[str], Awaitable[bool]]


async def named_by_nobody(path: str) -> bool:
    """Where there are no prompts."""
    return False


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """What a call is made in."""

    call_id: str
    turn_id: str
    session_id: str
    chat_id: str = ""
    """The session of the chat that a subagent works for; else the same as `session_id`."""
    roots: tuple[str, ...]
    """Absolute real paths of the workspace folders, in the client's order."""
    trusted: bool
    mode: Mode
    ports: Ports
    progress: Callable[[str], None] = lambda output: None
    """Takes new output while the tool runs."""
    so_far: Callable[[int], str] = lambda characters: ""
    """Gives the last characters of the output so far; a tool that may be stopped in the midst of its work sets it."""
    named_by_person: NamedByPerson = named_by_nobody
    """Whether the person's own prompts name an absolute real path."""
    client_id: str = ""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings of tools, by the names of `settings.effective.ToolOptions`."""
    must_ask: str = ""
    """Why a person is to be asked although the rules would let the call through; empty where that is not so."""
    asks: str = ""
    """Why a person is asked about a command unless a rule allows it: it is neither theirs nor the model's."""
    looks_in: str = ""
    """The folder in whose repository `git` looks, for a command that nobody was asked about and that only looks."""
    agent_session_id: str = ""
    """The session of the subagent that works for the call, from its beginning on; however the call ends, it stays."""
    may_show: Callable[[str], bool] = lambda path: True
    """Whether the rules let a file inside, by its absolute real path, be read unasked. For tools that come upon files
    which their proposal does not name."""


class Tool(Protocol, Generic[A]):
    """A tool. Everything it raises but `ToolRefusal` is a defect, reported to the model as a failure."""

    @property
    def name(self) -> str:
        """As the model calls it."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names that it answers to."""
        ...

    @property
    def description(self) -> str:
        """What it is for, for the model."""
        ...

    @property
    def arguments(self) -> type[A]:
        """Their type; `msgspec.Meta(description=…)` tells the model what each is, names are as it writes them."""
        ...

    @property
    def risk(self) -> Risk:
        """What it may do."""
        ...

    @property
    def shape(self) -> Shape:
        """How its output is cut."""
        ...

    async def propose(self, args: A, context: ToolContext) -> Proposal:
        """Find out what the call would do, without doing it. Raises `ToolRefusal`."""
        ...

    async def run(self, args: A, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Do it. Cancelling it stops whatever it started. Raises `ToolRefusal`."""
        ...


class ForeignArguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a tool that somebody else describes: as the model wrote them."""

    values: Mapping[str, Any]


@runtime_checkable
class ForeignTool(Protocol):
    """A tool of a server: its arguments are described by a schema of the server's, which checks them."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """A JSON Schema."""
        ...

    @property
    def groups(self) -> tuple[str, ...]:
        """What rules name that are about it among others, such as `mcp_git_*`."""
        ...


def rule_names(tool: Tool[Any]) -> tuple[str, ...]:
    """What rules may name that are about a tool: its name first."""
    groups = tool.groups if isinstance(tool, ForeignTool) else ()
    return (tool.name, *tool.aliases, *groups)
