"""Handlers of `gemini/memory/*`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.memory_types import AddMemoryParams
from gemini_companion.protocol.methods import Empty
from gemini_companion.sessions.memory.results import MemoryAdded, MemoryList
from gemini_companion.sessions.memory.service import MemoryService


async def list_(host: Host, params: Empty) -> MemoryList:
    return await _memory(host).listed()


async def add(host: Host, params: AddMemoryParams) -> MemoryAdded:
    def in_editor(path: str) -> str | None:
        buffers = (client.editor.buffer(path) for client in host.app.clients.values())
        return next((buffer.text for buffer in buffers if buffer is not None), None)

    return await _memory(host).add(params.fact, params.scope, in_editor=in_editor)


async def reload(host: Host, params: Empty) -> MemoryList:
    return await _memory(host).listed(anew=True)


def _memory(host: Host) -> MemoryService:
    memory = host.app.services.memory
    assert memory is not None  # the daemon always has it
    return memory
