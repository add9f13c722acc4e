"""What was shown of an answer that never became one stays for reading, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import Blocked, Cancelled, CompanionError, ModelUnavailable, StorageFault
from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import TurnEndEntry, decode_entry, encode_entry
from gemini_companion.engine.history.shown import MOST_SHOWN, Shown
from gemini_companion.sessions.events import MessageDelta, MessageDiscarded, PromptQueued, TurnCancelled
from gemini_companion.sessions.interchange import encode_session, text_of
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import HistoryItem
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE, until
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls, chunks
from tests.support.sessions import Studio

GONE = ModelUnavailable("Gone.", retryable=False)


def piece(text: str, *, thought: bool = False) -> ModelChunk:
    return ModelChunk(parts=({"text": text, **({"thought": True} if thought else {})},))


async def stop_after(studio: Studio, *pieces: ModelChunk, chat: Coroutine[Any, Any, ChatResult] | None = None) -> None:
    """Stop an answer behind these pieces, which go on for ever otherwise."""
    studio.model.streams.append([*pieces, asyncio.Event()])
    said = visible_text_of(part for one in pieces for part in one.parts)
    chatting = asyncio.create_task(chat or studio.chat("Go."))
    await until(lambda: "".join(delta.text for delta in studio.heard.of(MessageDelta)).endswith(said))
    ended = len(studio.heard.of(TurnCancelled))
    assert (await asyncio.create_task(studio.app.cancel(studio.client, None))).cancelled
    with pytest.raises(Cancelled):
        await chatting
    await until(lambda: len(studio.heard.of(TurnCancelled)) > ended)


async def listed(session: Session) -> list[HistoryItem]:
    return list((await history_page(session, "transcript", cursor=None, limit=None)).contents)


async def shown(session: Session) -> list[tuple[str, str | None, Shown]]:
    """Behind which kinds of contents something was shown, how that ended, and what it was."""
    return [(item.kind, item.outcome, item.shown) for item in await listed(session) if item.shown is not None]


async def test_a_stopped_answer_can_be_read_as_far_as_it_came(studio: Studio) -> None:
    await stop_after(studio, piece("Hm.", thought=True), piece("Half an "), piece("ans"))
    session = await studio.session()
    assert await shown(session) == [("prompt", "cancelled", Shown(text="Half an ans", thoughts="Hm."))]


async def test_it_is_in_no_view_and_counts_for_nothing(studio: Studio, tmp_path: Path) -> None:
    bare = Studio(tmp_path / "bare")
    for one, pieces in ((studio, [piece("Half an "), piece("answer")]), (bare, [])):
        await one.chat("first")
        if pieces:
            await stop_after(one, *pieces)
        else:
            one.model.streams = [GONE]
            with pytest.raises(ModelUnavailable):
                await one.chat("Go.")
        await one.chat("And then?")
    with_it, without = await studio.session(), await bare.session()
    assert with_it.history.contents() == without.history.contents()
    assert studio.model.main()[-1].contents == bare.model.main()[-1].contents
    assert with_it.parts() == without.parts()
    assert with_it.status(None, with_it.choice()).token_count == without.status(None, without.choice()).token_count
    assert with_it.history.epoch == without.history.epoch
    await bare.app.close()


async def test_it_is_written_with_the_turns_end_and_other_ends_have_nothing_more(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.chat("first")
    written: list[int] = []
    append = studio.store.append

    async def counting(session_id: str, entries: Any) -> None:
        written.append(sum(isinstance(entry, TurnEndEntry) for entry in entries))
        await append(session_id, entries)

    monkeypatch.setattr(studio.store, "append", counting)
    await stop_after(studio, piece("Half"))
    assert (sum(written), written[-1]) == (1, 1)
    session = await studio.session()
    first, last = (entry for entry in session.history.entries if isinstance(entry, TurnEndEntry))
    assert b"shown" not in encode_entry(first)
    assert msgspec.json.decode(encode_entry(last))["shown"] == {"text": "Half"}


async def test_it_is_there_for_the_next_process(opened: Opener) -> None:
    before = opened()
    await stop_after(before, piece("Half an "), piece("answer"))
    session = await before.session()
    whole = await listed(session)
    await before.app.close()
    after = opened()
    await after.app.open_session(after.client, session.session_id)
    assert await listed(await after.session()) == whole
    assert (await shown(await after.session()))[0][2].text == "Half an answer"


async def test_it_goes_along_in_an_export_and_a_fork(studio: Studio, tmp_path: Path) -> None:
    await studio.chat("first")
    await stop_after(studio, piece("Half"))
    session = await studio.session()
    expected = await shown(session)
    meta = SessionMeta(session_id="s", title="", model="m", created_at=1, updated_at=1)
    file = tmp_path / "s.json"
    pieces = encode_session(meta, session.history.entries, session.history.contents(), "companion")
    file.write_text("".join(text_of(pieces)), "utf-8")
    imported = await asyncio.create_task(studio.app.import_session(studio.client, str(file)))
    assert await shown(await studio.app.load(studio.client, imported.session_id)) == expected
    fork = await asyncio.create_task(studio.app.fork(studio.client, session.session_id, None))
    assert await shown(await studio.app.load(studio.client, fork.session_id)) == expected


@pytest.mark.parametrize("rounds", [0, 1])
async def test_a_fork_in_the_middle_of_an_answer_has_it_as_far_as_it_was_shown(tmp_path: Path, rounds: int) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tooling=allowing())
    await studio.chat("first")
    studio.model.streams = [calls(("read_file", {}), text="I look.")] * rounds
    studio.model.streams.append([piece("Hm.", thought=True), piece("Half an "), piece("ans"), asyncio.Event()])
    chatting = asyncio.create_task(studio.chat("Go."))
    await until(lambda: [one.text for one in studio.heard.of(MessageDelta)][-1:] == ["ans"])
    source = await studio.session()
    forked = await studio.app.fork(studio.client, source.session_id, None)
    fork = await studio.app.load(studio.client, forked.session_id)
    behind = "toolResult" if rounds else "prompt"
    assert await shown(fork) == [(behind, "interrupted", Shown(text="Half an ans", thoughts="Hm."))]
    assert "Half" not in str(fork.history.contents())
    assert (await studio.app.cancel(studio.client, source.session_id)).cancelled
    with pytest.raises(Cancelled):
        await chatting
    assert await shown(source) == [(behind, "cancelled", Shown(text="Half an ans", thoughts="Hm."))]
    earlier = await studio.app.fork(studio.client, source.session_id, 1)
    assert await shown(await studio.app.load(studio.client, earlier.session_id)) == []
    await studio.app.close()


async def test_of_a_long_one_the_end_is_cut_with_a_mark(studio: Studio) -> None:
    studio.set(loop_detection=False)
    await stop_after(studio, piece("x" * (MOST_SHOWN - 1)), piece("yz" + "!" * 1_233))
    ((_, _, one),) = await shown(await studio.session())
    head, _, mark = one.text.partition("\n")
    assert head == "x" * (MOST_SHOWN - 1) + "y"
    assert "1,234 more characters" in mark
    assert len(mark) < 100


async def test_behind_finished_rounds_the_unfinished_one_alone_is_kept_and_stays_when_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tooling=allowing())
    studio.model.streams = [calls(("read_file", {}), text="I look.")]
    await stop_after(studio, piece("There are "))
    session = await studio.session()
    assert [item.kind for item in await listed(session)] == ["prompt", "reply", "toolResult"]
    assert await shown(session) == [("toolResult", "cancelled", Shown(text="There are "))]
    await stop_after(studio, piece("Once more: "), chat=studio.app.resume(studio.client))
    assert await shown(session) == [("toolResult", "cancelled", Shown(text="There are \n\nOnce more: "))]
    studio.model.streams = ["Two."]
    await studio.app.resume(studio.client)
    assert [item.kind for item in await listed(session)] == ["prompt", "reply", "toolResult", "reply"]
    assert [kind for kind, _, _ in await shown(session)] == ["toolResult"]
    assert "There are" not in str(session.history.contents())
    await studio.app.close()


async def test_an_answer_that_stands_in_the_log_is_not_kept_twice(tmp_path: Path) -> None:
    async def for_ever(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await asyncio.Event().wait()
        return ToolOutput()

    tool = SampleTool("run", "command", for_ever)
    studio = Studio(tmp_path, tools=[tool], tooling=allowing())
    studio.model.streams = [calls(("run", {}), text="I run it.")]
    chat = asyncio.create_task(studio.chat("Go."))
    async with asyncio.timeout(PATIENCE):
        await tool.started.wait()
    await studio.app.cancel(studio.client, None)
    with pytest.raises(Cancelled):
        await chat
    assert await shown(await studio.session()) == []
    await studio.app.close()


@pytest.mark.parametrize(
    ("streams", "text"),
    [
        ([[piece("Half an "), GONE]], "Half an "),
        ([chunks(["first"], None), chunks(["last"], None)], "last"),
        ([chunks(["first"], None), GONE], "first"),
    ],
    ids=["broke off", "broke off again", "nothing came after it"],
)
async def test_a_stream_that_breaks_off_for_good_leaves_what_came_in_sight_and_in_the_log(
    studio: Studio, streams: list[Any], text: str
) -> None:
    studio.set(max_attempts=2, model_fallback=False)
    studio.model.streams = streams
    with pytest.raises(ModelUnavailable):
        await studio.chat("Go.")
    ((kind, outcome, one),) = await shown(await studio.session())
    assert (kind, outcome, one.text) == ("prompt", "failed", text)
    in_sight = ""
    for event in studio.heard.events:
        if isinstance(event, MessageDelta | MessageDiscarded):
            in_sight = in_sight + event.text if isinstance(event, MessageDelta) else ""
    assert in_sight == text


async def test_a_client_that_goes_has_stopped_neither_its_turn_nor_the_prompts_that_waited_behind_it(
    studio: Studio,
) -> None:
    studio.model.streams.append([piece("Half"), asyncio.Event()])
    running = asyncio.create_task(studio.chat("Go."))
    await studio.heard.wait_for(MessageDelta)
    waiting = asyncio.create_task(studio.chat("And then?"))
    await studio.heard.wait_for(PromptQueued)
    studio.client.is_leaving = lambda: True
    for one in (waiting, running):  # as the dispatcher does
        one.cancel()
    await asyncio.wait((waiting, running))
    await until(lambda: len(studio.heard.of(TurnCancelled)) == 2)
    ends = [(item.kind, item.outcome, item.by) for item in await listed(await studio.session())]
    assert ends == [("prompt", "cancelled", "leave")] * 2
    assert {event.by for event in studio.heard.of(TurnCancelled)} == {"leave"}


@pytest.mark.parametrize(
    ("streams", "fault"),
    [
        ([chunks(["I"], "SAFETY")], Blocked),
        ([chunks(["I"], "RECITATION"), chunks(["I"], "RECITATION")], ModelUnavailable),
        ([chunks(["I"], "RECITATION"), GONE], ModelUnavailable),
    ],
    ids=["safety", "recited", "recited, and gone"],
)
async def test_what_a_filter_refused_is_kept_nowhere_and_stays_in_no_sight(
    studio: Studio, streams: list[Any], fault: type[CompanionError]
) -> None:
    studio.set(max_attempts=2, model_fallback=False)
    studio.model.streams = [*streams]
    with pytest.raises(fault):
        await studio.chat("Go.")
    assert await shown(await studio.session()) == []
    told = [event for event in studio.heard.events if isinstance(event, MessageDelta | MessageDiscarded)]
    assert isinstance(told[-1], MessageDiscarded)


async def test_an_answer_that_another_model_gives_takes_the_place_of_what_was_shown(studio: Studio) -> None:
    studio.model.streams = [[piece("Half"), ModelUnavailable("Busy.", retryable=False, of_model=True)], "Whole."]
    assert (await studio.chat("Go.")).text.strip() == "Whole."
    assert await shown(await studio.session()) == []
    assert len(studio.heard.of(MessageDiscarded)) == 1


async def test_a_whole_answer_that_could_not_be_written_can_be_read(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.session()
    append = studio.store.append

    async def failing(session_id: str, entries: Any) -> None:
        if any(isinstance(entry, TurnEndEntry) for entry in entries):
            raise StorageFault("The disk is full.")
        await append(session_id, entries)

    with monkeypatch.context() as patched:
        patched.setattr(studio.store, "append", failing)
        with pytest.raises(CompanionError):
            await studio.chat("Go.")
    await studio.chat("Again.")
    assert await shown(session) == [("prompt", "failed", Shown(text="Done. "))]


def test_an_end_of_an_earlier_version_has_nothing_to_show_and_an_earlier_version_passes_over_ours() -> None:
    written = b'{"type":"turnEnd","id":"e","seq":3,"time":1,"turnId":"t","outcome":"cancelled","by":"c"}'
    entry = decode_entry(written)
    assert isinstance(entry, TurnEndEntry)
    assert entry.shown is None
    assert encode_entry(entry) == written

    class EarlierEnd(msgspec.Struct, rename="camel", tag_field="type", tag="turnEnd"):
        turn_id: str
        outcome: str

    ours = encode_entry(msgspec.structs.replace(entry, shown=Shown(text="Half")))
    assert msgspec.json.decode(ours, type=EarlierEnd) == EarlierEnd(turn_id="t", outcome="cancelled")


async def test_a_prompt_that_waits_when_its_client_goes_says_so_as_the_running_one_does(studio: Studio) -> None:
    studio.model.streams.append([piece("Half"), asyncio.Event()])
    chatting = [asyncio.create_task(studio.chat("Go."))]
    await studio.heard.wait_for(MessageDelta)
    chatting.append(asyncio.create_task(studio.chat("And then?")))
    await studio.heard.wait_for(PromptQueued)
    studio.client.is_leaving = lambda: True
    for chat in reversed(chatting):
        chat.cancel()
    await asyncio.wait(chatting)
    assert [end.by for end in studio.heard.of(TurnCancelled)] == ["leave", "leave"]
    items = await listed(await studio.session())
    assert [(item.outcome, item.by) for item in items] == [("cancelled", "leave")] * 2
