"""Where a session's history is split, and what a compression covers: chats, agents' runs, runs compressed again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.compression import find_split_point
from gemini_companion.engine.compression.types import Plan
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.verdict import StrategyName
from tests.support.examples import examples
from tests.support.logs import Book, agent_run, call, result
from tests.support.strategy_rules import NAMES


def texts(contents: list[Content]) -> list[str]:
    return [visible_text(content) for content in contents]


def planned(book: Book) -> Plan:
    plan = book.plan()
    assert plan is not None
    return plan


def talk(book: Book, turns: int, words: int = 40) -> None:
    for number in range(turns):
        book.say(f"question {number} " + "word " * words, f"answer {number} " + "text " * words)


# --- find_split_point, without vectors


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5, float("nan"), float("inf")])
def test_a_fraction_outside_of_zero_and_one_is_refused_even_for_an_empty_history(fraction: float) -> None:
    with pytest.raises(ValueError, match="fraction"):
        find_split_point([], fraction)


def test_the_split_is_the_first_plain_user_content_at_or_past_the_fraction() -> None:
    contents = [user_text("abcd"), model_text("abcd")] * 5
    assert find_split_point(contents, 0.5) == 6
    assert find_split_point([user_text("abcd")] * 4, 0.5) == 2


def test_where_no_content_lies_far_enough_everything_goes_if_the_last_content_calls_nothing() -> None:
    short, long = user_text("a"), model_text("b" * 1_000)
    assert find_split_point([short, long], 0.7) == 2
    open_call = Content(role="model", parts=(call(),))
    assert (
        find_split_point(
            [short, long, user_text("c"), Content(role="model", parts=({"text": "d" * 5_000}, call()))], 0.7
        )
        == 2
    )
    assert find_split_point([short, open_call], 0.7) == 0
    assert find_split_point([], 0.7) == 0


# --- chats


def test_a_chat_is_split_where_the_public_function_says() -> None:
    book = Book()
    talk(book, 10)
    plan = planned(book)
    assert plan.split_at == find_split_point(book.history.contents(), 0.7)
    assert plan.acknowledge
    assert plan.kept == []
    assert plan.covers == ()
    assert plan.hides == (1, plan.tail[0].seq - 1)
    assert plan.base_version == book.history.version


def test_nothing_before_the_split_is_no_plan() -> None:
    book = Book()
    assert book.plan() is None
    book.prompt("hello")
    assert book.plan() is None


def test_a_chat_that_ends_with_an_answer_may_be_compressed_whole_and_then_not_again() -> None:
    book = Book()
    book.say("a", "b" * 1_000)
    assert planned(book).split_at == 2
    assert planned(book).tail == []
    book.compress()
    assert book.plan() is None
    book.pin("tabs")
    assert book.plan() is None
    book.prompt("go on")
    assert book.plan() is None


def test_the_editors_state_belongs_to_its_prompt() -> None:
    book = Book()
    talk(book, 10)
    book.ide("[editor] " + "x" * 4_000)
    book.prompt("what is this?")
    book.reply("a parser")
    book.end()
    plan = planned(book)
    assert [item.kind for item in plan.tail] == ["ide", "prompt", "reply"]
    assert all(item.kind != "ide" for item in plan.hidden)


def test_an_editors_state_alone_is_nothing_to_compress() -> None:
    book = Book()
    book.ide("[editor] " + "x" * 4_000)
    book.prompt("hi")
    assert book.plan() is None


def test_a_text_between_a_call_and_its_result_is_no_place_to_split() -> None:
    book = Book()
    talk(book, 6)
    book.prompt("go")
    book.reply(call(call_id="a", text="x" * 3_000))
    book.results("by the way, " + "y" * 1_000)
    book.results(result(call_id="a", output="z" * 1_000))
    book.reply("done " * 100)
    book.prompt("thanks")
    plan = planned(book)
    tail = [part for item in plan.tail for part in item.content.parts]
    assert ["functionCall" in part for part in tail].count(True) == ["functionResponse" in part for part in tail].count(
        True
    )


# --- agents' runs


def test_a_run_of_one_prompt_and_forty_rounds_is_split_before_an_answered_call_past_seventy_percent() -> None:
    book = Book()
    prompt = agent_run(book, 40)
    plan = planned(book)
    weights = [item.weight for item in plan.trim.items]
    assert sum(weights[: plan.split_at]) >= 0.7 * sum(weights) > sum(weights[: plan.split_at - 2])
    assert [item.seq for item in plan.kept] == [prompt.seq]
    assert not plan.acknowledge
    assert plan.tail[0].content.role == "model"
    assert prompt.seq not in [item.seq for item in plan.hidden]
    entry = book.compress()
    assert entry is not None
    assert len(entry.replacement) == 1
    assert texts(book.view)[0] == "Mend src/parser.py; never touch legacy/."


def test_a_run_can_be_compressed_again_and_again_and_its_prompt_stays_verbatim() -> None:
    book = Book()
    prompt = agent_run(book, 20)
    installed: list[str] = []
    for time in range(3):
        snapshot = f"<state_snapshot>\nnumber {time}\n</state_snapshot>"
        plan = planned(book)
        assert plan.previous_snapshot == (f"<state_snapshot>\nnumber {time - 1}\n</state_snapshot>" if time else None)
        assert plan.covers == tuple(installed)
        assert all(item.kind in ("reply", "toolResult") for item in plan.hidden)
        tail = [item.content for item in plan.tail]
        entry = book.install(book.compression(plan, snapshot))
        installed.append(entry.compression_id)
        assert entry.keeps == (prompt.seq,)
        assert book.view == [prompt.content, user_text(snapshot), *tail]
        for number in range(12):
            book.round(100 * time + number, "line\n" * 40)
    assert book.undo(installed[0]).undone == tuple(reversed(installed))
    assert len(book.view) == 1 + 2 * (20 + 3 * 12)


def test_after_small_talk_a_long_run_is_split_inside_and_not_before_its_prompt() -> None:
    book = Book()
    book.say("hi", "hello")
    prompt = agent_run(book, 40)
    plan = planned(book)
    assert plan.split_at > 4
    assert [item.seq for item in plan.kept] == [prompt.seq]
    assert texts([item.content for item in plan.hidden])[:2] == ["hi", "hello"]
    book.compress()
    assert [item.kind for item in book.history.items][:3] == ["prompt", "snapshot", "reply"]


def test_a_talk_worth_hiding_is_hidden_before_a_run_is_cut() -> None:
    book = Book()
    talk(book, 10, words=120)
    agent_run(book, 40)
    plan = planned(book)
    assert plan.split_at == 20
    assert plan.kept == []


@pytest.mark.parametrize("turns", [1, 3, 6])
def test_where_a_third_cannot_be_hidden_before_a_run_the_run_is_split_inside(turns: int) -> None:
    book = Book()
    talk(book, turns)
    prompt = agent_run(book, 26)
    plan = planned(book)
    weights = [item.weight for item in plan.trim.items]
    before_the_prompt = sum(weights[: 2 * turns])
    assert before_the_prompt < sum(weights) / 3
    assert sum(item.weight for item in plan.hidden) >= sum(weights) / 3
    assert [item.seq for item in plan.kept] == [prompt.seq]


@given(st.integers(0, 8), st.integers(0, 60), st.integers(1, 200))
@settings(max_examples=examples(60), deadline=None)
def test_a_compression_hides_a_third_or_there_is_no_better_place(turns: int, rounds: int, words: int) -> None:
    book = Book()
    talk(book, turns, words=words)
    agent_run(book, rounds)
    plan = book.plan()
    if plan is None:
        assert turns == 0
        assert rounds < 3
        return
    total = sum(item.weight for item in plan.trim.items)
    hidden = sum(item.weight for item in plan.hidden)
    ends = [index for index, item in enumerate(plan.trim.items) if item.content.role == "model"]
    assert hidden >= total / 3 or plan.split_at >= ends[-1] - 2


def test_a_run_whose_last_call_is_open_is_split_before_an_answered_one() -> None:
    book = Book()
    agent_run(book, 4)
    book.reply(call(call_id="open", text="x" * 5_000))
    plan = planned(book)
    assert plan.tail[-1].content.parts[0]["functionCall"]["id"] == "open"
    assert len(plan.tail) > 1


@pytest.mark.parametrize("heavy", range(10))
def test_one_output_of_most_of_the_weight_never_keeps_a_run_from_being_split(heavy: int) -> None:
    book = Book()
    book.prompt("go")
    for number in range(10):
        book.round(number, "x" * (30_000 if number == heavy else 800))
    plan = planned(book)
    assert 3 <= plan.split_at <= 19
    assert plan.split_at % 2 == 1  # before a call
    hidden = [item.seq for item in plan.hidden]
    assert (2 * heavy + 3 in hidden) == (heavy < 9)


def test_a_run_after_a_snapshot_keeps_its_own_prompt() -> None:
    book = Book()
    talk(book, 8)
    book.compress()
    for _ in range(2):
        book.say("small", "talk")
    prompt = agent_run(book, 60)
    for _ in range(3):  # the first may hide what stands before the prompt
        book.compress()
    assert [item.kind for item in book.history.items][:3] == ["prompt", "snapshot", "reply"]
    assert book.history.items[0].seq == prompt.seq


def test_a_hint_inside_a_run_is_not_taken_for_its_prompt() -> None:
    book = Book()
    prompt = agent_run(book, 1)
    book.results("a picture follows")
    for number in range(30):
        book.round(10 + number, "line\n" * 40)
    plan = planned(book)
    assert [item.seq for item in plan.kept] in ([], [prompt.seq])


def test_a_history_that_begins_with_an_answer_is_split_without_a_prompt_to_keep() -> None:
    book = Book()
    book.begin()
    for number in range(20):
        book.round(number, "line\n" * 40)
    plan = planned(book)
    assert plan.kept == []
    assert plan.tail[0].content.role == "model"
    book.compress()
    assert [item.kind for item in book.history.items][:2] == ["snapshot", "reply"]


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("after", [2, 12, 40])
def test_what_a_person_said_last_in_a_run_stays_word_for_word_wherever_the_run_is_split(
    strategy: StrategyName, after: int
) -> None:
    book = Book(window=20_000)
    book.strategy = strategy
    agent_run(book, 8, output="line\n" * 200)
    book.steer("And leave the licence alone.")
    book.round(50, "line\n" * 200)
    book.steer("Only the tests.")
    for number in range(after):
        book.round(100 + number, "line\n" * 200)
    for _ in range(2):
        book.compress()
        assert "Only the tests." in texts(book.view)


# --- the previous snapshot


def test_the_earlier_snapshot_is_known_by_the_log_and_not_by_its_tag() -> None:
    book = Book()
    book.say("<state_snapshot>pasted</state_snapshot> " + "word " * 300, "I see. " * 100)
    talk(book, 6)
    plan = planned(book)
    assert plan.previous_snapshot is None
    assert "pasted" in texts([plan.hidden[0].content])[0]
    book.compress("<state_snapshot>\nreal\n</state_snapshot>")
    talk(book, 8)
    plan = planned(book)
    assert plan.previous_snapshot == "<state_snapshot>\nreal\n</state_snapshot>"
    assert all(item.kind in ("prompt", "reply") for item in plan.hidden)


def test_the_split_is_found_on_the_cut_outputs_and_the_hidden_ones_are_known_whole_too() -> None:
    book = Book(budget=1_000, limit=2_000)
    book.prompt("go")
    book.round(0, "huge " * 10_000)
    book.reply("that was much")
    book.end()
    talk(book, 12, words=60)
    plan = planned(book)
    assert plan.split_at == find_split_point([item.content for item in plan.trim.cut_items], 0.7)
    assert plan.split_at > find_split_point([item.content for item in plan.trim.items], 0.7)
    assert plan.hidden[2].measure.tokens > 10_000 > plan.hidden_cut[2].measure.tokens
    assert plan.hidden_tokens == sum(item.measure.tokens for item in plan.hidden)
    assert book.compression(plan).cuts == ()  # what is hidden needs no file
