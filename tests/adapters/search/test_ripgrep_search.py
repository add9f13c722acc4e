"""Searching files: what may become an option or a program does not, and nothing is held that is too large."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.search import RipgrepSearch
from gemini_companion.adapters.search import program as search_program
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.tools.ports import Found, SearchOptions
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE
from tests.support.tool_contexts import write

pytestmark = pytest.mark.process


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture(params=["ripgrep", "without ripgrep"])
def search(request: pytest.FixtureRequest) -> RipgrepSearch:
    return RipgrepSearch(
        DiskWorkspace(), find_program=search_program.ripgrep if request.param == "ripgrep" else lambda: None
    )


async def grep(search: RipgrepSearch, root: Path, pattern: str, **options: object) -> Found:
    return await search.grep(pattern, [str(root)], options=SearchOptions(**options))  # type: ignore[arg-type]


async def paths(search: RipgrepSearch, root: Path, pattern: str) -> list[str]:
    return list(dict.fromkeys(line.path for line in (await grep(search, root, pattern)).lines))


def program(path: Path, text: str) -> Path:
    """A program of the test's."""
    write(path, f"#!{sys.executable}\n{text}").chmod(0o755)
    return path


async def test_no_file_name_and_no_pattern_becomes_an_option(search: RipgrepSearch, root: Path, tmp_path: Path):
    ran = tmp_path / "ran"
    program(tmp_path / "evil", f"open({str(ran)!r}, 'w')")
    write(root / f"--pre={tmp_path}/evil".replace("/", "_"), "needle --files\n")
    write(root / "--pre=evil", "needle\n")
    write(root / "-e", "needle\n")
    assert await paths(search, root, "needle") == [
        "--pre=_" + str(tmp_path)[1:].replace("/", "_") + "_evil",
        "--pre=evil",
        "-e",
    ]
    assert len((await grep(search, root, "--files")).lines) == 1
    assert not ran.exists()


async def test_no_configuration_file_is_read(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ran = tmp_path / "ran"
    evil = program(tmp_path / "evil", f"open({str(ran)!r}, 'w')")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(write(tmp_path / "rgrc", f"--pre={evil}\n")))
    write(root / "a", "needle\n")
    assert await paths(RipgrepSearch(DiskWorkspace()), root, "needle") == ["a"]
    assert not ran.exists()


async def test_ignore_files_count_without_a_repository_too(search: RipgrepSearch, root: Path):
    write(root / ".gitignore", "out/\n")
    write(root / ".geminiignore", "private*\n")
    write(root / "sub/.geminiignore", "deep*\n")
    for path in ("a", "out/b", "private.txt", "sub/deep.txt", "sub/c", ".hidden", ".git/x", "server.key"):
        write(root / path, "needle\n")
    assert await paths(search, root, "needle") == [".hidden", "a", "sub/c"]
    assert sorted(await search.files("**", [str(root)])) == [
        str(root / path) for path in (".geminiignore", ".gitignore", ".hidden", "a", "sub/.geminiignore", "sub/c")
    ]


async def test_a_glob_shows_no_ignored_file(search: RipgrepSearch, root: Path):
    write(root / ".gitignore", "*.log\n")
    write(root / "a.log", "needle\n")
    write(root / "sub/b.txt", "needle\n")
    assert (await grep(search, root, "needle", include="*.log")).lines == ()
    assert (await grep(search, root, "needle", include="*.{log,txt}")).lines[0].path == "sub/b.txt"
    assert (await grep(search, root, "needle", include="sub/*")).lines[0].path == "sub/b.txt"
    assert (await grep(search, root, "needle", include="other/**")).lines == ()


async def test_other_ignore_files_than_ours_hide_nothing(search: RipgrepSearch, root: Path):
    write(root.parent / ".gitignore", "*\n")
    write(root / ".ignore", "a\n")
    write(root / "a", "needle\n")
    assert await paths(search, root, "needle") == ["a"]


async def test_a_long_line_is_cut_and_keeps_its_number(search: RipgrepSearch, root: Path):
    write(root / "a", "one\n" + 'needle é"\\ ' * 500_000 + "\nlast needle\n")
    found = await grep(search, root, "needle")
    assert [line.number for line in found.lines] == [2, 3]
    assert found.lines[0].text.startswith('needle é"\\ needle')
    assert found.lines[0].text.endswith("… [truncated]")
    assert len(found.lines[0].text) < 2_100


async def test_a_frequent_word_costs_no_more_than_the_limit(search: RipgrepSearch, root: Path):
    for number in range(5):
        write(root / f"{number}", "e\n" * 50_000)
    found = await grep(search, root, "e", limit=3)
    assert [line.number for line in found.lines] == [1, 2, 3]
    assert found.is_truncated


async def test_texts_in_other_encodings_are_found(search: RipgrepSearch, root: Path):
    write(root / "latin", "né needle\n".encode("latin-1"))
    found = await grep(search, root, "needle")
    assert [(line.path, line.text) for line in found.lines] == [("latin", "né needle")]


async def test_utf_16_is_found_by_ripgrep(root: Path):
    write(root / "wide", "né needle\n".encode("utf-16"))
    found = await grep(RipgrepSearch(DiskWorkspace()), root, "needle")
    assert [line.text for line in found.lines] == ["né needle"]


async def test_pipes_and_links_are_left_alone(search: RipgrepSearch, root: Path, tmp_path: Path):
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to(write(tmp_path / "outside", "needle\n"))
    write(root / "a", "needle\n")
    assert await paths(search, root, "needle") == ["a"]


async def test_the_end_of_a_line_is_before_a_carriage_return(search: RipgrepSearch, root: Path):
    write(root / "a", "needle\r\nneedles\r\n")
    assert [line.text for line in (await grep(search, root, "needle$")).lines] == ["needle"]


async def test_names_that_are_no_text_are_found(root: Path):
    path = os.fsencode(root) + b"/caf\xe9"
    Path(os.fsdecode(path)).write_text("needle\n")
    found = await grep(RipgrepSearch(DiskWorkspace()), root, "needle")
    assert len(found.lines) == 1


async def test_lines_that_the_file_does_not_have_are_not_shown(root: Path, tmp_path: Path):
    """As if a link had led the search to another file while it was on its way."""
    write(root / "a.txt", "inside\nreal needle\n")
    where = {"path": {"text": "./a.txt"}}
    records = [
        {"type": "begin", "data": where},
        {"type": "match", "data": {**where, "lines": {"text": "OUTSIDE needle\n"}, "line_number": 1}},
        {"type": "end", "data": where},
    ]
    lying = program(tmp_path / "rg", "".join(f"print({json.dumps(record)!r})\n" for record in records))
    search = RipgrepSearch(DiskWorkspace(), find_program=lambda: str(lying))
    assert (await grep(search, root, "needle")).lines == ()
    assert (await grep(RipgrepSearch(DiskWorkspace()), root, "needle")).lines[0].text == "real needle"


async def test_a_search_that_is_cancelled_ends_its_program(root: Path, tmp_path: Path):
    started, pid = tmp_path / "started", tmp_path / "pid"
    os.mkfifo(started)
    slow = program(
        tmp_path / "rg",
        f"import os, signal\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\nopen({str(started)!r}, 'w').close()\nsignal.pause()\n",
    )
    search = RipgrepSearch(DiskWorkspace(), find_program=lambda: str(slow))
    task = asyncio.create_task(grep(search, root, "needle"))
    await asyncio.wait_for(asyncio.to_thread(started.read_bytes), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_a_search_that_takes_too_long_gives_what_it_has(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gemini_companion.adapters.search.ripgrep.SECONDS", 0.2)
    slow = program(tmp_path / "rg", "import signal\nsignal.pause()\n")
    found = await grep(RipgrepSearch(DiskWorkspace(), find_program=lambda: str(slow)), root, "needle")
    assert "was ended" in found.note
    assert found.is_truncated
    with pytest.raises(ToolRefusal, match="could not be listed"):
        await RipgrepSearch(DiskWorkspace(), find_program=lambda: str(slow)).files("**", [str(root)])


async def test_a_wrong_pattern_or_glob_is_refused(search: RipgrepSearch, root: Path):
    write(root / "a", "x\n")
    with pytest.raises(ToolRefusal, match="pattern is wrong"):
        await grep(search, root, "[")
    with pytest.raises(ToolRefusal, match="NUL"):
        await grep(search, root, "a\0b")
    with pytest.raises(ToolRefusal, match="braces"):
        await search.files("{a,b}" * 20, [str(root)])
    assert await search.files("[", [str(root)]) == []


async def test_folders_inside_each_other_are_searched_once(search: RipgrepSearch, root: Path):
    write(root / "sub/a", "needle\n")
    found = await search.grep("needle", [str(root), str(root / "sub")], options=SearchOptions())
    assert [line.number for line in found.lines] == [1]


def made(strange: str, path: Path) -> None:
    """What is no file of rules, in the place of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if strange == "pipe":
        os.mkfifo(path)
    elif strange == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 1 << 33)


@pytest.mark.skipif(os.name != "posix", reason="no such files here")
@pytest.mark.parametrize("strange", ["pipe", "device", "huge"])
@pytest.mark.parametrize("place", [".gitignore", "a/b/.gitignore", "a/.git/info/exclude"])
async def test_an_ignore_file_that_is_none_keeps_no_search_waiting(
    search: RipgrepSearch, root: Path, strange: str, place: str
):
    write(root / "n.txt", "needle\n")
    write(root / "c" / "hidden.txt", "needle\n")
    write(root / "c" / ".gitignore", "hidden.txt\n")
    made(strange, root / place)
    hides_all = strange == "huge"
    found = await grep(search, root, "needle")
    assert "ended after" not in found.note
    assert [line.path for line in found.lines] == ([] if hides_all and place == ".gitignore" else ["n.txt"])
    listed = [os.path.basename(path) for path in await search.files("**/*.txt", [str(root)])]
    assert listed == ([] if hides_all and place == ".gitignore" else ["n.txt"])


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file here that nobody can read")
@pytest.mark.parametrize("place", [".geminiignore", ".gitignore", "a/.geminiignore", "a/.gitignore"])
@pytest.mark.parametrize("target", ["/proc/self/mem", "gone"])
async def test_what_an_unreadable_ignore_file_hides_is_not_found_and_all_else_is(
    search: RipgrepSearch, root: Path, target: str, place: str
):
    write(root / "a" / "hidden.txt", "needle\n")
    write(root / "n.txt", "needle\n")
    (root / place).symlink_to(target)
    shown = ["n.txt"] if "/" in place else []
    assert [line.path for line in (await grep(search, root, "needle")).lines] == shown
    assert [os.path.basename(path) for path in await search.files("**/*.txt", [str(root)])] == shown


@pytest.mark.skipif(os.name != "posix", reason="no such files here")
async def test_a_pipe_that_comes_later_keeps_one_search_waiting_at_most(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gemini_companion.adapters.search.ripgrep.SECONDS", 1.0)
    search = RipgrepSearch(DiskWorkspace())
    write(root / "n.txt", "needle\n")
    assert await paths(search, root, "needle") == ["n.txt"]
    os.mkfifo(root / ".gitignore")
    assert "ended after" in (await grep(search, root, "needle")).note
    assert await paths(search, root, "needle") == ["n.txt"]
