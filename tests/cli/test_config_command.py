"""`gemini-companion config`, as a person types it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gemini_companion.cli.config import command_line_of
from gemini_companion.cli.main import run

COMMENTED = '{ // mine\n  "model": {\n    "name": "x" // why\n  }\n}\n'


class Terminal:
    """A person in a folder, with a home."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.folder = root / "home", root / "work"
        self.mine, self.theirs = (place / ".gemini/settings.json" for place in (self.home, self.folder))
        for file in (self.mine, self.theirs):
            file.parent.mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(root / "etc/settings.json"),
        }
        self._capsys = capsys

    def types(self, *words: str) -> tuple[int, str, str]:
        code = run(["config", *words], self.env)
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err

    def trust(self) -> None:
        self.mine.write_text(json.dumps({"companion": {"trustedFolders": [str(self.folder)]}}), "utf-8")


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    found = Terminal(tmp_path, capsys)
    monkeypatch.chdir(found.folder)
    return found


def test_every_setting_is_listed_with_what_is_in_force_and_where_from(terminal: Terminal) -> None:
    terminal.mine.write_text(COMMENTED, "utf-8")
    code, out, _ = terminal.types("list")
    assert code == 0
    assert f"x  (user, {terminal.mine}:3)" in out
    assert "0.5  (default)" in out
    listed = json.loads(terminal.types("list", "--json")[1])["settings"]
    (name,) = [one for one in listed if one["key"] == "model.name"]
    assert (name["value"], name["layer"], name["file"], name["line"]) == ("x", "user", str(terminal.mine), 3)
    assert name["description"].startswith("The model that answers")


def test_one_setting_is_printed_alone_so_that_a_script_can_use_it(terminal: Terminal) -> None:
    terminal.env["GEMINI_MODEL"] = "flash"
    terminal.mine.write_text(COMMENTED, "utf-8")
    assert terminal.types("get", "model.name") == (0, "flash\n", "environment, GEMINI_MODEL\n")
    assert json.loads(terminal.types("get", "model.name", "--json")[1])["also"] == ["user"]
    assert "model.tokenLimit" in terminal.types("get", "model")[1]


def test_a_setting_is_written_among_comments_and_the_file_keeps_its_mode(terminal: Terminal) -> None:
    terminal.mine.write_text(COMMENTED, "utf-8")
    terminal.mine.chmod(0o640)
    assert terminal.types("set", "model.name", "y")[0] == 0
    assert terminal.types("set", "model.compressionThreshold", "0.25")[0] == 0
    assert terminal.mine.read_text("utf-8") == (
        '{ // mine\n  "model": {\n    "name": "y", // why\n    "compressionThreshold": 0.25\n  }\n}\n'
    )
    assert terminal.mine.stat().st_mode & 0o777 == 0o640
    assert terminal.types("unset", "model.compressionThreshold")[0] == 0
    assert "compressionThreshold" not in terminal.mine.read_text("utf-8")
    assert "// why" in terminal.mine.read_text("utf-8")
    assert terminal.types("unset", "model.compressionThreshold")[0] == 1


def test_a_new_file_is_its_owners_alone(terminal: Terminal) -> None:
    assert terminal.types("set", "model.name", "y")[0] == 0
    assert terminal.mine.stat().st_mode & 0o777 == 0o600
    assert not [path for path in terminal.mine.parent.iterdir() if path != terminal.mine]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("model.compressionThreshold", "half", "expected a number"),
        ("model.compressionThreshold", "7", "at most"),
        ("modl.name", "x", "Did you mean model.name"),
        ("model", "{}", "no setting model"),
        ("mcpServers.", "{}", "no setting"),
        ("model.name", "null", "unset"),
        ("companion.tools.mode", "yolo", '"acceptEdits"'),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    terminal: Terminal, key: str, value: str, told: str
) -> None:
    code, _, err = terminal.types("set", key, value)
    assert code == 2
    assert told in err
    assert not terminal.mine.exists()


def test_a_broken_file_is_told_and_left_as_it_is(terminal: Terminal) -> None:
    terminal.mine.write_text('{"model": ', "utf-8")
    code, _, err = terminal.types("set", "model.name", "y")
    assert (code, terminal.mine.read_text("utf-8")) == (2, '{"model": ')
    assert str(terminal.mine) in err
    code, _, err = terminal.types("list")
    assert code == 0
    assert f"{terminal.mine}:1:" in err


def test_a_members_of_an_open_section_is_set_by_its_own_name(terminal: Terminal) -> None:
    assert terminal.types("set", "mcpServers.docs.command", "serve-docs")[0] == 0
    assert terminal.types("set", "model.name", "007")[0] == 0
    assert json.loads(terminal.mine.read_text("utf-8")) == {
        "mcpServers": {"docs": {"command": "serve-docs"}},
        "model": {"name": "007"},
    }


def test_a_folders_settings_are_set_there_and_told_not_to_count_until_it_is_trusted(terminal: Terminal) -> None:
    code, out, err = terminal.types("set", "model.tokenLimit", "4000", "--workspace")
    assert (code, json.loads(terminal.theirs.read_text("utf-8"))) == (0, {"model": {"tokenLimit": 4000}})
    assert "not trusted" in err
    terminal.trust()
    code, out, err = terminal.types("get", "model.tokenLimit")
    assert (out, err) == ("4000\n", f"workspace, {terminal.theirs}:1\n")


def test_where_another_layer_decides_setting_a_key_says_so(terminal: Terminal) -> None:
    terminal.env["GEMINI_MODEL"] = "flash"
    assert "In force is flash (environment, GEMINI_MODEL)" in terminal.types("set", "model.name", "y")[1]


def test_a_folder_gets_no_key_that_only_counts_in_the_persons_own_file(terminal: Terminal) -> None:
    code, _, err = terminal.types("set", "companion.recall.embeddings", "true", "--workspace")
    assert code == 2
    assert "only in your own file" in err


def test_a_folders_file_that_is_a_link_to_elsewhere_is_not_written(terminal: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "profile.json"
    target.write_text("{}", "utf-8")
    terminal.theirs.symlink_to(target)
    code, _, err = terminal.types("set", "model.tokenLimit", "4000", "--workspace")
    assert (code, target.read_text("utf-8")) == (2, "{}")
    assert "link" in err


def test_the_files_are_named_lowest_layer_first(terminal: Terminal) -> None:
    files = json.loads(terminal.types("path", "--json")[1])
    assert [one["layer"] for one in files] == ["systemDefaults", "user", "workspace", "system"]
    assert [one["exists"] for one in files] == [False] * 4


def test_secrets_are_masked_wherever_they_stand(terminal: Terminal) -> None:
    terminal.env["DOCS_TOKEN"] = "planted-from-environment"
    servers = {
        "a": {"command": "c", "args": ["--api-key", "planted-1", "--token=planted-2", "-v"], "env": {"X": "planted-3"}},
        "b": {"url": "https://me:planted-4@h/?key=planted-5&q=1", "headers": {"Authorization": "Bearer planted-6"}},
        "c": {"command": "c", "args": ["$DOCS_TOKEN", "AIza" + "planted7" * 4], "apiKey": "planted-8"},
    }
    terminal.mine.write_text(json.dumps({"mcpServers": servers, "telemetry": {"otlpEndpoint": "http://u:planted-9@h"}}))
    for words in (["list"], ["list", "--json"], ["get", "mcpServers"]):
        code, out, err = terminal.types(*words)
        assert code == 0
        assert "planted" not in out + err
        assert '"-v"' in out
        assert "q=1" in out


def test_settings_of_the_daemons_command_line_are_checked_before_it_starts(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--set", "model.name=a", "--set", "model.tokenLimit=0"], terminal.env) == 2
    assert "model.tokenLimit: expected" in capsys.readouterr().err
    found = command_line_of(["context.fileName=A=B.md", "model.tokenLimit=7"])
    assert found == {"context": {"fileName": "A=B.md"}, "model": {"tokenLimit": 7}}
