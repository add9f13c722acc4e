"""The sizes of contents are kept beside the log: what was measured once is not measured again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from gemini_companion.adapters.storage import counts as stored_counts
from gemini_companion.adapters.storage.store import SqliteStore
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import Measure
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.session import Session
from tests.adapters.storage.stores import execute
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

TURNS = 40


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[Content]:
    """Every content of the conversation that is measured from now on."""
    contents: list[Content] = []
    measure = TokenLedger.measure

    def counting(ledger: TokenLedger, content: Content) -> Measure:
        if any("number" in str(part) for part in content.parts):
            contents.append(content)
        return measure(ledger, content)

    monkeypatch.setattr(TokenLedger, "measure", counting)
    return contents


def conversation() -> list[Content]:
    """Prompts, thoughts, calls with their results, answers."""
    contents: list[Content] = []
    for number in range(TURNS):
        call = {"id": f"c{number}", "name": "run", "args": {"command": f"number {number}"}}
        output = {"id": f"c{number}", "name": "run", "response": {"output": f"the number was {number}"}}
        thought = {"text": f"Which number may {number} be?", "thought": True}
        contents += [
            Content(role="user", parts=({"text": f"Tell me of number {number}"},)),
            Content(role="model", parts=(thought, {"functionCall": call, "thoughtSignature": "s"})),
            Content(role="user", parts=({"functionResponse": output},)),
            Content(role="model", parts=(thought, {"text": f"That was number {number}."})),
        ]
    return contents


async def begun(studio: Studio) -> str:
    """A session with the conversation, stored, its process ended."""
    session = await studio.load(conversation())
    await studio.app.close()
    return session.session_id


async def opened_again(studio: Studio, session_id: str) -> Session:
    async with asyncio.timeout(PATIENCE):
        await studio.app.open_session(studio.client, session_id)
        session = await studio.app.hold(studio.client, session_id)
        session.history.totals()
        return session


def sql(studio: Studio) -> SqliteStore:
    assert isinstance(studio.store, SqliteStore)
    return studio.store


async def test_a_session_that_is_opened_again_measures_nothing_and_has_the_same_numbers(
    opened: Opener, measured: list[Content]
) -> None:
    first = opened()
    before = (await first.load(conversation())).history
    await first.app.close()
    assert measured
    measured.clear()
    again = opened()
    after = (await opened_again(again, (await again.app.list_sessions()).sessions[0].session_id)).history
    assert measured == []
    assert after.totals() == before.totals()
    assert [item.measure for item in after.curated()] == [item.measure for item in before.curated()]


async def test_what_a_turn_adds_is_kept_when_nobody_uses_the_session_any_more(
    opened: Opener, measured: list[Content]
) -> None:
    first = opened()
    await first.chat("What is number 1?")
    session_id = (await first.session()).session_id
    await first.app.let_go_idle()
    measured.clear()
    again = opened()
    await again.app.load(again.client, session_id)
    assert measured == []


async def test_what_a_killed_process_did_not_keep_is_measured_and_kept_then(
    opened: Opener, measured: list[Content]
) -> None:
    first = opened()
    await first.chat("What is number 1?")
    session_id = (await first.session()).session_id
    measured.clear()
    second = opened()
    await second.app.load(second.client, session_id)
    assert len(measured) == 1
    await second.app.close()
    measured.clear()
    third = opened()
    await third.app.load(third.client, session_id)
    assert measured == []


async def test_a_fork_measures_nothing_of_what_it_begins_with(opened: Opener, measured: list[Content]) -> None:
    session_id = await begun(opened())
    studio = opened()
    session = await opened_again(studio, session_id)  # nothing of it is still to be measured, in no thread either
    measured.clear()
    info = await studio.app.fork(studio.client, session_id, None)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert fork.history.totals() == session.history.totals()
    assert measured == []
    await studio.app.close()
    again = opened()
    await opened_again(again, info.session_id)
    assert measured == []


async def test_a_fork_at_a_turn_has_the_sizes_of_its_own_contents(opened: Opener) -> None:
    studio = opened()
    session = await studio.load(conversation())
    info = await studio.app.fork(studio.client, session.session_id, TURNS // 2)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert len(fork.history.curated()) == 4 * (TURNS // 2)
    for item in fork.history.curated():
        assert item.measure == fork.ledger.measure(item.content)


async def test_other_rules_of_counting_measure_everything_again_once(
    opened: Opener, measured: list[Content], monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = await begun(opened())
    monkeypatch.setattr(stored_counts, "RULES_OF_COUNTING", stored_counts.RULES_OF_COUNTING + 1)
    measured.clear()
    second = opened()
    await opened_again(second, session_id)
    assert len(measured) >= 4 * TURNS
    await second.app.close()
    measured.clear()
    third = opened()
    await opened_again(third, session_id)
    assert measured == []
    assert await execute(sql(third), "SELECT count(DISTINCT rules) FROM sizes") == [(1,)]


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _negative(data: bytes) -> bytes:
    return b"\x91\x93\x01\xff\xff"  # one, with a size of -1


def _text(data: bytes) -> str:
    return "not bytes at all \udcff".encode("utf-8", "replace").decode()


def _nested(data: bytes) -> bytes:
    return b"\x91" * 100_000


@pytest.mark.parametrize("damage", [_cut, _negative, _text, _nested, lambda data: b"", lambda data: b"\xc1"])
async def test_damaged_sizes_are_measured_again(
    opened: Opener, damage: Callable[[bytes], Any], measured: list[Content]
) -> None:
    first = opened()
    session = await first.load(conversation())
    totals = session.history.totals()
    await first.app.close()
    second = opened()
    ((data,),) = await execute(sql(second), "SELECT data FROM sizes")
    await execute(sql(second), "UPDATE sizes SET data = ?", damage(data))
    measured.clear()
    again = await opened_again(second, session.session_id)
    assert len(measured) >= 4 * TURNS
    assert again.history.totals() == totals


async def test_a_size_does_not_count_for_another_text(opened: Opener, measured: list[Content]) -> None:
    session_id = await begun(opened())
    second = opened()
    await execute(
        sql(second), "UPDATE log SET json = replace(CAST(json AS TEXT), 'number 7', 'number 8') WHERE type = 'prompt'"
    )
    measured.clear()
    session = await opened_again(second, session_id)
    assert [content.parts[0]["text"] for content in measured] == ["Tell me of number 8"]
    for item in session.history.curated():
        assert item.measure == session.ledger.measure(item.content)


async def test_undoing_measures_no_content_again(opened: Opener, measured: list[Content]) -> None:
    session_id = await begun(opened())
    studio = opened()
    session = await opened_again(studio, session_id)  # nothing of it is still to be measured, in no thread either
    before = session.history.totals()
    await studio.compress(session_id=session_id)
    assert session.history.in_force
    session.history.totals()
    measured.clear()
    await undo(session, client=studio.client.client_id)
    assert not session.history.in_force
    assert session.history.totals() == before
    assert measured == []


async def test_the_sizes_of_many_turns_are_put_together(opened: Opener, measured: list[Content]) -> None:
    first = opened()
    for number in range(80):
        await first.chat(f"Tell me of number {number}")
        await first.app.let_go_idle()
    session_id = (await first.session()).session_id
    assert (await execute(sql(first), "SELECT count(*) FROM sizes"))[0][0] < 40
    await first.app.close()
    measured.clear()
    second = opened()
    await opened_again(second, session_id)
    assert measured == []
    await second.app.delete(session_id)
    assert await execute(sql(second), "SELECT count(*) FROM sizes") == [(0,)]
