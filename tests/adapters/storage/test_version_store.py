"""Which versions of files stay: those that a session needs, as long as there is room."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gemini_companion.adapters.storage.versions import digest_of
from gemini_companion.engine.errors import SessionNotFound, StorageFault
from tests.adapters.storage.stores import MakeStore, meta


def blobs(tmp_path: Path) -> set[str]:
    return {path.stem for path in tmp_path.rglob("*.zst")}


async def test_versions_go_with_their_session_but_those_that_another_needs(
    make_store: MakeStore, tmp_path: Path
) -> None:
    store = make_store()
    await store.create(meta("s1"))
    await store.create(meta("s2"))
    await store.versions.save("s1", "t1", [b"alone", b"shared"])
    await store.versions.save("s2", "t1", [b"shared"])
    await store.delete("s1")
    assert blobs(tmp_path) == {digest_of(b"shared")}
    assert await store.versions.load(digest_of(b"shared")) == b"shared"
    assert await store.versions.load(digest_of(b"alone")) is None
    await store.delete("s2")
    assert blobs(tmp_path) == set()


async def test_a_fork_keeps_the_versions_of_its_parent(make_store: MakeStore) -> None:
    store = make_store()
    await store.create(meta("s1"))
    await store.versions.save("s1", "t1", [b"old"])
    await store.create(meta("s2", parent="s1"))
    await store.delete("s1")
    assert await store.versions.load(digest_of(b"old")) == b"old"


async def test_where_room_is_short_the_oldest_turns_versions_go_and_it_is_told(
    make_store: MakeStore, tmp_path: Path
) -> None:
    told: list[str] = []
    store = make_store(notify=told.append)
    await store.create(meta("s1"))
    store.versions.room = 10_000
    contents = [os.urandom(3_000) for _ in range(6)]
    for number, data in enumerate(contents):
        await store.versions.save("s1", f"t{number}", [data])
    assert await store.versions.load(digest_of(contents[0])) is None
    assert await store.versions.load(digest_of(contents[-1])) == contents[-1]
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.zst")) <= 10_000
    assert told
    assert "can no longer be taken back" in told[0]


async def test_the_turn_that_saves_keeps_its_versions_however_little_room_there_is(make_store: MakeStore) -> None:
    store = make_store()
    await store.create(meta("s1"))
    store.versions.room = 10
    data = os.urandom(2_000)
    await store.versions.save("s1", "t1", [data])
    assert await store.versions.load(digest_of(data)) == data


async def test_nothing_is_kept_for_a_session_that_there_is_not(make_store: MakeStore, tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        await make_store().versions.save("s1", "t1", [b"x"])
    assert blobs(tmp_path) == set()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EIO])
async def test_a_version_that_cannot_be_written_is_a_fault_and_leaves_nothing(
    make_store: MakeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store = make_store()
    await store.create(meta("s1"))

    def fail(source: object, target: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(StorageFault) as fault:
        await store.versions.save("s1", "t1", [b"x"])
    assert ("full" in fault.value.hint) == (number == errno.ENOSPC)
    assert [path for path in (tmp_path / "projects" / "default" / "versions").rglob("*") if path.is_file()] == []


async def test_what_a_killed_process_left_unfinished_goes_after_a_day(make_store: MakeStore, tmp_path: Path) -> None:
    store = make_store()
    await store.create(meta("s1"))
    await store.versions.save("s1", "t1", [b"x"])
    (blob,) = tmp_path.rglob("*.zst")
    left = blob.with_name(f"{blob.name}.1-abcd")
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    await store.versions.remove_unneeded()
    assert not left.exists()
    assert blob.exists()


async def test_a_version_that_its_turn_needs_no_more_goes_unless_another_turn_needs_it(
    make_store: MakeStore, tmp_path: Path
) -> None:
    store = make_store()
    await store.create(meta("s1"))
    await store.versions.save("s1", "t1", [b"mine", b"shared"])
    await store.versions.save("s1", "t2", [b"shared"])
    for data in (b"mine", b"shared", b"unknown"):
        await store.versions.forget("s1", "t1", digest_of(data))
    assert blobs(tmp_path) == {digest_of(b"shared")}
    await store.versions.forget("s1", "t2", digest_of(b"shared"))
    assert blobs(tmp_path) == set()
