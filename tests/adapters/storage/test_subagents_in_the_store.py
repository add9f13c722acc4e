"""Sessions of subagents: they count for their chat, and go with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.adapters.storage.versions import digest_of
from gemini_companion.engine.agents.builtin import GENERALIST
from gemini_companion.engine.agents.definition import AgentCall
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry
from gemini_companion.sessions.ports import SessionStore
from tests.adapters.storage.stores import MakeStore, execute, meta, prompt, read, write
from tests.support.patience import PATIENCE


def called_by(chat: str) -> AgentCall:
    return AgentCall(definition=GENERALIST, session_id=chat, turn_id="t1", call_id="c1")


async def test_they_are_listed_where_they_are_asked_for_alone(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("chat"), [prompt(1)])
        await store.create(meta("agent", agent=called_by("chat")), [prompt(1)])
        assert [one.session_id for one in (await store.list()).sessions] == ["chat"]
        everything = await store.list(with_agents=True)
        assert {one.session_id for one in everything.sessions} == {"chat", "agent"}


async def test_their_bytes_count_for_the_chat_and_their_files_go_with_it(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("chat"))
        await store.create(meta("agent", agent=called_by("chat")))
        file = Path(await store.save_text("agent", "out.txt", "x" * 1000))
        await store.release("chat")
        await store.release("agent")
        found = await store.stored()
        assert [(one.session_id, one.size) for one in found] == [("chat", 1000)]
        assert await store.remove_unused(found) == 1
        assert not file.exists()
        assert (await store.list(with_agents=True)).sessions == ()


async def test_a_chat_whose_subagent_is_held_is_in_use(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("chat"))
        await store.create(meta("agent", agent=called_by("chat")))
        await store.release("chat")
        found = await store.stored()
        assert await store.remove_unused(found) == 0


async def test_a_store_that_is_salvaged_knows_whose_they_are_and_which_versions_are_needed(
    database: Path, make_store: MakeStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta("chat"), [prompt(number, "x" * 900) for number in range(1, 200)])
        await store.create(meta("agent", agent=called_by("chat")), [prompt(1)])
        await store.versions.save("chat", "t1", [b"before"])
        await store.close()
        data = bytearray(read(database))
        pages = [start for start in range(0, len(data), 4096) if b'"turnId"' in data[start : start + 4096]]
        middle = pages[len(pages) // 2]
        data[middle : middle + 4096] = b"\xee" * 4096
        write(database, bytes(data))
        again = make_store()
        await again.load("chat")
        assert await execute(again, "SELECT agent_of FROM sessions WHERE session_id = 'agent'") == [("chat",)]
        await again.sweep()
        assert await again.versions.load(digest_of(b"before")) == b"before"


async def test_what_they_say_of_changes_is_read_for_the_chat_and_what_the_chat_says_for_them(
    store: SqliteStore,
) -> None:
    def change(seq: int) -> ChangeEntry:
        return ChangeEntry(id=f"e{seq}", time=seq, seq=seq, turn_id="t", change_id=f"c{seq}", changes=())

    async with asyncio.timeout(PATIENCE):
        await store.create(meta("chat"), [change(1)])
        await store.create(meta("agent", agent=called_by("chat")), [prompt(1), change(2), change(3)])
        await store.create(meta("other"), [change(1)])
        (of_chat,) = await store.changes_beside("chat", {"agent": 2}, ())
        (of_agent,) = await store.changes_beside("agent", {}, ())
        assert (of_chat.meta.session_id, [one.seq for one in of_chat.entries]) == ("agent", [3])
        assert (of_agent.meta.session_id, [one.seq for one in of_agent.entries]) == ("chat", [1])
        assert list(await store.changes_beside("other", {}, ())) == []


@pytest.mark.parametrize("is_on_disk", [True, False])
async def test_a_fork_gets_those_that_worked_for_its_turns_in_what_it_was_forked_from(
    is_on_disk: bool, store: SqliteStore, tmp_path: Path
) -> None:
    tried: SessionStore = store if is_on_disk else MemoryStore(str(tmp_path / "files"))

    def called(turn_id: str) -> AgentCall:
        return AgentCall(definition=GENERALIST, session_id="chat", turn_id=turn_id, call_id="c1")

    async with asyncio.timeout(PATIENCE):
        await tried.create(meta("chat"))
        await tried.create(meta("early", agent=called("t1")))
        await tried.create(meta("late", agent=called("t2")))
        await tried.create(meta("fork", parent="chat"))
        await tried.create(meta("fork of the fork", parent="fork"))
        await tried.create(meta("of the fork", agent=called_by("fork")))
        for one, turns, agents in (
            ("fork", ("t1",), {"early", "of the fork"}),
            ("fork", (), {"of the fork"}),
            ("fork of the fork", ("t1", "t2"), {"early", "late", "of the fork"}),
            ("chat", (), {"early", "late"}),
        ):
            found = await tried.changes_beside(one, {}, turns)
            assert {each.meta.session_id for each in found} == agents


@pytest.mark.parametrize("is_on_disk", [True, False])
async def test_what_they_asked_models_and_changed_is_read_for_their_own_chat(
    is_on_disk: bool, store: SqliteStore, tmp_path: Path
) -> None:
    tried: SessionStore = store if is_on_disk else MemoryStore(str(tmp_path / "files"))
    asked = ModelCallEntry(
        id="e2", time=2, seq=2, purpose="answer", subject="t", model="gemini-2.5-pro", outcome="ok", duration_ms=1
    )
    change = ChangeEntry(id="e3", time=3, seq=3, turn_id="t", change_id="c", changes=())
    async with asyncio.timeout(PATIENCE):
        await tried.create(meta("chat"), [prompt(1), msgspec.structs.replace(asked, id="own")])
        await tried.create(meta("agent", agent=called_by("chat")), [prompt(1), asked, change])
        await tried.create(meta("fork", parent="chat"))
        assert list(await tried.logged_by_agents("chat")) == [asked, change]
        assert list(await tried.logged_by_agents("fork")) == []
        assert list(await tried.logged_by_agents("agent")) == []
