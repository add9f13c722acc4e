"""Gemini CLI's compressions beside ours (`compress.json`, `COMPANION_GOLDEN`): order of steps, statuses, calls, input,
what is kept.

Every case runs through `sessions/compression` with a scripted model, a ledger that counts by Gemini CLI's rule, and no
environment. Compared are the fields of `Outcome`. Where ours differ on purpose, `DIFFERENT` names the fields and the
reason; a difference that is not listed fails, and so does one that is listed and is not there. Left aside are hooks,
which are no part of this yet, and words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.gemini_cli_compressions import Outcome, ours, theirs
from tests.support.golden import golden_cases

REASONS: Final = {
    "alike": (
        "counts before and after are of the same request: what the cuts save is taken off, and without a cut nothing"
        " was truncated (§3.11)"
    ),
    "appendix": "what must not be lost and the snapshot leaves out stands behind it, and is counted",
    "blocks": "a text that no window holds is summarised in blocks, instead of being sent all the same (§3.7)",
    "characters": "limits are characters, not UTF-16 units, so that no pair is split",
    "count": "a count that fails is told as such, and no estimate is put in its place (§3.11)",
    "door": "a call or response that is `null` is refused where contents come in",
    "equal": "a history that did not get smaller is inflated, equal counts included (§3.11)",
    "fault": "a model's fault in an automatic run never loses the turn (§3, failure flag)",
    "file": "files are written for cuts that are installed: what is hidden stands whole in the log (§3.4)",
    "hook": "a failing hook does not stop a compression (§3.2); hooks are no part of this yet",
    "invalid": "invalid answers and thoughts are dropped before anything else (§1)",
    "log": "an earlier snapshot is known by the log, not by a tag in a text (§3.8)",
    "meter": "where nothing is there both counts are the meter's, not 0",
    "numbers": "the JSON of a response is written with its numbers as they came",
    "orphan": "results without a call are dropped before anything else (§1), and these cases have no calls",
    "repair": "an answer without a snapshot gets one repair call (§3.9)",
    "small": "outputs that are small already are left alone (§3.4)",
    "snapshot": "only a complete snapshot is taken from an answer, never a scratchpad or a bare text (§3.9)",
    "within": "a cut output stays within the limit with the lines that tell of the cut (§3.4)",
}

DIFFERENT: Final[dict[str, tuple[str, str]]] = {
    "empty_history_auto": ("counts", "meter"),
    "hook_throws_auto": ("status counts split input merges calls snapshot history", "hook"),
    "no_candidates_auto": ("calls", "repair"),
    "thought_only_verify_auto": ("counts snapshot", "snapshot"),
    "no_snapshot_tag_auto": ("status counts calls snapshot history", "snapshot repair"),
    "llm2_throws_auto": ("status counts", "fault"),
    "inflated_big_auto": ("status counts snapshot history", "snapshot"),
    "media_tail_2_auto": ("status counts snapshot history", "count"),
    "media_tail_4_auto": ("status snapshot history", "equal"),
    "empty_history_force": ("counts", "meter"),
    "hook_throws_force": ("status counts split input merges calls snapshot history", "hook"),
    "no_candidates_force": ("calls", "repair"),
    "thought_only_verify_force": ("counts snapshot", "snapshot"),
    "no_snapshot_tag_force": ("status counts calls snapshot history", "snapshot repair"),
    "inflated_big_force": ("status counts snapshot history", "snapshot"),
    "failed_before_under_force": ("status snapshot history", "equal"),
    "media_tail_2_force": ("status counts snapshot history", "count"),
    "media_tail_4_force": ("status snapshot history", "equal"),
    "budget_0": ("counts files", "appendix file"),
    "budget_failed_0": ("counts", "alike"),
    "budget_lowhead_0_trunconly": ("counts", "alike"),
    "budget_1_trunconly": ("status counts history", "alike"),
    "budget_failed_2": ("status counts history", "alike"),
    "budget_lowhead_2_trunconly": ("status counts history", "alike"),
    "budget_3_trunconly": ("counts", "alike"),
    "budget_lowhead_3": ("counts files", "appendix file"),
    "budget_failed_4": ("status counts history", "alike"),
    "budget_lowhead_4_trunconly": ("status counts history", "alike"),
    "budget_5_trunconly": ("counts", "alike"),
    "budget_lowhead_5": ("counts files", "appendix file"),
    "budget_6": ("counts files", "appendix file"),
    "budget_failed_6": ("counts", "alike"),
    "budget_lowhead_6_trunconly": ("counts", "alike"),
    "budget_7_trunconly": ("counts", "alike"),
    "budget_lowhead_7": ("counts files", "appendix file"),
    "budget_8": ("counts files", "appendix file"),
    "budget_failed_8": ("counts", "alike"),
    "budget_lowhead_8_trunconly": ("counts", "alike"),
    "budget_9_trunconly": ("counts", "alike"),
    "budget_lowhead_9": ("counts files", "appendix file"),
    "budget_10": ("counts", "within"),
    "budget_failed_10": ("counts", "alike"),
    "budget_lowhead_10_trunconly": ("counts", "alike"),
    "budget_11_trunconly": ("counts", "alike"),
    "budget_lowhead_11": ("counts files", "appendix file"),
    "budget_key_output": ("files", "file"),
    "budget_key_content": ("files", "file"),
    "budget_key_error": ("files", "file"),
    "budget_key_None": ("files", "file"),
    "budget_object_pretty": ("counts files", "numbers within"),
    "budget_output_nonstring": ("counts", "within"),
    "budget_null_response": ("counts history", "orphan within"),
    "budget_cjk": ("files", "small"),
    "budget_emoji_cut": ("counts", "characters"),
    "budget_multi_parts": ("counts split history files", "orphan"),
    "budget_id_kept": ("counts history files", "orphan"),
    "budget_noname": ("counts history files", "orphan"),
    "budget_short_over": ("split history", "orphan"),
    "budget_threshold_0": ("split history files", "orphan"),
    "budget_threshold_1": ("counts history files", "orphan"),
    "budget_threshold_100": ("counts history files", "orphan"),
    "budget_threshold_40000": ("counts history files", "orphan"),
    "budget_threshold_1000000": ("split history files", "orphan"),
    "budget_threshold_-400": ("split history files", "orphan"),
    "budget_save_fails": ("counts split history", "orphan"),
    "hifi_original": ("counts files", "appendix file"),
    "hifi_text_too_large": ("calls", "blocks"),
    "hifi_exact_limit": ("split", "invalid"),
    "prev_snapshot_truncated_input_0": ("input files", "orphan"),
    "prev_snapshot_mid_1": ("merges", "log"),
    "split_on_truncated": ("counts split history files", "orphan"),
    "budget_lowhead_1": ("counts", "appendix"),
    "budget_2": ("counts", "appendix"),
    "budget_4": ("counts", "appendix"),
    "rand_31": ("counts", "appendix"),
    "rand_3": ("status counts split input merges calls snapshot history files", "door"),
    "rand_7": ("counts split merges history", "log orphan"),
    "rand_11": ("files", "file"),
    "rand_13": ("status counts split input merges calls snapshot history files", "door"),
    "rand_19": ("status counts split input merges calls snapshot history", "invalid"),
    "rand_21": ("status counts split input merges calls files", "door"),
    "rand_23": ("counts history", "invalid orphan"),
    "rand_27": ("split", "invalid"),
    "rand_35": ("files", "file"),
    "rand_37": ("files", "file"),
}
"""By case the fields that differ, and why."""


@pytest.mark.parametrize("case", golden_cases("compress", "compress"))
async def test_a_compression_does_what_gemini_clis_does_but_for_the_listed_differences(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    their, our = theirs(case), await ours(case, tmp_path, monkeypatch)
    different = {
        field: (getattr(their, field), getattr(our, field))
        for field in Outcome.__struct_fields__
        if getattr(their, field) != getattr(our, field)
    }
    fields, reasons = DIFFERENT.get(case["id"], ("", ""))
    assert " ".join(different) == fields, different
    assert set(reasons.split()) <= set(REASONS)
