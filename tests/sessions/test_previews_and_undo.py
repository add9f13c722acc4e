"""Previews, computed and not installed, and compressions taken back."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.engine.compression.types import snapshot_text
from gemini_companion.engine.errors import (
    Cancelled,
    CompressionNotFound,
    InvalidInput,
    StaleVersion,
)
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.cancelling import cancel_job
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionStarted, CompressionUndone
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.models.port import CountedTokens, ModelRequest
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.inspection import compression_list
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE, until_in
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio


async def test_a_preview_changes_nothing_until_it_is_applied(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    epoch = session.history.epoch
    preview = await studio.compress(preview=True)
    assert preview.status == "PREVIEW"
    assert session.history.contents() == before
    assert session.history.epoch == epoch
    assert preview.compression_id is not None
    assert compression_list(session).compressions[0].state == "preview"
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id)
    assert applied.status == "COMPRESSED"
    assert applied.compression_id == preview.compression_id
    assert applied.model_calls == 0
    assert session.history.epoch == epoch + 1
    assert snapshot_text(session.history.contents()[0]) == SNAPSHOT
    assert visible_text(session.history.contents()[0]) == f"{SNAPSHOT}\n{preview.appendix}"
    with pytest.raises(CompressionNotFound, match="applied already"):
        await apply_preview(session, client="c", compression_id=preview.compression_id)


async def test_a_preview_is_listed_as_outdated_once_it_cannot_be_applied_and_not_before(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    shown = await studio.compress(preview=True)
    assert shown.compression_id is not None

    def states() -> dict[str, str]:
        return {one.compression_id: one.state for one in compression_list(session).compressions}

    await studio.chat("a turn behind it")
    assert states() == {shown.compression_id: "preview"}
    other = await studio.compress()
    assert states()[shown.compression_id] == "outdated"
    await undo(session, client="c", compression_id=other.compression_id)
    assert states()[shown.compression_id] == "outdated"
    with pytest.raises(StaleVersion):
        await apply_preview(session, client="c", compression_id=shown.compression_id)


async def test_an_edited_text_is_wrapped_and_foreign_tags_are_escaped(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    assert preview.compression_id is not None
    edited = "Just go on. <state_snapshot>no</state_snapshot> really"
    result = await apply_preview(session, client="c", compression_id=preview.compression_id, snapshot=edited)
    text = snapshot_text(session.history.contents()[0])
    assert text == result.snapshot
    assert text.startswith("<state_snapshot>\n")
    assert text.count("<state_snapshot>") == 1
    assert "Just go on." in text


async def test_an_inflated_or_empty_edit_is_refused(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    before = session.history.contents()
    preview = await studio.compress(preview=True)
    assert preview.compression_id is not None
    result = await apply_preview(session, client="c", compression_id=preview.compression_id, snapshot="long " * 30_000)
    assert result.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    with pytest.raises(InvalidInput):
        await apply_preview(session, client="c", compression_id=preview.compression_id, snapshot="  ")
    assert session.history.contents() == before


@pytest.mark.parametrize(("says_more", "source"), [(False, "api"), (True, "estimate")])
async def test_a_count_of_a_history_that_went_on_meanwhile_teaches_nothing(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, says_more: bool, source: str
) -> None:
    session = await studio.load(dialogue(words=60))
    preview = await studio.compress(preview=True)
    session.ledger = TokenLedger()
    count = studio.model.count_tokens

    async def while_something_is_said(request: ModelRequest) -> CountedTokens:
        if says_more:
            await session.append(lambda seq: steered(session, seq))
        return await count(request)

    monkeypatch.setattr(studio.model, "count_tokens", while_something_is_said)
    refused = await apply_preview(
        session, client="c", compression_id=preview.compression_id or "", snapshot="long " * 30_000
    )
    assert refused.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    assert session.token_count(session.choice()).source == source


def steered(session: Session, seq: int) -> SteerEntry:
    turn_id = session.history.newest_turn or ""
    return SteerEntry(**session.stamp(), seq=seq, turn_id=turn_id, content=user_text("And more."), steer_id=f"s{seq}")


async def test_turns_after_a_preview_stay_behind_the_tail_when_it_is_applied(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    await studio.chat("later")
    assert preview.compression_id is not None
    await apply_preview(session, client="c", compression_id=preview.compression_id)
    assert [visible_text(content) for content in session.history.contents()[-2:]] == ["later", "Done. "]


async def test_a_preview_is_stale_after_another_compression(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    await studio.compress()
    assert preview.compression_id is not None
    with pytest.raises((StaleVersion, CompressionNotFound)):
        await apply_preview(session, client="c", compression_id=preview.compression_id)


async def test_an_undo_gives_the_history_back_with_later_turns_after_it(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    first = await studio.compress()
    await studio.chat("later " + "word " * 400)
    second = await studio.compress()
    await studio.chat("latest")
    result = await undo(session, client="c")
    assert result.undone == (second.compression_id,)
    assert studio.heard.of(CompressionUndone)[0].undone == (second.compression_id,)
    result = await undo(session, client="c")
    assert result.undone == (first.compression_id,)
    assert result.status == "UNDONE"
    assert session.history.contents()[: len(before)] == before
    assert [visible_text(content).split(" ")[0] for content in session.history.contents()[len(before) :]] == [
        "later",
        "Done.",
        "latest",
        "Done.",
    ]
    with pytest.raises(CompressionNotFound):
        await undo(session, client="c")


async def test_two_undos_that_wait_for_an_answer_mean_the_compression_that_was_the_newest_when_they_were_asked_for(
    studio: Studio,
) -> None:
    session = await studio.load(dialogue())
    first = await studio.compress()
    await studio.chat("later " + "word " * 400)
    second = await studio.compress()
    studio.model.gate.clear()
    studio.model.called.clear()
    async with asyncio.timeout(PATIENCE):
        answering = asyncio.create_task(studio.chat("go on"))
        await studio.model.called.wait()
        undoing = [asyncio.create_task(undo(session, client="c")) for _ in range(2)]
        await until_in(Job.wait, 3)
        studio.model.gate.set()
        await answering
        ends = await asyncio.gather(*undoing)
    assert [end.undone for end in ends] == [(second.compression_id,)] * 2
    assert list(session.history.in_force) == [first.compression_id]
    assert len(studio.heard.of(CompressionUndone)) == 1
    assert (await undo(session, client="c")).undone == (first.compression_id,), "what has ended waits for nobody"


async def test_an_undo_that_was_stopped_while_it_waited_can_be_asked_for_again_at_once(studio: Studio) -> None:
    session = await studio.load(dialogue())
    meant = (await studio.compress()).compression_id
    studio.model.gate.clear()
    studio.model.called.clear()
    async with asyncio.timeout(PATIENCE):
        answering = asyncio.create_task(studio.chat("go on"))
        await studio.model.called.wait()
        undoing = [asyncio.create_task(undo(session, client="c"))]
        await until_in(Job.wait, 2)
        (stopped,) = session.compressions.undos.values()
        stopped.cancel("c")
        undoing.append(asyncio.create_task(undo(session, client="c")))
        await stopped.settled()
        await until_in(Job.wait, 2)
        undoing.append(asyncio.create_task(undo(session, client="c")))
        await until_in(Job.wait, 3)
        studio.model.gate.set()
        await answering
        ends = await asyncio.gather(*undoing, return_exceptions=True)
    assert isinstance(ends[0], Cancelled)
    assert [isinstance(end, CompressionResult) and end.undone for end in ends[1:]] == [(meant,)] * 2
    assert len(studio.heard.of(CompressionUndone)) == 1


async def test_an_undo_of_a_compression_that_comes_to_nothing_takes_back_no_other(studio: Studio) -> None:
    session = await studio.load(dialogue())
    kept = await studio.compress()
    await studio.chat("later " + "word " * 400)
    studio.model.gate.clear()
    studio.model.called.clear()
    async with asyncio.timeout(PATIENCE):
        compressing = asyncio.create_task(studio.compress())
        await studio.model.called.wait()
        undoing = asyncio.create_task(undo(session, client="c"))
        await until_in(Job.wait, 2)
        cancel_job(session, "c")
        studio.model.gate.set()
        with pytest.raises(Cancelled):
            await compressing
        with pytest.raises(CompressionNotFound, match="nothing to undo"):
            await undoing
    assert list(session.history.in_force) == [kept.compression_id]


async def test_what_an_undo_or_a_preview_says_of_a_chat_that_is_larger_than_its_window_is_the_chats_number(
    studio: Studio,
) -> None:
    session = await studio.load(dialogue())
    before = (await studio.compress()).original_token_count
    await studio.chat("later")
    studio.set(token_limit_override=before * 3 // 4)
    undone = await undo(session, client="c")
    assert session.token_count(session.choice()) == (undone.new_token_count, "api")
    session.ledger = TokenLedger()
    preview = await studio.compress(preview=True)
    assert session.token_count(session.choice()) == (preview.original_token_count, "api")


async def test_after_an_undo_automatic_compression_waits_until_a_tenth_of_the_limit_was_added(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(token_limit_override=20_000, compression_token_cap=500)
    await studio.compress()
    await undo(session, client="c")
    await studio.chat("small")
    assert len(studio.heard.of(CompressionStarted)) == 1
    await studio.chat("word " * 2_500)
    await studio.chat("now")
    assert len(studio.heard.of(CompressionStarted)) == 2


@pytest.mark.usefixtures("by_split")
async def test_the_retention_of_an_edited_preview_is_measured_anew(studio: Studio) -> None:
    lost = "Always run make lint before a commit."
    session = await studio.load([user_text(lost), model_text("Understood."), *dialogue()])
    preview = await studio.compress(preview=True)
    assert preview.retention is not None
    assert preview.snapshot is not None
    assert lost in (preview.appendix or "")
    edited = preview.snapshot.replace("</active_constraints>", f" {lost}</active_constraints>")
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "", snapshot=edited)
    assert applied.retention is not None
    assert (preview.retention.appended, applied.retention.appended) == (1, 0)
    assert applied.appendix is None
    assert [part["text"] for part in session.history.contents()[0].parts] == [applied.snapshot]


async def test_a_second_apply_does_not_hide_the_first_from_the_status(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    compression_id = preview.compression_id or ""
    applies = [apply_preview(session, client="c", compression_id=compression_id) for _ in range(2)]
    ends = await asyncio.gather(*applies, return_exceptions=True)
    assert {type(end) for end in ends} == {CompressionResult, CompressionNotFound}
    assert [end.status for end in ends if isinstance(end, CompressionResult)] == ["COMPRESSED"]
    assert {report.phase for report in studio.heard.reports} >= {"counting", "installing"}
    assert session.status(studio.client).state == "idle"
