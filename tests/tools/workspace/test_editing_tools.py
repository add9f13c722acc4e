"""The tools that change files: what they propose, what they write, and what they tell where they do not."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.tools.documents import Diagnostic, EditAnswer, FileDiagnostics
from gemini_companion.tools.tool import ToolRefusal
from gemini_companion.tools.workspace.changing import corrected
from tests.support.tool_contexts import Desk, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def desk(request: pytest.FixtureRequest, root: Path) -> Desk:
    return Desk(root, by_descriptor=request.param)


async def refused(desk: Desk, name: str, **args: Any) -> str:
    with pytest.raises(ToolRefusal) as raised:
        await desk.call(name, **args)
    return raised.value.message


async def test_a_file_is_made_with_its_folders(desk: Desk, root: Path):
    _, _, proposal = await desk.propose("write_file", file_path="a/b/c.txt", content="x\n")
    assert proposal.title == "Create a/b/c.txt"
    assert proposal.diff == "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,1 @@\n+x"
    assert not (root / "a").exists()
    made = await desk.call("write_file", file_path="a/b/c.txt", content="x\n")
    assert (root / "a/b/c.txt").read_bytes() == b"x\n"
    assert made.output == "Applied: created a/b/c.txt, 1 line."
    assert [path.name for path in (root / "a/b").iterdir()] == ["c.txt"]


async def test_mode_encoding_mark_and_endings_are_kept(desk: Desk, root: Path):
    path = write(root / "a.sh", b"\xef\xbb\xbfone\r\ntwo\r\n")
    path.chmod(0o755)
    await desk.call("write_file", file_path="a.sh", content="one\nthree")
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    write(path, "ä\n".encode("utf-16"))
    await desk.call("replace", file_path="a.sh", old_string="ä", new_string="ö")
    assert path.read_bytes() == "ö\n".encode("utf-16")
    write(path, b"\xe4 \r x\r\n")
    await desk.call("replace", file_path="a.sh", old_string="x\n", new_string="ü\nz")
    assert path.read_bytes() == b"\xe4 \r \xfc\r\nz"


async def test_an_edit_says_where_it_was_made(desk: Desk, root: Path):
    path = write(root / "a.py", "one\ntwo\nthree\n")
    edited = await desk.call("replace", file_path="a.py", old_string="two\n", new_string="2\n2b\n")
    assert path.read_text() == "one\n2\n2b\nthree\n"
    assert edited.output == "Applied: edited a.py. Replaced at line 2."
    assert edited.summary == "+2 −1"
    many = await desk.call("replace", file_path="a.py", old_string="2", new_string="z", allow_multiple=True)
    assert path.read_text() == "one\nz\nzb\nthree\n"
    assert "Replaced at 2 places, lines 2, 3." in many.output


async def test_a_proposal_changes_nothing_and_shows_the_diff(desk: Desk, root: Path):
    path = write(root / "a.py", "one\r\ntwo\r\n")
    _, _, proposal = await desk.propose("replace", file_path="a.py", old_string="two", new_string="2")
    assert path.read_bytes() == b"one\r\ntwo\r\n"
    assert proposal.title == "Edit a.py"
    assert proposal.path == str(path)
    assert proposal.new_content == "one\r\n2\r\n"
    assert proposal.diff == "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
    assert [touched.how for touched in proposal.touched] == ["write"]


async def test_a_refusal_shows_the_nearest_lines(desk: Desk, root: Path):
    write(root / "a.py", "def f():\n\treturn 1\n\ndef g():\n\treturn 2\n")
    told = await refused(desk, "replace", file_path="a.py", old_string="def g():\n  return 3\n", new_string="x\n")
    assert "old_string stands there 0 times" in told
    assert "    4: def g():\n    5: →return 2" in told
    assert "→ is a tab" in told


async def test_an_edit_that_was_made_before_is_recognised(desk: Desk, root: Path):
    write(root / "a.py", "a\nnew text\n")
    told = await refused(desk, "replace", file_path="a.py", old_string="old text", new_string="new text")
    assert "The new text already stands at line 2" in told


async def test_several_places_are_refused_with_their_lines(desk: Desk, root: Path):
    path = write(root / "a.py", "x = 1\ny\nx = 1\n")
    told = await refused(desk, "replace", file_path="a.py", old_string="x = 1", new_string="x = 2")
    assert "stands there 2 times, from the lines 1, 3" in told
    assert path.read_text() == "x = 1\ny\nx = 1\n"
    assert "white space alone" in await refused(desk, "replace", file_path="a.py", old_string=" \n", new_string="z")
    assert "the same" in await refused(desk, "replace", file_path="a.py", old_string="y", new_string="y")


async def test_a_refusal_shows_what_has_changed_since_the_file_was_read(desk: Desk, root: Path):
    path = write(root / "a.py", "x = 'a'\ny = 2\n")
    await desk.call("read_file", file_path="a.py")
    path.write_text('x = "a"\ny = 2\n')
    told = await refused(desk, "replace", file_path="a.py", old_string="x = 'a'\n", new_string="x = 'b'\n")
    assert "What has changed in the file since it was last read:" in told
    assert "-x = 'a'\n+x = \"a\"" in told


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten_unseen(desk: Desk, root: Path):
    path = write(root / "a.py", "one\n")
    await desk.call("read_file", file_path="a.py")
    path.write_text("one\nthe user's line\n")
    assert "+the user's line" in await refused(desk, "write_file", file_path="a.py", content="two\n")
    assert path.read_text() == "one\nthe user's line\n"
    await desk.call("write_file", file_path="a.py", content="two\nthe user's line\n")
    assert path.read_text() == "two\nthe user's line\n"


async def test_an_edit_does_not_make_changes_known_that_the_model_never_saw(desk: Desk, root: Path):
    path = write(root / "a.py", "one\ntwo\n")
    await desk.call("read_file", file_path="a.py")
    path.write_text("one\ntwo\nunseen\n")
    await desk.call("replace", file_path="a.py", old_string="one", new_string="1")
    told = await refused(desk, "write_file", file_path="a.py", content="1\n2\n")
    assert "+unseen" in told
    assert "\n+1\n" not in told


async def test_a_file_that_changes_while_the_question_is_open_is_matched_again(desk: Desk, root: Path):
    path = write(root / "a.py", "one\ntwo\n")
    tool, args, proposal = await desk.propose("replace", file_path="a.py", old_string="two", new_string="2")
    path.write_text("formatted\n\none\ntwo\n")
    edited = await tool.run(args, proposal, desk.context())
    assert path.read_text() == "formatted\n\none\n2\n"
    assert "had changed since the question was asked" in edited.output
    tool, args, proposal = await desk.propose("replace", file_path="a.py", old_string="one", new_string="1")
    path.write_text("nothing of it\n")
    with pytest.raises(ToolRefusal, match="0 times"):
        await tool.run(args, proposal, desk.context())
    assert path.read_text() == "nothing of it\n"


async def test_a_whole_text_is_not_written_over_one_that_nobody_saw(desk: Desk, root: Path):
    path = write(root / "a.py", "one\n")
    tool, args, proposal = await desk.propose("write_file", file_path="a.py", content="two\n")
    path.write_text("other\n")
    with pytest.raises(ToolRefusal, match="changed while the question was open"):
        await tool.run(args, proposal, desk.context())
    tool, args, proposal = await desk.propose("write_file", file_path="new.py", content="two\n")
    write(root / "new.py", "made by another\n")
    with pytest.raises(ToolRefusal, match="changed while the question was open"):
        await tool.run(args, proposal, desk.context())
    assert (path.read_text(), (root / "new.py").read_text()) == ("other\n", "made by another\n")


async def test_an_open_document_is_changed_in_the_editor(desk: Desk, root: Path):
    path = write(root / "a.py", "disk\n")
    desk.editor.open(path, "disk\nunsaved\n")
    edited = await desk.call("replace", file_path="a.py", old_string="unsaved", new_string="edited")
    assert desk.editor.buffers[str(path)].text == "disk\nedited\n"
    assert path.read_text() == "disk\n"
    assert "follows when they save it" in edited.output


@pytest.mark.parametrize("saves", [True, False])
async def test_an_edit_of_an_open_document_that_was_saved_is_on_the_disk_for_commands(
    desk: Desk, root: Path, *, saves: bool
):
    path = write(root / "a.py", "disk\r\n")
    desk.editor.saves = saves
    desk.editor.open(path, "disk\r\n", is_dirty=False)
    await desk.call("replace", file_path="a.py", old_string="disk", new_string="edited")
    assert desk.editor.buffers[str(path)].text == "edited\r\n"
    assert path.read_bytes() == b"edited\r\n"


async def test_an_editor_that_saves_by_itself_is_not_overtaken(desk: Desk, root: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(root / "a.py", "disk\n")
    desk.editor.open(path, "disk\n", is_dirty=False)
    apply_edit = desk.editor.apply_edit

    async def saving(of: str, text: str, label: str) -> EditAnswer:
        path.write_text(text + "formatted\n")
        return await apply_edit(of, text + "formatted\n", label)

    monkeypatch.setattr(desk.editor, "apply_edit", saving)
    await desk.call("replace", file_path="a.py", old_string="disk", new_string="edited")
    assert path.read_text() == "edited\nformatted\n"


@pytest.mark.parametrize(
    ("name", "args"),
    [("replace", {"old_string": "disk", "new_string": "x"}), ("write_file", {"content": "x\n"})],
)
async def test_what_is_typed_while_the_file_is_looked_at_is_not_taken_back(
    desk: Desk, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, args: dict[str, Any]
):
    path = write(root / "a.py", "disk\n")
    desk.editor.open(path, "disk\n", is_dirty=False)
    await desk.call("read_file", file_path="a.py")
    tool, decoded, proposal = await desk.propose(name, file_path="a.py", **args)
    read = desk.files.read

    async def typed_meanwhile(*place: Any, **options: Any) -> Any:
        found = await read(*place, **options)
        desk.editor.open(path, "disk\ntyped\n")
        return found

    monkeypatch.setattr(desk.files, "read", typed_meanwhile)
    with pytest.raises(ToolRefusal, match="Nothing was changed"):
        await tool.run(decoded, proposal, desk.context())
    assert desk.editor.buffers[str(path)].text == "disk\ntyped\n"
    assert path.read_text() == "disk\n"


async def test_unsaved_edits_are_never_overwritten_on_the_disk(desk: Desk, root: Path):
    path = write(root / "a.py", "disk\n")
    desk.editor.open(path, "unsaved\n")
    desk.editor.takes_edits = False
    assert "did not take this one" in await refused(
        desk, "replace", file_path="a.py", old_string="unsaved", new_string="x"
    )
    desk.editor.open(path, "disk\n", is_dirty=False)
    await desk.call("replace", file_path="a.py", old_string="disk", new_string="x")
    assert path.read_text() == "x\n"


@pytest.mark.parametrize("is_dirty", [True, False])
@pytest.mark.parametrize(("answer", "outcome"), [("refused", "declined"), ("unanswered", "timedOut")])
async def test_an_edit_that_the_editor_does_not_make_is_not_made_on_the_disk_either(
    desk: Desk, root: Path, answer: EditAnswer, outcome: str, *, is_dirty: bool
):
    path = write(root / "a.py", "disk\n")
    desk.editor.takes_edits, desk.editor.answers = False, answer
    desk.editor.open(path, "disk\n", is_dirty=is_dirty)
    with pytest.raises(ToolRefusal, match="Nothing was") as refusal:
        await desk.call("replace", file_path="a.py", old_string="disk", new_string="x")
    assert refusal.value.outcome == outcome
    await desk.call("read_file", file_path="a.py")
    with pytest.raises(ToolRefusal, match="Nothing was"):
        await desk.call("write_file", file_path="a.py", content="x\n")
    assert path.read_bytes() == b"disk\n"
    assert desk.editor.buffers[str(path)].text == "disk\n"


async def test_a_document_that_only_might_be_unsaved_is_written_like_any_other_file(desk: Desk, root: Path):
    path = write(root / "a.py", "disk\n")
    desk.editor.open(path, "disk\n")
    desk.editor.takes_edits = False
    await desk.call("replace", file_path="a.py", old_string="disk", new_string="x")
    assert path.read_text() == "x\n"


async def test_the_editors_problems_follow_the_word_that_it_is_applied(desk: Desk, root: Path):
    path = write(root / "a.py", "x\n")
    problem = Diagnostic(line=1, severity="error", message="no such name")
    desk.editor.reported = (FileDiagnostics(path=str(path), diagnostics=(problem,)),)
    output = (await desk.call("replace", file_path="a.py", old_string="x", new_string="y")).output
    assert output.startswith("Applied: ")
    assert "line 1: error: no such name" in output
    desk.editor.reported = (FileDiagnostics(path=str(path), diagnostics=(problem,), is_current=False),)
    output = (await desk.call("replace", file_path="a.py", old_string="y", new_string="z")).output
    assert "not known yet" in output
    assert "no such name" not in output


@pytest.mark.parametrize(
    "path",
    ["package.json", "sub/Makefile", "conftest.py", ".vscode/tasks.json", ".github/workflows/ci.yml", ".GEMINI/settings.json", "vite.config.ts", ".eslintrc.cjs", ".husky/pre-commit"],
)  # fmt: skip
async def test_files_that_decide_what_runs_are_guarded(desk: Desk, path: str):
    _, _, proposal = await desk.propose("write_file", file_path=path, content="x\n")
    assert proposal.touched[0].is_guarded
    assert proposal.warnings


@pytest.mark.parametrize("path", ["src/a.py", "package.py", "docs/makefile.md", "config.ts", "github/x.yml"])
async def test_other_files_are_not_guarded(desk: Desk, path: str):
    _, _, proposal = await desk.propose("write_file", file_path=path, content="x\n")
    assert not proposal.touched[0].is_guarded


async def test_files_of_git_and_secrets_are_written_only_if_named_and_asked_about(desk: Desk, root: Path):
    hook = root / ".git/hooks/pre-commit"
    assert "belongs to git" in await refused(desk, "write_file", file_path=".git/hooks/pre-commit", content="x\n")
    _, _, proposal = await desk.propose("write_file", named=[hook], file_path=".git/hooks/pre-commit", content="x\n")
    assert proposal.touched[0].is_guarded
    assert "a secret" in await refused(desk, "write_file", file_path=".env", content="x\n")
    _, _, proposal = await desk.propose("write_file", named=[root / ".env"], file_path=".env", content="x\n")
    assert proposal.touched[0].secret


async def test_a_mask_is_not_written_over_the_secret_that_it_hides(desk: Desk, root: Path):
    path = write(root / "a.py", "token = 'ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8" + "'\nx = 1\n")
    before = path.read_text()
    shown = (await desk.call("read_file", file_path="a.py")).output.split("]\n", 1)[1]
    assert "secret" in await refused(desk, "write_file", file_path="a.py", content=shown.replace("x = 1", "x = 2"))
    assert path.read_text() == before


async def test_what_is_proposed_shows_the_whole_change(desk: Desk):
    content = "".join(f"line {number}\n" for number in range(5_000)) + "x" * 5_000 + "last\n"
    _, _, proposal = await desk.propose("write_file", file_path="a.py", content=content)
    assert (
        proposal.diff
        == f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,5001 @@\n+{content[:-1].replace(chr(10), chr(10) + '+')}"
    )


async def test_a_hard_link_is_not_changed(desk: Desk, root: Path, tmp_path: Path):
    outside = write(tmp_path / "outside.txt", "x\n")
    (root / "a.txt").hardlink_to(outside)
    assert "hard link" in await refused(desk, "replace", file_path="a.txt", old_string="x", new_string="y")
    assert outside.read_text() == "x\n"


async def test_a_persons_correction_becomes_the_text_and_the_model_is_told(desk: Desk, root: Path):
    path = write(root / "a.py", "one\r\ntwo\r\n")
    await desk.call("read_file", file_path="a.py")
    path.write_bytes(b"one\r\ntwo\r\nadded\r\n")  # the model does not know it; the person sees it in the diff
    _, _, proposal = await desk.propose("replace", file_path="a.py", old_string="two", new_string="2")
    args, told = corrected(proposal, "one\n2 and a half\nadded\n")
    await desk.call("write_file", **args)
    assert path.read_bytes() == b"one\r\n2 and a half\r\nadded\r\n"
    assert "-2\n+2 and a half" in told
    assert corrected(proposal, proposal.new_content or "")[1] == ""


async def test_an_empty_search_makes_a_new_file_alone(desk: Desk, root: Path):
    await desk.call("replace", file_path="a.py", old_string="", new_string="x\n")
    assert (root / "a.py").read_text() == "x\n"
    assert "write_file" in await refused(desk, "replace", file_path="a.py", old_string="", new_string="y\n")
    assert "does not exist" in await refused(desk, "replace", file_path="b.py", old_string="x", new_string="y\n")
    assert "exactly this text already" in await refused(desk, "write_file", file_path="a.py", content="x\n")
    assert "is a folder" in await refused(desk, "write_file", file_path=".", content="x\n")
