"""What the log has of a call that asks or acts, until its result stands there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from gemini_companion.engine.history.tool_entries import ToolCallEntry
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.tools.tool import ToolCall

CallState: TypeAlias = Literal["asked", "running", "ended"]


def call_draft(
    session: Session, turn_id: str, call: ToolCall, state: CallState, *, edited: Mapping[str, Any] | None = None
) -> Draft:
    """The entry of a call as it stands now. Arguments are in the answer already: only `edited` ones are written."""
    stamp, args = session.stamp(), None if edited is None else dict(edited)
    return lambda seq: ToolCallEntry(
        **stamp,
        seq=seq,
        turn_id=turn_id,
        call_id=call.call_id,
        name=call.name,
        args=args,
        number=call.number,
        state=state,
    )
