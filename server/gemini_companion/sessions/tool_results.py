"""The shapes of the tools' part of the protocol.

Durations are milliseconds, times milliseconds since 1970 (UTC), paths absolute.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gemini_companion.engine.history.log import TurnOutcome
from gemini_companion.engine.history.tool_entries import ChangeKind, Mode, Todo, ToolRule
from gemini_companion.tools.tool import Risk


class _Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class QuestionPart(_Result, frozen=True, kw_only=True):
    """A piece of a command line, and what the rules say of it."""

    text: str
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""


class ToolQuestion(_Result, frozen=True, kw_only=True):
    """What a person is asked before a tool acts. All texts are for people."""

    session_id: str
    turn_id: str
    tool_call_id: str
    name: str
    args: dict[str, Any]
    """As they will be used, to be edited; not to be shown as they are, for they may hold what a reader cannot see."""
    title: str
    """Verb and object: `Run npm test`."""
    risk: Risk
    args_text: str = ""
    """All arguments as a person reads them, where neither a command nor a diff shows what is asked about."""
    path: str | None = None
    """The file that would be changed."""
    diff: str | None = None
    """Unified, of that file, whole; signs that cannot be seen are written out."""
    new_content: str | None = None
    """The file's text as it would be, for a diff editor."""
    command: str | None = None
    """The whole line; signs that cannot be seen are written out."""
    parts: tuple[QuestionPart, ...] = ()
    """Of the line, those that need the yes among them."""
    cwd: str | None = None
    sandbox: str = ""
    """What holds the command back, or that nothing does: a sentence."""
    mode: Mode = "ask"
    reason: str = ""
    """Why it asks."""
    warnings: tuple[str, ...] = ()
    irreversible: str = ""
    """What cannot be taken back: a sentence; empty if everything can."""
    rule: ToolRule | None = None
    """What "for this session" and "always" would allow; absent where they are not offered."""
    rule_text: str = ""
    """The same in words."""
    asked_at: int = 0
    agent: str = ""
    """The subagent that asks, for people; empty where the chat itself does."""


class ModeResult(_Result, frozen=True, kw_only=True):
    """The session's mode."""

    session_id: str
    mode: Mode


class ToolInfo(_Result, frozen=True, kw_only=True):
    """A tool that the model has."""

    name: str
    title: str
    description: str
    risk: Risk
    decision: Literal["allow", "ask", "deny"]
    """What would be decided of a plain call now."""


class UnfinishedTurn(_Result, frozen=True, kw_only=True):
    """The newest turn, where it ended early and `gemini/chat/resume` can go on with it."""

    turn_id: str
    outcome: TurnOutcome
    """How it ended."""
    reason: str = ""
    """Why, if it failed or was stopped."""


class ToolList(_Result, frozen=True, kw_only=True):
    """The tools of a session, and what its turn leaves open."""

    mode: Mode
    tools: tuple[ToolInfo, ...]
    todos: tuple[Todo, ...] = ()
    questions: tuple[ToolQuestion, ...] = ()
    """Those that wait for an answer, oldest first."""
    sandbox: str = ""
    """What holds commands back here, or that nothing does."""
    unfinished: UnfinishedTurn | None = None
    """The turn that can be gone on with; absent while a turn is under way or waits."""


class StoredRule(_Result, frozen=True, kw_only=True):
    """A rule of consent, and where it comes from."""

    rule: ToolRule
    source: Literal["default", "user", "workspace", "system", "editor", "session"]
    rule_id: str | None = None
    """By which a session's or the user's rule is taken back; absent for others."""
    text: str = ""
    """The same in words."""


class RuleList(_Result, frozen=True, kw_only=True):
    """The rules of consent in force, those that are asked first at the front."""

    rules: tuple[StoredRule, ...]


class BackgroundCommand(_Result, frozen=True, kw_only=True):
    """A command that runs on after its call, or that did."""

    tool_call_id: str
    command: str
    cwd: str
    started_at: int
    state: Literal["running", "exited", "stopped"]
    exit_code: int | None = None
    output: str = ""
    """Its last lines."""


class CommandList(_Result, frozen=True, kw_only=True):
    """The session's commands that run, and background ones that ended."""

    commands: tuple[BackgroundCommand, ...]


class StopResult(_Result, frozen=True, kw_only=True):
    """Whether there was something to stop."""

    stopped: bool


class ShownCall(_Result, frozen=True, kw_only=True):
    """What one call of a tool did, as people read it."""

    diff: str = ""
    """Unified: what it changed in files."""
    output: str = ""
    """What it put out, without what only the model was told; the end of a long one."""
    is_cut: bool = False
    """There is more of the diff or of the output."""


class Change(_Result, frozen=True, kw_only=True):
    """What a turn did to a file, from its first to its last change in that turn; its subagents' are among them."""

    turn_id: str
    path: str
    kind: ChangeKind
    added: int
    """Lines."""
    removed: int
    """Lines."""
    diff: str
    """Unified; empty for what is no text."""
    from_path: str | None = None
    state: Literal["made", "reverted", "kept"] = "made"
    """`kept`: the person said so; it is not counted any more, and can still be taken back."""
    can_revert: bool = True
    reason: str = ""
    """Why it cannot be taken back."""
    by_command: bool = False
    agents: tuple[str, ...] = ()
    """Titles of the subagents that made it, or a part of it, for the turn."""
    hunks: int = 0
    """Number of places in `diff`, which `gemini/changes/revert` can name from 0."""


class ChangeList(_Result, frozen=True, kw_only=True):
    """The files that turns changed, newest turn first."""

    changes: tuple[Change, ...]
    note: str = ""
    """What is not among them, such as what commands did outside the workspace."""


class Conflict(_Result, frozen=True, kw_only=True):
    """A file that was left as it is, and why."""

    path: str
    reason: str


class RevertResult(_Result, frozen=True, kw_only=True):
    """What was put back."""

    reverted: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    change_id: str | None = None
    """The revert itself, which can be taken back in turn."""
    note: str = ""
    """What else is to be known, for people: a command in the background may change files again."""
