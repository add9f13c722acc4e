"""What can be asked of recall, and what is said of a question that is none."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.errors import InvalidInput, SessionNotFound, StorageFault
from gemini_companion.sessions.maintenance import index_for_recall
from gemini_companion.sessions.recall.service import recall
from tests.sessions.conftest import Opener
from tests.support.patience import PATIENCE
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
