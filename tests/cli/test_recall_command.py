"""`gemini-companion recall`, as a person types it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run

SAID: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "Where do the uploads go?"}]},
    {"role": "model", "parts": [{"text": "The uploader retries \x1b[31mseven times, then it gives up."}]},
]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """With one session, in the folder of the test."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    env = {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}
    file = tmp_path / "uploads.json"
    file.write_text(json.dumps({"history": SAID}), "utf-8")
    assert run(["sessions", "import", str(file)], env) == 0
    capsys.readouterr()
    return env


def test_recall_prints_what_was_said_with_its_session_and_turn(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["recall", "how often is uploading retried", "--json"], environment) == 0
    (hit, *_) = json.loads(capsys.readouterr().out)["hits"]
    assert hit["role"] == "model"
    assert run(["recall", "how often is uploading retried"], environment) == 0
    printed = capsys.readouterr().out
    assert hit["sessionId"] in printed
    assert hit["turnId"] in printed
    assert "seven times, then it gives up." in printed
    assert "\x1b" not in printed, "what a model said does not steer the terminal"


def test_recall_in_one_session_only(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recall", "uploader", "--session", "elsewhere"], environment) == 2
    assert "gemini-companion sessions list" in capsys.readouterr().err
    assert run(["recall", "uploader", "--json"], environment) == 0
    session_id = json.loads(capsys.readouterr().out)["hits"][0]["sessionId"]
    assert run(["recall", "uploader", "--session", session_id], environment) == 0


def test_what_was_never_said_and_what_is_no_question(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["recall", "marmot"], environment) == 0
    assert "Nothing of the kind was said" in capsys.readouterr().out
    assert run(["recall", " "], environment) == 2
    assert "nothing to look for" in capsys.readouterr().err
    for limit in ("0", "51", "many"):
        assert run(["recall", "x", "--limit", limit], environment) == 2
