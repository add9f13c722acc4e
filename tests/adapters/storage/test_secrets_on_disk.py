"""No secret reaches the disk, each comes back from the vault, and a vault without its key breaks nothing."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from zlib import crc32

import pytest

from gemini_companion.adapters.keyrings import Keyring
from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.vault.sealing import OUTPUT
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.item import Counted, Measure
from gemini_companion.engine.history.log import TurnEndEntry, encode_entry
from gemini_companion.engine.history.shown import Shown
from gemini_companion.sessions.kept_counts import KeptCount
from tests.adapters.storage.planted_store import (
    SAID,
    TOKEN,
    DictKeyring,
    all_that_is_kept,
    fill,
    leaks,
    rule,
    said,
    vault,
)
from tests.adapters.storage.stores import START, MakeStore, event, execute, meta, prompt
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import PLANTED, leaks_in


@pytest.fixture
async def filled(make_store: MakeStore, tmp_path: Path) -> SqliteStore:
    store = make_store(vault=vault(tmp_path))
    async with asyncio.timeout(PATIENCE):
        await fill(store)
    return store


async def test_no_planted_secret_is_in_any_file(filled: SqliteStore, tmp_path: Path) -> None:
    assert leaks(tmp_path) == []  # while the write-ahead log is there
    await filled.close()
    assert leaks(tmp_path) == []


async def test_everything_comes_back_after_a_restart(
    make_store: MakeStore, filled: SqliteStore, tmp_path: Path
) -> None:
    before = await all_that_is_kept(filled)
    assert TOKEN in str(before[0])
    await filled.close()
    again = make_store(vault=vault(tmp_path))
    assert await all_that_is_kept(again) == before
    plain = make_store(data_dir=tmp_path / "plain")
    await fill(plain)
    assert (await all_that_is_kept(plain))[:6] == before[:6]


async def test_a_secret_in_an_answer_that_was_cut_short_is_in_no_file_and_comes_back(
    make_store: MakeStore, tmp_path: Path
) -> None:
    store = make_store(vault=vault(tmp_path))
    shown = Shown(text=SAID, thoughts=f"It is {TOKEN}")
    end = TurnEndEntry(id="e2", seq=2, time=START, turn_id="t", outcome="cancelled", shown=shown)
    await store.create(meta(), [prompt(1, "Which one?"), end])
    await store.close()
    assert leaks(tmp_path) == []
    _, entries = await make_store(vault=vault(tmp_path)).load("s1")
    assert entries[-1] == end


async def test_what_the_vault_has_is_closed_and_private(filled: SqliteStore, tmp_path: Path) -> None:
    rows = await execute(filled, "SELECT id, sealed FROM vault")
    assert len(rows) >= len(PLANTED)
    assert all(re.fullmatch("[0-9a-f]{32}", row[0]) for row in rows)
    for path in (tmp_path / "vault").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "vault").stat().st_mode) == 0o700


async def test_without_the_key_marks_stay_and_nothing_breaks(
    make_store: MakeStore, filled: SqliteStore, tmp_path: Path
) -> None:
    await filled.close()
    shutil.rmtree(tmp_path / "vault")
    told: list[str] = []
    store = make_store(vault=vault(tmp_path, notify=told.append))
    kept, entries = await store.load("s1")
    assert "[[secret:github-" in kept.title
    assert len(entries) == len(PLANTED) + 1
    assert "[[secret:" in (await store.read_text("s1", "whole.txt") or "")
    assert (await store.events("s1", 0)).truncated
    from gemini_companion.adapters.storage.versions import digest_of

    with pytest.raises(StorageFault, match="key"):
        await store.versions.load(digest_of(SAID.encode()))
    await store.hold("s1")
    await store.append("s1", [prompt(len(PLANTED) + 2, f"again {TOKEN}")])
    assert (await said(store))[-1] == f"again {TOKEN}"
    assert leaks(tmp_path) == []


async def test_a_key_that_is_gone_is_told_once_and_a_new_one_made(filled: SqliteStore, tmp_path: Path) -> None:
    for path in (tmp_path / "vault").glob("*.key"):
        path.unlink()
    told: list[str] = []
    other = vault(tmp_path, notify=told.append)
    first, second = other.keys.current(), other.keys.current()
    assert first == second
    assert len(told) == 1
    assert "gone" in told[0]


async def test_the_key_lies_in_the_keyring_where_there_is_one(make_store: MakeStore, tmp_path: Path) -> None:
    ring = DictKeyring()

    def keyring() -> Keyring | None:
        return ring

    store = make_store(vault=vault(tmp_path, keyring=keyring))
    await fill(store)
    before = await all_that_is_kept(store)
    await store.close()
    assert list((tmp_path / "vault").glob("*.key")) == []
    assert len(ring.kept) == 1
    assert await all_that_is_kept(make_store(vault=vault(tmp_path, keyring=keyring))) == before
    over_ssh = vault(tmp_path)  # the same user, where no keyring answers
    assert over_ssh.keys.current().place == "file"
    assert await all_that_is_kept(make_store(vault=vault(tmp_path, keyring=keyring))) == before


async def test_a_marker_that_somebody_writes_fetches_nothing(
    make_store: MakeStore, filled: SqliteStore, tmp_path: Path
) -> None:
    (row,) = await execute(filled, "SELECT json FROM log WHERE seq = 1")
    stolen = re.findall(r"\[\[secret:[^\]]+\]\]", bytes(row[0]).decode())
    assert len(stolen) >= len(PLANTED)
    await filled.append("s1", [prompt(len(PLANTED) + 2, f"print {stolen[0]} and [[secret: and [[secret::")])
    await filled.save_text("s1", "stolen.txt", f"print {stolen[0]}")
    await filled.close()
    again = make_store(vault=vault(tmp_path))
    text = (await said(again))[-1]
    assert text == f"print {stolen[0]} and [[secret: and [[secret::"
    assert await again.read_text("s1", "stolen.txt") == f"print {stolen[0]}"


async def test_a_secret_goes_with_the_last_session_that_has_it(filled: SqliteStore) -> None:
    await filled.create(meta("s2"), [prompt(1, f"only {TOKEN}")])
    await filled.create(meta("s3", parent="s2"), [])
    await filled.delete("s1")
    before, _ = await filled.secrets()
    assert before >= 1
    await filled.delete("s2")
    assert (await filled.secrets())[0] == before  # the fork has its parent's files
    await filled.delete("s3")
    assert (await filled.secrets())[0] == 1  # the project's rule's
    await filled.save_constraints([rule("Never print it")])
    assert (await filled.secrets())[0] == 0


async def test_without_a_place_for_a_key_secrets_are_masked_for_good(make_store: MakeStore, tmp_path: Path) -> None:
    (tmp_path / "vault").write_bytes(b"a file where the folder should be")
    told: list[str] = []
    store = make_store(vault=vault(tmp_path, notify=told.append))
    await store.create(meta(), [prompt(1, SAID)])
    store.save_events([event(1, text=SAID)])
    assert "[masked: " in (await said(store))[0]
    assert (await store.events("s1", 0)).truncated
    with pytest.raises(StorageFault, match="no key"):
        await store.versions.save("s1", "t", [b"x"])
    assert len(told) == 1
    assert leaks(tmp_path) == []


async def test_a_long_output_is_closed_while_its_command_runs_and_read_whole(
    make_store: MakeStore, tmp_path: Path
) -> None:
    from gemini_companion.adapters.processes.output import Output

    keeper = vault(tmp_path)
    store = make_store(vault=keeper)
    await store.create(meta())
    output = Output(str(tmp_path), head=10, tail=20, closing=lambda: keeper.writer(OUTPUT))
    for piece in (SAID[:100], SAID[100:1000], SAID[1000:]):
        output.add(piece.encode())
        output.spill(piece.encode())
    assert output.spill_path is not None
    assert leaks(tmp_path) == []
    output.close()
    await store.keep_file("s1", "out.txt", output.spill_path)
    assert leaks(tmp_path) == []
    assert await store.read_text("s1", "out.txt") == SAID
    assert await make_store(vault=vault(tmp_path)).read_text("s1", "out.txt") == SAID


CHILD = """
import asyncio, sys, time
from pathlib import Path
from gemini_companion.adapters.storage import open_store
from gemini_companion.adapters.vault.vault import Vault
from tests.adapters.storage.planted_store import (
    SAID,
    TOKEN,
    DictKeyring,
    all_that_is_kept,
    fill,
    leaks,
    rule,
    said,
    vault,
)
from tests.adapters.storage.stores import meta, prompt
from tests.support.planted_secrets import PLANTED

class SystemClock:
    def now(self): return time.time_ns() // 1_000_000
    def monotonic(self): return time.monotonic()

async def main(data_dir):
    vault = Vault(data_dir, keyring=lambda: None, finders=())
    store = open_store(data_dir, "default", clock=SystemClock(), vault=vault)
    await store.create(meta("s1"))
    for number in range(1, 10_000):
        secret = f"ghp_{number:036d}".replace("0", "a1B2c3"[number % 6])
        await store.append("s1", [prompt(number, f"token {secret} is number {number}")])
        await store.save_text("s1", f"{number}.txt", f"token {secret} is number {number}")
        print(number, flush=True)

asyncio.run(main(sys.argv[1]))
"""


def write_until(after: int, data_dir: Path) -> None:
    """Have a process write prompts and files, and kill it while it does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", CHILD, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= after:
                break
        process.kill()


@pytest.mark.process
@pytest.mark.parametrize("after", [1, 7, 40])
async def test_a_kill_leaves_no_mark_without_its_secret(make_store: MakeStore, tmp_path: Path, after: int) -> None:
    await asyncio.to_thread(write_until, after, tmp_path)
    store = make_store(vault=vault(tmp_path, finders=()))
    prompts = await said(store)
    assert len(prompts) >= after
    for number, text in enumerate(prompts, start=1):
        assert re.fullmatch(r"token ghp_\w{36} is number \d+", text)
        assert await store.read_text("s1", f"{number}.txt") in (None, text)
    assert b"ghp_" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_an_export_for_others_has_marks_that_nothing_brings_back(tmp_path: Path) -> None:
    exported = vault(tmp_path).exported(json.dumps({"entries": [one.text for one in PLANTED], "title": TOKEN}))
    assert leaks_in(exported.encode()) == []
    assert vault(tmp_path).document(exported.encode()).data.count(b"[[secret::") >= len(PLANTED)


async def test_a_size_counts_as_long_as_the_secrets_come_back(
    make_store: MakeStore, filled: SqliteStore, tmp_path: Path
) -> None:
    async def unknown(store: SqliteStore) -> set[int]:
        return set((await store.load_counted("s1"))[2].prints)

    read = (await filled.load_counted("s1"))[2]
    assert len(read.prints) == len(PLANTED) + 1
    sizes = [KeptCount(seq, checksum, Counted(Measure(seq, 0))) for seq, checksum in read.prints.items()]
    await filled.save_counts("s1", sizes)
    known = (await filled.load_counted("s1"))[2].known
    assert {seq: counted.whole.tokens for seq, counted in known.items()} == {seq: seq for seq in read.prints}
    assert [crc32(encode_entry(entry)) for entry in (await filled.load("s1"))[1]] == list(read.prints.values())
    await filled.close()
    assert await unknown(make_store(vault=vault(tmp_path))) == set()
    shutil.rmtree(tmp_path / "vault")
    without_key = make_store(vault=vault(tmp_path))
    marked = {entry.seq for entry in (await without_key.load("s1"))[1] if b"[[secret:" in encode_entry(entry)}
    assert marked
    assert await unknown(without_key) == marked
