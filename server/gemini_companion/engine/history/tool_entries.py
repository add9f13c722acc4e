"""The entries of a log that tools make: calls, rules of consent, changed files, tasks, masked outputs."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.attached import Attachment, Withheld
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.entry import Cut, LogEntry

ToolOutcome: TypeAlias = Literal["ok", "failed", "declined", "timedOut", "interrupted"]
"""`declined`: a person, a rule or the mode said no. `interrupted`: stopped, or the daemon ended meanwhile."""

Mode: TypeAlias = Literal["ask", "plan", "acceptEdits"]
"""What a session's tools may do unasked: `ask` reads only, `plan` nothing but reads at all, `acceptEdits` files too."""

BEHIND: Final = 1_000
"""A call that a hook has made behind another one has that one's number and so much more."""

Decision: TypeAlias = Literal["allow", "ask", "deny"]
ChangeKind: TypeAlias = Literal["created", "changed", "deleted", "renamed"]
TodoState: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"]


class _Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class ToolRule(_Record, frozen=True, kw_only=True):
    """A rule of consent. What a rule leaves out matches everything."""

    tool: str
    """A tool's name, or `*`."""
    decision: Decision
    path: str | None = None
    """A pattern as in ignore files, relative to a workspace folder, for tools that touch files."""
    command: tuple[str, ...] | None = None
    """The first words of a command, each compared as a whole, for `run_shell_command`."""
    exact: bool = False
    """`command` is all the words of the command: with more of them the rule does not allow it. What forbids or asks
    takes no notice of it.
    """
    workspace: str | None = None
    """The workspace folder, by its absolute real path, in which alone the rule holds; for all files in it, and for
    commands that start in it.
    """


class CallRecord(_Record, frozen=True, kw_only=True):
    """What became of one call, for people."""

    call_id: str
    name: str
    outcome: ToolOutcome
    summary: str = ""
    """A few words: `42 lines`, `exit code 1`."""
    duration_ms: int = 0
    """From the start of the tool to its end, without the time that a question waited."""
    edited_args: dict[str, Any] | None = None
    """The arguments that it ran with, if a person changed them."""
    consent: str = ""
    """Why it could run or not, in a few words: the rule, the mode, or the person's answer."""
    agent_session_id: str = ""
    """The session of the subagent that did the work; empty where none did."""


class ToolCallEntry(LogEntry, tag="toolCall", frozen=True, kw_only=True):
    """A call that asks or acts, as it stands from here on; reads leave none. The newest of an id holds."""

    turn_id: str
    call_id: str
    name: str
    args: dict[str, Any] | None = None
    """What it runs with, if a person changed that; the model's own are in the answer. Earlier versions wrote them."""
    number: int | None = None
    """Its place among the calls of the answer, from 0; earlier versions did not write it."""
    state: Literal["asked", "running", "ended"]


class SteerOfferedEntry(LogEntry, tag="steerOffered", frozen=True, kw_only=True):
    """A prompt that was accepted for a turn under way and that no request has yet; it is not in the view.

    A `steer` or a `prompt` of this id follows: it went along, or the turn ended without it.
    """

    turn_id: str
    steer_id: str
    content: Content
    client: str = ""
    """Id of the client that sent it."""


class SteerEntry(LogEntry, tag="steer", frozen=True, kw_only=True):
    """A prompt that a person sent to a turn under way, followed by the files that it names, as in a `prompt`."""

    turn_id: str
    content: Content
    client: str = ""
    """Id of the client that sent it."""
    attachments: tuple[Attachment, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    """Files that it names and that were not attached."""
    steer_id: str = ""
    """Its `steerOffered`; `""` for what a person said in answer to a question, and in what earlier versions wrote."""
    hook_contexts: int = 0
    """Parts of `content` that are a hook's: all of them where a hook sent the turn back to work."""
    reminder: str = ""
    """Nothing of it is the person's: the model is told that it goes round in circles. What people are told of that."""

    @property
    def own_parts(self) -> tuple[Part, ...]:
        """The person's own parts."""
        if self.reminder:
            return ()
        behind = len(self.attachments) + self.hook_contexts
        return self.content.parts[: max(0, len(self.content.parts) - behind)]


class ModeEntry(LogEntry, tag="mode", frozen=True, kw_only=True):
    """The session's mode from here on."""

    mode: Mode


class AllowanceEntry(LogEntry, tag="allowance", frozen=True, kw_only=True):
    """A rule of consent that a person gave for this session, or took back."""

    rule_id: str
    rule: ToolRule
    revoked: bool = False


class Todo(_Record, frozen=True, kw_only=True):
    """One task of the model's list."""

    description: str
    status: TodoState


class TodosEntry(LogEntry, tag="todos", frozen=True, kw_only=True):
    """The model's task list from here on."""

    turn_id: str
    todos: tuple[Todo, ...]


MAX_VERSION: Final = 16 * 2**20
"""Bytes of a file beyond which its versions are not kept."""


class FileVersion(_Record, frozen=True, kw_only=True):
    """The bytes of a file at one time; they are in the store of versions under their digest."""

    digest: str
    """SHA-256 in hexadecimal digits."""
    size: int
    """Bytes."""
    mode: int = 0o644
    """Permission bits."""
    link: str | None = None
    """The target, if it is a symbolic link; then the digest is that of the target's name."""
    is_folder: bool = False
    """It is a folder: it has permission bits and no bytes."""
    is_kept: bool = True
    """False where the bytes were too many to be kept: this version cannot be brought back."""


class FileChange(_Record, frozen=True, kw_only=True):
    """What one call, or one revert, did to one file."""

    path: str
    """Absolute, the real one; for a rename the new one."""
    kind: ChangeKind
    from_path: str | None = None
    """The old path of a renamed file."""
    before: FileVersion | None = None
    """`None` where there was no file."""
    after: FileVersion | None = None
    """`None` where there is none now."""
    unsaved: FileVersion | None = None
    """The editor's unsaved text before, as it would be on the disk, where it differed from that."""
    unsaved_after: FileVersion | None = None
    """The same after: the change was made in the editor."""
    added: int = 0
    """Lines."""
    removed: int = 0
    """Lines."""

    @property
    def old(self) -> FileVersion | None:
        """What the person had before, on the disk or unsaved."""
        return self.unsaved or self.before

    @property
    def new(self) -> FileVersion | None:
        """What they have after it."""
        return self.unsaved_after or self.after


class ChangeEntry(LogEntry, tag="change", frozen=True, kw_only=True):
    """Files that are about to be changed, or that were: written ahead of the change, and again after it."""

    turn_id: str
    change_id: str
    """The second entry of an id replaces the first."""
    changes: tuple[FileChange, ...]
    call_id: str | None = None
    """The call that made it; `None` for a revert."""
    is_done: bool = False
    """False ahead of the change. One that stays so was cut short: the files themselves say how far it came."""
    reverts: tuple[str, ...] = ()
    """The changes that this one takes back."""
    paths: tuple[str, ...] = ()
    """Of those changes only what concerns these files; empty for all."""
    note: str = ""
    """What is not among the changes, for people."""
    by_command: bool = False
    """It was noticed after a command; only what was known before can be put back."""
    stamps: str = ""
    """Ahead of a command: the digest under which what the workspace looked like is kept, with the versions."""


class KeptEntry(LogEntry, tag="kept", frozen=True, kw_only=True):
    """Changes that the person wants: they are not counted any more, and can still be taken back."""

    change_ids: tuple[str, ...]
    paths: tuple[str, ...] = ()
    """Of these changes only what concerns these files; empty for all."""


class Repeat(_Record, frozen=True, kw_only=True):
    """A result that says word for word what an earlier one says: shown as `output` while that one is in view, whole."""

    seq: int
    part: int
    """Index of the part in the content of entry `seq`, from 0."""
    of_seq: int
    of_part: int
    """The earlier result."""
    output: str
    tokens_saved: int


class MaskEntry(LogEntry, tag="mask", frozen=True, kw_only=True):
    """What the view shows shortened from here on. The log keeps the whole."""

    cuts: tuple[Cut, ...]
    """Parts, mostly old ones; `output` stands for the whole part as `masks.masked_part` says."""
    repeats: tuple[Repeat, ...] = ()
