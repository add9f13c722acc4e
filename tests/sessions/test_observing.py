"""What happens in sessions, as those that watch get it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.events import HookRan, MessageDelta, ModeChanged
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.observing.records import (
    AnyRecord,
    CompressionBegan,
    CompressionEnded,
    HookCalled,
    ModelCalled,
    Noted,
    ToolCalled,
    TurnBegan,
    TurnEnded,
    plain,
)
from gemini_companion.sessions.observing.ring import KEPT
from gemini_companion.sessions.observing.service import Observing
from tests.support.sample_tools import SampleTool
from tests.support.sessions import Studio

SAID = "planted-word-"
R = TypeVar("R", bound=AnyRecord)


class Watcher:
    """Keeps what it is told."""

    def __init__(self, *, wants_text: bool = False) -> None:
        self.wants_text = wants_text
        self.records: list[AnyRecord] = []

    def take(self, record: AnyRecord) -> None:
        self.records.append(record)

    def of(self, kind: type[R]) -> list[R]:
        return [record for record in self.records if isinstance(record, kind)]


def watched(studio: Studio, *, wants_text: bool = False) -> Watcher:
    watcher = Watcher(wants_text=wants_text)
    studio.services.observing.add(watcher)
    return watcher


def answer(text: str) -> list[ModelChunk]:
    usage = Usage(prompt_tokens=1_000, cached_tokens=200, output_tokens=20, total_tokens=1_020)
    return [ModelChunk(parts=({"text": text},), finish_reason="STOP", usage=usage)]


def call(name: str, **args: Any) -> list[ModelChunk]:
    return [ModelChunk(parts=({"functionCall": {"name": name, "args": args}},), finish_reason="STOP")]


async def test_a_turn_its_requests_and_its_calls_are_told_in_order_with_their_numbers(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    watcher = watched(studio)
    studio.model.streams = [call("read_file"), answer("Done.")]
    result = await studio.chat("Look at it.")
    of_turn = [record for record in watcher.records if record.turn_id == result.turn_id]
    kinds = [type(record) for record in of_turn if not isinstance(record, Noted)]
    assert kinds == [TurnBegan, ModelCalled, ToolCalled, ModelCalled, TurnEnded]
    assert all(record.session_id == result.session_id for record in of_turn)
    (began,), (ended,), (tool,) = watcher.of(TurnBegan), watcher.of(TurnEnded), watcher.of(ToolCalled)
    assert (began.prompt_length, began.model) == (11, "gemini-2.5-pro")
    assert (ended.outcome, ended.finish_reason, ended.usage) == ("completed", "STOP", result.turn_usage)
    assert (tool.name, tool.outcome, tool.decision) == ("read_file", "ok", "auto_accept")
    last = of_turn[-2] if isinstance(of_turn[-2], ModelCalled) else watcher.of(ModelCalled)[1]
    assert (last.outcome, last.role, last.subject, last.finish_reason) == ("ok", "main", result.turn_id, "STOP")
    assert last.cost == pytest.approx((800 * 1.25 + 200 * 0.125 + 20 * 10) / 1_000_000)


async def test_a_compression_is_told_with_what_it_saved_and_its_requests_with_their_role(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    watcher = watched(studio)
    for number in range(6):
        await studio.chat(f"Question {number}. " + "Look at it. " * 200)
    result = await studio.compress()
    (began,), (ended,) = watcher.of(CompressionBegan), watcher.of(CompressionEnded)
    assert (ended.compression_id, ended.status, ended.trigger) == (began.compression_id, result.status, "manual")
    assert (ended.tokens_before, ended.tokens_after) == (result.original_token_count, result.new_token_count)
    roles = {one.role for one in watcher.of(ModelCalled) if one.purpose == "compression"}
    assert roles == {"utility_compressor"}
    assert {one.subject for one in watcher.of(ModelCalled) if one.purpose == "compression"} == {began.compression_id}


async def test_a_call_that_is_refused_at_once_is_told_with_its_name(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    watcher = watched(studio)
    studio.model.streams = [call("no_such_tool"), answer("Well.")]
    await studio.chat("Go.")
    assert [(one.name, one.outcome) for one in watcher.of(ToolCalled)] == [("no_such_tool", "failed")]


async def test_a_failure_is_told_by_its_kind(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    watcher = watched(studio)
    studio.model.streams = [ModelUnavailable(f"It said {SAID}", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Hello.")
    (ended,) = watcher.of(TurnEnded)
    assert (ended.outcome, ended.error, ended.retryable) == ("failed", "ModelUnavailable", False)
    assert [one.fault for one in watcher.of(ModelCalled) if one.purpose == "answer"] == ["ModelUnavailable"]


async def test_nothing_that_anybody_wrote_is_told_unless_somebody_asked_for_it(tmp_path: Path) -> None:
    def told(*, wants_text: bool) -> Callable[[], Any]:
        async def run() -> tuple[str, list[str]]:
            studio = Studio(tmp_path / str(wants_text), tools=[SampleTool("read_file", "read")])
            watcher = watched(studio, wants_text=wants_text)
            studio.model.streams = [call("read_file", path=f"{SAID}args"), answer(f"{SAID}answer"),
                                    call(f"{SAID}no name: free text"), answer("ok"),
                                    ModelUnavailable(f"{SAID}fault", retryable=False)]  # fmt: skip
            await studio.chat(f"{SAID}prompt")
            await studio.chat("Again.")
            with pytest.raises(ModelUnavailable):
                await studio.chat("And again.")
            session = await studio.session()
            session.emit(HookRan(event="BeforeTool", name=f"/opt/x/check.sh {SAID}name", outcome="denied",
                                 duration_ms=3, message=f"{SAID}message"))  # fmt: skip
            everything = msgspec.json.encode(watcher.records).decode()
            assert SAID not in msgspec.json.encode(studio.services.observing.ring.records).decode()
            assert [hook.name for hook in watcher.of(HookCalled)] == ["check.sh"]
            return everything, [tool.name for tool in watcher.of(ToolCalled)]

        return run

    silent, names = await told(wants_text=False)()
    assert SAID not in silent
    assert names == ["read_file", "other"]
    spoken, _ = await told(wants_text=True)()
    for what in ("prompt", "args", "answer", "fault", "name", "message"):
        assert f"{SAID}{what}" in spoken


async def test_the_last_hundred_records_are_kept_and_pieces_of_answers_are_none(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.chat("Hello.")
    session = await studio.session()
    for _ in range(KEPT):
        session.emit(MessageDelta(text="x", attempt=1))
        session.emit(ModeChanged(mode="plan"))
    kept = studio.services.observing.ring.records
    assert [type(record) for record in kept] == [Noted] * KEPT
    assert {plain(record)["event"] for record in kept} == {"modeChanged"}


async def test_what_watches_badly_costs_no_turn(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Watcher):
        def take(self, record: AnyRecord) -> None:
            raise RuntimeError

    studio = Studio(tmp_path)
    studio.services.observing.add(Broken())
    assert (await studio.chat("Hello.")).finish_reason == "STOP"
    assert "was not observed" in caplog.text


def test_calls_and_turns_without_an_end_are_forgotten_at_last() -> None:
    from gemini_companion.sessions.observing.service import MOST_OPEN
    from gemini_companion.sessions.tool_events import ToolCallCompleted, ToolCallStarted

    observing, watcher = Observing(), Watcher()
    observing.add(watcher)
    for number in range(MOST_OPEN + 1):
        observing.event("s", 1, "t", ToolCallStarted(tool_call_id=f"c{number}", name="glob", args={}))
    for number in (0, MOST_OPEN):
        done = ToolCallCompleted(tool_call_id=f"c{number}", outcome="ok", summary="", duration_ms=1)
        observing.event("s", 1, "t", done)
    assert [record.name for record in watcher.of(ToolCalled)] == ["other", "glob"]
