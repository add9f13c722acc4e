"""What can be asked of recall, and what is said of a question that is none."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.errors import InvalidInput, SessionNotFound, StorageFault
from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.sessions.maintenance import index_for_recall
from gemini_companion.sessions.recall.service import recall
from gemini_companion.sessions.tools.outputs import CutOutputs
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


@pytest.mark.parametrize(
    "asked",
    [{}, {"query": ""}, {"query": " \n"}, {"query": "x", "turn_id": "t"}, {"query": "x", "entry_id": "e"}],
    ids=str,
)
async def test_a_question_is_either_words_or_an_id(studio: Studio, asked: dict[str, Any]):
    with pytest.raises(InvalidInput) as refused:
        await recall(studio.services, **asked)
    assert refused.value.path == "$.query"


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_what_was_said_in_one_session_is_found_from_another(tmp_path: Path, opened: Opener, kind: str):
    studio = opened() if kind == "file" else Studio(tmp_path)
    async with asyncio.timeout(PATIENCE):
        first = await studio.chat("The retries of the uploader are limited to seven.")
        await studio.app.new_session(studio.client)
        await studio.chat("Good morning.")
        found = await recall(studio.services, query="how often is uploading retried")
        assert (found.hits[0].session_id, found.hits[0].turn_id) == (first.session_id, first.turn_id)
        assert found.hits[0].text == "The retries of the uploader are limited to seven."
        whole = await recall(studio.services, turn_id=first.turn_id)
        assert [hit.role for hit in whole.hits] == ["user", "model"]
        entry = await recall(studio.services, entry_id=whole.hits[1].entry_id, session_id=first.session_id)
        assert entry.hits == (whole.hits[1],)
        with pytest.raises(SessionNotFound):
            await recall(studio.services, query="uploader", session_id="elsewhere")


async def test_an_answer_that_was_given_anew_is_found_and_the_old_one_is_not(opened: Opener):
    studio = opened()
    async with asyncio.timeout(PATIENCE):
        studio.model.streams = ["The old marmot.", "The new marmot."]
        first = await studio.chat("Tell of the animal.")
        await studio.chat("Tell of the animal.", replaces=first.turn_id)
        found = await recall(studio.services, query="marmot")
        assert [hit.text for hit in found.hits] == ["The new marmot."]


async def test_earlier_chats_that_cannot_be_indexed_go_to_the_log(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    class Broken(MemoryStore):
        @property
        def recall(self) -> Any:
            return self

        async def index(self) -> None:
            raise StorageFault("The disk is gone.")

    await index_for_recall(Broken(str(tmp_path)))
    assert "The disk is gone." in caplog.text


async def test_a_line_in_the_middle_of_a_kept_output_is_found_by_what_it_names(tmp_path: Path):
    log = "\n".join(f"compiled unit-{number}" for number in range(1, 20_001))

    async def build(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=log)

    tool = SampleTool("run_shell_command", "read", build)
    tool.shape = "command"
    studio = Studio(tmp_path, tools=[tool], tooling=allowing(outputs=CutOutputs()))
    studio.model.streams = [calls(("run_shell_command", {"file_path": "a"})), "Done."]
    async with asyncio.timeout(PATIENCE):
        done = await studio.chat("Build it.")
        for session_id in (done.session_id, None):
            found = await recall(studio.services, query="where is unit-11357?", session_id=session_id)
            assert "compiled unit-11357\n" in found.hits[0].text
            assert (found.hits[0].turn_id, found.hits[0].role) == (done.turn_id, "tool")
        missing = await recall(studio.services, query="unit-99999", session_id=done.session_id)
        assert not any("99999" in hit.text for hit in missing.hits)
        entries = (await studio.session()).history.entries
        (call_id,) = (record.call_id for one in entries if isinstance(one, ToolResultEntry) for record in one.calls)
        lines = await recall(studio.services, query="unit-11357", tool_call_id=call_id, session_id=done.session_id)
        assert "11357: compiled unit-11357" in lines.hits[0].text.split("\n")
        assert lines.hits[0].characters == len(log)
        assert len(lines.hits[0].text) < 200
