"""The transcript that hooks read says what the view says, whatever became of the view meanwhile."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gemini_companion.adapters.hooks.transcripts import PrivateTranscripts
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import Content
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.hooks.transcript import Transcript
from gemini_companion.sessions.interchange import decode_session_file
from gemini_companion.sessions.session import Session
from tests.support.conversations import dialogue
from tests.support.sample_tools import SampleTool
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


class Reader:
    """The transcript of a session, brought up to date and read as a hook would."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.transcript = Transcript(str(folder), PrivateTranscripts())

    async def path(self) -> Path:
        return Path(await self.transcript.update(self.session.meta, self.session.history))

    async def contents(self) -> list[Content]:
        path = await self.path()
        return list(decode_session_file(path.read_bytes(), path.name).contents)

    def shown(self) -> list[Content]:
        return [item.content for item in self.session.history.items]


async def test_it_follows_the_view_through_calls_compressions_undos_and_failures(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    session = await studio.load(dialogue())
    reader = Reader(session, tmp_path / "hooks")
    assert await reader.contents() == reader.shown()

    studio.model.streams = [calls(("read_file", {}), ("read_file", {"n": 1})), "Read."]
    await studio.chat("Read it.")
    assert await reader.contents() == reader.shown()

    await studio.compress()
    compressed = await reader.contents()
    assert compressed == reader.shown()

    await undo(session, client="c")
    assert await reader.contents() == reader.shown() != compressed

    studio.model.streams = [ModelUnavailable("Gone.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Fails.")
    assert await reader.contents() == reader.shown()
    await studio.app.close()


async def test_it_grows_by_what_is_new_and_not_at_all_where_nothing_is(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.load(dialogue())
    reader = Reader(session, tmp_path / "hooks")
    first = (await reader.path()).read_bytes()
    assert (await reader.path()).read_bytes() == first
    await studio.chat("One more.")
    second = (await reader.path()).read_bytes()
    assert second.startswith(first)
    added = [json.loads(line) for line in second[len(first) :].splitlines()]
    assert [record["type"] for record in added] == ["user", "gemini"]
    (await reader.path()).unlink()
    await studio.chat("And more.")
    assert await reader.contents() == reader.shown()
    await studio.app.close()


async def test_where_it_cannot_be_written_a_hook_is_told_of_none(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.load(dialogue())
    (tmp_path / "hooks").write_text("a file", "utf-8")
    assert await Reader(session, tmp_path / "hooks").transcript.update(session.meta, session.history) == ""
    await studio.app.close()
