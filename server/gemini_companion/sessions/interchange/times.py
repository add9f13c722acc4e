"""When the messages of a file were said, as far as it can be believed."""

from __future__ import annotations

from collections.abc import Sequence


def rising(times: Sequence[int | None], now: int) -> list[int]:
    """Times (ms since 1970) that never go back and never lie ahead of `now`, one for each of these.

    A file may say anything. One that is not known, in the future or earlier than the one before counts as that one;
    the first ones like the first that is known, and all of them as `now` if none is.
    """
    known = [time if time is not None and 0 < time <= now else 0 for time in times]
    at = next(filter(None, known), now)
    return [at := max(at, time) for time in known]
