"""One cell: a conversation, an arm, a strategy, a summariser, a seed. It runs from its parameters alone."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from gemini_companion import __version__
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.history.verdict import DEFAULT_STRATEGY
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.arms import Arm, named_arm
from gemini_companion.evaluation.baselines import BaselineSubject
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.grading import plain_contents
from gemini_companion.evaluation.measuring import TURNS, Measure, PassNumbers, net_tokens
from gemini_companion.evaluation.product import ProductSubject
from gemini_companion.evaluation.provider import EvaluationModel
from gemini_companion.evaluation.script import Measured, Script, build_script
from gemini_companion.evaluation.subject import Subject
from gemini_companion.evaluation.summarisers.registry import build_model, parse_summariser
from gemini_companion.evaluation.summarisers.writing import Adversarial
from gemini_companion.evaluation.virtual_clock import VirtualClock

METHOD: Final = 4
"""Rises with every change of the method, so that older results are not taken for newer ones."""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a cell. Together with the corpus they decide every number but times."""

    conversation: str
    """Its name."""
    digest: str
    """A hash of its contents and of its family's."""
    measured: Measured = "planted"
    """The grader, and with it the script: see `script`."""
    arm: str
    strategy: str
    """`""` for a baseline, which has none."""
    summariser: str
    seed: int
    replicate: int = 0
    passes: int
    model: str = ""
    """What the summariser's name stood for when it began, where that may be something else later: see `identity_of`."""

    @property
    def key(self) -> str:
        """A hash of parameters and version: the name of its result's file."""
        fields = msgspec.to_builtins(self)
        if not self.model:
            del fields["model"]  # as it was before there was one
        data = msgspec.json.encode((METHOD, __version__, fields))
        return hashlib.blake2b(data, digest_size=12).hexdigest()


class CellResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of a cell."""

    cell: Cell
    passes: tuple[PassNumbers, ...]
    undo_equal: bool | None = None
    """Whether undoing everything brought back all that was said, byte by byte; `None` where nothing was to undo."""
    own_ms: tuple[float, ...] = ()
    """Processor time of each compression in ms, summariser included; the one thing that differs from run to run."""
    fault: str = ""
    """What ended it early, as a sentence."""


class Workbench:
    """What the cells of one process share: the corpus, and what is known of its contents."""

    def __init__(self, corpus: Sequence[Conversation], env: Mapping[str, str]) -> None:
        self.corpus = {conversation.name: conversation for conversation in corpus}
        self.env = env
        self._ledger = TokenLedger()
        self._facts = FactCache()
        self._scripts: dict[tuple[str, Measured, int, int], Script] = {}

    def run(self, cell: Cell) -> CellResult:
        """Run a cell. Raises `CompanionError` for a summariser or a conversation that is not there."""
        return asyncio.run(self.measure(cell))

    async def measure(self, cell: Cell) -> CellResult:
        """The same, within a loop."""
        arm = named_arm(cell.arm)
        script = self._script(cell)
        targets: tuple[int, ...] = ()
        if arm.baseline in ("drop-oldest", "mask-only"):
            like = msgspec.structs.replace(cell, arm="full", strategy=DEFAULT_STRATEGY)
            targets = tuple(
                numbers.tokens_after for numbers in (await self._passes(like, named_arm("full"), script, ())).passes
            )
        return await self._passes(cell, arm, script, targets)

    def _script(self, cell: Cell) -> Script:
        conversation = self.corpus.get(cell.conversation)
        if conversation is None:
            raise InvalidInput(f"There is no conversation {cell.conversation}.")
        key = (cell.conversation, cell.measured, cell.seed, cell.passes)
        if key not in self._scripts:
            if len(self._scripts) >= 8:
                self._scripts.clear()
            self._scripts[key] = build_script(
                conversation,
                list(self.corpus.values()),
                measured=cell.measured,
                seed=cell.seed,
                passes=cell.passes,
                ledger=self._ledger,
            )
        return self._scripts[key]

    async def _passes(self, cell: Cell, arm: Arm, script: Script, targets: Sequence[int]) -> CellResult:
        clock = VirtualClock()
        spec = parse_summariser(cell.summariser)
        model = build_model(
            spec,
            script.planted,
            seed=f"{cell.seed}/{cell.replicate}/{cell.conversation}",
            ledger=self._ledger,
            wait=clock.pass_time,
            env=self.env,
        )
        subject: Subject
        if arm.baseline is not None:
            subject = BaselineSubject(arm.baseline, model, self._ledger, targets=targets)
        else:
            subject = await ProductSubject.open(model, clock, arm=arm, strategy=cell.strategy or DEFAULT_STRATEGY)
        measure = Measure(script, self._ledger, self._facts)
        passes: list[PassNumbers] = []
        own_ms: list[float] = []
        try:
            for number, stretch in enumerate(script.stretches, start=1):
                measure.said.extend(stretch)
                await subject.say(stretch)
                numbers, spent = await _one_pass(number, subject, model, measure, turns=TURNS / cell.passes)
                passes.append(numbers)
                own_ms.append(spent)
            undo_equal = await subject.undo_all()
        finally:
            await subject.close()
        return CellResult(cell=cell, passes=tuple(passes), undo_equal=undo_equal, own_ms=tuple(own_ms))


async def _one_pass(
    number: int, subject: Subject, model: EvaluationModel, measure: Measure, *, turns: float
) -> tuple[PassNumbers, float]:
    """The numbers of a pass, and its processor time in ms."""
    before = measure.tokens((await subject.request()).contents)
    calls, tokens_in, tokens_out = model.calls, model.tokens_in, model.tokens_out
    started = time.process_time()
    outcome = await subject.compress()
    own_ms = round(1000 * (time.process_time() - started), 1)
    request = await subject.request()
    after = measure.tokens(request.contents)
    spent_in, spent_out = model.tokens_in - tokens_in, model.tokens_out - tokens_out
    numbers = PassNumbers(
        number=number,
        status=outcome.status,
        shares=measure.shares(request, number),
        tokens_before=before,
        tokens_after=after,
        tokens_said=measure.tokens(measure.said),
        calls=model.calls - calls,
        tokens_in=spent_in,
        tokens_out=spent_out,
        net_tokens=net_tokens(before, after, tokens_in=spent_in, tokens_out=spent_out, turns=turns, outcome=outcome),
        virtual_ms=outcome.virtual_ms,
        retention=outcome.retention,
        appended=outcome.appended,
        unsupported=outcome.unsupported,
        invented=1 if Adversarial.INVENTED in plain_contents(request.contents) else None,
    )
    return numbers, own_ms
