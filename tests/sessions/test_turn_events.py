"""What a turn tells and in which order, which model it leaves behind, and which prompts are none."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import Cancelled, InvalidInput, ModelUnavailable, SessionNotFound, StorageFault
from gemini_companion.engine.history.log import ModelChangeEntry
from gemini_companion.sessions.events import ModelChanged, TurnCancelled, TurnCompleted, TurnFailed, TurnStarted
from gemini_companion.sessions.transcript.pages import history_page
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE
from tests.support.sessions import RecordingSink, Studio


def of_turns(heard: RecordingSink) -> list[str]:
    """The types of the events that belong to a turn, deltas left out."""
    return [
        type(event).__name__ for _, _, turn_id, event in heard.sent if turn_id and "Delta" not in type(event).__name__
    ]


async def test_a_turn_begins_with_its_start_and_ends_with_its_end_whatever_happens_between(studio: Studio) -> None:
    await studio.chat("first", model="gemini-2.5-flash")
    assert of_turns(studio.heard) == ["TurnStarted", "ModelChanged", "UsageUpdated", "TurnCompleted"]
    studio.heard.sent.clear()
    studio.model.streams = [ModelUnavailable("down", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("second")
    assert of_turns(studio.heard) == ["TurnStarted", "UsageUpdated", "TurnFailed"]
    studio.heard.sent.clear()
    studio.model.gate.clear()
    studio.model.called.clear()
    chatting = asyncio.create_task(studio.chat("third"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    await studio.app.cancel(studio.client, None)
    with pytest.raises(Cancelled):
        await chatting
    assert of_turns(studio.heard) == ["TurnStarted", "UsageUpdated", "TurnCancelled"]


async def test_a_turn_that_the_store_refuses_was_told_to_begin_and_to_fail(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.session()
    studio.heard.sent.clear()

    async def refuse(session_id: str, entries: object) -> None:
        raise StorageFault("The disk is full.")

    monkeypatch.setattr(studio.store, "append", refuse)
    with pytest.raises(StorageFault):
        await studio.chat("x", model="gemini-2.5-flash")
    assert of_turns(studio.heard) == ["TurnStarted", "UsageUpdated", "TurnFailed"]


async def test_a_model_that_never_answered_is_not_the_sessions_model(studio: Studio) -> None:
    studio.model.streams = [ModelUnavailable("The model 'gpt-7' was not found.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("go", model="gpt-7")
    session = await studio.session()
    assert not studio.heard.of(ModelChanged)
    assert not any(isinstance(entry, ModelChangeEntry) for entry in session.history.entries)
    assert (await studio.chat("go")).model == "gemini-2.5-pro"


async def test_a_model_named_in_a_request_answers_the_sessions_later_prompts(studio: Studio) -> None:
    await studio.chat("one", model="gemini-2.5-flash")
    assert (await studio.chat("two")).model == "gemini-2.5-flash"
    changed = studio.heard.of(ModelChanged)
    assert [(event.from_, event.to) for event in changed] == [("gemini-2.5-pro", "gemini-2.5-flash")]


async def test_a_session_comes_back_with_the_model_of_its_log(opened: Opener) -> None:
    first = opened()
    await first.chat("one", model="gemini-2.5-flash")
    session = await first.session()
    saved = await first.store.meta(session.session_id)
    await first.store.save_meta(msgspec.structs.replace(saved, model=""))  # a crash came before it was written
    await first.store.release(session.session_id)
    second = opened()
    info = await second.app.open_session(second.client, session.session_id)
    assert info.model == "gemini-2.5-flash"
    assert (await second.chat("two")).model == "gemini-2.5-flash"


@pytest.mark.parametrize(
    "prompt", [({"text": ""},), ({"text": " \n\t"},), ({},), ({"text": ""}, {"text": " "}), ({"thought": True},)]
)
async def test_a_prompt_that_says_nothing_is_refused(studio: Studio, prompt: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        await studio.app.chat(studio.client, prompt)
    assert refused.value.path == "$.prompt"
    assert studio.client.current is None, "nothing was begun"


@pytest.mark.parametrize("field", ["functionCall", "functionResponse"])
async def test_a_prompt_cannot_speak_for_the_model_or_its_tools(studio: Studio, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await studio.app.chat(studio.client, ({"text": "look"}, {field: {"name": "run", "args": {}, "response": {}}}))
    assert refused.value.path == "$.prompt[1]"


async def test_an_image_alone_is_a_prompt(studio: Studio) -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    assert (await studio.app.chat(studio.client, (image,))).text == "Done. "


async def test_a_turn_that_failed_counts_in_the_listing_after_a_crash(opened: Opener) -> None:
    first = opened()
    first.model.streams = [ModelUnavailable("down", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await first.chat("lost for words")
    second = opened()
    listed = await second.app.list_sessions()
    assert [info.turns for info in listed.sessions] == [1]


async def test_the_title_is_stored_with_the_answer_even_if_no_model_finds_a_better_one(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened()

    async def refuse(_: object) -> object:
        raise ModelUnavailable("no such model")

    monkeypatch.setattr(first.model, "generate", refuse)
    await first.chat("Mend the parser\nplease")
    second = opened()
    assert [info.title for info in (await second.app.list_sessions()).sessions] == ["Mend the parser"]


async def test_a_client_hears_its_own_turn_to_the_end_although_it_went_on_to_another_session(studio: Studio) -> None:
    studio.model.gate.clear()
    chatting = asyncio.create_task(studio.chat("slow"))
    await studio.heard.wait_for(TurnStarted)
    left = studio.client.current
    await studio.app.new_session(studio.client)
    studio.model.gate.set()
    result = await chatting
    assert result.session_id == left != studio.client.current
    assert len(studio.heard.of(TurnCompleted)) == 1
    assert not studio.client.is_subscribed_to(result.session_id)


async def test_a_client_that_opens_a_session_hears_what_the_opening_has_to_tell(opened: Opener) -> None:
    first = opened()
    first.model.gate.clear()
    chatting = asyncio.create_task(first.chat("cut off"))
    await first.heard.wait_for(TurnStarted)
    session_id = first.client.current or ""
    async with asyncio.timeout(PATIENCE):
        await first.model.called.wait()
    await first.store.events(session_id, 0)  # what was told so far is kept
    await first.store.release(session_id)
    second = opened()
    await second.app.open_session(second.client, session_id)
    assert [event.by for event in second.heard.of(TurnCancelled)] == ["interrupted"]
    transcript = await history_page(await second.session(), "transcript", cursor=None, limit=None)
    assert [item.outcome for item in transcript.contents] == ["interrupted"]
    chatting.cancel()
    await asyncio.gather(chatting, return_exceptions=True)
    assert not first.heard.of(TurnFailed)


async def test_a_session_id_that_does_not_exist_is_not_remembered(studio: Studio) -> None:
    app, client = studio.app, studio.client
    for asked in (
        app.load(client, "nope"),
        app.hold(client, "nope"),
        app.rename(client, "nope", "x"),
        app.open_session(client, "nope"),
    ):
        with pytest.raises(Exception, match="nope"):
            await asked
    assert not studio.client.is_subscribed_to("nope")


async def test_an_empty_session_id_is_not_taken_for_none(studio: Studio) -> None:
    await studio.chat("one")
    for asked in (studio.app.load(studio.client, ""), studio.app.hold(studio.client, "")):
        with pytest.raises(SessionNotFound):
            await asked
    assert studio.client.current is not None
