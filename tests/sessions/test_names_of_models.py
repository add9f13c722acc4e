"""Names of models that come from clients and files: trimmed, checked, and never an endpoint that a file chose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import ModelChangeEntry
from tests.support.sessions import Studio

ENDPOINT = "projects/p/locations/l/endpoints/123"


async def test_a_person_may_name_a_resource_in_a_request(studio: Studio) -> None:
    await studio.chat("hi", model=ENDPOINT)
    assert studio.model.main()[0].model == ENDPOINT


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        (" gemini-3-flash \n", "gemini-3-flash"),
        ("", "gemini-2.5-pro"),
        ("  ", "gemini-2.5-pro"),
        ("None", "gemini-2.5-pro"),
    ],
)
async def test_a_requests_model_is_trimmed_and_may_name_none(studio: Studio, asked: str, used: str) -> None:
    info = await studio.app.new_session(studio.client, model=asked)
    assert info.model == used
    await studio.chat("hi", model=asked)
    assert studio.model.main()[0].model == used


@pytest.mark.parametrize("asked", ["two words", "x\0", "\ufffd", "a?key=b", "../../files", "x" * 300, "-m"])
async def test_what_cannot_be_a_models_name_is_refused_at_once(studio: Studio, asked: str) -> None:
    for attempt in (studio.chat("hi", model=asked), studio.app.new_session(studio.client, model=asked)):
        with pytest.raises(InvalidInput, match="not the name of a model") as caught:
            await attempt
        assert caught.value.path == "$.model"
    assert studio.model.requests == []


async def test_an_imported_file_chooses_no_endpoint(studio: Studio, tmp_path: Path) -> None:
    await studio.chat("hi", model=ENDPOINT)
    session = await studio.session()
    text = "".join(await studio.app.export(studio.client, session.session_id, "companion"))
    assert ENDPOINT in text
    file = tmp_path / "session.json"
    file.write_text(text, "utf-8")
    info = await studio.app.import_session(studio.client, str(file))
    assert "not taken over" in info.warnings[0]
    imported = await studio.session()
    assert imported.session_id != session.session_id
    assert [entry.model for entry in imported.history.entries if isinstance(entry, ModelChangeEntry)] == [""]
    await studio.chat("go on")
    assert studio.model.main()[-1].model == "gemini-2.5-pro"


async def test_an_imported_file_may_name_a_model_of_the_usual_kind(studio: Studio, tmp_path: Path) -> None:
    await studio.chat("hi", model="gemini-3-flash")
    session = await studio.session()
    document: dict[str, Any] = json.loads(
        "".join(await studio.app.export(studio.client, session.session_id, "companion"))
    )
    file = tmp_path / "session.json"
    file.write_text(json.dumps(document), "utf-8")
    assert (await studio.app.import_session(studio.client, str(file))).warnings == ()
    await studio.chat("go on")
    assert studio.model.main()[-1].model == "gemini-3-flash"
