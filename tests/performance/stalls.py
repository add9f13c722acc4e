"""The longest time that the event loop does nothing but one thing, on a long history: how late a task is that wants its
turn every millisecond.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

from gemini_companion.adapters.gemini.options import from_environment
from gemini_companion.adapters.gemini.provider import GeminiProvider
from gemini_companion.adapters.offline.provider import OfflineProvider
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.engine.tokens.limits import OFFLINE_MODEL
from gemini_companion.sessions.compression.service import compress
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.session import Session
from tests.performance.conversation import make_contents
from tests.performance.days_work import Day
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.lateness import worst_lag
from tests.performance.options import Options
from tests.performance.spread import median
from tests.performance.streaming import Source
from tests.support.sessions import Studio

NAME: Final = "stalls"
TARGET_MS: Final = 50
SIZE: Final = 10_000
LARGE: Final = 100_000
TARGETS_OF_DAYS_MS: Final = {SIZE: 50, LARGE: 100}
"""Whatever a person does with a chat of so many contents."""

_SHORT: Final = 400
"""Characters of the contents that turns go out with: so, ten thousand fill a window of a million tokens."""
_CLIENT: Final = "bench"
_THOUGHT: Final = {"text": "What is asked here, and where may it stand? " * 10, "thought": True}


def run(options: Options) -> Iterator[Finding]:
    """Every kind of work on a long history, each several times."""
    size = 500 if options.quick else SIZE
    plain = decode_contents(make_contents(size))
    short = decode_contents(make_contents(size, characters=_SHORT))
    thoughtful = [_with_thought(content) for content in plain]
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield _figure(
            "nothing at all, for comparison",
            [runner.run(worst_lag(partial(asyncio.sleep, 0.3))) for _ in range(options.rounds(5))],
            judged=False,
        )
        for model, contents in (("instant", plain), ("instant, with thoughts", thoughtful), ("offline", plain)):
            desk = _Desk(options, runner, contents, offline=model == "offline")
            yield from desk.compressions(f"({model})", options.rounds(2 if model == "offline" else 5))
        for model in ("instant", "offline"):
            yield from _Desk(options, runner, short, offline=model == "offline").turns(f"({model})", options.rounds(5))
        if not options.quick:
            source = stack.enter_context(Source(options, 50))
            yield from _Desk(options, runner, short, base_url=source.base_url).turns("(SDK)", options.rounds(5))
        for length, rounds in ((size, options.rounds(3)),) if options.quick else ((SIZE, 3), (LARGE, 1)):
            options.tell(f"a day with {length:,} contents")
            for what, lag in runner.run(Day(options, length).lags(rounds)).items():
                yield Figure(
                    bench=NAME,
                    name=f"{what}, {length:,} contents",
                    value=lag,
                    unit="ms",
                    target=TARGETS_OF_DAYS_MS.get(length),
                )


class _Desk:
    """A session with a history, and a client that works on it."""

    def __init__(
        self,
        options: Options,
        runner: asyncio.Runner,
        contents: list[Content],
        *,
        offline: bool = False,
        base_url: str = "",
    ) -> None:
        self._runner = runner
        self._size = len(contents)
        model: Any = InstantModel()
        if base_url:
            gemini = from_environment({"GEMINI_API_KEY": "bench", "GOOGLE_GEMINI_BASE_URL": base_url})
            assert gemini is not None
            model = GeminiProvider(gemini)
            runner.run(model.warm_up())
        self._studio, self._session = runner.run(_Desk.enter(options, contents, model=model, offline=offline))
        gc.collect()

    @staticmethod
    async def enter(
        options: Options, contents: list[Content], *, model: Any = None, offline: bool = False
    ) -> tuple[Studio, Session]:
        """Begin a session with these contents."""
        own = cast("Any", OfflineProvider(count_text=LexicalTokenCounter().count_text))
        studio = Studio(
            Path(mkdtemp(dir=options.scratch)),
            model=model or cast("Any", InstantModel()),
            offline=own,
            compression_threshold=1.0,
        )
        if offline:
            studio.set(model_name=OFFLINE_MODEL)
            await own.warm_up()
        session = await studio.load(contents)
        studio.app.info(session)
        return studio, session

    def compressions(self, how: str, rounds: int) -> Iterator[Figure]:
        """Compress and undo."""
        lags: dict[str, list[float]] = {"compressing": [], "undoing": []}
        for _ in range(rounds):
            lags["compressing"].append(self._runner.run(worst_lag(partial(compress, self._session, client=_CLIENT))))
            assert self._session.history.in_force
            lags["undoing"].append(self._runner.run(worst_lag(partial(undo, self._session, client=_CLIENT))))
        for what, of in lags.items():
            yield _figure(f"{what} {self._size:,} contents {how}", of)

    def turns(self, how: str, rounds: int) -> Iterator[Figure]:
        """Chat."""
        yield _figure(
            f"a turn on {self._size:,} contents {how}",
            [self._runner.run(worst_lag(self._chat)) for _ in range(rounds)],
        )

    async def _chat(self) -> None:
        result = await self._studio.app.chat(self._studio.client, ({"text": "What did we do with the parser?"},))
        assert result.finish_reason == "STOP", result.finish_reason


def _with_thought(content: Content) -> Content:
    """The content as a thinking model's: a thought before the rest."""
    return content if content.role == "user" else Content(role="model", parts=(_THOUGHT, *content.parts))


def _figure(name: str, lags: list[float], *, judged: bool = True) -> Figure:
    return Figure(bench=NAME, name=name, value=median(lags), unit="ms", target=TARGET_MS if judged else None)
