"""What the sessions need from outside, as short protocols; `wiring` chooses the adapters.

Faults that cross a port belong to the tree in `engine.errors`; anything else that an adapter raises is a defect.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from gemini_companion.engine.agents.definition import AgentCall
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import Entry, Withheld
from gemini_companion.engine.statistics.spending import Spent
from gemini_companion.sessions.agents_log import AgentsLog
from gemini_companion.sessions.kept_counts import KeptCount, KeptTokens
from gemini_companion.sessions.kept_sums import SumsStore
from gemini_companion.sessions.recall_store import RecallStore
from gemini_companion.sessions.retention import StoredSession
from gemini_companion.sessions.shared_entries import Ranges


class SessionMeta(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A session without its log, as listings need it. Times are milliseconds since 1970 (UTC)."""

    session_id: str
    title: str
    model: str
    created_at: int
    updated_at: int
    turns: int = 0
    token_count: int = 0
    counted: KeptTokens | None = None
    """The session's count when this was saved, and what that rests on where the API counted."""
    workspace_folders: tuple[str, ...] = ()
    """Absolute paths."""
    system_instruction: str | None = None
    """The session's own; `None` for the daemon's."""
    parent: str | None = None
    """Id of the session that it was forked from."""
    agent: AgentCall | None = None
    """Of a subagent's session; such are listed only where they are asked for, and go with the chat."""
    held_by: int | None = None
    """The process id of another, living process that holds it; filled in by reads."""
    titled_at: int = 0
    """Completed turns when a title was last looked for; 0 for one that a person gave, which stays."""
    is_kept: bool = False
    """A person said that it stays, whatever the limits say."""


class SessionPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a listing, newest first."""

    sessions: tuple[SessionMeta, ...]
    next_cursor: str | None = None
    """Where the next page begins; `None` on the last."""
    unindexed: int = 0
    """Sessions that are searched in part only, since they are still being indexed."""


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An event as clients get it: `event` is its JSON object with `type`, `time` is ms since 1970 (UTC)."""

    session_id: str
    seq: int
    time: int
    event: Mapping[str, Any]
    turn_id: str | None = None


class StoredEvents(msgspec.Struct, frozen=True, kw_only=True):
    """Missed events in order; `truncated` if older ones are gone or there are more."""

    events: tuple[StoredEvent, ...]
    truncated: bool


class VersionStore(Protocol):
    """The bytes of files before and after they were changed. They stay as long as a session needs them and there is
    room; the oldest turns' go first. A session that is forked shares them. Every method raises `StorageFault`.
    """

    async def save(self, session_id: str, turn_id: str, versions: Sequence[bytes]) -> None:
        """Keep versions, each of at most `MAX_VERSION` bytes, for a turn; they are on disk when this returns."""
        ...

    async def load(self, digest: str) -> bytes | None:
        """The version with this SHA-256, `None` if it is gone. Raises `StorageFault` too if it is damaged."""
        ...

    async def forget(self, session_id: str, turn_id: str, digest: str) -> None:
        """A turn does not need this version any more; it goes if nobody does."""
        ...


class LoggedChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says of changes of files: its `ChangeEntry`s and `KeptEntry`s from some number on, oldest first."""

    meta: SessionMeta
    entries: tuple[Entry, ...]


class SessionStore(AgentsLog, Protocol):
    """Durable append-only logs. Every method raises `StorageFault`; those with an id also `SessionNotFound`."""

    @property
    def versions(self) -> VersionStore:
        """Versions of changed files."""
        ...

    @property
    def recall(self) -> RecallStore:
        """Finding what was said in these sessions."""
        ...

    @property
    def sums(self) -> SumsStore:
        """What is kept of these sessions' statistics."""
        ...

    async def create(self, meta: SessionMeta, entries: Sequence[Entry] = (), shared: Ranges = (), seqs: int = 0) -> int:
        """Make and hold it, its first event numbers reserved: the first. A fork has `shared` ones of its parent's."""
        ...

    async def restored_export(self, data: bytes) -> bytes:
        """The bytes of a session file; of one of our own that this store has the secrets of, with their texts."""
        ...

    async def append(self, session_id: str, entries: Sequence[Entry]) -> None:
        """Add entries in one transaction; they are on disk when this returns.

        Raises `SessionBusy` if this process lost the session meanwhile, `StaleVersion` if a `seq` is already taken.
        If cancelled, the entries may have been written or not: callers shield it.
        """
        ...

    async def load(self, session_id: str) -> tuple[SessionMeta, list[Entry]]:
        """Read a whole session, whichever process holds it."""
        ...

    async def load_counted(self, session_id: str) -> tuple[SessionMeta, list[Entry], StoredCounts]:
        """The same with what is known of the sizes of its contents: only of those that are as they were counted."""
        ...

    async def load_newest(self, session_id: str, contents: int) -> tuple[SessionMeta, list[Entry]]:
        """The end of a session: about so many of the newest contents, with all entries from the first of them on."""
        ...

    async def save_counts(self, session_id: str, counts: Sequence[KeptCount]) -> None:
        """Keep sizes for `load_counted`, if the session is still there; those of earlier rules of counting go."""
        ...

    async def changes_beside(
        self, session_id: str, after: Mapping[str, int], turns: Collection[str]
    ) -> Sequence[LoggedChanges]:
        """Read what the sessions of a chat's subagents say of changes, or of a subagent's the chat, however little.

        Of the chats that it was forked from, those count too that worked in `turns`. `after` has the numbers, by
        session, of entries behind which to begin.
        """
        ...

    async def meta(self, session_id: str) -> SessionMeta:
        """Read a session's metadata."""
        ...

    async def save_meta(self, meta: SessionMeta) -> None:
        """Replace a session's metadata; `held_by` is ignored. Raises `SessionBusy` unless this process holds it."""
        ...

    async def list(
        self, *, query: str = "", limit: int = 50, cursor: str | None = None, with_agents: bool = False
    ) -> SessionPage:
        """List this project's sessions, newest first, `with_agents` those of subagents among them. All words of `query`
        have to occur in a session's texts or title.
        """
        ...

    async def stored(self, sized: Collection[str] | None = None, *, alone: bool = False) -> Sequence[StoredSession]:
        """Every session, in no order, with the sizes of those in `sized` if that is given; with `alone` no others."""
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a session and its subagents', with logs, events and private files. Raises `SessionBusy`."""
        ...

    async def constraints(self) -> tuple[Constraint, ...]:
        """Read the constraints of the whole project, oldest first, released ones included."""
        ...

    async def save_constraints(self, constraints: Sequence[Constraint]) -> bool:
        """Add constraints of the project, or replace those with their ids, all at once.

        They are on disk when this returns; False, and nothing is saved, if those in force would be over the budget.
        """
        ...

    async def spent_since(self, time: int) -> Spent:
        """What the project's sessions have spent from this time on (ms since 1970, the beginning of a quarter of an
        hour), whichever process holds them; deleted ones too.
        """
        ...

    async def hold(self, session_id: str, *, take_over: bool = False) -> int:
        """Take the lease of a session, or keep it; returns when a process that did not give it back gave its last sign
        of life, in ms since 1970, 0 if all did.

        Raises `SessionBusy`, with holder and hint, while another living process has it, unless `take_over`.
        """
        ...

    async def release(self, session_id: str) -> None:
        """Release the lease."""
        ...

    def holds(self, session_id: str) -> bool:
        """True while this process has the lease, as far as it knows."""
        ...

    async def still_holds(self, session_id: str) -> bool:
        """Whether this process has the lease, asked of where leases are kept. True too if that cannot be said now."""
        ...

    async def reserve_event_seqs(self, session_id: str, count: int) -> int:
        """Reserve `count` event numbers durably; returns the first. Numbers are never reused: a crash leaves a gap."""
        ...

    def save_events(self, events: Sequence[StoredEvent]) -> None:
        """Store events for replay, soon and without waiting; a failure is logged and loses only the replay."""
        ...

    async def events(self, session_id: str, after_seq: int, limit: int = 10_000) -> StoredEvents:
        """Read the stored events past `after_seq`, including everything given to `save_events` before."""
        ...

    async def save_text(self, session_id: str, name: str, text: str) -> str:
        """Write a private file (mode 0600) and return its absolute path.

        A file of this name and content is taken as it is; if the content differs, the new one's name gets a number.
        """
        ...

    async def keep_file(self, session_id: str, name: str, path: str) -> str:
        """Move a file of ours in as a private text, whatever had the name; returns its new path."""
        ...

    async def read_text(self, session_id: str, name: str) -> str | None:
        """A private text by the name that `save_text` used, what is no text in it replaced; `None` if there is none."""
        ...

    async def remove_texts(self, session_id: str, names: Sequence[str]) -> None:
        """Delete private files by the names given to `save_text`. What cannot be deleted is logged and stays."""
        ...

    async def limit_texts(self, session_id: str, most_bytes: int, *, first: Sequence[str], spared: str) -> int:
        """Delete private files until so many bytes are left, those named `first` before the oldest, never `spared`.
        Returns how many were deleted; people are told.
        """
        ...

    def text_path(self, session_id: str, name: str) -> str:
        """The absolute path that `save_text` uses for `name` in this session, if no other text has the name."""
        ...

    async def close(self) -> None:
        """Release every lease, write what is pending, close the file."""
        ...


class Clock(Protocol):
    """Time, so that tests can control it."""

    def now(self) -> int:
        """Milliseconds since 1970 (UTC)."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary point; never goes backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for so many seconds."""
        ...


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a folder that a prompt names."""

    path: str
    """Absolute, as it was named."""
    is_folder: bool = False
    size: int = 0
    """Bytes."""
    withheld: Withheld | None = None
    """Why it may not be shown; `None` if it may."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A file or a folder of the workspace that may be shown."""

    folder: str
    """The workspace folder, as the client named it."""
    path: str
    """Relative to `folder`, with slashes."""
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
    """The workspace on disk: what may be shown of it. Real paths decide; nothing here follows a link out of it."""

    async def admit(self, paths: Sequence[str], folders: Sequence[str]) -> dict[str, Withheld | None]:
        """For each absolute path `None` if it may be shown, else why not (missing, outside, ignored, a secret)."""
        ...

    async def read_text(self, path: str, *, limit: int = 1_000_000) -> str | None:
        """The text of an admitted file, at most `limit` characters; `None` if it cannot be read or is not text."""
        ...

    async def read_bytes(self, path: str, *, limit: int) -> bytes | None:
        """The first bytes of an admitted file, at most `limit`; `None` if it cannot be read."""
        ...

    async def tree(self, folders: Sequence[str], *, limit: int = 200) -> str:
        """Names indented below folders, `limit` at most, others counted. Ignore files are obeyed, no link followed."""
        ...

    async def find(self, named: Sequence[Sequence[str]], folders: Sequence[str]) -> list[Named | None]:
        """For each group of alternative paths the first that exists, `None` if none does.

        A path is absolute, or relative to a folder, or begins with a folder's own name where there are several. Names
        that lead out of the folders are not looked up.
        """
        ...

    async def names_below(self, path: str, folders: Sequence[str], *, limit: int = 500) -> Names:
        """The names below an admitted folder, at most `limit`; ignore files are obeyed, links are not followed."""
        ...

    async def listing(self, folders: Sequence[str]) -> Listing:
        """What can be named in the folders, a few seconds old at most; ignore files are obeyed, links not followed."""
        ...
