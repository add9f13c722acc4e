"""What outputs of tools leave in a history: cut when they come, kept whole beside it, masked when they are old."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.engine.history.tool_entries import MaskEntry
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.recall.outputs import recall_output
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import OutputsMasked
from gemini_companion.sessions.tools.outputs import CutOutputs
from gemini_companion.tools.tool import Shape, ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio

LOG = "\n".join(f"compiled part {number}" for number in range(1, 20_001))


def giving(*outputs: ToolOutput, name: str = "run_shell_command", shape: Shape = "command") -> SampleTool:
    """A tool that gives these outputs one after another, the last one again and again."""
    left = list(outputs)

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return left.pop(0) if len(left) > 1 else left[0]

    tool = SampleTool(name, "read", work)
    tool.shape = shape
    return tool


def studio_with(tmp_path: Path, tool: SampleTool, rounds: int = 1, **settings: Any) -> Studio:
    studio = Studio(tmp_path, tools=[tool], tooling=allowing(outputs=CutOutputs()), **settings)
    studio.model.streams = [*(calls((tool.name, {"file_path": str(number)})) for number in range(rounds)), "Done."]
    return studio


def outputs(request: ModelRequest) -> list[str]:
    return [
        part["functionResponse"]["response"]["output"]
        for content in request.contents
        for part in content.parts
        if "functionResponse" in part
    ]


def call_ids(session: Session) -> list[str]:
    entries = session.history.entries
    return [record.call_id for entry in entries if isinstance(entry, ToolResultEntry) for record in entry.calls]


def kept_files(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "files").rglob("*") if path.is_file())


async def test_a_long_output_is_cut_and_its_whole_is_in_a_private_file_that_no_text_leads_to(tmp_path: Path) -> None:
    studio = studio_with(tmp_path, giving(ToolOutput(output=LOG)))
    await studio.chat("Build it.")
    session = await studio.session()

    (text,) = outputs(studio.model.main()[-1])
    (call_id,) = call_ids(session)
    assert len(text) <= 40_000
    assert text.count("\n") < 1_000
    assert f'recall(tool_call_id="{call_id}"' in text
    (path,) = kept_files(tmp_path)
    assert path.name not in text
    assert path.read_text("utf-8") == LOG
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_short_output_is_left_alone_and_no_file_is_made(tmp_path: Path) -> None:
    studio = studio_with(tmp_path, giving(ToolOutput(output="all is well")))
    await studio.chat("Build it.")
    assert outputs(studio.model.main()[-1]) == ["all is well"]
    assert not [name for _, _, names in os.walk(tmp_path / "files") for name in names]


async def test_the_limit_is_the_settings_and_nothing_is_cut_where_it_is_off(tmp_path: Path) -> None:
    text = "word " * 4_000
    for threshold, longest in ((5_000, 5_000), (None, 20_000)):
        tool = giving(ToolOutput(output=text), shape="text")
        studio = studio_with(tmp_path / str(threshold), tool, truncate_tool_output_threshold=threshold)
        await studio.chat("Build it.")
        (shown,) = outputs(studio.model.main()[-1])
        assert len(shown) <= longest
        assert (shown == text) is (threshold is None)


async def test_an_output_leaves_room_in_a_small_window(tmp_path: Path) -> None:
    tool = giving(ToolOutput(output="word " * 8_000), shape="text")
    studio = studio_with(tmp_path, tool, token_limit_override=8_000)
    await studio.chat("Build it.")
    assert len(outputs(studio.model.main()[-1])[0]) <= 8_000


async def test_a_file_that_has_all_of_the_output_already_becomes_the_whole(tmp_path: Path) -> None:
    spilled = tmp_path / "command-1.txt"
    spilled.write_text(LOG * 10, "utf-8")
    studio = studio_with(tmp_path, giving(ToolOutput(output="head\n[…]\ntail", is_whole_file=str(spilled))))
    await studio.chat("Build it.")
    session = await studio.session()
    (call_id,) = call_ids(session)
    (text,) = outputs(studio.model.main()[-1])
    assert text.startswith("head\n")
    assert call_id in text
    assert not spilled.exists()
    kept = await studio.store.read_text(session.session_id, f"run_shell_command_{call_id}.txt")
    assert kept == LOG * 10


async def test_where_the_disk_is_full_the_text_says_that_the_rest_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(session_id: str, name: str, text: str) -> str:
        raise StorageFault("The disk is full.")

    studio = studio_with(tmp_path, giving(ToolOutput(output=LOG)))
    monkeypatch.setattr(studio.store, "save_text", refuse)
    result = await studio.chat("Build it.")

    (text,) = outputs(studio.model.main()[-1])
    assert "could not be kept" in text
    assert "recall(" not in text
    assert len(text) <= 40_000
    assert result.finish_reason == "STOP"


async def test_old_outputs_are_masked_behind_a_round_and_the_view_says_how_to_have_them_back(tmp_path: Path) -> None:
    texts = [ToolOutput(output=f"output {number}: " + "several words of it " * 1_900) for number in range(13)]
    studio = studio_with(tmp_path, giving(*texts, shape="text"), rounds=13)
    await studio.chat("Build it.")
    session = await studio.session()

    (entry,) = [one for one in session.history.entries if isinstance(one, MaskEntry)]
    (event,) = studio.heard.of(OutputsMasked)
    assert (event.outputs, event.tokens_saved) == (len(entry.cuts), sum(cut.tokens_saved for cut in entry.cuts))
    assert event.tokens_saved >= 30_000
    shown, ids = outputs(studio.model.main()[-1]), call_ids(session)
    assert all(
        call_id in text and len(text) < 1_000 for call_id, text in zip(ids, shown[: len(entry.cuts)], strict=False)
    )
    assert [len(text) > 30_000 for text in shown] == [False] * len(entry.cuts) + [True] * (13 - len(entry.cuts))
    whole = [one for one in session.history.entries if isinstance(one, ToolResultEntry)]
    assert [len(one.content.parts[0]["functionResponse"]["response"]["output"]) > 30_000 for one in whole] == [
        True
    ] * 13
    assert session.parts().tool_outputs == session.history.totals().tool_outputs


async def test_a_file_that_is_read_again_unchanged_is_named_instead(tmp_path: Path) -> None:
    text = "def f():\n    return 1\n" * 200
    studio = studio_with(tmp_path, giving(ToolOutput(output=text), name="read_file", shape="file"), rounds=3)
    await studio.chat("Read it, and again.")
    session = await studio.session()
    first, second, third = outputs(studio.model.main()[-1])
    assert first == text
    assert max(len(second), len(third)) < 500
    assert session.history.epoch == 1
    assert studio.heard.of(OutputsMasked) == []


async def test_a_small_window_protects_no_more_than_its_share(tmp_path: Path) -> None:
    texts = [ToolOutput(output=f"output {number}: " + "several words of it " * 150) for number in range(40)]
    studio = studio_with(tmp_path, giving(*texts, shape="text"), rounds=40, token_limit_override=40_000)
    await studio.chat("Build it.")
    shown = outputs(studio.model.main()[-1])
    whole = [text for text in shown if text.startswith("output")]
    assert 4 <= len(whole) <= 16
    assert shown[-1] in whole
    assert (await studio.session()).history.compressions == {}


async def test_a_session_keeps_no_more_outputs_than_its_quota_and_says_so_of_those_that_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemini_companion.sessions.tools.outputs.QUOTA_BYTES", 2 * len(LOG) + 100)
    studio = studio_with(tmp_path, giving(*(ToolOutput(output=f"{number}\n{LOG}") for number in range(4))), rounds=4)
    await studio.chat("Build it.")
    session = await studio.session()
    assert len(kept_files(tmp_path)) == 2
    first, _, third, fourth = call_ids(session)
    wholes = [(await recall_output(studio.store, session.session_id, one, 0)).hits[0].text for one in (first, fourth)]
    assert wholes[0].startswith("[The whole was deleted")
    assert "compiled part 20000" in wholes[0]
    assert wholes[1] == f"3\n{LOG}"[: len(wholes[1])]
    assert (await recall_output(studio.store, session.session_id, third, 0)).hits[0].characters == len(LOG) + 2


async def test_a_fork_has_the_whole_outputs_of_its_parent_when_that_is_deleted(tmp_path: Path) -> None:
    studio = studio_with(tmp_path, giving(ToolOutput(output=LOG)))
    await studio.chat("Build it.")
    parent = await studio.session()
    fork = await studio.app.fork(studio.client, parent.session_id, None)
    await studio.app.delete(parent.session_id)
    (call_id,) = call_ids(parent)
    (hit,) = (await recall_output(studio.store, fork.session_id, call_id, 0)).hits
    assert hit.characters == len(LOG)
