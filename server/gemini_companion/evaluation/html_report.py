"""The report as one HTML file: charts drawn as SVG, styles inside, no script, nothing to load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from gemini_companion.evaluation.arms import ARMS
from gemini_companion.evaluation.charts import Bar, Line, bars, lines
from gemini_companion.evaluation.document import Document
from gemini_companion.evaluation.html_page import page, table
from gemini_companion.evaluation.script import Measured
from gemini_companion.evaluation.summary import Row
from gemini_companion.evaluation.text_report import COLUMNS, TITLES, Column, cell_text, interval, percent

_KINDS: Final = (
    ("probes.recall", "recall"), ("probes.artifact", "artifacts"), ("probes.decision", "decisions"),
    ("probes.continuation", "what to do next"), ("facts.directive", "directives"), ("facts.decision", "decisions said"),
    ("facts.task", "tasks"), ("facts.error", "errors"), ("facts.path", "paths"), ("facts.command", "commands"),
    ("facts.symbol", "symbols"), ("facts.url", "URLs"), ("facts.number", "numbers"),
)  # fmt: skip
_DRAWN_BY: Final[Mapping[Measured, Sequence[tuple[str, str]]]] = {
    "labels": (("labels.rules", "Rules in force, word for word"), ("labels.kept", "All labels, word for word")),
    "needed": (("needed.names", "Names needed next"), ("needed.values", "Values needed next")),
    "planted": (("rules", "The user's rules that still stand"), ("probes", "Planted facts that still stand")),
}
"""What is drawn over the passes, by grader."""
_DRAWN: Final = 8
"""Lines that one chart shows at most."""


def html_report(document: Document) -> str:
    """The whole page."""
    last = max(document.plan.passes)
    sections = [_summary(document, last)]
    shown: dict[tuple[Measured, str], None] = {(row.measured, row.summariser): None for row in document.rows}
    sections.extend(_section(document, measured, summariser, last) for measured, summariser in shown)
    if document.recall:
        sections.append(_recall(document))
    sections.append(_method(document))
    return page("What compressions keep", sections)


def _summary(document: Document, last: int) -> str:
    plan = document.plan
    missing = f" {document.cells_missing} more were planned and are missing." if document.cells_missing else ""
    faults = "".join(f"<li>{escape(fault)}</li>" for fault in document.faults)
    return (
        f"<p class='lead'>{len(document.conversations)} conversations of <b>{escape(document.corpus)}</b>,"
        f" {plan.seeds} seed{'s' if plan.seeds > 1 else ''}, {last} compression{'s' if last > 1 else ''} one after the"
        f" other: {document.cells:,} runs of the real application.{missing}</p>"
        + (f"<ul class='faults'>{faults}</ul>" if faults else "")
    )


def _section(document: Document, measured: Measured, summariser: str, last: int) -> str:
    rows = [row for row in document.rows if (row.measured, row.summariser) == (measured, summariser)]
    final = [row for row in rows if row.number == last]
    charts: list[str] = []
    for metric, title in _DRAWN_BY[measured]:
        if last > 1:
            charts.append(_figure(title, lines(_lines(rows, metric, document)), "after each number of compressions"))
        else:
            charts.append(_figure(title, bars(_bars(final, metric)), "the line is the 95 % interval"))
    if measured == "planted":
        charts.append(_figure("All facts of what is hidden", bars(_bars(final, "facts")), f"after {last}"))
    charts.append(_figure("Size of the request, of all that was said", bars(_bars(final, "of_said")), f"pass {last}"))
    return (
        f"<h2>{TITLES[measured]}, summariser <code>{escape(summariser)}</code></h2>"
        f"<div class='charts'>{''.join(charts)}</div>"
        + _table_of(rows, "All passes", COLUMNS[measured])
        + _kinds(final)
    )


def _figure(title: str, drawing: str, note: str) -> str:
    return f"<figure><figcaption>{escape(title)} <small>{escape(note)}</small></figcaption>{drawing}</figure>"


def _lines(rows: Sequence[Row], metric: str, document: Document) -> list[Line]:
    labels = list(dict.fromkeys(row.label for row in document.rows))
    found: list[Line] = []
    for place, label in enumerate(labels):
        points = [(row.number, value) for row in rows if row.label == label and (value := row.mean(metric)) is not None]
        if points and len(found) < _DRAWN:
            found.append(Line(label, place, tuple(points)))
    return found


def _bars(rows: Sequence[Row], metric: str) -> list[Bar]:
    return [
        Bar(row.label, found.mean, found.low, found.high, percent(found.mean))
        for row in rows
        if (found := row.metrics.get(metric)) is not None
    ]


def _table_of(rows: Sequence[Row], title: str, columns: Sequence[Column]) -> str:
    heading = ["arm", "pass", *(column.heading for column in columns), "undo"]
    body: list[list[str]] = []
    for row in rows:
        cells = [escape(row.label), str(row.number)]
        for column in columns:
            found = row.metrics.get(column.metric)
            shown = escape(cell_text(row, column))
            cells.append(f"{shown}<small>{escape(interval(found, column))}</small>" if found else shown)
        undo = row.undo_equal
        cells.append(f"{undo.kept}/{undo.of}" if undo else "–")
        body.append(cells)
    return f"<details open><summary>{escape(title)}</summary>{table(heading, body)}</details>"


def _kinds(rows: Sequence[Row]) -> str:
    """By kind of fact, after the last pass."""
    kinds = [(metric, name) for metric, name in _KINDS if any(metric in row.metrics for row in rows)]
    heading = ["arm", *(name for _, name in kinds)]
    body = [
        [
            escape(row.label),
            *(percent(value) if (value := row.mean(metric)) is not None else "–" for metric, _ in kinds),
        ]
        for row in rows
    ]
    return f"<details><summary>By kind, after the last pass</summary>{table(heading, body)}</details>"


def _recall(document: Document) -> str:
    drawn = [Bar(row.name, row.value, row.low, row.high, percent(row.value)) for row in document.recall]
    return f"<h2>Recall</h2><div class='charts'>{_figure('Found', bars(drawn), 'share of what was asked for')}</div>"


def _method(document: Document) -> str:
    arms = [ARMS[name] for name in document.plan.arms if name in ARMS]
    listed = "".join(f"<dt>{escape(arm.name)}</dt><dd>{escape(arm.description)}</dd>" for arm in arms)
    times = ", ".join(f"{escape(label)} {own:,.0f} ms" for label, own in document.own_ms.items())
    return f"""<h2>How to read this</h2>
<p>A conversation is compressed, goes on, is compressed again. What counts is the request that a model would get next: a
text stands there word for word, or it is lost.</p>
<p><b>Labels</b> are what people marked in a conversation: of rules, decisions, outcomes, tasks, findings and changes
that hold, those in the first 60 % of all that was said. <b>False rules</b>: of sentences that are no rule, those shown
as one in force. <b>Rules that ended, overturned, done</b>: of what has ended, what is gone or has behind it what ended
it. <b>Score</b> is the product's own, <b>kept</b> the share of labels. <b>Needed next</b>: identifiers, paths, numbers
and whole arguments that later calls and words of the model use and that stood only in the older part. Only compressions
that were installed count there.</p>
<p>Where something was <b>planted</b>, rules and facts stand in the conversation that occur nowhere else, and orders
that nobody may obey: in a tool's output, in a file, in the model's own words.</p>
<dl>{listed}</dl>
<p><b>Planted facts</b> are recalled values, files and symbols, decisions, next steps. <b>All facts</b> are those that
the product finds in what is hidden; <b>artifacts</b> the paths, symbols, URLs and commands among them. <b>Size</b> is
the request after a pass as a share of all that was said. <b>Pays after</b> is the number of turns until a pass has
saved what it cost, a cached token at a quarter of the price and a written one at eight times. <b>Undo</b>: runs in
which undoing everything brought back every byte. Small print is the 95 % interval of the mean, conversations drawn anew
with all their runs.</p>
<p class='fine'>Processor time of a pass, the stand-in included: {times}. Version {escape(document.product_version)},
method {document.method}. The same seeds give the same numbers.</p>"""
