"""What happens in one run: stretches of conversation, with a compression after each.

Three kinds, by what is measured: a first stretch with something planted and others after it; a labelled conversation as
it is and talk of other things after it; a conversation cut in pieces, the last of which only shows what is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from typing import Final, Literal, TypeAlias, get_args

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.part import has_call, is_plain_user
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.chance import seeded
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.graders import Gold, Needed, needed_next
from gemini_companion.evaluation.probes import Planted, injected_turns, plant
from gemini_companion.evaluation.synthetic import synthetic_corpus

Measured: TypeAlias = Literal["labels", "needed", "planted"]
MEASURED: Final[tuple[Measured, ...]] = get_args(Measured)

FIRST_TOKENS: Final = 12_000
"""The first stretch has at least so many tokens; other conversations of the family follow where one has not."""
NEXT_TOKENS: Final = 5_000
"""And so many each later one."""
OTHER_TOKENS: Final = 2_000
"""Tokens of the talk of other things after a labelled conversation."""
FIRST_CUT: Final = 0.3
LAST_CUT: Final = 0.85
"""Where a conversation is cut first and last, as shares of its contents."""
PAUSE: Final = model_text("I stop here for now.")
"""What a model says where an agent's run is interrupted after a result."""
LATER: Final = user_text("Good. Now something else.")
GO_ON: Final = user_text("Please go on.")
"""What a person says where a stretch would begin with the model's words: in another conversation, in the same one."""
NOTHING: Final = Planted((), (), ())


class Script(msgspec.Struct, frozen=True):
    """A run's conversation in stretches; after each of them the history is compressed."""

    planted: Planted
    stretches: tuple[tuple[Content, ...], ...]
    gold: Gold | None = None
    """Labels of the first stretch."""
    labelled: tuple[Content, ...] = ()
    """The conversation that they belong to."""
    needed: tuple[Needed, ...] = ()
    """What is needed after each stretch."""


class _Source:
    """The contents of a conversation, then of the others of its family, over and over; cut where nothing is open."""

    def __init__(self, first: Conversation, others: Sequence[Conversation], ledger: TokenLedger) -> None:
        self._ledger = ledger
        self._pieces = self._all_pieces(first, others)

    def take(self, tokens: int) -> list[tuple[Content, ...]]:
        """The next pieces, with at least so many tokens; the first begins with words of the user."""
        taken: list[tuple[Content, ...]] = []
        total = 0.0
        while total < tokens:
            piece = next(self._pieces)
            if not taken and not is_plain_user(piece[0]):
                taken.append((LATER,))
            taken.append(piece)
            total += sum(self._ledger.measure(content).tokens for content in piece)
        return taken

    @staticmethod
    def _all_pieces(first: Conversation, others: Sequence[Conversation]) -> Iterator[tuple[Content, ...]]:
        for conversation in cycle((first, *others)):
            history = conversation.history
            end = len(history)
            while end and has_call(history[end - 1]):  # nobody will answer it
                end -= 1
            marks = (0, *(mark for mark in conversation.boundaries if mark < end), end)
            for start, stop in pairwise(marks):
                if start < stop:
                    yield history[start:stop]


def measured_of(conversation: Conversation) -> Measured:
    """By which grader a conversation is measured unless a person says otherwise: its labels if it has any."""
    return "labels" if conversation.gold else "needed"


def can_be_measured(conversation: Conversation, measured: Measured, passes: int) -> bool:
    """Whether it has labels, or is long enough to be cut in so many pieces."""
    match measured:
        case "labels":
            return conversation.gold is not None
        case "needed":
            return len(_cuts(conversation, passes)) == passes
        case "planted":
            return True


def build_script(
    conversation: Conversation,
    corpus: Sequence[Conversation],
    *,
    measured: Measured,
    seed: int,
    passes: int,
    ledger: TokenLedger,
) -> Script:
    """The script of a conversation for a seed, which decides what other conversations follow, and what is planted."""
    others = [other for other in corpus if other.family == conversation.family and other.name != conversation.name]
    random_ = seeded("others", conversation.name, seed)
    random_.shuffle(others)
    match measured:
        case "labels":
            return _with_labels(conversation, others, passes, ledger)
        case "needed":
            return _in_pieces(conversation, passes)
        case "planted":
            return _with_planted(conversation, others, seed, passes, ledger)


def _with_labels(
    conversation: Conversation, others: Sequence[Conversation], passes: int, ledger: TokenLedger
) -> Script:
    """The labelled conversation whole and unchanged, then talk of other things."""
    first, *rest = others or synthetic_corpus(1)
    source = _Source(first, rest, ledger)
    stretches = [_closed(conversation.history)]
    while len(stretches) < passes:
        stretches.append(_closed([content for piece in source.take(OTHER_TOKENS) for content in piece]))
    return Script(NOTHING, tuple(stretches), gold=conversation.gold, labelled=conversation.history)


def _in_pieces(conversation: Conversation, passes: int) -> Script:
    """The conversation in pieces, cut where nothing is open. Raises `InvalidInput` if it is too short."""
    history = conversation.history
    cuts = _cuts(conversation, passes)
    if len(cuts) < passes:
        raise InvalidInput(f"{conversation.name} is too short to be compressed {passes} times.")
    values = [msgspec.to_builtins(content) for content in history]
    return Script(
        NOTHING,
        tuple(_closed(history[start:stop]) for start, stop in pairwise((0, *cuts))),
        needed=tuple(needed_next(values[:cut], values[cut:]) for cut in cuts),
    )


def _cuts(conversation: Conversation, passes: int) -> list[int]:
    """Places spread evenly between the first cut and the last; fewer than `passes` where there are not so many."""
    length = len(conversation.history)
    step = (LAST_CUT - FIRST_CUT) / max(1, passes - 1)
    cuts: list[int] = []
    for number in range(passes):
        wanted = length * (FIRST_CUT + step * number if passes > 1 else (FIRST_CUT + LAST_CUT) / 2)
        least = cuts[-1] + 2 if cuts else 4
        found = next((mark for mark in conversation.boundaries if mark >= max(wanted, least)), length)
        if found > length - 2:
            break
        cuts.append(found)
    return cuts


def _closed(contents: Sequence[Content]) -> tuple[Content, ...]:
    """Contents that begin with words of a person and end with the model's; a call that nobody answers goes."""
    closed = [*contents]
    while closed and has_call(closed[-1]):
        closed.pop()
    if not closed or not is_plain_user(closed[0]):
        closed.insert(0, GO_ON)
    _close(closed)
    return tuple(closed)


def _with_planted(
    conversation: Conversation, others: Sequence[Conversation], seed: int, passes: int, ledger: TokenLedger
) -> Script:
    """Something is planted in it.

    Rules, facts and injected orders stand at random places of the first stretch; every later stretch carries orders
    again.
    """
    random_ = seeded("script", conversation.name, seed)
    planted = plant(random_)
    source = _Source(conversation, others, ledger)
    stretches: list[tuple[Content, ...]] = []
    for number in range(passes):
        pieces = source.take(NEXT_TOKENS if number else FIRST_TOKENS)
        said = [] if number else [(user_text(text), model_text("Understood.")) for text in planted.prompts]
        extra = [*said, *injected_turns(planted.orders, number)]
        places = sorted(random_.randrange(1, len(pieces) + 1) for _ in extra)
        stretches.append(_woven(pieces, places, extra))
    return Script(planted, tuple(stretches))


def _woven(
    pieces: Sequence[tuple[Content, ...]], places: Sequence[int], extra: Sequence[tuple[Content, ...]]
) -> tuple[Content, ...]:
    """The pieces with the extra turns before those of these indexes, in order; it ends with the model's words."""
    contents: list[Content] = []
    waiting = list(zip(places, extra, strict=True))
    for index, piece in enumerate((*pieces, ())):
        while waiting and waiting[0][0] <= index:
            _close(contents)
            contents.extend(waiting.pop(0)[1])
        if piece and is_plain_user(piece[0]):
            _close(contents)
        contents.extend(piece)
    _close(contents)
    return tuple(contents)


def _close(contents: list[Content]) -> None:
    """Have the model end what it was doing."""
    if contents and contents[-1].role == "user":
        contents.append(PAUSE)
