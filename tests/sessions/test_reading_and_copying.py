"""Pages of the history, replay of events, forks and imports of what is under way, and recovery from a crash."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, Literal

import pytest

from gemini_companion.engine.errors import InvalidInput, ModelUnavailable, StaleVersion
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import PromptEntry, ReplyEntry, TurnEndEntry
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionCancelled, CompressionProgress
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.events import IdeContextSent, MessageDelta, TurnCancelled
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.ports import StoredEvent
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.inspection import compression_list, event_page
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import ContextReceipt
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleTool, allowing
from tests.support.scripted_model import calls, chunks
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


async def test_a_cursor_into_the_models_view_is_stale_after_the_view_changed_and_one_into_the_transcript_is_not(
    studio: Studio,
) -> None:
    for number in range(6):
        await studio.chat(f"question {number} " + "word " * 200)
    session = await studio.session()
    model = await history_page(session, "model", cursor=None, limit=3)
    transcript = await history_page(session, "transcript", cursor=None, limit=3)
    await studio.compress()
    with pytest.raises(StaleVersion):
        await history_page(session, "model", cursor=model.next_cursor, limit=3)
    assert (
        (await history_page(session, "transcript", cursor=transcript.next_cursor, limit=3))
        .contents[0]
        .parts[0]["text"]
        .startswith("Done.")
    )
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


async def test_the_deltas_of_a_running_turn_are_replayed_one_by_one_and_only_those_that_were_missed(
    studio: Studio,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = await studio.session()
    held = asyncio.Event()

    async def stream(request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        for text in ("one ", "two ", "three "):
            yield ModelChunk(parts=({"text": text},))
        await held.wait()
        yield ModelChunk(parts=({"text": "four"},))
        yield ModelChunk(finish_reason="STOP")

    monkeypatch.setattr(studio.model, "stream", stream)
    chatting = asyncio.create_task(studio.chat("count"))
    await studio.heard.wait_for(MessageDelta)
    numbers = [seq for _, seq, _, event in studio.heard.sent if isinstance(event, MessageDelta)]
    page = await event_page(session, numbers[0])
    assert [event["event"]["text"] for event in page.events] == ["two ", "three "]
    assert [event["seq"] for event in page.events] == numbers[1:]
    held.set()
    await chatting


async def test_the_deltas_of_a_finished_turn_come_as_one_whatever_was_told_between_them(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.session()
    going = asyncio.Event()

    async def stream(request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        yield ModelChunk(parts=({"text": "one "},))
        session.notify_usage()  # something else happens meanwhile
        yield ModelChunk(parts=({"text": "two "},))
        going.set()
        yield ModelChunk(finish_reason="STOP")

    monkeypatch.setattr(studio.model, "stream", stream)
    result = await studio.chat("count")
    page = await event_page(session, 0)
    deltas = [event for event in page.events if event["event"]["type"] == "messageDelta"]
    assert [event["event"]["text"] for event in deltas] == [result.text]
    assert [event["seq"] for event in page.events] == sorted(event["seq"] for event in page.events)


async def test_a_replay_takes_back_what_was_taken_back_and_no_word_of_the_answers_before(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tooling=allowing())
    studio.set(max_attempts=2, model_fallback=False)
    look = calls(("read_file", {}), text="I look. ")
    gone = ModelUnavailable("Gone.", retryable=False)
    studio.model.streams = [look, chunks(["half"], None), look, chunks(["last"], None), gone]
    with pytest.raises(ModelUnavailable):
        await studio.chat("go")

    def in_sight(events: Iterable[tuple[str, str]]) -> str:
        """What a client shows of the turn, with a mark where calls stand."""
        answers, current = [], ""
        for kind, text in events:
            if kind == "toolCallStarted":
                answers, current = [*answers, *([current] if current else [])], ""
            else:
                current = "" if kind == "messageDiscarded" else current + text
        return "|".join([*answers, current])

    kinds = ("messageDelta", "messageDiscarded", "toolCallStarted")
    live = [(str(event.__struct_config__.tag), getattr(event, "text", "")) for event in studio.heard.events]
    page = await event_page(await studio.session(), 0)
    replayed = [(event["event"]["type"], event["event"].get("text", "")) for event in page.events]
    shown = in_sight(event for event in live if event[0] in kinds)
    assert shown == "I look. |I look. |last"
    assert in_sight(event for event in replayed if event[0] in kinds) == shown
    await studio.app.close()


async def test_a_fork_and_an_import_of_a_running_turn_hold_it_as_interrupted(studio: Studio, tmp_path: Path) -> None:
    await studio.chat("done")
    session = await studio.session()
    studio.model.gate.clear()
    studio.model.called.clear()
    chatting = asyncio.create_task(studio.chat("under way", session_id=session.session_id))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    file = tmp_path / "session.json"
    file.write_text("".join(await studio.app.export(studio.client, session.session_id, "companion")), "utf-8")
    for copy in (
        await studio.app.fork(studio.client, session.session_id, None),
        await studio.app.import_session(studio.client, str(file)),
    ):
        copied = await studio.app.load(studio.client, copy.session_id)
        transcript = (await history_page(copied, "transcript", cursor=None, limit=None)).contents
        assert [item.outcome for item in transcript] == [None, None, "interrupted"]
        assert [content.parts[0]["text"] for content in copied.history.contents()] == ["done", "Done. "]
        assert not copied.open_turns
    studio.model.gate.set()
    assert (await chatting).text == "Done. "


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("relative.json", "absolute"),
        ("/no/such/file", "does not exist"),
        ("/", "regular file"),
        ("/a\0b", "does not exist"),
    ],
)
async def test_a_file_that_cannot_be_imported_is_named_with_the_reason(studio: Studio, path: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refused:
        await studio.app.import_session(studio.client, path)
    assert refused.value.path == "$.path"


async def test_a_long_path_is_not_repeated_whole(studio: Studio) -> None:
    with pytest.raises(InvalidInput) as refused:
        await studio.app.import_session(studio.client, "/" + "x" * 5_000)
    assert len(refused.value.message) < 500


async def test_after_a_crash_every_turn_and_compression_that_was_told_to_begin_is_told_to_have_ended(
    opened: Opener,
) -> None:
    first = opened()
    await first.chat("one")
    session = await first.session()
    number = max(seq for _, seq, _, _ in first.heard.sent)
    begun: list[tuple[str | None, dict[str, Any]]] = [
        ("turn-a", {"type": "turnStarted", "prompt": [], "model": "m"}),
        ("turn-b", {"type": "promptQueued", "position": 1, "because": "turn"}),
        (None, {"type": "compressionStarted", "compressionId": "compression-a", "trigger": "manual"}),
        (None, {"type": "compressionStarted", "compressionId": "compression-b", "trigger": "manual"}),
        (None, {"type": "compressionCompleted", "compressionId": "compression-b", "result": {}}),
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
    assert {turn for _, _, turn, event in second.heard.sent if isinstance(event, TurnCancelled)} == {"turn-a", "turn-b"}
    assert [event.compression_id for event in second.heard.of(CompressionCancelled)] == ["compression-a"]
    await second.store.events(session.session_id, 0)
    await second.store.release(session.session_id)
    third = opened()
    await third.app.open_session(third.client, session.session_id)
    assert not third.heard.of(TurnCancelled), "it is told once"
    assert not third.heard.of(CompressionProgress)


async def test_the_transcript_tells_of_every_answer_by_which_model_why_it_ended_and_what_it_took(
    studio: Studio,
) -> None:
    result = await studio.chat("one")
    studio.model.streams = [ModelUnavailable("The service is down.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("two")
    prompt, reply, failed = (await history_page(await studio.session(), "transcript", cursor=None, limit=None)).contents
    assert (reply.model, reply.finish_reason, reply.usage) == ("gemini-2.5-pro", "STOP", result.usage)
    assert reply.duration_ms is not None
    assert reply.duration_ms > 0
    assert (failed.outcome, failed.reason) == ("failed", "The service is down.")
    assert (prompt.model, prompt.usage, prompt.reason) == (None, None, None)


async def test_thoughts_stand_in_the_transcript_as_parts_of_their_reply(studio: Studio) -> None:
    studio.model.streams = [
        [ModelChunk(parts=({"text": "Hm.", "thought": True}, {"text": "Yes."}), finish_reason="STOP")]
    ]
    await studio.chat("one")
    reply = (await history_page(await studio.session(), "transcript", cursor=None, limit=None)).contents[-1]
    assert reply.parts == ({"text": "Hm.", "thought": True}, {"text": "Yes."})


async def test_how_long_an_answer_took_is_told_by_the_times_of_its_entries_where_nobody_wrote_it_down(
    studio: Studio,
) -> None:
    entries = (
        PromptEntry(id="a", seq=1, time=1_000, turn_id="t", content=user_text("one")),
        ReplyEntry(id="b", seq=2, time=3_500, turn_id="t", content=model_text("two")),
        TurnEndEntry(id="c", seq=3, time=3_501, turn_id="t", outcome="completed", kept_to=3),
    )
    session = await studio.app.create(studio.client, entries=entries)
    assert [
        item.duration_ms for item in (await history_page(session, "transcript", cursor=None, limit=None)).contents
    ] == [None, 2_500]


async def test_the_receipt_of_a_turn_can_be_read_again_after_a_restart(opened: Opener) -> None:
    first = opened()
    shown = ReportedFile(path="/project/a.py", last_focused_at=2, is_active=True, cursor=(0, 0), selected_text="x = 1")
    first.client.editor.report([shown, ReportedFile(path="/project/secret.env")])
    await first.chat("one")
    session = await first.session()
    await first.app.close()
    second = opened()
    read = await second.app.load(second.client, session.session_id)
    ide = (await history_page(read, "transcript", cursor=None, limit=None)).contents[0]
    told = first.heard.of(IdeContextSent)[0]
    assert ide.receipt == ContextReceipt(
        kind="full", files=("/project/a.py",), selection_chars=5, withheld=told.withheld, texts=told.texts
    )
    assert [item.name for item in told.withheld] == ["secret.env"]


async def test_compressions_say_where_they_stand_how_many_turns_they_hide_and_what_came_of_them(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    session = await studio.session()
    result = await studio.compress()
    await studio.chat("after " + "word " * 300)
    preview = await studio.compress(preview=True)
    newest, oldest = compression_list(session).compressions
    transcript = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    hidden = {item.turn_id for item in transcript if item.hidden_by == result.compression_id}
    assert (oldest.hidden_turns, oldest.message) == (len(hidden), result.message)
    assert sum(item.seq < oldest.seq for item in transcript) == 12
    assert (newest.compression_id, newest.state, newest.seq) == (
        preview.compression_id,
        "preview",
        session.history.version,
    )
    assert newest.hidden_turns > oldest.hidden_turns
    await undo(session, client="c", compression_id=result.compression_id)
    assert compression_list(session).compressions[-1].hidden_turns == len(hidden)
