"""Versions of files: what goes in comes out, or nothing does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.storage.versions import MAX_FILE, VersionFiles, digest_of
from gemini_companion.engine.errors import StorageFault


@pytest.fixture
def files(tmp_path: Path) -> VersionFiles:
    return VersionFiles(str(tmp_path / "versions"))


@given(data=st.binary(max_size=200))
def test_what_goes_in_comes_out(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    files = VersionFiles(str(tmp_path_factory.mktemp("versions")))
    assert files.load(files.save(data)) == data


def test_the_same_bytes_are_kept_once_and_for_their_owner_only(files: VersionFiles, tmp_path: Path) -> None:
    assert files.save(b"x" * 1000) == files.save(b"x" * 1000)
    (blob,) = (tmp_path / "versions").rglob("*.zst")
    assert blob.stat().st_mode & 0o777 == 0o600
    assert files.size(digest_of(b"x" * 1000)) < 100
    assert files.all() == {digest_of(b"x" * 1000)}


def test_a_damaged_version_is_told_and_never_wrong(files: VersionFiles, tmp_path: Path) -> None:
    data = os.urandom(500)
    digest = files.save(data)
    (blob,) = (tmp_path / "versions").rglob("*.zst")
    whole = blob.read_bytes()
    for place in range(0, len(whole), 7):
        blob.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(StorageFault):
            files.load(digest)
    assert files.save(data) == digest  # written anew
    assert files.load(digest) == data


def test_a_frame_that_states_a_huge_size_is_not_unpacked(files: VersionFiles, tmp_path: Path) -> None:
    import zstandard

    digest = files.save(b"x")
    (blob,) = (tmp_path / "versions").rglob("*.zst")
    blob.write_bytes(zstandard.ZstdCompressor().compress(b"\0" * (MAX_FILE * 3)))
    with pytest.raises(StorageFault):
        files.load(digest)


def test_a_version_that_is_gone_is_none(files: VersionFiles) -> None:
    digest = files.save(b"x")
    files.remove([digest])
    assert files.load(digest) is None
    assert files.size(digest) == 0


def test_a_name_that_leads_elsewhere_is_refused(files: VersionFiles) -> None:
    with pytest.raises(StorageFault):
        files.load("../" * 21 + "x")
