"""The report of one session as a page that stands alone: no script, no network, light, dark and on paper."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Sequence
from html import escape

from gemini_companion.engine.ide_context.secrets import mask_secrets
from gemini_companion.evaluation.charts import Bar, bars
from gemini_companion.evaluation.html_page import page, table
from gemini_companion.evaluation.session_report import SessionReport, TurnRow
from gemini_companion.evaluation.window_chart import Area, Mark, areas
from gemini_companion.sessions.results import CompressionInfo
from gemini_companion.sessions.statistics.shapes import CompressionSums, Latency, RequestPoint, ToolSums

_PARTS = (
    ("system_instruction", "system instruction"),
    ("tools", "tool declarations"),
    ("environment", "environment"),
    ("memory", "memory"),
    ("constraints", "rules"),
    ("ide_context", "editor"),
    ("snapshot", "snapshots"),
    ("tool_outputs", "tool calls and outputs"),
    ("messages", "prompts and answers"),
)
_PLACES = (7, 4, 3, 5, 8, 6, 2, 1, 0)
"""Colours of the parts."""

_LISTED = 60
"""Rows of the table beside a chart, at most."""


def session_page(report: SessionReport) -> str:
    """The whole page."""
    stats = report.stats
    sections = [
        f"<p class='lead'>{_span(stats.started_at, stats.ended_at)} {_with(report)}</p>",
        _tiles(report),
        "<h2>The window over time</h2>" + _window(report),
        "<h2>What takes the space now</h2>" + _space(report),
        "<h2>Compressions</h2>" + _compressions(report),
        "<h2>Models, cache and cost</h2>" + _models(report),
        "<h2>Tools</h2>" + _tools(stats.tools),
        "<h2>Turns</h2>" + _turns(report),
        _method(report),
    ]
    return page(report.title, sections)


def _tiles(report: SessionReport) -> str:
    stats = report.stats
    cost = dollars(stats.cost) + ("" if stats.is_cost_complete else " or more")
    shown = (
        ("Turns", f"{stats.turns:,}"),
        ("Requests to models", f"{stats.calls:,}"),
        ("Tokens in", f"{stats.prompt_tokens:,}"),
        ("Tokens out", f"{stats.output_tokens + stats.thought_tokens:,}"),
        ("From the cache", f"{stats.cached_share:.0%}"),
        ("Compressions", f"{stats.compressions:,}"),
        ("Tokens they took off", f"{stats.tokens_saved:,}"),
        ("Cost by list prices", cost),
    )
    return (
        "<dl class='tiles'>" + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in shown) + "</dl>"
    )


def _window(report: SessionReport) -> str:
    points = report.points
    parts = [
        Area(label, place, [*(getattr(point.by_part, name) for point in points), getattr(report.now, name)])
        for (name, label), place in zip(_PARTS, _PLACES, strict=True)
    ]
    marks = [
        Mark(bisect_right([point.time for point in points], one.time), str(number), _told(one))
        for number, (one, _) in enumerate(report.compressions, start=1)
        if one.compression_id
    ]
    chart = areas(
        parts,
        told=f"Tokens of {len(points)} requests by part; now {report.now.total:,} of {report.token_limit:,}.",
        marks=marks,
        threshold=[*(point.compression_at for point in points), report.compression_at],
        ends="each request for an answer, in order; the last is the next one as it stands now",
    )
    cache = ""
    if any(point.cached_tokens for point in points):
        cache = _figure(
            "Found in the provider's cache",
            areas(
                [
                    Area("from the cache", 2, [point.cached_tokens for point in points]),
                    Area("sent fresh", 0, [max(0, point.tokens - point.cached_tokens) for point in points]),
                ],
                told=f"Of {len(points)} requests {report.stats.cached_share:.0%} came from the cache.",
            ),
        )
    return _figure("Tokens of each request, by part", chart) + _window_table(points) + cache


def _window_table(points: Sequence[RequestPoint]) -> str:
    step = max(1, -(-len(points) // _LISTED))
    body = [
        [clock(point.time), f"{point.tokens:,}", f"{point.cached_tokens:,}"]
        + [f"{getattr(point.by_part, name):,}" for name, _ in _PARTS]
        for point in points[::step]
    ]
    if not body:
        return ""
    every = "" if step == 1 else f", one in {step}"
    heading = ["sent at", "tokens", "cached", *(label for _, label in _PARTS)]
    return f"<details><summary>The numbers{every}</summary>{table(heading, body)}</details>"


def _space(report: SessionReport) -> str:
    whole = max(1, report.now.total)
    parts = sorted(((getattr(report.now, name), label) for name, label in _PARTS), reverse=True)
    drawn = [
        Bar(label, count / whole, count / whole, count / whole, f"{count / whole:.0%}")
        for count, label in parts
        if count
    ]
    return (
        f"<p>The next request has about {report.now.total:,} of {report.token_limit:,} tokens.</p><div class='charts'>"
        + _figure("By part", bars(drawn))
        + table(["part", "tokens", "share"], [[label, f"{count:,}", f"{count / whole:.1%}"] for count, label in parts])
        + "</div>"
    )


def _compressions(report: SessionReport) -> str:
    if not report.compressions:
        return "<p>Nothing was compressed yet.</p>"
    body: list[list[str]] = []
    details: list[str] = []
    for number, (one, info) in enumerate(report.compressions, start=1):
        kept = info.retention if info is not None else None
        status = (
            ("undone" if one.is_undone else "installed") if one.compression_id else one.status.lower().replace("_", " ")
        )
        label = f"<a href='#c{number}'>{number}</a>" if info is not None else str(number)
        body.append(
            [
                label,
                clock(one.time),
                status,
                f"{one.tokens_before:,}",
                f"{one.tokens_after:,}",
                f"{1 - one.tokens_after / one.tokens_before:.0%}" if one.tokens_before else "–",
                f"{kept.kept:,} of {kept.facts:,}" if kept is not None else "–",
                f"{one.model_calls:,}",
                seconds(one.duration_ms),
                dollars(one.cost),
            ]
        )
        if info is not None:
            details.append(_compression(number, info, with_text=report.with_text))
    heading = ["", "at", "status", "before", "after", "less", "facts kept", "requests", "took", "cost"]
    return table(heading, body) + "".join(details)


def _compression(number: int, info: CompressionInfo, *, with_text: bool) -> str:
    lines = [f"<p>{text(info.message)}</p>"] if info.message else []
    kept = info.retention
    if kept is not None:
        lines.append(
            f"<p>Of {kept.facts:,} facts that it hides, {kept.kept:,} stand in what takes their place"
            f" ({kept.appended:,} of them quoted behind the snapshot); {max(0, kept.facts - kept.kept):,} do not.</p>"
        )
        if kept.missing and with_text:
            lost = "".join(f"<li><small>{text(fact.kind)}</small> {text(fact.text)}</li>" for fact in kept.missing)
            lines.append(f"<p>Lost:</p><ul>{lost}</ul>")
    if with_text and info.snapshot:
        behind = f"\n\n{info.appendix}" if info.appendix else ""
        lines.append(f"<p>The snapshot:</p><pre dir='auto'>{text(info.snapshot + behind)}</pre>")
    elif info.snapshot:
        lines.append("<p class='fine'>Its text is left out; <code>--with-text</code> shows it.</p>")
    return f"<details id='c{number}'><summary>Compression {number}</summary>{''.join(lines)}</details>"


def _models(report: SessionReport) -> str:
    body = [
        [
            text(row.model or "not told"),
            row.purpose,
            f"{row.calls:,}",
            f"{row.failures:,}",
            f"{row.prompt_tokens:,}",
            f"{row.cached_tokens / row.prompt_tokens:.0%}" if row.prompt_tokens else "–",
            f"{row.output_tokens:,}",
            f"{row.thought_tokens:,}",
            _latency(row.first),
            _latency(row.whole),
            "not known" if row.cost is None else dollars(row.cost),
        ]
        for row in report.stats.models
    ]
    if not body:
        return "<p>No model was asked yet.</p>"
    heading = [
        "model",
        "for",
        "requests",
        "failed",
        "tokens in",
        "cached",
        "out",
        "thoughts",
        "first word",
        "whole",
        "cost",
    ]
    return table(heading, body) + "<p class='fine'>Times: the median, and the time that 95 % keep to.</p>"


def _tools(tools: Sequence[ToolSums]) -> str:
    if not tools:
        return "<p>No tool was called.</p>"
    body = [
        [
            text(tool.name),
            f"{tool.calls:,}",
            f"{tool.ok:,}",
            f"{tool.declined:,}",
            f"{tool.failed:,}",
            seconds(tool.duration_ms),
            f"{tool.tokens or 0:,}",
        ]
        for tool in tools
    ]
    by_time = _largest([(tool.name, tool.duration_ms, seconds(tool.duration_ms)) for tool in tools])
    by_tokens = _largest([(tool.name, tool.tokens or 0, f"{tool.tokens or 0:,}") for tool in tools])
    return (
        f"<div class='charts'>{_figure('By time', by_time)}{_figure('By tokens in the window now', by_tokens)}</div>"
        + table(["tool", "calls", "done", "declined", "failed", "time", "tokens now"], body)
    )


def _largest(rows: Sequence[tuple[str, int, str]]) -> str:
    most = max(1, *(value for _, value, _ in rows))
    ordered = sorted(rows, key=lambda row: -row[1])[:10]
    return bars([Bar(mask_secrets(name)[0], v / most, v / most, v / most, shown) for name, v, shown in ordered])


def _turns(report: SessionReport) -> str:
    if not report.turns:
        return "<p>Nothing was said yet.</p>"
    heading = ["turn", "begun", "took", "ended", "requests", "tools", "tokens in", "out", "cost"]
    if report.with_text:
        heading.append("prompt")
    left = f"<p>The first {report.turns_left_out:,} are left out.</p>" if report.turns_left_out else ""
    return left + table(heading, [_turn(row, with_text=report.with_text) for row in report.turns])


def _turn(row: TurnRow, *, with_text: bool) -> list[str]:
    cells = [
        str(row.number),
        clock(row.time),
        "–" if row.duration_ms is None else seconds(row.duration_ms),
        row.outcome,
        f"{row.requests:,}",
        f"{row.tools:,}",
        f"{row.prompt_tokens:,}",
        f"{row.output_tokens:,}",
        "–" if row.cost is None else dollars(row.cost),
    ]
    return [*cells, f"<div class='said' dir='auto'>{escape(row.text)}</div>"] if with_text else cells


def _method(report: SessionReport) -> str:
    masked = f" {report.masked:,} secrets were masked." if report.masked else ""
    return f"""<h2>How to read this</h2>
<p>Everything here is read from the session's own log on this machine. Tokens are those that the provider counted for
each request; their parts are shares of that by our estimate. Costs are list prices of {report.stats.prices_as_of}: no
plan, credit or discount is known here, and a model on this machine costs nothing. A session that was forked begins
where it was forked.{masked}</p>
<p class='fine'>Session <bdi>{escape(report.session_id)}</bdi>. Times are UTC.</p>"""


def _told(one: CompressionSums) -> str:
    return f"Compressed at {clock(one.time)}: {one.tokens_before:,} tokens before, {one.tokens_after:,} after"


def _figure(title: str, drawing: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawing}</figure>"


def text(value: str) -> str:
    """What a model, a tool or a file said, for the page: secrets masked, escaped, its direction kept to itself."""
    return f"<bdi>{escape(mask_secrets(value)[0])}</bdi>"


def dollars(cost: float) -> str:
    """A sum in US dollars: `$1.24`, `$0.0031`."""
    if 0 < cost < 0.0001:
        return "< $0.0001"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def seconds(ms: int) -> str:
    """A duration: `840 ms`, `12.4 s`, `3 min 20 s`."""
    if ms < 1_000:
        return f"{ms} ms"
    return f"{ms / 1_000:.1f} s" if ms < 60_000 else f"{ms // 60_000:,} min {ms // 1_000 % 60} s"


def clock(time: int) -> str:
    """A time as `2026-10-31 09:05`, in UTC."""
    try:
        return datetime.datetime.fromtimestamp(time / 1000, datetime.UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # an imported file may say anything
        return "unknown"


def _with(report: SessionReport) -> str:
    names = list(dict.fromkeys(row.model for row in report.stats.models if row.purpose == "answer" and row.model))
    return f"with {', '.join(map(text, names[:5]))}" if names else ""


def _span(start: int | None, end: int | None) -> str:
    return "Nothing yet" if start is None or end is None else f"{clock(start)} to {clock(end)}"


def _latency(latency: Latency | None) -> str:
    return "–" if latency is None else f"{seconds(latency.median)}<small>{seconds(latency.p95)}</small>"
