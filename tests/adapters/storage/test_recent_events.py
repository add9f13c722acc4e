"""The last events of a daemon are in a file while it runs, and after it was killed; they hold no text."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage.recent import FILES, LINES, RecentFile, read_recent
from gemini_companion.sessions.observing.records import Noted, TurnBegan
from gemini_companion.sessions.observing.ring import KEPT

KEY = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"


def noted(number: int) -> Noted:
    return Noted(time=number, session_id="s", event="modeChanged")


def write(directory: Path, *records: Any) -> None:
    recent = RecentFile(directory, {"version": "1"})
    recent.start()
    for record in records:
        recent.take(record)
    recent.close()


def test_the_last_events_are_read_back_in_order_and_without_texts(tmp_path: Path) -> None:
    began = TurnBegan(time=1, session_id="s", model="m", prompt_length=3, texts={"prompt": "planted"})
    write(tmp_path / "recent", *map(noted, range(KEPT + 20)), began)
    (found,) = read_recent(tmp_path / "recent")
    assert [event["time"] for event in found.events] == [*range(21, KEPT + 20), 1]
    assert (found.about["version"], found.is_running) == ("1", True)
    (file,) = (tmp_path / "recent").iterdir()
    assert b"planted" not in file.read_bytes()
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)


def test_warnings_are_kept_with_where_they_come_from_and_without_secrets(tmp_path: Path) -> None:
    logger = logging.getLogger("gemini_companion.test")
    recent = RecentFile(tmp_path, {})
    recent.start()
    for number in range(LINES):
        logger.warning("number %d", number)
    logger.info("not kept")
    try:
        int(KEY)
    except ValueError:
        logger.exception("It failed with %s %s", KEY, "x" * 5_000)
    logger.error("%d arguments too few")
    recent.close()
    logger.warning("after the end")
    (found,) = read_recent(tmp_path)
    assert [line["message"] for line in found.lines][:2] == ["number 2", "number 3"]
    failed, last = found.lines[-2:]
    assert (failed["error"], failed["level"]) == ("ValueError", "ERROR")
    assert "test_warnings_are_kept" in failed["at"][0]
    assert "[masked: Google API key]" in failed["message"]
    assert KEY not in next(tmp_path.iterdir()).read_text("utf-8")
    assert last["message"] == "%d arguments too few"


def test_only_the_newest_files_of_dead_daemons_are_kept(tmp_path: Path) -> None:
    for number in range(FILES + 3):
        (tmp_path / f"{number:015d}-1.recent").write_bytes(b'{"process": {"machine": "m"}}\n')
    write(tmp_path)
    assert len(list(tmp_path.iterdir())) == FILES


@pytest.mark.parametrize("data", [b"", b"\xff" * 5_000, b"[]\n", b'{"process": 1}\n' + b'{"n": "x", "event": 3}' * 100])
def test_a_file_of_anything_is_read_or_left_out(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "1-1.recent").write_bytes(data)
    (tmp_path / "2-1.recent").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "3-1.recent")
    for found in read_recent(tmp_path):
        assert (found.events, found.lines) == ([], [])


def test_where_nothing_can_be_written_nothing_is_and_nobody_waits(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    write(tmp_path / "file" / "recent", noted(1))
    assert read_recent(tmp_path / "file" / "recent") == []
