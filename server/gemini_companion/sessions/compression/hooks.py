"""The hooks of a compression: `PreCompress` ahead of it, `PostCompress` once it is installed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from gemini_companion.engine.history.log import CompressionResult, Trigger
from gemini_companion.sessions.compression_state import Compression
from gemini_companion.sessions.session import Session

_LONGEST_GUIDANCE: Final = 10_000


async def ask_hooks(
    session: Session, compression: Compression, tokens: int, finds_work: Callable[[], Awaitable[bool]]
) -> tuple[str, str]:
    """What hooks say ahead of a compression: why it is not to be, which only an automatic one obeys; and its guidance,
    theirs behind the person's. One that was refused waits until the history of `tokens` has grown. Where `finds_work`
    says that there is nothing to do, nobody is asked.
    """
    hooks, guidance = session.services.hooks, compression.guidance.text
    if not hooks.has(session, "PreCompress") or not await finds_work():
        return "", guidance
    compression.enter("hook")
    trigger = _word_of(compression.trigger)
    verdict = await hooks.run(session, "PreCompress", {"trigger": trigger}, subject=trigger)
    is_automatic = _word_of(compression.trigger) == "auto"  # a person may have adopted it while the hook ran
    if is_automatic and (verdict.blocks or verdict.stops):
        if not compression.is_quiet:
            session.breaker.pause(tokens)
        return f"Not compressed: a hook refused it. {verdict.reason}", guidance
    added = verdict.context[:_LONGEST_GUIDANCE].strip()
    return "", "\n".join(filter(None, (guidance, added)))


def tell_hooks(session: Session, result: CompressionResult) -> None:
    """Tell hooks of an installed compression; what they add goes along with the next prompt."""
    trigger = _word_of(result.trigger)
    fields = {
        "trigger": trigger,
        "compression_status": result.status,
        "tokens_before": result.original_token_count,
        "tokens_after": result.new_token_count,
        "snapshot": result.snapshot or "",
    }
    session.services.hooks.run_beside(session, "PostCompress", fields, subject=trigger, keep=True)


def _word_of(trigger: Trigger) -> str:
    """What hooks know it by: what is prepared in the background is automatic."""
    return "manual" if trigger == "manual" else "auto"
