"""Handlers of `gemini/commands*`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.tool_types import StopCommandParams
from gemini_companion.protocol.types import SessionParams
from gemini_companion.sessions.tool_results import CommandList, StopResult


async def list_(host: Host, params: SessionParams) -> CommandList:
    session = await host.load(params.session_id)
    return CommandList(commands=host.app.tooling.commands.list(session.session_id))


async def stop(host: Host, params: StopCommandParams) -> StopResult:
    session = await host.load(params.session_id)
    return StopResult(stopped=await host.app.tooling.commands.stop(session.session_id, params.tool_call_id))
