"""The ports of a session: what tools keep in it, and what was said and put out in it earlier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.tool_entries import Mode, Todo


class Remembered(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was said or put out earlier, whole."""

    title: str
    """What it is, for the model: `output of run_shell_command`."""
    text: str
    media: tuple[Part, ...] = ()


class SessionMemory(Protocol):
    """All that was said and put out in a session, word for word, whatever of it the model is shown now.

    Methods give `None` where there is nothing of that id, and raise `ToolRefusal` where it cannot be looked for.
    """

    @property
    def most_characters(self) -> int:
        """Characters that one answer may have."""
        ...

    async def output(self, tool_call_id: str) -> Remembered | None:
        """What a call put out."""
        ...

    async def arguments(self, tool_call_id: str) -> Remembered | None:
        """What a call was made with."""
        ...

    async def entry(self, entry_id: str) -> Remembered | None:
        """One entry: a prompt, an answer, the results of a round."""
        ...

    async def turn(self, turn_id: str) -> Remembered | None:
        """A turn: its prompt and all that came of it."""
        ...

    async def search(self, query: str, limit: int) -> str:
        """What answers a question best, in this and other sessions of the project, with the ids that give all of it."""
        ...


class SessionNotes(Protocol):
    """What tools may keep in the session that they are called in."""

    async def set_todos(self, todos: Sequence[Todo]) -> None:
        """The model's task list from now on."""
        ...

    async def follow_plan(self, plan: str, mode: Mode) -> None:
        """Keep a plan that the person approved, word for word in every request, and go on in their mode."""
        ...


class KeptFact(msgspec.Struct, frozen=True, kw_only=True):
    """What keeping a fact in the person's own memory file would do."""

    path: str
    """Absolute, the real one."""
    diff: str
    """Unified."""
    edit: object
    """What `MemoryKeeper.keep` needs to do it."""


class MemoryKeeper(Protocol):
    """The memory files that facts are kept in. Methods raise `ToolRefusal` for what cannot be done."""

    @property
    def file_name(self) -> str:
        """The name of a project's file, relative to its workspace folder."""
        ...

    async def propose(self, fact: str) -> KeptFact:
        """What adding a fact to the person's own file would do."""
        ...

    async def keep(self, fact: KeptFact) -> None:
        """Do it, if the file still is as it was."""
        ...
