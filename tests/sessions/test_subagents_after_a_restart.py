"""What a chat's subagents spent and wrote counts for the chat, in the next daemon too."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_companion.adapters.storage.store import SqliteStore, open_store
from gemini_companion.engine.agents.builtin import GENERALIST
from gemini_companion.engine.agents.definition import AgentCall
from gemini_companion.engine.errors import Blocked
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileChange
from gemini_companion.sessions.budget.limits import check_budget
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.settings.spending import BudgetSettings
from tests.support.patience import PATIENCE
from tests.support.sessions import ManualClock, Studio


def store_in(folder: Path) -> SqliteStore:
    return open_store(folder / "data", "project", clock=ManualClock())


async def worked_for(store: SqliteStore, chat: str) -> None:
    """A subagent has used up a budget of five thousand tokens, and written a file."""
    call = AgentCall(definition=GENERALIST, session_id=chat, turn_id="t1", call_id="c1")
    usage = Usage(prompt_tokens=5_000, output_tokens=1, total_tokens=5_001)
    asked = ModelCallEntry(
        id="e1",
        seq=1,
        time=0,
        purpose="answer",
        subject="t",
        model="gemini-2.5-pro",
        outcome="ok",
        duration_ms=1,
        usage=usage,
    )
    change = FileChange(path="/project/run.sh", kind="created")
    written = ChangeEntry(id="e2", seq=2, time=0, turn_id="t", change_id="c", changes=(change,))
    meta = SessionMeta(session_id="agent", title="", model="", created_at=0, updated_at=0, agent=call)
    await store.create(meta, [asked, written])


async def test_the_next_daemon_knows_what_subagents_spent_and_wrote(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        studio = Studio(tmp_path, store=store_in(tmp_path))
        chat = await studio.app.new_session(studio.client)
        await worked_for(store_in(tmp_path), chat.session_id)
        await studio.app.close()

        studio = Studio(tmp_path, store=store_in(tmp_path))
        studio.set(budget=BudgetSettings(session_tokens=5_000))
        opened = await studio.app.hold(studio.client, chat.session_id)
        assert opened.unlogged.changed_by_agents == {"/project/run.sh"}, "it is not run unasked"
        with pytest.raises(Blocked):
            await check_budget(opened)
        await studio.app.close()


async def test_a_fork_does_not_pay_for_what_its_parents_subagents_spent(tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        studio = Studio(tmp_path, store=store_in(tmp_path))
        chat = await studio.app.new_session(studio.client)
        await worked_for(store_in(tmp_path), chat.session_id)
        fork = await studio.app.fork(studio.client, chat.session_id, None)
        await studio.app.close()

        studio = Studio(tmp_path, store=store_in(tmp_path))
        studio.set(budget=BudgetSettings(session_tokens=5_000))
        await check_budget(await studio.app.hold(studio.client, fork.session_id))
        await studio.app.close()
