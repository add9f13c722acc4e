"""When automatic compression starts, and whether it would pay: settings, limit and experience put together."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from gemini_companion.engine.compression.breaker import Pause
from gemini_companion.engine.compression.experience import Experience
from gemini_companion.engine.compression.verdict import (
    HARD_SHARE,
    Outlook,
    expected_turns,
    is_clearly_negative,
    snapshot_tokens,
    verdict_of,
)
from gemini_companion.engine.history.verdict import StrategyName, Verdict
from gemini_companion.engine.tokens.ledger import RequestParts
from gemini_companion.engine.tokens.rates import ASSUMED, FREE, rates_of
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.settings.effective import Settings

RESERVE_TOKENS: Final = 16_384
"""The strategy `reserve` starts when only so many tokens are left for the answer (Pi's number); in a small window, a
quarter of it.
"""

_KEPT_SHARE: Final = 0.3
_KEPT_WITH_RECORD: Final = 0.4
_KEPT_TOKENS: Final = 20_000
"""What stays word for word: a share with most strategies, more where a record is quoted, so many tokens with `reserve`
and `userMessages`.
"""


_PAUSED: Final = "Automatic compression pauses until {:,} tokens, since the last one {}."


class Mark(NamedTuple):
    """Where automatic compression starts."""

    tokens: int | None
    """The count, `None` while it is off."""
    share: float
    """Share of the limit, the cap aside."""
    reason: str = ""
    """Why it does not start at the share of the settings, as a sentence; `""` where it does."""

    def after_pause(self, settings: Settings, pause: Pause | None, limit: int) -> Mark:
        """The same for a session whose automatic compression pauses. A full window of `limit` tokens ends every pause,
        and reminders know of none.
        """
        if pause is None or settings.compression_mode != "auto" or self.tokens is None:
            return self
        at = min(pause.until, limit)
        if at <= self.tokens:
            return self
        sentence = _PAUSED.format(at, "saved next to nothing" if pause.saved_little else "was undone or cancelled")
        return self._replace(tokens=at, reason=f"{self.reason} {sentence}".lstrip())


def mark_of(settings: Settings, limit: int, model: str, experience: Experience) -> Mark:
    """Where automatic compression starts with a model of this limit.

    Undos and ratings of automatic compressions move the threshold by at most a tenth of the limit, for the model that
    they came with, and never above one that a person has set; 0 and 1, always and never, stay what they are.
    """
    share, reason = settings.compression_threshold, ""
    if settings.compression_mode == "off":
        return Mark(None, share)
    if settings.compression_strategy == "reserve":
        reserved = 1 - min(RESERVE_TOKENS, limit // 4) / limit
        if not settings.is_threshold_set or reserved < share < 1:
            share = reserved
            reason = f"The strategy reserve waits until {round((1 - share) * limit):,} tokens are left for the answer."
    points = experience.points(model) if settings.compression_adaptive else 0.0
    if points and 0 < share < 1 and not (points > 0 and settings.is_threshold_set):
        adapted = round(max(0.1, min(0.95, share + points)), 4)
        why = "were undone or rated low" if points > 0 else "were rated high"
        reason = f"{adapted:.0%} instead of {share:.0%}: automatic compressions with this model {why}."
        share = adapted
    marks = [round(share * limit)] if share < 1 else []
    if settings.compression_token_cap is not None:
        marks.append(settings.compression_token_cap)
    return Mark(min(marks) if marks else None, share, reason)


def mode_of(settings: Settings, mark: Mark) -> Literal["auto", "remind", "off"]:
    """What the status says: `off` also where the threshold turns it off."""
    return "off" if mark.tokens is None else settings.compression_mode


class Costs(NamedTuple):
    """What is known of the costs of a chat: its model, the one that writes snapshots, and the session's experience."""

    choice: ModelChoice
    compressor: str
    experience: Experience
    limit: int

    @property
    def is_known(self) -> bool:
        """Whether the prices are listed, and the provider was seen to cache."""
        cached = self.experience.cached_share
        return self._is_remote and rates_of(self.choice.name) is not None and cached is not None and cached > 0

    @property
    def _is_remote(self) -> bool:
        return not self.choice.provider.capabilities.reads_documents

    def verdict(self, before: int, after: int, *, untouched: int, hidden: int, snapshot: int) -> Verdict:
        """The verdict on a compression with these token counts; see `Outlook`."""
        experience = self.experience
        rates = (rates_of(self.choice.name) or ASSUMED) if self._is_remote else FREE
        compressor = (rates_of(self.compressor) or rates) if self._is_remote else FREE
        return verdict_of(
            Outlook(
                before=before,
                after=after,
                untouched=untouched,
                hidden=hidden,
                snapshot=snapshot,
                expected_turns=expected_turns(experience.turns, experience.growth, max(0, self.limit - before)),
                requests_per_turn=experience.requests_per_turn,
                cached_share=experience.cached_share or 0.0,
                rates=rates,
                compressor=rates if rates == ASSUMED else compressor,
            )
        )

    def estimate(self, tokens: int, parts: RequestParts, strategy: StrategyName) -> Verdict | None:
        """The verdict on compressing now, before anything is planned; `None` if there is nothing to compress."""
        text = parts.messages + parts.tool_outputs
        share = _KEPT_WITH_RECORD if strategy == "record" else _KEPT_SHARE
        kept = min(text, _KEPT_TOKENS) if strategy in ("reserve", "userMessages") else round(text * share)
        hidden = text - kept
        if hidden <= 0:
            return None
        snapshot = snapshot_tokens(hidden)
        after = max(0, tokens - hidden - parts.snapshot + snapshot)
        read = 0 if strategy == "assemble" else hidden + parts.snapshot
        return self.verdict(tokens, after, untouched=parts.surroundings, hidden=read, snapshot=snapshot)


def should_wait(settings: Settings, costs: Costs, tokens: int, verdict: Verdict | None) -> bool:
    """Whether an automatic run that is due waits, as it would cost clearly more than it saves.

    Only where the prices are known and the provider was seen to cache, below the hard mark, and where no person has
    named a threshold or a cap: that is their word.
    """
    if verdict is None or settings.is_threshold_set or settings.compression_token_cap is not None:
        return False
    return costs.is_known and tokens < HARD_SHARE * costs.limit and is_clearly_negative(verdict)
