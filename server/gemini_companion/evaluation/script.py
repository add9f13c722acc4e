"""What happens in one run: a first stretch of conversation with what is planted in it, then one more for each pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from typing import Final

import msgspec

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.part import has_call, is_plain_user
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.chance import seeded
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.probes import Planted, injected_turns, plant

FIRST_TOKENS: Final = 12_000
"""The first stretch has at least so many tokens; other conversations of the family follow where one has not."""
NEXT_TOKENS: Final = 5_000
"""And so many each later one."""
PAUSE: Final = model_text("I stop here for now.")
"""What a model says where an agent's run is interrupted after a result."""
LATER: Final = user_text("Good. Now something else.")
"""What a person says where a stretch would begin with the model's words."""


class Script(msgspec.Struct, frozen=True):
    """A run's conversation in stretches; after each of them the history is compressed."""

    planted: Planted
    stretches: tuple[tuple[Content, ...], ...]


class _Source:
    """The contents of a conversation, then of the others of its family, over and over; cut where nothing is open."""

    def __init__(self, first: Conversation, others: Sequence[Conversation], ledger: TokenLedger) -> None:
        self._ledger = ledger
        self._pieces = self._all_pieces(first, others)

    def take(self, tokens: int) -> list[tuple[Content, ...]]:
        """The next pieces, with at least so many tokens; the first begins with words of the user."""
        taken: list[tuple[Content, ...]] = []
        total = 0
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


def build_script(
    conversation: Conversation, corpus: Sequence[Conversation], *, seed: int, passes: int, ledger: TokenLedger
) -> Script:
    """The script of a conversation for a seed.

    Rules, facts and injected orders stand at random places of the first stretch; every later stretch carries orders
    again. Which other conversations follow is up to the seed.
    """
    random_ = seeded("script", conversation.name, seed)
    planted = plant(random_)
    others = [other for other in corpus if other.family == conversation.family and other.name != conversation.name]
    random_.shuffle(others)
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
