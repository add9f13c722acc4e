"""What was stored before there was a vault, or while redaction was off, is gone through in the background."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.adapters.storage.planted_store import all_that_is_kept, fill, leaks, vault
from tests.adapters.storage.stores import MakeStore, execute
from tests.support.planted_secrets import PLANTED


async def test_what_was_written_before_is_redacted_once_in_the_background(
    make_store: MakeStore, tmp_path: Path
) -> None:
    old = make_store()
    await fill(old)
    before = await all_that_is_kept(old)
    await execute(old, "UPDATE redaction SET files = 1, pages = 1")  # as the migration of an earlier file does
    await old.close()
    assert leaks(tmp_path)
    store = make_store(vault=vault(tmp_path))
    await store.redact_older()
    assert (await all_that_is_kept(store))[:7] == before[:7]
    assert leaks(tmp_path) == []
    assert await execute(store, "SELECT count(*) FROM log WHERE redacted = 0") == [(0,)]
    assert await execute(store, "SELECT files, pages FROM redaction") == [(0, 0)]
    await store.redact_older()
    assert (await all_that_is_kept(store))[:7] == before[:7]


async def test_the_background_goes_on_where_another_process_ended(make_store: MakeStore, tmp_path: Path) -> None:
    old = make_store()
    await fill(old)
    before = await all_that_is_kept(old)
    await execute(old, "UPDATE redaction SET files = 1, pages = 1")  # as the migration of an earlier file does
    await old.close()
    first = make_store(vault=vault(tmp_path))
    work = asyncio.create_task(first.redact_older())
    while not (await execute(first, "SELECT count(*) FROM log WHERE redacted = 1"))[0][0]:
        await asyncio.sleep(0)
    work.cancel()
    await asyncio.wait([work])
    await first.close()
    second = make_store(vault=vault(tmp_path))
    await second.redact_older()
    assert (await all_that_is_kept(second))[:7] == before[:7]
    assert leaks(tmp_path) == []


async def test_off_writes_as_it_is_and_on_redacts_it_later(make_store: MakeStore, tmp_path: Path) -> None:
    wish = {"on": False}
    store = make_store(vault=vault(tmp_path, is_on=lambda: wish["on"]))
    await fill(store)
    before = await all_that_is_kept(store)
    assert leaks(tmp_path)
    assert (await store.secrets())[0] == 0
    wish["on"] = True
    assert await all_that_is_kept(store) == before
    await store.redact_older()
    assert (await all_that_is_kept(store))[:7] == before[:7]
    assert leaks(tmp_path) == []


async def test_without_a_key_what_was_written_before_stays_as_it_is(make_store: MakeStore, tmp_path: Path) -> None:
    old = make_store()
    await fill(old)
    before = await all_that_is_kept(old)
    await old.close()
    (tmp_path / "vault").write_bytes(b"a file where the folder should be")
    store = make_store(vault=vault(tmp_path))
    await store.redact_older()
    assert await all_that_is_kept(store) == before
    assert (await store.secrets())[1] == len(PLANTED) + 1


async def test_where_nothing_is_left_no_key_is_asked_for(make_store: MakeStore, tmp_path: Path) -> None:
    def ask() -> None:
        raise AssertionError("the keyring was asked")

    store = make_store(vault=vault(tmp_path, keyring=ask))
    await store.redact_older()
    assert not (tmp_path / "vault").exists()
