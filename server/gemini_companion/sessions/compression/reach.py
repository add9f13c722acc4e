"""Which contents a request to compress up to a turn, or from one on, means."""

from __future__ import annotations

from typing import NamedTuple

from gemini_companion.engine.compression.types import FIRST_SEQ, LogState
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.rounds import open_reply
from gemini_companion.sessions.compression_state import Compression, Wish
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session

_RUNNING = "Not compressed: that turn is still running. Ask again when it has ended."
_OPEN = "Not compressed: that turn stopped before its calls were made. Go on with it, or send another prompt, first."
_HIDDEN = "Not compressed: a compression hides that turn already. Undo it first, or choose a later turn."


class Reach(NamedTuple):
    """What a wish names: its first and last sequence number, or why it cannot be hidden now."""

    span: tuple[int, int] | None = None
    """`None` if no turn is named, or if there is an `obstacle`."""
    obstacle: str = ""
    """A sentence for people, `""` for none."""


def reach_of(session: Session, wish: Wish) -> Reach:
    """What the wish means in the session as it is now. Raises `InvalidInput` for a turn that there is not."""
    turn_id = wish.up_to if wish.up_to is not None else wish.since
    if turn_id is None:
        return Reach()
    history = session.history
    seqs = [seq for seq, turn, _ in history.sources.places() if turn == turn_id]
    if not seqs:
        path = "$.upTo" if wish.up_to is not None else "$.from"
        raise InvalidInput(
            f"There is no turn {turn_id[:100]!r} in what the model gets of this chat.",
            path=path,
            hint="gemini/session/history names the turns.",
        )
    if turn_id in session.open_turns:
        return Reach(obstacle=_RUNNING)
    if history.is_hidden(turn_id):
        return Reach(obstacle=_HIDDEN)
    if (wish.since is not None or turn_id == history.newest_turn) and _has_calls_to_make(session):
        return Reach(obstacle=_OPEN)  # their results would answer nothing
    if wish.up_to is not None:
        return Reach((FIRST_SEQ, max(seqs)))
    running = (seq for seq, turn, _ in history.sources.places() if turn in session.open_turns)
    return Reach((min(seqs), min(running, default=history.version + 1) - 1))


def _has_calls_to_make(session: Session) -> bool:
    """Whether the newest turn ended before the calls of its last answer were made, so that it can go on with them."""
    newest = session.history.newest_turn
    return (
        newest is not None
        and newest not in session.open_turns
        and open_reply(session.history.entries, newest) is not None
        and session.history.has_open_call()
    )


def planned_contents(session: Session, compression: Compression) -> list[Item]:
    """What a plan is made of: the view, for one that is prepared beside the chat as it was when that was begun.

    What a turn adds meanwhile, a moment before or after, would have it hide something else each time.
    """
    items, as_of = session.history.curated(), compression.as_of
    return items if as_of is None else [item for item in items if item.seq <= as_of]


def log_state(session: Session, choice: ModelChoice, span: tuple[int, int] | None) -> LogState:
    """What a plan needs to know of the session's log, as it is now."""
    history = session.history
    entries = history.entries

    def time_of(seq: int) -> int | None:
        entry = entries.at(seq)
        return entry and entry.time

    return LogState(
        history.version,
        tuple(history.in_force.values()),
        history.excluded_from,
        reach=span,
        limit=session.limit(choice),
        times=time_of,
    )
