"""Compression inside a turn with tools: at the safe point between two rounds, never between a call and its result."""

from __future__ import annotations

from pathlib import Path

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import CompressionEntry, IdeContextEntry
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.events import ContextWindowWillOverflow
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


async def much(args: SampleArgs, context: ToolContext) -> ToolOutput:
    return ToolOutput(output=f"{args.file_path} " + "line of output\n" * 400)


def paired(request: ModelRequest) -> bool:
    """Each round of calls is followed at once by as many results of the same names."""
    for content, following in zip(request.contents, (*request.contents[1:], Content(role="user")), strict=True):
        called = [part["functionCall"]["name"] for part in content.parts if "functionCall" in part]
        answered = [part["functionResponse"]["name"] for part in following.parts if "functionResponse" in part]
        if content.role == "model" and called != answered:
            return False
    return True


def dialogue() -> list[Content]:
    return [content for n in range(6) for content in (user_text(f"{n} " + "word " * 300), model_text("text " * 300))]


async def test_a_long_run_is_compressed_between_its_rounds_and_the_editors_state_is_sent_again_once(
    tmp_path: Path,
) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read", much)], token_limit_override=20_000)
    studio.client.editor.report([ReportedFile(path="/project/a.py", is_active=True)])
    session = await studio.session()
    studio.model.streams = [calls(("read_file", {"file_path": str(n)}), ("read_file", {})) for n in range(12)]
    result = await studio.chat("Read everything.")

    assert result.stopped is None
    assert result.compression is not None
    compressions = [entry for entry in session.history.entries if isinstance(entry, CompressionEntry)]
    assert compressions
    assert all(paired(request) for request in studio.model.main())
    assert max(studio.model.count(request) for request in studio.model.main()) < 20_000
    told = [entry for entry in session.history.entries if isinstance(entry, IdeContextEntry)]
    assert len(told) == 1 + len(compressions)
    assert all("/project/a.py" in str(request.contents) for request in studio.model.main())
    assert "Read everything." in str(studio.model.main()[-1].contents)


async def test_a_turn_whose_results_do_not_fit_even_after_a_compression_stops_and_keeps_them(tmp_path: Path) -> None:
    async def flood(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output="word " * 30_000)

    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read", flood)], token_limit_override=20_000)
    studio.set(compression_mode="off")
    studio.model.streams = [calls(("read_file", {}))]
    result = await studio.chat("Read it.")
    assert (result.stopped, result.prompt) == ("contextWindowWillOverflow", None)
    told = studio.heard.of(ContextWindowWillOverflow)
    assert [event.message for event in told] == [result.message]
    assert result.message
    assert len(studio.model.main()) == 1
    session = await studio.session()
    assert [item.kind for item in session.history.items] == ["prompt", "reply", "toolResult"]
