"""What a compression costs and saves, before it is made and when it is."""

from __future__ import annotations

from gemini_companion.engine.compression.types import Counts, Plan
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.engine.history.verdict import Verdict
from gemini_companion.sessions.models.port import fact_summariser
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.trigger import should_wait

_NOTHING = Verdict(is_worth_it=False, message="There is nothing to compress yet.")


def verdict_now(session: Session, choice: ModelChoice | None = None) -> Verdict:
    """The verdict on compressing now, an estimate from the session's numbers; no model is asked."""
    choice = choice or session.choice()
    strategy = session.services.settings().compression_strategy
    return session.costs(choice).estimate(session.token_count(choice).tokens, session.parts(), strategy) or _NOTHING


def verdict_of_plan(session: Session, choice: ModelChoice, plan: Plan, counts: Counts, snapshot: str) -> Verdict:
    """The verdict on a compression that is counted."""
    asks = plan.asks_model and fact_summariser(choice.provider) is None
    earlier = round(session.ledger.count_text(plan.previous_snapshot or ""))
    front = sum(item.measure.tokens for item in plan.trim.items[: plan.start_at])
    return session.costs(choice).verdict(
        counts.before,
        counts.after,
        untouched=session.parts().surroundings + front,
        hidden=plan.hidden_tokens + earlier if asks else 0,
        snapshot=round(session.ledger.count_text(snapshot)),
    )


def waiting(session: Session, choice: ModelChoice) -> CompressionResult | None:
    """The result of an automatic run that is due and waits (`trigger.should_wait`); `None` if it does not wait."""
    verdict = verdict_now(session, choice)
    tokens, source = session.token_count(choice)
    if not should_wait(session.services.settings(), session.costs(choice), tokens, verdict):
        return None
    return CompressionResult(
        status="NOOP",
        trigger="auto",
        original_token_count=tokens,
        new_token_count=tokens,
        token_count_source=source,
        model_calls=0,
        duration_ms=0,
        message=verdict.message,
        verdict=verdict,
    )
