"""An answer given anew: the old turn leaves when the new answer is there, and stays if there is none."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.engine.errors import InvalidInput, ModelUnavailable, StaleVersion
from gemini_companion.engine.history.log import TurnEndEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.events import PromptQueued, TurnFailed
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.pages import history_page
from tests.sessions.conftest import Opener
from tests.sessions.test_ide_context_of_turns import ide_texts, is_full, replayed, show, truth
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio


def turns_logged(session: Session) -> list[int]:
    """What the log has of turns; of requests for a title it may hear at any time."""
    return [entry.seq for entry in session.history.entries if not isinstance(entry, ModelCallEntry)]


def said(session: Session) -> list[str]:
    return [content.parts[0]["text"].strip() for content in session.history.contents()]


async def outcomes(session: Session) -> list[str | None]:
    return [
        item.outcome
        for item in (await history_page(session, "transcript", cursor=None, limit=None)).contents
        if item.kind != "ide"
    ]


async def test_the_old_turn_is_neither_in_the_request_nor_in_the_view_and_stays_in_the_transcript(
    studio: Studio,
) -> None:
    studio.model.streams = ["One.", "Two.", "Two anew."]
    await studio.chat("first")
    old = await studio.chat("second")
    session = await studio.session()
    epoch = session.history.epoch
    new = await studio.chat("second", replaces=old.turn_id)
    request = [content.parts[-1]["text"].strip() for content in studio.model.main()[-1].contents]
    assert request[1:] == ["One.", "second"]
    assert said(session) == ["first", "One.", "second", "Two anew."]
    assert await outcomes(session) == [None, None, "replaced", "replaced", None, None]
    assert session.history.epoch == epoch + 1
    assert new.turn_id != old.turn_id
    assert studio.app.info(session).turns == 2
    ends = [entry for entry in session.history.entries if isinstance(entry, TurnEndEntry)]
    assert (ends[-1].turn_id, ends[-1].by) == (old.turn_id, new.turn_id)


async def test_if_the_new_turn_fails_the_old_answer_stands(studio: Studio) -> None:
    studio.model.streams = ["One.", ModelUnavailable("down", retryable=False)]
    old = await studio.chat("first")
    session = await studio.session()
    before, epoch = session.history.contents(), session.history.epoch
    with pytest.raises(ModelUnavailable):
        await studio.chat("first", replaces=old.turn_id)
    assert (session.history.contents(), session.history.epoch) == (before, epoch)
    assert await outcomes(session) == [None, None, "failed"]
    assert session.status(studio.client).token_count == studio.heard.reports[-1].token_count
    await studio.chat("second")
    assert said(session) == ["first", "One.", "second", "Done."]


async def test_if_the_new_turn_is_cancelled_the_old_answer_stands(studio: Studio) -> None:
    show(studio.client, ("/project/a.py", 3, "x = 1"))
    old = await studio.chat("first")
    session = await studio.session()
    before = session.history.contents()
    studio.model.called.clear()
    studio.model.gate.clear()
    task = asyncio.create_task(studio.chat("first", replaces=old.turn_id))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(PATIENCE):
        while not session.lane.is_idle:
            await asyncio.sleep(0)
    assert session.history.contents() == before
    studio.model.gate.set()
    show(studio.client, ("/project/a.py", 4, ""))
    await studio.chat("second")
    texts = ide_texts(studio.model.main()[-1])
    assert [is_full(text) for text in texts] == [True, False]
    assert replayed(texts) == await truth(studio, studio.client)


async def test_what_of_the_editor_only_the_old_turn_told_is_told_again(studio: Studio) -> None:
    show(studio.client, ("/project/a.py", 3, ""))
    await studio.chat("first")
    show(studio.client, ("/project/b.py", 1, ""))
    old = await studio.chat("second")
    await studio.chat("second", replaces=old.turn_id)
    texts = ide_texts(studio.model.main()[-1])
    assert [is_full(text) for text in texts] == [True, False]
    assert replayed(texts) == await truth(studio, studio.client)
    await studio.chat("third")
    texts = ide_texts(studio.model.main()[-1])
    assert [is_full(text) for text in texts] == [True], "the view changed, so everything is told once more"
    assert replayed(texts) == await truth(studio, studio.client)


async def test_a_prompt_that_does_not_fit_leaves_the_old_answer(studio: Studio) -> None:
    old = await studio.chat("first")
    session = await studio.session()
    before = session.history.contents()
    studio.set(token_limit_override=2_000, compression_threshold=1.0)
    result = await studio.chat("word " * 10_000, replaces=old.turn_id)
    assert result.stopped == "contextWindowWillOverflow"
    assert session.history.contents() == before


@pytest.mark.parametrize("which", ["older", "failed", "unknown", "replaced"])
async def test_only_the_newest_turn_can_be_replaced(studio: Studio, which: str) -> None:
    first = await studio.chat("first")
    second = await studio.chat("second")
    wanted = {"older": first.turn_id, "unknown": "turn-x"}.get(which, second.turn_id)
    if which == "failed":
        studio.model.streams = [ModelUnavailable("down", retryable=False)]
        with pytest.raises(ModelUnavailable):
            await studio.chat("third")
        wanted = next(turn_id for _, _, turn_id, event in studio.heard.sent if isinstance(event, TurnFailed)) or ""
    elif which == "replaced":
        await studio.chat("second", replaces=second.turn_id)
    session = await studio.session()
    logged = turns_logged(session)
    with pytest.raises(InvalidInput) as refused:
        await studio.chat("again", replaces=wanted)
    assert "fork" in refused.value.hint.lower()
    assert refused.value.path == "$.replaces"
    assert turns_logged(session) == logged, "nothing is logged of what never began"


async def test_of_two_that_would_replace_the_same_turn_the_second_is_refused_when_its_time_comes(
    studio: Studio,
) -> None:
    old = await studio.chat("first")
    session = await studio.session()
    studio.model.gate.clear()
    studio.model.called.clear()
    first = asyncio.create_task(studio.chat("again 0", replaces=old.turn_id))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("again 1", replaces=old.turn_id))
    await studio.heard.wait_for(PromptQueued)
    studio.model.gate.set()
    await first
    with pytest.raises(InvalidInput):
        await second
    assert said(session) == ["again 0", "Done."]
    assert await outcomes(session) == ["replaced", "replaced", None, None, "failed"]


async def test_a_waiting_prompt_that_is_cancelled_does_not_bring_back_what_the_running_one_set_aside(
    studio: Studio,
) -> None:
    old = await studio.chat("first")
    session = await studio.session()
    studio.model.called.clear()
    studio.model.gate.clear()
    running = asyncio.create_task(studio.chat("anew", replaces=old.turn_id))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    waiting = asyncio.create_task(studio.chat("anew too", replaces=old.turn_id))
    await studio.heard.wait_for(PromptQueued)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert "first" not in said(session)
    studio.model.gate.set()
    await running
    assert said(session) == ["anew", "Done."]


async def test_a_compression_within_the_new_turn_neither_hides_nor_summarises_the_old_one(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    old = await studio.chat("the newest " + "word " * 300)
    session = await studio.session()
    studio.set(compression_token_cap=500)
    studio.model.streams = [ModelUnavailable("down", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("anew", replaces=old.turn_id)
    assert len(session.history.in_force) == 1
    assert "the newest" not in str(
        [request.contents for request in studio.model.requests if request.role == "utility_compressor"]
    )
    assert [text.partition(" word")[0] for text in said(session)][-2:] == ["the newest", "Done."]
    studio.set(compression_token_cap=None)
    await studio.chat("anew", replaces=old.turn_id)
    assert said(session)[-2:] == ["anew", "Done."]
    assert "the newest" not in str(said(session))
    await undo(session, client="c")
    assert [text.partition(" ")[0] for text in said(session)] == [
        *(word for number in range(6) for word in (str(number), "Done.")),
        "anew",
        "Done.",
    ]


async def test_a_turn_that_a_compression_hides_cannot_be_replaced_until_that_is_undone(studio: Studio) -> None:
    for number in range(3):
        await studio.chat(f"{number} " + "word " * 300)
    old = await studio.chat("last " + "word " * 3_000)
    session = await studio.session()
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    assert session.history.is_hidden(old.turn_id)
    with pytest.raises(InvalidInput, match="hides"):
        await studio.chat("anew", replaces=old.turn_id)
    await undo(session, client="c")
    await studio.chat("anew", replaces=old.turn_id)
    assert said(session)[-2:] == ["anew", "Done."]


async def test_a_preview_made_before_is_stale_once_a_turn_within_it_was_replaced(studio: Studio) -> None:

    for number in range(3):
        await studio.chat(f"{number} " + "word " * 300)
    old = await studio.chat("last " + "word " * 3_000)
    session = await studio.session()
    preview = await studio.compress(preview=True)
    await studio.chat("anew", replaces=old.turn_id)
    with pytest.raises(StaleVersion):
        await apply_preview(session, client="c", compression_id=preview.compression_id or "")


async def test_after_a_restart_the_view_is_the_same_and_after_a_crash_the_old_answer_is_there(opened: Opener) -> None:
    first = opened()
    await first.chat("first")
    old = await first.chat("second")
    session = await first.session()
    await first.chat("second anew", replaces=old.turn_id)
    assert said(session) == ["first", "Done.", "second anew", "Done."]
    newest = session.history.newest_turn
    first.model.called.clear()
    first.model.gate.clear()
    lost = asyncio.create_task(first.chat("a third time", replaces=newest))
    async with asyncio.timeout(PATIENCE):
        await first.model.called.wait()
    await first.store.release(session.session_id)  # as if the process were gone
    second = opened()
    await second.app.open_session(second.client, session.session_id)
    resumed = await second.session()
    assert said(resumed) == ["first", "Done.", "second anew", "Done."]
    assert (await outcomes(resumed))[-1] == "interrupted"
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    first.model.gate.set()


async def test_a_fork_at_a_replaced_turn_has_its_old_answer_and_numbers_count_the_turns_of_the_view(
    studio: Studio,
) -> None:
    studio.model.streams = ["One.", "Two.", "Two anew."]
    await studio.chat("first")
    old = await studio.chat("second")
    session = await studio.session()
    await studio.chat("second", replaces=old.turn_id)
    fork = await studio.app.fork(studio.client, session.session_id, old.turn_id)
    assert said(await studio.app.load(studio.client, fork.session_id)) == ["first", "One.", "second", "Two."]
    by_number = await studio.app.fork(studio.client, session.session_id, 2)
    assert said(await studio.app.load(studio.client, by_number.session_id))[:3] == ["first", "One.", "second"]
    assert said(await studio.app.load(studio.client, by_number.session_id))[-1] == "Two anew."


async def test_an_answer_can_be_given_anew_where_no_further_turn_may_begin(studio: Studio) -> None:
    studio.set(max_session_turns=1)
    result = await studio.chat("first")
    for _ in range(2):
        result = await studio.chat("first", replaces=result.turn_id)
        assert result.stopped is None
    assert (await studio.chat("second")).stopped == "maxTurns"
