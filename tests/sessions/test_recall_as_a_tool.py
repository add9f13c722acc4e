"""The model recalls: what was cut, masked and hidden comes back word for word, and nothing that was withheld."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import CompressionEntry, PromptEntry, ToolResultEntry, Withheld
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.ports import Named
from gemini_companion.sessions.recall.service import recall
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.memory import MemoryOfSession
from gemini_companion.sessions.tools.outputs import CutOutputs
from gemini_companion.tools.recall import Recall
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio

LOG = "\n".join(f"compiled part {number}" for number in range(1, 20_001))
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}


def studio_of(tmp_path: Path, output: ToolOutput) -> Studio:
    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return output

    tool = SampleTool("run_shell_command", "read", work)
    tool.shape = "command"
    studio = Studio(tmp_path, tools=[tool, Recall()], tooling=allowing(outputs=CutOutputs()))
    studio.model.streams = [calls(("run_shell_command", {})), "Built."]
    return studio


def call_ids(session: Session) -> list[str]:
    entries = session.history.entries
    return [record.call_id for entry in entries if isinstance(entry, ToolResultEntry) for record in entry.calls]


def last_response(request: ModelRequest) -> dict[str, Any]:
    return request.contents[-1].parts[0]["functionResponse"]


async def ask(studio: Studio, **args: Any) -> dict[str, Any]:
    """What the model gets for a call of `recall`."""
    studio.model.streams = [calls(("recall", args)), "I see."]
    await studio.chat("And?")
    return last_response(studio.model.main()[-1])


async def test_all_pieces_of_a_cut_output_are_the_whole_word_for_word(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, ToolOutput(output=LOG))
    await studio.chat("Build it.")
    session = await studio.session()
    memory, tool = MemoryOfSession(session), Recall()
    (call_id,) = call_ids(session)
    remembered = await memory.output(call_id)
    assert remembered is not None
    assert remembered.text == LOG

    pieces, offset = "", 0
    while True:
        said = (await ask(studio, tool_call_id=call_id, offset=offset))["response"]["output"]
        assert len(said) <= memory.most_characters + 200
        body = said.partition("\n")[2]
        piece, more, rest = body.partition("\n[There is more: go on with offset=")
        pieces += piece
        if not more:
            break
        offset = int(rest.rstrip(".]"))
    assert pieces == LOG
    assert tool.risk == "read"


async def test_lines_of_a_cut_output_are_found_by_their_words(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, ToolOutput(output=LOG))
    await studio.chat("Build it.")
    (call_id,) = call_ids(await studio.session())
    said = (await ask(studio, tool_call_id=call_id, query="part 7777"))["response"]["output"]
    assert "7777: compiled part 7777" in said
    assert len(said) < 2_000


async def test_what_a_compression_hides_is_recalled_by_its_words_and_then_whole(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[Recall()], tooling=allowing(outputs=CutOutputs()))
    await studio.chat("The retries of the uploader are limited to seven. " + "Think of it. " * 200)
    for number in range(4):
        await studio.chat(f"Question {number}? " + "More words. " * 100)
    await studio.compress()
    session = await studio.session()
    assert any(isinstance(entry, CompressionEntry) for entry in session.history.entries)

    found = (await ask(studio, query="how often does the uploader retry"))["response"]["output"]
    assert "limited to seven" in found
    entry_id = found.partition('entry_id="')[2].partition('"')[0]
    whole = (await ask(studio, entry_id=entry_id))["response"]["output"]
    assert whole.count("Think of it.") == 200


async def test_a_picture_comes_back_with_its_call(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, ToolOutput(output="a picture", media=(PICTURE,)))
    await studio.chat("Show it.")
    (call_id,) = call_ids(await studio.session())
    assert (await ask(studio, tool_call_id=call_id))["parts"] == [PICTURE]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({}, "Say what to recall"),
        ({"tool_call_id": "nobody"}, "nothing with the id"),
        ({"entry_id": "e", "turn_id": "t"}, "Give one of"),
        ({"tool_call_id": "../../secret"}, "nothing with the id"),
        ({"offset": -1, "query": "x"}, "offset"),
    ],
    ids=str,
)
async def test_a_call_that_names_nothing_is_told_what_to_do(tmp_path: Path, args: dict[str, Any], told: str) -> None:
    studio = studio_of(tmp_path, ToolOutput(output="short"))
    await studio.chat("Build it.")
    assert told in (await ask(studio, **args))["response"]["error"]


async def test_a_withheld_file_stays_withheld_whatever_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find(named: Any, folders: Any) -> list[Named | None]:
        secret = Withheld(name="secret.txt", reason="a secret by its name")
        return [Named(path="/project/secret.txt", withheld=secret) for _ in named]

    studio = studio_of(tmp_path, ToolOutput(output="short"))
    monkeypatch.setattr(studio.workspace, "find", find)
    studio.workspace.texts["/project/secret.txt"] = "TOKEN-12345"
    await studio.chat("Look at @secret.txt.")
    session = await studio.session()
    assert any(isinstance(entry, PromptEntry) and entry.withheld for entry in session.history.entries)
    memory = MemoryOfSession(session)
    for entry in session.history.entries:
        found = await memory.entry(entry.id)
        assert found is None or "TOKEN-12345" not in found.text
    assert "TOKEN-12345" not in (await ask(studio, query="TOKEN-12345 secret"))["response"]["output"]


async def test_clients_recall_an_output_by_its_call_in_pieces(tmp_path: Path) -> None:
    studio = studio_of(tmp_path, ToolOutput(output=LOG))
    await studio.chat("Build it.")
    session = await studio.session()
    (call_id,) = call_ids(session)
    text = ""
    while True:
        result = await recall(studio.services, tool_call_id=call_id, session_id=session.session_id, offset=len(text))
        (hit,) = result.hits
        text += hit.text
        assert (hit.role, hit.characters) == ("tool", len(LOG))
        if len(text) == hit.characters:
            break
    assert text == LOG
    assert (await recall(studio.services, tool_call_id="no", session_id=session.session_id)).hits == ()


@pytest.mark.parametrize("more", [{"turn_id": "t"}, {"entry_id": "e"}, {"session_id": None}], ids=str)
async def test_a_call_is_recalled_by_its_id_and_its_session_alone(tmp_path: Path, more: dict[str, Any]) -> None:
    studio = studio_of(tmp_path, ToolOutput(output="short"))
    asked: dict[str, Any] = {"tool_call_id": "c", "session_id": "s", **more}
    with pytest.raises(InvalidInput):
        await recall(studio.services, **asked)


async def test_what_was_cut_and_then_masked_early_comes_back_by_the_id_that_its_preview_names(tmp_path: Path) -> None:
    logs = [f"run {number}\n{LOG}" for number in range(4)]
    left = list(logs)

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=left.pop(0))

    tool = SampleTool("run_shell_command", "read", work)
    tool.shape = "command"
    studio = Studio(
        tmp_path, tools=[tool, Recall()], tooling=allowing(outputs=CutOutputs()), token_limit_override=60_000
    )
    studio.model.streams = [*(calls(("run_shell_command", {})) for _ in logs), "Built."]  # the same call each time
    await studio.chat("Build it until it works.")
    (first, *_) = (
        part["functionResponse"]["response"]["output"]
        for content in studio.model.main()[-1].contents
        for part in content.parts
        if "functionResponse" in part
    )
    assert first.startswith("[An earlier output of ")
    (call_id,) = re.findall(r'recall\(tool_call_id="([^"]+)"\)', first)
    session = await studio.session()
    remembered = await MemoryOfSession(session).output(call_id)
    assert remembered is not None
    assert remembered.text == logs[0]
    response = await ask(studio, tool_call_id=call_id, query="part 12345")
    assert "compiled part 12345" in response["response"]["output"]
