"""What defines a subagent: a Markdown file with front matter, as Gemini CLI has them, or one of ours."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.agents.front_matter import FrontMatterFault, split_front_matter

AgentSource: TypeAlias = Literal["builtIn", "workspace", "user", "extension"]
"""Where one comes from; of equal names the first in this order is used, as with Gemini CLI."""

MAX_TURNS: Final = 30
MAX_MINUTES: Final = 10.0
"""What Gemini CLI gives an agent that names no limits: rounds of tool calls, and minutes."""

MOST_TURNS: Final = 200
MOST_MINUTES: Final = 120.0
MAX_PROMPT: Final = 100_000
"""Characters of the text that becomes its system prompt."""

_NAME: Final = re.compile(r"[a-z0-9_-]{1,64}")
_FIELDS: Final = frozenset({
    "name", "description", "kind", "display_name", "tools", "mcp_servers", "model", "temperature", "max_turns",
    "timeout_mins",
})  # fmt: skip


class AgentFault(ValueError):
    """A file that defines no agent: what is wrong with it, and in which line."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class AgentDefinition(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A subagent as it can be called."""

    name: str
    """Letters, digits, `_` and `-`, all lower case."""
    description: str
    """For the model that chooses: what it is good for."""
    prompt: str
    """Its system prompt."""
    display_name: str = ""
    tools: tuple[str, ...] | None = None
    """Names of tools, with `*` for any letters; `None` for all that the chat itself has, but for agents."""
    model: str = ""
    """Empty for the one of the chat."""
    temperature: float | None = None
    max_turns: int = MAX_TURNS
    """Rounds of tool calls."""
    timeout_minutes: float = MAX_MINUTES
    source: AgentSource = "user"
    path: str | None = None
    """Absolute path of its file."""

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.display_name or self.name

    def has_tool(self, name: str, aliases: Iterable[str] = ()) -> bool:
        """Whether it may call a tool."""
        if self.tools is None:
            return True
        return any(fnmatch.fnmatchcase(one, pattern) for pattern in self.tools for one in (name, *aliases))


class AgentCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What began a subagent's session, and what it may do: its definition as it was then."""

    definition: AgentDefinition
    session_id: str
    """The chat that called it."""
    turn_id: str
    call_id: str


class _File(msgspec.Struct, kw_only=True):
    """The fields of a file; `kind: remote` and `mcp_servers` are told of, and not used."""

    name: str
    description: str
    kind: Literal["local", "remote"] = "local"
    display_name: str = ""
    tools: list[str] | None = None
    model: str = "inherit"
    temperature: float | None = None
    max_turns: int = MAX_TURNS
    timeout_mins: float = MAX_MINUTES


def parse_agent(text: str, *, path: str, source: AgentSource, tools: Sequence[Iterable[str]]) -> AgentDefinition:
    """The agent that a file defines. `tools` has the names of each tool that there is. Raises `AgentFault`."""
    try:
        fields, body = split_front_matter(text)
    except FrontMatterFault as fault:
        raise AgentFault(fault.message, fault.line) from None
    lines = text.split("\n")
    if unknown := sorted(set(fields) - _FIELDS):
        raise AgentFault(f"There is no field {unknown[0][:40]!r}.", _line_of(lines, unknown[0]))
    try:
        file = msgspec.convert({**fields, **_as_list(fields)}, _File)
    except (msgspec.ValidationError, RecursionError) as fault:
        told = str(fault)
        named = re.search(r"\$\.(\w+)", told)
        line = _line_of(lines, named[1] if named else "")
        raise AgentFault(told.replace("`$.", "`"), line) from None
    _check(file, body, lines, tools)
    return AgentDefinition(
        name=file.name,
        description=" ".join(file.description.split()),
        prompt=body,
        display_name=" ".join(file.display_name.split())[:80],
        tools=None if file.tools is None else tuple(file.tools),
        model="" if file.model == "inherit" else file.model,
        temperature=file.temperature,
        max_turns=file.max_turns,
        timeout_minutes=file.timeout_mins,
        source=source,
        path=path,
    )


def _as_list(fields: dict[str, Any]) -> dict[str, Any]:
    """`tools` may also be one text with commas, as agents of other programs have it."""
    named = fields.get("tools")
    if not isinstance(named, str):
        return {}
    return {"tools": [name.strip() for name in named.split(",") if name.strip()]}


def _check(file: _File, body: str, lines: Sequence[str], tools: Sequence[Iterable[str]]) -> None:
    def wrong(field: str, message: str) -> AgentFault:
        return AgentFault(message, _line_of(lines, field))

    if not _NAME.fullmatch(file.name):
        raise wrong("name", "The name may have lower-case letters, digits, `_` and `-`, at most 64.")
    if file.kind == "remote":
        raise wrong("kind", "Remote agents are not supported.")
    if not file.description.strip() or len(file.description) > 2_000:
        raise wrong("description", "The description must say in at most 2,000 characters what the agent is for.")
    if not body:
        raise AgentFault("Behind the fields there is no text, which is the agent's system prompt.", len(lines))
    if len(body) > MAX_PROMPT:
        raise AgentFault(f"The text has more than {MAX_PROMPT:,} characters.", len(lines))
    if file.temperature is not None and not 0 <= file.temperature <= 2:
        raise wrong("temperature", "The temperature must be from 0 to 2.")
    if not 1 <= file.max_turns <= MOST_TURNS:
        raise wrong("max_turns", f"max_turns must be from 1 to {MOST_TURNS}.")
    if not 0 < file.timeout_mins <= MOST_MINUTES:
        raise wrong("timeout_mins", f"timeout_mins must be above 0 and at most {MOST_MINUTES:g}.")
    known = [name for names in tools for name in names]
    for pattern in file.tools or ():
        if not pattern.startswith("mcp_") and not any(fnmatch.fnmatchcase(name, pattern) for name in known):
            raise wrong("tools", f"There is no tool {pattern[:80]!r}.")


def _line_of(lines: Sequence[str], field: str) -> int:
    """The line, from 1, in which a field stands; 1 where it is not to be found."""
    if not field:
        return 1
    return next((number for number, line in enumerate(lines, start=1) if _names(line, field)), 1)


def _names(line: str, field: str) -> bool:
    """Whether a line begins with a field's name, perhaps in quotes, and a colon."""
    name, colon, _ = line.partition(":")
    return bool(colon) and name.strip(" \t\"'") == field
