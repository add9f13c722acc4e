"""Split, estimate and whole compression, beside Gemini CLI's published core on the same conversation.

The model answers and counts at once on both sides, but for one row: what is left of ours where it writes for a second. Ours runs as the daemon runs it: on a session that holds its log, in
the event loop, with events told. Gemini CLI takes the contents as they are.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, TypeAlias, cast

from gemini_companion.engine.compression.split import SPLIT_FRACTION, find_split_point
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.compression.service import compress
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.session import Session
from tests.performance.conversation import DESCRIPTION, TEXT_ONLY, fingerprint, make_contents
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.gemini_cli import CORE, GeminiCliCore, Unavailable
from tests.performance.instant import InstantModel
from tests.performance.options import Options
from tests.performance.spread import median
from tests.performance.timing import Cost, cost, interleaved, settled
from tests.support.sessions import Studio

NAME: Final = "compression"
OURS: Final = "ours"
GEMINI_CLI: Final = "Gemini CLI's core"
SIZES: Final = (100, 1_000, 10_000, 100_000)
TARGETS: Final = {10_000: 0.1, 100_000: 0.05}
"""Of whole compression, as a share of Gemini CLI's time."""
TARGET_OF_COLD: Final = 0.5
"""Of everything from the JSON on, from 10,000 contents on."""

_CLIENT: Final = "bench"
_WRITES_FOR: Final = 1.0
"""Seconds that a call of a model takes which does not answer at once: few are faster."""

Costs: TypeAlias = Mapping[str, Sequence[Cost]]
"""By contender."""


def run(options: Options) -> Iterator[Finding]:
    """Measure every size, both sides in turns."""
    with ExitStack() as stack:
        gemini_cli: GeminiCliCore | None = None
        if options.quick:
            yield Skipped(bench=NAME, name=GEMINI_CLI, reason="left out in a hurry (--quick)")
        else:
            try:
                gemini_cli = stack.enter_context(GeminiCliCore(options))
                gemini_cli.make(1)
            except Unavailable as error:
                yield Skipped(bench=NAME, name=GEMINI_CLI, reason=str(error))
                gemini_cli = None
        runner = stack.enter_context(asyncio.Runner())
        for size in SIZES[:1] if options.quick else SIZES if options.thorough else SIZES[:-1]:
            for what, block in (("", tuple(DESCRIPTION["block"])), (", text only", TEXT_ONLY)):
                options.tell(f"{size:,} contents{what}")
                yield from _Size(options, runner, gemini_cli, size, what, block).findings()


class _Size:
    """One size of conversation."""

    def __init__(
        self,
        options: Options,
        runner: asyncio.Runner,
        gemini_cli: GeminiCliCore | None,
        size: int,
        what: str,
        block: Sequence[str],
    ) -> None:
        self._options, self._runner, self._gemini_cli, self._size = options, runner, gemini_cli, size
        self._what = what
        self._rounds = options.rounds(3 if size >= SIZES[-1] else 5)
        self._calls = max(1, 2_000 // size)
        """Calls that one figure of a round is the median of."""
        made = make_contents(size, block=block)
        self._data = json.dumps(made, ensure_ascii=False).encode()
        if gemini_cli is not None and gemini_cli.make(size, block) != fingerprint(made):
            raise AssertionError(f"{CORE} was given another conversation than ours")

    def findings(self) -> Iterator[Figure]:
        """Every figure."""
        contents = settled(partial(decode_contents, json.loads(self._data)))
        if not self._what:
            yield self._compared("split of bare contents", "split", lambda: find_split_point(contents, SPLIT_FRACTION))
            yield self._compared(
                "estimate, everything anew",
                "estimate",
                lambda: TokenLedger().totals(contents),
                note="a session estimates each content once, when it comes; Gemini CLI's counter goes by characters",
            )
        session = settled(partial(self._session, contents))
        firsts = [cost(partial(self._compress, session))]
        for _ in range(self._rounds - 1 if self._size < SIZES[-1] else 0):
            session = settled(partial(self._session, contents))
            firsts.append(cost(partial(self._compress, session)))
        rested: list[Cost] = []
        for _ in range(3 if self._size < SIZES[-1] else 1):
            session = settled(partial(self._rested, contents))
            rested.append(cost(partial(self._compress, session)))
        self._undo(session)
        again = self._timed(partial(self._compress, session), "compress", partial(self._undo, session))
        beyond = [self._beyond(contents) for _ in range(len(rested))]
        target, note = TARGETS.get(self._size), self._files("compress")
        yield from self._both("whole compression", again, target, note)
        yield from self._both("the first one in a session", {**again, OURS: firsts}, target)
        yield from self._both("the first one after a pause", {**again, OURS: rested}, target)
        name = f"the first one in a session, beyond a model that writes for {_WRITES_FOR:g} s a call"
        note = "what is hidden is looked through while the model writes"
        took = {who: [one.ms for one in costs] for who, costs in again.items()}
        yield self._figure(name, {**took, OURS: beyond}, note=note)
        del session
        cold = self._timed(self._cold, "cold", calls=1)
        yield from self._both("cold: JSON to compressed", cold, TARGET_OF_COLD if target else None)

    def _both(self, name: str, taken: Costs, target: float | None, note: str = "") -> Iterator[Figure]:
        """By the clock, and what it takes of the processor, which another program on the machine does not change."""
        yield self._figure(name, {who: [one.ms for one in costs] for who, costs in taken.items()}, target, note)
        used = {who: [one.processor for one in costs] for who, costs in taken.items()}
        yield self._figure(f"{name}, processor time", used)

    def _beyond(self, contents: list[Content]) -> float:
        """Milliseconds of the first one in a session without those that its model takes."""
        model = _WritingModel()
        session = settled(partial(self._session, contents, model))
        return cost(partial(self._compress, session)).ms - model.calls * _WRITES_FOR * 1_000

    def _session(self, contents: list[Content], model: InstantModel | None = None) -> Session:
        """A session that begins with these contents, as its client has it once it is open."""
        studio = Studio(Path(mkdtemp(dir=self._options.scratch)), model=cast("Any", model or InstantModel()))
        session = self._runner.run(studio.load(contents))
        studio.app.info(session)
        return session

    def _rested(self, contents: list[Content]) -> Session:
        """The same after a pause long enough to look through it, which it is from half of the trigger on."""
        session = self._session(contents)
        ahead = getattr(session.compressions, "ahead", None)  # an earlier commit does not look ahead
        if ahead is not None and ahead.task is not None:
            self._runner.run(_end_of(ahead.task))
        return session

    def _compress(self, session: Session) -> None:
        result = self._runner.run(compress(session, client=_CLIENT))
        assert result.status == "COMPRESSED", result.message

    def _undo(self, session: Session) -> None:
        self._runner.run(undo(session, client=_CLIENT))

    def _cold(self) -> None:
        self._compress(self._session(decode_contents(json.loads(self._data))))

    def _compared(self, name: str, theirs: str, ours: Callable[[], object], *, note: str = "") -> Figure:
        taken = self._timed(ours, theirs)
        return self._figure(name, {who: [one.ms for one in costs] for who, costs in taken.items()}, note=note)

    def _timed(
        self,
        ours: Callable[[], object],
        theirs: str,
        restore: Callable[[], object] | None = None,
        *,
        calls: int | None = None,
    ) -> Costs:
        """Each round, of ours and Gemini CLI's; `restore` runs untimed after each of our calls."""
        calls = calls or self._calls

        def measure() -> Cost:
            taken: list[Cost] = []
            for _ in range(calls):
                taken.append(cost(ours))
                if restore is not None:
                    restore()
            return _median(taken)

        contenders: dict[str, Callable[[], Cost]] = {OURS: measure}
        gemini_cli = self._gemini_cli
        if gemini_cli is not None:

            def measure_theirs() -> Cost:
                timed = gemini_cli.time(theirs, calls)
                return Cost(median(timed.ms), median(timed.processor))

            contenders[GEMINI_CLI] = measure_theirs
            gemini_cli.time(theirs, max(1, min(30, 10_000 // self._size)))  # for its compiler
        return interleaved(contenders, self._rounds)

    def _figure(self, name: str, taken: dict[str, list[float]], target: float | None = None, note: str = "") -> Figure:
        beside = median(taken[GEMINI_CLI]) if GEMINI_CLI in taken else None
        return Figure(
            bench=NAME,
            name=f"{name}, {self._size:,}{self._what}",
            value=median(taken[OURS]),
            unit="ms",
            beside=GEMINI_CLI if beside is not None else "",
            beside_value=beside,
            target=target if beside is not None else None,
            note=note,
        )

    def _files(self, name: str) -> str:
        if self._gemini_cli is None:
            return ""
        files = self._gemini_cli.time(name).files
        return f"Gemini CLI's time includes the {files:,} files that it writes for old tool outputs" if files else ""


class _WritingModel(InstantModel):
    """It writes for a while."""

    calls = 0

    async def generate(self, request: ModelRequest) -> ModelChunk:
        self.calls += 1
        await asyncio.sleep(_WRITES_FOR)
        return await super().generate(request)


async def _end_of(task: asyncio.Task[None]) -> None:
    await asyncio.wait({task})


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(median(one.ms for one in costs), median(one.processor for one in costs))
