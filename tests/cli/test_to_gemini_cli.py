"""A session is written where Gemini CLI lists it, under the name that it looks for."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.gemini_cli_folder import chats_folder, file_name
from gemini_companion.cli.main import run
from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.interchange import decode_session_file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "My Shop").mkdir()
    return tmp_path / "My Shop"


def known(home: Path, projects: dict[str, Any]) -> None:
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "projects.json").write_text(json.dumps({"projects": projects}), "utf-8")


def owned(home: Path, slug: str, owner: str) -> None:
    (home / ".gemini" / "tmp" / slug).mkdir(parents=True)
    (home / ".gemini" / "tmp" / slug / ".project_root").write_text(owner, "utf-8")


def slug_of(home: Path, project: Path | str) -> str:
    return chats_folder(home, {}, str(project)).parent.name


def test_an_exported_session_lies_where_gemini_cli_lists_it_and_comes_back_equal(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(project)
    environment = {"HOME": str(home), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}
    history = [{"role": "user", "parts": [{"text": "Mend it."}]}, {"role": "model", "parts": [{"text": "Done."}]}]
    (tmp_path / "chat.json").write_text(json.dumps(history), "utf-8")
    assert run(["sessions", "import", str(tmp_path / "chat.json")], environment) == 0
    session_id = capsys.readouterr().out.split()[2].rstrip(":")
    assert run(["sessions", "export", session_id, "--to-gemini-cli"], environment) == 0
    told = capsys.readouterr().out
    (file,) = (home / ".gemini" / "tmp" / "my-shop" / "chats").iterdir()
    assert str(file) in told
    read = decode_session_file(file.read_bytes(), file.name)
    assert f"gemini --resume {read.session_id}" in told
    assert len(read.contents) == 2
    assert read.session_id is not None
    assert file.name.startswith("session-2")
    assert file.name.endswith(f"-{read.session_id[:8]}.json")
    assert read.session_id.replace("-", "") == session_id.removeprefix("session-")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (file.parents[1] / ".project_root").read_text("utf-8") == os.path.realpath(project)
    assert run(["sessions", "export", session_id, "--to-gemini-cli"], environment) == 0
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_the_slug_that_gemini_cli_has_given_a_project_is_taken(home: Path, project: Path) -> None:
    known(home, {str(project): "shop-7", "/other": "my-shop"})
    assert slug_of(home, project) == "shop-7"


def test_a_folder_that_names_the_project_as_its_owner_is_taken(home: Path, project: Path) -> None:
    owned(home, "older-name", str(project))
    assert slug_of(home, project) == "older-name"


def test_a_slug_of_another_project_is_left_alone(home: Path, project: Path) -> None:
    known(home, {"/other": "my-shop"})
    owned(home, "my-shop-1", "/elsewhere/my shop")
    assert slug_of(home, project) == "my-shop-2"
    assert slug_of(home, project) == "my-shop-2"


@pytest.mark.parametrize(
    "projects", ["../../../etc", "", ".", "a/b", "A", 5, None, {"x": 1}, "a" * 300], ids=lambda value: str(value)[:12]
)
def test_a_slug_that_is_none_is_not_followed(home: Path, project: Path, projects: object) -> None:
    known(home, {str(project): projects})
    assert slug_of(home, project) == "my-shop"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"projects": []}', "[" * 100_000, "\xff"])
def test_a_list_of_projects_that_cannot_be_read_is_as_none(home: Path, project: Path, text: str) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "projects.json").write_text(text, "latin-1")
    assert slug_of(home, project) == "my-shop"


@pytest.mark.parametrize(("path", "slug"), [("/", "project"), ("/日本", "project"), ("/w/__a..B__", "a-b")])
def test_a_project_without_a_slug_gets_one_of_its_name(home: Path, path: str, slug: str) -> None:
    assert slug_of(home, path) == slug


def test_gemini_cli_home_stands_for_the_home(home: Path, project: Path, tmp_path: Path) -> None:
    folder = chats_folder(home, {"GEMINI_CLI_HOME": str(tmp_path / "else")}, str(project))
    assert folder == tmp_path / "else" / ".gemini" / "tmp" / "my-shop" / "chats"


def test_a_home_that_cannot_be_written_is_said_with_what_to_do(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(CompanionError, match="cannot be used") as caught:
        chats_folder(tmp_path / "file", {}, str(project))
    assert "--to-gemini-cli" in (caught.value.hint or "")


@pytest.mark.parametrize("time", [-1, 0, 1_767_225_600_123, 2**62])
def test_a_file_name_has_the_time_in_utc_and_no_separators_of_paths(time: int) -> None:
    name = file_name("../../etc", time)
    assert "/" not in name
    assert name.endswith("-______et.json")
