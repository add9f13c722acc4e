"""From the view to what may be sent: invalid answers, pairs of calls and results, ids, thoughts."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.history.content import Content, Part, merge_neighbours, model_text, user_text
from gemini_companion.engine.history.curation import INTERRUPTED, curate
from gemini_companion.engine.history.item import Item, Shape, shape_of
from tests.support.logs import LEDGER, call, item_of, model, result, user


def curated(*contents: Content, close: bool = True) -> list[Content]:
    return [item.content for item in curate_items(*contents, close=close)]


def curate_items(*contents: Content, close: bool = True) -> list[Item]:
    return curate([item_of(content, seq) for seq, content in enumerate(contents, start=1)], LEDGER.measure, close=close)


def interrupted(name: str, call_id: str) -> Part:
    return {"functionResponse": {"id": call_id, "name": name, "response": {"error": INTERRUPTED}}}


HELLO, ASK, ANSWER = user_text("hello"), user_text("and?"), model_text("so")


@pytest.mark.parametrize(
    "bad",
    [
        model({}),
        model({"text": ""}),
        model({"text": "", "thought": False}),
        model({"text": "", "callIndex": 1}),
        model({"text": 3}),
        model({"text": "fine"}, {"text": ""}),
        model({"functionCall": {"args": {}}}),
        model({"functionCall": {"name": ""}}),
        model({"functionCall": {"name": 7}}),
        model({"functionCall": "run"}),
        model({"text": "hm", "thought": True}, {}),
    ],
)
def test_an_invalid_answer_drops_its_whole_run_and_nothing_else(bad: Content) -> None:
    assert curated(HELLO, ANSWER, bad, model_text("more"), ASK) == [HELLO, ASK]
    assert curated(HELLO, ANSWER, ASK, bad) == [HELLO, ANSWER, ASK]


@pytest.mark.parametrize(
    "good",
    [
        model({"text": "", "thoughtSignature": "s"}),
        model({"executableCode": {"code": "1"}}),
        model({"inlineData": {"mimeType": "image/png", "data": ""}}),
        model({"unknown": None}),
        model({"text": "x", "citationMetadata": {"deep": [1]}}),
    ],
)
def test_an_answer_with_anything_in_it_stays_as_it_is(good: Content) -> None:
    assert curated(HELLO, good, ASK) == [HELLO, good, ASK]


def test_user_contents_stay_even_empty_ones() -> None:
    empty = user(), user({"text": ""}), user({})
    assert curated(*empty, ANSWER) == [*empty, ANSWER]


def test_an_answer_without_parts_vanishes_without_spoiling_its_run() -> None:
    assert curated(HELLO, ANSWER, model(), Content(role="model"), ASK) == [HELLO, ANSWER, ASK]


def test_contents_that_need_no_change_come_back_as_the_same_objects() -> None:
    items = [
        item_of(content, seq)
        for seq, content in enumerate([HELLO, model(call(call_id="a")), user(result(call_id="a")), ANSWER], start=1)
    ]
    assert all(before is after for before, after in zip(items, curate(items, LEDGER.measure, close=True), strict=True))


def test_a_round_that_was_fine_is_read_anew_when_a_further_answer_joins_it() -> None:
    items = [item_of(content, seq) for seq, content in enumerate([HELLO, ANSWER, model({"text": ""})], start=1)]
    curate(items[:2], LEDGER.measure, close=True)
    assert [item.content for item in curate(items, LEDGER.measure, close=True)] == [HELLO]


# --- thoughts


def test_thoughts_are_stripped_and_the_first_call_gets_the_signature_that_the_api_takes_in_their_place() -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": "S"}
    stripped = curated(HELLO, model(thought, {"text": "I will"}, call("a", "1"), call("b", "2")), close=False)[1]
    assert stripped.parts[0] == {"text": "I will"}
    assert stripped.parts[1] == {**call("a", "1"), "thoughtSignature": "skip_thought_signature_validator"}
    assert stripped.parts[2] == call("b", "2")


def test_a_calls_own_signature_stays() -> None:
    signed = {**call("a", "1"), "thoughtSignature": "its own"}
    assert curated(HELLO, model({"text": "hm", "thought": True}, signed), close=False)[1].parts == (signed,)
    assert curated(HELLO, model(signed), close=False)[1].parts == (signed,)


def test_an_answer_of_thoughts_alone_vanishes_and_its_neighbours_stay() -> None:
    assert curated(HELLO, model({"text": "hm", "thought": True}), ANSWER, ASK) == [HELLO, ANSWER, ASK]


# --- calls and results


def test_a_result_without_a_call_is_dropped_and_what_stands_beside_it_stays() -> None:
    assert curated(HELLO, ANSWER, user(result("run", "x"), {"text": "look"}), user(result("run", "y"))) == [
        HELLO,
        ANSWER,
        user({"text": "look"}),
    ]
    assert curated(user(result("run", "x"))) == []


def test_results_of_a_call_in_an_invalid_answer_are_dropped_with_it() -> None:
    assert curated(HELLO, model(call(call_id="a"), {}), user(result(call_id="a")), ANSWER) == [HELLO, ANSWER]


def test_a_missing_result_is_filled_with_one_that_says_so_right_behind_its_calls() -> None:
    calls = model(call("run", "a"), call("read", "b"))
    assert curated(HELLO, calls, user(result("read", "b")), ANSWER) == [
        HELLO,
        calls,
        user(interrupted("run", "a")),
        user(result("read", "b")),
        ANSWER,
    ]
    assert curated(HELLO, calls, user_text("never mind")) == [
        HELLO,
        calls,
        user(interrupted("run", "a"), interrupted("read", "b")),
        user_text("never mind"),
    ]


def test_the_last_answers_calls_stay_open_until_somebody_closes_them() -> None:
    calls = model(call("run", "a"))
    assert curated(HELLO, calls, close=False) == [HELLO, calls]
    assert curated(HELLO, calls, close=True) == [HELLO, calls, user(interrupted("run", "a"))]
    assert [item.kind for item in curate_items(HELLO, calls)] == ["prompt", "prompt", "filled"]


def test_ids_are_paired_in_order_where_absent() -> None:
    calls = model(call("run", command="1"), call("run", command="2"), call("read"))
    found = curated(
        HELLO, calls, user(result("read", output="r"), result("run", output="1"), result("run", output="2"))
    )
    ids = [part["functionCall"]["id"] for part in found[1].parts]
    assert len(set(ids)) == 3
    outputs = {
        part["functionResponse"]["id"]: part["functionResponse"]["response"]["output"] for part in found[2].parts
    }
    assert outputs == {ids[0]: "1", ids[1]: "2", ids[2]: "r"}


def test_invented_ids_are_the_same_every_time_and_never_one_that_is_there() -> None:
    clash = model(call("run", "run-2-1"), call("run"))
    first, again = curated(HELLO, clash, ASK), curated(HELLO, clash, ASK)
    assert first == again
    ids = [part["functionCall"]["id"] for part in first[1].parts]
    assert ids[0] == "run-2-1" != ids[1]


def test_a_result_that_names_its_call_gets_it_whatever_stands_before_it() -> None:
    calls = model(call("run", "1"), call("run", "2"))
    found = curated(HELLO, calls, user(result("run", output="nameless"), result("run", "1", "first")))
    assert [part["functionResponse"]["id"] for part in found[2].parts] == ["2", "1"]


def test_an_id_that_stands_twice_in_a_round_is_told_apart() -> None:
    calls = model(call("run", "a", command="1"), call("run", "a", command="2"))
    found = curated(HELLO, calls, user(result("run", "a", "1"), result("run", "a", "2")), ANSWER)
    ids = [part["functionCall"]["id"] for part in found[1].parts]
    assert ids[0] == "a" != ids[1]
    assert [
        (part["functionResponse"]["id"], part["functionResponse"]["response"]["output"]) for part in found[2].parts
    ] == [
        (ids[0], "1"),
        (ids[1], "2"),
    ]


def test_of_two_calls_with_one_id_a_result_finds_the_one_of_its_name() -> None:
    found = curated(
        HELLO,
        model(call("run", "a"), call("read", "a")),
        user(result("read", "a", "r"), result("run", "a", "x")),
        ANSWER,
    )
    names = {part["functionCall"]["id"]: part["functionCall"]["name"] for part in found[1].parts}
    assert [names[part["functionResponse"]["id"]] for part in found[2].parts] == ["read", "run"]


def test_a_result_of_a_doubled_id_comes_before_one_that_nobody_asked_for() -> None:
    found = curated(
        HELLO,
        model(call("read", "a"), call("run", "a")),
        user(result("run", "nobody", "x"), result("run", "a", "y")),
        ANSWER,
    )
    assert [part["functionResponse"]["response"] for content in found[2:4] for part in content.parts] == [
        {"error": INTERRUPTED},
        {"output": "y"},
    ]


def test_a_doubled_id_waits_for_its_own_result_whatever_else_comes_twice() -> None:
    calls = model(call("run", "b"), call("read", "a"), call("run", "a"))
    found = curated(
        HELLO, calls, user(result("run", "b", "1"), result("run", "b", "again"), result("run", "a", "2")), ANSWER
    )
    ids = [part["functionCall"]["id"] for part in found[1].parts]
    outputs = {
        part["functionResponse"]["id"]: part["functionResponse"]["response"]
        for content in found[2:4]
        for part in content.parts
    }
    assert outputs == {ids[0]: {"output": "1"}, ids[1]: {"error": INTERRUPTED}, ids[2]: {"output": "2"}}


def test_a_second_result_for_a_call_is_dropped() -> None:
    assert curated(
        HELLO, model(call(call_id="a")), user(result(call_id="a", output="1"), result(call_id="a", output="2")), ANSWER
    )[2] == user(result(call_id="a", output="1"))


def test_ids_may_come_again_in_a_later_round() -> None:
    contents = [
        HELLO,
        model(call(call_id="a")),
        user(result(call_id="a")),
        model(call(call_id="a")),
        user(result(call_id="a", output="2")),
        ANSWER,
    ]
    assert curated(*contents) == contents


def test_a_result_with_a_strange_id_takes_no_call_that_has_an_id_of_its_own() -> None:
    found = curated(HELLO, model(call("run", "a"), call("read")), user(result("run", "zzz")), ANSWER)
    assert [part["functionResponse"]["response"] for part in found[2].parts] == [{"error": INTERRUPTED}] * 2
    assert len(found) == 4


def test_a_result_with_an_id_but_no_name_gets_its_calls_name_and_one_with_neither_the_first_open_call() -> None:
    calls = model(call("run", "a"), call("read", "b"))
    nameless: list[Part] = [
        {"functionResponse": {"response": {"output": "1"}}},
        {"functionResponse": {"id": "b", "response": {"output": "2"}}},
    ]
    found = curated(HELLO, calls, user(*nameless), ANSWER)[2]
    assert [(part["functionResponse"]["id"], part["functionResponse"]["name"]) for part in found.parts] == [
        ("a", "run"),
        ("b", "read"),
    ]


def test_results_may_come_in_several_contents_with_text_between() -> None:
    contents = [
        HELLO,
        model(call(call_id="a"), call(call_id="b")),
        user(result(call_id="b")),
        user_text("wait"),
        user(result(call_id="a"), {"text": "!"}),
        ANSWER,
    ]
    assert curated(*contents) == contents


def test_unknown_fields_of_results_and_calls_survive_pairing() -> None:
    lone: Part = {
        "functionResponse": {"name": "run", "response": {"output": "x"}, "willContinue": False},
        "videoMetadata": {"fps": 1},
    }
    found = curated(HELLO, model({**call("run"), "thoughtSignature": "s"}), user(lone), ANSWER)
    call_id = found[1].parts[0]["functionCall"]["id"]
    assert found[1].parts[0]["thoughtSignature"] == "s"
    assert found[2].parts[0] == {**lone, "functionResponse": {**lone["functionResponse"], "id": call_id}}


def test_a_round_of_thousands_of_parallel_calls_is_paired_in_one_pass() -> None:
    many = 20_000
    found = curated(
        HELLO,
        model(*(call("run") for _ in range(many))),
        user(*(result("run", output=str(number)) for number in range(many))),
        ANSWER,
    )
    assert [part["functionCall"]["id"] for part in found[1].parts] == [
        part["functionResponse"]["id"] for part in found[2].parts
    ]


def test_neighbours_are_merged_only_for_a_request() -> None:
    contents = [HELLO, ASK, ANSWER, model_text("more")]
    assert curated(*contents) == contents
    assert merge_neighbours(contents) == [
        user({"text": "hello"}, {"text": "and?"}),
        model({"text": "so"}, {"text": "more"}),
    ]
    assert merge_neighbours([]) == []


def test_a_part_knows_where_in_the_log_it_stood_when_others_were_dropped() -> None:
    item = curate_items(
        HELLO, model(call("run", "a")), user(result("run", "x"), {"text": "see"}, result("run", "a")), ANSWER
    )[2]
    assert [item.part_number(index) for index in range(2)] == [1, 2]
    assert item.original.parts[2] == item.content.parts[1]


@pytest.mark.parametrize(
    ("content", "shape"),
    [
        (HELLO, Shape.PLAIN_USER),
        (user(), Shape.PLAIN_USER),
        (user({"functionResponse": None}), Shape.PLAIN_USER),
        (user({"functionResponse": {}}), Shape.RESULTS),
        (ANSWER, Shape.TEXT),
        (model(call()), Shape.CALLS),
        (model({"text": "hm", "thought": True}, call()), Shape.THOUGHTS),
        (model(), Shape.NOTHING),
        (model({}), Shape.INVALID),
    ],
)
def test_shapes(content: Content, shape: Any) -> None:
    assert shape_of(content) is shape
