"""What the sessions need from outside, as short protocols; `wiring` chooses who provides each.

Faults that cross a port are of the tree in `engine.errors`; anything else that escapes an adapter is a defect.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import Entry, Usage

if TYPE_CHECKING:
    from gemini_companion.engine.facts.fact import SummaryTask

CallRole: TypeAlias = Literal["main", "utility_compressor", "utility_title"]


class OpenDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A file that an editor shows and that may be read: its absolute path and its text, unsaved edits included."""

    path: str
    text: str
    is_active: bool = False
    selection: tuple[int, int] | None = None
    """First and last selected line, from 1, both inclusive."""


def no_documents() -> Sequence[OpenDocument]:
    """The default of `ModelRequest.documents`."""
    return ()


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly what is sent in one request. `contents` alternate in role already where the API needs it."""

    model: str
    contents: tuple[Content, ...]
    system_instruction: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    """Function declarations in Gemini's JSON form."""
    role: CallRole = "main"
    prompt_id: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    documents: Callable[[], Sequence[OpenDocument]] = no_documents
    """The admitted open files, for a model that runs on this machine. Never sent anywhere."""
    stands_in: bool = False
    """For the offline model: it answers because there is no key for the model that was asked for. Never sent anywhere."""
    summary_task: SummaryTask | None = None
    """For the offline model's snapshots: the contents themselves instead of the quoted prompt. Never sent anywhere."""


class ModelChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of an answer, or the whole of one. `finish_reason` and `block_reason` are the API's own words."""

    parts: tuple[Part, ...] = ()
    finish_reason: str | None = None
    block_reason: str | None = None
    usage: Usage | None = None
    model_version: str | None = None


class TokenCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many tokens a request has, who says so, and whether system instruction and tools are in it."""

    total: int
    source: Literal["api", "estimate"]
    covers_system: bool


class ModelClient(Protocol):
    """Whatever answers a prompt: Gemini in production, the offline model without a key, a script in tests."""

    @property
    def provider(self) -> Literal["gemini", "offline"]:
        """Which kind it is."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Answer piece by piece (`streamGenerateContent`). Raises `ModelFault`s, also after some chunks. No retries.

        A prompt that was refused is a chunk with `block_reason`, not a fault. Closing the iterator ends the request.
        """
        ...

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """Answer at once (`generateContent`). Raises `ModelFault`s. No retries."""
        ...

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Count the whole request. Raises `TokenCountFailed`, `ContextOverflow` if it is too large to be counted, or a `ModelFault`."""
        ...

    async def warm_up(self) -> None:
        """Load what is slow to load, off the event loop; called once after the editor is ready."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class SessionMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is known of a session without its log. Times are milliseconds since 1970."""

    session_id: str
    title: str
    model: str
    created_at: int
    updated_at: int
    turns: int = 0
    token_count: int = 0
    workspace_folders: tuple[str, ...] = ()
    """Absolute paths."""
    system_instruction: str | None = None
    parent: str | None = None
    held_by: int | None = None
    """The process id of another, living process that holds it; filled in by reads."""


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a listing, newest first."""

    sessions: tuple[SessionMeta, ...]
    next_cursor: str | None = None


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An event as clients get it: `event` is its JSON object with `type`."""

    session_id: str
    seq: int
    time: int
    event: Mapping[str, Any]
    turn_id: str | None = None


class StoredEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Missed events in order; `truncated` if older ones are gone or the answer was cut."""

    events: tuple[StoredEvent, ...]
    truncated: bool


class SessionStore(Protocol):
    """The append-only logs, durable. Every method raises `StorageFault`; those with an id `SessionNotFound` too."""

    async def create(self, meta: SessionMeta, entries: Sequence[Entry] = ()) -> None:
        """Make a session and hold it, with its first entries, in one transaction."""
        ...

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        """Add entries in one transaction; they are on disk when this returns.

        Raises `SessionBusy` if this process lost the session meanwhile, `StaleVersion` if a seq is already taken. When cancelled
        the entries may be there or not: callers shield it.
        """
        ...

    async def load(self, session_id: str) -> tuple[SessionMeta, list[Entry]]:
        """Read a session whole, whoever holds it."""
        ...

    async def meta(self, session_id: str) -> SessionMeta:
        """Read what is known of a session without its log."""
        ...

    async def save_meta(self, meta: SessionMeta) -> None:
        """Replace what is known of a session (`held_by` is ignored). Raises `SessionBusy` while another living process holds it."""
        ...

    async def list(self, *, query: str = "", limit: int = 50, cursor: str | None = None) -> SessionPage:
        """List this project's sessions, newest first; `query` is plain words, all of which a session's texts or title hold."""
        ...

    async def delete(self, session_id: str) -> None:
        """Forget a session, its log, events and private files. Raises `SessionBusy` if another process holds it."""
        ...

    async def hold(self, session_id: str, *, take_over: bool = False) -> None:
        """Take the lease, or keep it. Raises `SessionBusy` (with holder and hint) while another living process has it and not `take_over`."""
        ...

    async def release(self, session_id: str) -> None:
        """Give the lease back."""
        ...

    def holds(self, session_id: str) -> bool:
        """True while this process has the lease as far as it knows."""
        ...

    async def reserve_event_seqs(self, session_id: str, count: int) -> int:
        """Reserve `count` event numbers durably; returns the first. Numbers never come back, so a crash leaves a gap."""
        ...

    def save_events(self, events: Sequence[StoredEvent]) -> None:
        """Keep events for replay, soon and without waiting; a failure is logged and loses only the replay."""
        ...

    async def events(self, session_id: str, after_seq: int, limit: int = 10_000) -> StoredEvents:
        """Read the kept events past `after_seq`, everything given to `save_events` before included."""
        ...

    async def save_text(self, session_id: str, name: str, text: str) -> str:
        """Write a private file (0600) and return its absolute path; a taken name gets a number. Raises `StorageFault`."""
        ...

    def text_path(self, session_id: str, name: str) -> str:
        """The absolute path that `save_text` would use for `name` in this session."""
        ...

    async def close(self) -> None:
        """Release every lease, write what is pending, close the file."""
        ...


class Clock(Protocol):
    """Time, so that tests can turn it."""

    def now(self) -> int:
        """Milliseconds since 1970 (UTC)."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary point, never backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Refusal(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that may not be shown to a model: its base name only, and why in a few words."""

    name: str
    reason: str


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a folder that somebody named."""

    path: str
    """Absolute, as it was named."""
    is_folder: bool = False
    size: int = 0
    """Bytes."""
    refusal: Refusal | None = None
    """Why it may not be shown."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a folder of the workspace that may be shown."""

    folder: str
    """The workspace folder, as the client named it."""
    path: str
    """From there, with slashes."""
    is_folder: bool = False


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Files and folders of the workspace, those nearest to their folder first; `truncated` if there are more."""

    entries: tuple[Listed, ...]
    truncated: bool = False


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """Names below a folder, drawn as a tree; `truncated` if some were left out."""

    text: str
    truncated: bool = False


class WorkspaceFiles(Protocol):
    """The workspace on disk: what may be shown of it. Real paths count; nothing here follows a link out of it."""

    async def admit(self, paths: Sequence[str], folders: Sequence[str]) -> dict[str, Refusal | None]:
        """For each absolute path: `None` if it may be shown, else why not (not on disk, outside, ignored, a secret)."""
        ...

    async def read_text(self, path: str, *, limit: int = 1_000_000) -> str | None:
        """The text of an admitted file, at most `limit` characters; `None` if it cannot be read or is not text."""
        ...

    async def tree(self, folders: Sequence[str], *, limit: int = 200) -> str:
        """Names indented under each folder, ignore files obeyed, no links followed, at most `limit` names, the rest counted."""
        ...

    async def find(self, named: Sequence[Sequence[str]], folders: Sequence[str]) -> list[Named | None]:
        """For each group of paths: what the first of them names that is there, `None` if none is.

        A path is absolute, or goes from a folder on, or begins with a folder's own name where there are several. What lies outside of
        them by its name is not looked for.
        """
        ...

    async def names_below(self, path: str, folders: Sequence[str], *, limit: int = 500) -> Names:
        """The names in an admitted folder and in those in it, ignore files obeyed, no links followed."""
        ...

    async def listing(self, folders: Sequence[str]) -> Listing:
        """Everything that can be named in the folders, ignore files obeyed, no links followed; some seconds old at most."""
        ...
