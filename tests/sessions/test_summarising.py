"""What the summariser is given: the originals if they fit, else the cut ones, else blocks whose snapshots are merged
(behaviour §3.7, §3.8).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

from gemini_companion.engine.compression.instructions import (
    FIRST_REQUEST,
    MERGE_REQUEST,
    REPAIR_REQUEST,
    SYSTEM_INSTRUCTION,
    VERIFY_REQUEST,
)
from gemini_companion.engine.compression.types import Plan
from gemini_companion.engine.facts.neutralise import SECTIONS, neutralise
from gemini_companion.engine.history.part import visible_text
from gemini_companion.sessions.compression.summariser import ANSWER_TOKENS, Summariser
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.retry import RetryBudget
from tests.support.logs import LEDGER, Book
from tests.support.scripted_model import ScriptedModel, snapshot_with
from tests.support.sessions import ManualClock


def planned(*, outputs: int = 0, talk: int = 0, words: int = 100, budget: int = 1_000) -> Plan:
    """A plan that hides everything: tool rounds of 10,000 tokens, and turns of talk."""
    book = Book(budget=budget, limit=2_000)
    for number in range(talk):
        book.say(f"question {number} " + "word " * words, f"answer {number} " + "text " * words)
    book.prompt("go")
    for number in range(outputs):
        book.round(number, f"output {number} " + "x" * 40_000)
    book.reply("done")
    plan = book.plan()
    assert plan is not None
    return plan


class Summary(NamedTuple):
    """The snapshot, and the calls that it took."""

    snapshot: str | None
    calls: int


async def summarised(
    plan: Plan, model: ScriptedModel, *, window: int = 1_000_000, guidance: str = ""
) -> tuple[Summary, list[Any]]:
    told: list[Any] = []
    summariser = Summariser(
        provider=model,
        model="gemini-2.5-pro",
        window=window,
        ledger=LEDGER,
        retries=RetryBudget(ManualClock(), 20.0),
        prompt_id="c1",
        nonce="n0nce",
        report=lambda phase, block, blocks: told.append((phase, block, blocks)),
    )
    written = await summariser.summarise(plan, guidance)
    return Summary(written and written.snapshot, summariser.calls), told


def asked(request: ModelRequest) -> str:
    return "".join(part["text"] for part in request.contents[0].parts)


def tokens(request: ModelRequest) -> float:
    return sum(LEDGER.count_text(visible_text(content)) for content in request.contents)


async def test_the_original_outputs_are_summarised_where_they_fit() -> None:
    model = ScriptedModel()
    await summarised(planned(outputs=4), model)
    assert "[Shortened" not in asked(model.requests[0])
    assert asked(model.requests[0]).count("x" * 40_000) == 4


@pytest.mark.parametrize(("window", "fits"), [(56_000, True), (53_000, False)])
async def test_fitting_counts_the_quoted_prompt_and_room_for_two_answers(window: int, fits: bool) -> None:
    model = ScriptedModel()
    await summarised(planned(outputs=4), model, window=window)
    assert ("[Shortened" not in asked(model.requests[0])) == fits
    assert len(model.requests) == 2
    assert tokens(model.requests[0]) + 2 * min(ANSWER_TOKENS, window // 8) <= window


async def test_where_even_the_cut_outputs_do_not_fit_the_oldest_are_summarised_in_blocks_and_merged() -> None:
    model = ScriptedModel()
    plan = planned(talk=60, words=400)
    model.answers = [snapshot_with(f"block {number}") for number in range(20)]
    summary, told = await summarised(plan, model, window=16_000)
    blocks = [request for request in model.requests if "-block-" in request.prompt_id]
    assert len(blocks) >= 2
    assert summary.calls == len(blocks) + 2
    for number, request in enumerate(blocks[1:], start=1):
        assert neutralise(snapshot_with(f"block {number - 1}")) in asked(request)
        assert MERGE_REQUEST in asked(request)
    data = "".join(asked(request) for request in model.requests[: len(blocks) + 1])
    indexes = [int(index) for index in re.findall(r"^<<<content (\d+) \w+ n0nce$", data, re.MULTILINE)]
    assert indexes == list(range(len(plan.hidden)))
    assert all(tokens(request) <= 16_000 for request in model.requests)
    assert told[0] == ("summarising", 1, len(blocks) + 1)


async def test_one_text_larger_than_any_window_is_cut_in_the_middle() -> None:
    model = ScriptedModel()
    summary, _ = await summarised(planned(talk=1, words=60_000), model, window=16_000)
    assert summary.snapshot is not None
    assert any("characters left out" in asked(request) for request in model.requests)
    assert all(tokens(request) <= 16_000 for request in model.requests)


async def test_a_block_without_a_snapshot_gets_one_repair_call_and_then_ends_it_all() -> None:
    model = ScriptedModel()
    model.default_answer = "no snapshot"
    summary, _ = await summarised(planned(talk=60, words=400), model, window=16_000)
    assert summary == (None, 2)
    assert "no complete <state_snapshot>" in visible_text(model.requests[1].contents[-1])


async def test_two_calls_in_sequence_write_and_verify_and_the_second_repeats_the_first() -> None:
    model = ScriptedModel()
    summary, told = await summarised(planned(talk=4), model, guidance="keep the ports")
    first, second = model.requests
    assert (first.prompt_id, second.prompt_id) == ("c1", "c1-verify")
    assert {request.role for request in model.requests} == {"utility_compressor"}
    assert second.contents[: len(first.contents)] == first.contents
    assert visible_text(second.contents[-1]) == VERIFY_REQUEST
    assert first.system_instruction == second.system_instruction
    assert FIRST_REQUEST in asked(first)
    assert asked(first).endswith("keep the ports")
    assert [phase for phase, _, _ in told] == ["summarising", "verifying"]
    assert summary.calls == 2


@pytest.mark.parametrize(
    ("answers", "snapshot", "calls"),
    [
        ([snapshot_with("one"), snapshot_with("two")], "two", 2),
        ([snapshot_with("one"), ""], "one", 2),
        ([snapshot_with("one"), "looks complete"], "one", 2),
        ([snapshot_with("one"), SYSTEM_INSTRUCTION], "one", 2),
        (["", snapshot_with("two")], "two", 2),
        (["none", "none", snapshot_with("three")], "three", 3),
        ([SYSTEM_INSTRUCTION, SYSTEM_INSTRUCTION, snapshot_with("three")], "three", 3),
        ([SYSTEM_INSTRUCTION] * 3, None, 3),
        (["none", "none", "none"], None, 3),
        (["<state_snapshot>cut off", "<scratchpad><state_snapshot>draft</state_snapshot></scratchpad>", ""], None, 3),
    ],
)
async def test_which_answer_counts(answers: list[str], snapshot: str | None, calls: int) -> None:
    model = ScriptedModel()
    model.answers = list(answers)
    summary, _ = await summarised(planned(talk=4), model)
    assert summary == (None if snapshot is None else snapshot_with(snapshot), calls)


async def test_a_repair_says_what_is_missing() -> None:
    model = ScriptedModel()
    model.answers = ["<state_snapshot>a</state_snapshot>", ""]
    await summarised(planned(talk=4), model)
    asked_for = visible_text(model.requests[2].contents[-1])
    assert asked_for == REPAIR_REQUEST.format(lack=f"These sections are missing: {', '.join(SECTIONS)}.")


async def test_the_offline_model_reads_the_contents_themselves_and_no_window_limits_it() -> None:
    model = ScriptedModel("offline")
    plan = planned(talk=60, words=400)
    summary, _ = await summarised(plan, model, window=1_000)
    assert summary.calls == 1
    (task,) = model.tasks
    assert model.requests == []
    assert [source.content for source in task.sources] == [item.content for item in plan.hidden]
    assert task.budget_tokens == plan.hidden_tokens // 5
