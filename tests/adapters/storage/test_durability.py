"""What was acknowledged is on disk; what was not is there whole or not at all."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest

from gemini_companion.adapters.private_files import create_private_file
from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.database import open_reader
from gemini_companion.adapters.storage.process import SystemProcesses
from gemini_companion.engine.errors import SessionBusy, SessionNotFound, StaleVersion, StorageFault
from tests.adapters.storage.stores import MakeStore, execute, meta, prompt, read, seqs, write
from tests.support.patience import PATIENCE, until_in
from tests.support.processes import running

CHILD = """
import asyncio, sys, time
from gemini_companion.adapters.storage import open_store
from tests.adapters.storage.stores import meta, prompt

class SystemClock:
    def now(self): return time.time_ns() // 1_000_000
    def monotonic(self): return time.monotonic()

async def main(data_dir, names, *, last, wait):
    store = open_store(data_dir, "default", clock=SystemClock())
    for name in names:
        try:
            await store.create(meta(name))
        except Exception:
            await store.hold(name)
    async def fill(name):
        seq = len((await store.load(name))[1])
        while seq < last:
            size = 1 + seq % 3
            await store.append(name, [prompt(seq + step, "x" * (seq % 7 * 400)) for step in range(1, size + 1)])
            seq += size
            print(name, seq, flush=True)
    await asyncio.gather(*map(fill, names))
    if wait:
        print("ready", flush=True)
        await asyncio.Event().wait()  # until it is killed
    await store.close()

"""


def child(
    data_dir: Path, names: list[str], *, last: int, wait: bool = False
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A process that appends to sessions and says the last number that was acknowledged."""
    program = f"{CHILD}\nasyncio.run(main({str(data_dir)!r}, {names!r}, last={last}, wait={wait}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return running([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment)


@pytest.mark.slow
@pytest.mark.process
async def test_whatever_was_acknowledged_survives_a_kill_at_any_moment(tmp_path: Path, make_store: MakeStore) -> None:
    chance = random.Random(20)
    names = ["a", "b", "c"]
    acknowledged = dict.fromkeys(names, 0)
    for _ in range(4):
        with child(tmp_path, names, last=10**9) as process:
            assert process.stdout is not None
            for _ in range(chance.randrange(10, 150)):
                name, seq = process.stdout.readline().split()
                acknowledged[name] = int(seq)
            process.send_signal(signal.SIGKILL)
            for line in process.stdout:  # what it said before it died
                if line.endswith("\n"):
                    name, seq = line.split()
                    acknowledged[name] = int(seq)
        assert process.returncode == -signal.SIGKILL
        async with asyncio.timeout(PATIENCE):
            store = make_store()
            for name in names:
                there = await seqs(store, name)
                assert there == list(range(1, len(there) + 1)), "no gap"
                assert len(there) >= acknowledged[name]
                acknowledged[name] = len(there)
            assert await execute(store, "PRAGMA integrity_check") == [("ok",)]
            await store.close()


@pytest.mark.process
async def test_two_processes_write_one_file_and_neither_loses_an_entry(tmp_path: Path, make_store: MakeStore) -> None:
    store = make_store()
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("ours"))
    with child(tmp_path, ["theirs", "theirs too"], last=60) as process:
        async with asyncio.timeout(PATIENCE):
            for number in range(1, 61):
                await store.append("ours", [prompt(number)])
            await asyncio.to_thread(process.wait, PATIENCE)
        assert process.returncode == 0
    async with asyncio.timeout(PATIENCE):
        assert [len(await seqs(store, name)) >= 60 for name in ("ours", "theirs", "theirs too")] == [True] * 3


@pytest.mark.process
async def test_a_session_of_a_living_process_is_refused_and_that_of_a_killed_one_is_free(
    tmp_path: Path, make_store: MakeStore
) -> None:
    store = make_store(processes=SystemProcesses())
    with child(tmp_path, ["theirs"], last=3, wait=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        assert said[-1] == "ready\n"
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(SessionBusy, match=f"pid {process.pid}"):
                await store.hold("theirs")
            assert (await store.meta("theirs")).held_by == process.pid
            process.kill()
            process.wait(PATIENCE)
            await store.hold("theirs")
            await store.append("theirs", [prompt(4)])
            assert await seqs(store, "theirs") == [1, 2, 3, 4]


async def test_entries_that_wait_together_share_a_transaction_and_none_is_lost(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for number in range(20):
            await store.create(meta(f"s{number}"))
        commits: list[str] = []
        started, go_on = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def watch(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(
                lambda statement: commits.append(statement) if statement == "COMMIT" else None
            )
            loop.call_soon_threadsafe(started.set)
            go_on.wait(PATIENCE)

        watching = store.worker.run("read", watch)
        await started.wait()
        appending = asyncio.gather(*(store.append(f"s{number}", [prompt(1)]) for number in range(20)))
        await until_in(store.append, 20)
        go_on.set()
        await watching
        await appending
        assert len(commits) == 2, "one for the watcher and one for all of them"
        assert [await seqs(store, f"s{number}") for number in range(20)] == [[1]] * 20


async def test_what_is_acknowledged_is_synced_and_a_heartbeat_is_not(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())

        def level(connection: sqlite3.Connection) -> int:
            (found,) = connection.execute("PRAGMA synchronous").fetchone()
            return found

        full, normal = 2, 1
        assert [await store.worker.run(kind, level) for kind in ("write", "relaxed", "write")] == [full, normal, full]
        assert await execute(store, "PRAGMA journal_mode") == [("wal",)]


async def test_one_that_is_refused_takes_none_of_the_others_with_it(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for name in ("a", "b", "c"):
            await store.create(meta(name))
        outcomes = await asyncio.gather(
            store.append("a", [prompt(1)]),
            store.append("b", [prompt(5)]),
            store.append("missing", [prompt(1)]),
            store.append("c", [prompt(1)]),
            store.append("a", [prompt(2)]),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [
            type(None),
            StaleVersion,
            SessionNotFound,
            type(None),
            type(None),
        ]
        assert [await seqs(store, name) for name in ("a", "b", "c")] == [[1, 2], [], [1]]


async def test_a_caller_that_is_cancelled_harms_nobody(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        appending = asyncio.create_task(store.append("s1", [prompt(1)]))
        await asyncio.sleep(0)
        appending.cancel()
        await asyncio.gather(appending, return_exceptions=True)
        there = await seqs(store)
        await store.append("s1", [prompt(len(there) + 1)])


# --- disks


async def limit_pages(store: SqliteStore, room: int) -> None:
    """Leave room for so many more pages, as a small disk would."""
    ((pages,),) = await execute(store, "PRAGMA page_count")
    await execute(store, f"PRAGMA max_page_count = {pages + room}")


async def test_a_full_disk_is_said_nothing_is_half_written_and_work_goes_on_when_there_is_space(
    store: SqliteStore,
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1)])
        await limit_pages(store, 3)
        with pytest.raises(StorageFault, match="no space left") as caught:
            await store.append("s1", [prompt(2), prompt(3, "x" * 100_000), prompt(4)])
        assert caught.value.retryable
        assert "Free some space" in caught.value.hint
        assert await seqs(store) == [1]
        await store.append("s1", [prompt(2)])
        await limit_pages(store, 1_000)
        await store.append("s1", [prompt(3, "x" * 100_000)])
        assert await seqs(store) == [1, 2, 3]


async def test_what_does_not_fit_fails_alone_among_those_that_wait_together(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for name in ("a", "b", "c"):
            await store.create(meta(name))
        await limit_pages(store, 5)
        outcomes = await asyncio.gather(
            store.append("a", [prompt(1)]),
            store.append("b", [prompt(1, "x" * 200_000)]),
            store.append("c", [prompt(1)]),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [type(None), StorageFault, type(None)]
        assert [await seqs(store, name) for name in ("a", "b", "c")] == [[1], [], [1]]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 700 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=700k", "none", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.mark.process
async def test_a_disk_that_is_really_full_is_survived(small_disk: Path, make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(data_dir=small_disk)
        await store.create(meta())
        write(small_disk / "ballast", b"x" * 100_000)
        number = 1
        with pytest.raises(StorageFault, match="no space left"):  # noqa: PT012
            for number in range(1, 1_000):
                await store.append("s1", [prompt(number, "x" * 20_000)])
        assert await seqs(store) == list(range(1, number))
        (small_disk / "ballast").unlink()
        await store.append("s1", [prompt(number)])
        assert await seqs(store) == list(range(1, number + 1))
        await store.close()


async def test_a_file_in_place_of_the_folder_is_named_and_the_store_works_when_it_is_gone(
    tmp_path: Path, make_store: MakeStore
) -> None:
    async with asyncio.timeout(PATIENCE):
        data = tmp_path / "data"
        data.write_text("in the way")
        store = make_store(data_dir=data)
        with pytest.raises(StorageFault, match="data") as caught:
            await store.create(meta())
        assert "COMPANION_DATA_DIR" in caught.value.hint
        assert data.read_text() == "in the way"
        data.unlink()
        await store.create(meta(), [prompt(1)])
        assert await seqs(store) == [1]


async def test_a_file_that_was_removed_meanwhile_is_noticed_and_nothing_is_acknowledged_into_the_void(
    store: SqliteStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1)])
        shutil.rmtree(database.parent)
        with pytest.raises(SessionNotFound):
            await store.append("s1", [prompt(2)])
        await store.create(meta("s2"), [prompt(1)])
        assert await seqs(store, "s2") == [1]
        assert read(database)


async def test_a_file_that_another_process_keeps_busy_is_waited_for_and_then_said(
    store: SqliteStore, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        await execute(store, "SELECT 1")
        await store.worker.run("read", lambda connection: connection.execute("PRAGMA busy_timeout = 20").fetchall())
        blocker = sqlite3.connect(database, isolation_level=None)
        try:
            blocker.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageFault, match="busy") as caught:
                await store.append("s1", [prompt(1)])
            assert caught.value.retryable
            assert await seqs(store) == [], "reading is not held up"
            blocker.execute("COMMIT")
        finally:
            blocker.close()
        await store.append("s1", [prompt(1)])
        assert await seqs(store) == [1]


_LOCKS = """
import fcntl, sys
held = []
for name, first, length in (("", 0x40000002, 510), ("-shm", 128, 1)):  # "os_unix.c": shared bytes of file and index
    with open(sys.argv[1] + name, "r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
        except OSError:
            held.append(name)
print(held)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows' locks belong to a handle")
async def test_a_store_keeps_the_locks_that_sqlite_holds_on_it(tmp_path: Path, make_store: MakeStore) -> None:
    """A process that closes a file gives up all its locks on it; the next one to open it would truncate its index."""
    database = tmp_path / "projects" / "default" / "sessions.db"

    async def held() -> str:
        program = [sys.executable, "-c", _LOCKS, str(database)]
        process = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
        return (await process.communicate())[0].decode().strip()

    async with asyncio.timeout(PATIENCE):
        other = make_store()
        await other.create(meta(), [prompt(1)])  # there is a log of changes when the next one opens it
        store = make_store()
        assert await seqs(store) == [1]
        await other.close()
        assert await held() == "['', '-shm']"
        with closing(open_reader(str(database))) as reader:
            reader.execute("SELECT count(*) FROM log").fetchone()
            await store.close()
            assert await held() == "['', '-shm']"
            create_private_file(str(database))  # as it is opened again beside the reader
            assert await held() == "['', '-shm']"
