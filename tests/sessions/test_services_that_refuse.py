"""What a model's service refuses, cuts or says wrongly costs itself, and not the chat."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import ContextOverflow, ModelFault, ModelUnavailable, RefusedPart, Unauthenticated
from gemini_companion.engine.history.content import Content, model_text
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.statistics.recording import MOST_WRITTEN
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.conversations import dialogue
from tests.support.sample_tools import FreeConsent, SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel, calls
from tests.support.sessions import Studio

GONE = ModelUnavailable("The model 'x' was not found.", retryable=False, is_gone=True)
FORBIDDEN = Unauthenticated("The model's service refused the credentials (403).")
NO_QUOTA = ModelUnavailable("This key has no quota.", retryable=False, of_model=True, is_gone=True)
OVERLOADED = ModelUnavailable("The model is overloaded.", of_model=True)
REFUSED = ModelUnavailable("The model's service refused the request (400: it is not supported).", retryable=False)


class OneModel(ScriptedModel):
    """A service that has one model; of every other one it says `fault`."""

    def __init__(self, name: str, fault: ModelFault) -> None:
        super().__init__()
        self._only, self._fault = name, fault
        self.asked: list[str] = []

    async def generate(self, request: ModelRequest) -> ModelChunk:
        if request.role == "utility_compressor":
            self.asked.append(request.model)
            if request.model != self._only:
                raise self._fault
        return await super().generate(request)


# --- the model that writes snapshots


@pytest.mark.parametrize(
    "fault", [GONE, FORBIDDEN, NO_QUOTA, OVERLOADED, REFUSED], ids=["404", "403", "quota 0", "503", "400"]
)
@pytest.mark.parametrize("name", ["gemini-3.5-flash", "gemini-3.1-pro-preview"])
async def test_the_chats_own_model_writes_what_another_one_cannot(tmp_path: Path, fault: ModelFault, name: str) -> None:
    model = OneModel(name, fault)
    studio = Studio(tmp_path, model=model, model_name=name)
    told: list[str] = []
    studio.services.tell = told.append
    await studio.load(dialogue())
    assert (await studio.compress()).status == "COMPRESSED"
    assert model.asked[0] != name
    assert model.asked[-1] == name
    (sentence,) = told
    assert "companion.compression.model" in sentence
    asked = len(model.asked)
    await studio.load(dialogue())
    await studio.compress()
    assert set(model.asked[asked:]) == {name}  # the other one is left alone, and nobody is told again
    assert [one for one in told if one] == [sentence]


async def test_a_setting_goes_before_the_family_and_is_tried_first(tmp_path: Path) -> None:
    model = OneModel("gemini-2.5-pro", GONE)
    studio = Studio(tmp_path, model=model, compression_model="mine")
    await studio.load(dialogue())
    assert (await studio.compress()).status == "COMPRESSED"
    assert model.asked[:2] == ["mine", "gemini-2.5-pro"]


async def test_a_name_that_only_a_proxy_knows_ends_no_chat(tmp_path: Path) -> None:
    model = OneModel("team-proxy-model", GONE)
    studio = Studio(tmp_path, model=model, model_name="team-proxy-model")
    await studio.load(dialogue())
    assert (await studio.compress()).status == "COMPRESSED"
    assert model.asked[-1] == "team-proxy-model"


async def test_a_fault_of_the_chats_own_model_is_told(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.load(dialogue())
    studio.model.default_answer = GONE
    with pytest.raises(ModelUnavailable):
        await studio.compress()


# --- calls in an answer that was cut


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "A_NEW_ONE"])
async def test_a_call_in_an_answer_that_was_cut_is_not_carried_out(tmp_path: Path, reason: str) -> None:
    write = SampleTool("write_file", "edit")
    studio = Studio(tmp_path, tools=[write], tooling=allowing(FreeConsent()))
    session = await studio.session()
    await set_mode(session, "acceptEdits")
    made = calls(("write_file", {"file_path": "a.py", "content": "half"}))
    studio.model.streams = [[*made[:-1], ModelChunk(parts=made[-1].parts, finish_reason=reason)], "I write less."]
    result = await studio.chat("write it")
    assert result.text.strip() == "I write less."
    assert write.called == []
    answered = studio.model.main()[-1].contents[-1].parts[0]["functionResponse"]["response"]
    assert f"cut before its end ({reason})" in answered["error"]


# --- windows and quotas


async def test_a_window_that_the_service_names_is_known_from_then_on(tmp_path: Path) -> None:
    studio = Studio(tmp_path, model_name="gemma-3-27b-it")
    session = await studio.load(dialogue(words=60))
    studio.model.streams = [ContextOverflow("The conversation is too large (…allowed (12000)).", limit=12_000)]
    assert (await studio.chat("go on")).finish_reason == "STOP"
    assert session.limit(session.choice()) == 12_000
    studio.set(token_limit_override=50_000)
    assert session.limit(session.choice()) == 50_000


@pytest.mark.parametrize(("quota", "is_compressed"), [(500, True), (1_000_000, False)])
async def test_a_quota_smaller_than_the_request_leads_to_a_compression_and_a_larger_one_to_a_wait(
    tmp_path: Path, quota: int, is_compressed: bool
) -> None:
    studio = Studio(tmp_path)
    await studio.load(dialogue(words=60))
    studio.model.streams = [ModelUnavailable("429", of_model=True, token_quota=quota, retry_after_ms=1_000)]
    assert (await studio.chat("go on")).finish_reason == "STOP"
    assert ("utility_compressor" in studio.model.kinds()) == is_compressed


async def test_a_request_larger_than_its_quota_that_cannot_shrink_says_so(tmp_path: Path) -> None:
    studio = Studio(tmp_path, model_fallback=False)
    await studio.load(dialogue(2, words=400))
    studio.model.default_answer = ""
    quota = ModelUnavailable("429", of_model=True, token_quota=1)
    studio.model.streams = [quota] * 5
    with pytest.raises(ContextOverflow) as caught:
        await studio.chat("go on")
    assert "Compress the chat" in caught.value.hint
    assert not caught.value.retryable
    assert "1 in a minute" in caught.value.message


# --- declarations that are refused


async def test_a_declaration_that_the_service_refuses_costs_that_tool_and_is_named(tmp_path: Path) -> None:
    tools = [SampleTool("read_file", "read"), SampleTool("glob", "read")]
    studio = Studio(tmp_path, tools=tools)
    told: list[str] = []
    studio.services.tell = told.append
    session = await studio.session()
    names = [one["name"] for one in session.declarations(session.choice())]
    studio.model.streams = [ModelUnavailable("refused", retryable=False, tool_index=names.index("read_file"))]
    assert (await studio.chat("go on")).finish_reason == "STOP"
    assert [[tool["name"] for tool in request.tools] for request in studio.model.main()] == [names, ["glob"]]
    (sentence,) = told
    assert "The tool read_file is left out" in sentence
    await studio.chat("and on")
    assert len(studio.model.main()) == 3


async def test_a_refusal_of_a_tool_that_there_is_not_is_a_fault(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    studio.model.streams = [ModelUnavailable("refused", retryable=False, tool_index=7)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("go on")


async def test_a_tool_that_the_refusal_names_is_left_out_and_one_whose_name_begins_alike_stays(tmp_path: Path) -> None:
    tools = [SampleTool(name, "server") for name in ("mcp_s_echo", "mcp_s_echo-2")]
    studio = Studio(tmp_path, tools=tools, tooling=allowing(FreeConsent()))
    words = "Unable to submit request because `mcp_s_echo` functionDeclaration `parameters.s` schema has no type field."
    studio.model.streams = [ModelUnavailable("refused", retryable=False, refused="tools", words=words)]
    assert (await studio.chat("go on")).finish_reason == "STOP"
    assert [tool["name"] for tool in studio.model.main()[-1].tools] == ["mcp_s_echo-2"]


class Picky(ScriptedModel):
    """A service that refuses some requests, in words that name nothing."""

    def __init__(self, refuses: Callable[[ModelRequest], bool], kind: RefusedPart = "request") -> None:
        super().__init__()
        self.refuses = refuses
        self._kind: RefusedPart = kind

    def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        if self.refuses(request):
            words = "Request contains an invalid argument."
            fault = ModelUnavailable("refused", retryable=False, refused=self._kind, words=words)
            self.streams.insert(0, fault)
        return super().stream(request, local)


def names_of(request: ModelRequest) -> set[str]:
    return {tool["name"] for tool in request.tools}


@pytest.mark.parametrize("kind", ["tools", "request"])
@pytest.mark.parametrize("bad", [{"mcp_a_3"}, {"mcp_a_0"}, {"mcp_b_9", "mcp_a_4"}])
async def test_of_the_servers_tools_the_refused_ones_are_found_though_no_refusal_names_them(
    tmp_path: Path, kind: RefusedPart, bad: set[str]
) -> None:
    names = ["glob", *(f"mcp_{server}_{number}" for server in "ab" for number in range(10))]
    model = Picky(lambda request: bool(bad & names_of(request)), kind)
    studio = Studio(tmp_path, model=model, tools=[SampleTool(name, "read") for name in names])
    told: list[str] = []
    studio.services.tell = told.append
    for _ in range(12):
        assert (await studio.chat("go on")).finish_reason == "STOP"
        assert "glob" in names_of(model.main()[-1])
    assert names_of(model.main()[-1]) == set(names) - bad
    assert "MCP servers (a, b)" in told[0]
    assert {name for name in names if any(f"The tool {name} is left out" in one for one in told)} == bad
    assert len(model.main()) < 12 + 6 * (len(bad) + 1)


async def test_a_refusal_that_no_tool_is_to_blame_for_blames_none(tmp_path: Path) -> None:
    model = Picky(lambda request: True)
    studio = Studio(tmp_path, model=model, tools=[SampleTool(name, "read") for name in ("mcp_a_1", "mcp_a_2")])
    told: list[str] = []
    studio.services.tell = told.append
    with pytest.raises(ModelUnavailable):
        await studio.chat("go on")
    assert told == []
    assert len(model.main()) == 2
    model.streams.clear()
    model.refuses = lambda request: False
    await studio.chat("go on")
    assert names_of(model.main()[-1]) == {"mcp_a_1", "mcp_a_2"}


# --- media that are refused

PICTURE: dict[str, Any] = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def pictures_in(request: ModelRequest) -> int:
    return json.dumps([content.parts for content in request.contents]).count("inlineData")


def seen(picture: dict[str, Any], number: int) -> list[Content]:
    """A round in which a tool showed a picture."""
    call = {"functionCall": {"name": "shot", "args": {}, "id": f"c{number}"}}
    result = {"name": "shot", "id": f"c{number}", "response": {"output": f"shot {number}"}, "parts": [picture]}
    return [
        Content(role="user", parts=({"text": "show it"},)),
        Content(role="model", parts=(call,)),
        Content(role="user", parts=({"functionResponse": result},)),
        Content(role="model", parts=({"text": "I see it."},)),
    ]


@pytest.mark.parametrize("kind", ["media", "request"])
@pytest.mark.parametrize(("most", "left"), [(1, 1), (0, 0)])
async def test_a_refused_picture_costs_itself_alone_and_the_log_says_so(
    tmp_path: Path, kind: RefusedPart, most: int, left: int
) -> None:
    model = Picky(lambda request: pictures_in(request) > most, kind)
    studio = Studio(tmp_path, model=model)
    told: list[str] = []
    studio.services.tell = told.append
    contents = [*seen(PICTURE, 1), Content(role="user", parts=(PICTURE, {"text": "mine"})), model_text("Yes.")]
    session = await studio.load(contents)
    assert (await studio.chat("go on")).finish_reason == "STOP"
    assert pictures_in(model.main()[-1]) == left
    (sentence,) = told
    assert "the model's service refused it" in sentence
    asked = len(model.main())
    await studio.chat("and on")
    assert len(model.main()) == asked + 1
    text = json.dumps([content.parts for content in model.main()[-1].contents])
    assert "Left out: [image/png" in text
    assert "shot 1" in text
    folded = History(session.history.measure, session.history.entries)
    assert json.dumps([one.parts for one in folded.contents()]).count("inlineData") == left


async def test_a_picture_that_a_tool_shows_and_the_service_refuses_does_not_end_the_turn(tmp_path: Path) -> None:
    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output="", media=(PICTURE,), summary="1 picture")

    model = Picky(lambda request: pictures_in(request) > 0, "media")
    studio = Studio(tmp_path, model=model, tools=[SampleTool("read_file", "read", work)])
    model.streams = [calls(("read_file", {"file_path": "a.png"}))]
    result = await studio.chat("look")
    assert result.text.strip() == "Done."
    answered = json.dumps([content.parts for content in model.main()[-1].contents])
    assert "Left out: [image/png" in answered


async def test_a_picture_that_is_not_to_blame_stays(tmp_path: Path) -> None:
    model = Picky(lambda request: len(model.main()) < 5)
    studio = Studio(tmp_path, model=model)
    await studio.load(seen(PICTURE, 1))
    with pytest.raises(ModelUnavailable):
        await studio.chat("go on")
    model.streams.clear()
    model.refuses = lambda request: False
    await studio.chat("go on")
    assert pictures_in(model.main()[-1]) == 1


# --- numbers that cannot be


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 10**9},
        {"prompt_tokens": 10**18, "cached_tokens": 10**18, "total_tokens": 10**18},
        {"prompt_tokens": 50, "output_tokens": 10**9},
        {"prompt_tokens": 50, "thought_tokens": MOST_WRITTEN + 1},
        {"prompt_tokens": 50, "total_tokens": 10**12},
        {"prompt_tokens": 50, "cached_tokens": 10**12},
    ],
)
async def test_a_number_that_cannot_be_is_booked_nowhere(tmp_path: Path, usage: dict[str, Any]) -> None:
    studio = Studio(tmp_path)
    session = await studio.session()
    chunk = ModelChunk(parts=({"text": "Done."},), finish_reason="STOP", usage=Usage(**usage))
    studio.model.streams = [chunk]
    result = await studio.chat("go on")
    assert result.text == "Done."
    booked = [entry.usage for entry in session.history.entries if isinstance(entry, ModelCallEntry)]
    told = [result.usage, *(one for one in booked if one is not None)]
    assert len(told) > 1
    for one in told:
        assert max(one.prompt_tokens, one.output_tokens, one.thought_tokens, one.total_tokens) < 100_000
        assert one.cached_tokens <= max(one.prompt_tokens, 0)
    assert session.spending.spent.tokens < 100_000


async def test_our_estimate_is_booked_in_place_of_a_count_that_cannot_be(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.load(dialogue(words=60))
    estimated = session.parts().total
    chunk = ModelChunk(parts=({"text": "Done."},), finish_reason="STOP", usage=Usage(prompt_tokens=10**9))
    studio.model.streams = [chunk]
    await studio.chat("go on")
    (entry,) = [one for one in session.history.entries if isinstance(one, ModelCallEntry) and one.purpose == "answer"]
    assert entry.usage is not None
    assert estimated <= entry.usage.prompt_tokens <= 2 * estimated
