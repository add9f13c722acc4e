"""The files of tool outputs that a compression cuts: there when it is installed, and only then."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from gemini_companion.engine.errors import Cancelled, StorageFault
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import CompressionEntry, CompressionResult, Entry
from gemini_companion.engine.history.part import response_of
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.session import Session
from tests.sessions.test_cancelling import HeldStore
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

pytestmark = pytest.mark.usefixtures("by_split")

BIG = "line of output\n" * 20_000


def with_outputs(count: int = 10) -> list[Content]:
    """A conversation whose newest turns ran commands that said much."""
    contents = dialogue()
    for number in range(count):
        call = {"functionCall": {"id": f"c{number}", "name": "run", "args": {}}}
        result = {"functionResponse": {"id": f"c{number}", "name": "run", "response": {"output": f"{number} {BIG}"}}}
        contents += [
            user_text(f"run {number}"),
            Content(role="model", parts=(call,)),
            Content(role="user", parts=(result,)),
            model_text("ran"),
        ]
    return contents


def files(tmp_path: Path) -> list[str]:
    return sorted(name for _, _, names in os.walk(tmp_path / "files") for name in names)


async def previewed(studio: Studio) -> tuple[Session, CompressionResult]:
    session = await studio.load(with_outputs())
    preview = await studio.compress(preview=True)
    assert preview.status == "PREVIEW"
    assert session.history.preview is not None
    assert len(session.history.preview.compression.cuts) == 3
    return session, preview


class FailingOnce:
    """Refuses the first write of a compression, as a full disk does."""

    def __init__(self, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
        real, self.refused = studio.store.append, 0

        async def append(session_id: str, entries: Sequence[Entry]) -> None:
            if not self.refused and any(isinstance(entry, CompressionEntry) for entry in entries):
                self.refused += 1
                raise StorageFault("There is no space left.")
            await real(session_id, entries)

        monkeypatch.setattr(studio.store, "append", append)


async def test_a_preview_whose_install_failed_leaves_no_file_and_applying_it_again_gives_what_it_promised(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, preview = await previewed(studio)
    store = FailingOnce(studio, monkeypatch)
    with pytest.raises(StorageFault):
        await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    assert store.refused == 1
    assert files(tmp_path) == []
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    assert (applied.status, applied.new_token_count) == ("COMPRESSED", preview.new_token_count)
    cuts = session.history.in_force[preview.compression_id or ""].cuts
    assert len(files(tmp_path)) == len(cuts) == 3
    assert {Path(cut.path).read_text("utf-8")[2:] for cut in cuts} == {BIG}


async def test_files_that_a_killed_process_left_are_taken_and_the_figures_are_those_promised(
    studio: Studio, tmp_path: Path
) -> None:
    session, preview = await previewed(studio)
    assert session.history.preview is not None
    outputs = {item.seq: response_of(item.content.parts[0]) or {} for item in session.history.sources}
    for cut in session.history.preview.compression.cuts:
        await studio.store.save_text(session.session_id, Path(cut.path).name, outputs[cut.seq]["response"]["output"])
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    assert (applied.status, applied.new_token_count) == ("COMPRESSED", preview.new_token_count)
    assert len(session.history.in_force[preview.compression_id or ""].cuts) == 3
    assert len(files(tmp_path)) == 3


async def test_an_automatic_compression_whose_install_failed_leaves_no_file(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.load(with_outputs())
    FailingOnce(studio, monkeypatch)
    studio.set(compression_token_cap=500)
    with pytest.raises(StorageFault):
        await studio.chat("go on")
    assert files(tmp_path) == []


async def test_an_apply_that_is_cancelled_between_its_files_leaves_none(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, preview = await previewed(studio)
    real, reached, calls = studio.store.save_text, asyncio.Event(), list[str]()

    async def save_text(session_id: str, name: str, text: str) -> str:
        calls.append(name)
        if len(calls) == 2:
            reached.set()
            await asyncio.Event().wait()
        return await real(session_id, name, text)

    monkeypatch.setattr(studio.store, "save_text", save_text)
    applying = asyncio.create_task(apply_preview(session, client="c", compression_id=preview.compression_id or ""))
    async with asyncio.timeout(PATIENCE):
        await reached.wait()
        assert len(files(tmp_path)) == 1
        await studio.app.cancel(studio.client, None)
        with pytest.raises(Cancelled):
            await applying
    assert files(tmp_path) == []


async def test_an_apply_that_is_cancelled_while_it_is_written_keeps_its_files(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, preview = await previewed(studio)
    held = HeldStore(studio, monkeypatch, CompressionEntry)
    applying = asyncio.create_task(apply_preview(session, client="c", compression_id=preview.compression_id or ""))
    async with asyncio.timeout(PATIENCE):
        await held.reached.wait()
        await studio.app.cancel(studio.client, None)
        held.release.set()
        assert (await applying).status == "COMPRESSED"
    assert len(files(tmp_path)) == 3
