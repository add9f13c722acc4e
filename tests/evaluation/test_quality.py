"""The report on real use: numbers of logs, by week and by strategy."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    CompressionResult,
    Entry,
    RatingEntry,
    UndoEntry,
)
from gemini_companion.engine.history.retention import Retention
from gemini_companion.evaluation.quality import quality_of
from gemini_companion.evaluation.quality_report import NOTHING, quality_page, quality_text
from tests.evaluation.test_reports import parsed

WEEK_47 = 1_795_305_600_000
"""Sunday, 22 November 2026, in ms."""
WEEK_48 = WEEK_47 + 86_400_000

_numbers = itertools.count(1)


def result(**changes: Any) -> CompressionResult:
    fields: dict[str, Any] = {
        "status": "COMPRESSED",
        "trigger": "manual",
        "original_token_count": 1_000,
        "new_token_count": 300,
        "token_count_source": "estimate",
        "model_calls": 2,
        "duration_ms": 4_000,
        "message": "",
        "retention": Retention(score=0.8, facts=10, kept=8),
        "strategy": "split",
    }
    return CompressionResult(**{**fields, **changes})


def stamp(time: int = WEEK_47) -> dict[str, Any]:
    number = next(_numbers)
    return {"id": f"e{number}", "seq": number, "time": time}


def compression(name: str, time: int = WEEK_47, *, from_file: bool = False, **changes: Any) -> CompressionEntry:
    return CompressionEntry(**stamp(time), compression_id=name, result=result(**changes), from_file=from_file)


def test_every_number_is_the_mean_of_what_was_measured() -> None:
    log: list[Entry] = [
        compression("a"),
        compression("b", new_token_count=500, duration_ms=8_000, retention=Retention(score=0.6), model_calls=4),
        compression("c", retention=None, duration_ms=6_000),
        RatingEntry(**stamp(), compression_id="a", rating=1),
        RatingEntry(**stamp(), compression_id="a", rating=5),
        RatingEntry(**stamp(), compression_id="b", rating=2),
        UndoEntry(**stamp(), undone=("b",), result=result(status="UNDONE")),
        AttemptEntry(**stamp(), result=result(status="COMPRESSION_FAILED_EMPTY_SUMMARY"), forced=True, token_count=9),
    ]
    total = quality_of([log]).total
    assert (total.compressions, total.failed, total.undone) == (3, 1, 1)
    assert (total.ratings, total.rating) == (2, 3.5)  # the newest rating of each
    assert total.retention == 0.7
    assert total.ratio == pytest.approx((0.3 + 0.5 + 0.3) / 3, abs=1e-4)
    assert total.seconds == 6.0
    assert total.model_calls == pytest.approx(8 / 3, abs=1e-4)


def test_weeks_and_strategies_are_told_apart() -> None:
    log: list[Entry] = [
        compression("a"),
        compression("b", WEEK_48, strategy="reserve", trigger="auto"),
        compression("c", WEEK_48, strategy=None, trigger="auto"),
        compression("d", WEEK_48, status="CONTENT_TRUNCATED", strategy=None, trigger="auto"),
    ]
    report = quality_of([log])
    assert [(row.name, row.compressions) for row in report.by_week] == [("2026-W47", 1), ("2026-W48", 3)]
    assert [(row.name, row.compressions) for row in report.by_strategy] == [
        ("outputs only", 1),
        ("reserve", 1),
        ("split", 2),
    ]
    assert [row.name for row in report.by_strategy_automatic] == ["outputs only", "reserve", "split"]


def test_what_a_fork_has_copied_counts_once_with_what_was_said_of_it_in_either() -> None:
    first: list[Entry] = [compression("a"), UndoEntry(**stamp(), undone=("a",), result=result(status="UNDONE"))]
    fork: list[Entry] = [first[0], RatingEntry(**stamp(), compression_id="a", rating=4)]
    report = quality_of([first, fork])
    assert (report.sessions, report.total.compressions) == (2, 1)
    assert (report.total.undone, report.total.rating) == (1, 4.0)


def test_what_came_with_an_imported_file_was_no_compression_here() -> None:
    assert quality_of([[compression("a", from_file=True)]]).total.compressions == 0


@pytest.mark.parametrize("time", [-(2**62), 2**62, -1, 0])
def test_a_time_that_no_calendar_has_is_a_week_of_its_own(time: int) -> None:
    (week,) = quality_of([[compression("a", time)]]).by_week
    assert week.name in ("unknown", "1970-W01")


def test_the_page_stands_alone_and_the_text_has_every_table() -> None:
    log: list[Entry] = [compression("a", trigger="auto"), compression("b", WEEK_48, strategy="reserve", trigger="auto")]
    report = quality_of([log])
    found = parsed(quality_page(report))
    assert not {"script", "link", "img"} & set(found.seen)
    text = quality_text(report)
    assert [text.count(title) for title in ("strategy  ", "strategy, automatic", "week  ")] == [1, 1, 1]
    assert "2026-W48" in text
    assert "2026-W48" in " ".join(found.text)


def test_a_folder_without_compressions_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    env = {"HOME": str(tmp_path), "COMPANION_DATA_DIR": str(tmp_path / "data")}
    assert run(["report"], env) == 0
    assert capsys.readouterr().out.strip() == NOTHING
    parsed(quality_page(quality_of([])))


async def a_compressed_session(folder: Path, data: Path) -> None:
    from gemini_companion.adapters.clock import SystemClock
    from gemini_companion.adapters.storage.project import project_key
    from gemini_companion.adapters.storage.store import open_store
    from gemini_companion.sessions.ports import SessionMeta

    store = open_store(data, project_key([str(folder)]), clock=SystemClock())
    meta = SessionMeta(session_id="s1", title="", model="", created_at=WEEK_47, updated_at=WEEK_47)
    entry = CompressionEntry(id="e1", seq=1, time=WEEK_47, compression_id="a", result=result())
    rating = RatingEntry(id="e2", seq=2, time=WEEK_47, compression_id="a", rating=4)
    await store.create(meta, (entry, rating))
    await store.close()


def test_the_command_reads_the_folders_sessions_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import asyncio

    monkeypatch.chdir(tmp_path)
    asyncio.run(a_compressed_session(tmp_path, tmp_path / "data"))
    env = {"HOME": str(tmp_path), "COMPANION_DATA_DIR": str(tmp_path / "data")}
    page = tmp_path / "quality.html"
    assert run(["report", "--json", "--html", str(page)], env) == 0
    first = json.loads(capsys.readouterr().out)
    assert (first["total"]["compressions"], first["total"]["rating"]) == (1, 4.0)
    assert "2026-W47" in " ".join(parsed(page.read_text("utf-8")).text)
    assert run(["report", "--json"], env) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert run(["report", "--html", str(tmp_path / "missing" / "q.html")], env) == 1
