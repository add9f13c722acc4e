"""Reading files that may be anything."""

import os
from pathlib import Path

import pytest

from gemini_companion.adapters.workspace import DiskWorkspace


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def open_descriptors() -> int | None:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None


async def read(path: Path, data: bytes | None = None, limit: int = 1_000_000) -> str | None:
    return await DiskWorkspace().read_text(str(path if data is None else write(path, data)), limit=limit)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
async def test_texts_are_read_in_utf_8_or_as_their_mark_says(tmp_path: Path, encoding: str):
    assert await read(tmp_path / "a", "héllo 世界 😀\r\n".encode(encoding)) == "héllo 世界 😀\r\n"


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-32-be"])
async def test_big_endian_marks_are_known(tmp_path: Path, encoding: str):
    assert await read(tmp_path / "a", "\ufeffhé".encode(encoding)) == "hé"


async def test_an_empty_file_is_an_empty_text(tmp_path: Path):
    assert await read(tmp_path / "a", b"") == ""


BINARY = [
    b"GIF89a\x00\x01",
    bytes(range(128, 256)) * 9,
    "abc".encode("utf-16-le"),
]


@pytest.mark.parametrize("data", BINARY, ids=["image", "noise", "utf-16 without a mark"])
async def test_what_is_no_utf_8_text_is_not_read(tmp_path: Path, data: bytes):
    assert await read(tmp_path / "a", data) is None


async def test_a_few_strange_bytes_are_replaced(tmp_path: Path):
    assert await read(tmp_path / "a", "déjà vu à l’été ".encode() + b"\xff") == "déjà vu à l’été \ufffd"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("a naïve old text", "latin-1"),
        ("日本語のテキスト\n" * 9, "shift-jis"),
        ("// 在中国的软件项目里，很多旧的源文件仍然使用国标编码保存。\n" * 3, "gbk"),
        ("# coding: koi8-r\n# да\n", "koi8-r"),
    ],
)
async def test_a_text_in_another_encoding_is_read_in_it(tmp_path: Path, text: str, encoding: str):
    assert await read(tmp_path / "a", text.encode(encoding)) == text
    assert (await read(tmp_path / "a", text.encode(encoding) * 40, 300) or "").startswith(text[:20])


@pytest.mark.parametrize("text", ["x" * 50, "é" * 50, "😀" * 50])
@pytest.mark.parametrize("limit", [0, 1, 7, 49, 50, 51])
async def test_at_most_the_limit_is_read_and_no_character_is_cut(tmp_path: Path, text: str, limit: int):
    assert await read(tmp_path / "a", text.encode(), limit) == text[:limit]
    assert await read(tmp_path / "a", text.encode("utf-16"), limit) == text[:limit]


async def test_what_cannot_be_read_is_none(tmp_path: Path):
    assert await read(tmp_path / "gone") is None
    assert await read(tmp_path) is None
    assert await DiskWorkspace().read_text("/a\0b") is None
    os.mkfifo(tmp_path / "pipe")
    assert await read(tmp_path / "pipe") is None
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert await read(tmp_path / "loop") is None


async def test_no_descriptor_stays_open(tmp_path: Path):
    await read(tmp_path / "a", b"a")
    before = open_descriptors()
    for path in (tmp_path, tmp_path / "gone", tmp_path / "a"):
        await read(path)
    assert open_descriptors() == before
