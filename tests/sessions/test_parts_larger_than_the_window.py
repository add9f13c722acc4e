"""Histories whose parts are larger than the window: a prompt goes through, or people are told what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.tools.outputs import CutOutputs
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.examples import examples
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls, count_request
from tests.support.sessions import Studio

WINDOW = 20_000
SMALL = "word " * (WINDOW // 100)

sizes = st.sampled_from([0, 1, 40, 400, WINDOW // 8, WINDOW // 2, WINDOW, 3 * WINDOW])
"""Tokens of one part, about."""

rounds = st.lists(st.tuples(sizes, sizes, sizes, sizes), min_size=1, max_size=6)
"""Of each round: its prompt, 0 for none, the arguments of its call, the output, and what the model says, 0 for none."""


def text(tokens: int, mark: str) -> str:
    return f"{mark} " + "word " * tokens


def history(made: list[tuple[int, int, int, int]]) -> list[Content]:
    contents = [user_text("Begin.")]
    for number, (prompt, args, output, said) in enumerate(made):
        if prompt and contents[-1].role == "model":
            contents.append(user_text(text(prompt, f"prompt {number}")))
        call = {"id": f"c{number}", "name": "run", "args": {"file_path": "a", "content": text(args, "args")}}
        result = {"id": f"c{number}", "name": "run", "response": {"output": text(output, "output")}}
        contents.append(Content(role="model", parts=({"functionCall": call},)))
        contents.append(Content(role="user", parts=({"functionResponse": result},)))
        if said:
            contents.append(model_text(text(said, "answer")))
    return contents


def studio_of(tmp_path: Path, tool: SampleTool | None = None) -> Studio:
    tools = [tool or SampleTool("run", "read")]
    return Studio(tmp_path, tools=tools, tooling=allowing(outputs=CutOutputs()), token_limit_override=WINDOW)


@pytest.mark.parametrize("can_summarise", [True, False], ids=["summarised", "no summary"])
@given(rounds)
@example([(0, 3 * WINDOW, 0, 40)])
@example([(0, 0, 3 * WINDOW, 0), (0, 40, 3 * WINDOW, 3 * WINDOW)])
@example([(3 * WINDOW, 40, 40, 40)])
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_after_any_history_a_small_prompt_goes_through_or_it_is_told_what_does_not_fit(
    tmp_path: Path, can_summarise: bool, made: list[tuple[int, int, int, int]]
) -> None:
    studio = studio_of(tmp_path)
    contents = history(made)
    await studio.load(contents)
    if not can_summarise:
        studio.model.default_answer = ModelFault("not today")
    result = await studio.chat(SMALL)
    if result.stopped is None:
        assert count_request(studio.model.main()[-1]) <= WINDOW
    else:
        assert max(prompt for prompt, *_ in made) >= WINDOW // 8
        assert result.prompt is not None
        assert "An earlier prompt of yours" in result.message
        assert "new chat" in result.message
    await studio.app.close()


@given(st.lists(st.tuples(sizes, sizes), min_size=1, max_size=4))
@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_rounds_of_any_size_end_in_an_answer_and_every_request_fits(
    tmp_path: Path, made: list[tuple[int, int]]
) -> None:
    outputs = [text(output, f"output {number}") for number, (_, output) in enumerate(made)]

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=outputs.pop(0))

    studio = studio_of(tmp_path, SampleTool("run", "read", work))
    studio.model.streams = [calls(("run", {"content": text(args, "args")})) for args, _ in made]
    result = await studio.chat("Go.")
    assert (result.stopped, result.text) == (None, "Done. ")
    assert len(studio.model.main()) == len(made) + 1
    assert max(map(count_request, studio.model.main())) <= WINDOW
    assert (await studio.chat(SMALL)).stopped is None
    assert max(map(count_request, studio.model.main())) <= WINDOW
    await studio.app.close()
