"""What the model did to files is put back, or a conflict is told and nothing is written."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import ChangeEntry
from gemini_companion.sessions.tool_events import ChangesChanged
from gemini_companion.sessions.tools import changes_reverted, changes_versions
from gemini_companion.tools.tool import ToolContext, ToolOutput
from gemini_companion.tools.workspace import changing
from tests.support.changes_desk import ChangesDesk
from tests.support.reverting import listed, revert
from tests.support.sample_tools import SampleArgs

LINES = "".join(f"line {number}\n" for number in range(20))
LARGE = "1" * 2**21 + "\n"
"""More than is held of a file that a command may change."""


@pytest.fixture
def desk(tmp_path: Path) -> ChangesDesk:
    return ChangesDesk(tmp_path)


async def test_a_turn_is_taken_back_byte_for_byte(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", b"\xef\xbb\xbfone\r\ntwo")
    path.chmod(0o750)
    turn = await desk.replace("a.txt", "two", "three")
    result = await revert(desk, turn_id=turn)
    assert (result.reverted, result.conflicts) == ((str(path),), ())
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo"
    assert path.stat().st_mode & 0o777 == 0o750
    (change,) = (await listed(desk)).changes
    assert (change.state, change.can_revert) == ("reverted", False)
    assert desk.studio.heard.of(ChangesChanged)[-1].files == 0


async def test_a_new_file_goes_only_if_nobody_edited_it(desk: ChangesDesk) -> None:
    first = await desk.write("a.txt", "x\n")
    second = await desk.write("b.txt", "x\n")
    desk.put("b.txt", "x\nmine\n")
    assert (await revert(desk, turn_id=first)).conflicts == ()
    assert not desk.path("a.txt").exists()
    result = await revert(desk, turn_id=second)
    assert (result.reverted, result.change_id) == ((), None)
    assert "not deleted" in result.conflicts[0].reason
    assert desk.path("b.txt").read_text() == "x\nmine\n"


async def test_what_the_person_edited_meanwhile_stays(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", LINES)
    turn = await desk.replace("a.txt", "line 3\n", "model\n")
    path.write_text(path.read_text().replace("line 15\n", "person\n"))
    assert (await revert(desk, turn_id=turn)).conflicts == ()
    assert path.read_text() == LINES.replace("line 15\n", "person\n")


async def test_the_same_line_edited_by_both_is_a_conflict_and_nothing_is_written(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", LINES)
    turn = await desk.replace("a.txt", "line 3\n", "model\n")
    path.write_text(path.read_text().replace("model", "person"))
    now = path.read_bytes()
    result = await revert(desk, turn_id=turn)
    assert (result.reverted, len(result.conflicts)) == ((), 1)
    assert path.read_bytes() == now
    assert (await listed(desk)).changes[0].state == "made"


async def test_several_turns_are_taken_back_as_one_plan(desk: ChangesDesk) -> None:
    path, other = desk.put("a.txt", LINES), desk.put("b.txt", "b\n")
    first = await desk.replace("a.txt", "line 1\n", "one\n")
    await desk.write("new.txt", "n\n")
    await desk.turn(
        ("replace", {"file_path": "a.txt", "old_string": "one\n", "new_string": "uno\n"}),
        ("write_file", {"file_path": "b.txt", "content": "c\n"}),
    )
    result = await revert(desk, since=first)
    assert len(result.reverted) == 3
    assert (path.read_text(), other.read_text()) == (LINES, "b\n")
    assert not desk.path("new.txt").exists()


async def test_since_a_turn_that_changed_nothing_is_what_later_ones_changed(desk: ChangesDesk) -> None:
    desk.put("a.txt", "1\n")
    asked = await desk.turn()
    await desk.write("a.txt", "2\n")
    last = await desk.turn()
    assert len((await revert(desk, since=asked, dry_run=True)).reverted) == 1
    assert (await revert(desk, since=last, dry_run=True)).reverted == ()
    with pytest.raises(InvalidInput, match="nothing to take back"):
        await revert(desk, since=last)
    with pytest.raises(InvalidInput, match="no turn"):
        await revert(desk, since="another")
    await revert(desk, since=asked)
    assert desk.path("a.txt").read_text() == "1\n"


async def test_a_revert_can_be_reverted_and_that_too(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", "old\n")
    turn = await desk.write("a.txt", "new\n")
    first = await revert(desk, turn_id=turn)
    second = await revert(desk, change_id=first.change_id)
    assert path.read_text() == "new\n"
    assert (await listed(desk)).changes[0].state == "made"
    await revert(desk, change_id=second.change_id)
    assert path.read_text() == "old\n"
    assert (await listed(desk)).changes[0].state == "reverted"


async def test_nothing_named_is_the_newest_change(desk: ChangesDesk) -> None:
    desk.put("a.txt", "1\n")
    await desk.write("a.txt", "2\n")
    await desk.write("a.txt", "3\n")
    await revert(desk)
    assert desk.path("a.txt").read_text() == "2\n"
    await revert(desk)
    assert desk.path("a.txt").read_text() == "1\n"
    with pytest.raises(InvalidInput):
        await revert(desk)


async def test_one_file_of_a_turn_is_taken_back(desk: ChangesDesk) -> None:
    turn = await desk.turn(*[("write_file", {"file_path": name, "content": "x\n"}) for name in ("a", "b")])
    await revert(desk, turn_id=turn, path="a")
    assert (desk.path("a").exists(), desk.path("b").exists()) == (False, True)
    assert {Path(change.path).name: change.state for change in (await listed(desk)).changes} == {
        "a": "reverted",
        "b": "made",
    }


async def test_one_place_of_a_change_is_taken_back_and_the_rest_can_follow(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", LINES)
    content = LINES.replace("line 2\n", "two\n").replace("line 17\n", "seventeen\n")
    turn = await desk.write("a.txt", content)
    assert (await listed(desk)).changes[0].hunks == 2
    first = await revert(desk, turn_id=turn, path="a.txt", hunks=(0,))
    assert path.read_text() == LINES.replace("line 17\n", "seventeen\n")
    assert (await listed(desk)).changes[0].hunks == 1
    await revert(desk, change_id=first.change_id)
    assert path.read_text() == content
    await revert(desk, turn_id=turn, path="a.txt", hunks=(1,))
    await revert(desk, turn_id=turn)
    assert path.read_text() == LINES


async def changes_logged(desk: ChangesDesk) -> list[int]:
    return [entry.seq for entry in (await desk.session()).history.entries if isinstance(entry, ChangeEntry)]


async def test_a_dry_run_says_what_would_happen_and_changes_nothing(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", "old\n")
    await desk.write("a.txt", "new\n")
    logged = await changes_logged(desk)
    result = await revert(desk, dry_run=True)
    assert (result.reverted, result.change_id) == ((str(path),), None)
    assert path.read_text() == "new\n"
    assert await changes_logged(desk) == logged


async def test_an_open_document_is_put_back_in_the_editor_with_its_unsaved_edits(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", LINES)
    turn = await desk.replace("a.txt", "line 3\n", "model\n")
    desk.editor.open(path, path.read_text().replace("line 15\n", "unsaved\n"))
    await revert(desk, turn_id=turn)
    buffer = desk.editor.buffer(str(path))
    assert buffer is not None
    assert buffer.text == LINES.replace("line 15\n", "unsaved\n")
    assert path.read_text() == LINES.replace("line 3\n", "model\n")


async def test_an_edit_made_in_the_editor_is_taken_back_there(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", LINES)
    desk.editor.open(path, LINES + "unsaved\n")
    await desk.replace("a.txt", "line 3\n", "model\n")
    await revert(desk)
    buffer = desk.editor.buffer(str(path))
    assert buffer is not None
    assert buffer.text == LINES + "unsaved\n"
    assert path.read_text() == LINES


async def test_an_editor_that_does_not_take_it_keeps_its_unsaved_edits(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", LINES)
    await desk.replace("a.txt", "line 3\n", "model\n")
    model = path.read_text()
    desk.editor.open(path, model + "unsaved\n")
    desk.editor.takes_edits = False
    result = await revert(desk)
    assert result.reverted == ()
    assert "unsaved" in result.conflicts[0].reason
    assert path.read_text() == model
    assert (await listed(desk)).changes[0].state == "made"


async def test_a_file_that_changes_while_it_is_put_back_is_left(
    desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.put("a.txt", "old\n")
    await desk.write("a.txt", "new\n")
    write = desk.ports.files.write

    async def late(*args: Any, **more: Any) -> str:
        path.write_text("person\n")
        return await write(*args, **more)

    monkeypatch.setattr(desk.ports.files, "write", late)
    result = await revert(desk)
    assert (result.reverted, len(result.conflicts)) == ((), 1)
    assert path.read_text() == "person\n"


async def test_while_the_model_works_nothing_is_taken_back(desk: ChangesDesk) -> None:
    desk.put("a.txt", "old\n")
    await desk.write("a.txt", "new\n")
    let_go = asyncio.Event()

    async def wait(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await let_go.wait()
        return ToolOutput(output="done")

    desk.shell.work = wait
    turn = asyncio.create_task(desk.turn(("run_shell_command", {})))
    await desk.shell.started.wait()
    with pytest.raises(InvalidInput) as refused:
        await revert(desk)
    assert "at work" in refused.value.message
    let_go.set()
    await turn
    assert (await revert(desk)).conflicts == ()


async def test_what_a_command_changed_is_put_back_only_where_its_bytes_are_known(desk: ChangesDesk) -> None:
    known, unknown = desk.put("known.txt", "1\n"), desk.put("unknown.txt", LARGE)
    await desk.write("known.txt", "2\n")

    def command() -> None:
        known.write_text("3\n")
        unknown.write_text("22\n")
        desk.put("made.txt", "x\n")

    turn = await desk.run(command)
    result = await revert(desk, turn_id=turn)
    assert {Path(path).name for path in result.reverted} == {"known.txt", "made.txt"}
    assert [Path(conflict.path).name for conflict in result.conflicts] == ["unknown.txt"]
    assert (known.read_text(), unknown.read_text()) == ("2\n", "22\n")
    assert not desk.path("made.txt").exists()
    found = await listed(desk)
    assert not next(change for change in found.changes if "unknown" in change.path).can_revert
    assert "outside the workspace" in found.note


async def test_a_version_that_is_gone_is_told(desk: ChangesDesk) -> None:
    desk.put("a.txt", "old\n")
    await desk.write("a.txt", "new\n")
    kept = desk.studio.store.versions.kept  # type: ignore[attr-defined]
    kept.clear()
    (change,) = (await listed(desk)).changes
    assert not change.can_revert
    assert "no longer kept" in change.reason
    result = await revert(desk)
    assert result.reverted == ()
    assert desk.path("a.txt").read_text() == "new\n"


async def test_a_file_too_large_to_be_kept_is_told_before_the_yes_and_when_it_is_tried(
    desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (changing, changes_versions):
        monkeypatch.setattr(module, "MAX_VERSION", 100)
    path = desk.put("a.txt", LINES)
    await desk.replace("a.txt", "line 3\n", "model\n")
    (_, proposal) = desk.consent.asked[-1]
    assert "cannot be taken back" in proposal.irreversible
    result = await revert(desk)
    assert result.reverted == ()
    assert result.conflicts
    assert "model\n" in path.read_text()


async def test_what_is_kept_is_not_counted_and_can_still_be_taken_back(desk: ChangesDesk) -> None:
    desk.put("a.txt", "old\n")
    await desk.write("a.txt", "new\n")
    await changes_reverted.keep(await desk.session(), None)
    assert desk.studio.heard.of(ChangesChanged)[-1].files == 0
    assert (await listed(desk)).changes[0].state == "kept"
    await revert(desk)
    assert desk.path("a.txt").read_text() == "old\n"


@pytest.mark.parametrize("came_to", ["nothing", "the write"])
async def test_a_change_that_a_crash_cut_short_is_settled_by_what_is_on_the_disk(
    desk: ChangesDesk, came_to: str
) -> None:
    path = desk.put("a.txt", "old\n")
    await desk.write("a.txt", "new\n")
    session = await desk.session()
    state = session.tools_state.changes
    (entry,) = [each for each in session.history.entries if isinstance(each, ChangeEntry) and not each.is_done]
    state.apply(entry)  # as if its second entry had never been written
    if came_to == "nothing":
        path.write_text("old\n")
        with pytest.raises(InvalidInput):
            await revert(desk)
        assert state.open == []
        assert (await listed(desk)).changes == ()
    else:
        await revert(desk)
        assert path.read_text() == "old\n"


async def test_a_place_is_taken_back_without_what_the_person_wrote_between_two_writes_of_the_model(
    desk: ChangesDesk,
) -> None:
    path = desk.put("a.txt", LINES)
    typed = LINES.replace("line 3\n", "model\n").replace("line 9\n", "person\n")

    def person() -> None:
        path.write_text(typed)

    monkey = desk.consent.decide

    async def decide(*args: Any) -> Any:
        if "seventeen" in str(args[2].args):
            person()
        return await monkey(*args)

    desk.consent.decide = decide  # type: ignore[method-assign]
    turn = await desk.turn(
        ("replace", {"file_path": "a.txt", "old_string": "line 3\n", "new_string": "model\n"}),
        ("replace", {"file_path": "a.txt", "old_string": "line 17\n", "new_string": "seventeen\n"}),
    )
    if "seventeen" not in path.read_text():
        turn = await desk.replace("a.txt", "line 17\n", "seventeen\n")
    change = (await listed(desk)).changes[0]
    assert "person" not in "".join(line for line in change.diff.splitlines() if line[:1] in "+-")
    await revert(desk, turn_id=turn, path="a.txt", hunks=(0,))
    assert "person\n" in path.read_text()
