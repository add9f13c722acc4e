"""Statistics of a project: what is kept of each session's log, and when a log is read again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.adapters.storage import SqliteStore, open_store
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.statistics import sums as kept
from gemini_companion.engine.statistics.sums import decoded, encoded, sums_of
from gemini_companion.engine.statistics.tally import Tally, UseKey
from gemini_companion.engine.statistics.uses import ModelUse, ToolUse
from gemini_companion.sessions.kept_sums import KeptSums
from gemini_companion.sessions.models.port import ModelChunk
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleTool
from tests.support.sessions import ManualClock, Studio


def calling() -> list[ModelChunk]:
    usage = Usage(prompt_tokens=2_000, cached_tokens=400, output_tokens=10, thought_tokens=5, total_tokens=2_015)
    part = {"functionCall": {"name": "read_file", "args": {}}}
    return [ModelChunk(parts=(part,), finish_reason="STOP", usage=usage)]


class Process:
    """One daemon over the file of the test, which counts the logs that it reads."""

    def __init__(self, folder: Path) -> None:
        self.store: SqliteStore = open_store(folder / "data", "p", clock=ManualClock())
        self.studio = Studio(folder, store=self.store, tools=[SampleTool("read_file", "read")])
        self.read: list[str] = []
        load = self.store.load

        async def counted(session_id: str) -> Any:
            self.read.append(session_id)
            return await load(session_id)

        self.store.load = counted  # type: ignore[method-assign]

    async def chat(self, text: str, *, in_session: str | None = None) -> str:
        """The session's id, once its title is written too."""
        self.studio.model.streams = [calling()]
        await self.studio.chat(text, session_id=in_session)
        app, client = self.studio.app, self.studio.client
        session = await (app.load(client, in_session) if in_session else self.studio.session())
        async with asyncio.timeout(PATIENCE):
            while not any(isinstance(e, ModelCallEntry) and e.purpose == "title" for e in session.history.entries):
                await asyncio.sleep(0)
        return session.session_id

    async def sums(self) -> Any:
        """The project's statistics, and what was read for them."""
        self.read.clear()
        found = await self.studio.app.statistics.of_project()
        return found, sorted(self.read)

    async def end(self) -> None:
        await self.studio.app.close()
        await self.store.close()


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[list[Process]]:
    """Processes one after the other over one file; the last is running."""
    running = [Process(tmp_path)]
    yield running
    await running[-1].end()


async def next_process(processes: list[Process], folder: Path) -> Process:
    await processes[-1].end()
    processes.append(Process(folder))
    return processes[-1]


async def test_a_later_process_reads_no_log_of_which_the_sums_are_kept(
    tmp_path: Path, processes: list[Process]
) -> None:
    first = processes[0]
    one = await first.chat("Go.")
    await first.studio.app.create(first.studio.client)
    two = await first.chat("Go on.")
    expected, _ = await first.sums()
    second = await next_process(processes, tmp_path)
    found, read = await second.sums()
    assert (found, sorted(read)) == (expected, sorted({one, two}))
    third = await next_process(processes, tmp_path)
    assert await third.sums() == (expected, [])
    assert found.calls > 2
    assert found.tools[0].calls == 2


async def test_only_the_log_that_has_grown_is_read_again(tmp_path: Path, processes: list[Process]) -> None:
    one = await processes[0].chat("Go.")
    await processes[0].studio.app.create(processes[0].studio.client)
    two = await processes[0].chat("Go on.")
    second = await next_process(processes, tmp_path)
    before, _ = await second.sums()
    await second.chat("More.", in_session=one)
    third = await next_process(processes, tmp_path)
    after, read = await third.sums()
    assert read == [one]
    assert after.turns == before.turns + 1
    await third.studio.app.delete(two)
    assert (await third.sums())[0].sessions == 1


async def test_sums_of_other_prices_or_damaged_ones_count_as_none(
    tmp_path: Path, processes: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await processes[0].chat("Go.")
    second = await next_process(processes, tmp_path)
    expected, _ = await second.sums()
    newest = (await second.store.sums.newest())[one]
    held = (await second.store.sums.load({one: newest}))[one]
    assert await second.store.sums.load({one: newest + 1}) == {}
    other = msgspec.json.encode({**msgspec.json.decode(held), "made_by": "another table"})
    for damaged in (b"", b"{}", b"\xff", held[:-9], other):
        await second.store.sums.save([KeptSums(one, newest, damaged)])
        second = await next_process(processes, tmp_path)
        assert await second.sums() == (expected, [one])
    monkeypatch.setattr(kept, "price_table", lambda: {"gemini-2.5-pro": (1.0, 1.0)})
    assert decoded(held) is None


async def test_where_sums_cannot_be_kept_they_are_told_all_the_same(tmp_path: Path, processes: list[Process]) -> None:
    async def full(_: Sequence[KeptSums]) -> None:
        raise StorageFault("The disk is full.")

    one = await processes[0].chat("Go.")
    second = await next_process(processes, tmp_path)
    second.store.sums.save = full  # type: ignore[method-assign]
    found, read = await second.sums()
    assert (found.sessions, found.unreadable, read) == (1, 0, [one])


async def test_an_imported_chat_shows_what_its_file_says_and_the_project_counts_what_was_done_since(
    tmp_path: Path, processes: list[Process]
) -> None:
    first = processes[0]
    one = await first.chat("Go.")
    app, client = first.studio.app, first.studio.client
    before, _ = await first.sums()
    file = tmp_path / "chat.json"
    file.write_text("".join(await app.export(client, one, "companion")), "utf-8")
    imported = (await app.import_session(client, str(file))).session_id
    shown = await app.statistics.of_session(await app.load(client, imported))
    assert (shown.calls, shown.turns) == (before.calls, before.turns)
    assert summed(await first.sums()) == summed((before, []))
    await first.chat("More.", in_session=imported)
    since, _ = await first.sums()
    assert since.turns == before.turns + 1
    assert since.tools[0].calls == before.tools[0].calls + 1
    second = await next_process(processes, tmp_path)
    assert summed(await second.sums()) == summed((since, []))  # read of its log, too
    third = await next_process(processes, tmp_path)
    assert summed(await third.sums()) == summed((since, []))  # and of what was kept


def summed(found: Any) -> tuple[Any, ...]:
    stats = found[0]
    return stats.calls, stats.cost, stats.prompt_tokens, stats.turns, stats.tools, stats.models


async def test_sums_are_the_tallys_to_the_last_number(processes: list[Process]) -> None:
    await processes[0].chat("Go.")
    tally = Tally((await processes[0].studio.session()).history.entries)
    again = decoded(encoded(sums_of(tally)))
    assert again is not None
    uses: dict[UseKey, ModelUse] = {}
    tools: dict[str, ToolUse] = {}
    again.add_to(uses, tools)
    assert (uses, tools) == (tally.uses, tally.tools)
    assert (again.turns, again.started_at, again.ended_at) == (tally.turns, tally.started_at, tally.ended_at)
