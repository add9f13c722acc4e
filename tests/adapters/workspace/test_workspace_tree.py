"""The tree of names that the model's environment shows."""

import itertools
import os
from pathlib import Path

import pytest

from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.adapters.workspace.ignore import IgnoreFiles
from gemini_companion.adapters.workspace.tree import Tree


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


async def tree(*folders: Path | str, limit: int = 200) -> list[str]:
    return (await DiskWorkspace().tree([str(folder) for folder in folders], limit=limit)).split("\n")


async def test_names_are_indented_under_their_folder_in_alphabetical_order(tmp_path: Path):
    make(tmp_path, "b.py", "A.md", "src/x/deep.py", "src/main.py")
    assert await tree(tmp_path) == [
        f"{tmp_path}/",
        "  A.md",
        "  b.py",
        "  src/",
        "    main.py",
        "    x/",
        "      deep.py",
    ]


async def test_ignored_files_secrets_and_git_are_left_out(tmp_path: Path):
    make(
        tmp_path,
        ".env",
        "id_rsa",
        ".git/config",
        ".ssh/config",
        "a.log",
        "node_modules/x.js",
        "sub/b.log",
        "sub/private.txt",
        "sub/c.py",
        "secrets/a.py",
    )
    (tmp_path / ".gitignore").write_text("*.log\nnode_modules/\n", "utf-8")
    (tmp_path / "sub" / ".geminiignore").write_text("private.txt\n", "utf-8")
    assert await tree(tmp_path) == [
        f"{tmp_path}/",
        "  .gitignore",
        "  secrets/",
        "    a.py",
        "  sub/",
        "    .geminiignore",
        "    c.py",
    ]


async def test_links_are_named_and_not_followed(tmp_path: Path):
    outside = make(tmp_path / "outside", "hidden.txt")
    ws = make(tmp_path / "ws", "a.py")
    (ws / "out").symlink_to(outside)
    (ws / "self").symlink_to(ws)
    assert await tree(ws) == [f"{ws}/", "  a.py", "  out (link)", "  self (link)"]


async def test_a_folder_that_is_itself_a_link_is_shown(tmp_path: Path):
    make(tmp_path / "ws", "a.py")
    (tmp_path / "alias").symlink_to(tmp_path / "ws")
    assert await tree(tmp_path / "alias") == [f"{tmp_path}/alias/", "  a.py"]
    assert await tree(tmp_path / "alias", tmp_path / "ws") == [f"{tmp_path}/alias/", "  a.py"]


async def test_each_folder_is_shown_once_and_nested_ones_by_themselves(tmp_path: Path):
    make(tmp_path, "a.py", "sub/b.py")
    expected = [f"{tmp_path}/", "  a.py", "  sub/ (a workspace folder of its own)", f"{tmp_path}/sub/", "  b.py"]
    assert await tree(tmp_path, tmp_path / "sub", tmp_path) == expected


async def test_a_folder_that_is_not_there_is_said_to_be_so(tmp_path: Path):
    make(tmp_path, "file", "ws/a.py")
    assert await tree(tmp_path / "gone", tmp_path / "file", "relative", tmp_path / "ws") == [
        f"{tmp_path}/gone/ (not on disk)",
        f"{tmp_path}/file/ (not a folder)",
        "relative/ (not an absolute path)",
        f"{tmp_path}/ws/",
        "  a.py",
    ]


async def test_no_folder_is_no_tree():
    assert await tree() == [""]


async def test_a_directory_that_cannot_be_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    scandir = os.scandir

    def with_a_closed_door(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(path)
        return scandir(path)

    make(tmp_path, "closed/a.py", "open/b.py")
    monkeypatch.setattr("gemini_companion.adapters.workspace.tree.os.scandir", with_a_closed_door)
    assert await tree(tmp_path) == [f"{tmp_path}/", "  closed/ (cannot be read)", "  open/", "    b.py"]


async def test_what_does_not_fit_is_counted(tmp_path: Path):
    make(tmp_path, *(f"f{number:02}" for number in range(30)))
    assert await tree(tmp_path, limit=12) == [
        f"{tmp_path}/",
        *(f"  f{number:02}" for number in range(12)),
        "  … 18 more",
    ]


async def test_one_full_directory_does_not_hide_the_others(tmp_path: Path):
    make(tmp_path, *(f"aaa/{number:05}" for number in range(2000)), "src/main.py", "tests/test_main.py")
    lines = await tree(tmp_path, limit=40)
    assert {"  src/", "    main.py", "  tests/", "    test_main.py"} <= set(lines)
    assert sum("…" not in line for line in lines) == 1 + 40
    assert f"    … {2000 - 35:,} more" in lines


async def test_top_levels_come_first_and_directories_that_were_not_opened_are_marked(tmp_path: Path):
    make(tmp_path, *(f"d{number}/x/y/z" for number in range(4)))
    lines = await tree(tmp_path, limit=6)
    assert lines == [f"{tmp_path}/", "  d0/", "    x/ …", "  d1/", "    x/ …", "  d2/ …", "  d3/ …"]


async def test_several_folders_share_the_names(tmp_path: Path):
    first = make(tmp_path / "first", *(f"a{number:03}" for number in range(300)))
    second = make(tmp_path / "second", *(f"b{number:03}" for number in range(300)))
    lines = await tree(first, second, limit=100)
    assert sum(line.startswith("  a") for line in lines) == sum(line.startswith("  b") for line in lines) == 50


@pytest.mark.parametrize("limit", [0, -1])
async def test_without_room_only_the_folder_is_named(tmp_path: Path, limit: int):
    make(tmp_path, "a")
    assert await tree(tmp_path, limit=limit) == [f"{tmp_path}/ …"]


async def test_no_name_breaks_out_of_its_line(tmp_path: Path):
    os.mkdir(os.fsencode(tmp_path) + b"/d\xff")
    make(tmp_path, "a\nb", "c\x1b[31m", "e\u202ef", "g\u2028h", "i\tj", "世界")
    lines = await tree(tmp_path)
    assert sorted(lines[1:]) == sorted(
        ["  a\\x0ab", "  c\\x1b[31m", "  d\\udcff/", "  e\\u202ef", "  g\\u2028h", "  i\\x09j", "  世界"]
    )
    "\n".join(lines).encode()


async def test_a_very_deep_tree_ends(tmp_path: Path):
    make(tmp_path, "/".join(["d"] * 100) + "/x")
    lines = await tree(tmp_path)
    assert lines[-1].strip() == "d/ …"
    assert len(lines) == 65


async def test_a_huge_directory_is_counted(tmp_path: Path):
    make(tmp_path, *(f"f{number}" for number in range(1_500)))
    lines = await tree(tmp_path, limit=10)
    assert lines[-1] == "  … 1,490 more"


def test_a_tree_that_takes_too_long_ends_and_says_so(tmp_path: Path):
    make(tmp_path, *(f"{number:02}.py" for number in range(50)))
    clock = itertools.count(0.0, 1.0)
    lines = Tree(IgnoreFiles(), 200, monotonic=lambda: next(clock)).draw([str(tmp_path)]).split("\n")
    assert 1 < len(lines) < 15
    assert lines[-1] == "  … more than 0 more"
