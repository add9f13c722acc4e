"""Requests to compress a session: manually, at a turn's safe point, as a preview."""

from __future__ import annotations

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.log import CompressionResult, Trigger, Usage
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression.run import CompressionRun
from gemini_companion.sessions.compression_state import Compression, Kind
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.session import Session


async def compress(
    session: Session, *, client: str, instructions: str = "", preview: bool = False
) -> CompressionResult:
    """Compress on a user's request. A second request joins the one under way.

    Raises the `ModelFault` that ended it, `Cancelled`, `StaleVersion`, `StorageFault`.
    """
    if preview:
        compression = new_compression(session, "preview", "manual")
        run = CompressionRun(session=session, compression=compression, guidance=instructions)
        compression.prepare(run.execute).start()  # beside the lane: it installs nothing
        return await wait_and_list(session, compression.job, client)
    compression = session.compressions.joinable
    if compression is None:
        compression = new_compression(session, "compress", "manual")
        run = CompressionRun(session=session, compression=compression, guidance=instructions)
        session.lane.submit(compression.prepare(run.execute))
    return await wait_and_list(session, compression.job, client)


async def compress_by_prompt(session: Session, client: Client, guidance: str) -> ChatResult:
    """Compress because a slash command asked for it; the result stands where a turn's would."""
    with client.following(session.session_id):
        result = await compress(session, client=client.client_id, instructions=guidance)
    return ChatResult(
        session_id=session.session_id,
        turn_id=session.services.new_id("turn"),
        text=result.message,
        finish_reason="STOP",
        model=session.choice().name,
        usage=Usage(),
        compression=result,
    )


async def wait_and_list(session: Session, job: Job[CompressionResult], client: str) -> CompressionResult:
    """Wait for the job, then bring the listing up to date. Raises what the job raised."""
    result = await job.wait(client)
    await session.update_listing()
    return result


async def compress_at_safe_point(
    session: Session, choice: ModelChoice, *, rescue: bool = False
) -> CompressionResult | None:
    """Inside a turn, with no model call open: compress if the count has reached the trigger, or if it is a `rescue`.

    `None` if it is not due. A compression that was requested during the turn runs here, and is joined. Model faults are
    not raised: they end in truncation or in no change, and are reported by events.
    """
    under_way = session.compressions.installing
    if under_way is not None:
        return await _join(session, under_way)
    if not _is_due(session, choice, rescue=rescue):
        return None
    compression = new_compression(session, "compress", "auto")
    run = CompressionRun(session=session, compression=compression)
    session.lane.admit(compression.prepare(lambda: run.execute(choice)))
    return await compression.job.wait("turn")


def _is_due(session: Session, choice: ModelChoice, *, rescue: bool) -> bool:
    """Step 3: whether the count has reached the trigger, or none is needed."""
    mark = session.trigger_at(choice)
    if mark is None or not session.history.items:
        return False
    tokens = session.token_count(choice).tokens
    return rescue or (tokens >= mark and not session.breaker.is_paused(tokens, session.limit(choice)))


async def _join(session: Session, compression: Compression) -> CompressionResult | None:
    """Wait, inside a turn, for a compression that was requested elsewhere; its failure is not the turn's."""
    await session.lane.admit_waiting(compression.job)
    try:
        return await compression.job.wait("turn")
    except CompanionError:
        return None


def new_compression(session: Session, kind: Kind, trigger: Trigger, compression_id: str | None = None) -> Compression:
    """A compression that is visible to the status, joinable and cancellable. The caller prepares its job at once."""

    def changed(compression: Compression) -> None:
        if compression.has_ended:
            session.compressions.discard(compression)
        session.notify_status()

    compression = Compression(
        compression_id or session.services.new_id("compression"),
        kind,
        trigger,
        emit=session.emit,
        on_change=changed,
        monotonic=session.services.clock.monotonic,
    )
    session.compressions.add(compression)
    return compression
