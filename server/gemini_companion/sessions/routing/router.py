"""The model of a turn: chosen once, kept for all its rounds unless it cannot answer any more."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import replace
from typing import Final

from gemini_companion.engine.errors import ModelFault, ModelUnavailable
from gemini_companion.engine.history.content import user_text, visible_text_of
from gemini_companion.engine.history.log import ReplyEntry
from gemini_companion.engine.routing.classifying import INSTRUCTION, Classified, choice_in, question_about
from gemini_companion.sessions.events import ModelChanged
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.recording import Recorded

logger = logging.getLogger(__name__)

SECONDS: Final = 4.0
"""Seconds that the small model may take; the person waits for it."""

_ANSWER_TOKENS: Final = 1_000


async def route(
    session: Session, turn_id: str, prompt: str, *, resumes: bool
) -> tuple[ModelChoice, ModelChanged | None]:
    """The model of a turn that begins or goes on, and what is to be told if it is another one than before.

    The session has it as its own until the turn ends.
    """
    choice = session.choice()
    if choice.routes is not None:
        choice = await _chosen(session, choice, turn_id, prompt, resumes=resumes)
    session.route.now = choice
    return choice, _news(session, choice)


def reroute(session: Session, choice: ModelChoice, fault: ModelUnavailable) -> tuple[ModelChoice, ModelChanged] | None:
    """What answers in the same turn after a model could not, with what is to be told; `None` if nothing else can."""
    models = session.services.models
    following = models.after(session.services.settings(), choice, fault)
    if following is None:
        return None
    session.route.now = following
    return following, ModelChanged(from_=choice.name, to=following.name, reason=_outage(session, following))


def can_change(session: Session, choice: ModelChoice) -> bool:
    """Whether another model is there for a turn whose own cannot answer: then it is not waited for as long."""
    return session.services.models.has_next(session.services.settings(), choice)


async def _chosen(session: Session, choice: ModelChoice, turn_id: str, prompt: str, *, resumes: bool) -> ModelChoice:
    """The large or the quick model; a turn that goes on keeps the one that it had."""
    assert choice.routes is not None
    large, quick = choice.routes
    if resumes and (had := _model_of(session, turn_id)) in choice.routes:
        name, reason = had, "the model that this turn began with"
    elif (classified := await _classify(session, choice, turn_id, prompt)) is None:
        name, reason = large, "the usual one: nothing could be found out about the prompt in time"
    else:
        name = large if classified.route == "large" else quick
        reason = f"chosen for this prompt{': ' if classified.reason else ''}{classified.reason}"
    settings = session.services.settings()
    return session.services.models.answering(settings, replace(choice, name=name, reason=reason, instead_of=""))


async def _classify(session: Session, choice: ModelChoice, turn_id: str, prompt: str) -> Classified | None:
    contents = [item.content for item in session.history.curated() if item.kind != "ide"]
    request = ModelRequest(
        model=session.services.models.titler(choice),
        contents=(user_text(question_about(contents, prompt)),),
        system_instruction=INSTRUCTION,
        role="utility_router",
        prompt_id=turn_id,
        max_output_tokens=_ANSWER_TOKENS,
        temperature=0.0,
        answers_json=True,
    )
    try:
        async with asyncio.timeout(SECONDS):
            chunk = await Recorded(session, choice, "routing", turn_id).generate(request)
    except (ModelFault, TimeoutError) as error:
        logger.info("The prompt goes to the usual model: %s", type(error).__name__)
        return None
    return None if chunk.block_reason else choice_in(visible_text_of(chunk.parts))


def _model_of(session: Session, turn_id: str) -> str:
    replies = (entry for entry in reversed(session.history.entries) if isinstance(entry, ReplyEntry))
    newest = next(replies, None)
    return newest.model if newest is not None and newest.turn_id == turn_id else ""


def _news(session: Session, choice: ModelChoice) -> ModelChanged | None:
    before = session.route.before
    had = before.name if before is not None else choice.instead_of
    if had in ("", choice.name):
        return None
    if choice.instead_of:
        return ModelChanged(from_=had, to=choice.name, reason=_outage(session, choice))
    if choice.routes is not None:
        return ModelChanged(from_=had, to=choice.name, reason=choice.reason)
    if before is not None and before.instead_of == choice.name:
        return ModelChanged(from_=had, to=choice.name, reason=f"{choice.name} is asked again")
    return None  # another was named, which is told with its first answer


def _outage(session: Session, choice: ModelChoice) -> str:
    """Why the model that was meant does not answer, and when it is asked again."""
    minutes = math.ceil(session.services.models.availability.seconds_left(choice.instead_of) / 60)
    again = "with the next prompt" if minutes < 1 else f"in about {minutes:,} min"
    return f"{choice.instead_of} cannot answer now; it is asked again {again}"
