"""What a session's number rests on is kept with it, and holds as long as its view has only grown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import CompanionError, StorageFault
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import (
    Entry,
    PinEntry,
    PromptEntry,
    RatingEntry,
    ResumeEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.tool_entries import ModeEntry
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import EstimatedParts, TokenLedger
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionPrepared
from gemini_companion.sessions.kept_counts import KeptTokens
from gemini_companion.sessions.listed_counts import count_on, kept_tokens
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.inspection import context_report
from tests.support.conversations import dialogue
from tests.support.logs import LEDGER
from tests.support.patience import PATIENCE, until
from tests.support.preparing_desk import chat_at, reach_trigger, within
from tests.support.scripted_model import count_request
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser

PARTS = EstimatedParts(messages=4_000)


def entry(kind: type[Any], seq: int, **fields: Any) -> Any:
    return kind(id=f"e{seq}", seq=seq, time=seq, **fields)


def prompt(seq: int) -> PromptEntry:
    return entry(PromptEntry, seq, turn_id=f"t{seq}", content=user_text("word " * 20))


def history(*more: Entry) -> History:
    return History(LEDGER.measure, [prompt(1), entry(TurnEndEntry, 2, turn_id="t1", outcome="completed"), *more])


def kept() -> KeptTokens:
    before, ledger = history(), TokenLedger()
    assert ledger.observe("m", before.epoch, PARTS, 4_700)
    found = kept_tokens(ledger, before, "m")
    assert found is not None
    assert found.version == 2
    return found


def source_after(kept: KeptTokens | None, *more: Entry) -> str:
    after, ledger = history(*more), TokenLedger()
    count_on(ledger, after, kept)
    return ledger.read("m", after.epoch, PARTS).source


@pytest.mark.parametrize(
    "more",
    [
        (),
        (entry(ResumeEntry, 3),),
        (prompt(3), entry(ResumeEntry, 4), entry(ResumeEntry, 5, reason="takeOver")),
        (entry(RatingEntry, 3, compression_id="c", rating=1), entry(ModeEntry, 4, mode="acceptEdits")),
        (prompt(3), entry(TurnEndEntry, 4, turn_id="t3", outcome="interrupted"), entry(ResumeEntry, 5)),
    ],
    ids=["as it was", "opened again", "grown and opened twice", "rated, and in another mode", "a turn that was lost"],
)
def test_a_number_by_the_api_is_one_after_the_session_was_opened_again(more: tuple[Entry, ...]) -> None:
    assert source_after(kept(), *more) == "api"


@pytest.mark.parametrize(
    "more",
    [
        (entry(ResumeEntry, 3, reason="clear"),),
        (entry(PinEntry, 3, pin_id="p", text="Use tabs."), entry(ResumeEntry, 4)),
        (entry(TurnEndEntry, 3, turn_id="t1", outcome="replaced"), entry(ResumeEntry, 4)),
    ],
    ids=["cleared", "pinned to", "answered anew"],
)
def test_a_view_that_was_changed_since_is_estimated_by_what_the_counts_taught(more: tuple[Entry, ...]) -> None:
    after, ledger = history(*more), TokenLedger()
    count_on(ledger, after, kept())
    found = ledger.read("m", after.epoch, PARTS)
    assert found.source == "estimate"
    assert found.tokens == pytest.approx(4_700, abs=1)


def test_a_number_of_a_longer_log_of_other_rules_or_of_none_is_not_taken() -> None:
    found = kept()
    others = [msgspec.structs.replace(found, version=99), msgspec.structs.replace(found, rules=found.rules + 1)]
    assert {source_after(one) for one in (*others, None)} == {"estimate"}


def test_one_that_was_kept_without_its_view_is_estimated() -> None:
    assert source_after(msgspec.structs.replace(kept(), epoch=0)) == "estimate"


async def test_a_chat_whose_number_was_never_kept_has_the_whole_one_in_the_list_once_it_is_held(opened: Any) -> None:
    first: Studio = opened()
    session = await first.load(dialogue(10))
    before = session.token_count(session.choice())
    await first.store.save_meta(msgspec.structs.replace(session.meta, token_count=0, counted=None))
    await first.app.close()
    second: Studio = opened()
    await second.app.rename(second.client, session.session_id, "Parsing")
    assert (await second.app.list_sessions()).sessions[0].token_count == before.tokens
    await second.app.close()
    third: Studio = opened()
    assert (await third.app.list_sessions()).sessions[0].token_count == before.tokens


async def _ask_for_nothing(_: Studio, __: Session) -> None:
    """What is prepared is written when the session's number is kept already."""


async def _pin(studio: Studio, session: Session) -> None:
    await pin(session, text="Keep it short.")
    reach_trigger(studio, session)


async def _set_mode(_: Studio, session: Session) -> None:
    stamp = session.stamp()
    await session.append(lambda seq: ModeEntry(**stamp, seq=seq, mode="acceptEdits"))


@pytest.mark.parametrize("happen", [_ask_for_nothing, _pin, _set_mode])
async def test_what_is_logged_after_the_number_was_kept_leaves_it_over_a_restart(
    opened: Any, happen: Callable[[Studio, Session], Any]
) -> None:
    first: Studio = opened()
    first.set(compression_background="auto")
    session = await chat_at(first, 0.85)
    await first.chat("go on")
    await first.heard.wait_for(CompressionPrepared)
    await happen(first, session)
    before = session.token_count(session.choice())
    await first.app.close()
    second: Studio = opened()
    info = await second.app.open_session(second.client, session.session_id)
    again = await second.app.load(second.client, None)
    assert (info.token_count, again.token_count(again.choice())) == (before.tokens, before)


async def _preparing(opened: Any) -> tuple[Studio, Session, SlowSummariser]:
    """A chat with a title whose compression is being prepared, and waits for its summariser."""
    studio: Studio = opened(slow := SlowSummariser())
    session = await chat_at(studio, 0.85)
    await studio.chat("Before.")
    await until(lambda: session.meta.title == slow.title)
    studio.set(compression_background="idle")
    await studio.chat("go on")
    await within(slow.summarising)
    return studio, session, slow


async def test_what_the_api_counted_for_a_compression_that_nobody_asked_for_is_kept_and_the_chat_is_as_new_as_before(
    opened: Any,
) -> None:
    first, session, slow = await _preparing(opened)
    told = session.token_count(session.choice())
    slow.count = lambda request: count_request(request) + 90
    changed_at = session.meta.updated_at
    slow.may_summarise.set()
    await until(lambda: not session.compressions.previews())
    assert first.heard.of(CompressionPrepared)
    before = session.token_count(session.choice())
    assert before != told
    second: Studio = opened()  # the first is killed
    async with asyncio.timeout(PATIENCE):
        while (listed := (await second.app.list_sessions()).sessions[0]).token_count != before.tokens:
            await asyncio.sleep(0)
    assert listed.updated_at == changed_at
    await second.app.open_session(second.client, session.session_id, take_over=True)
    again = await second.app.load(second.client, None)
    assert again.token_count(again.choice()) == before


async def test_what_is_prepared_for_a_chat_that_was_taken_ends_and_writes_nothing_over_what_the_other_wrote(
    opened: Any,
) -> None:
    first, session, _ = await _preparing(opened)
    second: Studio = opened()
    await second.app.open_session(second.client, session.session_id, take_over=True)
    await second.app.rename(second.client, session.session_id, "Renamed there")
    await second.app.close()
    with pytest.raises(CompanionError):
        await pin(session, text="Keep it short.")  # so it is noticed
    again = await first.app.load(first.client, session.session_id)
    assert again is not session
    assert not session.compressions.previews()
    assert (await first.app.list_sessions()).sessions[0].title == "Renamed there"


@pytest.mark.parametrize("is_held", [True, False], ids=["held by another process", "after a restart"])
async def test_a_chat_that_is_merely_read_has_the_number_of_the_list(opened: Any, is_held: bool) -> None:
    first: Studio = opened()
    session = await first.load(dialogue(10))
    await first.chat("go on")
    before = session.token_count(session.choice())
    assert before.source == "api"
    if not is_held:
        await first.app.close()
    second: Studio = opened()
    (listed,) = (await second.app.list_sessions()).sessions
    for _ in range(2):  # one that is not held is read anew each time
        read = await second.app.load(second.client, session.session_id)
        report = context_report(read)
        assert (listed.token_count, read.token_count(read.choice())) == (before.tokens, before)
        assert report.token_count == before.tokens
        assert report.by_part.environment > 0
    assert (await second.app.list_sessions()).sessions[0].token_count == before.tokens


async def test_a_turn_whose_end_could_be_written_later_alone_counts_in_lists_as_it_does_in_the_chat(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.chat("Before.")
    session = await studio.session()
    append = studio.store.append

    async def fail(session_id: str, entries: Sequence[Entry]) -> None:
        if any(isinstance(entry, TurnEndEntry) for entry in entries):
            raise StorageFault("The disk is full.")
        await append(session_id, entries)

    with monkeypatch.context() as full:
        full.setattr(studio.store, "append", fail)
        with pytest.raises(StorageFault):
            await studio.chat("word " * 400)
        kept = (await studio.store.meta(session.session_id)).token_count
        assert kept == session.token_count(session.choice()).tokens, "the prompt stands in the view still"
    await studio.app.let_go_idle()
    told = session.token_count(session.choice()).tokens
    assert told < kept
    assert (await studio.store.meta(session.session_id)).token_count == told


async def test_what_became_of_the_number_as_a_process_was_killed_is_in_lists_once_the_chat_was_opened(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: Studio = opened()
    session = await first.load(dialogue(10))
    await first.chat("go on")
    assert (await first.compress()).status == "COMPRESSED"

    async def killed(_: Any) -> None:
        """It is too late."""

    monkeypatch.setattr(first.store, "save_meta", killed)
    await undo(session, client="c")
    told = session.token_count(session.choice()).tokens
    second: Studio = opened()
    changed_at = (await second.store.meta(session.session_id)).updated_at
    info = await second.app.open_session(second.client, session.session_id, take_over=True)
    assert info.token_count == pytest.approx(told, rel=0.01)
    await second.app.close()
    (listed,) = (await opened().app.list_sessions()).sessions
    assert (listed.token_count, listed.updated_at) == (info.token_count, changed_at)
