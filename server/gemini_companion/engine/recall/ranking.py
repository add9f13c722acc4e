"""How what a question's words find becomes an order of turns. Each factor here was measured (`evaluation.recall`).

A *place* is a turn's number within its session, from 1, and a *spot* the session's number and the place in one integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.recall.passages import Remembered
from gemini_companion.engine.recall.query import RecallQuery

PLACE_BITS: Final = 24
_PLACES: Final = (1 << PLACE_BITS) - 1

_EARLIER: Final = ((1, 0.5), (2, 0.35), (3, 0.2))
"""What a turn gains of a word that was said so many turns earlier."""
_LATER: Final = ((-1, 0.3), (-2, 0.15))
"""The same, later."""
_SHIFTS: Final = (*_EARLIER, *_LATER)
_FARTHEST_BACK: Final = 2
_MOST, _HALF = 1.5, 0.5
"""The most that a word gives, and where it gives half of that, as shares of its best score: turns that say it over and
over gain little by it.
"""
_PHRASE: Final = 0.3
_QUESTION: Final = 0.8
_WHEN: Final = 1.2
_DATE: Final = 2.0
_SAID_BY: Final = 1.8

WEIGHED: Final = 200
"""How many of the best turns are weighed by what is known of them beside their words."""


class Posting(NamedTuple):
    """A turn that has a word, with the best score of its passages; `is_tool` for a tool's results."""

    spot: int
    score: float
    is_tool: bool


class Known(NamedTuple):
    """What is known of a turn: its time (ms since 1970), what ranking asks of its text, its entry's id."""

    time: int
    about: Remembered
    entry_id: str


def spot_of(session: int, place: int) -> int:
    """The spot of a place in the session with this number."""
    return session << PLACE_BITS | place


def place_of(spot: int) -> int:
    """A spot's place in its session."""
    return spot & _PLACES


def score_spots(by_word: Iterable[Sequence[Posting]], by_phrase: Iterable[Sequence[Posting]]) -> dict[int, float]:
    """Scores of turns by spot, from what each word and each phrase found; spots at which there is no turn among them.

    What a word gives is spread over the turns beside: within the session, and neither from nor to a tool's results. One
    that no word finds may be a tool's all the same: `weigh` drops it.
    """
    words = [postings for postings in by_word if postings]
    tools = {posting.spot for postings in words for posting in postings if posting.is_tool}
    total: dict[int, float] = {}
    for postings in words:
        found = _spread(postings, tools)
        best = max(posting.score for posting in postings)
        most, half = _MOST * best, _HALF * best
        if best > 0:
            for spot, score in found.items():
                total[spot] = total.get(spot, 0.0) + most * score / (score + half)
    for postings in by_phrase:
        for posting in postings:
            total[posting.spot] = total.get(posting.spot, 0.0) + _PHRASE * posting.score
    return total


def _spread(postings: Sequence[Posting], tools: set[int]) -> dict[int, float]:
    found: dict[int, float] = {}
    for spot, score, is_tool in postings:
        found[spot] = found.get(spot, 0.0) + score
        if is_tool:
            continue
        place = spot & _PLACES
        for distance, share in _SHIFTS if place > _FARTHEST_BACK else _inside(place):
            beside = spot + distance
            if beside not in tools:
                found[beside] = found.get(beside, 0.0) + share * score
    return found


def _inside(place: int) -> list[tuple[int, float]]:
    """The shifts that do not lead out of the session's beginning."""
    return [(distance, share) for distance, share in _SHIFTS if place + distance > 0]


def weigh(
    query: RecallQuery, scores: Mapping[int, float], known: Mapping[int, Known], heard: set[int]
) -> dict[int, float]:
    """The scores of the turns that there are, weighed by what is known of them.

    `heard` are the spots that a word found; a tool's results that none found are left out.
    """
    weighed: dict[int, float] = {}
    for spot, (time, about, _) in known.items():
        score = scores[spot]
        if about.speaker == "tool" and spot not in heard:
            continue
        if query.said_by is not None and about.speaker == query.said_by:
            score *= _SAID_BY
        if about.is_question:
            score *= _QUESTION
        if query.asks_when and about.names_time:
            score *= _WHEN
        if query.date is not None and query.date.is_near(time):
            score *= _DATE
        weighed[spot] = score
    return weighed


def ordered(scores: Mapping[int, float], known: Mapping[int, Known]) -> list[int]:
    """Spots, best first; of equal ones the newest first."""
    return sorted(scores, key=lambda spot: (-scores[spot], -known[spot].time, -spot))


def once(spots: Iterable[int], known: Mapping[int, Known]) -> Iterator[int]:
    """The spots whose entry did not come before: a fork has the entries of the session that it was made of."""
    seen: set[tuple[str, int]] = set()
    for spot in spots:
        entry = known[spot].entry_id, known[spot].time
        if entry not in seen:
            seen.add(entry)
            yield spot


def apart(spots: Iterable[int], count: int) -> list[int]:
    """The first `count` spots without the neighbours of better ones, which are shown beside those."""
    kept: list[int] = []
    taken: set[int] = set()
    for spot in spots:
        if len(kept) == count:
            break
        if spot not in taken:
            kept.append(spot)
            taken.update((spot - 1, spot, spot + 1))
    return kept


def fused(words: Sequence[int], dense: Sequence[int], *, flat: float = 20.0, weight: float = 0.4) -> dict[int, float]:
    """Two orders as one, by reciprocal ranks: the order by words, and with `weight` the one by meaning."""
    scores: dict[int, float] = {}
    for order, share in ((words, 1.0), (dense, weight)):
        for rank, spot in enumerate(order, start=1):
            scores[spot] = scores.get(spot, 0.0) + share / (flat + rank)
    return scores
