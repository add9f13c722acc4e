"""Gemini CLI's loop detection by its own vectors: the same loops at the same events, but for what is listed."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gemini_companion.engine.loops.chanting import Chanting
from gemini_companion.engine.loops.cycles import CallCycles, digest_of
from gemini_companion.engine.loops.opinion import SURE, Opinion, Schedule
from tests.support.golden import expand, golden_cases

DIFFERENT: Final = {
    "tool_key_order": "equal calls are equal whatever the order of their arguments",
    "plus_minus_range": "Gemini CLI takes any row of signs, digits and capitals for a divider",
    "chars": "and so hears nothing of a text that comes in single characters",
    "tool_resets_content": "a text that is repeated over several rounds is a loop too",
    "loop_content": "behind a loop the count begins anew; Gemini CLI finds the same one again at once",
    "clear_content": "the same",
    "recover_second": "the same for calls",
}
"""Cases that end otherwise here, and why."""

_KINDS = {"consecutive_identical_tool_calls": "calls", "chanting_identical_sentences": "text"}


class Detector:
    """Our parts, driven by the vectors' events. Results of calls are not in them: they count as equal."""

    def __init__(self) -> None:
        self.is_on = True
        self.begin()

    def begin(self) -> None:
        self.count = 0
        self.clear()

    def clear(self) -> None:
        self.found = ""
        self.chanting, self.cycles = Chanting(), CallCycles()

    def take_in(self, event: dict[str, Any]) -> None:
        if not self.is_on or self.found:
            return
        if event["type"] == "content":
            self.found = "text" if self.chanting.feed(expand(event["value"])) else ""
        else:
            key = digest_of(event["value"])
            self.found = "calls" if self.cycles.add(key, "") else ""
            chant = self.chanting.end_answer() or self.chanting.mark(key)
            self.found = self.found or ("text" if chant else "")
        self.count += bool(self.found)


@pytest.mark.parametrize(
    "case", [case for case in golden_cases("loop_detection", "loopDetection") if "llm" not in str(case.id)]
)
def test_calls_and_texts_are_loops_where_they_are_for_gemini_cli(case: dict[str, Any]) -> None:
    detector, ours = Detector(), list[Any]()
    for event in case["input"]["events"]:
        for _ in range(event.get("times", 1)):
            match event["type"]:
                case "reset":
                    detector.begin()
                    continue
                case "clear":
                    detector.clear()
                    continue
                case "disable":
                    detector.is_on = False
                    continue
                case _:
                    detector.take_in(event)
            ours.append((detector.count, detector.found) if detector.found and detector.is_on else 0)
    theirs = [(one["count"], _KINDS[one["type"]]) if one else 0 for one in case["expected"]["result"]["results"]]
    if case["id"] in DIFFERENT:
        assert ours != theirs, "a difference that is listed and is none any more"
    else:
        assert ours == theirs


@pytest.mark.parametrize("case", golden_cases("loop_detection", "loopDetection", prefix="llm"))
def test_a_model_is_asked_after_as_many_rounds_as_by_gemini_cli_and_believed_as_much(case: dict[str, Any]) -> None:
    """A second model confirms. Where Gemini CLI has none, the first is believed alone; here the same where both are one."""
    answers = iter(case["input"].get("llm", []))
    confirms = case["input"].get("doubleCheckAvailable", True)
    schedule, asked, found = Schedule(), 0, 0
    rounds = sum(event.get("times", 1) for event in case["input"]["events"] if event["type"] == "turn")
    for number in range(1, rounds + 1):
        if found or not schedule.is_due(number):
            continue
        for last in (not confirms, True):
            asked += 1
            confidence = next(answers, {}).get("unproductive_state_confidence")
            if not isinstance(confidence, int | float):
                break
            if confidence < SURE or last:
                schedule.take_in(Opinion(confidence, ""))
                found = number if confidence >= SURE else 0
                break
    results = case["expected"]["result"]["results"]
    assert found == next((number for number, one in enumerate(results, start=1) if one), 0)
    assert asked == len(case["expected"]["result"]["llmRequests"])
