"""`server/PERFORMANCE.md` and its picture, made of a stored run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.performance.comparing import described
from tests.performance.curves import Curve, curves
from tests.performance.drawing import drawn, spoken
from tests.performance.figures import BUSY, Figure, Finding, Skipped, number, quantity
from tests.performance.runs import Run

MEASURED: Final = Path(__file__).with_name("measured.json")
"""The run that the page in the repository shows."""
PAGE: Final = "PERFORMANCE.md"
PICTURE: Final = "performance.svg"
PEER: Final = "Gemini CLI's published core"

_HEAD: Final = """\
<!-- Made by `make bench-page` of tests/performance/measured.json. Do not edit: change tests/performance/page.py. -->

# Performance

What people wait for, measured. Less is better everywhere but where the unit is `/s`.
"""
_BUSY: Final = """\
**Others had the machine while this was measured.** Times are longer by as much, rows that did not fit are missing, and only ratios say
something. To be measured once more where nothing else runs: `make bench-page`.\
"""
_READING: Final = """\
## How to read it

- **ours** is the median of as many rounds as stand behind it; ± is half the distance between their quartiles. **reference** was measured in the same
  run, in turns with ours; **ratio** is ours over it. A **target** bounds the ratio where there is a reference, else the value.
- A time is one machine's. A ratio says more: both sides met the same machine in the same minute. **~** marks rows beside which others had more than {busy}
  of the processors: there, read nothing but ratios.
- "Peer" and "Gemini CLI" are its public npm packages, fetched for the measurement alone and run as they are. Models answer at once on both sides: what is
  left is the program's own time.
- A *content* is one message of a chat, a prompt, an answer, a call or its result, here of 1,000 characters (400 where turns and a day's work
  are measured).
- The charts have contents from left to right; both axes are logarithmic. Where time grows as the chat does, a curve climbs by one line of the grid for
  each step to the right; a flat one does not grow. The rows of *growth* are that slope, the power of the number of contents that time grows by.

## How to repeat it

```sh
make bench                                                    # the table; ten minutes; nothing else should run meanwhile
.venv/bin/python -m tests.performance --only stored           # one benchmark, with fifteen minutes of its own, the largest sizes too
.venv/bin/python -m tests.performance --thorough              # all of them so; an hour
.venv/bin/python -m tests.performance --save before.json      # keep a run …
.venv/bin/python -m tests.performance --compare before.json   # … and set another beside it
.venv/bin/python -m tests.performance --against HEAD~20       # an earlier commit and this tree in turns
.venv/bin/python -m tests.performance.soak                    # five thousand turns with sixty compressions
make bench-page                                               # measure on a machine that does nothing else, and write this page
```

A comparison calls a row *better* or *worse* only if it changed by more than the rounds of both runs differ among themselves, and never by less than 5 %. Where
the machines differ it compares ratios alone. A benchmark beside which others had more than {busy} of the processors is measured once more, and the
quieter of the two counts. `--check` ends with 1 if a target is missed or a row became worse.
"""


def write(run: Run, folder: Path) -> list[Path]:
    """Write both files; their paths."""
    files = {folder / PAGE: text_of(run), folder / PICTURE: picture_of(run)}
    for path, text in files.items():
        path.write_text(text, "utf-8")
    return list(files)


def picture_of(run: Run) -> str:
    """The SVG."""
    return drawn(curves(run.figures), peer=PEER)


def text_of(run: Run) -> str:
    """The Markdown."""
    lines = [_HEAD, f"Measured: {_plain(described(run))}.", ""]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(run.machine.versions.items()))
    lines += [f"With {_plain(versions)}. All of it took {run.seconds / 60:.0f} minutes.", ""]
    if run.others is None or run.others > BUSY:
        lines += [_BUSY, ""]
    lines += ["## Over the length of a chat", "", f"![Time over the number of contents of a chat]({PICTURE})", ""]
    lines += [*_sizes(curves(run.figures)), ""]
    lines += [_READING.format(busy=f"{BUSY:.0%}"), "## Everything", ""]
    judged = [figure.verdict for figure in run.figures if figure.verdict]
    lines += [f"{judged.count('yes')} of {len(judged)} targets are met.", ""]
    for bench in dict.fromkeys(finding.bench for finding in run.findings):
        lines += [*_bench(bench, run), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _sizes(found: Sequence[Curve]) -> Iterator[str]:
    """The points of the curves, a line each."""
    sizes = sorted({point.contents for curve in found for point in curve.points})
    yield f"| contents | {' | '.join(f'{size:,}' for size in sizes)} |"
    yield f"| --- | {' | '.join('---:' for _ in sizes)} |"
    for curve in found:
        ours = {point.contents: point.ours for point in curve.points}
        peer = {point.contents: point.peer for point in curve.points if point.peer}
        for name, values in ((curve.title, ours), (f"{curve.title}, {PEER}", peer)):
            if values:
                yield f"| {name} | {' | '.join(spoken(values[size]) if size in values else '' for size in sizes)} |"


def _bench(bench: str, run: Run) -> Iterator[str]:
    findings: list[Finding] = [finding for finding in run.findings if finding.bench == bench]
    took = next((took for took in run.benches if took.name == bench), None)
    others = "" if took is None or took.others is None else f"; others had {took.others:.0%} of the processors"
    yield f"### {bench}"
    yield ""
    if took is not None:
        yield f"{took.seconds:.0f} seconds{others}{', the quieter of two tries' if took.tries > 1 else ''}."
        yield ""
    figures = [finding for finding in findings if isinstance(finding, Figure)]
    if figures:
        yield "| | ours | ± | reference | | ratio | target | met | |"
        yield "| --- | ---: | ---: | --- | ---: | ---: | ---: | --- | --- |"
        yield from (f"| {' | '.join(map(_plain, _cells(figure)))} |" for figure in figures)
    skipped = [finding for finding in findings if isinstance(finding, Skipped)]
    notes = dict.fromkeys(f"{figure.name}: {figure.note}" for figure in figures if figure.note)
    below = [*(f"- Not measured: {one.name}: {one.reason}." for one in skipped), *(f"- {note}." for note in notes)]
    if below:
        yield ""
        yield from map(_plain, below)


def _cells(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        quantity(figure.value, figure.unit),
        "" if figure.spread is None else number(figure.spread),
        figure.beside,
        "" if figure.beside_value is None else quantity(figure.beside_value, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.3g}",
        figure.bound,
        figure.verdict,
        "~" if figure.is_busy else "",
    )


def _plain(text: str) -> str:
    """As Markdown shows it."""
    return text.replace("|", "\\|").replace("<", "&lt;")
