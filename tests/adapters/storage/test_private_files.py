"""Private files: whole or not there, under names that cannot lead elsewhere."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters import private_files
from gemini_companion.adapters.private_files import safe_name
from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.errors import StorageFault
from tests.adapters.storage.stores import meta, mode, read
from tests.support.patience import PATIENCE

_HOSTILE = ["..", ".", "", "../../etc/passwd", "a/b", "a\\b", "CON", "nul.txt", "a.", ".hidden", "x" * 300 + ".json"]
_names = st.text(max_size=200) | st.sampled_from(_HOSTILE)


@given(_names)
def test_any_name_becomes_one_plain_component_of_a_path(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= 120
    assert safe.isascii()
    assert not set(safe) & set('/\\:*?"<>| \0')
    assert safe[0] != "."
    assert safe_name(safe) == safe


@given(_names, _names)
def test_different_names_stay_different(one: str, two: str) -> None:
    assert (safe_name(one) == safe_name(two)) is (one == two)


def test_a_plain_name_stays_as_it_is_and_a_suffix_is_kept() -> None:
    assert safe_name("run_shell_command-12.txt") == "run_shell_command-12.txt"
    assert safe_name("日本.json").endswith(".json")


async def test_a_text_is_written_where_it_was_said_to_be(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        expected = store.text_path("s1", "out.txt")
        assert os.path.isabs(expected)
        assert await store.save_text("s1", "out.txt", "日本\n") == expected
        assert read(expected) == "日本\n".encode()


async def test_a_name_that_is_taken_gets_a_number_and_nothing_is_overwritten(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        paths = [Path(await store.save_text("s1", "out.txt", f"{number}")) for number in range(3)]
        assert [path.name for path in paths] == ["out.txt", "out-2.txt", "out-3.txt"]
        assert [path.read_text("utf-8") for path in paths] == ["0", "1", "2"]


async def test_a_link_that_waits_under_the_name_is_not_followed(store: SqliteStore, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        first = Path(await store.save_text("s1", "a.txt", ""))
        (first.parent / "b.txt").symlink_to(tmp_path / "elsewhere")
        assert await store.save_text("s1", "b.txt", "x") == str(first.parent / "b-2.txt")
        assert not (tmp_path / "elsewhere").exists()


async def test_lone_surrogates_in_a_text_do_no_harm(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        assert read(await store.save_text("s1", "a.txt", "x\ud800")) == b"x?"


async def test_a_full_disk_is_said_and_leaves_no_half_file(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        with monkeypatch.context() as patch:
            patch.setattr(private_files.os, "fsync", full)
            with pytest.raises(StorageFault, match="no space left") as caught:
                await store.save_text("s1", "a.txt", "x")
        assert caught.value.retryable
        assert os.listdir(os.path.dirname(store.text_path("s1", "a.txt"))) == []
        await store.save_text("s1", "a.txt", "x")


async def test_a_text_that_is_there_already_is_taken_as_it_is_and_closed_to_others(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        first = await store.save_text("s1", "out.txt", "whole\n")
        Path(first).chmod(0o644)
        assert await store.save_text("s1", "out.txt", "whole\n") == first
        assert mode(Path(first)) == 0o600
        assert os.listdir(os.path.dirname(first)) == ["out.txt"]


async def test_texts_that_nothing_names_are_removed_and_what_is_not_there_does_no_harm(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
        kept, gone = [await store.save_text("s1", name, "x") for name in ("kept.txt", "gone.txt")]
        await store.remove_texts("s1", ["gone.txt", "never.txt"])
        assert [os.path.exists(path) for path in (kept, gone)] == [True, False]


async def test_folders_that_were_open_to_others_are_closed(store: SqliteStore, tmp_path: Path) -> None:
    folders = [tmp_path / "projects", tmp_path / "projects" / "default"]
    for folder in folders:
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
    async with asyncio.timeout(PATIENCE):
        await store.create(meta())
    assert [mode(folder) for folder in folders] == [0o700, 0o700]


async def test_a_fork_has_its_parents_files_and_what_happens_to_them_there_does_not_concern_it(
    store: SqliteStore,
) -> None:
    await store.create(meta("parent"))
    await store.save_text("parent", "a.txt", "one")
    await store.create(meta("fork", parent="parent"))
    await store.remove_texts("parent", ["a.txt"])
    await store.save_text("parent", "a.txt", "another")
    assert await store.read_text("fork", "a.txt") == "one"
    assert mode(Path(store.text_path("fork", "a.txt"))) == 0o600
    await store.delete("parent")
    assert await store.read_text("fork", "a.txt") == "one"


async def test_where_files_cannot_be_linked_a_fork_gets_copies(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    await store.create(meta("parent"))
    await store.save_text("parent", "a.txt", "one")
    await store.create(meta("fork", parent="parent"))
    assert await store.read_text("fork", "a.txt") == "one"
    assert mode(Path(store.text_path("fork", "a.txt"))) == 0o600


async def test_files_beyond_a_limit_go_those_named_first_then_the_oldest_and_never_the_newest(
    store: SqliteStore,
) -> None:
    await store.create(meta("s1"))
    for number, name in enumerate(("a", "b", "c", "d")):
        path = await store.save_text("s1", name, name * 100)
        os.utime(path, (number, number))

    async def left() -> list[str]:
        return [name for name in "abcd" if await store.read_text("s1", name) is not None]

    assert await store.limit_texts("s1", 400, first=["c"], spared="d") == 0
    assert await store.limit_texts("s1", 300, first=["c", "missing"], spared="d") == 1
    assert await left() == ["a", "b", "d"]
    assert await store.limit_texts("s1", 200, first=[], spared="d") == 1
    assert await left() == ["b", "d"]
    assert await store.limit_texts("s1", 10, first=["d"], spared="d") == 1
    assert await left() == ["d"]
