"""Tokens that a long agent run sends in all, with outputs of up to 10 MB, beside the same run by Gemini CLI.

What each rule of ours saves is measured by leaving it out. One was tried and is not there: naming a command's output that
is word for word an earlier one, as is done for files, keeps that earlier one in view and so cost 0.6 % more.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final
from unittest.mock import patch

from gemini_companion.engine.tool_output import cutting, masking
from tests.performance.agent_peer import ModelledPeer, PublishedPeer, run_peer
from tests.performance.agent_run import LARGEST, Outcome, Turn, made_turns, run_ours, script_of, turns_of_corpus
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.gemini_cli import CORE, Unavailable
from tests.performance.options import ROOT, Options

NAME: Final = "outputs"
TARGET: Final = 0.5
ROUNDS: Final = 200
GEMINI_CLI: Final = "Gemini CLI"


_RULES: Final[tuple[tuple[str, ModuleType, str, object], ...]] = (
    ("less room for lines that are alike", cutting, "ALIKE_SHARE", 2.0),
    ("less protection of finished turns", masking, "FINISHED_SHARE", 1.0),
    ("masking what the same call gave before", masking, "superseded", lambda *_: frozenset[object]()),
)
"""Each rule, and what switches it off."""


def run(options: Options) -> Iterator[Finding]:
    """Tokens sent, and the largest request, on both sides. Raises `AssertionError` if our application sent what no model
    accepts.
    """
    turns = turns_of_corpus(Path(os.environ.get("COMPANION_CORPUS") or ROOT.parent / "shared" / "corpus"))
    if options.quick:
        turns = made_turns(5)
    if not turns:
        reason = "no conversations are here: let COMPANION_CORPUS name their folder"
        yield Skipped(bench=NAME, name="tokens sent", reason=reason)
        return
    rounds, largest = (20, 200_000) if options.quick else (ROUNDS, LARGEST)
    script = script_of(turns, rounds=rounds, largest=largest)
    options.tell(f"{rounds} rounds, {sum(len(step.output) for turn in script for step in turn.rounds):,} characters")
    ours, surroundings = asyncio.run(run_ours(options.scratch, script))
    if ours.faults:
        raise AssertionError("; ".join(ours.faults[:5]))
    theirs, how = _theirs(options, script, surroundings)
    yield Figure(
        bench=NAME,
        name=f"tokens sent in {rounds} rounds",
        value=ours.sent,
        unit="",
        beside=GEMINI_CLI,
        beside_value=theirs.sent,
        target=TARGET,
        note=(
            f"requests {ours.requests:,} and {theirs.requests:,}, compressions {ours.compressions} and "
            f"{theirs.compressions}; {how}; both counted by our counter"
        ),
    )
    yield Figure(
        bench=NAME,
        name="the largest request",
        value=ours.largest,
        unit="tokens",
        beside=GEMINI_CLI,
        beside_value=theirs.largest,
    )
    if options.thorough:
        yield from _without(options, script, ours.sent)


def _without(options: Options, script: Sequence[Turn], with_all: int) -> Iterator[Figure]:
    """What each rule of ours saves: the same run with that rule alone switched off."""
    for number, (name, module, attribute, value) in enumerate(_RULES):
        options.tell(f"without {name}")
        folder = options.scratch / f"without-{number}"
        folder.mkdir()
        with patch.object(module, attribute, value):
            outcome, _ = asyncio.run(run_ours(folder, script))
        yield Figure(
            bench=NAME,
            name=f"without {name}",
            value=outcome.sent,
            unit="",
            note=f"{outcome.sent / with_all - 1:+.1%} of what is sent with it",
        )


def _theirs(options: Options, script: Sequence[Turn], surroundings: int) -> tuple[Outcome, str]:
    """What Gemini CLI sent, and how that is known."""
    if options.quick:
        return run_peer(script, ModelledPeer(), surroundings=surroundings), "its rules are modelled"
    try:
        with PublishedPeer(options) as peer:
            outcome = run_peer(script, peer, surroundings=surroundings)
            return outcome, f"its cuts, masks and compression are run as {CORE} has them"
    except Unavailable as error:
        outcome = run_peer(script, ModelledPeer(), surroundings=surroundings)
        return outcome, f"its rules are modelled, for its code is not to be had: {error}"
