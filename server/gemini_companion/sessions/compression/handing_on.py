"""What becomes of a failure that is not paid for a second time: one of what a request had joined, or of this prompt."""

from __future__ import annotations

from functools import partial

import msgspec

from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.sessions.compression.install import note_attempt
from gemini_companion.sessions.compression.job import new_compression
from gemini_companion.sessions.compression.run import CompressionRun
from gemini_companion.sessions.compression.trimming import trimmed
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session


async def hand_on(
    session: Session, failed: CompressionResult, fault: ModelFault | None, choice: ModelChoice | None
) -> CompressionResult:
    """Note it as the attempt that whoever joined would have made. A manual request (without a `choice`) has its result
    or its fault; a turn goes on with the cuts.
    """
    forced, tokens = choice is None, session.token_count(choice or session.choice()).tokens
    failed = msgspec.structs.replace(failed, trigger="manual" if forced else "auto")  # others may have joined too
    await note_attempt(session, failed, tokens, forced=forced, fault=type(fault).__name__ if fault else "")
    if choice is not None:
        return await cut_alone(session, choice) or failed
    if fault is not None:
        raise fault
    return failed


async def cut_alone(session: Session, choice: ModelChoice) -> CompressionResult | None:
    """Steps 4 and 5 within a turn whose attempt came to nothing; `None`, and nobody hears of it, where no cut would
    help.
    """
    compression_id, items = session.services.new_id("compression"), session.history.curated()
    trim = await trimmed(session, choice, items, session.token_count(choice).tokens, compression_id)
    if not trim.cuts or not trim.tokens_saved:
        return None
    because = session.last_result.message if session.last_result is not None else ""
    compression = new_compression(session, "compress", "auto", compression_id)
    run = CompressionRun(session=session, compression=compression)
    session.lane.admit(compression.prepare(partial(run.cut, trim, because, choice)))
    return await compression.job.wait("turn")
