"""What a session did and cost: made of its log, so a restart changes nothing, and every other number agrees."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import CompanionError, ModelUnavailable
from gemini_companion.engine.history.content import model_text
from gemini_companion.engine.history.log import Usage, decode_entry, encode_entry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.statistics.tally import MOST_TURNS, Sent, Tally
from gemini_companion.engine.statistics.uses import price_of
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.events import TurnCompleted, UsageUpdated
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.statistics.answers import MOST_POINTS, latency_of, request_points
from gemini_companion.sessions.statistics.service import Statistics
from gemini_companion.sessions.statistics.shapes import Stats
from gemini_companion.sessions.transcript.inspection import compression_list, context_report
from tests.support.conversations import agent_run, dialogue
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleTool
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio


async def stats_of(studio: Studio) -> Stats:
    """The statistics of the current session."""
    return await studio.app.statistics.of_session(await studio.session())


async def has_title(studio: Studio) -> None:
    """Wait until the title was asked for and its call is written."""
    session = await studio.session()
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(e, ModelCallEntry) and e.purpose == "title" for e in session.history.entries):
            await asyncio.sleep(0)


def calling(name: str) -> list[ModelChunk]:
    """An answer that calls a tool."""
    usage = Usage(prompt_tokens=1_000, cached_tokens=400, output_tokens=10, thought_tokens=5, total_tokens=1_015)
    return [ModelChunk(parts=({"functionCall": {"name": name, "args": {}}},), finish_reason="STOP", usage=usage)]


def saying(text: str, prompt: int = 1_200) -> list[ModelChunk]:
    """An answer in words."""
    usage = Usage(prompt_tokens=prompt, cached_tokens=600, output_tokens=20, total_tokens=prompt + 20)
    return [ModelChunk(parts=({"text": text},), finish_reason="STOP", usage=usage)]


async def test_tokens_cost_and_tools_are_those_of_the_answers(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calling("read_file"), saying("Done.")]
    await studio.chat("Go.", model="gemini-2.5-pro")
    found = await stats_of(studio)
    (answers,) = [row for row in found.models if row.purpose == "answer"]
    assert (answers.model, answers.calls, answers.failures) == ("gemini-2.5-pro", 2, 0)
    assert (answers.prompt_tokens, answers.cached_tokens, answers.thought_tokens, answers.output_tokens) == (
        2_200,
        1_000,
        5,
        30,
    )
    assert answers.cost == pytest.approx((1_200 * 1.25 + 1_000 * 0.125 + 35 * 10) / 1e6)
    (tool,) = found.tools
    assert (tool.name, tool.calls, tool.ok, tool.declined, tool.failed) == ("read_file", 1, 1, 0, 0)
    assert tool.tokens == (await studio.session()).history.totals().tool_outputs > 0
    assert [point.tokens for point in found.requests] == [1_000, 1_200]
    assert all(point.by_part and point.tokens == point.by_part.total for point in found.requests)
    (completed,) = studio.heard.of(TurnCompleted)
    assert completed.turn_usage.prompt_tokens == answers.prompt_tokens
    await has_title(studio)
    assert {row.purpose for row in (await stats_of(studio)).models} == {"answer", "title"}


async def test_a_call_that_failed_is_counted_with_its_reason_and_survives_in_the_log(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    studio.model.streams = [ModelUnavailable("Gone.", hint="Wait.", retryable=False)]
    with pytest.raises(CompanionError):
        await studio.chat("Go.")
    session = await studio.session()
    (call,) = [entry for entry in session.history.entries if isinstance(entry, ModelCallEntry)]
    assert (call.outcome, call.fault, call.purpose) == ("failed", "ModelUnavailable", "answer")
    found = await stats_of(studio)
    assert (found.calls, found.failures) == (1, 1)


async def test_compressions_have_their_calls_and_agree_with_their_results_and_the_meter(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    for number in range(6):
        await studio.chat(f"Prompt {number}: " + "tell me about the parser. " * 40)
    studio.model.default_answer = ModelChunk(
        parts=({"text": SNAPSHOT},), finish_reason="STOP", usage=Usage(prompt_tokens=900, output_tokens=80)
    )
    await studio.compress()
    session = await studio.session()
    found = await stats_of(studio)
    (listed,) = compression_list(session).compressions
    (compressed,) = found.compression_list
    assert compressed.compression_id == listed.compression_id
    assert (compressed.tokens_before, compressed.tokens_after) == (listed.original_token_count, listed.new_token_count)
    assert found.tokens_saved == listed.original_token_count - listed.new_token_count
    (result,) = [entry.result for entry in session.history.compressions.values()]
    (row,) = [row for row in found.models if row.purpose == "compression"]
    assert row.calls == compressed.model_calls == result.model_calls > 0
    assert compressed.cost == found.compression_cost > 0
    assert (
        context_report(session).token_count == studio.heard.of(UsageUpdated)[-1].token_count == result.new_token_count
    )


async def test_the_statistics_of_a_log_that_is_read_again_are_the_same(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calling("read_file"), saying("Done.")]
    for number in range(5):
        await studio.chat(f"Prompt {number}: " + "tell me about the parser. " * 40)
    await studio.compress()
    await has_title(studio)
    session = await studio.session()
    step_by_step = await studio.app.statistics.tally(session)
    at_once = Tally(decode_entry(encode_entry(entry)) for entry in session.history.entries)
    assert at_once.uses == step_by_step.uses
    assert (at_once.tools, at_once.sent) == (step_by_step.tools, step_by_step.sent)
    assert at_once.compressions == step_by_step.compressions


async def test_an_earlier_version_s_log_is_counted_by_its_answers(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    for number in range(5):
        await studio.chat(f"Prompt {number}: " + "tell me about the parser. " * 40)
    await studio.compress()
    await has_title(studio)
    session = await studio.session()
    new = await stats_of(studio)
    old = Tally(entry for entry in session.history.entries if not isinstance(entry, ModelCallEntry))
    answers = [row for row in new.models if row.purpose == "answer"]
    counted = [use for (_, purpose), use in old.uses.items() if purpose == "answer"]
    assert sum(use.prompt for use in counted) == sum(row.prompt_tokens for row in answers)
    assert sum(use.calls for use in old.uses.values()) == new.calls - 1  # nobody told of the title


async def test_a_fork_begins_at_nothing_and_the_project_counts_each_call_once(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.chat("Go.")
    await has_title(studio)
    before = await stats_of(studio)
    fork = await studio.app.fork(studio.client, before.session_id or "", None)
    forked = await studio.app.statistics.of_session(await studio.app.load(studio.client, fork.session_id))
    assert (forked.calls, forked.prompt_tokens, forked.turns) == (0, 0, 0)
    project = await studio.app.statistics.of_project()
    assert (project.calls, project.prompt_tokens, project.sessions) == (before.calls, before.prompt_tokens, 2)


async def test_only_what_was_added_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studio = Studio(tmp_path)
    for number in range(3):
        await studio.chat(f"Prompt {number}.")
    await has_title(studio)
    session = await studio.session()
    await stats_of(studio)
    taken: list[int] = []
    apply = Tally.apply
    monkeypatch.setattr(Tally, "apply", lambda tally, entry: (taken.append(entry.seq), apply(tally, entry))[1])
    await stats_of(studio)
    assert taken == []
    before = session.history.version
    await studio.chat("One more.")
    await stats_of(studio)
    assert taken == list(range(before + 1, session.history.version + 1))


async def test_the_tokens_of_tools_are_those_of_the_view_whatever_became_of_it(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.load([*agent_run(6), model_text("All green."), *dialogue(4)])

    async def tokens() -> int:
        found = await studio.app.statistics.of_session(session)
        afresh = await Statistics(studio.services, lambda _: session).of_session(session)
        assert {one.name: one.tokens or 0 for one in found.tools} == {one.name: one.tokens or 0 for one in afresh.tools}
        return sum(one.tokens or 0 for one in found.tools)

    first = await tokens()
    assert first > 0
    await studio.chat("And on?")
    assert await tokens() == first
    assert (await studio.compress()).status == "COMPRESSED"
    assert await tokens() < first
    await undo(session, client="c")
    assert await tokens() == first


def test_medians_and_95th_percentiles_are_by_nearest_rank() -> None:
    found = latency_of(list(range(1, 101)))
    assert found is not None
    assert (found.median, found.p95, found.calls) == (50, 95, 100)
    assert latency_of([]) is None


async def test_many_requests_are_thinned_out_between_the_first_and_the_last(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.chat("Go.")
    (one,) = (await studio.app.statistics.tally(await studio.session())).sent
    many = [Sent(number, *one[1:]) for number in range(10_000)]
    points = request_points(many)
    assert (len(points), points[0].time, points[-1].time) == (MOST_POINTS, 0, 9_999)


def test_hostile_numbers_of_an_imported_log_are_bounded() -> None:
    entry = ModelCallEntry(
        id="e",
        seq=1,
        time=1,
        purpose="answer",
        subject="t",
        model="gemini-2.5-pro",
        outcome="ok",
        duration_ms=-5,
        usage=Usage(prompt_tokens=2**62, cached_tokens=-4, output_tokens=2**62),
        by_part={"messages": 2**62, "<b>": -1},
    )
    tally = Tally([entry])
    use = tally.use("gemini-2.5-pro", "answer")
    assert use.prompt == 10**12
    assert use.cached == 0
    assert use.whole_ms[0] == 0
    assert request_points(tally.sent)[0].by_part.messages == 10**12


async def test_each_turn_has_its_own_cost_with_what_was_asked_on_its_way(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calling("read_file"), saying("Done."), saying("Again.", 2_000)]
    first = await studio.chat("Go.", model="gemini-2.5-pro")
    second = await studio.chat("Go on.", model="gemini-2.5-pro")
    found = await stats_of(studio)
    one, two = found.turn_list
    assert (one.turn_id, two.turn_id) == (first.turn_id, second.turn_id)
    assert (one.calls, one.prompt_tokens, one.cached_tokens, one.output_tokens) == (2, 2_200, 1_000, 35)
    assert one.cost == pytest.approx((1_200 * 1.25 + 1_000 * 0.125 + 35 * 10) / 1e6)
    assert (one.is_cost_complete, two.is_cost_complete) == (True, True)
    assert found.prices_as_of >= "2026-10"


def test_a_turn_whose_model_has_no_price_says_so_and_old_turns_are_let_go() -> None:
    def called(number: int, **more: Any) -> ModelCallEntry:
        given: dict[str, Any] = {
            "model": "gemini-2.5-pro",
            "usage": Usage(prompt_tokens=10, output_tokens=1),
            "outcome": "ok",
            **more,
        }
        return ModelCallEntry(
            seq=number, id=f"e{number}", time=number, purpose="answer", subject=f"t{number}", duration_ms=1, **given
        )

    tally = Tally([called(number) for number in range(MOST_TURNS + 5)])
    assert next(iter(tally.by_turn)) == "t5"
    assert len(tally.by_turn) == MOST_TURNS
    failed: dict[str, Any] = {"outcome": "failed", "usage": None}
    known = [Tally([called(1, **more)]).by_turn["t1"].is_cost_complete for more in ({"model": "x"}, {}, failed)]
    assert known == [False, True, True]


def test_a_long_request_costs_what_long_requests_cost_as_a_whole() -> None:
    long_, short = Usage(prompt_tokens=200_001, output_tokens=1), Usage(prompt_tokens=200_000, output_tokens=1)
    for model, fresh, output in (("gemini-3.1-pro-preview", 4, 18), ("gemini-2.5-pro", 2.5, 15)):
        assert price_of(long_, model, is_local=False) == pytest.approx((200_001 * fresh + output) / 1e6)
    assert price_of(short, "gemini-2.5-pro", is_local=False) == pytest.approx((200_000 * 1.25 + 10) / 1e6)
    assert price_of(short, "unheard-of", is_local=False) is None
    assert price_of(None, "anything", is_local=True) == 0.0
