"""A chat that may soon be compressed is looked through while nothing goes on: the compression finds it done."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.errors import Cancelled
from gemini_companion.engine.facts import retention
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.prompts.attachments import resource_part
from gemini_companion.sessions.compression.ahead import AHEAD_SHARE, AT_ONCE, TOKENS_AT_ONCE
from gemini_companion.sessions.session import Session
from tests.support.conversations import agent_run, dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

ROUNDS = 2 * AT_ONCE
"""More than is looked through in one go."""


@dataclass
class Looks:
    """Which contents facts were looked for in, and who waits before it does."""

    found: Counter[int] = field(default_factory=Counter[int])
    on_the_loop: int = 0
    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    fault: Exception | None = None


class LeasedStore(MemoryStore):
    """A store whose sessions another process may have."""

    is_leased = True

    def holds(self, session_id: str) -> bool:
        return self.is_leased and super().holds(session_id)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Looks]:
    looks, own, facts_of = Looks(), threading.current_thread(), retention.facts_of
    looks.gate.set()

    def noted(source: FactSource) -> list[Fact]:
        looks.found[id(source.content)] += 1
        looks.on_the_loop += threading.current_thread() is own
        looks.begun.set()
        assert looks.gate.wait(PATIENCE)
        if looks.fault is not None:
            raise looks.fault
        return facts_of(source)

    monkeypatch.setattr(retention, "facts_of", noted)
    yield looks
    looks.gate.set()


async def looked_through(session: Session) -> None:
    """Wait until nothing is looked through any more."""
    looking = session.compressions.ahead.task
    assert looking is not None
    await asyncio.wait({looking}, timeout=PATIENCE)


async def filled(studio: Studio, share: float, contents: list[Content]) -> Session:
    """A session that stands at this share of the trigger when it is there."""
    probe = await studio.load(contents)
    studio.set(compression_token_cap=round(probe.token_count(probe.choice()).tokens / share))
    return await studio.load(contents)


async def test_a_compression_finds_it_done(studio: Studio, looks: Looks):
    session = await filled(studio, 0.9, dialogue(ROUNDS))
    await looked_through(session)
    known = set(looks.found)
    assert len(known) >= 2 * ROUNDS
    assert looks.on_the_loop == 0
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    assert set(looks.found) == known
    assert set(looks.found.values()) == {1}


async def test_files_that_came_with_a_prompt_are_looked_through_once_too(studio: Studio, looks: Looks):
    attached = resource_part("docs:src/a.py", "x = 1\n" * 50)
    prompt = Content(role="user", parts=({"text": "Never touch src/b.py."}, attached))
    session = await filled(studio, 0.9, [prompt, *dialogue(ROUNDS)[1:]])
    await looked_through(session)
    known = set(looks.found)
    await studio.compress()
    assert set(looks.found) == known


async def test_of_outputs_only_the_newest_are_looked_through_and_only_by_the_compression(studio: Studio, looks: Looks):
    contents = agent_run(ROUNDS)
    session = await filled(studio, 0.9, contents)
    await looked_through(session)
    assert 0 < len(looks.found) <= len(contents) // 2 + 1


async def test_a_chat_that_is_far_from_the_trigger_is_left_alone(studio: Studio, looks: Looks):
    session = await filled(studio, AHEAD_SHARE * 0.8, dialogue(ROUNDS))
    await looked_through(session)
    assert not looks.found


async def test_a_turn_stops_it_and_its_end_goes_on_with_the_rest(studio: Studio, looks: Looks):
    looks.gate.clear()
    session = await filled(studio, 0.9, dialogue(ROUNDS))
    assert await asyncio.to_thread(looks.begun.wait, PATIENCE)
    studio.model.gate.clear()
    turn = asyncio.create_task(studio.chat("hello"))
    while session.lane.is_idle:
        await asyncio.sleep(0)
    looks.gate.set()
    await looked_through(session)
    assert len(looks.found) <= AT_ONCE
    studio.model.gate.set()
    await turn
    await looked_through(session)
    assert len(looks.found) >= 2 * ROUNDS
    assert set(looks.found.values()) == {1}


async def test_beside_a_turn_no_more_than_one_long_content_is_looked_through(studio: Studio, looks: Looks):
    looks.gate.clear()
    said = "word " * TOKENS_AT_ONCE
    session = await filled(studio, 0.9, [user_text(said), model_text(said), user_text(said), model_text(said)])
    assert await asyncio.to_thread(looks.begun.wait, PATIENCE)
    studio.model.gate.clear()
    turn = asyncio.create_task(studio.chat("hello"))
    while session.lane.is_idle:
        await asyncio.sleep(0)
    looks.gate.set()
    await looked_through(session)
    assert len(looks.found) == 1
    studio.model.gate.set()
    await turn


async def test_only_what_is_new_is_looked_through_after_a_turn(studio: Studio, looks: Looks):
    session = await filled(studio, 0.9, dialogue(ROUNDS))
    await looked_through(session)
    before = len(looks.found)
    await studio.chat("hello")
    await looked_through(session)
    assert 0 < len(looks.found) - before <= 4
    assert set(looks.found.values()) == {1}


async def test_a_deleted_chat_is_not_looked_through_to_its_end(studio: Studio, looks: Looks):
    looks.gate.clear()
    session = await filled(studio, 0.9, dialogue(ROUNDS))
    assert await asyncio.to_thread(looks.begun.wait, PATIENCE)
    await studio.app.delete(session.session_id)
    looks.gate.set()
    await looked_through(session)
    assert len(looks.found) <= AT_ONCE


async def test_a_chat_that_is_deleted_while_its_turn_runs_is_not_looked_through_behind_that(
    studio: Studio, looks: Looks
):
    session = await filled(studio, 0.9, dialogue(ROUNDS))
    await looked_through(session)
    before = session.compressions.ahead.task
    studio.model.gate.clear()
    turn = asyncio.create_task(studio.chat("hello"))
    while session.lane.is_idle:
        await asyncio.sleep(0)
    await studio.app.delete(session.session_id)
    await asyncio.wait({turn}, timeout=PATIENCE)
    assert isinstance(turn.exception(), Cancelled)
    assert session.compressions.ahead.task is before


async def test_a_chat_that_is_only_read_is_left_alone(tmp_path: Path, looks: Looks):
    store = LeasedStore(str(tmp_path / "files"))
    studio = Studio(tmp_path, store=store)
    session = await filled(studio, 0.9, dialogue(ROUNDS))
    await looked_through(session)
    looks.found.clear()
    store.is_leased = False
    for _ in range(3):
        read = await studio.app.load(studio.client, session.session_id)
        assert read is not session
        if read.compressions.ahead.task is not None:
            await looked_through(read)
    assert not looks.found


async def test_a_defect_of_it_is_logged_and_harms_nothing(
    studio: Studio, looks: Looks, caplog: pytest.LogCaptureFixture
):
    looks.fault = RuntimeError("broken")
    with caplog.at_level(logging.ERROR):
        session = await filled(studio, 0.9, dialogue(ROUNDS))
        await looked_through(session)
    assert "looked through ahead" in caplog.text
    looks.fault = None
    assert (await studio.chat("hello")).text
    assert (await studio.compress()).status == "COMPRESSED"


def test_what_is_read_in_a_contents_stead_is_made_once():
    cache, content = retention.FactCache(), user_text("a")
    made: list[int] = []

    def make() -> tuple[Content, ...]:
        made.append(1)
        return (user_text("b"),)

    assert cache.derived(content, make) is cache.derived(content, make)
    assert cache.derived(user_text("a"), make) is not cache.derived(content, make)
    assert len(made) == 2
