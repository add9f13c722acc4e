"""`gemini-companion sessions stats`: what a session, or all of a folder's, did and cost."""

from __future__ import annotations

import sys

import msgspec

from gemini_companion.cli.terminal import on_one_line
from gemini_companion.evaluation.session_page import dollars, seconds
from gemini_companion.evaluation.text_report import aligned
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.statistics.shapes import Latency, Stats


async def print_stats(app: Application, client: Client, session_id: str | None, *, as_json: bool) -> None:
    """Print them as tables, or as one JSON object, as `gemini/stats` answers it."""
    if session_id is None:
        found = await app.statistics.of_project()
    else:
        found = await app.statistics.of_session(await app.load(client, session_id))
    sys.stdout.write((msgspec.json.encode(found).decode() if as_json else stats_text(found)) + "\n")


def stats_text(stats: Stats) -> str:
    """Tables for the terminal."""
    cost = dollars(stats.cost) + ("" if stats.is_cost_complete else " or more: some calls have no known price")
    whose = f"{stats.sessions:,} sessions, " if stats.session_id is None else ""
    lines = [
        f"{whose}{stats.turns:,} turns, {stats.calls:,} requests to models ({stats.failures:,} failed)",
        f"{stats.prompt_tokens:,} tokens in, {stats.cached_share:.0%} of them from the cache;"
        f" {stats.output_tokens:,} out, {stats.thought_tokens:,} of thoughts",
        f"{stats.compressions:,} compressions, which took off {stats.tokens_saved:,} tokens",
        f"cost by list prices of {stats.prices_as_of}: {cost}",
    ]
    if stats.unreadable:
        lines.append(f"{stats.unreadable:,} sessions could not be read and are left out")
    blocks = ["\n".join(lines)]
    if stats.models:
        heading = ["model", "for", "requests", "failed", "in", "cached", "out", "first word", "whole", "cost"]
        blocks.append(
            aligned(
                [
                    heading,
                    *(
                        [
                            on_one_line(row.model or "not told"),
                            row.purpose,
                            f"{row.calls:,}",
                            f"{row.failures:,}",
                            f"{row.prompt_tokens:,}",
                            f"{row.cached_tokens:,}",
                            f"{row.output_tokens + row.thought_tokens:,}",
                            _latency(row.first),
                            _latency(row.whole),
                            "not known" if row.cost is None else dollars(row.cost),
                        ]
                        for row in stats.models
                    ),
                ]
            )
        )
    if stats.tools:
        heading = ["tool", "calls", "done", "declined", "failed", "time", "tokens now"]
        rows = [
            [
                on_one_line(tool.name),
                f"{tool.calls:,}",
                f"{tool.ok:,}",
                f"{tool.declined:,}",
                f"{tool.failed:,}",
                seconds(tool.duration_ms),
                "–" if tool.tokens is None else f"{tool.tokens:,}",
            ]
            for tool in stats.tools
        ]
        blocks.append(aligned([heading, *rows]))
    return "\n\n".join(blocks)


def _latency(latency: Latency | None) -> str:
    return "–" if latency is None else f"{seconds(latency.median)} (95 %: {seconds(latency.p95)})"
