"""What the command line says of how long sessions are kept."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


def chat_file(path: Path) -> str:
    said = (("user", "Mend it. " + "word " * 200), ("model", "Mended. " + "text " * 200))
    path.write_text(json.dumps([{"role": role, "parts": [{"text": text}]} for role, text in said * 2]), "utf-8")
    return str(path)


def test_the_list_says_what_a_session_takes_and_when_it_goes_and_one_that_is_kept_stays(
    tmp_path: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed() -> tuple[str, dict[str, Any]]:
        assert run(["sessions", "list"], environment) == 0
        shown = capsys.readouterr().out
        assert run(["sessions", "list", "--json"], environment) == 0
        (info,) = json.loads(capsys.readouterr().out)["sessions"]
        return shown, info

    monkeypatch.chdir(tmp_path)
    assert run(["sessions", "import", chat_file(tmp_path / "chat.json")], environment) == 0
    session_id = capsys.readouterr().out.split()[2].rstrip(":")
    shown, info = listed()
    assert info["size"] > 1000
    assert info["leavesAt"] - info["updatedAt"] == 37 * 86_400_000, "30 days and a week of grace"
    assert re.search(r" kB  goes \d{4}-\d\d-\d\d ", shown)
    assert run(["sessions", "keep", session_id], environment) == 0
    assert "stays" in capsys.readouterr().out
    shown, info = listed()
    assert (info["isKept"], "leavesAt" in info, "is kept" in shown) == (True, False, True)
    assert run(["sessions", "keep", session_id, "--off"], environment) == 0
    capsys.readouterr()
    assert "leavesAt" in listed()[1]
