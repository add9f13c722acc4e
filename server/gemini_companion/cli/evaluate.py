"""`gemini-companion eval`: measure what compressions keep and cost, on conversations of one's own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gemini_companion.cli.files import read_text, write_whole
from gemini_companion.cli.strategy_names import known_strategy
from gemini_companion.cli.terminal import on_one_line
from gemini_companion.engine.errors import CompanionError, InvalidInput
from gemini_companion.evaluation.arms import named_arm
from gemini_companion.evaluation.cell import CellResult
from gemini_companion.evaluation.conversations import load_corpora, sampled
from gemini_companion.evaluation.document import Document, document_of
from gemini_companion.evaluation.execution import ResultFolder, run_cells
from gemini_companion.evaluation.html_report import html_report
from gemini_companion.evaluation.plan import Plan, cells_of, parse_passes
from gemini_companion.evaluation.recall_rows import measure_recall, recall_lines
from gemini_companion.evaluation.script import MEASURED, Measured
from gemini_companion.evaluation.strategy_table import strategy_table, with_table
from gemini_companion.evaluation.summarisers.registry import identity_of, parse_summariser
from gemini_companion.evaluation.synthetic import synthetic_corpus
from gemini_companion.evaluation.text_report import aligned, table

INTERRUPTED = 130


def evaluate(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Run an evaluation, print its table, write its files. Returns the exit code."""
    plan = _plan(options)
    folders = [Path(name) for name in options.corpus]
    corpus = load_corpora(folders) if folders else synthetic_corpus()
    chosen = sampled(corpus, options.sample)
    models = {name: identity_of(parse_summariser(name), env) for name in plan.summarisers}
    cells = cells_of(plan, chosen, corpus, models)
    if not cells:
        raise InvalidInput(
            "None of these conversations can be measured so: they have no labels, or are too short for so many passes.",
            hint="With --measure planted any conversation will do.",
        )
    folder = Path(options.out) if options.out else None
    kept = ResultFolder(_made(folder) / "cells") if folder is not None else None
    progress = _Progress(len(cells))
    results: list[CellResult] = []
    interrupted = False
    try:
        running = run_cells(
            cells,
            corpus,
            env,
            kept=kept,
            resume=options.resume,
            processes=options.processes,
            ray=options.ray,
            tell=progress.tell,
        )
        for result in running:
            results.append(result)  # noqa: PERF402  an interrupt must leave what is done
    except KeyboardInterrupt:
        interrupted = True
        if kept is not None:  # one may have been written and not been told of
            results = [found for cell in cells if (found := kept.read(cell)) is not None]
    finally:
        progress.done()
    document = document_of(
        plan,
        results,
        corpus=", ".join(path.resolve().name for path in folders) or "synthetic",
        conversations=list(dict.fromkeys(cell.conversation for cell in cells)),
        planned=len(cells),
        recall=[row for path in folders for row in measure_recall(path)] if options.recall and not interrupted else (),
    )
    _show(document, folder, as_json=options.json)
    if options.table and not interrupted:
        write_whole(options.table, with_table(read_text(options.table), strategy_table(document)).encode())
    if interrupted:
        again = " With --resume the same command goes on from here." if folder else ""
        print(f"gemini-companion: Interrupted after {len(results)} of {len(cells)} runs.{again}", file=sys.stderr)
        return INTERRUPTED
    return 1 if document.cells_missing else 0


def _plan(options: argparse.Namespace) -> Plan:
    strategies = tuple(map(known_strategy, _listed(options.strategies)))
    if options.resume and not options.out:
        raise InvalidInput("--resume needs --out: the folder of the run that goes on.")
    if options.recall and not options.corpus:
        raise InvalidInput("--recall needs a corpus with questions: name its folder.")
    if options.table:
        with_table(read_text(options.table), "")  # before hours are spent on it
    return Plan(
        arms=tuple(named_arm(name).name for name in _listed(options.arms)),
        strategies=strategies,
        summarisers=tuple(dict.fromkeys(str(parse_summariser(text)) for text in _listed(options.summarisers))),
        seeds=options.seeds,
        replicates=options.replicates,
        passes=parse_passes(options.passes),
        measured=_measured(options),
    )


def _measured(options: argparse.Namespace) -> tuple[Measured, ...]:
    """The graders that a person names; in the built-in conversations something is planted."""
    if options.measure is None:
        return () if options.corpus else ("planted",)
    names = _listed(options.measure)
    found: tuple[Measured, ...] = tuple(name for name in MEASURED if name in names)
    if len(found) < len(names):
        raise InvalidInput(f"{options.measure!r} names no measure.", hint=f"Known: {', '.join(MEASURED)}.")
    return found


def _listed(text: str) -> tuple[str, ...]:
    """The words of a list with commas, each once. Raises `InvalidInput` for none."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not words:
        raise InvalidInput("A list is empty.", hint="Write names with commas between them.")
    return words


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CompanionError(f"{folder} cannot be made: {error.strerror or error}.") from None
    return folder


def _show(document: Document, folder: Path | None, *, as_json: bool) -> None:
    data = msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
    if folder is not None:
        (folder / "results.json").write_bytes(data)
        (folder / "report.html").write_text(html_report(document), encoding="utf-8")
    if as_json:
        sys.stdout.write(data.decode())
        return
    print(table(document.rows))
    if document.recall:
        print(f"\n{aligned(recall_lines(document.recall))}")
    for fault in document.faults:
        print(f"\nNot measured: {on_one_line(fault)}")
    if folder is not None:
        print(f"\nThe report: {folder / 'report.html'}")


class _Progress:
    """How many runs are done, on stderr: one changing line on a terminal, a line for each tenth elsewhere."""

    def __init__(self, planned: int) -> None:
        self._planned = planned
        self._on_terminal = sys.stderr.isatty()
        self._told = -1

    def tell(self, done: int, result: CellResult | None) -> None:
        """Show it."""
        if self._on_terminal:
            what = ""
            if result is not None:
                what = f"  {result.cell.arm} {result.cell.summariser} {result.cell.conversation}"
            sys.stderr.write(f"\r\x1b[K{done} of {self._planned} runs{what[:60]}")
            sys.stderr.flush()
            return
        tenth = 10 * done // max(1, self._planned)
        if tenth > self._told:
            self._told = tenth
            print(f"{done} of {self._planned} runs", file=sys.stderr)

    def done(self) -> None:
        """Remove the line."""
        if self._on_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
