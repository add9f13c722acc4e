"""Sessions go into the store and come out of it as they were."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from gemini_companion.adapters.storage import SqliteStore, open_store, project_key
from gemini_companion.adapters.storage.store import GRACE_MS
from gemini_companion.engine.errors import InvalidInput, SessionNotFound, StaleVersion, StorageFault
from gemini_companion.engine.history.log import Entry, ResumeEntry
from gemini_companion.sessions.ports import SessionMeta, SessionStore
from tests.adapters.storage.stores import (
    START,
    MakeStore,
    ManualClock,
    event,
    execute,
    meta,
    mode,
    prompt,
    seqs,
    use,
    write,
)
from tests.sessions.interchange.session_strategies import logs, metas
from tests.support.examples import examples
from tests.support.patience import PATIENCE, until, until_in

_numbers = count()


@settings(
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(metas, logs())
async def test_a_session_comes_back_equal_with_the_fields_that_nobody_knows(
    store: SqliteStore, wanted: SessionMeta, entries: tuple[Entry, ...]
) -> None:
    async with asyncio.timeout(PATIENCE):
        wanted = msgspec.structs.replace(wanted, session_id=f"s{next(_numbers)}")
        await store.create(wanted, entries)
        assert await store.load(wanted.session_id) == (wanted, list(entries))


async def test_entries_are_there_for_the_next_process(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        first, second = make_store(), make_store()
        await first.create(meta(), [prompt(1, mystery={"a": [1]})])
        await first.append("s1", [prompt(2), prompt(3)])
        assert (await second.load("s1"))[1] == [prompt(1, mystery={"a": [1]}), prompt(2), prompt(3)]


async def test_an_entry_makes_its_session_the_newest(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("old"))
        await store.create(meta("new", updated_at=START + 1))
        await store.append("old", [prompt(1), prompt(2)])
        assert [listed.session_id for listed in (await store.list()).sessions] == ["old", "new"]
        assert (await store.meta("old")).updated_at == START + 2


async def test_an_entry_that_opening_a_session_leaves_does_not_make_it_newer(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("s1"))
        await store.append("s1", [ResumeEntry(id="r", seq=1, time=START + 9)])
        assert (await store.meta("s1")).updated_at == START
        await store.append("s1", [prompt(2), ResumeEntry(id="r", seq=3, time=START + 9)])
        assert (await store.meta("s1")).updated_at == START + 2


async def test_what_is_known_of_a_session_can_be_replaced(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        changed = meta(title="About it", turns=3, token_count=9, updated_at=START + 5, held_by=77)
        await store.save_meta(changed)
        assert await store.meta("s1") == msgspec.structs.replace(changed, held_by=None)
        with pytest.raises(SessionNotFound):
            await store.save_meta(meta("s2"))


async def test_an_id_that_is_taken_is_refused_and_nothing_changes(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="one"), [prompt(1)])
        with pytest.raises(InvalidInput):
            await store.create(meta(title="two"))
        assert ((await store.meta("s1")).title, await seqs(store)) == ("one", [1])


@pytest.mark.parametrize("numbers", [[1], [2], [4], [3, 3], [3, 2], [2, 3]])
async def test_entries_that_do_not_go_on_where_the_log_ends_are_refused_whole(
    store: SqliteStore, numbers: list[int]
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1), prompt(2)])
        with pytest.raises(StaleVersion):
            await store.append("s1", [prompt(number) for number in numbers])
        await store.append("s1", [])
        assert await seqs(store) == [1, 2]
        assert (await store.meta("s1")).updated_at == START


async def test_a_session_that_is_not_there_is_named_by_every_method(store: SqliteStore) -> None:
    calls = [
        store.append("s1", [prompt(1)]),
        store.load("s1"),
        store.meta("s1"),
        store.delete("s1"),
        store.hold("s1"),
        store.reserve_event_seqs("s1", 5),
        store.events("s1", 0),
        store.save_text("s1", "a.txt", ""),
    ]
    async with asyncio.timeout(PATIENCE):
        for call in calls:
            with pytest.raises(SessionNotFound, match="'s1'"):
                await call


async def test_a_deleted_session_leaves_nothing(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="needle"), [prompt(1, "haystack")])
        await store.create(meta("s2"), [prompt(1)])
        await store.reserve_event_seqs("s1", 5)
        store.save_events([event(1)])
        path = Path(await store.save_text("s1", "out.txt", "x"))
        await store.delete("s1")
        assert not path.parent.exists()
        assert not store.holds("s1")
        having = "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE c.name = 'session_id'"
        tables = [name for (name,) in await execute(store, having)]
        assert len(tables) > 5
        for table in tables:
            assert not await execute(store, f"SELECT * FROM {table} WHERE session_id = 's1'"), table
        for index in ("texts", "recall"):
            await execute(store, f"CREATE VIRTUAL TABLE temp.of_{index} USING fts5vocab (main, {index}, row)")
            assert await execute(store, f"SELECT term, doc FROM of_{index}") == [("hi", 1)]
        assert [listed.session_id for listed in (await store.list()).sessions] == ["s2"]


async def test_old_sessions_are_swept_but_for_those_that_someone_holds(
    make_store: MakeStore, clock: ManualClock
) -> None:
    async with asyncio.timeout(PATIENCE):
        mine, other = make_store(), make_store()
        for name in ("old", "held here", "held there"):
            await mine.create(meta(name))
        await mine.create(meta("new", updated_at=START + 1_000))
        files = Path(await mine.save_text("old", "a.txt", "x")).parent
        for name in ("old", "new", "held there"):
            await mine.release(name)
        await other.hold("held there")
        clock.time = START + 1_500
        assert await mine.sweep(older_than_ms=1_000) == 0, "they are noted first"
        await use(mine, meta("new", updated_at=START + 1_500 + GRACE_MS))
        clock.time += GRACE_MS
        assert await mine.sweep(older_than_ms=1_000) == 1
        assert {listed.session_id for listed in (await mine.list()).sessions} == {"held here", "held there", "new"}
        os.utime(files, (1, 1))
        await mine.sweep(older_than_ms=1_000)
        assert not files.exists(), "files of a session that is gone go at the same age"


async def test_a_session_written_meanwhile_is_not_swept(store: SqliteStore, clock: ManualClock) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        await store.release("s1")
        clock.time = START + 5_000
        await use(store, meta(updated_at=START + 4_500))
        assert await store.sweep(older_than_ms=1_000) == 0


async def test_a_closed_store_says_so_and_may_be_closed_again(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        await store.close()
        await store.close()
        with pytest.raises(StorageFault, match="closed"):
            await store.load("s1")
        assert not store.holds("s1")


async def test_what_was_asked_for_before_closing_is_done(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta())
        go_on = threading.Event()
        held = store.worker.run("read", lambda _: go_on.wait(PATIENCE))
        appending: list[asyncio.Task[None]] = []
        for number in range(1, 20):
            appending.append(asyncio.create_task(store.append("s1", [prompt(number)])))
            await until_in(store.append, number)
        closing = asyncio.create_task(store.close())
        await until(lambda: store.worker.is_closed)
        go_on.set()
        await asyncio.gather(held, closing, *appending)
        assert await seqs(make_store()) == list(range(1, 20))


async def test_stores_that_open_a_new_file_at_the_same_time_do_not_hinder_each_other(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        stores = [make_store() for _ in range(6)]
        await asyncio.gather(*(store.create(meta(f"s{number}"), [prompt(1)]) for number, store in enumerate(stores)))
        assert len((await stores[0].list()).sessions) == 6


async def test_events_that_come_after_closing_are_dropped_without_a_fuss(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        await store.close()
        store.save_events([event(1)])


async def test_half_a_character_is_refused_as_input_and_harms_nothing(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        for call in (
            store.append("s1", [prompt(1, "\ud800")]),
            store.load("\ud800"),
            store.save_meta(meta(title="\ud800")),
        ):
            with pytest.raises(InvalidInput, match="lone surrogate"):
                await call
        await store.append("s1", [prompt(1)])


# --- files


async def test_nothing_is_touched_until_something_is_asked_for(tmp_path: Path, make_store: MakeStore) -> None:
    store = make_store(data_dir=tmp_path / "data")
    await store.close()
    assert not (tmp_path / "data").exists()


@pytest.mark.process
def test_opening_a_store_loads_no_database() -> None:
    program = (
        "import sys\nfrom gemini_companion.adapters.storage import open_store\nopen_store('/nowhere', 'default',"
        " clock=None)\nprint([name for name in ('sqlite3', 'subprocess', 'fcntl', 'shutil') if name in sys.modules and"
        " name not in before])\n"
    )
    program = "import sys, asyncio, logging, msgspec\nbefore = set(sys.modules)\n" + program
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env=_environment(),
    )
    assert done.stdout == "[]\n"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
async def test_only_the_owner_may_read_what_is_stored_whatever_the_umask(
    tmp_path: Path, make_store: MakeStore, umask: int
) -> None:
    async with asyncio.timeout(PATIENCE):
        data = tmp_path / "data"
        before = os.umask(umask)
        try:
            store = make_store(data_dir=data)
            await store.create(meta(), [prompt(1)])
            await store.save_text("s1", "out.txt", "x")
        finally:
            os.umask(before)
        modes = {path.relative_to(data).as_posix(): mode(path) for path in [data, *data.rglob("*")]}
        project = "projects/default"
        assert modes == {
            ".": 0o700,
            "projects": 0o700,
            project: 0o700,
            f"{project}/sessions.db": 0o600,
            f"{project}/sessions.db.begun": 0o600,
            f"{project}/sessions.db-wal": 0o600,
            f"{project}/sessions.db-shm": 0o600,
            f"{project}/files": 0o700,
            f"{project}/files/s1": 0o700,
            f"{project}/files/s1/out.txt": 0o600,
        }


async def test_a_project_directory_that_others_could_enter_is_closed_to_them(
    database: Path, store: SqliteStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        write(database, b"", mode=0o644)
        database.parent.chmod(0o755)
        await store.create(meta())
        assert mode(database.parent) == 0o700
        assert mode(database) == 0o600


def test_a_project_is_named_by_where_its_folders_really_are(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    a, b, link = str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "link")
    assert project_key([]) == "default"
    assert project_key([a]) == project_key([link]) != project_key([b])
    assert project_key([a, b]) == project_key([b, a]) == project_key([b, link, a]) != project_key([a])
    assert project_key([a]).isalnum()


async def test_projects_do_not_see_each_other(tmp_path: Path, clock: ManualClock) -> None:
    async with asyncio.timeout(PATIENCE):
        one: SessionStore = open_store(tmp_path, "one", clock=clock)
        two: SessionStore = open_store(tmp_path, "two", clock=clock)
        await one.create(meta())
        assert (await two.list()).sessions == ()
        await one.close()
        await two.close()
