"""Long outputs condensed by the model that writes snapshots, for the tools that the settings name."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.prompts.attachments import parts_apart
from gemini_companion.engine.tool_output.condensing import (
    DEFAULT_BUDGET,
    SYSTEM_INSTRUCTION,
    condensed,
    condensing_contents,
)
from gemini_companion.sessions.models.port import ModelRequest, fact_summariser
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.recording import Recorded
from gemini_companion.tools.tool import Tool, ToolCall

logger = logging.getLogger(__name__)

SECONDS: Final = 20.0
"""Seconds that the model may take."""

MOST_QUOTED: Final = 400_000
"""Characters of an output that are quoted at most."""

_THINKING_TOKENS: Final = 4_096
"""Tokens of an answer beside its text: models that think spend them first."""


def budget_of(session: Session, tool: Tool[Any]) -> int | None:
    """Tokens that the settings want a model to condense this tool's outputs to; `None` where it is not wished for.

    The built-in model cannot do it.
    """
    wishes = session.services.settings().summarize_tool_output
    named = next((name for name in (tool.name, *tool.aliases) if name in wishes), None)
    if named is None or fact_summariser(session.choice().provider) is not None:
        return None
    return wishes[named] or DEFAULT_BUDGET


def is_above(session: Session, whole: str, budget: int) -> bool:
    """Whether an output has more tokens than its budget. One of which that is plain is not counted."""
    return len(whole) > 16 * budget or session.ledger.count_text(whole) > budget


async def condense(
    session: Session, tool: Tool[Any], call: ToolCall, whole: str, *, budget: int, where: str
) -> tuple[str | None, int]:
    """The output as the model condenses it; `None` where it cannot, in time or within the budget. And the tokens that
    this took, as the provider counts them.
    """
    services, choice = session.services, session.choice()
    settings = services.settings()
    model = services.models.compressor(settings, choice)
    window = min(session.limit(choice), services.models.limit(settings, model))
    contents = await asyncio.to_thread(
        condensing_contents,
        whole,
        shape=tool.shape,
        request=_last_request(session),
        budget=budget,
        room=min(MOST_QUOTED, window // 2),  # a character has hardly more than a token
        nonce=services.new_nonce(),
    )
    request = ModelRequest(
        model=model,
        contents=contents,
        system_instruction=SYSTEM_INSTRUCTION,
        role="utility_output",
        prompt_id=f"output-{call.call_id}",
        max_output_tokens=budget + _THINKING_TOKENS,
    )
    try:
        async with asyncio.timeout(SECONDS):
            chunk = await Recorded(session, choice, "condensing", call.call_id).generate(request)
    except (ModelFault, TimeoutError) as error:
        logger.info("An output of %s is cut, not condensed: %s", tool.name, type(error).__name__)
        return None, 0
    spent = max(0, chunk.usage.total_tokens or chunk.usage.prompt_tokens) if chunk.usage is not None else 0
    if chunk.block_reason or chunk.finish_reason not in (None, "STOP"):  # it broke off
        return None, spent
    answer = visible_text_of(chunk.parts)
    count_text = session.ledger.count_text
    text = await asyncio.to_thread(
        condensed, answer, whole=whole, shape=tool.shape, where=where, budget=budget, count_text=count_text
    )
    return text, spent


def _last_request(session: Session) -> str:
    asked = (item for item in reversed(session.history.items) if item.kind in ("prompt", "steer"))
    item = next(asked, None)
    return visible_text_of(parts_apart(item.content)[0]).strip() if item else ""
