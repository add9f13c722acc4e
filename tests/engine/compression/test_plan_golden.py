"""Gemini CLI's cuts and splits (`compress.json`, `COMPANION_GOLDEN`) beside `trim_outputs` and `plan_compression`, on
the histories as they came.

Sessions curate a history first, which drops the results without calls that many of these cases are made of; that is why
they are compared here too, item by item. `tests/sessions/test_compress_golden.py` compares whole compressions.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from gemini_companion.engine.compression.strategies.split import SplitStrategy
from gemini_companion.engine.compression.truncate import (
    MINIMUM_OUTPUT_CHARACTERS,
    OUTPUT_LIMIT_CHARACTERS,
    plan_cuts,
    trim_outputs,
)
from gemini_companion.engine.compression.types import LogState, Trim
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.history.item import Item
from tests.support.gemini_cli_counting import GeminiCliLedger
from tests.support.golden import digested, expand, golden_cases

REFUSED: Final = frozenset({"rand_3", "rand_13", "rand_21"})
"""Cases with a call or response that is `null`, which is refused where contents come in."""

CUT_OTHERWISE: Final = {
    "budget_object_pretty": "the JSON of a response is written with its numbers as they came",
    "rand_35": "limits are characters, not UTF-16 units, so that no pair is split: outputs of emoji are half as long",
    "rand_37": "limits are characters, not UTF-16 units",
}

_RESULTS_FOLLOW: Final = (
    "a text is no place to split where results of the calls before it follow, and here they do (without any calls)"
)
SPLIT_OTHERWISE: Final = {
    "budget_id_kept": _RESULTS_FOLLOW,
    "budget_noname": _RESULTS_FOLLOW,
    "budget_threshold_1": _RESULTS_FOLLOW,
    "budget_threshold_100": _RESULTS_FOLLOW,
    "budget_threshold_40000": _RESULTS_FOLLOW,
    "rand_7": _RESULTS_FOLLOW,
}


def trimmed(case: dict[str, Any]) -> Trim:
    ledger = GeminiCliLedger()
    items = [
        Item(content, seq=seq, entry_id=f"e{seq}", kind="prompt", measure=ledger.measure(content))
        for seq, content in enumerate(decode_contents(expand(case["input"]["history"])), start=1)
    ]
    return trim_outputs(
        items,
        measure=ledger.measure,
        count_text=ledger.count_text,
        tag="t",
        path_of=lambda name: name,
        limit=limit_of(case),
    )


def limit_of(case: dict[str, Any]) -> int:
    return case["input"].get("truncateThreshold", OUTPUT_LIMIT_CHARACTERS)


def wholes_of(case: dict[str, Any], trim: Trim) -> list[str]:
    """The whole texts of what was cut, oldest first."""
    planned = plan_cuts(trim.items, count_text=GeminiCliLedger().count_text, tag="t", limit=limit_of(case))
    cut = {(each.seq, each.part) for each in trim.cuts}
    return [each.whole for each in planned if (each.seq, each.part) in cut]


def length_of(text: Any) -> int:
    return text["$len"] if isinstance(text, dict) else len(text)


@pytest.mark.parametrize("case", golden_cases("compress", "compress"))
def test_gemini_clis_outputs_are_cut_but_for_small_ones(case: dict[str, Any]) -> None:
    if case["id"] in REFUSED:
        with pytest.raises(InvalidInput):
            trimmed(case)
        return
    trim = trimmed(case)
    result = case["expected"]["result"]
    if not result["hooks"] or (not result["files"] and result["nCalls"] == 0 and result.get("status") != 6):
        return  # Gemini CLI ended before it came to the outputs
    limit = max(limit_of(case), MINIMUM_OUTPUT_CHARACTERS)
    large = [
        file for file in digested([file["content"] for file in result["files"]]) if length_of(file) > limit
    ]  # Gemini CLI writes small ones too
    ours = wholes_of(case, trim)[::-1]
    if case["id"] in CUT_OTHERWISE:
        assert digested(ours) != large
    elif not case["input"].get("breakSave"):
        assert digested(ours) == large
    assert all(len(cut.output) <= limit for cut in trim.cuts)


@pytest.mark.parametrize("case", golden_cases("compress", "compress"))
def test_gemini_clis_split_is_found_on_the_cut_history(case: dict[str, Any]) -> None:
    calls = case["expected"]["result"]["calls"]
    if case["id"] in REFUSED or not calls:
        return
    plan = SplitStrategy().plan(trimmed(case), LogState(1))
    if case["id"] in SPLIT_OTHERWISE:
        assert plan is None or plan.split_at > calls[0]["historyTo"]
        return
    assert plan is not None
    assert plan.split_at == calls[0]["historyTo"]
    assert plan.acknowledge
    assert plan.kept == []
