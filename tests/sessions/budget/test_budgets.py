"""Budgets of tokens and money, of a chat and of a day: told at 80 %, nothing more is sent at 100 %."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.errors import Blocked, StaleVersion
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.statistics.spending import SLOT_MS, Spending, Spent, spent_on
from gemini_companion.sessions.budget.limits import midnight
from gemini_companion.sessions.events import BudgetUsed
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.settings.spending import BudgetSettings
from tests.support.sample_tools import SampleTool, allowing
from tests.support.scripted_model import Answer, calls
from tests.support.sessions import ManualClock, Studio

EACH = Usage(prompt_tokens=900, output_tokens=100, total_tokens=1_000)


def studio_of(tmp_path: Path, *, store: Any = None, **budget: Any) -> Studio:
    tools = [SampleTool("read_file", "read")]
    studio = Studio(tmp_path, tools=tools, tooling=allowing(), budget=BudgetSettings(**budget), store=store)
    studio.model.answer_usage = lambda request, answer: EACH
    return studio


def used(studio: Studio) -> list[tuple[str, str, str]]:
    return [(event.scope, event.unit, event.outcome) for event in studio.heard.of(BudgetUsed)]


def costing(answer: list[Any]) -> Answer:
    return [type(answer[0])(parts=answer[0].parts, finish_reason="STOP", usage=EACH)]


def entry(**fields: Any) -> ModelCallEntry:
    plain = ModelCallEntry(
        id="e", seq=1, time=0, purpose="answer", subject="t", model="gemini-2.5-flash", outcome="ok", duration_ms=1
    )
    return msgspec.structs.replace(plain, **{"usage": EACH, **fields})


async def test_people_are_told_once_at_four_fifths_and_nothing_is_sent_when_all_is_used(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, session_tokens=5_000)
    for _ in range(4):
        assert (await studio.chat("Hi")).stopped is None
    assert used(studio) == []
    assert (await studio.chat("Hi")).stopped is None
    assert used(studio) == [("session", "tokens", "warned")]
    refused = await studio.chat("One more?")
    assert (refused.stopped, refused.prompt) == ("budget", ({"text": "One more?"},))
    assert "5,000 tokens of 5,000 tokens" in refused.message
    assert "companion.budget.sessionTokens" in refused.message
    assert used(studio)[1:] == [("session", "tokens", "stopped")]
    assert len(studio.model.main()) == 5


async def test_a_turn_whose_budget_ends_in_its_middle_keeps_its_rounds_and_goes_on_when_it_is_raised(
    tmp_path: Path,
) -> None:
    studio = studio_of(tmp_path, session_tokens=2_000)
    studio.model.streams = [costing(calls(("read_file", {"file_path": str(n)}))) for n in range(4)]
    result = await studio.chat("Go.")
    assert result.stopped == "budget"
    assert "let it go on" in result.message
    session = await studio.session()
    assert [item.kind for item in session.history.items] == ["prompt", *["reply", "toolResult"] * 2]
    assert (await studio.app.resume(studio.client, None)).stopped == "budget", "nothing has changed"
    studio.settings = msgspec.structs.replace(studio.settings, budget=BudgetSettings(session_tokens=90_000))
    assert (await studio.app.resume(studio.client, None)).text.strip() == "Done."
    assert [item.kind for item in session.history.items] == ["prompt", *["reply", "toolResult"] * 4, "reply"]


async def test_money_counts_by_the_price_table(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, session_cost=0.004)  # gemini-2.5-pro: 900 at 1.25 and 100 at 10 a million
    for _ in range(2):
        assert (await studio.chat("Hi")).stopped is None
    assert (await studio.session()).spending.spent == Spent(2_000, 2 * 2_125)
    assert (await studio.chat("Hi")).stopped == "budget"


async def test_the_budget_of_a_day_is_one_for_all_chats_and_begins_anew_at_midnight(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, day_tokens=2_000)
    await studio.chat("Hi")
    await studio.app.create(studio.client)
    await studio.chat("Hi")
    assert (await studio.chat("Hi")).stopped == "budget"
    await studio.app.create(studio.client)
    refused = await studio.chat("Hi")
    assert refused.stopped == "budget"
    assert "companion.budget.dayTokens" in refused.message
    studio.clock.time += 24 * 3_600_000
    assert (await studio.chat("Hi")).stopped is None


async def test_several_daemons_of_one_store_share_the_day_and_a_deleted_chat_still_counts(tmp_path: Path) -> None:
    stores = [open_store(tmp_path / "data", "project", clock=ManualClock()) for _ in range(2)]
    studios = [studio_of(tmp_path, store=store, day_tokens=2_000) for store in stores]
    try:
        for number, studio in enumerate(studios):
            inner = studio.services.new_id
            studio.services.new_id = lambda kind, inner=inner, number=number: f"{inner(kind)}-{number}"
            assert (await studio.chat("Hi")).stopped is None
        session = await studios[0].session()
        await studios[0].app.delete(session.session_id)
        for studio in studios:
            assert (await studio.chat("Hi")).stopped == "budget"
    finally:
        for studio in studios:
            await studio.app.close()


async def test_what_is_not_written_is_not_counted_and_what_is_written_is_counted_once(tmp_path: Path) -> None:
    clock = ManualClock()
    store = open_store(tmp_path / "data", "project", clock=clock)
    try:
        meta = SessionMeta(session_id="s", title="", model="", created_at=0, updated_at=0)
        await store.create(meta, [entry()])
        assert await store.spent_since(0) == Spent(), "what a file brings was paid for elsewhere"
        await store.append("s", [entry(seq=2, id="b", time=5 * SLOT_MS)])
        with pytest.raises(StaleVersion):
            await store.append("s", [entry(seq=2, id="c", time=5 * SLOT_MS)])
        assert (await store.spent_since(5 * SLOT_MS)).tokens == 1_000
        assert await store.spent_since(6 * SLOT_MS) == Spent()
    finally:
        await store.close()


async def test_what_a_small_model_is_asked_beside_a_turn_stops_too(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, session_tokens=1_000)
    await studio.chat("Hi")
    asked = len(studio.model.requests)
    with pytest.raises(Blocked, match="used up"):
        await studio.compress()
    assert len(studio.model.requests) == asked


async def test_a_model_on_this_machine_has_no_budget(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, session_tokens=1, day_cost=0.000001)
    studio.model.answer_usage = lambda request, answer: EACH
    await studio.chat("Hi")
    assert (await studio.chat("Hi", model="offline")).stopped is None
    assert (await studio.chat("Hi", model="gemini-2.5-flash")).stopped == "budget"


def test_a_model_without_a_listed_price_costs_what_is_usual_and_absurd_counts_are_bounded() -> None:
    assert spent_on(entry(model="nobody-knows")).micro_dollars > 0
    assert spent_on(entry(is_local=True)) == Spent()
    assert spent_on(entry(usage=None)) == Spent()
    wild = Usage(prompt_tokens=-(10**30), output_tokens=10**30, cached_tokens=10**30)
    assert 0 <= spent_on(entry(usage=wild)).tokens <= 10**13
    spending = Spending()
    spending.apply(entry())
    assert spending.spent.tokens == 1_000


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/St_Johns", "Asia/Kathmandu", "Europe/Berlin"])
def test_the_day_begins_at_midnight_where_the_machine_is(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for now in (1_792_000_000_000, 1_793_000_000_000, 1_774_740_000_000):  # the last: a clock goes forward
            began = midnight(now)
            assert time.strftime("%H:%M:%S", time.localtime(began / 1000)) == "00:00:00"
            assert 0 <= now - began < 25 * 3_600_000
            assert time.localtime(began / 1000).tm_yday == time.localtime(now / 1000).tm_yday
            assert began % SLOT_MS == 0
    finally:
        monkeypatch.undo()
        time.tzset()
