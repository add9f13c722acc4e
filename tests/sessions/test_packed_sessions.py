"""A chat whose beginning is packed in memory goes on as any other: it is compressed, undone, read, forked, exported."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history import block, putting_away
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.sources import Sources
from gemini_companion.sessions.compression.ahead import look_ahead
from gemini_companion.sessions.compression.undo import undo as undo_one
from gemini_companion.sessions.putting_away import put_away_hidden
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.memory import MemoryOfSession
from gemini_companion.sessions.transcript.inspection import compression_list
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.turn.loop import is_named
from tests.support.conversations import agent_run, dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

NEVER = 1_000_000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(putting_away, "FEWEST", 1)
    monkeypatch.setattr(putting_away, "MOST_ENTRIES", 7)
    monkeypatch.setattr(putting_away, "MOST_ITEMS", 9)
    monkeypatch.setattr(block, "ENTRIES", 3)


@pytest.fixture
def desk(tmp_path: Path) -> Callable[[str], Studio]:
    return lambda name: Studio(tmp_path / name)


async def at_rest(session: Session) -> None:
    """Until what is done while nothing runs is done."""
    looking = session.compressions.ahead.task
    async with asyncio.timeout(PATIENCE):
        if looking is not None:
            await asyncio.wait({looking})
        await put_away_hidden(session)


async def compressed(studio: Studio) -> Session:
    """A chat that was compressed twice, with a turn behind each."""
    session = await studio.load(dialogue())
    for _ in range(2):
        assert (await studio.compress()).status == "COMPRESSED"
        for number in range(3):
            await studio.chat(f"And {number}? Never push to main. " + "word " * 300)
    await at_rest(session)
    return session


async def everything(studio: Studio, session: Session) -> dict[str, Any]:
    """What clients can read of it."""
    pages: list[Any] = []
    cursor = None
    while True:
        page = await history_page(session, "transcript", cursor=cursor, limit=4, newest_first=True)
        pages.append(page)
        if (cursor := page.next_cursor) is None:
            break
    return {
        "transcript": pages,
        "model": await history_page(session, "model", cursor=None, limit=None),
        "compressions": compression_list(session),
        "status": session.status(studio.client),
        "export": await studio.app.export(studio.client, session.session_id, "companion"),
    }


async def in_both_ways(desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Whatever is done, nobody can tell whether the beginning is packed."""
    packs, plain = desk("packs"), desk("plain")
    ours = await compressed(packs)
    assert ours.history.entries.gone > 10
    monkeypatch.setattr(putting_away, "FEWEST", NEVER)
    theirs = await compressed(plain)
    assert theirs.history.entries.gone == 0
    assert await everything(packs, ours) == await everything(plain, theirs)
    assert await act(packs, ours) == await act(plain, theirs)
    assert await everything(packs, ours) == await everything(plain, theirs)


async def test_a_path_is_named_by_a_prompt_that_is_packed_too(desk: Callable[[str], Studio]) -> None:
    studio = desk("packs")
    await studio.chat("Read config/.env, please. " + "word " * 300)
    for number in range(3):
        await studio.chat(f"And {number}? " + "word " * 300)
    assert (await studio.compress()).status == "COMPRESSED"
    session = await studio.session()
    await at_rest(session)
    assert session.history.prompts.gone > 0
    assert await is_named(session, "/project/config/.env")
    assert not await is_named(session, "/project/config/.npmrc")


async def test_nobody_who_has_asked_for_statistics_holds_what_is_packed(desk: Callable[[str], Studio]) -> None:
    studio = desk("packs")
    await studio.chat("A word that no other chat has: xylophone. " + "word " * 300)
    for number in range(3):
        await studio.chat(f"And {number}? " + "word " * 300)
    session = await studio.session()
    await studio.app.statistics.of_session(session)
    assert (await studio.compress()).status == "COMPRESSED"
    await studio.chat("And now?")
    await at_rest(session)
    assert session.history.prompts.gone > 0
    gc.collect()
    items = [one for one in gc.get_objects() if isinstance(one, Item) and one.kind != "snapshot"]  # which quotes it
    assert items
    assert not [item for item in items if "xylophone. word" in str(item.content)]


async def test_nobody_who_reads_a_chat_can_tell(desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(studio: Studio, session: Session) -> Any:
        memory = MemoryOfSession(session)
        first = next(iter(session.history.entries))
        return await memory.entry(first.id), await memory.turn(session.history.sources[0].turn_id)

    await in_both_ways(desk, monkeypatch, read)


async def test_compressing_once_more_keeps_and_counts_the_same(
    desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def compress(studio: Studio, session: Session) -> Any:
        result = await studio.compress()
        return result.status, result.original_token_count, result.new_token_count, result.retention, result.appendix

    await in_both_ways(desk, monkeypatch, compress)


async def test_every_compression_is_undone_and_one_done_again(
    desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def undo(studio: Studio, session: Session) -> Any:
        undone = [await undo_one(session, client=studio.client.client_id) for _ in range(2)]
        again = await studio.compress()
        await at_rest(session)
        return [one.new_token_count for one in undone], again.new_token_count, (await studio.chat("Go on.")).text

    await in_both_ways(desk, monkeypatch, undo)


@pytest.mark.parametrize("at_turn", [None, 2])
async def test_forks_have_the_same_log(
    desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch, at_turn: int | None
) -> None:
    async def fork(studio: Studio, session: Session) -> Any:
        made = await studio.app.fork(studio.client, session.session_id, at_turn)
        chat = (await studio.chat("In the fork.")).text
        forked = await studio.app.load(studio.client, made.session_id)
        return chat, list(forked.history.entries), forked.history.contents(), forked.history.totals()

    await in_both_ways(desk, monkeypatch, fork)


async def test_a_rule_in_a_prompt_that_a_compression_kept_is_in_the_request_as_it_was(
    desk: Callable[[str], Studio], caplog: pytest.LogCaptureFixture
) -> None:
    studio = desk("kept")
    studio.set(compression_strategy="userMessages")
    session = await studio.load(dialogue(20))
    await studio.chat("Never push to main.")
    for number in range(12):
        await studio.chat(f"And {number}?")
    assert (await studio.compress()).status == "COMPRESSED"
    await studio.chat("Go on.")
    before = studio.model.main()[-1].contents[:-1]
    await at_rest(session)
    assert session.history.sources.past_to > 0
    with caplog.at_level("ERROR"):
        await studio.chat("And on.")
    assert studio.model.main()[-1].contents[: len(before)] == before
    assert caplog.text == ""


async def test_what_a_long_turn_compressed_is_packed_once_the_turn_has_ended(desk: Callable[[str], Studio]) -> None:
    studio = desk("agent")
    session = await studio.load(agent_run())
    assert (await studio.compress()).status == "COMPRESSED"
    await at_rest(session)
    for number in range(2):
        await studio.chat(f"Then {number}.")
        await at_rest(session)
    assert session.history.entries.gone > 10


async def test_of_what_is_packed_no_copy_stays_with_what_is_known_of_it(desk: Callable[[str], Studio]) -> None:
    studio = desk("copies")
    session = await compressed(studio)
    live = {id(one.content) for one in (*session.history.sources.live, *session.history.items)}
    assert {id(content) for content in session.fact_cache.read()} <= live


async def test_a_turn_without_a_compression_packs_nothing(desk: Callable[[str], Studio]) -> None:
    studio = desk("one")
    session = await compressed(studio)
    gone = session.history.entries.gone
    await studio.chat("One more.")
    await at_rest(session)
    assert session.history.entries.gone == gone
    assert (await studio.compress()).status in ("COMPRESSED", "NOOP", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT")


async def test_a_rule_in_a_prompt_that_an_undo_shows_again_is_in_the_request_once(
    desk: Callable[[str], Studio], caplog: pytest.LogCaptureFixture
) -> None:
    studio = desk("undone")
    session = await studio.load(dialogue())
    await studio.chat("Never push to main.")
    for number in range(6):
        await studio.chat(f"And {number}? " + "word " * 300)
    assert (await studio.compress()).status == "COMPRESSED"
    await studio.chat("Go on.")
    await at_rest(session)
    assert session.history.prompts.gone > 0
    await undo_one(session, client=studio.client.client_id)
    with caplog.at_level("ERROR"):
        await studio.chat("And on.")
    assert repr(studio.model.main()[-1].contents).count("Never push to main") == 1
    assert caplog.text == ""


async def test_much_that_is_packed_is_never_unpacked_on_the_event_loop(
    desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = desk("loop")
    session = await studio.load(dialogue(40))
    for number in range(3):
        await studio.chat(f"And {number}? " + "word " * 300)
    assert (await studio.compress()).status == "COMPRESSED"
    await studio.chat("Go on.")
    await at_rest(session)
    assert len([*session.history.entries.blocks]) > 20
    first, on_loop = next(iter(session.history.entries)), 0
    unpack = block.Block.unpack

    def counted(self: block.Block) -> Any:
        nonlocal on_loop
        on_loop += threading.current_thread() is threading.main_thread()
        return unpack(self)

    monkeypatch.setattr(block.Block, "unpack", counted)
    memory = MemoryOfSession(session)

    async def export() -> object:
        return await studio.app.export(studio.client, session.session_id, "companion")

    for act in (
        partial(memory.entry, first.id),
        partial(memory.turn, "nobody's"),
        partial(history_page, session, "transcript", cursor=None, limit=None),
        partial(history_page, session, "model", cursor=None, limit=None),
        partial(is_named, session, "/project/nobodys.name"),
        partial(studio.app.statistics.of_session, session),
        partial(studio.app.fork, studio.client, session.session_id, 2),
        export,
        partial(undo_one, session, client=studio.client.client_id),
    ):
        before = on_loop
        await act()
        assert on_loop - before < 5, act


async def test_an_undo_that_comes_while_the_first_is_packed_unpacks_nothing_on_the_event_loop(
    desk: Callable[[str], Studio], monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = desk("meanwhile")
    session = await studio.load(dialogue(40))
    ahead = session.compressions.ahead
    ahead.is_allowed = False
    assert (await studio.compress()).status == "COMPRESSED"
    await studio.chat("Go on.")
    ahead.is_allowed = True
    append, unpacked = studio.store.append, 0
    unpack = Sources.unpack

    async def slow(*args: Any, **more: Any) -> Any:
        """A disk that takes longer than the packing."""
        assert ahead.task is not None
        await asyncio.wait({ahead.task})
        return await append(*args, **more)

    def counted(self: Sources) -> None:
        nonlocal unpacked
        unpacked += self.past_to > 0
        unpack(self)

    monkeypatch.setattr(studio.store, "append", slow)
    monkeypatch.setattr(Sources, "unpack", counted)
    look_ahead(session)
    await undo_one(session, client=studio.client.client_id)
    assert unpacked == 0
    assert not session.history.in_force
