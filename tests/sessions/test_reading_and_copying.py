"""Pages of the history, replay of events, forks and imports of what is under way, and recovery from a crash."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from gemini_companion.engine.errors import InvalidInput, StaleVersion
from gemini_companion.sessions.checkpoints import undo
from gemini_companion.sessions.events import CompactionCancelled, CompactionProgress, MessageDelta, TurnCancelled
from gemini_companion.sessions.history_pages import history_page
from gemini_companion.sessions.inspection import event_page
from gemini_companion.sessions.ports import ModelChunk, ModelRequest, StoredEvent
from gemini_companion.sessions.session import Session
from tests.sessions.conftest import Opener
from tests.support.sessions import Studio

View = Literal["model", "transcript"]
VIEWS: tuple[View, View] = ("model", "transcript")


async def pages(session: Session, view: View, limit: int) -> list[object]:
    found: list[object] = []
    cursor: str | None = None
    while True:
        page = await history_page(session, view, cursor=cursor, limit=limit)
        found += page.contents
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


@pytest.mark.parametrize("view", VIEWS)
async def test_pages_put_together_are_the_whole_also_while_turns_are_added(studio: Studio, view: View) -> None:
    for number in range(4):
        await studio.chat(f"question {number}")
    session = await studio.session()
    whole = await history_page(session, view, cursor=None, limit=None)
    assert await pages(session, view, 3) == list(whole.contents)
    first = await history_page(session, view, cursor=None, limit=3)
    await studio.chat("more")
    second = await history_page(session, view, cursor=first.next_cursor, limit=5)
    assert [*first.contents, *second.contents] == list(whole.contents)


async def test_a_cursor_into_the_models_view_is_stale_after_the_view_changed_and_one_into_the_transcript_is_not(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"question {number} " + "word " * 200)
    session = await studio.session()
    model = await history_page(session, "model", cursor=None, limit=3)
    transcript = await history_page(session, "transcript", cursor=None, limit=3)
    await studio.compress()
    with pytest.raises(StaleVersion):
        await history_page(session, "model", cursor=model.next_cursor, limit=3)
    assert (await history_page(session, "transcript", cursor=transcript.next_cursor, limit=3)).contents[0].parts[0]["text"].startswith("Done.")
    await undo(session, client="c")
    with pytest.raises(StaleVersion):
        await history_page(session, "model", cursor=model.next_cursor, limit=3)


@pytest.mark.parametrize("cursor", ["", "3", "x", "1.x", "-1.2", "1.2.3", "1.9999999999999", "０.1"])
async def test_a_cursor_that_no_page_gave_is_refused(studio: Studio, cursor: str) -> None:
    await studio.chat("one")
    session = await studio.session()
    for view in VIEWS:
        with pytest.raises(InvalidInput) as refused:
            await history_page(session, view, cursor=cursor, limit=1)
        assert refused.value.path == "$.cursor"


async def test_a_cursor_of_the_other_view_is_refused(studio: Studio) -> None:
    for number in range(2):
        await studio.chat(f"{number}")
    session = await studio.session()
    for view, other in (VIEWS, VIEWS[::-1]):
        page = await history_page(session, view, cursor=None, limit=1)
        with pytest.raises(InvalidInput):
            await history_page(session, other, cursor=page.next_cursor, limit=1)


async def test_the_deltas_of_a_running_turn_are_replayed_one_by_one_and_only_those_that_were_missed(studio: Studio) -> None:
    session = await studio.session()
    held = asyncio.Event()

    async def stream(request: ModelRequest) -> AsyncIterator[ModelChunk]:
        for text in ("one ", "two ", "three "):
            yield ModelChunk(parts=({"text": text},))
        await held.wait()
        yield ModelChunk(parts=({"text": "four"},))
        yield ModelChunk(finish_reason="STOP")

    studio.model.stream = stream
    chatting = asyncio.create_task(studio.chat("count"))
    await studio.heard.wait_for(MessageDelta)
    numbers = [seq for _, seq, _, event in studio.heard.told if isinstance(event, MessageDelta)]
    page = await event_page(session, numbers[0])
    assert [event["event"]["text"] for event in page.events] == ["two ", "three "]
    assert [event["seq"] for event in page.events] == numbers[1:]
    held.set()
    await chatting


async def test_the_deltas_of_a_finished_turn_come_as_one_whatever_was_told_between_them(studio: Studio) -> None:
    session = await studio.session()
    going = asyncio.Event()

    async def stream(request: ModelRequest) -> AsyncIterator[ModelChunk]:
        yield ModelChunk(parts=({"text": "one "},))
        session.tell_usage()  # something else happens meanwhile
        yield ModelChunk(parts=({"text": "two "},))
        going.set()
        yield ModelChunk(finish_reason="STOP")

    studio.model.stream = stream
    result = await studio.chat("count")
    page = await event_page(session, 0)
    deltas = [event for event in page.events if event["event"]["type"] == "messageDelta"]
    assert [event["event"]["text"] for event in deltas] == [result.text]
    assert [event["seq"] for event in page.events] == sorted(event["seq"] for event in page.events)


async def test_a_fork_and_an_import_of_a_running_turn_hold_it_as_interrupted(studio: Studio, tmp_path: Path) -> None:
    await studio.chat("done")
    session = await studio.session()
    studio.model.gate.clear()
    studio.model.called.clear()
    chatting = asyncio.create_task(studio.chat("under way", session_id=session.session_id))
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    file = tmp_path / "session.json"
    file.write_text(await studio.app.export(studio.client, session.session_id, "companion"), "utf-8")
    for copy in (await studio.app.fork(studio.client, session.session_id, None), await studio.app.import_session(studio.client, str(file))):
        copied = await studio.app.reading(studio.client, copy.session_id)
        transcript = (await history_page(copied, "transcript", cursor=None, limit=None)).contents
        assert [item.outcome for item in transcript] == [None, None, "interrupted"]
        assert [content.parts[0]["text"] for content in copied.history.contents()] == ["done", "Done. "]
        assert not copied.open_turns
    studio.model.gate.set()
    assert (await chatting).text == "Done. "


@pytest.mark.parametrize(
    ("path", "why"), [("relative.json", "absolute"), ("/no/such/file", "does not exist"), ("/", "regular file"), ("/a\0b", "does not exist")]
)
async def test_a_file_that_cannot_be_imported_is_named_with_the_reason(studio: Studio, path: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refused:
        await studio.app.import_session(studio.client, path)
    assert refused.value.path == "$.path"


async def test_a_long_path_is_not_repeated_whole(studio: Studio) -> None:
    with pytest.raises(InvalidInput) as refused:
        await studio.app.import_session(studio.client, "/" + "x" * 5_000)
    assert len(refused.value.message) < 500


async def test_after_a_crash_every_turn_and_compression_that_was_told_to_begin_is_told_to_have_ended(opened: Opener) -> None:
    first = opened()
    await first.chat("one")
    session = await first.session()
    number = max(seq for _, seq, _, _ in first.heard.told)
    begun: list[tuple[str | None, dict[str, Any]]] = [
        ("turn-a", {"type": "turnStarted", "prompt": [], "model": "m"}),
        ("turn-b", {"type": "promptQueued", "position": 1, "because": "turn"}),
        (None, {"type": "compactionStarted", "compactionId": "compaction-a", "trigger": "manual"}),
        (None, {"type": "compactionStarted", "compactionId": "compaction-b", "trigger": "manual"}),
        (None, {"type": "compactionCompleted", "compactionId": "compaction-b", "result": {}}),
    ]
    noise: list[tuple[str | None, dict[str, Any]]] = [(None, {"type": "usageUpdated"})] * 12_000
    stored = [
        StoredEvent(session_id=session.session_id, seq=number + count, time=1, event=event, turn_id=turn_id)
        for count, (turn_id, event) in enumerate((*noise, *begun), start=1)
    ]
    first.store.save_events(stored)
    await first.store.events(session.session_id, 0)
    await first.store.release(session.session_id)
    second = opened()
    await second.app.open_session(second.client, session.session_id)
    assert {turn for _, _, turn, event in second.heard.told if isinstance(event, TurnCancelled)} == {"turn-a", "turn-b"}
    assert [event.compaction_id for event in second.heard.of(CompactionCancelled)] == ["compaction-a"]
    await second.store.events(session.session_id, 0)
    await second.store.release(session.session_id)
    third = opened()
    await third.app.open_session(third.client, session.session_id)
    assert not third.heard.of(TurnCancelled), "it is told once"
    assert not third.heard.of(CompactionProgress)
