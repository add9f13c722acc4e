"""Names of files in what tools say: they lead back to their files, and are nothing but names."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.escapes import one_line, read_back
from gemini_companion.tools.tool import ToolRefusal
from tests.support.tool_contexts import Desk, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.mark.process
async def test_a_line_break_in_a_name_makes_no_second_heading(root: Path):
    write(root / "a\n9: forged.py", "word\n")
    found = await Desk(root).call("grep_search", pattern="word")
    assert found.output.split("\n")[1:] == [r"a\x0a9: forged.py", "1: word"]
    named = await Desk(root).call("grep_search", pattern="word", names_only=True)
    assert named.output.split("\n")[1:] == [r"a\x0a9: forged.py"]


ODD_NAMES = [
    *("Screenshot at 9.41.00\u202fAM.md", "10\u00a0000 Kč.md", "設定\u3000値.md", "می\u200cخواهم.md", "👨\u200d👩.md"),
    *("co\u00adop.md", "\ue0b0.md", "e\u0301.md", "a\nb.md", "tab\t.md", "\x1b[31m.md", "\u202egpj.md", "z\u200b.md"),
    *("\ufeffx.md", "l\u2028s.md", "q'\".md", r"back\slash.md", r"an\x1bescape.md", r"\x5cx5c.md", "\udcff.md"),
]


@pytest.mark.process
@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
async def test_a_name_leads_back_to_its_file_as_it_is_shown_by_every_tool(root: Path, name: str):
    desk = Desk(root)
    (root / name).write_text("needle\n")
    shown = {
        "listed": (await desk.call("list_directory", dir_path=".")).output.split("\n")[-1].split(" (")[0],
        "found": (await desk.call("glob", pattern="*.md")).output,
        "matched": (await desk.call("grep_search", pattern="needle")).output.split("\n")[1],
    }
    for how, one in shown.items():
        assert "\n" not in one, how
        assert (await desk.call("read_file", file_path=one)).output == "needle\n", (how, one)
    await desk.call("write_file", file_path=shown["found"], content="other\n")
    assert (root / name).read_text() == "other\n"
    assert len(os.listdir(root)) == 1


async def test_a_new_file_is_made_in_a_folder_whose_name_has_escapes(root: Path):
    (root / "a\u202eb").mkdir()
    await Desk(root).call("write_file", file_path=r"a\u202eb/new\x1b.md", content="x\n")
    assert os.listdir(root / "a\u202eb") == [r"new\x1b.md"]


@given(st.text(st.characters(exclude_characters="\0/") | st.sampled_from("\\x1bu202e5c\udcff"), min_size=1))
def test_no_two_names_are_shown_alike_and_each_is_read_back(name: str):
    shown = one_line(name)
    assert read_back(shown) == name
    assert len(shown.splitlines()) == 1
    shown.encode()


@pytest.mark.process
async def test_files_of_folders_with_one_name_are_told_apart_and_can_be_read_by_what_they_are_called(tmp_path: Path):
    one, two = tmp_path / "one/app", tmp_path / "two/app"
    write(one / "a.py", "in one\n")
    write(two / "a.py", "in two\n")
    desk = Desk(one, two)
    found = (await desk.call("grep_search", pattern="in")).output
    assert found.split("\n")[1:] == [f"{one}/a.py", "1: in one", "", f"{two}/a.py", "1: in two"]
    listed = (await desk.call("glob", pattern="*.py")).output.split("\n")
    assert sorted(listed) == [f"{one}/a.py", f"{two}/a.py"]
    assert {(await desk.call("read_file", file_path=path)).output for path in listed} == {"in one\n", "in two\n"}


async def test_a_name_that_differs_in_case_alone_is_offered(root: Path):
    write(root / "ReadMe.md", "text\n")
    with pytest.raises(ToolRefusal, match=r"There is: ReadMe\.md\."):
        await Desk(root).propose("read_file", file_path="README.MD")


@pytest.mark.process
async def test_a_withheld_file_that_was_asked_for_by_name_is_searched_too(root: Path):
    write(root / ".gitignore", "*.log\n")
    write(root / "b.log", "word\n")
    path = write(root / "a.log", "word\n")
    desk = Desk(root)
    found = await desk.call("grep_search", named=[path], pattern="word", dir_path="a.log")
    assert found.output.split("\n") == ["1 match in 1 file", "a.log", "1: word"]
    assert (await desk.call("grep_search", named=[path], pattern="word")).summary == "no matches"


@pytest.mark.process
async def test_unsaved_edits_of_such_a_file_are_searched_in_place_of_the_disk(root: Path):
    path = write(root / ".env", "disk\n")
    desk = Desk(root)
    desk.editor.open(path, "typed\n")
    found = await desk.call("grep_search", named=[path], pattern="typed", dir_path=".env")
    assert found.output.split("\n")[1:] == [".env", "1: typed"]


async def test_who_is_asked_about_many_files_is_told_which_of_them_are_secrets(root: Path):
    path = write(root / ".env", "TOKEN=abc\n")
    write(root / "a.txt", "text\n")
    desk = Desk(root)
    _, _, one = await desk.propose("read_many_files", named=[path], include=[".env"])
    _, _, two = await desk.propose("read_many_files", named=[path], include=[".env", "a.txt"])
    assert (one.title, two.title) == ("Read .env", "Read 2 files")
    assert one.warnings == two.warnings == (".env: a secret by its name.",)


async def test_without_a_workspace_folder_every_tool_for_files_says_so():
    desk = Desk()
    calls: dict[str, dict[str, Any]] = {
        "read_file": {"file_path": "a"},
        "read_many_files": {"include": ["*"]},
        "list_directory": {"dir_path": "."},
        "glob": {"pattern": "*"},
        "grep_search": {"pattern": "x"},
        "write_file": {"file_path": "a", "content": "x"},
    }
    for name, args in calls.items():
        with pytest.raises(ToolRefusal, match="No workspace folder is open"):
            await desk.propose(name, **args)


async def test_a_workspace_folder_that_is_gone_is_named(root: Path):
    desk = Desk(root)
    root.rmdir()
    with pytest.raises(ToolRefusal, match=f"The workspace folder {root} is gone"):
        await desk.call("write_file", file_path="a.txt", content="x")


async def test_a_name_that_is_too_long_is_no_secret(root: Path):
    with pytest.raises(ToolRefusal, match="a name longer than any file has"):
        await Desk(root).propose("read_file", file_path="x" * 256)
