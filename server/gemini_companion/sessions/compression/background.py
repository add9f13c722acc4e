"""Preparing a compression beside the chat: when one is begun, who may have it, and what ends it.

`engine/compression/preparing` decides. A preparing run stands outside the lane and says nothing; what comes of it is a
preview of the daemon's own, installed at a turn's safe point.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Final

import msgspec

from gemini_companion.engine.compression.preparing import (
    IDLE_SECONDS,
    Behind,
    Moment,
    behind,
    has_preview,
    next_step,
    retry_at,
)
from gemini_companion.engine.errors import Cancelled, CompanionError, ModelFault
from gemini_companion.engine.history.log import CompressionResult, PreviewEntry
from gemini_companion.sessions.budget.limits import uses_of
from gemini_companion.sessions.compression.ahead import look_ahead
from gemini_companion.sessions.compression.cost import waiting
from gemini_companion.sessions.compression.install import note_attempt
from gemini_companion.sessions.compression.job import new_compression
from gemini_companion.sessions.compression.late import execute, install_preview
from gemini_companion.sessions.compression_state import NO_WISH, Compression
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.surrounding_events import SettingsChanged

logger = logging.getLogger(__name__)

_BY_US: Final = frozenset({"undo", "wish", "leave", "settings", "agent", "delete", "shutdown", "takeOver", "turn"})
"""Who ends a preparing run without saying anything of whether another would come to something."""

_OF_SETTINGS: Final = ("companion.compression", "model.compression", "model.name", "model.local", "companion.budget")
"""Keys that may make another compression of the next one, or none."""


def is_on(session: Session) -> bool:
    """Whether compressions are prepared here at all."""
    settings = session.services.settings()
    return settings.compression_background != "off" and settings.compression_mode == "auto"


def ready(session: Session) -> PreviewEntry | None:
    """What may be installed without asking a model: the prepared one, else a person's preview that was joined."""
    prepared, preview = session.ready_compression(), session.history.preview
    if prepared is None and preview is not None and session.services.settings().compression_background != "off":
        prepared = preview if preview.compression_id == session.compressions.preparations.joined else None
    return prepared


async def at_safe_point(session: Session, choice: ModelChoice) -> CompressionResult | None:
    """At a turn's safe point: install what is ready if it is due; else see to it that one is being prepared.

    Waits for no model. Returns what was installed, or NOOP with a verdict if what is due waits.
    """
    found = ready(session)
    step = next_step(_moment(session, choice, found))
    if step == "install" and found is not None:
        installed = await install(session, found, choice)
        if installed is not None:
            return installed
        step = next_step(_moment(session, choice, None))
    if step != "prepare":
        return None
    verdict = waiting(session, choice)
    if verdict is None:
        await _begin(session, choice)
    is_due = session.token_count(choice).tokens >= (session.mark(choice).tokens or 0)
    return verdict if is_due else None


async def install(session: Session, found: PreviewEntry, choice: ModelChoice) -> CompressionResult | None:
    """Install what is ready, within the turn that holds the lane; `None` if nothing came of it, which voids it.

    Raises `Cancelled` if it was stopped.
    """
    end(session, "wish")  # one that is being made anew would hide what this one hides
    preparations = session.compressions.preparations
    preparations.joined = None
    try:
        result = await install_preview(session, found.compression_id, "turn", choice, trigger="background")
    except Cancelled:
        raise
    except CompanionError as fault:
        session.prepared.drop()
        logger.info("What was prepared was not installed: %s", fault.message)
        return None
    if result.status == "COMPRESSED":
        return result
    session.prepared.drop()
    _wait_for_growth(session, choice, session.token_count(choice).tokens)  # the next would save as little
    return None


def wait_for_idle_time(session: Session, is_open: Callable[[Session], bool]) -> None:
    """Look through what is new, and prepare a compression if nothing runs for `IDLE_SECONDS` from now on, and one is
    worth it.

    `is_open` tells, now and then, whether anybody has the chat open.
    """
    preparations = session.compressions.preparations
    preparations.stop_waiting()
    look_ahead(session)
    if not is_on(session) or not is_open(session) or session.meta.agent is not None or not session.lane.is_idle:
        return
    step = next_step(_moment(session, session.choice(), ready(session), is_idle=True))
    if step != "prepare":  # nothing of that changes while the chat is left alone
        return
    preparations.idle = asyncio.create_task(_after_a_while(session, is_open), name=f"idle:{session.session_id}")
    session.use(preparations.idle, session.services.clock.monotonic())


def end(session: Session, by: str) -> None:
    """End what is being prepared, unless somebody waits for it, and what waits to be begun. `by` says why."""
    session.compressions.preparations.stop_waiting()
    for compression in session.compressions.previews():
        if compression.is_quiet:
            compression.job.cancel(by)


def give_way(session: Session) -> None:
    """A turn begins, here or in another session: end what is being prepared if it would wait for that."""
    if is_on(session) and _holds_up(session, session.choice()):
        end(session, "turn")


def heed(session: Session, event: Event) -> None:
    """End what other settings make another compression of, or none. One that is ready tells under which it counts."""
    if isinstance(event, SettingsChanged) and _is_about_compressing(event.keys):
        end(session, "settings")
        session.compressions.preparations.forget_failures()


def _moment(session: Session, choice: ModelChoice, found: PreviewEntry | None, *, is_idle: bool = False) -> Moment:
    tokens, trigger = session.token_count(choice).tokens, session.mark(choice).tokens
    is_due = trigger is not None and tokens >= trigger
    on = is_on(session) and bool(session.history.items)
    may = not session.breaker.is_paused(tokens, session.limit(choice))
    return Moment(
        mode=session.services.settings().compression_background if on and may else "off",
        tokens=tokens,
        trigger=trigger,
        is_idle=is_idle,
        is_under_way=_is_under_way(session, is_due=is_due),
        not_before=session.compressions.preparations.not_before,
        ready=_behind(session, found),
        has_preview=found is not session.history.preview and has_preview(session.history),
        holds_up=_holds_up(session, choice),
    )


def _holds_up(session: Session, choice: ModelChoice) -> bool:
    """Whether turns would wait for what is prepared beside them."""
    return session.services.settings().most_model_calls <= 1 or choice.provider.capabilities.answers_one_by_one


def _behind(session: Session, found: PreviewEntry | None) -> Behind | None:
    return None if found is None else behind(session.history, found)._replace(is_anew=session.prepared.made > 1)


def _is_under_way(session: Session, *, is_due: bool) -> bool:
    """Whether a snapshot is being written. A person's preview is joined where one is due: it is not paid for twice."""
    if session.compressions.installing is not None:
        return True
    previews = [one for one in session.compressions.previews() if one.wish.reach == NO_WISH.reach]
    if is_due and previews and not previews[0].is_quiet:
        session.compressions.preparations.joined = previews[0].compression_id
    return bool(previews)


async def _after_a_while(session: Session, is_open: Callable[[Session], bool]) -> None:
    await session.services.clock.sleep(IDLE_SECONDS)
    if not session.lane.is_idle or not is_open(session):
        return
    choice = session.choice()
    if (
        next_step(_moment(session, choice, ready(session), is_idle=True)) == "prepare"
        and waiting(session, choice) is None
    ):
        await _begin(session, choice)


async def _begin(session: Session, choice: ModelChoice) -> None:
    """Begin a preparing run of what is there now, unless nothing more may be spent."""
    as_of = session.history.version
    if not choice.provider.capabilities.runs_here:
        try:
            if any(use.is_over for use in await uses_of(session)):
                return
        except CompanionError:  # nobody knows what may be spent
            return
    if session.compressions.previews() or not is_on(session):
        return  # meanwhile
    if session.history.excluded_from is not None:
        return  # the turn that is answered anew is missing now, and comes back if that fails
    compression = new_compression(session, "prepare", "background")
    compression.as_of = as_of

    async def run() -> CompressionResult:
        tokens = session.token_count(choice).tokens
        is_of_use = False
        try:
            result = await execute(session, compression, choice)
            is_of_use = result.status == "PREVIEW"
            await _note_if_due(session, choice, compression, result, tokens)
        except ModelFault as fault:
            if compression.failed_with is not None:
                await _note_if_due(session, choice, compression, compression.failed_with, tokens, fault)
            raise
        finally:
            _learn(session, choice, compression, tokens, is_of_use=is_of_use)
        return result

    compression.prepare(run).start()


async def _note_if_due(
    session: Session,
    choice: ModelChoice,
    compression: Compression,
    result: CompressionResult,
    tokens: int,
    fault: ModelFault | None = None,
) -> None:
    """What fails ahead of need is nobody's attempt. Where it was due it is the one that a turn would have made: the
    failure flag is set by it, and turns go on with the cuts.
    """
    trigger = session.mark(choice).tokens
    is_failure = fault is not None or result.status.startswith("COMPRESSION_FAILED")
    if compression.trigger == "background" and is_failure and trigger is not None and tokens >= trigger:
        failed = msgspec.structs.replace(result, trigger="auto")
        await note_attempt(session, failed, tokens, forced=False, fault=type(fault).__name__ if fault else "")


def _learn(session: Session, choice: ModelChoice, compression: Compression, tokens: int, *, is_of_use: bool) -> None:
    """Note whether it came to something; the next try waits for growth if it did not.

    One that only found that there is nothing to hide yet cost nothing, and says nothing of the next.
    """
    if not is_of_use and compression.phase != "truncating" and compression.job.cancelled_by not in _BY_US:
        _wait_for_growth(session, choice, tokens)


def _wait_for_growth(session: Session, choice: ModelChoice, tokens: int) -> None:
    """What was prepared at this count came to nothing. Only one that is installed proves that the next may do better:
    one that is prepared may still save too little when it is due.
    """
    preparations = session.compressions.preparations
    preparations.failures += 1
    preparations.not_before = retry_at(tokens, session.mark(choice).tokens or tokens, preparations.failures)
    logger.info("No compression is prepared from %d tokens on before %d", tokens, preparations.not_before)


def _is_about_compressing(keys: Collection[str]) -> bool:
    return any(key.startswith(prefix) for key in keys for prefix in _OF_SETTINGS)
