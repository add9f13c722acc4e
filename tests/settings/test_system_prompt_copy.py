"""GEMINI_WRITE_SYSTEM_MD names the file that gets a copy of the built-in system prompt."""

import os
from pathlib import Path

import pytest

from gemini_companion.engine.errors import CompanionError, InvalidSettings, StorageFault, UntrustedWorkspace
from gemini_companion.settings.system_prompt import write_system_prompt


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for folder in ("home", "work"):
        (tmp_path / folder).mkdir()
    return tmp_path


def write(root: Path, wish: str, *, trusted: bool = True, replacing: str = "", opened: bool = True) -> Path | None:
    return write_system_prompt(
        lambda: "The prompt.",
        {"GEMINI_WRITE_SYSTEM_MD": wish, "GEMINI_SYSTEM_MD": replacing},
        home=root / "home",
        workspace_folders=[str(root / "work")] if opened else [],
        trusted=trusted,
    )


def files_of(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("wish", ["", "0", "false", "FALSE"])
def test_without_a_wish_nothing_is_written(work: Path, wish: str):
    assert write(work, wish) is None
    assert files_of(work) == set()


@pytest.mark.parametrize(
    ("wish", "place"),
    [
        ("1", "work/.gemini/system.md"),
        ("TRUE", "work/.gemini/system.md"),
        ("notes/prompt.md", "work/notes/prompt.md"),
        ("~/prompt.md", "home/prompt.md"),
    ],
)
def test_it_is_written_whole_to_the_place_that_is_named(work: Path, wish: str, place: str):
    write(work, wish)
    assert (work / place).read_text("utf-8") == "The prompt.\n"
    assert files_of(work) == {place}


def test_a_mere_yes_means_the_file_that_would_replace_it_if_that_is_not_there(work: Path):
    write(work, "1", replacing="~/mine.md")
    assert (work / "home" / "mine.md").read_text("utf-8") == "The prompt.\n"


@pytest.mark.parametrize(("wish", "replacing"), [("1", "~/mine.md"), ("~/mine.md", "~/mine.md")])
def test_a_prompt_of_the_persons_own_is_not_written_over(work: Path, wish: str, replacing: str):
    (work / "home" / "mine.md").write_text("Mine.", "utf-8")
    with pytest.raises(InvalidSettings, match="replaces"):
        write(work, wish, replacing=replacing)
    assert (work / "home" / "mine.md").read_text("utf-8") == "Mine."


@pytest.mark.parametrize("wish", ["1", ".gemini/system.md", "WORK/system.md", "WORK/link/system.md", "../work/x.md"])
def test_nothing_is_written_into_a_workspace_that_is_not_trusted_nor_where_it_leads(work: Path, wish: str):
    (work / "work" / "link").symlink_to(work / "home")
    with pytest.raises(UntrustedWorkspace):
        write(work, wish.replace("WORK", str(work / "work")), trusted=False)
    assert files_of(work) == set()


def test_a_link_out_of_elsewhere_into_it_does_not_lead_there_either(work: Path):
    (work / "home" / "out").symlink_to(work / "work")
    with pytest.raises(UntrustedWorkspace):
        write(work, "~/out/system.md", trusted=False)
    assert files_of(work) == set()


def test_a_place_of_the_persons_own_is_written_whatever_the_workspace_is(work: Path):
    write(work, "~/prompt.md", trusted=False)
    write(work, str(work / "home" / "other.md"), trusted=False, opened=False)
    assert files_of(work) == {"home/prompt.md", "home/other.md"}


def test_a_link_at_the_place_itself_is_replaced_and_not_followed(work: Path):
    (work / "home" / "precious").write_text("Mine.", "utf-8")
    (work / "home" / "prompt.md").symlink_to(work / "home" / "precious")
    write(work, "~/prompt.md")
    assert (work / "home" / "precious").read_text("utf-8") == "Mine."
    assert (work / "home" / "prompt.md").read_text("utf-8") == "The prompt.\n"


@pytest.mark.parametrize("wish", ["~", "/dev/null/x.md", "a\0b"])
def test_a_place_that_cannot_be_written_is_named_and_leaves_nothing(work: Path, wish: str):
    with pytest.raises((StorageFault, InvalidSettings), match="GEMINI_WRITE_SYSTEM_MD"):
        write(work, wish)
    assert files_of(work) == set()


def test_without_a_workspace_a_relative_place_is_refused(work: Path):
    before = os.listdir()
    with pytest.raises(CompanionError, match="no workspace folder"):
        write(work, "1", opened=False)
    assert os.listdir() == before
