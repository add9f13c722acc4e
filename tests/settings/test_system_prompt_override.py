"""GEMINI_SYSTEM_MD names the file that replaces the system prompt."""

from pathlib import Path

import pytest

from gemini_companion.engine.errors import InvalidSettings, UntrustedWorkspace
from gemini_companion.settings.system_prompt import system_prompt_override


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for folder in ("home", "work/.gemini"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "home" / "mine.md").write_text("Mine.", encoding="utf-8")
    (tmp_path / "work" / ".gemini" / "system.md").write_text("Ours.\n", encoding="utf-8")
    return tmp_path


def override(root: Path, wish: str, *, trusted: bool = True, opened: bool = True) -> str | None:
    folders = [str(root / "work")] if opened else []
    return system_prompt_override(
        {"GEMINI_SYSTEM_MD": wish}, home=root / "home", workspace_folders=folders, trusted=trusted
    )


@pytest.mark.parametrize("wish", ["", " ", "0", "false", "FALSE"])
def test_no_wish_means_the_built_in_prompt(work: Path, wish: str):
    assert override(work, wish) is None
    assert system_prompt_override({}, home=work, workspace_folders=[], trusted=True) is None


@pytest.mark.parametrize("wish", ["1", "true", ".gemini/system.md"])
def test_a_mere_yes_means_the_workspaces_own_file(work: Path, wish: str):
    assert override(work, wish) == "Ours.\n"


@pytest.mark.parametrize("wish", ["1", ".gemini/system.md", "../home/mine.md"])
def test_an_untrusted_workspace_brings_no_system_prompt(work: Path, wish: str):
    with pytest.raises(UntrustedWorkspace):
        override(work, wish, trusted=False)


def test_a_file_of_the_users_own_is_read_whatever_the_workspace_is(work: Path):
    assert override(work, "~/mine.md", trusted=False) == "Mine."
    assert override(work, str(work / "home" / "mine.md"), trusted=False, opened=False) == "Mine."


@pytest.mark.parametrize("wish", ["~/none.md", "/dev/null", "~", "a\0b"])
def test_a_file_that_is_missing_or_unusable_is_named_with_what_to_do(work: Path, wish: str):
    with pytest.raises(InvalidSettings, match="GEMINI_SYSTEM_MD") as refused:
        override(work, wish)
    assert "GEMINI_SYSTEM_MD" in refused.value.hint


def test_a_relative_path_needs_a_workspace(work: Path):
    with pytest.raises(InvalidSettings, match="no workspace folder"):
        override(work, "1", opened=False)
