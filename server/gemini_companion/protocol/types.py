"""The params of our methods, and the shells of what we send; results and events are the sessions' own types."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from gemini_companion.engine.history.constraint import ConstraintScope, ConstraintState
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.protocol.lsp import Position, Range
from gemini_companion.sessions.events import Event

Token: TypeAlias = int | str
Title: TypeAlias = Annotated[str, Meta(max_length=500)]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]


class _Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class SessionParams(_Params, frozen=True, kw_only=True):
    """A session; without an id the client's current one."""

    session_id: str | None = None


class StatsParams(SessionParams, frozen=True, kw_only=True):
    """A session, or with `all` every session of the project together."""

    all: bool = False


class PreviewContextParams(SessionParams, frozen=True, kw_only=True):
    """Whose next prompt is meant."""

    of_new_session: bool = False
    """The first prompt of a session that is not made yet, whichever is current."""


class SessionIdParams(_Params, frozen=True, kw_only=True):
    """A session by its id."""

    session_id: str


class NewSessionParams(_Params, frozen=True, kw_only=True):
    """A new session. `systemInstruction` replaces the built-in one."""

    model: str | None = None
    title: Title | None = None
    system_instruction: str | None = None


class ListSessionsParams(_Params, frozen=True, kw_only=True):
    """`query` is plain words, searched in all messages; `cursor` is the last page's `nextCursor`."""

    query: str = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 50
    cursor: str | None = None


class OpenSessionParams(_Params, frozen=True, kw_only=True):
    """`takeOver` takes the session from another process that holds it."""

    session_id: str
    take_over: bool = False


class SubscribeParams(_Params, frozen=True, kw_only=True):
    """Subscribe to a session's events, or (`on` false) unsubscribe."""

    session_id: str
    on: bool


class ForkParams(_Params, frozen=True, kw_only=True):
    """`atTurn` is a turn's id, or its number among the completed turns, from 1; without it the fork is taken as things
    stand.
    """

    session_id: str
    at_turn: str | int | None = None


class RenameParams(_Params, frozen=True, kw_only=True):
    """A session's new title."""

    session_id: str
    title: Annotated[Title, Meta(min_length=1)]


class ImportParams(_Params, frozen=True, kw_only=True):
    """The absolute path of a regular file of at most 256 MiB."""

    path: Text


class HistoryParams(_Params, frozen=True, kw_only=True):
    """`model` is what the model gets, without an answer whose calls are still being made; `transcript` is everything
    ever written. Without `limit`: all of it.
    """

    view: Literal["model", "transcript"]
    session_id: str | None = None
    cursor: str | None = None
    limit: Annotated[int, Meta(ge=1)] | None = None
    newest_first: bool = False
    """The first page has the newest contents, each cursor leads to the page before; in a page the oldest come first."""


class ChatParams(_Params, frozen=True, kw_only=True):
    """A prompt: text, or parts in Gemini's form. `@path` in it names a file or a folder of the workspace, which goes
    along.

    `replaces` is the id of the newest turn: it leaves the view when this answer is there, and stays if there is none.
    """

    prompt: str | list[dict[str, Any]]
    session_id: str | None = None
    model: str | None = None
    replaces: str | None = None
    steer: bool = False
    """If a turn of the session is under way, the prompt goes along with its next round; it answers for both."""
    work_done_token: Token | None = None


class ResumeParams(_Params, frozen=True, kw_only=True):
    """Go on with the newest turn of a session where it stands."""

    session_id: str | None = None
    work_done_token: Token | None = None


class CancelParams(_Params, frozen=True, kw_only=True):
    """The job to stop; without an id, whatever runs in the session."""

    session_id: str | None = None
    turn_id: str | None = None
    compression_id: str | None = None


class CompressParams(_Params, frozen=True, kw_only=True):
    """`instructions` are for the model that writes the snapshot; `preview` computes without changing anything.

    `strategy` takes the place of the setting's. `upTo` hides everything through that turn, `from` that turn and
    everything after it, but for the running one; only one of the two may be given.
    """

    session_id: str | None = None
    instructions: Annotated[str, Meta(max_length=100_000)] = ""
    preview: bool = False
    strategy: StrategyName | None = None
    up_to: str | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    work_done_token: Token | None = None


class ApplyParams(_Params, frozen=True, kw_only=True):
    """A preview to install, with an edited text if `snapshot` is given."""

    compression_id: str
    session_id: str | None = None
    snapshot: str | None = None
    work_done_token: Token | None = None


class UndoParams(_Params, frozen=True, kw_only=True):
    """The compression to take back; without an id the newest in force."""

    session_id: str | None = None
    compression_id: str | None = None


class CompressionParams(_Params, frozen=True, kw_only=True):
    """A compression, or a preview."""

    compression_id: str
    session_id: str | None = None


class RateParams(_Params, frozen=True, kw_only=True):
    """What a person thinks of a compression."""

    compression_id: str
    rating: Annotated[int, Meta(ge=1, le=5)]
    session_id: str | None = None
    note: str = ""


class PinParams(_Params, frozen=True, kw_only=True):
    """A text to pin, or the prompt of a turn."""

    session_id: str | None = None
    text: str | None = None
    turn_id: str | None = None


class UnpinParams(_Params, frozen=True, kw_only=True):
    """A pin to take away."""

    pin_id: str
    session_id: str | None = None


class SetConstraintParams(_Params, frozen=True, kw_only=True):
    """A constraint to take in, to propose, to release, to reword or to give another scope; a new one without an id."""

    state: ConstraintState
    constraint_id: str | None = None
    scope: ConstraintScope | None = None
    text: Annotated[str, Meta(max_length=4_000)] | None = None
    session_id: str | None = None


class KeptParams(_Params, frozen=True, kw_only=True):
    """A compression, the newest in force that keeps what was said if none is named; and what a statement has in it."""

    compression_id: str | None = None
    contains: str = ""
    session_id: str | None = None


class KeepStatementParams(_Params, frozen=True, kw_only=True):
    """A statement of the person's to keep, or not."""

    statement_id: str
    is_kept: bool
    session_id: str | None = None


class PinSelectionParams(_Params, frozen=True, kw_only=True):
    """Pin the text of a range of an open document."""

    uri: str
    range: Range
    session_id: str | None = None


class ReplayParams(_Params, frozen=True, kw_only=True):
    """The events after a number."""

    session_id: str
    after_seq: Annotated[int, Meta(ge=0)]


class RecallParams(_Params, frozen=True, kw_only=True):
    """What to recall: what answers `query`; or a turn, an entry, or the output of a tool's call by its id.

    In all sessions of the project unless one is named, as it must be with a call's. `limit` is for a query, `offset`
    for a call's output: the character to begin with; with a query too only its lines with those words, after their
    numbers. A turn is given whole.
    """

    query: str | None = None
    turn_id: str | None = None
    entry_id: str | None = None
    tool_call_id: str | None = None
    offset: Annotated[int, Meta(ge=0)] = 0
    session_id: str | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10


class OpenFileReport(_Params, frozen=True, kw_only=True):
    """One open file. `lastFocusedAt` may be in any unit; larger is newer.

    `text` is for what no file holds: all of an `untitled:` document, or the cell of a notebook that is worked in, with
    its number from 1 in `cell`. Cursor and selection are positions in it.
    """

    uri: str
    last_focused_at: float
    is_active: bool = False
    cursor: Position | None = None
    selection: Range | None = None
    selected_text: str | None = None
    text: str | None = None
    cell: Annotated[int, Meta(ge=1)] | None = None


class VisibleRange(_Params, frozen=True, kw_only=True):
    """What an editor shows of a file."""

    uri: str
    range: Range


class IdeContextParams(_Params, frozen=True, kw_only=True):
    """What the editor shows; a later notice replaces an earlier one.

    `excluded` are the URIs of files, open or not, that the person took out: they are withheld like ignored ones, until
    a notice names them no more.
    """

    open_files: tuple[OpenFileReport, ...]
    is_trusted: bool | None = None
    visible_ranges: tuple[VisibleRange, ...] = ()
    excluded: tuple[str, ...] = ()


class EventParams(_Params, frozen=True, kw_only=True):
    """An event of a session. `seq` rises strictly per session, also over restarts; it may leave a gap."""

    session_id: str
    seq: int
    time: int
    event: Event
    turn_id: str | None = None


class FilesParams(_Params, frozen=True, kw_only=True):
    """`query` is what somebody has typed behind the `@`; its signs need not stand in a row."""

    query: Annotated[str, Meta(max_length=1_000)] = ""
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class PromptCheckParams(_Params, frozen=True, kw_only=True):
    """A prompt that somebody writes."""

    prompt: Annotated[str, Meta(max_length=1_000_000)]


class CodeActionContext(_Params, frozen=True, kw_only=True):
    """What the editor knows at the range."""

    diagnostics: list[dict[str, Any]] = []


class SentDiagnostic(_Params, frozen=True, kw_only=True):
    """What we read of a diagnostic."""

    range: Range = Range(start=Position(line=0, character=0), end=Position(line=0, character=0))
    message: str = ""
    severity: int | None = None
    source: str | None = None


class DocumentId(_Params, frozen=True, kw_only=True):
    """A document."""

    uri: str


class CodeActionParams(_Params, frozen=True, kw_only=True):
    """A range that actions are wanted for."""

    text_document: DocumentId
    range: Range
    context: CodeActionContext = CodeActionContext()


class EditorSettings(_Params, frozen=True, kw_only=True):
    """The editor's settings, as far as they are ours."""

    gemini_companion: dict[str, Any] | None = None


class ConfigurationParams(_Params, frozen=True, kw_only=True):
    """The editor's settings; ours are under `geminiCompanion`."""

    settings: Any = None


class SetTraceParams(_Params, frozen=True, kw_only=True):
    """LSP's trace level; we trace nothing."""

    value: str = "off"
