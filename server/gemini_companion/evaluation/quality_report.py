"""The quality report as text and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from gemini_companion.evaluation.charts import Bar, Line, bars, lines
from gemini_companion.evaluation.html_page import page
from gemini_companion.evaluation.html_page import table as html_table
from gemini_companion.evaluation.quality import Quality, QualityReport
from gemini_companion.evaluation.text_report import aligned, decimal, percent, whole

NOTHING = "Nothing was compressed yet in this folder's sessions."
_HEADING = ("compressed", "failed", "undone", "rating", "kept word for word", "size", "seconds", "calls")


def quality_text(report: QualityReport) -> str:
    """Tables for the terminal."""
    if not report.total.compressions and not report.total.failed:
        return NOTHING
    blocks = [
        aligned([[title, *_HEADING], *([row.name, *_numbers(row)] for row in rows)])
        for title, rows in _tables(report)
        if rows
    ]
    return f"{whole(report.sessions)} sessions of this folder.\n\n" + "\n\n".join(blocks)


def quality_page(report: QualityReport) -> str:
    """A page that stands alone."""
    if not report.total.compressions and not report.total.failed:
        return page("How good compressions were", [f"<p class='lead'>{NOTHING}</p>"])
    total = report.total
    sections = [
        f"<p class='lead'>{whole(total.compressions)} compressions in {whole(report.sessions)} sessions of this folder,"
        f" {whole(total.undone)} of them undone, {whole(total.ratings)} rated. Nothing of this left the machine.</p>",
        f"<div class='charts'>{_weeks(report.by_week)}{_strategies(report.by_strategy)}</div>",
    ]
    for title, rows in _tables(report):
        if rows:
            body = [[escape(row.name), *map(escape, _numbers(row))] for row in rows]
            sections.append(f"<h2>By {escape(title)}</h2>{html_table([title, *_HEADING], body)}")
    return page("How good compressions were", sections)


def _tables(report: QualityReport) -> list[tuple[str, Sequence[Quality]]]:
    return [
        ("strategy", report.by_strategy),
        ("strategy, automatic", report.by_strategy_automatic if len(report.by_strategy_automatic) > 1 else ()),
        ("week", report.by_week),
    ]


def _numbers(row: Quality) -> list[str]:
    rating = "–" if row.rating is None else f"{row.rating:.1f} of 5 ({row.ratings})"
    shares = ["–" if value is None else percent(value) for value in (row.retention, row.ratio)]
    others = ["–" if value is None else decimal(value) for value in (row.seconds, row.model_calls)]
    return [whole(row.compressions), whole(row.failed), whole(row.undone), rating, *shares, *others]


def _weeks(rows: Sequence[Quality]) -> str:
    numbered = list(enumerate(rows, start=1))
    found = [
        Line(label, place, tuple(points))
        for place, (label, points) in enumerate(
            (
                (
                    "kept word for word",
                    [(number, row.retention) for number, row in numbered if row.retention is not None],
                ),
                ("size afterwards", [(number, row.ratio) for number, row in numbered if row.ratio is not None]),
            )
        )
        if points
    ]
    note = f"from {rows[0].name} to {rows[-1].name}" if rows else ""
    return f"<figure><figcaption>Week by week <small>{escape(note)}</small></figcaption>{lines(found)}</figure>"


def _strategies(rows: Sequence[Quality]) -> str:
    drawn = [
        Bar(row.name, row.retention, row.retention, row.retention, percent(row.retention))
        for row in rows
        if row.retention is not None
    ]
    return f"<figure><figcaption>Kept word for word, by strategy</figcaption>{bars(drawn)}</figure>"
