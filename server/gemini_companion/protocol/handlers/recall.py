"""The handler of `gemini/recall`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.types import RecallParams
from gemini_companion.sessions.recall.service import recall
from gemini_companion.sessions.recalled import RecallResult


async def recall_(host: Host, params: RecallParams) -> RecallResult:
    return await recall(
        host.app.services,
        query=params.query,
        turn_id=params.turn_id,
        entry_id=params.entry_id,
        tool_call_id=params.tool_call_id,
        offset=params.offset,
        session_id=params.session_id,
        limit=params.limit,
    )
