"""Files inside the workspace folders: what is read, written, renamed, and what is refused."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest

from gemini_companion.adapters.files import DiskFiles
from gemini_companion.adapters.files.folder import CAN_HOLD
from gemini_companion.adapters.files.real_names import real_path
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import ToolRefusal
from tests.support.tool_contexts import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def files(request: pytest.FixtureRequest) -> DiskFiles:
    if request.param and not CAN_HOLD:
        pytest.skip("this system cannot open names from a folder")
    return DiskFiles(DiskWorkspace(), by_descriptor=request.param)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def place(files: DiskFiles, root: Path, path: str) -> Place:
    return await files.place(path, [str(root)])


async def test_a_file_is_read_up_to_the_limit(files: DiskFiles, root: Path):
    write(root / "a", "12345").chmod(0o640)
    read = await files.read(await place(files, root, "a"), limit=3)
    assert (read.data, read.size, read.mode, read.digest) == (b"123", 5, 0o640, digest(b"123"))


async def test_a_write_needs_the_digest_that_was_seen(files: DiskFiles, root: Path):
    path = write(root / "a", "one")
    where = await place(files, root, "a")
    with pytest.raises(ToolRefusal, match="has changed meanwhile"):
        await files.write(where, b"two", expected=digest(b"other"))
    with pytest.raises(ToolRefusal, match="exists already"):
        await files.write(where, b"two", expected=None)
    assert path.read_bytes() == b"one"
    assert await files.write(where, b"two", expected=digest(b"one")) == digest(b"two")
    assert path.read_bytes() == b"two"
    with pytest.raises(ToolRefusal, match="does not exist"):
        await files.write(await place(files, root, "gone/b"), b"x", expected=digest(b"one"))
    assert sorted(each.name for each in root.iterdir()) == ["a"]


async def test_permission_bits_are_kept_or_set(files: DiskFiles, root: Path):
    path = write(root / "a", "one")
    path.chmod(0o751)
    where = await place(files, root, "a")
    await files.write(where, b"two", expected=digest(b"one"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    await files.write(where, b"three", expected=digest(b"two"), mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_file_is_deleted_and_renamed_with_its_digest_alone(files: DiskFiles, root: Path):
    path = write(root / "a", "one")
    where, to = await place(files, root, "a"), await place(files, root, "new/b")
    with pytest.raises(ToolRefusal, match="has changed meanwhile"):
        await files.rename(where, to, expected=digest(b"other"))
    await files.rename(where, to, expected=digest(b"one"))
    assert (root / "new/b").read_bytes() == b"one"
    assert not path.exists()
    write(path, "two")
    with pytest.raises(ToolRefusal, match="exists already"):
        await files.rename(where, await place(files, root, "new/b"), expected=digest(b"two"))
    with pytest.raises(ToolRefusal, match="has changed meanwhile"):
        await files.delete(where, expected=digest(b"other"))
    await files.delete(where, expected=digest(b"two"))
    assert [each.name for each in root.iterdir()] == ["new"]


async def test_a_hard_link_is_read_and_not_written(files: DiskFiles, root: Path, tmp_path: Path):
    outside = write(tmp_path / "outside", "one")
    (root / "a").hardlink_to(outside)
    where = await place(files, root, "a")
    assert (await files.read(where, limit=9)).links == 2
    with pytest.raises(ToolRefusal, match="hard link"):
        await files.write(where, b"two", expected=digest(b"one"))


async def test_folders_of_the_program_itself_are_left_alone(tmp_path: Path):
    own = write(tmp_path / "data/store.db", "x").parent
    files = DiskFiles(DiskWorkspace(), own=[str(own)])
    where = await files.place("data/store.db", [str(tmp_path)])
    assert where.withheld == "a file of this program itself"
    with pytest.raises(ToolRefusal, match="belongs to this program"):
        await files.read(where, limit=1)
    with pytest.raises(ToolRefusal, match="belongs to this program"):
        await files.write(await files.place("data/new", [str(tmp_path)]), b"", expected=None)


async def test_a_full_disk_leaves_the_file_and_nothing_else(
    files: DiskFiles, root: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write(root / "a", "one")
    where = await place(files, root, "a")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolRefusal, match="no room left on the disk"):
        await files.write(where, b"two", expected=digest(b"one"))
    assert path.read_bytes() == b"one"
    assert [each.name for each in root.iterdir()] == ["a"]


async def test_without_hard_links_a_new_file_is_made_all_the_same(
    files: DiskFiles, root: Path, monkeypatch: pytest.MonkeyPatch
):
    def none(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", none)
    await files.write(await place(files, root, "a"), b"one", expected=None)
    assert (root / "a").read_bytes() == b"one"
    assert [each.name for each in root.iterdir()] == ["a"]


async def test_a_parent_that_became_a_link_is_not_followed(files: DiskFiles, root: Path, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside/b", "OUTSIDE")
    write(root / "sub/b", "inside")
    where, new = await place(files, root, "sub/b"), await place(files, root, "sub/new")
    (root / "sub").rename(root / "was")
    (root / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(ToolRefusal):
        await files.read(where, limit=9)
    with pytest.raises(ToolRefusal):
        await files.write(new, b"x", expected=None)
    with pytest.raises(ToolRefusal):
        await files.delete(where, expected=digest(b"OUTSIDE"))
    assert [each.name for each in (tmp_path / "outside").iterdir()] == ["b"]


async def test_places_of_strange_names_stay_on_one_line(files: DiskFiles, root: Path):
    write(root / "-rf", "x")
    write(root / "new\nline", "x")
    assert (await place(files, root, "-rf")).kind == "file"
    assert (await place(files, root, "new\nline")).shown == "new\\x0aline"
    assert (await place(files, root, "x" * 5_000)).root is None
    with pytest.raises(ToolRefusal, match="too long"):
        await files.write(await place(files, root, "x" * 300), b"", expected=None)


async def test_in_several_folders_a_relative_path_is_found_where_it_is(files: DiskFiles, tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    write(two / "b", "x")
    roots = [str(one), str(two)]
    assert (await files.place("b", roots)).path == str(two / "b")
    assert (await files.place("two/new", roots)).path == str(two / "new")
    assert (await files.place("new", roots)).path == str(one / "new")
    assert (await files.place(".", roots)).path == str(one)


def test_a_name_is_spelt_as_the_disk_spells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """On a file system that finds a name whatever its case and its form: this one is made to."""
    write(tmp_path / ".env", "x")
    write(tmp_path / "cafe\u0301", "x")
    true_lstat = os.lstat

    def finding(path: str) -> os.stat_result:
        try:
            return true_lstat(path)
        except FileNotFoundError:
            folder, name = os.path.split(path)
            spelt = {".env": ".env", "caf\u00e9": "cafe\u0301"}.get(name.lower())
            if spelt is None:
                raise
            return true_lstat(os.path.join(folder, spelt))

    monkeypatch.setattr(os, "lstat", finding)
    assert real_path(str(tmp_path / ".ENV")) == str(tmp_path / ".env")
    assert real_path(str(tmp_path / "caf\u00e9")) == str(tmp_path / "cafe\u0301")
    assert real_path(str(tmp_path / "none")) == str(tmp_path / "none")
