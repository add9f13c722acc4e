"""The tools that look: over real files, with an editor that has unsaved edits."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.tool_output.cutting import cut_output
from gemini_companion.tools.documents import Diagnostic, FileDiagnostics
from gemini_companion.tools.tool import ToolRefusal
from gemini_companion.tools.workspace.glob import paths_alone
from gemini_companion.tools.workspace.grep_search import lines_alone
from gemini_companion.tools.workspace.list_directory import names_alone
from tests.support.tool_contexts import Desk, write

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def desk(root: Path) -> Desk:
    return Desk(root)


@pytest.fixture(params=["ripgrep", "without ripgrep"])
def searching(request: pytest.FixtureRequest, root: Path) -> Desk:
    return Desk(root) if request.param == "ripgrep" else Desk(root, find_program=lambda: None)


async def test_a_file_is_read_as_it_is(desk: Desk, root: Path):
    write(root / "src/a.py", "one\r\ntwo\r\n")
    read = await desk.call("read_file", file_path="src/a.py")
    assert (read.output, read.summary) == ("one\ntwo\n", "2 lines")
    assert read.source is not None
    assert read.source.startswith(f"{root}/src/a.py 1-2 ")


async def test_a_file_of_many_lines_is_read_on_from_where_it_was_cut(desk: Desk, root: Path):
    write(root / "a.txt", "".join(f"line {number}\n" for number in range(1, 4_502)))
    texts: list[str] = []
    start = 1
    while start:
        read = await desk.call("read_file", file_path="a.txt", start_line=start)
        on = re.search(r"start_line (\d+)", read.output)
        start = int(on[1]) if on else 0
        texts.append(read.output.split("]\n", 1)[1])
    assert "".join(texts) == (root / "a.txt").read_text()
    assert len(texts) == 3


async def test_a_range_of_lines_is_read_with_both_its_ends(desk: Desk, root: Path):
    write(root / "a.txt", "1\n2\n3\n4")
    assert (await desk.call("read_file", file_path="a.txt", start_line=2, end_line=3)).output.endswith("]\n2\n3\n")
    assert (await desk.call("read_file", file_path="a.txt", start_line=4)).output.endswith("]\n4")
    with pytest.raises(ToolRefusal, match="has 4 lines"):
        await desk.call("read_file", file_path="a.txt", start_line=5)
    with pytest.raises(ToolRefusal, match="behind end_line"):
        await desk.call("read_file", file_path="a.txt", start_line=3, end_line=2)


async def test_a_long_line_is_cut_and_says_so(desk: Desk, root: Path):
    write(root / "a.txt", "x" * 3_000 + "\nshort\n")
    output = (await desk.call("read_file", file_path="a.txt")).output
    assert "1 line is cut after 2000 characters" in output
    assert "x" * 2_000 + "… [line truncated]\nshort\n" in output
    assert "x" * 2_001 not in output


async def test_unsaved_edits_are_read_before_the_disk(desk: Desk, root: Path):
    path = write(root / "a.txt", "disk\n")
    desk.editor.open(path, "editor\n")
    assert (await desk.call("read_file", file_path="a.txt")).output == (
        "[This is the text in the editor, with edits that are not saved yet.]\neditor\n"
    )
    desk.editor.open(path, "older\n", is_dirty=False)
    assert (await desk.call("read_file", file_path="a.txt")).output == "disk\n"


@pytest.mark.parametrize(
    "data",
    ["ünï\n".encode(), b"\xef\xbb\xbf" + "ünï\n".encode(), "ünï\n".encode("utf-16"), "ünï\n".encode("utf-16-be"), "ünï\n".encode("latin-1")],
    ids=["UTF-8", "UTF-8 with a mark", "UTF-16", "UTF-16 without a mark", "Latin-1"],
)  # fmt: skip
async def test_a_text_is_read_in_its_encoding(desk: Desk, root: Path, data: bytes):
    write(root / "a.txt", data)
    assert (await desk.call("read_file", file_path="a.txt")).output == "ünï\n"


async def test_an_image_comes_as_media_whatever_its_name(desk: Desk, root: Path):
    write(root / "a.dat", PNG)
    read = await desk.call("read_file", file_path="a.dat")
    assert read.media == ({"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PNG).decode()}},)
    write(root / "b.png", "no image at all\n")
    assert (await desk.call("read_file", file_path="b.png")).output == "no image at all\n"


async def test_what_is_no_text_is_refused(desk: Desk, root: Path):
    write(root / "a.bin", bytes(range(256)) * 8)
    with pytest.raises(ToolRefusal, match="binary"):
        await desk.call("read_file", file_path="a.bin")


async def test_too_large_media_are_refused(desk: Desk, root: Path):
    write(root / "a.png", PNG + b"\0" * 11_000_000)
    with pytest.raises(ToolRefusal, match="at most 10 MB"):
        await desk.call("read_file", file_path="a.png")


async def test_a_secret_is_read_only_if_the_person_named_it_and_consent_is_told(desk: Desk, root: Path):
    path = write(root / ".env", "TOKEN=abc\n")
    with pytest.raises(ToolRefusal, match="withheld: a secret"):
        await desk.propose("read_file", file_path=".env")
    (root / "link").symlink_to(path)
    with pytest.raises(ToolRefusal, match="withheld: a secret"):
        await desk.propose("read_file", file_path="link")
    _, _, proposal = await desk.propose("read_file", file_path=".env", named=[path])
    assert [touched.secret for touched in proposal.touched] == ["a secret by its name"]
    assert (await desk.call("read_file", file_path=".env", named=[path])).output == "TOKEN=abc\n"


async def test_an_ignored_file_is_read_only_if_the_person_named_it(desk: Desk, root: Path):
    write(root / ".gitignore", "*.log\n")
    path = write(root / "a.log", "text\n")
    with pytest.raises(ToolRefusal, match=r"ignored by \.gitignore"):
        await desk.propose("read_file", file_path="a.log")
    assert (await desk.call("read_file", file_path="a.log", named=[path])).output == "text\n"


@pytest.mark.process
async def test_a_secret_in_a_text_is_masked(desk: Desk, root: Path):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(root / "a.py", f"x = 1\ntoken = '{token}'\n")
    read = (await desk.call("read_file", file_path="a.py")).output
    found = (await desk.call("grep_search", pattern="token")).output
    assert token not in read + found
    assert "[masked: " in read
    assert "[masked: " in found


async def test_a_missing_file_is_refused_with_names_like_it(desk: Desk, root: Path):
    write(root / "src/reader.py")
    with pytest.raises(ToolRefusal, match=r"does not exist\. There is: reader\.py"):
        await desk.call("read_file", file_path="src/raeder.py")
    with pytest.raises(ToolRefusal, match="list_directory"):
        await desk.call("read_file", file_path="src")
    with pytest.raises(ToolRefusal, match="read_file"):
        await desk.call("list_directory", dir_path="src/reader.py")


async def test_a_folder_is_listed_without_what_is_hidden(desk: Desk, root: Path):
    write(root / "b.py", "12345")
    write(root / "sub/x")
    write(root / ".env")
    write(root / ".gitignore", "c*\n")
    write(root / "c.log")
    (root / "link").symlink_to("b.py")
    listed = await desk.call("list_directory", dir_path=".", ignore=["*.md"])
    assert listed.output.splitlines() == [
        ".: 4 names", "sub/", ".gitignore (3 bytes)", "b.py (5 bytes)", "link (link)", "[2 ignored or secret names are not shown.]",
    ]  # fmt: skip
    assert "b.py" not in (await desk.call("list_directory", dir_path=".", ignore=["B*"])).output


@pytest.mark.process
async def test_people_see_what_was_found_without_the_notes_to_the_model(searching: Desk, root: Path):
    (root / "sub").mkdir(exist_ok=True)
    for number in range(501):
        (root / "sub" / f"{number}.many").write_text("find\n", "utf-8")
    told = (await searching.call("glob", pattern="sub/*.many")).output
    assert "[There are more" in told
    assert len(paths_alone(told).split("\n")) == 500
    assert all(path.endswith(".many") for path in paths_alone(told).split("\n"))
    told = (await searching.call("grep_search", pattern="find", dir_path="sub", total_max_matches=2)).output
    assert "There are more" in told
    shown = lines_alone(told).split("\n")
    assert shown[0].startswith("sub/")
    assert {line for line in shown if line and not line.startswith("sub/")} == {"1: find"}
    told = (await searching.call("list_directory", dir_path="sub", ignore=["*.many"])).output
    assert told.endswith("[501 left out as asked.]")
    assert names_alone(told).endswith("\n\n501 left out as asked.")


@pytest.mark.process
async def test_files_are_found_by_globs_the_last_changed_first(searching: Desk, root: Path):
    for age, name in enumerate(["new.py", "src/mid.py", "src/deep/old.PY", "src/a.txt", ".env", "skip/x.py"]):
        os.utime(write(root / name), (1_000_000_000 - age, 1_000_000_000 - age))
    write(root / ".gitignore", "skip/\n")

    async def found(pattern: str, **args: Any) -> list[str]:
        return (await searching.call("glob", pattern=pattern, **args)).output.splitlines()

    assert await found("**/*.py") == ["new.py", "src/mid.py", "src/deep/old.PY"]
    assert await found("**/*.py", case_sensitive=True) == ["new.py", "src/mid.py"]
    assert await found("*.py") == ["new.py"]
    assert await found("**/*.{py,txt}", dir_path="src") == ["src/mid.py", "src/deep/old.PY", "src/a.txt"]
    assert await found(f"{root}/src/*.txt") == ["src/a.txt"]
    assert (await found("**/.env*"))[0].startswith("No file matches")
    assert (await found("skip/**"))[0].startswith("No file matches")


@pytest.mark.process
async def test_lines_are_found_grouped_by_file(searching: Desk, root: Path):
    write(root / "a.py", "zero\nOne\ntwo\nthree\none\n")
    write(root / "sub/b.txt", "someone\r\n")
    write(root / "sub/.env", "one\n")
    write(root / "out/c.py", "one\n")
    write(root / ".gitignore", "out\n")

    async def found(**args: Any) -> list[str]:
        return (await searching.call("grep_search", **args)).output.splitlines()

    assert await found(pattern="one$") == [
        "3 matches in 2 files",
        "a.py",
        "2: One",
        "5: one",
        "",
        "sub/b.txt",
        "1: someone",
    ]
    assert await found(pattern="one", case_sensitive=True, include_pattern="*.py") == [
        "1 match in 1 file",
        "a.py",
        "5: one",
    ]
    assert (await found(pattern="two", context=1))[1:] == ["a.py", "2- One", "3: two", "4- three"]
    assert (await found(pattern="one", names_only=True))[1:] == ["a.py", "sub/b.txt"]
    assert (await found(pattern="one", dir_path="sub"))[1:] == ["sub/b.txt", "1: someone"]
    assert (await found(pattern="one", dir_path="a.py", max_matches_per_file=1))[1:] == ["a.py", "2: One"]
    assert (await found(pattern="one", exclude_pattern="^some"))[1:] == ["a.py", "2: One", "5: one"]
    assert (await found(pattern="one", total_max_matches=1))[0].startswith("1+ matches in 1 file (There are more")
    assert (await found(pattern="o.e", fixed_strings=True))[0].startswith("No line matches o.e. Ignored files, secrets")
    with pytest.raises(ToolRefusal, match="pattern is wrong"):
        await found(pattern="(")


@pytest.mark.process
async def test_unsaved_edits_are_searched_in_place_of_the_disk(searching: Desk, root: Path):
    path = write(root / "a.py", "needle on the disk\n")
    write(root / "b.py", "needle\n")
    searching.editor.open(path, "x\nneedle in the editor\n")
    output = (await searching.call("grep_search", pattern="needle")).output
    assert output.splitlines()[1:] == ["a.py", "2: needle in the editor", "", "b.py", "1: needle"]
    searching.editor.open(path, "nothing\n")
    assert "a.py" not in (await searching.call("grep_search", pattern="needle")).output


@pytest.mark.process
async def test_the_old_name_of_the_search_is_known(desk: Desk, root: Path):
    write(root / "a.py", "one\n")
    assert "a.py" in (await desk.call("search_file_content", pattern="one")).output


@pytest.mark.process
async def test_many_files_are_read_at_once(desk: Desk, root: Path):
    write(root / "a.md", "A\n")
    write(root / "docs/b.md", "B\n")
    write(root / "docs/node_modules/x/c.md", "C\n")
    write(root / "docs/p.png", PNG)
    write(root / "docs/d.txt", "D\n")
    read = await desk.call("read_many_files", include=["a.md", "docs/", "gone.md", ".env"], exclude=["*.txt"])
    assert read.output.startswith("--- a.md ---\nA\n\n--- docs/b.md ---\nB\n\n--- Left out ---\n")
    assert "gone.md does not exist." in read.output
    assert "C\n" not in read.output
    assert "D\n" not in read.output
    assert read.media == ()
    media = await desk.call("read_many_files", include=["docs/*.png"])
    assert len(media.media) == 1
    with pytest.raises(ToolRefusal, match="No file matches"):
        await desk.call("read_many_files", include=["*.rs"])


@pytest.mark.process
async def test_of_too_many_characters_the_rest_is_named(desk: Desk, root: Path):
    for number in range(4):
        write(root / f"{number}.txt", ("x" * 99 + "\n") * 1_500)
    read = await desk.call("read_many_files", include=["*.txt"])
    assert len(read.output) < 410_000
    assert "over 400,000 characters in all" in read.output


async def test_the_editor_is_asked_for_problems(desk: Desk, root: Path):
    path = write(root / "a.py", "x\n")
    other = write(root / "b.py", "x\n")
    with pytest.raises(ToolRefusal, match="Run the project's own checks"):
        await desk.call("diagnostics", paths=["a.py"])
    problems = (
        Diagnostic(line=9, severity="warning", message="unused"),
        Diagnostic(line=3, severity="error", message="no such\nname", source="pyright", code="E1"),
    )
    desk.editor.reported = (FileDiagnostics(path=str(path), diagnostics=problems),)
    output = (await desk.call("diagnostics", paths=["a.py", str(other)])).output
    assert output.splitlines() == [
        "a.py:",
        "  line 3: error: no such name [pyright E1]",
        "  line 9: warning: unused",
        "b.py: the editor says nothing about it.",
    ]


@pytest.mark.process
async def test_paths_of_several_folders_begin_with_their_names(tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    write(one / "a.py", "first\n")
    write(two / "b.py", "second\n")
    desk = Desk(one, two)
    assert (await desk.call("glob", pattern="*.py")).output.splitlines()[0] in ("one/a.py", "two/b.py")
    assert (await desk.call("read_file", file_path="two/b.py")).output == "second\n"
    assert (await desk.call("read_file", file_path="b.py")).output == "second\n"
    assert "two/b.py\n1: second" in (await desk.call("grep_search", pattern="second")).output


async def test_what_is_outside_or_no_file_is_refused(desk: Desk, root: Path, tmp_path: Path):
    write(tmp_path / "outside.txt", "x\n")
    (root / "out").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    for path in (
        "../outside.txt",
        str(tmp_path / "outside.txt"),
        "out/outside.txt",
        "/etc/passwd",
        "/proc/self/environ",
    ):
        with pytest.raises(ToolRefusal, match="outside the workspace"):
            await desk.call("read_file", file_path=path)
    with pytest.raises(ToolRefusal, match="neither a file nor a folder"):
        await desk.call("read_file", file_path="pipe")
    with pytest.raises(ToolRefusal, match="is not a path"):
        await desk.call("read_file", file_path="a\0b")


def test_the_names_and_arguments_are_those_of_gemini_cli(desk: Desk):
    declared = {each["name"]: set(each["parametersJsonSchema"]["properties"]) for each in desk.registry.declarations()}
    assert declared["read_file"] == {"file_path", "start_line", "end_line"}
    assert declared["glob"] == {"pattern", "dir_path", "case_sensitive"}
    assert {"pattern", "dir_path", "include_pattern"} <= declared["grep_search"]
    assert declared["list_directory"] == {"dir_path", "ignore"}
    assert {"include", "exclude", "recursive"} <= declared["read_many_files"]


@pytest.mark.process
async def test_patterns_of_several_folders_begin_with_their_names_too(tmp_path: Path):
    write(tmp_path / "one/src/a.py", "first\n")
    write(tmp_path / "two/src/a.py", "second\n")
    desk = Desk(tmp_path / "one", tmp_path / "two")
    assert (await desk.call("glob", pattern="two/**/*.py")).output == "two/src/a.py"
    assert (await desk.call("read_many_files", include=["two/src/*.py"])).output == "--- two/src/a.py ---\nsecond\n"


ROUTES = [
    "app/[slug]/page.tsx",
    "app/[...all]/page.tsx",
    "app/(group)/page.tsx",
    "app/@modal/page.tsx",
    "$lib/[[x]].ts",
]


@pytest.mark.process
@pytest.mark.parametrize("path", ROUTES)
async def test_a_name_with_signs_of_patterns_is_found_as_it_is_written(desk: Desk, root: Path, path: str):
    for each in (*ROUTES, "app/s/page.tsx", "other/x.ts"):
        write(root / each, "needle\n")
    folder = path.rpartition("/")[0]
    assert path in (await desk.call("glob", pattern=path)).output.split("\n")
    assert path in (await desk.call("glob", pattern=f"{folder}/*")).output.split("\n")
    assert f"--- {path} ---\nneedle" in (await desk.call("read_many_files", include=[path])).output
    for pattern in (path, path.rpartition("/")[2], f"{folder}/**"):
        assert path in (await desk.call("grep_search", pattern="needle", include_pattern=pattern)).output.split("\n")


@pytest.mark.process
async def test_a_set_of_letters_still_is_one_and_a_name_with_other_signs_of_patterns_is_found(desk: Desk, root: Path):
    for each in ("a.py", "b.py", "c.py", "[ab].py", "x{1,2}.py", "st*r.py"):
        write(root / each, "needle\n")
    for pattern, found in (
        ("[ab].py", ["[ab].py", "a.py", "b.py"]),
        ("x{1,2}.py", ["x{1,2}.py"]),
        ("st*r.py", ["st*r.py"]),
    ):
        assert sorted((await desk.call("glob", pattern=pattern)).output.split("\n")) == found


@pytest.mark.process
async def test_a_long_line_hides_no_other_line(desk: Desk, root: Path):
    write(root / "words.txt", "W" * 5_400 + "\nsecond line\n")
    shown = (await desk.call("read_file", file_path="words.txt")).output
    assert "second line" in shown
    assert cut_output(shown, shape="file", limit=40_000, where="") is None
    write(root / "min.js", "needle" + "x" * 13_000 + "\n")
    write(root / "b.py", "needle one\n")
    found = (await desk.call("grep_search", pattern="needle")).output
    assert "1: needle one" in found
    assert cut_output(found, shape="search", limit=40_000, where="") is None
