"""Gemini CLI's curated histories beside ours (`history.json`, `COMPANION_GOLDEN`).

Ours stay unmerged in the history (behaviour §1); here both are compared as a request has them, neighbours merged. Each
wanted difference is a function that turns Gemini CLI's view into ours, with its reason, and `DIFFERENT` says in which
cases which of them matter: a difference that is not listed fails, and so does one that is listed and is not there.

Of the file's other functions `hardenHistory` is compared below. `stripToolCallIdPrefixes` has no counterpart: our ids
have no prefix to strip. `classifierContents` and `parseThought` are about routing and thoughts, which are no part of
the history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content, merge_neighbours
from gemini_companion.engine.history.curation import INTERRUPTED, curate
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.history.item import Item, Measure
from tests.support.golden import digested, expand, golden_cases

View = list[dict[str, Any]]


def thoughts_stripped(view: View) -> View:
    """Gemini 1.5 gets its thoughts back from Gemini CLI. No API needs them, and a view must not depend on the model's
    name.
    """
    stripped: View = []
    for content in view:
        parts = [part for part in content.get("parts", []) if part.get("thought") is not True]
        if len(parts) < len(content.get("parts", [])):
            for part in parts:
                if "functionCall" in part:
                    part.setdefault("thoughtSignature", "skip_thought_signature_validator")
                    break
            content = {**content, "parts": parts}
        stripped.append(content)
    return stripped


def empty_contents_dropped(view: View) -> View:
    """A content without parts says nothing, and the API refuses it. Gemini CLI keeps one whose `parts` is absent, and all
    of them for Gemini 1.5.
    """
    return [content for content in view if content.get("parts")]


def neighbours_merged(view: View) -> View:
    """Gemini CLI merges for Gemini 2 and 3, we for every model."""
    merged: View = []
    for content in view:
        if merged and merged[-1]["role"] == content["role"]:
            merged[-1] = {"role": content["role"], "parts": [*merged[-1]["parts"], *content["parts"]]}
        else:
            merged.append(content)
    return merged


def results_paired(view: View) -> View:
    """Results without a call are dropped and missing ones filled: the API refuses a request in which they do not match.
    Gemini CLI sends them.
    """
    paired: View = []
    for index, content in enumerate(view):
        calls = (
            [part["functionCall"] for part in view[index - 1]["parts"] if part.get("functionCall")]
            if index and view[index - 1]["role"] == "model"
            else []
        )
        if content["role"] == "model":
            paired.append(content)
            if (index + 1 == len(view)) and any(part.get("functionCall") for part in content["parts"]):
                paired.append(
                    {
                        "role": "user",
                        "parts": [
                            _interrupted(part["functionCall"]) for part in content["parts"] if part.get("functionCall")
                        ],
                    }
                )
            continue
        open_ids = [call["id"] for call in calls]
        parts: list[Any] = []
        for part in content["parts"]:
            response = part.get("functionResponse")
            if response is None:
                parts.append(part)
            elif response["id"] in open_ids:
                open_ids.remove(response["id"])
                parts.append(part)
        missing = [_interrupted(call) for call in calls if call["id"] in open_ids]
        paired.append({"role": "user", "parts": [*missing, *parts]})
    return neighbours_merged(empty_contents_dropped(paired))


def _interrupted(call: dict[str, Any]) -> dict[str, Any]:
    return {"functionResponse": {"id": call["id"], "name": call["name"], "response": {"error": INTERRUPTED}}}


def invented_ids_numbered(view: View, given: set[str]) -> View:
    """Invented ids have another form; here, on both sides, each becomes a number."""
    numbers: dict[str, str] = {}

    def numbered(part: dict[str, Any]) -> dict[str, Any]:
        for key in ("functionCall", "functionResponse"):
            if isinstance(body := part.get(key), dict) and "id" in body and body["id"] not in given:
                part = {**part, key: {**body, "id": numbers.setdefault(body["id"], f"#{len(numbers)}")}}
        return part

    return [{**content, "parts": [numbered(part) for part in content["parts"]]} for content in view]


DIFFERENCES: dict[str, Callable[[View], View]] = {
    "thoughts": thoughts_stripped,
    "empty": empty_contents_dropped,
    "merged": neighbours_merged,
    "paired": results_paired,
}

DIFFERENT: dict[str, str] = {
    "bad_model_gemini-1.5-pro": "merged",
    "bad_among_models_gemini-1.5-pro": "merged",
    "empty_parts_model_ok_gemini-1.5-pro": "empty merged",
    "noparts_model_gemini-2.5-pro": "empty merged",
    "noparts_model_gemini-1.5-pro": "empty merged",
    "empty_part_obj_gemini-1.5-pro": "merged",
    "user_bad_kept_gemini-1.5-pro": "empty",
    "thought_empty_gemini-1.5-pro": "thoughts empty",
    "thought_only_gemini-1.5-pro": "thoughts empty merged",
    "thought_then_call_gemini-2.5-pro": "paired",
    "thought_then_call_gemini-1.5-pro": "thoughts paired",
    "coalesce_gemini-2.5-pro": "empty",
    "coalesce_gemini-1.5-pro": "empty merged",
    "call_resp_then_text_gemini-2.5-pro": "ids",
    "call_resp_then_text_gemini-1.5-pro": "merged ids",
    "ids_pair_gemini-2.5-pro": "ids",
    "ids_pair_gemini-1.5-pro": "ids",
    "ids_orphan_gemini-2.5-pro": "paired ids",
    "ids_orphan_gemini-1.5-pro": "paired ids",
    "rand_3": "paired",
    "rand_5": "merged paired ids",
    "rand_7": "empty merged paired",
    "rand_11": "thoughts empty paired ids",
    "rand_13": "merged paired ids",
    "rand_15": "merged paired ids",
    "rand_17": "paired",
    "rand_21": "paired",
    "rand_25": "empty merged",
    "rand_27": "paired ids",
    "rand_31": "paired",
    "rand_33": "paired",
    "rand_35": "paired ids",
    "rand_39": "paired",
}
"""By case, the differences that matter there; `ids` are the invented ones."""


def curated(contents: list[Content]) -> View:
    items = [
        Item(content, seq=number, entry_id=f"e{number}", kind="prompt", measure=Measure(1, 0))
        for number, content in enumerate(contents, start=1)
    ]
    merged = merge_neighbours(
        item.content for item in curate(items, lambda _: Measure(1, 0), close=True) if item.content.parts
    )
    return digested([msgspec.to_builtins(content) for content in merged])


@pytest.mark.parametrize("case", golden_cases("history", "curatedHistory"))
def test_curation_gives_gemini_clis_view_but_for_the_listed_differences(case: dict[str, Any]) -> None:
    history, expected = expand(case["input"]["history"]), case["expected"]
    if "error" in expected:
        with pytest.raises(InvalidInput):
            decode_contents(history)
        return
    ours = curated([msgspec.convert(content, Content) for content in history])
    theirs: View = digested(expected["result"]["curated"])
    mattered: list[str] = []
    for name, difference in DIFFERENCES.items():
        changed = difference(theirs)
        mattered += [name] if changed != theirs else []
        theirs = changed
    given = {
        call["id"]
        for content in history
        for part in content.get("parts", [])
        for call in part.values()
        if isinstance(call, dict) and "id" in call
    }
    numbered = invented_ids_numbered(theirs, given)
    mattered += ["ids"] if numbered != theirs else []
    assert invented_ids_numbered(ours, given) == numbered
    assert " ".join(mattered) == DIFFERENT.get(case["id"], "")


HARDENED_OTHERWISE: dict[str, str] = {
    "harden_3": (
        "an invalid answer drops its whole run here, call and all; Gemini CLI mends it and invents a call for the orphan"
        " result"
    ),
    "harden_11": "Gemini CLI invents a call for an orphan result; here the result is dropped",
}


@pytest.mark.parametrize("case", golden_cases("history", "hardenHistory"))
def test_what_gemini_cli_hardens_is_valid_here_too(case: dict[str, Any]) -> None:
    """Gemini CLI's fillers ("continue") and its signatures on calls without a thought are not ours: the environment comes
    first in a request.
    """
    ours = curated([msgspec.convert(content, Content) for content in expand(case["input"]["history"])])
    if case["id"] in HARDENED_OTHERWISE:
        calls = [part["functionCall"]["id"] for content in ours for part in content["parts"] if "functionCall" in part]
        results = [
            part["functionResponse"]["id"]
            for content in ours
            for part in content["parts"]
            if "functionResponse" in part
        ]
        assert calls == results
        return
    expected = [content for content in case["expected"]["result"] if content["parts"] != [{"text": "Please continue."}]]
    theirs = [
        {
            **content,
            "parts": [
                {key: value for key, value in part.items() if key != "thoughtSignature"} for part in content["parts"]
            ],
        }
        for content in expected
    ]
    assert ours == digested(theirs)
