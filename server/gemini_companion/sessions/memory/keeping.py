"""The port of the tool `save_memory`."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.memory.port import MemoryEdit
from gemini_companion.sessions.memory.service import MemoryService
from gemini_companion.tools.memory import KeptFact
from gemini_companion.tools.tool import ToolRefusal

T = TypeVar("T")


class Keeper:
    """`MemoryKeeper` by the memory service."""

    def __init__(self, memory: MemoryService) -> None:
        self._memory = memory

    @property
    def file_name(self) -> str:
        """The name of a project's file, relative to its workspace folder."""
        return self._memory.wish().names[0]

    async def propose(self, fact: str) -> KeptFact:
        """What adding a fact to the person's own file would do. Raises `ToolRefusal`."""
        edit = await _refusing(self._memory.propose(fact, "global"))
        return KeptFact(path=edit.path, diff=edit.diff, edit=edit)

    async def keep(self, fact: KeptFact) -> None:
        """Do it, if the file still is as it was. Raises `ToolRefusal`."""
        assert isinstance(fact.edit, MemoryEdit)
        await _refusing(self._memory.write(fact.edit))


async def _refusing(work: Awaitable[T]) -> T:
    try:
        return await work
    except CompanionError as fault:
        raise ToolRefusal(f"Nothing was kept: {fault.message_with_hint}") from fault
