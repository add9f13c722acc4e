"""Gemini CLI's own answers, case by case (`COMPANION_GOLDEN`, default `../shared/golden` beside the repository).

Structure, keys, order, numbers and kinds are compared, never sentences. Where ours differ on purpose:

1. A path is told once. Gemini CLI tells a duplicate again among the other files, and lets it count towards the ten.
2. The selection is cut at 16,384 characters, not UTF-16 units, so that no surrogate pair is split; our mark for "cut"
  has other words.
3. A cursor that disappears is told (`cursorMoved` with `null`). Gemini CLI says nothing.
4. A first state without files is not taken for told, so the next files come in full. Gemini CLI sends them as changes
  (its 9.10).
5. An editor that closes everything (`null`) is told as a change of what the model believes. Gemini CLI is silent, and
  later starts in full.
6. `filesClosed` is in the order of the paths. Gemini CLI's is that of an earlier state, which no model can use.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.ide_context import (
    MAX_SELECTION,
    TRUNCATED,
    Cursor,
    EditorState,
    OpenFile,
    decide,
    normalise,
)

GOLDEN = Path(os.environ.get("COMPANION_GOLDEN", Path(__file__).parents[4] / "shared" / "golden")) / "ide_context.json"


def cases(function: str) -> list[Any]:
    if not GOLDEN.exists():
        return [
            pytest.param(None, marks=pytest.mark.skip(reason="the golden vectors are not here: set COMPANION_GOLDEN"))
        ]
    found = json.loads(GOLDEN.read_text("utf-8"))["cases"]
    return [pytest.param(expand(case), id=case["id"]) for case in found if case["fn"] == function]


def expand(value: Any) -> Any:
    """Spell out `$rep` and `$cat`, and join surrogate pairs as the door does."""
    match value:
        case {"$rep": [text, times]}:
            return expand(text) * times
        case {"$cat": pieces}:
            return "".join(map(expand, pieces))
        case dict():
            return {key: expand(each) for key, each in value.items()}
        case list():
            return [expand(each) for each in value]
        case _:
            return value


def files_of(context: dict[str, Any] | None) -> list[dict[str, Any]]:
    return ((context or {}).get("workspaceState") or {}).get("openFiles") or []


def state_of(context: dict[str, Any] | None) -> EditorState:
    return normalise(
        OpenFile(
            path=file["path"],
            last_focused_at=file["timestamp"],
            is_active=file.get("isActive", False),
            cursor=Cursor(**file["cursor"]) if "cursor" in file else None,
            selected_text=file.get("selectedText"),
        )
        for file in files_of(context)
    )


def has_duplicates(context: dict[str, Any] | None) -> bool:
    paths = [file["path"] for file in files_of(context)]
    return len(paths) != len(set(paths))


def same_text(ours: str | None, theirs: Any) -> bool:
    """Equal; or cut by both, each at its own limit (difference 2); or cut by them alone, because emojis are two of
    their units.
    """
    if not isinstance(theirs, dict):
        return (ours or "") == (theirs or "")
    assert ours is not None
    head, length = theirs["$head"], theirs["$len"]
    cut_by_them = length == MAX_SELECTION + 15  # their mark has 15 characters
    if ours.endswith(TRUNCATED):
        return ours.startswith(head[:30]) and len(ours) == MAX_SELECTION + len(TRUNCATED) and cut_by_them
    units = len(ours.encode("utf-16-le")) // 2
    return ours.startswith(head[:30]) and (units == length or (cut_by_them and units > MAX_SELECTION >= len(ours)))


def told(file: OpenFile) -> tuple[str, bool, Cursor | None]:
    return file.path, file.is_active, file.cursor


@pytest.mark.parametrize("case", cases("ideStore"))
def test_open_files_are_ordered_and_bounded_as_gemini_cli_does(case: dict[str, Any]):
    for op, expected in zip(case["input"]["ops"], case["expected"]["result"]["states"], strict=True):
        ours = state_of(op.get("set")).files
        theirs: dict[str, dict[str, Any]] = {}
        for file in files_of(expected):
            theirs.setdefault(file["path"], file)  # difference 1
        if not has_duplicates(op.get("set")):
            assert len(ours) == len(theirs)
        assert len(ours) >= len(theirs)
        for file, other in zip(ours, theirs.values(), strict=False):
            cursor = Cursor(**other["cursor"]) if "cursor" in other else None
            assert told(file) == (other["path"], other["isActive"], cursor)
            assert file.last_focused_at == other["timestamp"]
            assert same_text(file.selected_text, other.get("selectedText"))


def json_of(text: str | None) -> Any:
    return None if text is None else json.loads(text.split("\n```json\n")[1].removesuffix("\n```"))


def collapse(theirs: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Gemini CLI's full JSON with each path once (difference 1), and whether that changed it."""
    active = theirs.get("activeFile", {}).get("path")
    others = theirs.get("otherOpenFiles", [])
    distinct = [path for path in dict.fromkeys(others) if path != active]
    collapsed = (
        {**theirs, "otherOpenFiles": distinct}
        if distinct
        else {key: value for key, value in theirs.items() if key != "otherOpenFiles"}
    )
    return collapsed, distinct != others


def assert_same_json(ours: Any, theirs: Any, at: str = "$") -> None:
    """The same keys in the same order and the same values."""
    if at == "$":
        theirs, had_duplicates = collapse(theirs)
        if had_duplicates:  # theirs counted towards the ten, so ours may tell of more files
            told_by_them = len(theirs.get("otherOpenFiles", []))
            assert len(ours.get("otherOpenFiles", [])) >= told_by_them
            ours, _ = collapse({**ours, "otherOpenFiles": ours.get("otherOpenFiles", [])[:told_by_them]})
    if isinstance(theirs, dict) and "$len" not in theirs:
        assert list(ours) == list(theirs), at
        for key, value in theirs.items():
            assert_same_json(ours[key], value, f"{at}.{key}")
    elif at.endswith(".filesClosed"):
        assert ours == sorted(theirs), at  # difference 6
    elif at.endswith(".selectedText"):
        assert same_text(ours, theirs), at
    else:
        assert ours == theirs, at


def next_message(last: EditorState | None, now: EditorState, *, full: bool) -> Any:
    baseline = (
        decide(None, last, client="c", epoch=1, previous_turn_client=None, call_open=False).baseline if last else None
    )
    return decide(baseline, now, client="c", epoch=2 if full else 1, previous_turn_client="c", call_open=False)


@pytest.mark.parametrize("case", cases("ideMessage"))
def test_a_message_has_gemini_clis_json(case: dict[str, Any]):
    given, expected = case["input"], case["expected"]["result"]["text"]
    send = next_message(
        state_of(given["last"]) if "last" in given else None, state_of(given["current"]), full=given["forceFull"]
    )
    if isinstance(expected, dict):  # a long text: 16,384 characters of selection
        selection = json_of(send.text)["activeFile"]["selectedText"]
        assert selection.startswith("q" * 16_383)
        return
    theirs = json_of(expected)
    if theirs is None:
        assert send.text is None
    else:
        assert_same_json(json_of(send.text), theirs)


def sends(case: dict[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """Play the steps: for each prompt sent what Gemini CLI did, and our kind and JSON."""
    steps = [step for step in case["input"]["steps"] if step["op"] != "ide"]
    results = iter(zip(steps, case["expected"]["result"], strict=True))
    now, baseline, previous = EditorState(), None, None
    epoch, call_open = 1, False
    played: list[tuple[dict[str, Any], str, Any]] = []
    for step in case["input"]["steps"]:
        if step["op"] == "ide":
            now = state_of(step["ctx"])
            continue
        _, result = next(results)
        if step["op"] == "reset":
            epoch, call_open = epoch + 1, False
        elif step["op"] == "compress":
            epoch += result["forceFullAfter"]  # it changed the view
        else:
            epoch += "llm" in step  # compressed on the way
            send = decide(baseline, now, client="c", epoch=epoch, previous_turn_client=previous, call_open=call_open)
            baseline, previous = send.baseline, "c"
            played.append((result, send.kind, json_of(send.text)))
            call_open = any("functionCall" in part for chunk in step["stream"] for part in chunk.get("parts", []))
    return played


OTHER_KINDS = {
    "seq_empty_ctx": ["none", "full"],  # difference 4
    "seq_rand_34": ["none", "none", "full", "none", "none"],  # difference 4
    "seq_cleared_then_back": ["full", "delta", "delta"],  # difference 5
    "seq_rand_42": ["full", "none", "delta"],  # difference 5
}
CURSOR_GONE = "seq_rand_46"  # difference 3


@pytest.mark.parametrize("case", cases("ideSequence"))
def test_over_a_whole_session_the_same_is_sent_at_the_same_time(case: dict[str, Any]):
    played = sends(case)
    theirs = [
        (result["injected"] or [{"kind": "none"}])[0] for result, _, _ in played
    ]  # no injection: held back while a call is open
    assert [kind for _, kind, _ in played] == OTHER_KINDS.get(case["id"], [each["kind"] for each in theirs])
    gone = [
        ours["changes"].pop("cursorMoved") for _, kind, ours in played if case["id"] == CURSOR_GONE and kind == "delta"
    ]
    assert [moved["cursor"] for moved in gone] == [None] * (case["id"] == CURSOR_GONE)
    for (_, kind, ours), each in zip(played, theirs, strict=True):
        if kind == each["kind"] != "none":
            assert_same_json(ours, each["json"])
