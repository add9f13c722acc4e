"""A prompt that was accepted for a turn under way is never lost, and never sent twice, whatever becomes of the turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_companion.engine.errors import Cancelled, CompanionError, ModelUnavailable, StorageFault
from gemini_companion.engine.history.log import PromptEntry, TurnEndEntry
from gemini_companion.engine.history.tool_entries import SteerEntry, SteerOfferedEntry
from gemini_companion.sessions.events import FilesAttached, TurnCancelled, TurnFailed, TurnStarted
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import PromptSteered
from gemini_companion.sessions.transcript.pages import history_page
from tests.sessions.test_going_on_with_turns import in_another_process
from tests.sessions.test_rounds_that_end_early import for_ever
from tests.sessions.test_steering import Held
from tests.support.sample_tools import AskingConsent, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio

SAID = "Only the tests."


def ended_prompts(session: Session, text: str = SAID) -> list[str]:
    """How the turns ended whose prompt this is."""
    entries = session.history.entries
    turns = [one.turn_id for one in entries if isinstance(one, PromptEntry) and one.content.parts[0]["text"] == text]
    return [one.outcome for turn in turns for one in entries if isinstance(one, TurnEndEntry) and one.turn_id == turn]


async def test_a_steering_prompt_is_in_the_log_when_it_is_acknowledged(tmp_path: Path) -> None:
    held = Held(tmp_path)
    tasks = [await held.begin(), await held.steer(SAID)]
    session = await held.studio.session()
    (offered,) = [one for one in session.history.entries if isinstance(one, SteerOfferedEntry)]
    (told,) = held.studio.heard.of(PromptSteered)
    assert (offered.content.parts, offered.steer_id) == (({"text": SAID},), told.steer_id)
    held.free.set()
    await asyncio.gather(*tasks)
    (steer,) = [one for one in session.history.entries if isinstance(one, SteerEntry)]
    assert steer.steer_id == told.steer_id
    assert session.tools_state.offered == {}


async def test_what_a_steering_prompt_mentions_goes_along_with_it(tmp_path: Path) -> None:
    held = Held(tmp_path)
    held.studio.workspace.texts["/project/a.py"] = "first = 1\n"
    first = await held.begin()
    second = await held.steer("As in @a.py and @secret.py.")
    held.studio.workspace.texts["/project/a.py"] = "second = 2\n"
    held.free.set()
    await asyncio.gather(first, second)
    sent = str(held.studio.model.main()[-1].contents[-1].parts)
    assert "second = 2" in sent, "the file as it is when the model gets it"
    assert [one.path for event in held.studio.heard.of(FilesAttached) for one in event.files] == ["/project/a.py"]
    session = await held.studio.session()
    page = await history_page(session, "transcript", cursor=None, limit=None)
    (item,) = [one for one in page.contents if one.kind == "steer"]
    assert [one.path for one in item.attachments] == ["/project/a.py"]
    assert len(item.parts) == 2


@pytest.mark.parametrize("end", ["stopped", "failed"])
async def test_one_that_its_turn_ended_without_is_a_prompt_of_its_own_that_ended_with_it(
    tmp_path: Path, end: str
) -> None:
    held = Held(tmp_path)
    if end == "failed":
        append, full = held.studio.store.append, StorageFault("full")

        async def failing(session_id: str, entries: list[object]) -> None:
            if any(isinstance(one, SteerEntry) for one in entries):
                raise full
            await append(session_id, entries)  # type: ignore[arg-type]

        held.studio.store.append = failing  # type: ignore[method-assign, assignment]
    tasks = [await held.begin(), await held.steer(SAID), await held.steer("And be quick.")]
    if end == "stopped":
        await held.studio.app.cancel(held.studio.client, None)
    held.free.set()
    for task in tasks:
        with pytest.raises(CompanionError):
            await task
    session = await held.studio.session()
    assert (
        ended_prompts(session)
        == ended_prompts(session, "And be quick.")
        == ["cancelled" if end == "stopped" else "failed"]
    )
    told = [event.steer_id for event in held.studio.heard.of(PromptSteered)]
    assert [event.steer_id for event in held.studio.heard.of(TurnStarted)] == [None, *told]
    assert len(held.studio.heard.of(TurnCancelled if end == "stopped" else TurnFailed)) == 3
    page = await history_page(session, "transcript", cursor=None, limit=None)
    assert [item.parts[0]["text"] for item in page.contents if item.outcome and item.kind == "prompt"] == [
        SAID,
        "And be quick.",
    ]
    assert session.tools_state.offered == {}
    held.studio.model.streams = ["Fine."]
    await held.studio.chat("Hi")
    assert SAID not in str(held.studio.model.main()[-1].contents), "nobody sent it again"


async def test_one_whose_daemon_is_killed_is_told_by_the_next_and_sent_by_nobody(tmp_path: Path) -> None:
    held = Held(tmp_path)
    tasks = [await held.begin(), await held.steer(SAID)]
    after, found = await in_another_process(tmp_path, await held.studio.session(), SampleTool("look", "read"))
    assert ended_prompts(found) == ["interrupted"]
    assert [event.prompt for event in after.heard.of(TurnStarted)] == [({"text": SAID},)]
    await after.chat("Hi")
    assert SAID not in str(after.model.main()[-1].contents)
    again, later = await in_another_process(tmp_path, found)
    assert ended_prompts(later) == ["interrupted"]
    assert again.heard.of(TurnStarted) == []
    for task in tasks:
        task.cancel()


async def test_a_daemon_that_is_killed_while_it_asks_asks_again_though_a_prompt_steered_meanwhile(
    tmp_path: Path,
) -> None:
    asking = AskingConsent()
    studio = Studio(tmp_path, tools=[SampleTool("run", "command")], tooling=allowing(asking))
    studio.model.streams = [calls(("run", {"content": "x"}))]
    chat = asyncio.create_task(studio.chat("Go."))
    await asking.waits.wait()
    steer = asyncio.create_task(studio.chat(SAID, steer=True))
    await studio.heard.wait_for(PromptSteered)
    _, found = await in_another_process(tmp_path, await studio.session(), SampleTool("run", "command"))
    assert ended_prompts(found) == ["interrupted"]
    assert [call.state for call in found.tools_state.open_calls.values()] == ["asked"]
    for task in (chat, steer):
        task.cancel()


async def test_one_that_could_not_be_written_is_refused_and_goes_nowhere(tmp_path: Path) -> None:
    held = Held(tmp_path)
    first = await held.begin()
    append = held.studio.store.append

    async def full(session_id: str, entries: object) -> None:
        raise StorageFault("full")

    held.studio.store.append = full  # type: ignore[method-assign, assignment]
    with pytest.raises(StorageFault):
        await held.studio.chat(SAID, steer=True)
    held.studio.store.append = append  # type: ignore[method-assign]
    held.free.set()
    await first
    assert held.studio.heard.of(PromptSteered) == []
    assert SAID not in str(held.studio.model.main()[-1].contents)


async def test_one_whose_sender_gave_up_while_it_was_written_goes_along_all_the_same(tmp_path: Path) -> None:
    held = Held(tmp_path)
    first = await held.begin()
    append, writing, go_on = held.studio.store.append, asyncio.Event(), asyncio.Event()

    async def slow(session_id: str, entries: object) -> None:
        writing.set()
        await go_on.wait()
        await append(session_id, entries)  # type: ignore[arg-type]

    held.studio.store.append = slow  # type: ignore[method-assign, assignment]
    second = asyncio.create_task(held.studio.chat(SAID, steer=True))
    await writing.wait()
    second.cancel()
    go_on.set()
    with pytest.raises((Cancelled, asyncio.CancelledError)):
        await second
    held.free.set()
    await first
    assert len(held.studio.heard.of(PromptSteered)) == 1
    assert SAID in str(held.studio.model.main()[-1].contents)


async def test_a_copy_of_the_chat_does_not_take_over_what_waits_in_the_other(tmp_path: Path) -> None:
    held = Held(tmp_path)
    tasks = [await held.begin(), await held.steer(SAID)]
    source = await held.studio.session()
    other, _ = held.studio.connect("other")
    info = await held.studio.app.fork(other, source.session_id, None)
    fork = await held.studio.app.hold(other, info.session_id)
    assert fork.tools_state.offered == {}
    held.free.set()
    await asyncio.gather(*tasks)


async def test_one_for_a_turn_that_sends_nothing_stands_in_the_transcript(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("run", "command", for_ever)], max_session_turns=None)
    studio.workspace.texts["/project/a.py"] = "a\n"
    reading, go_on, read = asyncio.Event(), asyncio.Event(), studio.workspace.read_text

    async def slow(path: str, *, limit: int = 1_000_000) -> str | None:
        reading.set()
        await go_on.wait()
        return await read(path, limit=limit)

    studio.workspace.read_text = slow  # type: ignore[method-assign]
    first = asyncio.create_task(studio.chat("Look at @a.py. " + "word " * 3_000_000))
    await reading.wait()
    second = asyncio.create_task(studio.chat(SAID, steer=True))
    await studio.heard.wait_for(PromptSteered)
    go_on.set()
    assert (await first).stopped == (await second).stopped == "contextWindowWillOverflow"
    session = await studio.session()
    assert ended_prompts(session) == ["stopped"]


async def test_a_failure_of_the_model_leaves_the_prompt_to_be_sent_again_by_the_person(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    studio.model.streams = [ModelUnavailable("Gone.", retryable=False)]
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("Go."))
    await studio.model.called.wait()
    second = asyncio.create_task(studio.chat(SAID, steer=True))
    await studio.heard.wait_for(PromptSteered)
    studio.model.gate.set()
    for task in (first, second):
        with pytest.raises(ModelUnavailable):
            await task
    assert ended_prompts(await studio.session()) == ["failed"]
    assert len(studio.model.main()) == 1
