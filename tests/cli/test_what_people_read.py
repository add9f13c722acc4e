"""What the command line says: clear, on the right stream, before anything is paid for in vain."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run
from tests.support.emulator import Emulator


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


@pytest.fixture
def chat(tmp_path: Path) -> str:
    file = tmp_path / "chat.json"
    contents: list[dict[str, Any]] = []
    for number in range(8):
        contents += [
            {"role": "user", "parts": [{"text": f"{number} " + "word " * 200}]},
            {"role": "model", "parts": [{"text": "text " * 200}]},
        ]
    file.write_text(json.dumps(contents), "utf-8")
    return str(file)


@pytest.fixture
def small(tmp_path: Path) -> str:
    file = tmp_path / "small.json"
    file.write_text('[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"hello"}]}]', "utf-8")
    return str(file)


def test_without_a_key_it_is_said_who_writes_the_snapshot_and_how_to_change_that(
    environment: dict[str, str], chat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compress", chat], environment) == 0
    err = capsys.readouterr().err
    assert "built-in offline model" in err
    assert "GEMINI_API_KEY" in err
    assert run(["compress", chat], {**environment, "GEMINI_MODEL": "offline"}) == 0
    assert "GEMINI_API_KEY" not in capsys.readouterr().err, "whoever asked for it knows"


def test_a_broken_settings_file_is_told_beside_the_work_and_never_on_stdout_as_json(
    environment: dict[str, str],
    tmp_path: Path,
    chat: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"model": {"tokenLimit": "many"}}', "utf-8")
    for command in (["compress", chat], ["sessions", "list"]):
        assert run(command, environment) == 0
        err = capsys.readouterr().err
        assert "settings.json:1:12" in err
        assert "model.tokenLimit" in err
    assert run(["compress", chat, "--json"], environment) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "COMPRESSED"


def test_a_history_that_stays_is_not_reported_as_shrunk(
    environment: dict[str, str], small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compress", small], environment) == 0
    out = capsys.readouterr().out
    assert "as before" in out
    assert "→" not in out
    assert "kept" not in out


def test_an_automatic_run_that_is_not_due_says_what_it_would_take(
    environment: dict[str, str], chat: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compress", chat, "--auto"], environment) == 0
    assert "below the threshold of 524,288" in capsys.readouterr().out
    assert run(["compress", chat, "--auto", "--threshold", "1"], environment) == 0
    assert "automatic compression is off" in capsys.readouterr().out


@pytest.mark.parametrize("output", ["missing/new.json", "."])
def test_an_output_that_cannot_be_written_is_told_before_a_model_is_asked(
    environment: dict[str, str],
    tmp_path: Path,
    chat: str,
    output: str,
    emulator: Emulator,
    capsys: pytest.CaptureFixture[str],
) -> None:
    online = {**environment, "GEMINI_API_KEY": "key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
    assert run(["compress", chat, "--output", str(tmp_path / output)], online) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert not emulator.requests


def test_a_session_that_is_not_there_is_looked_for_in_the_right_folder(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for action in ("show", "export", "delete"):
        assert run(["sessions", action, "nope"], environment) == 2
        assert "sessions list" in capsys.readouterr().err
    assert run(["sessions", "list", "words that nobody said"], environment) == 0
    assert "holds these words" in capsys.readouterr().out


def test_what_a_model_said_cannot_steer_the_terminal(
    environment: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "evil \x1b[2J.json"
    said = "safe\x1b]0;owned\x07 \x9b31m \u202etxt.exe\r\nnext\tline"
    file.write_text(
        json.dumps([{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": said}]}]), "utf-8"
    )
    assert run(["sessions", "import", str(file)], environment) == 0
    imported = capsys.readouterr().out
    session_id = imported.split()[2].rstrip(":")
    assert run(["sessions", "list"], environment) == 0
    listed = capsys.readouterr().out
    assert run(["sessions", "show", session_id], environment) == 0
    shown = capsys.readouterr().out
    assert run(["tokens", str(tmp_path / "\x1b[2J")], environment) == 2
    complaint = capsys.readouterr().err
    for printed in (imported, listed, shown, complaint):
        assert not set(printed) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
    assert "next\tline" in shown
    assert len(listed.splitlines()) == 1
