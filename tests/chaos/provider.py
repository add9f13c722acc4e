"""The provider's weather: which answer, or which fault, a request of the daemon meets.

What a prompt meets depends on the seed, on the prompt's own marker and on the attempt, and on nothing else.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from tests.chaos.report import Report
from tests.support.emulator import (
    Drop,
    RecordedRequest,
    Reply,
    Summariser,
    answer,
    asks_for_snapshot,
    call,
    failure,
    faults,
    thought,
)
from tests.support.emulator.errors import ApiError
from tests.support.emulator.replies import Pause, Piece

MARKER: Final = re.compile(r"\[\[([\w.-]+)\]\]")
CALM: Final = "calm"
"""Daemons whose key begins so are always answered well, and at once."""

_FAULTY: Final = 0.3
"""Share of the requests that meet a fault."""
_WORDS: Final = (
    "when",
    "the",
    "parser",
    "reads",
    "a",
    "line",
    "it",
    "keeps",
    "offset",
    "so",
    "that",
    "every",
    "message",
)
_ILL: Final = tuple(
    Summariser(mode) for mode in ("empty", "garbage", "inflated", "no_tag", "unclosed", "scratchpad_only")
)


def marker_of(text: str) -> str:
    """The last marker in a text, `""` if it has none."""
    found = MARKER.findall(text)
    return found[-1] if found else ""


class Provider:
    """Answers every generating request of the emulator."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._attempts: Counter[str] = Counter()
        self._well = Summariser()
        self.is_calm = False
        """Nothing goes wrong any more."""

    def __call__(self, request: RecordedRequest) -> Reply:
        """The reply to a request."""
        name = marker_of(request.prompt) if request.method == "streamGenerateContent" else "aside"
        name = f"{request.headers.get('x-goog-api-key', '')}/{name}"
        if len(self._attempts) > 20_000:
            self._attempts.clear()
        self._attempts[name] += 1
        chance = random.Random(f"{self._report.seed}/{name}/{self._attempts[name]}")
        calm = self.is_calm or name.startswith(CALM)
        if asks_for_snapshot(request):
            return self._snapshot(request, chance, calm=calm)
        if request.method != "streamGenerateContent":
            return answer(f"About {chance.choice(_WORDS)} and {chance.choice(_WORDS)}")
        marker = name.rpartition("/")[2]
        if not calm and chance.random() < _FAULTY:
            kind = chance.choice(sorted(FAULTS))
            self._report.fault(kind)
            return FAULTS[kind](chance, marker)
        return _answer(chance, marker, calm=calm)

    def _snapshot(self, request: RecordedRequest, chance: random.Random, *, calm: bool) -> Reply:
        if calm:
            return self._well(request)
        wait = Pause(chance.choice((0.0, 0.05, 0.3, 1.2)))
        luck = chance.random()
        if luck < 0.12:
            self._report.fault("ill snapshot")
            reply = chance.choice(_ILL)(request)
        elif luck < 0.24:
            self._report.fault("snapshot fault")
            reply = chance.choice((faults.internal, faults.unavailable, faults.drop_before_headers, faults.empty))()
        else:
            reply = self._well(request)
        return Reply(steps=(wait, *reply.steps), error=reply.error, usage=reply.usage, headers=reply.headers)


def _text(chance: random.Random, marker: str, words: int) -> list[str]:
    said = [f"{chance.choice(_WORDS)} " for _ in range(words)]
    size = chance.choice((3, 20, 200, 5_000))
    return [f"Answer of {marker}: ", *("".join(said[at : at + size]) for at in range(0, words, size))]


def _answer(chance: random.Random, marker: str, *, calm: bool) -> Reply:
    """A good answer: at once, late, or in a trickle; rarely a huge one, or one with thoughts."""
    pieces: list[Piece] = [*_text(chance, marker, 20 if calm else chance.choice((5, 40, 40, 400, 400, 4_000)))]
    if calm:
        return answer(*pieces)
    if chance.random() < 0.03:
        pieces = ["x" * 100_000 for _ in range(20)]
    if chance.random() < 0.2:
        pieces.insert(0, thought("Let me see."))
    if chance.random() < 0.4:
        rest = chance.choice((0.001, 0.01, 0.05))
        pieces = [each for piece in pieces for each in (piece, Pause(rest))]
    if chance.random() < 0.15:
        pieces.insert(0, Pause(chance.choice((0.3, 1.0, 1.9))))
    return answer(*pieces)


def _after_finish(chance: random.Random, marker: str) -> Reply:
    good = answer(*_text(chance, marker, 10))
    return Reply(steps=(*good.steps, chance.choice((Drop(), b"data: {oh\r\n\r\n"))), usage=good.usage)


def _bad_gzip(chance: random.Random, marker: str) -> Reply:
    return Reply(steps=(b"this is not compressed",), headers={"content-encoding": "gzip"})


def _absurd_usage(chance: random.Random, marker: str) -> Reply:
    number: Any = chance.choice((10**15, -5, 2**63, 0))
    return answer(*_text(chance, marker, 10), usage={"promptTokenCount": number, "totalTokenCount": number})


def _garbage(chance: random.Random, marker: str) -> Reply:
    return answer("Hel", b"data: \xff\xfe\x00[[[[" + b"{" * 500 + b"\r\n\r\n", finish=None)


def _half_way(chance: random.Random, marker: str) -> Reply:
    return answer(*_text(chance, marker, 30), Pause(0.02), Drop(), finish=None)


FAULTS: Final[dict[str, Callable[[random.Random, str], Reply]]] = {
    "overloaded 429": lambda chance, _: faults.rate_limited(retry_after=chance.choice((None, "0", "1", "2"))),
    "overloaded 503": lambda chance, _: faults.unavailable(retry_after=chance.choice((None, "1"))),
    "used up": lambda *_: faults.rate_limited(retry_delay="400s", quota="GenerateRequestsPerDay"),
    "500": lambda *_: faults.internal(),
    "no headers": lambda *_: faults.drop_before_headers(),
    "cut in the middle": _half_way,
    "after the finish": _after_finish,
    "bad gzip": _bad_gzip,
    "absurd usage": _absurd_usage,
    "garbage": _garbage,
    "error event": lambda *_: faults.error_event(),
    "empty": lambda *_: faults.empty(),
    "nothing": lambda *_: faults.nothing(),
    "blocked prompt": lambda *_: faults.prompt_blocked(),
    "blocked answer": lambda *_: faults.stopped(),
    "no finish": lambda *_: faults.no_finish_reason(),
    "cut at length": lambda *_: faults.max_tokens(),
    "thoughts alone": lambda *_: faults.thoughts_only(),
    "tool calls": lambda *_: faults.too_many_calls(),
    "one tool call": lambda *_: answer("I look.", call("read_file", {"path": "/etc/passwd"})),
    "overflow": lambda *_: faults.overflow(),
    "bad request": lambda *_: failure(ApiError(400, "Nobody foresaw this.")),
    "unknown words": lambda *_: faults.unknown_words(),
}
"""What goes wrong with an answer, by name."""
