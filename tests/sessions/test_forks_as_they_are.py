"""A fork of a chat as it is begins with what the chat knows of its log: the same that the log says when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import ContentEntry, PromptEntry
from gemini_companion.engine.history.tool_entries import SteerOfferedEntry
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.session import Session
from tests.adapters.storage.stores import execute
from tests.sessions.conftest import Opener
from tests.support.sessions import Studio


def numbers(session: Session) -> list[Any]:
    """What a session says of its log."""
    history = session.history
    return [
        history.entries,
        history.epoch,
        [(item.kind, item.seq, item.content, item.measure) for item in history.items],
        history.contents(),
        history.totals(),
        session.request_contents()[1:],
        session.transcript.page(0, None),
        session.turns,
        list(session.open_turns),
        session.mode,
        session.last_result,
        list(history.in_force),
        [one.text for one in history.standing],
        session.tools_state.todos,
        list(session.tools_state.offered),
        session.spending.spent,
        session.experience.turns,
        session.prepared.entry,
    ]


async def forked(studio: Studio, at: str | int | None = None) -> Session:
    source = await studio.session()
    info = await studio.app.fork(studio.client, source.session_id, at)
    fork = await studio.app.load(studio.client, info.session_id)
    assert info.token_count == fork.token_count(fork.choice()).tokens
    return fork


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every content that is taken into a history from now on."""
    entries: list[object] = []
    apply = History.apply

    def noting(self: History, entry: Any) -> None:
        if isinstance(entry, ContentEntry):
            entries.append(entry)
        apply(self, entry)

    monkeypatch.setattr(History, "apply", noting)
    return entries


async def chats(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"Question {number}. Never touch the folder number{number}/. {'It is old. ' * 300}")


async def test_a_chat_that_is_forked_as_it_is_is_not_taken_in_again(studio: Studio, folded: list[object]) -> None:
    await chats(studio)
    folded.clear()
    fork = await forked(studio)
    assert folded == []
    assert fork.turns == 6


@pytest.mark.parametrize(
    "what",
    ["chats", "compression", "undone", "nothing to compress", "cleared", "replaced", "a fork", "first turn", "empty"],
)
async def test_a_fork_says_what_its_log_says_when_another_process_reads_it(opened: Opener, what: str) -> None:
    first = opened()
    if what != "empty":
        await chats(first)
    else:
        await first.app.new_session(first.client)
    if what in ("compression", "undone"):
        assert (await first.compress()).status == "COMPRESSED"
    if what == "nothing to compress":
        await first.app.new_session(first.client)
        assert (await first.compress()).status == "NOOP"
    if what == "undone":
        await undo(await first.session(), client="editor")
    if what == "cleared":
        await first.chat("/clear")
    if what == "replaced":
        await first.chat("Once more", replaces=(await first.session()).history.newest_turn)
    fork = await forked(first, 1 if what == "first turn" else None)
    if what == "a fork":
        fork = await forked(first)
    await first.app.close()
    second = opened()
    read = await second.app.load(second.client, fork.session_id)
    assert numbers(read) == numbers(fork)
    assert list(Transcript(fork.history.entries).open_turns) == list(fork.open_turns)


def look_at(studio: Studio, name: str) -> None:
    """Have the editor show a file."""
    file = ReportedFile(path=f"/project/{name}.py", last_focused_at=1, is_active=True, cursor=(3, 0))
    studio.client.editor.report([file], ())


def offer(session: Session, seq: int, turn_id: str) -> SteerOfferedEntry:
    return SteerOfferedEntry(
        **session.stamp(), seq=seq, turn_id=turn_id, steer_id="steer-1", content=user_text("And this.")
    )


async def plain_chats(studio: Studio, count: int = 4) -> None:
    for number in range(count):
        await studio.chat(f"Question {number}. {'Say more of it. ' * 300}")


@pytest.mark.parametrize(
    "what",
    [
        "plain",
        "resumed",
        "compressed before",
        "compressed behind",
        "undone behind",
        "replaced behind",
        "a rule before",
        "a rule behind",
        "the editor",
        "the editor before",
        "the editor, resumed",
        "cleared behind",
        "imported",
        "offers",
    ],
)
async def test_a_fork_at_an_earlier_turn_says_what_its_log_says_when_it_is_read(
    opened: Opener, what: str, folded: list[object], tmp_path: Path
) -> None:
    first = opened()
    await plain_chats(first)
    if what == "a rule before":
        await pin(await first.session(), text="Never touch legacy/.")
    if what == "the editor before":
        look_at(first, "one")
    if what == "compressed before":
        assert (await first.compress()).status == "COMPRESSED"
    await first.chat("The turn to fork at")
    turn = (await first.session()).history.newest_turn
    match what:
        case "compressed behind" | "undone behind":
            assert (await first.compress()).status == "COMPRESSED"
            if what == "undone behind":
                await undo(await first.session(), client="editor")
        case "the editor" | "the editor, resumed" | "the editor before":
            look_at(first, "two")
        case "cleared behind":
            await first.chat("/clear")
        case "a rule behind":
            await pin(await first.session(), text="Never touch legacy/.")
        case _:
            pass
    await plain_chats(first, 2)
    if what == "replaced behind":
        await first.chat("Once more", replaces=(await first.session()).history.newest_turn)
    source = await first.session()
    if what == "offers":
        await source.append(lambda seq: offer(source, seq, turn or ""))
    if what == "imported":
        file = tmp_path / "whole.json"
        file.write_text("".join(await first.app.export(first.client, source.session_id, "companion")), "utf-8")
        await first.app.import_session(first.client, str(file))
    if what in ("resumed", "the editor, resumed"):
        await first.app.close()
        first = opened()
        await first.app.open_session(first.client, source.session_id)
    source = await first.session()
    said = [list(source.history.entries), *numbers(source)[1:]]
    folded.clear()
    fork = await forked(first, turn)
    if what in ("plain", "resumed", "compressed before", "the editor before", "imported", "offers"):
        assert folded == [], "nothing was taken in again"
    assert numbers(source) == said, "the chat itself stays as it is"
    assert fork.history.prompts[-1].turn_id == turn
    await first.app.close()
    second = opened()
    read = await second.app.load(second.client, fork.session_id)
    assert numbers(read) == numbers(fork)
    assert read.folds.due_ide_tokens == fork.folds.due_ide_tokens
    assert [entry.seq for entry in read.history.ide_entries] == [entry.seq for entry in fork.history.ide_entries]


async def test_a_chat_and_its_fork_go_on_apart(opened: Opener) -> None:
    studio = opened()
    await chats(studio)
    source = await studio.session()
    before = numbers(source)
    fork = await forked(studio)
    await studio.chat("On in the fork", session_id=fork.session_id)
    assert numbers(source) == before
    of_fork = numbers(fork)
    await studio.chat("On in the chat", session_id=source.session_id)
    assert numbers(fork) == of_fork
    last = [entry for entry in fork.history.entries if isinstance(entry, PromptEntry)][-1]
    assert last.content.parts[0]["text"] == "On in the fork"


async def test_a_fork_keeps_its_chat_when_that_is_deleted_and_writes_only_its_own(opened: Opener) -> None:
    studio = opened()
    await chats(studio)
    source = await studio.session()
    fork = await forked(studio)
    forks = await forked(studio)
    said = numbers(fork)
    assert isinstance(studio.store, SqliteStore)
    rows = await execute(studio.store, "SELECT count(*) FROM log WHERE session_id = ?", forks.session_id)
    assert rows[0][0] <= 2
    await studio.app.delete(source.session_id)
    await studio.app.close()
    second = opened()
    assert numbers(await second.app.load(second.client, fork.session_id)) == said
