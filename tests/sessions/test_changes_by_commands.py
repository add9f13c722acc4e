"""What a command does to files, folders, links and modes is noticed, told to the model, and put back."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.errors import Cancelled
from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.changes_desk import ChangesDesk
from tests.support.reverting import listed, revert
from tests.support.sample_tools import SampleArgs
from tests.support.sessions import ManualClock

pytestmark = pytest.mark.process

LARGE = b"1" * 2**21


@pytest.fixture
def desk(tmp_path: Path) -> ChangesDesk:
    return ChangesDesk(tmp_path)


def tree(desk: ChangesDesk) -> dict[str, tuple[str, int, Any]]:
    """Kind, permission bits and content of all there is."""
    found: dict[str, tuple[str, int, Any]] = {}
    for path in desk.root.rglob("*"):
        name, mode = str(path.relative_to(desk.root)), path.lstat().st_mode & 0o777
        if path.is_symlink():
            found[name] = ("link", 0, os.readlink(path))
        else:
            found[name] = ("folder", mode, None) if path.is_dir() else ("file", mode, path.read_bytes())
    return found


def shell(desk: ChangesDesk, line: str) -> None:
    subprocess.run(["bash", "-ec", line], cwd=desk.root, check=True, capture_output=True)


async def told(desk: ChangesDesk) -> str:
    """What the model was told of the changes of its last call."""
    session = await desk.session()
    result = [entry for entry in session.history.entries if isinstance(entry, ToolResultEntry)][-1]
    return result.content.parts[0]["functionResponse"]["response"].get("filesChanged", "")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("sed -i s/one/uno/ a.txt", ["a.txt (changed)"]),
        ("mv a.txt moved.txt", ["moved.txt (renamed from a.txt)"]),
        ("mv sub other", ["other/b.txt (renamed from sub/b.txt)", "other/link (renamed from sub/link)"]),
        ("mv a.txt A.txt", ["A.txt (renamed from a.txt)"]),
        ("cp a.txt copy.txt; rm a.txt", ["copy.txt (renamed from a.txt)"]),
        ("cp -r sub again", ["again/b.txt (created)", "again/link (created)"]),
        ("rm a.txt; printf 'new\\n' > a.txt", ["a.txt (changed)"]),
        ("rm -r sub", ["sub/b.txt (deleted)", "sub/link (deleted)"]),
        ("rm -r sub; printf x > sub", ["sub (changed)", "sub/b.txt (deleted)", "sub/link (deleted)"]),
        ("rm a.txt; mkdir a.txt; printf x > a.txt/in", ["a.txt (changed)", "a.txt/in (created)"]),
        ("chmod +x a.txt; chmod 700 sub", ["a.txt (changed)"]),
        ("chmod 600 large.bin", ["large.bin (changed)"]),
        ("mv large.bin huge.bin", ["huge.bin (renamed from large.bin)"]),
        ("ln -sfn ../large.bin sub/link", ["sub/link (changed)"]),
        ("rm sub/link; printf x > sub/link", ["sub/link (changed)"]),
        ("rm a.txt; ln -s large.bin a.txt", ["a.txt (changed)"]),
        ("mkdir -p empty/deep; touch empty/file", ["empty/file (created)"]),
        ("tar -C .. -xf ../old.tar", ["a.txt (changed)", "sub/b.txt (changed)"]),
        ("touch a.txt", []),
    ],
)
async def test_what_a_command_did_is_told_to_the_model_and_taken_back_whole(
    desk: ChangesDesk, line: str, names: list[str]
) -> None:
    desk.put("a.txt", "one\n")
    desk.put("sub/b.txt", "two\n")
    desk.put("large.bin", LARGE)
    desk.path("sub/hollow").mkdir()
    desk.path("sub/link").symlink_to("../a.txt")
    # An archive of files of the same size and the same time.
    shell(desk, "cp -a . ../packed; printf 'eno\\n' > ../packed/a.txt; printf 'owt\\n' > ../packed/sub/b.txt")
    shell(desk, "touch -r a.txt ../packed/a.txt; touch -r sub/b.txt ../packed/sub/b.txt")
    shell(desk, "cd ../packed; tar -cf ../old.tar --transform 's,^,workspace/,' a.txt sub/b.txt; rm -r ../packed")
    before = tree(desk)
    turn = await desk.run(lambda: shell(desk, line))
    now = tree(desk)
    said = await told(desk)
    assert sorted(said.split(", ")) == sorted(names or [""])
    changes = (await listed(desk)).changes
    assert all(change.by_command and change.can_revert for change in changes), changes
    if not names:
        assert changes == ()
        return
    result = await revert(desk, turn_id=turn)
    assert result.conflicts == ()
    assert tree(desk) == before
    await revert(desk, change_id=result.change_id)
    assert tree(desk) == now


async def test_what_git_checks_out_is_noticed_and_taken_back(desk: ChangesDesk) -> None:
    shell(desk, "git init -q; git config user.email a@b; git config user.name n; git config core.autocrlf false")
    desk.put("a.txt", "one\n")
    desk.put("gone.txt", "gone\n")
    shell(desk, "git add .; git commit -qm 1; git checkout -qb other; git rm -q gone.txt")
    desk.put("a.txt", "two\n")
    desk.put("new/file.txt", "new\n")
    shell(desk, "git add .; git commit -qm 2; git checkout -q -")
    before = {path: one for path, one in tree(desk).items() if not path.startswith(".git")}
    turn = await desk.run(lambda: shell(desk, "git checkout -q other"))
    assert {Path(change.path).name: change.kind for change in (await listed(desk)).changes} == {
        "a.txt": "changed",
        "gone.txt": "deleted",
        "file.txt": "created",
    }
    assert (await revert(desk, turn_id=turn)).conflicts == ()
    assert {path: one for path, one in tree(desk).items() if not path.startswith(".git")} == before


async def test_files_that_are_no_longer_ignored_are_not_taken_for_new_ones(
    desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignore = desk.put(".gitignore", "*.log\n")
    log, old = desk.put("a.log", "1\n"), os.stat(desk.put("b.txt", "1\n"))
    now = old.st_ctime_ns + 60 * 10**9
    monkeypatch.setattr("time.time_ns", lambda: now)
    await desk.run(ignore.unlink)
    assert [Path(change.path).name for change in (await listed(desk)).changes] == [".gitignore"]
    await revert(desk)
    assert log.exists()
    await desk.run(lambda: ignore.write_text("*.txt\n"))
    names = [Path(change.path).name for change in (await listed(desk)).changes if change.state == "made"]
    assert names == [".gitignore"]


async def test_what_a_command_changed_before_it_was_stopped_is_noticed(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", "old\n")

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        path.write_text("new\n")
        await asyncio.Event().wait()
        return ToolOutput()

    desk.shell.work = work
    turn = asyncio.create_task(desk.turn(("run_shell_command", {})))
    await desk.shell.started.wait()
    await desk.studio.app.cancel(desk.studio.client, None)
    with pytest.raises(Cancelled):
        await turn
    result = await revert(desk)  # it waits until that is recorded
    assert (result.reverted, path.read_text()) == ((str(path),), "old\n")


async def test_what_another_session_writes_meanwhile_is_not_the_commands(desk: ChangesDesk) -> None:
    desk.put("a.txt", "old\n")
    await desk.write("first.txt", "x\n")
    mine = await desk.session()
    changes: Any = desk.studio.app.tooling.changes
    other = await desk.studio.app.create(desk.studio.client)

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        import hashlib

        desk.put("a.txt", "theirs\n")
        desk.put("b.txt", "the command's\n")
        changes.wrote(other, str(desk.path("a.txt")), hashlib.sha256(b"theirs\n").hexdigest())
        return ToolOutput(output="done")

    desk.shell.work = work
    desk.studio.client.current = mine.session_id
    await desk.turn(("run_shell_command", {}))
    assert {Path(change.path).name for change in (await listed(desk)).changes} == {"first.txt", "b.txt"}


async def test_a_folder_made_for_a_file_goes_with_it_and_stays_with_a_person(desk: ChangesDesk) -> None:
    first = await desk.write("made/deep/a.txt", "x\n")
    assert (await revert(desk, turn_id=first)).conflicts == ()
    assert tree(desk) == {}
    second = await desk.write("made/deep/a.txt", "x\n")
    desk.put("made/mine.txt", "mine\n")
    result = await revert(desk, turn_id=second)
    assert (result.reverted, result.conflicts) == ((str(desk.path("made/deep/a.txt")),), ())
    assert set(tree(desk)) == {"made", "made/mine.txt"}


async def test_a_file_that_is_deleted_and_made_again_within_a_turn_comes_back_as_it_was(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", "old\n")
    path.chmod(0o755)
    desk.command = path.unlink
    turn = await desk.turn(("run_shell_command", {}), ("write_file", {"file_path": "a.txt", "content": "new\n"}))
    (change,) = (await listed(desk)).changes
    assert (change.kind, change.added, change.removed) == ("changed", 1, 1)
    await revert(desk, turn_id=turn)
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("old\n", 0o755)


async def test_three_turns_are_taken_back_with_a_conflict_where_a_folder_took_a_files_place(desk: ChangesDesk) -> None:
    desk.put("a.txt", "a\n")
    desk.put("b.txt", "b\n")
    first = await desk.write("a.txt", "a2\n")
    await desk.run(lambda: shell(desk, "printf 'b2\\n' > b.txt"))
    await desk.write("sub/c.txt", "c\n")
    desk.path("a.txt").unlink()
    desk.put("a.txt/mine", "mine\n")
    result = await revert(desk, since=first)
    assert [(Path(one.path).name, one.reason) for one in result.conflicts] == [
        ("a.txt", "There is a folder of this name now. Nothing was written.")
    ]
    assert desk.path("b.txt").read_text() == "b\n"
    assert desk.path("a.txt/mine").read_text() == "mine\n"
    assert not desk.path("sub").exists()


async def test_taking_back_leaves_what_another_session_did_to_the_same_file(desk: ChangesDesk) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    path = desk.put("a.txt", lines)
    turn = await desk.replace("a.txt", "line 3\n", "mine\n")
    mine = (await desk.session()).session_id
    await desk.studio.app.new_session(desk.studio.client)
    await desk.replace("a.txt", "line 15\n", "theirs\n")
    desk.studio.client.current = mine
    assert (await revert(desk, turn_id=turn)).conflicts == ()
    assert path.read_text() == lines.replace("line 15\n", "theirs\n")


async def test_a_link_that_was_edited_since_is_a_conflict(desk: ChangesDesk) -> None:
    link = desk.path("link")
    link.symlink_to("a")
    await desk.run(lambda: shell(desk, "ln -sfn b link"))
    link.unlink()
    link.symlink_to("mine")
    result = await revert(desk)
    assert (result.reverted, len(result.conflicts)) == ((), 1)
    assert os.readlink(link) == "mine"


async def test_a_link_is_never_followed_to_what_lies_outside(desk: ChangesDesk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("theirs\n")
    desk.put("sub/f", "mine\n")
    await desk.run(lambda: shell(desk, "printf 'new\\n' > sub/f"))
    shutil.rmtree(desk.path("sub"))
    desk.path("sub").symlink_to(outside)
    result = await revert(desk)
    assert (result.reverted, len(result.conflicts)) == ((), 1)
    assert (outside / "f").read_text() == "theirs\n"


async def test_what_the_person_saves_while_a_command_runs_is_not_the_commands(desk: ChangesDesk) -> None:
    for name in ("both.txt", "mine.txt", "before.txt"):
        desk.put(name, "old\n")
    desk.editor.person_saves(desk.path("before.txt"), "mine, before it\n")

    def command() -> None:
        desk.editor.person_saves(desk.path("mine.txt"), "mine\n")
        desk.editor.person_saves(desk.path("new.txt"), "mine\r\n")
        desk.editor.person_saves(desk.path("both.txt"), "mine\n")
        desk.put("both.txt", "the command's\n")
        desk.put("before.txt", "the command's\n")
        desk.put("made.txt", "the command's\n")

    turn_id = await desk.run(command)
    found = await listed(desk)
    assert {Path(change.path).name for change in found.changes} == {"both.txt", "before.txt", "made.txt"}
    assert "You saved mine.txt, new.txt while a command ran" in found.note
    await revert(desk, turn_id=turn_id)
    assert desk.path("mine.txt").read_text() == "mine\n"
    assert desk.path("new.txt").read_bytes() == b"mine\r\n"
    assert desk.path("before.txt").read_text() == "mine, before it\n"
    assert not desk.path("made.txt").exists()


async def test_a_command_leaves_its_look_at_the_workspace_kept_nowhere(tmp_path: Path) -> None:
    store = open_store(tmp_path / "data", "default", clock=ManualClock())
    desk = ChangesDesk(tmp_path, store=store)
    desk.put("a.txt", "old\n")
    await desk.run(lambda: desk.put("a.txt", "new\n"))
    assert len(list(tmp_path.rglob("*.zst"))) == 2, "the file's versions alone"
    await desk.studio.app.close()
