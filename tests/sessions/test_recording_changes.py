"""What calls do to files is on record: what was there before the write, what is there after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled, StorageFault
from gemini_companion.engine.history.log import Entry, ToolResultEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileVersion
from gemini_companion.sessions.tool_events import ChangesChanged
from gemini_companion.sessions.tools import changes_reverted
from tests.support.changes_desk import ChangesDesk
from tests.support.patience import PATIENCE

LARGE = "1" * 2**21 + "\n"
"""More than is held of a file that a command may change."""


@pytest.fixture
def desk(tmp_path: Path) -> ChangesDesk:
    return ChangesDesk(tmp_path)


async def change_entries(desk: ChangesDesk) -> list[ChangeEntry]:
    session = await desk.session()
    return [entry for entry in session.history.entries if isinstance(entry, ChangeEntry)]


async def bytes_of(desk: ChangesDesk, version: FileVersion | None) -> bytes | None:
    return None if version is None else await desk.studio.store.versions.load(version.digest)


async def last_outcome(desk: ChangesDesk) -> tuple[str, Any]:
    session = await desk.session()
    result = [entry for entry in session.history.entries if isinstance(entry, ToolResultEntry)][-1]
    return result.calls[-1].outcome, result.content.parts[0]["functionResponse"]["response"]


async def test_both_versions_of_a_changed_file_are_kept(desk: ChangesDesk) -> None:
    desk.put("a.txt", b"one\r\ntwo\r\n")
    turn = await desk.replace("a.txt", "two", "three")
    first, second = await change_entries(desk)
    assert (first.is_done, second.is_done) == (False, True)
    assert first.change_id == second.change_id
    assert second.turn_id == turn
    (change,) = second.changes
    assert (change.kind, change.path, change.added, change.removed) == ("changed", str(desk.path("a.txt")), 1, 1)
    assert await bytes_of(desk, change.before) == b"one\r\ntwo\r\n"
    assert await bytes_of(desk, change.after) == b"one\r\nthree\r\n"
    assert desk.studio.heard.of(ChangesChanged)[-1].files == 1


async def test_a_new_file_has_no_version_before(desk: ChangesDesk) -> None:
    await desk.write("deep/new.txt", "x\ny\n")
    folder, change = (await change_entries(desk))[-1].changes
    assert (change.kind, change.before, change.added) == ("created", None, 2)
    assert folder.after is not None
    assert (folder.path, folder.after.is_folder) == (str(desk.path("deep")), True)


async def test_what_was_there_is_durable_before_the_file_changes(
    desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = desk.put("a.txt", "old\n")
    seen: list[tuple[bytes, int]] = []
    write = desk.ports.files.write

    async def watched(*args: Any, **more: Any) -> str:
        seen.append((path.read_bytes(), len(await change_entries(desk))))
        return await write(*args, **more)

    monkeypatch.setattr(desk.ports.files, "write", watched)
    await desk.write("a.txt", "new\n")
    assert seen == [(b"old\n", 1)]


@pytest.mark.parametrize("where", ["versions", "log"])
async def test_an_edit_whose_old_bytes_cannot_be_kept_does_not_happen(
    desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    path = desk.put("a.txt", "old\n")
    session = await desk.session()

    async def fail(*_: Any) -> None:
        raise StorageFault("The disk is full.", hint="Make room.")

    if where == "versions":
        monkeypatch.setattr(desk.studio.store.versions, "save", fail)
    else:
        append = session.append

        async def append_but_changes(*drafts: Any) -> Any:
            if any(isinstance(draft(1), ChangeEntry) for draft in drafts):
                await fail()
            return await append(*drafts)

        monkeypatch.setattr(session, "append", append_but_changes)
    await desk.write("a.txt", "new\n")
    assert path.read_bytes() == b"old\n"
    outcome, response = await last_outcome(desk)
    assert outcome == "failed"
    assert "nothing was changed" in response["error"]
    assert "The disk is full" in response["error"]


async def test_an_edit_that_fails_leaves_no_change(desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a.txt", "old\n")

    async def fail(*_: Any, **__: Any) -> str:
        raise OSError("no")

    monkeypatch.setattr(desk.ports.files, "write", fail)
    await desk.write("a.txt", "new\n")
    session = await desk.session()
    assert session.tools_state.changes.files() == []
    assert session.tools_state.changes.open == []


async def test_an_unsaved_buffer_is_kept_as_it_would_be_on_the_disk(desk: ChangesDesk) -> None:
    path = desk.put("a.txt", "disk ä\n".encode("utf-16"))
    desk.editor.open(path, "disk ä\nperson\n")
    await desk.replace("a.txt", "disk", "model")
    (change,) = (await change_entries(desk))[-1].changes
    assert await bytes_of(desk, change.before) == "disk ä\n".encode("utf-16")
    assert await bytes_of(desk, change.unsaved) == "disk ä\nperson\n".encode("utf-16")
    assert await bytes_of(desk, change.new) == "model ä\nperson\n".encode("utf-16")


async def test_what_a_command_did_is_listed_and_its_old_bytes_kept_where_they_are_known(desk: ChangesDesk) -> None:
    desk.put(".gitignore", "*.log\n")
    known, unknown, gone = desk.put("known.txt", "1\n"), desk.put("unknown.txt", LARGE), desk.put("gone.txt", "1\n")
    await desk.write("known.txt", "2\n")

    def command() -> None:
        known.write_text("3\n")
        unknown.write_text("22\n")
        gone.unlink()
        desk.put("new/made.txt", "x\n")
        desk.put("hidden.log", "x\n")

    await desk.run(command)
    entry = (await change_entries(desk))[-1]
    assert (entry.by_command, entry.is_done) == (True, True)
    assert "outside the workspace" in entry.note
    found = {Path(change.path).name: change for change in entry.changes}
    assert {name: change.kind for name, change in found.items()} == {
        "known.txt": "changed", "unknown.txt": "changed", "gone.txt": "deleted", "made.txt": "created",
        "new": "created",
    }  # fmt: skip
    assert await bytes_of(desk, found["known.txt"].before) == b"2\n"
    assert found["unknown.txt"].before is not None
    assert not found["unknown.txt"].before.is_kept


async def test_a_command_that_changes_nothing_leaves_no_change(desk: ChangesDesk) -> None:
    desk.put("a.txt", "1\n")
    await desk.run(lambda: None)
    assert [entry.changes for entry in await change_entries(desk)] == [(), ()]
    assert (await desk.session()).tools_state.changes.open == []


@pytest.mark.parametrize("called", ["write", "run"])
async def test_a_call_that_is_stopped_before_it_begins_leaves_no_change_to_be_found_later(
    desk: ChangesDesk, monkeypatch: pytest.MonkeyPatch, called: str
) -> None:
    path = desk.put("a.txt", "old\n")
    session, store = await desk.session(), desk.studio.store
    append, reached, goes_on = store.append, asyncio.Event(), asyncio.Event()

    async def held_up(session_id: str, entries: Sequence[Entry]) -> None:
        if any(isinstance(entry, ChangeEntry) and not entry.is_done for entry in entries):
            reached.set()
            await goes_on.wait()
        await append(session_id, entries)

    monkeypatch.setattr(store, "append", held_up)
    ran: list[bool] = []
    work = desk.write("a.txt", "new\n") if called == "write" else desk.run(lambda: ran.append(True))
    turn = asyncio.create_task(work)
    await asyncio.wait_for(reached.wait(), PATIENCE)
    stopping = asyncio.create_task(desk.studio.app.cancel(desk.studio.client, None))
    await stopping
    goes_on.set()
    with pytest.raises(Cancelled):
        await turn
    path.write_text("the person's\n")
    await desk.turn()
    await changes_reverted.settle_left(session, desk.studio.client, desk.studio.app.tooling)
    assert [entry.is_done for entry in await change_entries(desk)] == [False, True]
    assert session.tools_state.changes.under_way == set()
    assert session.tools_state.changes.files() == []
    assert ran == []
