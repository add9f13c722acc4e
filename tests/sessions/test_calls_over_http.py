"""Rounds through the real SDK against the emulated service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.sessions.events import MessageDiscarded
from tests.support.emulator import Emulator, answer, call, faults, parallel
from tests.support.emulator.replies import SIGNATURE
from tests.support.sample_tools import SampleTool
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import Studio


@pytest.fixture
async def online(tmp_path: Path, emulator: Emulator) -> AsyncIterator[Studio]:
    options = GeminiOptions(api_key="k", base_url=emulator.base_url, after_finish_ms=200)
    tools = [SampleTool("read_file", "read"), SampleTool("glob", "read")]
    studio = Studio(tmp_path, model=cast("ScriptedModel", GeminiProvider(options)), tools=tools)
    studio.set(model_name="gemini-3-pro-preview")  # it demands the signatures back
    yield studio
    await studio.app.close()


async def test_a_call_of_the_service_gets_its_result_and_the_second_answer_ends_the_turn(
    online: Studio, emulator: Emulator
) -> None:
    emulator.script(answer("Let me look.", call("read_file", {"file_path": "a.py"}, call_id="x1")), "It is fine.")

    result = await online.chat("Is a.py fine?")

    assert (result.text, result.finish_reason) == ("It is fine.", "STOP")
    first, second = emulator.asked("streamGenerateContent")
    assert [tool["name"] for tool in first.declarations] == ["read_file", "glob"]
    assert first.declarations[0]["parametersJsonSchema"]["properties"]["file_path"]["type"] == "string"
    assert second.responses == [{"id": "x1", "name": "read_file", "response": {"output": "read_file a.py"}}]
    assert emulator.malformed == []


@pytest.mark.parametrize("ids", [True, False])
async def test_calls_side_by_side_are_answered_in_one_content_in_their_order_and_signatures_go_back(
    online: Studio, emulator: Emulator, ids: bool
) -> None:
    made = parallel(("read_file", {"file_path": "a"}), ("glob", {}), ("read_file", {"file_path": "b"}), ids=ids)
    emulator.script(answer(*made), answer(*parallel(("glob", {"file_path": "c"}), ids=ids)), "Fine.")
    assert (await online.chat("Look.")).text == "Fine."
    second, third = emulator.asked("streamGenerateContent")[1:]
    outputs = [response["response"]["output"] for response in second.responses]
    assert outputs == ["read_file a", "glob ", "read_file b"]
    assert [part.get("thoughtSignature") for part in third.calls] == [SIGNATURE, None, None, SIGNATURE]
    asked = [part["functionCall"]["id"] for part in second.calls]
    assert [response["id"] for response in second.responses] == asked
    assert emulator.malformed == []


async def test_a_signature_on_an_empty_text_goes_back(online: Studio, emulator: Emulator) -> None:
    emulator.script(answer({"text": "", "thoughtSignature": SIGNATURE}, call("glob", {})), "Fine.")
    await online.chat("Look.")
    model = emulator.asked("streamGenerateContent")[1].contents[-2]
    assert model["parts"][0] == {"text": "", "thoughtSignature": SIGNATURE}


async def test_a_call_without_arguments_is_one_with_none(online: Studio, emulator: Emulator) -> None:
    emulator.script(answer(call("glob", None)), "Fine.")
    await online.chat("Look.")
    assert emulator.asked("streamGenerateContent")[1].responses[0]["response"] == {"output": "glob "}


@pytest.mark.parametrize("args", [["a"], "a", 7])
async def test_an_answer_whose_arguments_are_no_object_is_asked_for_again(
    online: Studio, emulator: Emulator, args: Any
) -> None:
    emulator.script(answer("I look.", call("glob", args)), "Fine.")
    assert (await online.chat("Look.")).text == "Fine."
    assert len(online.heard.of(MessageDiscarded)) == 1


@pytest.mark.parametrize("fault", [faults.malformed_call, faults.unexpected_call])
async def test_a_call_that_the_service_could_not_write_is_asked_for_again_and_finished_rounds_stay(
    online: Studio, emulator: Emulator, fault: Any
) -> None:
    emulator.script(answer(call("glob", {})), fault(), "Fine.")
    assert (await online.chat("Look.")).text == "Fine."
    session = await online.session()
    assert sum(isinstance(entry, ToolResultEntry) for entry in session.history.entries) == 1


async def test_calls_to_functions_that_do_not_exist_are_answered_with_those_that_do(
    online: Studio, emulator: Emulator
) -> None:
    emulator.script(faults.too_many_calls(), "Fine.")
    assert (await online.chat("Look.")).text == "Fine."
    errors = [response["response"]["error"] for response in emulator.asked("streamGenerateContent")[1].responses]
    assert len(errors) == 3
    assert all("The tools are: read_file, glob." in error for error in errors)
