"""Sessions over the real store: resume, recovery, fork, search, export and import, two processes on one file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_companion.engine.errors import CompressionNotFound, InvalidInput, SessionBusy, SessionNotFound, StorageFault
from gemini_companion.engine.history.log import PromptEntry, RatingEntry, ReplyEntry, TurnEndEntry
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.events import MessageDelta, TurnCompleted
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.ports import SessionPage
from gemini_companion.sessions.session_info import listed
from gemini_companion.sessions.transcript.inspection import compression_list, context_report
from gemini_companion.sessions.transcript.pages import history_page
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE


async def test_a_session_goes_on_after_a_restart_exactly_where_it_was(opened: Opener) -> None:
    first = opened()
    for number in range(5):
        await first.chat(f"{number} " + "word " * 200)
    session = await first.session()
    await first.compress()
    await first.chat("after")
    before = session.history.contents()
    last_event = max(seq for _, seq, _, _ in first.heard.sent)
    await first.app.close()
    second = opened()
    info = await second.app.open_session(second.client, session.session_id)
    assert info.turns == 6
    resumed = await second.session()
    assert resumed.history.contents() == before
    assert resumed.status(second.client).can_undo
    await second.chat("on")
    assert min(seq for _, seq, _, _ in second.heard.sent) > last_event
    await undo(resumed, client="c")
    assert len(resumed.history.contents()) == 14


async def test_a_turn_that_a_crash_interrupted_is_marked_and_the_session_goes_on(opened: Opener) -> None:
    first = opened()
    await first.chat("one")
    session = await first.session()
    stamp = session.stamp()
    from gemini_companion.engine.history.content import user_text

    await session.append(
        lambda seq: PromptEntry(**stamp, seq=seq, turn_id="turn-lost", content=user_text("lost"), client="c")
    )
    await first.store.release(session.session_id)
    second = opened()
    await second.app.open_session(second.client, session.session_id)
    resumed = await second.session()
    ends = [entry for entry in resumed.history.entries if isinstance(entry, TurnEndEntry)]
    assert ends[-1].outcome == "interrupted"
    assert [content.parts[0]["text"] for content in resumed.history.contents()] == ["one", "Done. "]
    transcript = (await history_page(resumed, "transcript", cursor=None, limit=None)).contents
    assert transcript[-1].outcome == "interrupted"
    assert (await second.chat("two")).text == "Done. "


async def test_a_second_process_may_read_and_is_told_who_holds_the_session_when_it_writes(opened: Opener) -> None:
    first, second = opened(), opened()
    await first.chat("one")
    session = await first.session()
    info = await second.app.open_session(second.client, session.session_id)
    assert info.held_by is not None or info.session_id == session.session_id
    with pytest.raises(SessionBusy, match=r"(?i)fork|take|hold") as busy:
        await second.chat("mine")
    assert "fork" in f"{busy.value.message} {busy.value.hint}".lower()
    await first.chat("two")
    read = await second.app.load(second.client, session.session_id)
    assert [content.parts[0]["text"] for content in read.history.contents()][-2:] == ["two", "Done. "]
    fork = await second.app.fork(second.client, session.session_id, None)
    assert fork.parent == session.session_id
    assert (await second.chat("on my own")).session_id == fork.session_id


async def test_taking_over_ends_the_first_holders_writing(opened: Opener) -> None:
    first, second = opened(), opened()
    await first.chat("one")
    session = await first.session()
    await second.app.open_session(second.client, session.session_id, take_over=True)
    await second.chat("two")
    with pytest.raises(SessionBusy):
        await first.chat("three")


async def test_a_fork_at_a_turn_takes_along_what_was_said_until_then(opened: Opener) -> None:
    studio = opened()
    first = await studio.chat("one")
    await studio.chat("two")
    await studio.chat("three")
    fork = await studio.app.fork(studio.client, first.session_id, first.turn_id)
    session = await studio.session()
    assert session.session_id == fork.session_id
    assert [content.parts[0]["text"] for content in session.history.contents()] == ["one", "Done. "]
    other = await studio.app.fork(studio.client, first.session_id, 2)
    assert other.turns == 2
    with pytest.raises(InvalidInput):
        await studio.app.fork(studio.client, first.session_id, 9)
    original = await studio.app.load(studio.client, first.session_id)
    assert len(original.history.contents()) == 6


async def test_sessions_are_found_by_any_word_that_was_said(opened: Opener) -> None:
    studio = opened()
    await studio.chat("where does the tokenizer live?")
    first = studio.client.current
    await studio.app.new_session(studio.client)
    await studio.chat("日本語の質問です")
    found = await studio.app.list_sessions(query="tokenizer")
    assert [info.session_id for info in found.sessions] == [first]
    assert len((await studio.app.list_sessions(query="日本語の質問")).sessions) == 1
    assert len((await studio.app.list_sessions()).sessions) == 2


async def test_a_list_says_how_many_sessions_its_search_saw_in_part_only(opened: Opener) -> None:
    page = await listed(SessionPage(sessions=(), unindexed=2), opened().services, lambda session_id: None)
    assert page.unindexed == 2


async def test_a_deleted_session_is_gone_and_a_current_one_is_nobodys_any_more(opened: Opener) -> None:
    studio = opened()
    result = await studio.chat("one")
    await studio.app.delete(result.session_id)
    assert studio.client.current is None
    with pytest.raises(SessionNotFound):
        await studio.app.load(studio.client, result.session_id)
    assert (await studio.chat("two")).session_id != result.session_id


async def test_a_session_that_could_not_be_deleted_goes_on_as_before(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = opened()
    await studio.chat("one")
    session = await studio.session()

    async def refuse(session_id: str) -> None:
        raise StorageFault("There is no space left.")

    monkeypatch.setattr(studio.store, "delete", refuse)
    with pytest.raises(StorageFault):
        await studio.app.delete(session.session_id)
    assert not session.is_gone
    assert session.compressions.ahead.is_allowed
    assert (await studio.chat("two")).session_id == session.session_id


@pytest.mark.parametrize("format", ["companion", "gemini-cli"])
async def test_an_export_can_be_imported_again(opened: Opener, tmp_path: Path, format: str) -> None:
    studio = opened()
    await studio.chat("one")
    await studio.chat("two")
    session = await studio.session()
    before = session.history.contents()
    text = "".join(await studio.app.export(studio.client, session.session_id, format))  # pyright: ignore[reportArgumentType]
    file = tmp_path / "session.json"
    file.write_text(text, "utf-8")
    info = await studio.app.import_session(studio.client, str(file))
    imported = await studio.session()
    assert imported.session_id == info.session_id != session.session_id
    assert imported.history.contents() == before
    assert (await studio.chat("three")).text == "Done. "


@pytest.mark.parametrize("bad", ["", "{", '{"history": 5}', "/nowhere"])
async def test_an_import_that_cannot_be_read_says_why_and_makes_nothing(
    opened: Opener, tmp_path: Path, bad: str
) -> None:
    studio = opened()
    path = tmp_path / "bad.json"
    if bad != "/nowhere":
        path.write_text(bad, "utf-8")
    with pytest.raises(InvalidInput):
        await studio.app.import_session(studio.client, str(path))
    assert (await studio.app.list_sessions()).sessions == ()


async def test_replay_gives_missed_events_in_order_with_a_finished_turns_deltas_as_one(opened: Opener) -> None:
    studio = opened()
    studio.model.default_stream = "one two three four"
    result = await studio.chat("go")
    session = await studio.session()
    session.channel.keep_deltas()
    page = await studio.store.events(result.session_id, 0)
    kinds = [event.event["type"] for event in page.events]
    assert kinds.count("messageDelta") == 1
    delta = next(event for event in page.events if event.event["type"] == "messageDelta")
    assert delta.event["text"] == "".join(event.text for event in studio.heard.of(MessageDelta))
    seqs = [event.seq for event in page.events]
    assert seqs == sorted(seqs)
    completed = next(seq for _, seq, _, event in studio.heard.sent if isinstance(event, TurnCompleted))
    later = await studio.store.events(result.session_id, completed)
    assert [event.event["type"] for event in later.events if event.event["type"] != "titleChanged"] == []
    assert not page.truncated


async def test_a_client_hears_its_current_session_and_those_it_named_or_subscribed_to(opened: Opener) -> None:
    studio = opened()
    result = await studio.chat("one")
    other, heard = studio.connect("other")
    await studio.chat("two")
    assert heard.events == []
    await studio.app.subscribe(other, result.session_id, on=True)
    await studio.chat("three")
    assert heard.of(TurnCompleted)
    count = len(heard.events)
    await studio.app.subscribe(other, result.session_id, on=False)
    await studio.chat("four")
    assert len(heard.events) == count


async def test_events_a_client_opted_out_of_are_not_sent_to_it(opened: Opener) -> None:
    studio = opened()
    studio.client.opt_out = frozenset({"messageDelta"})
    await studio.chat("one")
    assert not studio.heard.of(MessageDelta)
    assert studio.heard.of(TurnCompleted)


async def test_the_parts_of_the_ledger_add_up_to_the_meter(opened: Opener) -> None:
    studio = opened()
    for number in range(4):
        await studio.chat(f"{number} " + "word " * 200)
    session = await studio.session()
    await studio.compress()
    report = context_report(session)
    assert report.by_part.total == report.token_count == session.status(studio.client).token_count
    assert report.token_count + report.free == report.token_limit
    assert report.by_part.snapshot > 0
    assert report.by_part.constraints == 0


@pytest.mark.parametrize("is_compressed", [False, True])
async def test_rules_and_pins_are_a_part_of_their_own_in_the_ledger(opened: Opener, is_compressed: bool) -> None:
    studio = opened()
    for number in range(4):
        await studio.chat(f"{number} " + "word " * 200)
    session = await studio.session()
    if is_compressed:
        await studio.compress()
    before = context_report(session).by_part
    await pin(session, text="Always keep the ledger in order. " * 20)
    report = context_report(session)
    assert report.by_part.constraints > 60
    assert report.by_part.snapshot == pytest.approx(before.snapshot, rel=0.02, abs=2)
    assert report.by_part.messages == pytest.approx(before.messages, rel=0.02, abs=2)
    assert report.by_part.total == report.token_count


async def test_sums_and_ratings_are_kept(opened: Opener) -> None:
    studio = opened()
    for number in range(4):
        await studio.chat(f"{number} " + "word " * 200)
    result = await studio.compress()
    session = await studio.session()
    stamp = session.stamp()
    assert result.compression_id is not None
    await session.append(
        lambda seq: RatingEntry(**stamp, seq=seq, compression_id=result.compression_id or "", rating=4, note="good")
    )
    listed = compression_list(session).compressions[0]
    assert (listed.rating, listed.note, listed.state) == (4, "good", "inForce")
    sums = await studio.app.statistics.of_session(session)
    calls = sum(row.calls for row in sums.models if row.purpose != "title")
    assert (sums.turns, calls, sums.compressions) == (4, 6, 1)
    assert sums.tokens_saved == result.original_token_count - result.new_token_count
    assert sums.prompt_tokens == sum(
        entry.usage.prompt_tokens for entry in session.history.entries if isinstance(entry, ReplyEntry) and entry.usage
    )


async def test_pages_of_the_history_follow_each_other(opened: Opener) -> None:
    studio = opened()
    for number in range(5):
        await studio.chat(str(number))
    session = await studio.session()
    whole = await history_page(session, "transcript", cursor=None, limit=None)
    seen, cursor = [], None
    while True:
        page = await history_page(session, "transcript", cursor=cursor, limit=3)
        seen += page.contents
        cursor = page.next_cursor
        if cursor is None:
            break
    assert tuple(seen) == whole.contents
    with pytest.raises(InvalidInput):
        await history_page(session, "transcript", cursor="nonsense", limit=3)


async def test_the_transcript_stays_whole_and_says_what_a_compression_hides(opened: Opener) -> None:
    studio = opened()
    for number in range(5):
        await studio.chat(f"{number} " + "word " * 200)
    result = await studio.compress()
    session = await studio.session()
    transcript = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert len(transcript) == 10
    hidden = [item for item in transcript if item.hidden_by == result.compression_id]
    assert hidden
    model_view = (await history_page(session, "model", cursor=None, limit=None)).contents
    assert set(model_view[0].entry_ids) == {item.entry_id for item in hidden}


async def test_undoing_what_is_not_there_says_so(opened: Opener) -> None:
    studio = opened()
    await studio.chat("one")
    with pytest.raises(CompressionNotFound):
        await undo(await studio.session(), client="c")


async def test_whoever_opens_a_session_is_told_of_the_turn_that_runs_in_it(opened: Opener) -> None:
    studio = opened()
    await studio.chat("one")
    session_id = (await studio.session()).session_id
    assert (await studio.app.open_session(studio.client, session_id)).running_turn is None
    studio.model.called.clear()
    studio.model.gate.clear()
    task = asyncio.create_task(studio.chat("two"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    running = (await studio.app.open_session(studio.client, session_id)).running_turn
    studio.model.gate.set()
    await task
    assert running == (await studio.session()).history.prompts[-1].turn_id
    assert (await studio.app.open_session(studio.client, session_id)).running_turn is None
