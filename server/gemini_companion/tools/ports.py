"""What tools need from outside, provided by adapters.

Every method raises `ToolRefusal` for what cannot be done, with a sentence for the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

from gemini_companion.tools.delegation import Delegation
from gemini_companion.tools.documents import Buffer, EditAnswer, FileDiagnostics, Saved
from gemini_companion.tools.grounding import Grounding
from gemini_companion.tools.guarded import Guard, guard_of_path
from gemini_companion.tools.memory import MemoryKeeper, SessionMemory, SessionNotes
from gemini_companion.tools.skills import SkillShelf


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a path leads to."""

    path: str
    """Absolute, the real one: no link in it but perhaps a last name that is not there yet."""
    root: str | None
    """The workspace folder that it is in; `None` outside."""
    shown: str
    """For people and models: relative to the workspace folder where there is one."""
    kind: Literal["file", "folder", "missing", "other", "link"]
    """`other`: a device, a pipe, a socket. `link`: only where the last name was not followed."""
    withheld: str = ""
    """Why it is not shown by itself: ignored, or a secret; empty if it is."""
    is_secret: bool = False


class FileBytes(msgspec.Struct, frozen=True, kw_only=True):
    """A file's bytes as they are now."""

    data: bytes
    digest: str
    """SHA-256 in hexadecimal digits."""
    mode: int
    """Permission bits."""
    size: int
    """Bytes of the whole file; `digest` is that of `data`."""
    links: int = 1
    """Names that the file has; with more than one, some may be outside."""
    charset: str = ""
    """The encoding that an `.editorconfig` names for it, where the bytes alone do not tell."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A name in a folder."""

    name: str
    kind: Literal["file", "folder", "link", "other"]
    size: int = 0
    """Bytes, of a file."""


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder has."""

    entries: tuple[Listed, ...]
    """Those that may be shown, folders first, in the order of their names."""
    hidden: int = 0
    """The number of ignored ones and secrets, which are left out."""
    is_truncated: bool = False


class FileSystem(Protocol):
    """Files inside the workspace folders, opened by directory descriptors: no link leads out, whoever swaps it when."""

    async def place(self, path: str, roots: Sequence[str]) -> Place:
        """Where a path leads to; relative ones begin at the first folder. Never raises for what is outside."""
        ...

    async def spot(self, path: str, roots: Sequence[str]) -> Place:
        """The place of a name itself, a link not followed, to be put back: whether it is withheld is not said."""
        ...

    async def read(self, place: Place, *, limit: int) -> FileBytes:
        """At most `limit` bytes of a regular file inside a root."""
        ...

    async def charset(self, place: Place) -> str:
        """The encoding that an `.editorconfig` names for a file inside a root, which need not be there; else empty."""
        ...

    async def names(self, place: Place, *, limit: int) -> Names:
        """What a folder inside a root has, at most `limit` names."""
        ...

    async def write(self, place: Place, data: bytes, *, expected: str | None, mode: int | None = None) -> str:
        """Replace a file, or make it and its folders, at once and whole; returns the new digest.

        `expected` is the digest that it must have now, `None` if there must be none. Raises `ToolRefusal` if it has
        another, with nothing written.
        """
        ...

    async def delete(self, place: Place, *, expected: str) -> None:
        """Delete a file that still has this digest."""
        ...

    async def rename(self, place: Place, to: Place, *, expected: str) -> None:
        """Rename a file that still has this digest; there must be nothing at `to`."""
        ...

    async def read_link(self, place: Place) -> str:
        """The target of a symbolic link, as it is written in it."""
        ...

    async def make_link(self, place: Place, target: str) -> None:
        """Make a symbolic link, and its folders, where there is nothing."""
        ...

    async def delete_link(self, place: Place, *, target: str) -> None:
        """Delete a symbolic link that still has this target."""
        ...

    async def make_folder(self, place: Place, *, mode: int) -> None:
        """Make a folder, and those that it is in; or give one that is there these permission bits."""
        ...

    async def delete_folder(self, place: Place) -> bool:
        """Delete a folder if it is empty; whether it was."""
        ...

    async def mode_of_folder(self, place: Place) -> int:
        """The permission bits of a folder."""
        ...


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line that was found."""

    path: str
    """As `Place.shown`."""
    number: int
    """From 1."""
    text: str
    """Without its line break; cut if it is long."""
    is_match: bool = True
    """False for a line around one that matched."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found."""

    lines: tuple[Line, ...]
    is_truncated: bool = False
    note: str = ""
    """What could not be looked at."""


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How lines are searched for."""

    include: str | None = None
    """A glob; without a slash it is one of names, else of paths below `within` or a root."""
    exclude: str | None = None
    """Lines that this regular expression matches too are no matches."""
    is_case_sensitive: bool = False
    is_literal: bool = False
    """The pattern is plain text."""
    before: int = 0
    """Lines shown before each match."""
    after: int = 0
    per_file: int | None = None
    """Matches of one file."""
    limit: int = 100
    """Matches of all files."""


class TextSearch(Protocol):
    """Searching files, by ripgrep."""

    async def grep(
        self,
        pattern: str,
        roots: Sequence[str],
        *,
        within: Place | None = None,
        unsaved: Sequence[Buffer] = (),
        options: SearchOptions,
    ) -> Found:
        """The lines that a regular expression matches, in files that may be shown, in the order of their paths.

        `within` is a folder or a file. Documents in `unsaved` are searched as they are in the editor.
        """
        ...

    async def files(
        self,
        pattern: str,
        roots: Sequence[str],
        *,
        within: Place | None = None,
        excluding: Sequence[str] = (),
        is_case_sensitive: bool = False,
        limit: int = 1000,
    ) -> list[str]:
        """Absolute paths of files that may be shown and that a glob matches, the last changed first.

        `excluding` are globs of others; one without a slash is one of names.
        """
        ...


class CommandEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended."""

    exit_code: int | None
    """`None` if a signal ended it."""
    signal: str = ""
    output: str = ""
    """Both streams in the order they came; at most the bound, head and tail, where there was more."""
    repaints: int = 0
    """States of lines that were written over and say nothing that the next one does not: they are not in `output`."""
    guessed: str = ""
    """In which encoding lines of `output` were read that are no UTF-8."""
    total_bytes: int = 0
    spill_path: str | None = None
    """A private file with all of it, up to its quota, where it was more than fits in memory."""
    timed_out: bool = False
    survivors: tuple[str, ...] = ()
    """Processes that could not be ended, for people."""
    is_lost: bool = False
    """What watched over it was ended before it, so neither how it ended nor what it left running is known."""
    sandbox: str = ""
    """What held it back."""
    disarmed: tuple[str, ...] = ()
    """What it made that would run outside of the sandbox, and no longer does: sentences for the model and people."""


class RunningCommand(Protocol):
    """A command under way."""

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    async def wait(self) -> CommandEnd:
        """Until it ends, or its time is over."""
        ...

    async def stop(self) -> CommandEnd:
        """End it and all that it started, within a second."""
        ...

    def latest(self, characters: int = 4000) -> str:
        """The last of its output so far."""
        ...

    def discard(self) -> None:
        """Nobody needs the file with its output any more: it goes, now or when it ends. Raises nothing."""
        ...


class CommandRunner(Protocol):
    """Runs shell lines, each in a process group of its own, with no input."""

    async def start(
        self,
        line: str,
        *,
        cwd: str,
        roots: Sequence[str],
        limit_seconds: float | None,
        silence_seconds: float | None = None,
        sandbox: SandboxWish,
        on_output: Callable[[str], None],
        looks_in: str = "",
    ) -> RunningCommand:
        """Start it; after `limit_seconds`, or `silence_seconds` without output, it is stopped (`None`: never).

        With `looks_in` nothing of the line does more than look, and `git` looks into the repository of that folder.
        """
        ...

    def describe_sandbox(self, wish: SandboxWish, roots: Sequence[str]) -> str:
        """What would hold a command back, for people. Raises `ToolRefusal` where one is demanded and there is none."""
        ...

    def forget(self, chat: str) -> None:
        """A chat is gone: what its commands shared goes."""
        ...

    async def close(self) -> None:
        """End what runs, and delete the outputs that nobody took."""
        ...


class SandboxWish(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings want of a sandbox."""

    use: Literal["auto", "required", "off"] = "auto"
    network: bool = False
    chat: str = ""
    """Whose commands share a network, and a folder for what is temporary; empty for a command that shares nothing."""
    environment: tuple[str, ...] = ()
    """Variables that commands get beside those that all get."""
    without: tuple[str, ...] = ()
    """Variables that they do not get."""
    sockets: tuple[str, ...] = ()
    """Sockets that they may connect to."""


class PersonsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the person answered; `text` is an option's or their own words."""

    text: str


class EditorPort(Protocol):
    """The editor of the person whose prompt it is."""

    def buffer(self, path: str) -> Buffer | None:
        """The open document of an absolute path."""
        ...

    def unsaved(self) -> Sequence[Buffer]:
        """The open documents that differ from the disk."""
        ...

    def saved(self) -> Mapping[str, Saved]:
        """The documents that were saved last, by their absolute paths."""
        ...

    async def diagnostics(self, paths: Sequence[str], *, wait: bool) -> tuple[FileDiagnostics, ...] | None:
        """What it reports for files; `wait` up to 2 s for those of the newest text. `None` if it cannot say."""
        ...

    async def apply_edit(self, path: str, text: str, label: str) -> EditAnswer:
        """Give an open document a new text, as one step of its undo."""
        ...

    async def save(self, path: str) -> bool:
        """Have it write an open document to the disk; false if it cannot, or did not."""
        ...

    async def ask(self, question: str, options: Sequence[str], *, allows_text: bool) -> PersonsAnswer | None:
        """Ask the person; `None` if there is no answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """All of them."""

    files: FileSystem
    search: TextSearch
    commands: CommandRunner
    editor: EditorPort
    guard: Guard = guard_of_path
    """Which files decide what runs, or what a model is told."""
    notes: SessionNotes | None = None
    memory: SessionMemory | None = None
    """Both of the session that a call is made in; `None` outside of one."""
    keeper: MemoryKeeper | None = None
    """Of the memory files; `None` where there are none."""
    agents: Delegation | None = None
    """The subagents; `None` where there are none."""
    skills: SkillShelf | None = None
    """Of the session that a call is made in; `None` where there are none."""
    grounding: Grounding | None = None
    """Of the session's model; `None` where that cannot ask the network."""
