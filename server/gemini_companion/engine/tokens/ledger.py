"""The token ledger: the source of every token number.

Contents are estimated once, when they enter a view. What the API counted corrects the estimate, per model, in two
terms: a constant for what surrounds the conversation (system instruction, tools, environment) and a factor on the
conversation's text. Every number is tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Self

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import Item, Measure
from gemini_companion.engine.history.log import TokenCountSource
from gemini_companion.engine.history.part import is_truthy
from gemini_companion.engine.history.totals import Totals, add_totals
from gemini_companion.engine.tokens.counters import TokenCounter, count_content, count_media, count_part
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter

FACTOR_RANGE: Final = (0.8, 1.25)
"""Bounds of the learned factor on text."""

MEDIA_RANGE: Final = (0.005, 20.0)
"""Bounds of the learned factor on media: a page of a PDF is a hundredth of its flat rate, a long film many times it."""

MEDIA_SHARE: Final = 0.1
"""Share of a conversation from which on its media, and not its words, are what a count corrects."""

LEARNING_TOKENS: Final = 2_000
"""Estimated text tokens below which an API count is not used to learn the factor."""


UNKNOWN_TOKENS: Final = 20_000
"""The most that a request may have beyond what is estimated of it: what a proxy adds, tools, wrapping."""

BELIEVABLE_TIMES: Final = 2.0
"""A count of more than this multiple of the estimate, or less than its inverse, is not believed; see `is_plausible`."""

_LOW_SLACK: Final = 2_000


def is_plausible(estimated: int, counted: int, media: int = 0) -> bool:
    """Whether a count from outside can be one of a request of `estimated` tokens (uncalibrated), `media` among them.

    The estimate was at most 6 % off on conversations that it had never seen, and no tokenizer that we know is twice as
    fine or coarse, so a count beyond that is wrong, and wrong again when it is repeated: two counts by one service are
    no two witnesses. Believing one would cost more than none: automatic compressions that nothing calls for, and
    prompts that are refused although they fit. Media are estimated by flat rates, which are often far too high, so they
    do not count for the lower bound; for the upper one see `TokenLedger.observe`.
    """
    low = (estimated - media) / BELIEVABLE_TIMES - _LOW_SLACK
    high = estimated * BELIEVABLE_TIMES + UNKNOWN_TOKENS
    return counted > 0 and low <= counted <= high


def agree(counted: int, estimated: int, whole: int) -> bool:
    """Whether two numbers for the same difference, what a compression saves for instance, support each other.

    `whole` is the estimate of the larger request.
    """
    return abs(counted - estimated) <= abs(estimated) / 2 + whole / 20 + 500


class RequestParts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Estimated or counted tokens of a request, part by part. `messages` includes the prompt."""

    system_instruction: int = 0
    tools: int = 0
    environment: int = 0
    memory: int = 0
    ide_context: int = 0
    snapshot: int = 0
    constraints: int = 0
    """Rules and pins that stand in a content of their own; those in a prompt are part of `messages`."""
    messages: int = 0
    tool_outputs: int = 0

    @property
    def surroundings(self) -> int:
        """System instruction, tools, environment and memory."""
        return self.system_instruction + self.tools + self.environment + self.memory

    @property
    def text(self) -> int:
        """The conversation itself: all that is not `surroundings`."""
        return self.ide_context + self.snapshot + self.constraints + self.messages + self.tool_outputs

    @property
    def total(self) -> int:
        """The sum of all parts."""
        return self.surroundings + self.text

    def with_totals(self, totals: Totals) -> Self:
        """The same surroundings with another conversation."""
        return msgspec.structs.replace(
            self,
            ide_context=totals.ide_context,
            snapshot=totals.snapshot,
            constraints=totals.constraints,
            messages=totals.messages,
            tool_outputs=totals.tool_outputs,
        )


class EstimatedParts(RequestParts, frozen=True, kw_only=True):
    """The same as the ledger estimates it, with what of it is uncertain."""

    media: int = 0
    """Tokens of media, which are part of the conversation's parts: flat rates by type."""

    def with_totals(self, totals: Totals) -> Self:
        """The same surroundings with another conversation."""
        return msgspec.structs.replace(super().with_totals(totals), media=totals.media)


def media_in(parts: RequestParts) -> int:
    """Estimated tokens of a request's media, as far as they are known apart."""
    return min(parts.media, parts.text) if isinstance(parts, EstimatedParts) else 0


class _Calibration:
    """What was learned from the API's counts for a model: `measured ≈ surroundings + offset + factor · text`, and
    `media_factor · media` beside it.
    """

    __slots__ = ("_reference", "factor", "media_factor", "offset")

    def __init__(self) -> None:
        self.offset = 0.0
        self.factor = 1.0
        self.media_factor = 1.0
        self._reference: tuple[int, float] | None = None
        """The shortest text counted so far, and what its request had beyond the estimated surroundings."""

    def learn(self, parts: RequestParts, measured: int) -> None:
        media = media_in(parts)
        if media > MEDIA_SHARE * parts.text:  # they explain more of what is wrong than words do
            words = max(0.0, parts.surroundings + self.offset) + self.factor * (parts.text - media)
            self.media_factor = _within((measured - words) / media, MEDIA_RANGE)
            return
        text = parts.text - media
        beyond = measured - parts.surroundings - self.media_factor * media
        if text >= LEARNING_TOKENS:
            self.factor = _within(self._slope(text, beyond), FACTOR_RANGE)
        # The constant takes what the factor does not explain (tools and wrapping), down to minus the surroundings.
        self.offset = min(beyond - self.factor * text, UNKNOWN_TOKENS)
        if self.offset < -parts.surroundings:
            self.offset = -float(parts.surroundings)
            if text >= LEARNING_TOKENS:
                self.factor = _within((beyond - self.offset) / text, FACTOR_RANGE)
        if self._reference is None or text <= self._reference[0]:
            self._reference = (text, beyond)

    def _slope(self, text: int, beyond: float) -> float:
        """Measured per estimated token of text.

        Two counts far enough apart cancel the constant; one count alone is put down to the factor.
        """
        if self._reference is not None:
            start, at_start = self._reference
            if text - start >= max(LEARNING_TOKENS, text // 2):
                return (beyond - at_start) / (text - start)
        return (beyond - self.offset) / text

    def apply(self, parts: RequestParts) -> float:
        media = media_in(parts)
        words = self.factor * (parts.text - media)
        return max(0.0, parts.surroundings + self.offset) + words + self.media_factor * media


def _within(value: float, bounds: tuple[float, float]) -> float:
    return min(bounds[1], max(bounds[0], value))


class TokenCount(NamedTuple):
    """A request's tokens: `api` if the number rests on a count by the API, else `estimate`."""

    tokens: int
    source: TokenCountSource


class LedgerMemory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a ledger knows of one model by the API's counts, to be kept over a restart."""

    model: str
    measured: int
    """Tokens of a request, as the API counted them; this and the next are 0 where it counted none of the view."""
    estimated: int
    """The calibrated estimate of the same request."""
    offset: float
    factor: float
    media_factor: float


class TokenLedger:
    """Counts, estimates and calibrations of one session. Without a `counter` the lexical one is used."""

    def __init__(self, counter: TokenCounter | None = None) -> None:
        self.counter: TokenCounter = counter or LexicalTokenCounter()
        self._calibrations: dict[str, _Calibration] = {}
        self._anchor: tuple[str, int, int, int] | None = None
        """Model, epoch, measured tokens, and the calibrated estimate of the same request."""
        self._aside: tuple[str, int, int] | None = None
        """Model, estimate and count of the newest one that was not believed."""

    def forget_texts(self) -> None:
        """Let go of the lexical counter's prices, which are gone once no ledger holds them, and were most of this one's
        size; what the API's counts taught stays.
        """
        if isinstance(self.counter, LexicalTokenCounter):
            self.counter = LexicalTokenCounter()

    def count_text(self, text: str) -> float:
        """Estimated tokens of a text."""
        return self.counter.count_text(text)

    def measure(self, content: Content) -> Measure:
        """Estimated tokens of one content. Callers keep the result: the text is not read a second time."""
        if content.role == "user" and any(is_truthy(part.get("functionResponse")) for part in content.parts):
            per_part = [
                (count_part(part, self.counter), is_truthy(part.get("functionResponse"))) for part in content.parts
            ]
            return Measure(
                round(sum(tokens for tokens, _ in per_part)),
                round(sum(tokens for tokens, is_tool in per_part if is_tool)),
                count_media(content.parts),
            )
        return Measure(count_content(content.parts, self.counter), 0, count_media(content.parts))

    def totals(self, contents: Iterable[Content]) -> Totals:
        """Estimated tokens of contents without items, as messages and tool outputs."""
        messages = tools = 0
        for content in contents:
            measure = self.measure(content)
            messages += measure.tokens - measure.tool_tokens
            tools += measure.tool_tokens
        return Totals(messages=messages, tool_outputs=tools)

    def believes(self, estimated: int, counted: int, media: int = 0) -> bool:
        """Whether a count from outside can be one of a request of `estimated` tokens (uncalibrated), with its media."""
        return is_plausible(estimated, counted, media)

    def believes_both(
        self, estimated: tuple[int, int], counted: tuple[int, int], media: tuple[int, int] = (0, 0)
    ) -> bool:
        """The same of a request before and after a compression, and of what that saves."""
        most, saved = estimated[0] - estimated[1], counted[0] - counted[1]
        least = most - max(0, media[0] - media[1])  # anything between is what hidden media may have had
        nearest = min(max(saved, least), most)
        return all(map(self.believes, estimated, counted, media)) and agree(saved, nearest, estimated[0] - media[0])

    def observe(self, model: str, epoch: int, parts: RequestParts, measured: int, *, limit: int | None = None) -> bool:
        """Learn from the API's count: a request of these parts has `measured` tokens.

        False, and nothing is learned, for a count that cannot be right: far from the estimate (`is_plausible`), or over
        `limit`, the window of a model that took the request. Where the request has media, whose rates may be far too
        low, a second count that agrees with the first is believed.
        """
        media = media_in(parts)
        if limit is not None and measured > limit:
            return False
        if not self.believes(parts.total, measured, media) and not self._is_second(model, parts.total, measured, media):
            return False
        calibration = self._calibrations.setdefault(model, _Calibration())
        calibration.learn(parts, measured)
        self._anchor = (model, epoch, measured, round(calibration.apply(parts)))
        return True

    def _is_second(self, model: str, estimated: int, measured: int, media: int) -> bool:
        """Whether the last count that was set aside says the same; this one is set aside if not."""
        before, self._aside = self._aside, (model, estimated, measured)
        if before is None or before[0] != model or media <= 0 or measured < estimated:
            return False
        return agree(measured - before[2], estimated - before[1], measured)

    def estimate(self, model: str, parts: RequestParts) -> int:
        """The calibrated estimate of a request."""
        calibration = self._calibrations.get(model)
        return parts.total if calibration is None else round(calibration.apply(parts))

    def estimate_text(self, model: str, tokens: int) -> int:
        """The calibrated estimate of text alone, a prompt for instance, from its uncalibrated one."""
        calibration = self._calibrations.get(model)
        return tokens if calibration is None else round(tokens * calibration.factor)

    def read(self, model: str, epoch: int, parts: RequestParts) -> TokenCount:
        """The best number for a request: the last measured one plus an estimate of the difference, else an estimate."""
        now = self.estimate(model, parts)
        if self._anchor is not None and self._anchor[:2] == (model, epoch):
            _, _, measured, then = self._anchor
            return TokenCount(max(0, measured + now - then), "api")
        return TokenCount(now, "estimate")

    def memory(self, model: str, epoch: int) -> LedgerMemory | None:
        """What `read` rests on; `None` if that is no count by the API, of this view or of an earlier one."""
        calibration = self._calibrations.get(model)
        if calibration is None:
            return None
        anchor = self._anchor
        measured, estimated = anchor[2:] if anchor is not None and anchor[:2] == (model, epoch) else (0, 0)
        return LedgerMemory(
            model=model,
            measured=measured,
            estimated=estimated,
            offset=calibration.offset,
            factor=calibration.factor,
            media_factor=calibration.media_factor,
        )

    def recall(self, memory: LedgerMemory, epoch: int | None) -> None:
        """Go on where another ledger was, in the view of this epoch, or with `None` in another one. What cannot have
        been learnt counts for nothing, and nor does a memory of a model that has been counted for since.
        """
        has_count = (memory.measured, memory.estimated) != (0, 0)
        if memory.model in self._calibrations:
            return
        if has_count and not self.believes(memory.estimated, memory.measured):
            return
        calibration = self._calibrations[memory.model] = _Calibration()
        calibration.offset = min(memory.offset, float(UNKNOWN_TOKENS))
        calibration.factor = _within(memory.factor, FACTOR_RANGE)
        calibration.media_factor = _within(memory.media_factor, MEDIA_RANGE)
        if has_count and epoch is not None:
            self._anchor = (memory.model, epoch, memory.measured, memory.estimated)

    def scaled(self, parts: RequestParts, total: int) -> RequestParts:
        """The same proportions with `total` as their sum, so that the parts and the meter agree."""
        names = RequestParts.__struct_fields__
        values = [max(0, int(getattr(parts, name))) for name in names]
        whole, total = sum(values), max(0, total)
        if whole == 0:
            return RequestParts(messages=total)
        shares = [divmod(value * total, whole) for value in values]
        floors = [share for share, _ in shares]
        by_remainder = sorted(range(len(shares)), key=lambda index: -shares[index][1])
        for index in by_remainder[: total - sum(floors)]:
            floors[index] += 1
        return RequestParts(**dict(zip(names, floors, strict=True)))


def totals_of(items: Sequence[Item]) -> Totals:
    """Estimated tokens of items, by kind of content."""
    return add_totals(Totals(), items)
