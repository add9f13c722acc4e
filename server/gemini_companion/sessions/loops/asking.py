"""Asking a small model, and a larger one to confirm it, whether a turn still gets on."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.history.content import user_text, visible_text_of
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.loops.opinion import INSTRUCTION, SURE, Opinion, opinion_in, question_of
from gemini_companion.sessions.models.port import ModelRequest, fact_summariser
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.recording import Recorded

logger = logging.getLogger(__name__)

SECONDS: Final = 10.0
"""Seconds that the models may take together; the turn waits for them."""

_ANSWER_TOKENS: Final = 2_000
"""Tokens of an answer; models that think spend them first."""


async def ask_whether_stuck(session: Session, choice: ModelChoice, turn_id: str) -> Opinion | None:
    """What models think of the turn; `None` where none can be asked, or none answers in time.

    A first one that is sure is not believed alone: the model that writes snapshots is asked too, if it is another.
    """
    provider = choice.provider
    if provider.capabilities.runs_here or fact_summariser(provider) is not None:
        return None  # the built-in model cannot tell, and a small one on this machine has better things to do
    models = session.services.models
    small, larger = models.titler(choice), models.compressor(session.services.settings(), choice)
    question = question_of(_request_of(session, turn_id), session.history.contents())
    try:
        async with asyncio.timeout(SECONDS):
            opinion = await _ask(session, choice, turn_id, small, question)
            if opinion is None or opinion.confidence < SURE or larger == small:
                return opinion
            return await _ask(session, choice, turn_id, larger, question)
    except (ModelFault, TimeoutError) as error:
        logger.info("Nobody could say whether the turn gets on: %s", type(error).__name__)
        return None


async def _ask(session: Session, choice: ModelChoice, turn_id: str, model: str, question: str) -> Opinion | None:
    request = ModelRequest(
        model=model,
        contents=(user_text(question),),
        system_instruction=INSTRUCTION,
        role="utility_loop_check",
        prompt_id=f"loop-{turn_id}",
        max_output_tokens=_ANSWER_TOKENS,
        temperature=0.0,
        answers_json=True,
    )
    chunk = await Recorded(session, choice, "loopCheck", turn_id).generate(request)
    return None if chunk.block_reason else opinion_in(visible_text_of(chunk.parts))


def _request_of(session: Session, turn_id: str) -> str:
    prompts = session.history.prompts
    return next(
        (
            visible_text_of(prompt.own_parts)
            for prompt in reversed(prompts)
            if prompt.turn_id == turn_id and isinstance(prompt, PromptEntry)
        ),
        "",
    )
