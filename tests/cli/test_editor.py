"""`gemini-companion editor`: the configurations that come along."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.cli.main import run


def test_without_a_name_the_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["editor"], {}) == 0
    assert capsys.readouterr().out.split() == ["neovim", "emacs", "vim", "vscode", "helix", "zed"]


@pytest.mark.parametrize("name", ["neovim", "emacs", "vim", "vscode", "helix", "zed"])
def test_a_name_prints_the_file_that_the_path_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["editor", name], {}) == 0
    printed = capsys.readouterr().out
    assert run(["editor", name, "--path"], {}) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.read_text("utf-8") == printed
    assert "gemini-companion" in printed


def test_an_unknown_name_exits_with_2_and_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["editor", "ed"], {}) == 2
    assert "neovim" in capsys.readouterr().err
