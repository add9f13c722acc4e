"""`report SESSION -o FILE` and `sessions stats`, as a person types them, over a conversation that was replayed."""

from __future__ import annotations

import asyncio
import json
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.main import run
from gemini_companion.evaluation.session_report import MOST_CHARACTERS
from tests.support.replayed import replay

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>"
KEY = "AIza" + "SyD3x9Kq7Lm2Nw5Vb8Zt1Rf6Hg4Jp0Qc9Ws"
PROMPTS = [
    f"Prompt {number}: the parser in src/parse_{number}.py loses the last token of every line. " + "Look at it. " * 90
    for number in range(9)
]


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


def replayed(tmp_path: Path, prompts: list[str] = PROMPTS, *, title: str = "Mending the parser") -> str:
    return asyncio.run(replay(tmp_path, prompts, title=title))


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += attrs


def test_the_numbers_survive_the_process_and_those_of_the_page_are_the_same(
    tmp_path: Path, env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = replayed(tmp_path)
    assert run(["sessions", "stats", session_id, "--json"], env) == 0
    stats: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (stats["turns"], stats["compressions"]) == (9, 2)
    assert {row["purpose"] for row in stats["models"]} == {"answer", "compression", "title"}
    assert stats["tools"][0] | {"tokens": 0, "durationMs": 0} == {
        "name": "read_file", "calls": 9, "ok": 9, "declined": 0, "failed": 0, "durationMs": 0, "tokens": 0,
    }  # fmt: skip
    page = tmp_path / "report.html"
    assert run(["report", session_id, "-o", str(page)], env) == 0
    shown = page.read_text("utf-8")
    for number in (stats["promptTokens"], stats["calls"], stats["tokensSaved"]):
        assert f"<dd>{number:,}</dd>" in shown
    for one in stats["compressionList"]:
        assert f"{one['tokensBefore']:,}" in shown
    capsys.readouterr()
    assert run(["sessions", "stats", "--json"], env) == 0
    project = json.loads(capsys.readouterr().out)
    assert (project["promptTokens"], project["calls"]) == (stats["promptTokens"], stats["calls"])
    assert run(["sessions", "stats", session_id], env) == 0
    assert f"{stats['promptTokens']:,} tokens in" in capsys.readouterr().out


def test_a_key_where_a_prompt_is_cut_is_masked_before_the_cut(tmp_path: Path, env: dict[str, str]) -> None:
    session_id = replayed(tmp_path, [f"{'x ' * ((MOST_CHARACTERS - 20) // 2)}{KEY} and so on"])
    page = tmp_path / "report.html"
    assert run(["report", session_id, "-o", str(page), "--with-text"], env) == 0
    assert "x x x" in page.read_text("utf-8")
    assert KEY[:4] not in page.read_text("utf-8")


def test_the_page_stands_alone_and_has_no_text_of_the_chat_unless_it_is_wanted(
    tmp_path: Path, env: dict[str, str]
) -> None:
    session_id = replayed(tmp_path, [*PROMPTS, f"My key is {KEY}, and <b>bold</b> {HOSTILE}"])
    page = tmp_path / "report.html"
    assert run(["report", session_id, "-o", str(page)], env) == 0
    bare = page.read_text("utf-8")
    assert "loses the last token" not in bare
    assert "Mend the parser." not in bare, "the snapshot is text, too"
    assert run(["report", session_id, "-o", str(page), "--with-text"], env) == 0
    whole = page.read_text("utf-8")
    assert "loses the last token" in whole
    assert KEY not in whole
    assert "[masked: " in whole
    found = Elements(whole)
    assert not found.names & {"script", "img", "iframe", "link", "object", "b", "form"}
    assert "http:" not in whole
    assert "https:" not in whole
    assert "default-src &#x27;none&#x27;" in whole or "default-src 'none'" in whole


def test_hostile_titles_and_names_are_only_text(tmp_path: Path, env: dict[str, str]) -> None:
    session_id = replayed(tmp_path, title=HOSTILE + " " + KEY)
    page = tmp_path / "report.html"
    assert run(["report", session_id, "-o", str(page), "--with-text"], env) == 0
    shown = page.read_text("utf-8")
    found = Elements(shown)
    assert not found.names & {"script", "img", "iframe"}
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "&lt;script&gt;alert(1)" in shown
    assert KEY not in shown


def test_what_is_missing_is_said_with_what_to_do(
    tmp_path: Path, env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "-o", "x.html"], env) == 2
    assert "sessions list" in capsys.readouterr().err
    assert run(["report", "session-1"], env) == 2
    assert "-o FILE.html" in capsys.readouterr().err
    assert run(["report", "session-1", "-o", str(tmp_path / "x.html")], env) == 2
    assert "sessions list" in capsys.readouterr().err
    assert run(["sessions", "stats", "--json"], env) == 0
    assert json.loads(capsys.readouterr().out)["turns"] == 0
