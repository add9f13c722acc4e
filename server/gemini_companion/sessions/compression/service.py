r"""Requests to compress a session: manually, at a turn's safe point, as a preview.

Two requests never pay for one thing twice. What they meet, and what becomes of them:

| under way | compress | preview | a turn's safe point, if it is due |
| --- | --- | --- | --- |
| compression | joins it, unless it names other turns: then runs behind it | waits, then sees the new view | joins it |
| preview with the same wish | installs its result | joins it | installs its result, unless it names turns |
| preview with another wish | runs beside it | runs beside it | the same, whatever its guidance |
| a preview being applied | waits for it; with a wish, runs behind it | waits, then sees the new view | joins it |
| one being prepared | installs its result, or ends it | joins it, or runs beside it | goes on, or joins it (rescue) |
| one that is prepared | installs it; with a wish, runs by itself | runs by itself | installs it |

A wish is guidance, a strategy, and turns (`compression_state.Wish`); a `PreCompress` hook for `manual` counts as one.
One that still waits heeds the guidance of those who join it for the same turns. Where compressions are prepared in the
background, a turn's safe point waits for a preview only where the prompt does not fit, and installs its result later.

A preview that is ready and not applied belongs to the person who looks at it: nobody else installs it, and while the
prompt fits, nothing that nobody asked for is installed over it, until the chat has outgrown it (`Behind.is_outgrown`).
If what was being prepared fails once it is joined, that is the failure of whoever joined it: no model is asked again.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from gemini_companion.engine.compression.preparing import has_preview
from gemini_companion.engine.compression.types import FAULTS
from gemini_companion.engine.errors import Cancelled, CompanionError, ModelFault
from gemini_companion.engine.history.log import AttemptEntry, CompressionResult, Usage
from gemini_companion.sessions.cancelling import list_what_is_done
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression import background
from gemini_companion.sessions.compression.cost import waiting
from gemini_companion.sessions.compression.job import new_compression, wait_and_list
from gemini_companion.sessions.compression.late import cut_alone, execute, hand_on, install_preview
from gemini_companion.sessions.compression_state import NO_WISH, Compression, Wish
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.session import Session

_INSTALLED: Final = ("COMPRESSED", "CONTENT_TRUNCATED")


async def compress(session: Session, *, client: str, wish: Wish = NO_WISH, preview: bool = False) -> CompressionResult:
    """Compress on a user's request; see the table above for one that meets another.

    Raises the `ModelFault` that ended it, `Cancelled`, `StaleVersion`, `StorageFault`.
    """
    if preview:
        return await wait_and_list(session, _preview(session, wish).job, client)
    compression = session.compressions.joinable(wish)
    # A hook that wants to know of what a person asks for, and may guide it, has not been asked about what is prepared.
    is_by_itself = wish != NO_WISH or session.services.hooks.has(session, "PreCompress", "manual")
    if is_by_itself:
        background.end(session, "wish")
    if compression is None:
        reused = await _reuse(session, session.compressions.reusable(wish), client)
        if reused is None and not is_by_itself:
            reused = await _install_prepared(session, client)
        if reused is not None:
            await list_what_is_done(session)
            return reused
        compression = session.compressions.joinable(wish)  # somebody may have begun one meanwhile
    if compression is None:
        compression = new_compression(session, "compress", "manual", wish=wish)
        session.lane.submit(compression.prepare(partial(execute, session, compression)))
        return await wait_and_list(session, compression.job, client)
    with compression.guidance.joined_by(wish.guidance if wish.reach == compression.wish.reach else ""):
        return await wait_and_list(session, compression.job, client)


def _preview(session: Session, wish: Wish) -> Compression:
    """The preview under way with this wish, else a new one."""
    same = session.compressions.preview_with(wish)
    if same is not None:
        same.adopt("manual")
        return same
    compression = new_compression(session, "preview", "manual", wish=wish)

    async def run() -> CompressionResult:
        running = session.compressions.installing
        if running is not None and running.state == "running":
            await running.job.settled()
        return await execute(session, compression)

    compression.prepare(run).start()  # beside the lane: it installs nothing
    return compression


async def compress_by_prompt(session: Session, client: Client, guidance: str) -> ChatResult:
    """Compress because a slash command asked for it; the result stands where a turn's would."""
    with client.following(session.session_id):
        result = await compress(session, client=client.client_id, wish=Wish(guidance=guidance))
    return ChatResult(
        session_id=session.session_id,
        turn_id=session.services.new_id("turn"),
        text=result.message,
        finish_reason="STOP",
        model=session.choice().name,
        usage=Usage(),
        compression=result,
    )


async def compress_at_safe_point(
    session: Session, choice: ModelChoice, *, rescue: bool = False
) -> CompressionResult | None:
    """Inside a turn, with no model call open: compress if the count has reached the trigger, or if it is a `rescue`.

    Where compressions are prepared in the background only a rescue asks a model; what is ready is installed first.
    `None` if it is not due; NOOP with a verdict if it is, and waits (`trigger.should_wait`). A compression that was
    requested during the turn runs here, and is joined. Model faults are not raised: they end in truncation or in no
    change, and are reported by events. A rescue asks no model where one has just failed for the same prompt.
    """
    under_way = session.compressions.installing
    if under_way is not None:
        return await _join(session, under_way)
    in_background = background.is_on(session)
    if in_background and not rescue and not session.breaker.has_failed(session.token_count(choice).tokens):
        return await background.at_safe_point(session, choice)
    if not _is_due(session, choice, rescue=rescue):
        return None
    if in_background and rescue and (found := background.ready(session)) is not None:
        installed = await background.install(session, found, choice)
        if installed is not None:
            return installed
    if not rescue and has_preview(session.history):
        return None
    if not rescue and (result := waiting(session, choice)) is not None:
        return result
    before, prompt = session.history.version, _prompt_of(session)
    if rescue and session.compressions.failed_for == prompt:
        return await cut_alone(session, choice)
    result = await _compress_here(session, choice)
    if any(isinstance(entry, AttemptEntry) for entry in session.history.entries.since(before + 1)):
        session.compressions.failed_for = prompt
    return result


async def _compress_here(session: Session, choice: ModelChoice) -> CompressionResult:
    """Compress within the turn that holds the lane, by what is under way without turns of its own or by a new run."""
    for preview in session.compressions.previews():
        if preview.wish.reach != NO_WISH.reach:
            continue
        reused = await _reuse(session, preview, "turn", choice)
        if reused is not None:
            return reused
    compression = new_compression(session, "compress", "auto")
    session.lane.admit(compression.prepare(partial(execute, session, compression, choice)))
    return await compression.job.wait("turn")


def _prompt_of(session: Session) -> tuple[str | None, int]:
    """What tells the prompt that a turn is about to send: the turn, and the newest content ahead of it."""
    items = session.history.items
    return session.lane.running_turn, items[-1].seq if items else 0


def _is_due(session: Session, choice: ModelChoice, *, rescue: bool) -> bool:
    """Step 3: whether the count has reached the trigger, or none is needed. A mode that reminds runs for a rescue."""
    mark = session.mark(choice).tokens
    if mark is None or not session.history.items:
        return False
    if not rescue and session.services.settings().compression_mode != "auto":
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


async def _install_prepared(session: Session, client: str) -> CompressionResult | None:
    """Install what is prepared, since somebody asks to compress; `None` if there is nothing, or nothing came of it."""
    prepared = session.ready_compression()
    if prepared is None:
        return None
    try:
        result = await install_preview(session, prepared.compression_id, client)
    except Cancelled:
        raise
    except CompanionError:
        session.prepared.drop()
        return None
    return result if result.status in _INSTALLED else None


async def _reuse(
    session: Session, under_way: Compression | None, client: str, at_safe_point_of: ModelChoice | None = None
) -> CompressionResult | None:
    """Wait for a preview, or for one being applied, and see to it that its result is installed; that is the result.

    `None` if nothing came of it, so that a compression of its own is needed. Raises `Cancelled` if what was stopped is
    work of the caller's own: the application, or what nobody waited for before; and for a manual request the
    `ModelFault` of what was being prepared.
    """
    if under_way is None:
        return None
    is_own = under_way.is_quiet and not under_way.job.cancelled_by
    under_way.adopt("manual" if at_safe_point_of is None else "auto")
    fault: ModelFault | None = None
    try:
        result = await under_way.job.wait(client)
        if result.status == "PREVIEW":
            is_own = True
            work = result if under_way.was_prepared else None
            return await install_preview(session, under_way.compression_id, client, at_safe_point_of, work=work)
    except Cancelled:
        if is_own:
            raise
        return None
    except CompanionError as error:  # those who asked for it are told
        if not isinstance(error, ModelFault) or under_way.failed_with is None:
            return None
        result, fault = under_way.failed_with, error
    if under_way.was_prepared and _would_repeat(session, under_way, fault):
        return await hand_on(session, result, fault, at_safe_point_of)
    is_of_use = result.status in _INSTALLED or (result.status == "NOOP" and at_safe_point_of is None)
    return result if is_of_use and fault is None else None


def _would_repeat(session: Session, joined: Compression, fault: ModelFault | None) -> bool:
    """Whether another run would only repeat a failure: the model's in any case; one to get smaller as long as nothing
    was said since.
    """
    failed, items = joined.failed_with, session.history.items
    if failed is None:
        return False
    if failed.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT":
        return joined.as_of is not None and not (items and items[-1].seq > joined.as_of)
    return fault is not None or failed.status in FAULTS
