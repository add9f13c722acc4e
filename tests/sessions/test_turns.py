"""A turn: from a prompt to a stored answer, or back to where it was."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.engine.errors import (
    Cancelled,
    Overloaded,
)
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import ModelChangeEntry, PromptEntry
from gemini_companion.sessions.events import (
    MessageDelta,
    ModelChanged,
    PromptQueued,
    TitleChanged,
    TurnCancelled,
    TurnCompleted,
    TurnStarted,
    UsageUpdated,
)
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.turn.prompt import slash_compression
from tests.hostile.timing import cpu_seconds
from tests.support.patience import PATIENCE, until
from tests.support.sessions import Studio


async def test_an_answer_streams_as_deltas_and_comes_whole_in_the_result(studio: Studio) -> None:
    studio.model.default_stream = "The parser is in parser.py."
    result = await studio.chat("where is the parser?")
    assert result.text == "The parser is in parser.py. "
    assert "".join(delta.text for delta in studio.heard.of(MessageDelta)) == result.text
    told = [event for _, _, turn_id, event in studio.heard.sent if turn_id == result.turn_id]
    assert [type(event).__name__ for event in told if not isinstance(event, MessageDelta)] == [
        "TurnStarted",
        "UsageUpdated",
        "TurnCompleted",
    ]


async def test_a_prompt_without_a_session_makes_one_that_becomes_the_current_one(studio: Studio) -> None:
    first = await studio.chat("one")
    second = await studio.chat("two")
    assert first.session_id == second.session_id == studio.client.current


async def test_two_prompts_at_once_without_a_session_share_the_one_they_make(studio: Studio) -> None:
    results = await asyncio.gather(studio.chat("one"), studio.chat("two"))
    assert len({result.session_id for result in results}) == 1


async def test_the_folder_tree_is_left_out_where_nobody_wants_it(studio: Studio) -> None:
    await studio.chat("one")
    studio.set(context_directory_tree=False)
    (await studio.session()).environment_of = None
    await studio.chat("two")
    texts = [request.contents[0].parts[0]["text"] for request in studio.model.main()]
    assert ["What is in them:" in text for text in texts] == [True, False]


async def test_the_request_holds_environment_view_and_prompt_with_roles_alternating(studio: Studio) -> None:
    await studio.chat("one")
    await studio.chat("two")
    request = studio.model.main()[-1]
    assert [content.role for content in request.contents] == ["user", "model", "user"]
    assert "/project" in request.contents[0].parts[0]["text"]
    assert request.contents[-1].parts[-1] == {"text": "two"}
    assert request.system_instruction


async def test_prompts_wait_in_order_and_say_so(studio: Studio) -> None:
    studio.model.gate.clear()
    await studio.session()
    first = asyncio.create_task(studio.chat("one"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("two"))
    await until(lambda: len(studio.heard.of(PromptQueued)) == 1)
    third = asyncio.create_task(studio.chat("three"))
    await until(lambda: len(studio.heard.of(PromptQueued)) == 2)
    assert [(event.position, event.because) for event in studio.heard.of(PromptQueued)] == [(1, "turn"), (2, "turn")]
    studio.model.gate.set()
    await asyncio.gather(first, second, third)
    assert [event.prompt[0]["text"] for event in studio.heard.of(TurnStarted)] == ["one", "two", "three"]


async def test_the_seventeenth_waiting_prompt_is_refused_as_overloaded(studio: Studio) -> None:
    studio.model.gate.clear()
    await studio.session()
    tasks = [asyncio.create_task(studio.chat(str(number))) for number in range(17)]
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    await until(lambda: len(studio.heard.of(PromptQueued)) == 16)
    with pytest.raises(Overloaded):
        await studio.chat("one too many")
    studio.model.gate.set()
    await asyncio.gather(*tasks)


async def test_a_cancelled_turn_leaves_the_view_unchanged_and_the_prompt_in_the_transcript(studio: Studio) -> None:
    await studio.chat("one")
    session = await studio.session()
    before = session.history.contents()
    studio.model.called.clear()
    studio.model.gate.clear()
    task = asyncio.create_task(studio.chat("two"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await studio.heard.wait_for(TurnCancelled)
    assert session.history.contents() == before
    transcript = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    assert (transcript[-1].parts, transcript[-1].outcome) == (({"text": "two"},), "cancelled")
    assert studio.model.cancelled == 1
    studio.model.gate.set()
    assert (await studio.chat("three")).text == "Done. "


async def test_another_client_can_stop_a_running_turn(studio: Studio) -> None:
    studio.model.gate.clear()
    session = await studio.session()
    other, heard = studio.connect("other")
    task = asyncio.create_task(studio.chat("one"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    assert (await studio.app.cancel(other, session.session_id)).cancelled
    with pytest.raises(Cancelled):
        await task
    assert studio.heard.of(TurnCancelled)[0].by == other.client_id
    assert heard.of(TurnCancelled)
    assert not (await studio.app.cancel(other, session.session_id)).cancelled


async def test_a_waiting_prompt_can_be_cancelled_by_its_id_and_stays_in_the_transcript(studio: Studio) -> None:
    studio.model.gate.clear()
    session = await studio.session()
    first = asyncio.create_task(studio.chat("one"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("two"))
    await studio.heard.wait_for(PromptQueued)
    turn_id = next(turn for _, _, turn, event in studio.heard.sent if isinstance(event, PromptQueued))
    assert (await studio.app.cancel(studio.client, None, turn_id=turn_id)).cancelled
    with pytest.raises(Cancelled):
        await second
    studio.model.gate.set()
    await first
    assert [content.parts[0]["text"] for content in session.history.contents()] == ["one", "Done. "]
    prompts = [entry for entry in session.history.entries if isinstance(entry, PromptEntry)]
    assert [entry.content.parts[0]["text"] for entry in prompts] == ["one", "two"]


async def test_thoughts_are_told_apart_and_never_sent_back(studio: Studio) -> None:
    studio.model.streams = [
        [
            ModelChunk(parts=({"text": "hm", "thought": True},)),
            ModelChunk(parts=({"text": "Yes."},), finish_reason="STOP"),
        ]
    ]
    result = await studio.chat("one")
    assert result.text == "Yes."
    await studio.chat("two")
    sent = [part for content in studio.model.main()[-1].contents for part in content.parts]
    assert not any(part.get("thought") for part in sent)


async def test_usage_of_the_answer_becomes_the_meter(studio: Studio) -> None:
    result = await studio.chat("one")
    usage = studio.heard.of(UsageUpdated)[-1]
    assert usage.source == "api"
    assert usage.token_count >= result.usage.prompt_tokens


async def test_naming_another_model_changes_the_session_and_says_so(studio: Studio) -> None:
    await studio.chat("one")
    result = await studio.chat("two", model="gemini-2.5-flash")
    assert result.model == "gemini-2.5-flash"
    assert studio.heard.of(ModelChanged)[0].to == "gemini-2.5-flash"
    assert (await studio.chat("three")).model == "gemini-2.5-flash"
    session = await studio.session()
    assert sum(isinstance(entry, ModelChangeEntry) for entry in session.history.entries) == 1


@pytest.mark.parametrize(
    "command", ["/compress", "/summarize", " /compact  keep the ports ", "/compress" + " " * 30_000, "\n/COMPACT\n"]
)
async def test_a_slash_command_compresses_and_is_not_sent(studio: Studio, command: str) -> None:
    for number in range(4):
        await studio.chat(f"{number} " + "word " * 300)
    asked = len(studio.model.main())
    result = await studio.chat(command)
    assert result.compression is not None
    assert result.compression.status == "COMPRESSED"
    assert result.text == result.compression.message
    assert len(studio.model.main()) == asked
    if "ports" in command:
        assert "keep the ports" in str(studio.model.requests[-2].contents[0].parts[-1]) or any(
            "keep the ports" in str(request.contents) for request in studio.model.requests
        )


@pytest.mark.parametrize("prompt", ["/compress" + " \n" * 30_000 + "x" + "\t" * 30_000, "/compressed", "x /compress"])
def test_a_slash_command_is_told_from_a_prompt_at_once(prompt: str) -> None:
    assert cpu_seconds(lambda: slash_compression(({"text": prompt},)), enough=0.25) < 0.25
    assert slash_compression(({"text": prompt},)) == ("x" if prompt.startswith("/compress ") else None)


async def test_the_prompt_is_durable_before_the_model_is_asked(studio: Studio) -> None:
    session = await studio.session()
    studio.model.gate.clear()
    task = asyncio.create_task(studio.chat("one"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    _, entries = await studio.store.load(session.session_id)
    assert [type(entry) for entry in entries] == [PromptEntry]
    studio.model.gate.set()
    await task


async def test_the_last_event_of_a_turn_precedes_its_result(studio: Studio) -> None:
    task = asyncio.create_task(studio.chat("one"))
    await task
    of_the_turn = [
        event for event in studio.heard.events if not isinstance(event, TitleChanged)
    ]  # which is the session's
    assert isinstance(of_the_turn[-1], TurnCompleted)


async def test_without_a_key_every_name_is_answered_by_the_built_in_model(studio: Studio) -> None:
    studio.take_key_away()
    result = await studio.chat("one", model="gemini-2.5-flash")
    assert result.model == "offline"
    assert studio.offline.main()


async def test_a_title_is_found_after_the_first_turn_and_emitted(studio: Studio) -> None:
    await studio.chat("Mend the parser, please")
    await studio.heard.wait_for(TitleChanged)
    session = await studio.session()
    assert [event.title for event in studio.heard.of(TitleChanged)] == [session.meta.title] == ["A title"]


async def test_a_new_name_is_emitted_to_every_subscriber_of_the_session(studio: Studio) -> None:
    session = await studio.load([user_text("one")])
    await studio.app.rename(studio.client, session.session_id, "Mine")
    assert [event.title for event in studio.heard.of(TitleChanged)] == ["Mine"]


async def test_user_contents_that_arrive_as_parts_keep_unknown_fields(studio: Studio) -> None:
    part = {"text": "hi", "x-note": {"a": 1}}
    await studio.app.chat(studio.client, (part,))
    session = await studio.session()
    assert session.history.contents()[0].parts == (part,)
    assert user_text("hi") != session.history.contents()[0]


async def test_the_offline_model_learns_whether_somebody_chose_it_or_it_is_the_fallback_for_want_of_a_key(
    studio: Studio,
) -> None:
    studio.take_key_away()
    await studio.chat("one")
    assert fallbacks(studio) == [True]
    await studio.chat("two", model="offline")
    assert fallbacks(studio) == [True, False]


def fallbacks(studio: Studio) -> list[bool | None]:
    return [local.is_fallback if local else None for local in studio.offline.locals]
