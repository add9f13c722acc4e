"""The reverse budget: what stays whole, what is cut, and what a cut leaves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gemini_companion.engine.compression.truncate import (
    MINIMUM_OUTPUT_CHARACTERS,
    OUTPUT_LIMIT_CHARACTERS,
    RESPONSE_BUDGET_TOKENS,
    output_file_name,
    plan_cuts,
    shortened,
    trim_outputs,
    whole_text,
)
from gemini_companion.engine.compression.types import Trim
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.item import Item, Measure
from gemini_companion.engine.history.part import response_of
from tests.support.examples import examples
from tests.support.logs import LEDGER, item_of, result, user


def text_tokens(content: Content) -> Measure:
    """Tokens of what the responses say, a quarter a character."""
    tokens = sum(
        len(whole_text(response)) // 4 for part in content.parts if (response := response_of(part)) is not None
    )
    return Measure(tokens + 10, tokens)


def items_of(*contents: Content) -> list[Item]:
    return [
        Item(content, seq=seq, entry_id=f"e{seq}", kind="toolResult", measure=text_tokens(content))
        for seq, content in enumerate(contents, start=1)
    ]


def trimmed(*contents: Content, budget: int = RESPONSE_BUDGET_TOKENS, limit: int = OUTPUT_LIMIT_CHARACTERS) -> Trim:
    return trim_outputs(
        items_of(*contents),
        measure=text_tokens,
        count_text=lambda text: len(text) / 4,
        tag="tag",
        path_of=lambda name: f"/private/{name}",
        budget=budget,
        limit=limit,
    )


def output_of(item: Item, part: int = 0) -> Any:
    return item.content.parts[part]["functionResponse"]["response"]["output"]


def test_the_newest_fifty_thousand_tokens_stay_whole_and_equal_counts_as_within() -> None:
    at = user(result(output="a" * 100_000))
    assert trimmed(at, at).cuts == ()
    over = trimmed(at, user(result(output="a" * 100_004)))
    assert [cut.seq for cut in over.cuts] == [1]


def test_an_old_large_output_is_cut_to_a_fifth_of_head_and_four_fifths_of_tail_within_the_limit() -> None:
    text = "".join(f"{number:07}\n" for number in range(30_000))
    cut = trimmed(user(result(output=text)), user(result(output="b" * 199_000))).cuts[0]
    assert len(cut.output) <= OUTPUT_LIMIT_CHARACTERS
    assert len(cut.output) > OUTPUT_LIMIT_CHARACTERS - 40
    head, _, tail = cut.output.partition("characters left out")
    assert head.partition("\n")[2].startswith(text[:7_900])
    assert tail.endswith(text[-31_000:])
    assert cut.path in cut.output
    assert "240,000" in cut.output
    assert cut.tokens_saved == 60_000 - len(cut.output) // 4


def test_small_outputs_are_left_alone_however_many_there_are() -> None:
    small = [user(result(output="s" * 30_000)) for _ in range(40)]
    trim = trimmed(*small)
    assert trim.cuts == ()
    assert trim.cut_items is trim.items


def test_what_is_left_of_a_cut_output_counts_on() -> None:
    outputs = [user(result(output="x" * 120_000)) for _ in range(7)]
    whole = [cut.seq for cut in trimmed(*outputs).cuts]
    assert whole == [1, 2, 3, 4, 5, 6]  # the newest takes 30,000 tokens, each cut one 10,000 more


def test_a_cut_output_counts_as_what_is_left_of_it_so_that_older_ones_may_fit_again() -> None:
    older, huge, newest = (user(result(output="x" * size)) for size in (48_000, 192_000, 20_000))
    assert [cut.seq for cut in trimmed(older, huge, newest).cuts] == [2]


def test_an_output_that_fills_the_budget_exactly_stays_beside_others_of_its_content() -> None:
    trim = trimmed(user(result(call_id="a", output="a" * 40_004), result(call_id="b", output="b" * 200_000)))
    assert [(cut.seq, cut.part) for cut in trim.cuts] == [(1, 0)]


def test_a_limit_of_nothing_plans_no_cut_of_what_is_short_already() -> None:
    items = items_of(
        user(result(output="l" * 2_001)), user(result(output="s" * 2_000)), user(result(output="n" * 200_000))
    )
    assert [cut.seq for cut in plan_cuts(items, count_text=lambda text: len(text) / 4, tag="t", limit=0)] == [1]


def test_a_path_longer_than_the_output_leaves_the_output() -> None:
    whole = "w" * 2_500
    assert shortened(whole, path="/" + "p" * 5_000, limit=2_000) == whole


def test_within_a_content_the_last_part_is_the_newest() -> None:
    trim = trimmed(
        user(result(call_id="a", output="a" * 120_000), {"text": "and"}, result(call_id="b", output="b" * 120_000))
    )
    assert [(cut.seq, cut.part) for cut in trim.cuts] == [(1, 0)]
    assert output_of(trim.cut_items[0], 2) == "b" * 120_000


def test_ids_names_and_unknown_fields_stay_and_the_item_is_not_changed() -> None:
    part: dict[str, Any] = {
        "functionResponse": {
            "id": "a",
            "name": "run",
            "response": {"output": "x" * 90_000},
            "parts": [{"text": "t"}],
            "will": 1,
        },
        "extra": [2],
    }
    trim = trimmed(user(part, {"text": "kept"}), user(result(output="y" * 180_000)))
    cut = trim.cut_items[0].content.parts
    assert cut[0] == {
        **part,
        "functionResponse": {**part["functionResponse"], "response": {"output": trim.cuts[0].output}},
    }
    assert cut[1] == {"text": "kept"}
    assert trim.items[0].content.parts[0] == part
    planned = plan_cuts(trim.items, count_text=lambda text: len(text) / 4, tag="tag")
    assert planned[0].whole == "x" * 90_000


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"output": "o", "content": "c", "error": "e"}, "o"),
        ({"output": 3, "content": "c"}, "c"),
        ("bare", "bare"),
        ({"error": "e"}, '{\n  "error": "e"\n}'),
        (None, "null"),
        ([1, {"a": True}], '[\n  1,\n  {\n    "a": true\n  }\n]'),
        ({}, "{}"),
    ],
)
def test_the_text_of_a_response_is_its_output_else_its_content_else_its_json(body: Any, text: str) -> None:
    assert whole_text({"name": "run", "response": body}) == text


def test_a_response_that_no_writer_takes_has_a_text_all_the_same() -> None:
    deep: Any = []
    for _ in range(30_000):
        deep = [deep]
    assert whole_text({"response": {"error": "\ud800"}})
    assert whole_text({"response": deep})
    assert whole_text({}) == "null"


@pytest.mark.parametrize("limit", [1, 0, -400, MINIMUM_OUTPUT_CHARACTERS])
def test_a_limit_of_nothing_leaves_a_readable_rest_and_never_grows_the_text(limit: int) -> None:
    whole = "w" * 300_000
    short = shortened(whole, path="/private/x.txt", limit=limit)
    assert MINIMUM_OUTPUT_CHARACTERS - 60 < len(short) <= MINIMUM_OUTPUT_CHARACTERS
    just_over = "w" * (MINIMUM_OUTPUT_CHARACTERS + 1)
    assert len(shortened(just_over, path="/private/x.txt", limit=limit)) <= len(just_over)


@given(st.text(max_size=60), st.integers(0, 6_000), st.integers(-10, 5_000), st.integers(0, 3_000))
@settings(max_examples=examples(100), deadline=None)
def test_shortening_never_grows_a_text_and_is_done_after_one_time(
    piece: str, times: int, limit: int, path_length: int
) -> None:
    whole, path = piece * (times // max(1, len(piece))), "/" + "p" * path_length
    short = shortened(whole, path=path, limit=limit)
    assert len(short) <= len(whole)
    bound = max(limit, MINIMUM_OUTPUT_CHARACTERS)
    if short != whole:
        assert path in short
        assert len(short) <= max(bound, path_length + 200)
    elif path_length < 1_000:
        assert len(whole) <= bound
    if path_length < 1_000:
        assert shortened(short, path=path, limit=limit) == short


def test_json_that_only_its_indentation_makes_long_is_left_alone() -> None:
    """Cut, it would be longer than it is in the request."""
    numbers = user({"functionResponse": {"name": "run", "response": {"rows": [[1]] * 9_000}}})
    assert len(whole_text(numbers.parts[0]["functionResponse"])) > OUTPUT_LIMIT_CHARACTERS > item_of(numbers, 1).weight
    trim = trim_outputs(
        [item_of(user(*numbers.parts, result(output="x" * 20_000)), 1), item_of(user(result(output="y" * 190_000)), 2)],
        measure=LEDGER.measure,
        count_text=LEDGER.count_text,
        tag="t",
        path_of=lambda name: name,
    )
    assert all(cut_item.weight <= item.weight for item, cut_item in zip(trim.items, trim.cut_items, strict=True))
    assert trim.cuts == ()


def test_only_results_are_looked_at() -> None:
    assert plan_cuts(items_of(user_text("x" * 500_000)), count_text=lambda text: len(text) / 4, tag="t") == []


OUTPUTS = st.lists(st.lists(st.integers(0, 9_000), min_size=1, max_size=3), max_size=12)


@given(OUTPUTS, st.integers(0, 8_000), st.integers(2_000, 5_000))
@settings(max_examples=examples(100), deadline=None)
@example([[2_401]], 0, 2_400)  # cut, its escaped line breaks would be longer than what is left out
def test_an_output_longer_than_the_limit_stays_whole_only_within_the_budget(
    sizes: list[list[int]], budget: int, limit: int
) -> None:
    contents = [
        user(*(result(call_id=str(index), output="x" * size) for index, size in enumerate(row))) for row in sizes
    ]
    trim = trimmed(*contents, budget=budget, limit=limit)
    cut = {(item.seq, item.part) for item in trim.cuts}
    spent = 0
    for item, cut_item in zip(reversed(trim.items), reversed(trim.cut_items), strict=True):
        for index in range(len(item.content.parts) - 1, -1, -1):
            before, after = output_of(item, index), output_of(cut_item, index)
            if (item.seq, index) in cut:
                assert len(after) < len(before)
                assert len(after) <= limit
                assert len(before) > limit
                spent += int(len(before) // 4 * limit / len(before))
            else:
                assert after == before
                tokens = len(before) // 4
                if len(before) > limit and spent + tokens > budget:
                    assert len(before) - limit < 50, "only a cut that would save nothing is not made"
                    tokens = int(tokens * limit / len(before))
                spent += tokens


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("run_shell_command", "run_shell_command_7-0_ab.txt"),
        ("MCP/tool ../x", "mcp_tool____x_7-0_ab.txt"),
        ("", "tool_7-0_ab.txt"),
        (None, "tool_7-0_ab.txt"),
    ],
)
def test_file_names_are_plain_and_unique(name: Any, file_name: str) -> None:
    assert output_file_name({"name": name}, 7, 0, "ab") == file_name
    assert len(output_file_name({"name": "x" * 500}, 7, 0, "ab")) < 90
