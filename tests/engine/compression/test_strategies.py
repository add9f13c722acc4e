"""What each strategy hides and keeps."""

from __future__ import annotations

from time import thread_time

import pytest

from gemini_companion.engine.compression.sources import snapshot_from_facts, task_of
from gemini_companion.engine.compression.strategies.hierarchical import EARLIER_TOKENS, RULES_TOKENS, layered
from gemini_companion.engine.compression.strategies.plan import joined_snapshots
from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from gemini_companion.engine.compression.types import LogState, Plan, Trim
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.statements import tokens_in
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.verdict import StrategyName
from tests.support.logs import LEDGER, Book, call, result
from tests.support.strategy_rules import NAMES


def plan_of(book: Book, name: StrategyName) -> Plan:
    book.strategy = name
    plan = book.plan()
    assert plan is not None
    return plan


def tail_starts_with(plan: Plan) -> str:
    return visible_text(plan.tail[0].content)


def command(book: Book, line: str, output: str) -> None:
    number = book.history.version
    book.reply(call("run_shell_command", f"c{number}", command=line))
    book.results(result("run_shell_command", f"c{number}", output))


PARSER = "Mend the parser in src/parser.py so that nested quotes are read"
MANUAL = "Write the manual chapter about installation packages and licences"


def test_semantic_cuts_where_the_topic_changes_rather_than_at_seventy_percent() -> None:
    book = Book()
    for number in range(6):
        book.say(f"{PARSER}, case {number} of src/parser.py", "parser quotes nested " * 30)
    for number in range(4):
        book.say(f"{MANUAL}, section {number}", "manual chapter installation " * 30)
    assert tail_starts_with(plan_of(book, "semantic")) == f"{MANUAL}, section 0"
    assert tail_starts_with(plan_of(book, "split")) != f"{MANUAL}, section 0"


def test_semantic_keeps_an_error_and_what_resolved_it_on_one_side() -> None:
    book = Book()
    for number in range(7):
        book.say(f"{PARSER}, case {number}", "parser quotes nested " * 30)
    book.prompt("Now run the suite")
    command(book, "pytest tests", "E   AssertionError: 3 != 4\n1 failed\nexit code: 1")
    book.reply("It fails.")
    book.end()
    book.prompt("Look at the licence of the bundled fonts instead please")
    command(book, "pytest tests", "12 passed")
    book.reply("Passes now.")
    book.end()
    for number in range(2):
        book.say(f"{PARSER}, case {number} again", "parser quotes nested " * 30)
    plan = plan_of(book, "semantic")
    assert tail_starts_with(plan) != "Look at the licence of the bundled fonts instead please"


def test_selective_keeps_rules_failures_that_stand_and_the_last_change_of_a_file_with_what_asked_for_it() -> None:
    book = Book()
    book.say("Never touch legacy/ and always answer in German.", "fine")
    book.prompt("change the configuration")
    book.reply(call("write_file", "w1", path="app/config.py", content="old"))
    book.results(result("write_file", "w1", "written"))
    book.reply(call("write_file", "w2", path="app/config.py", content="new"))
    book.results(result("write_file", "w2", "written"))
    book.reply("done")
    book.end()
    book.prompt("run it")
    command(book, "python app.py", "Traceback (most recent call last):\nKeyError: 'port'\nexit code: 1")
    book.reply("It fails.")
    book.end()
    for number in range(24):
        book.say(f"talk about the weather {number} " * 5, "clouds and rain " * 60)
    kept = plan_of(book, "selective").kept
    said = "".join(visible_text(item.content) for item in kept)
    assert "Never touch legacy/" in said
    calls = [part["functionCall"]["args"] for item in kept for part in item.content.parts if "functionCall" in part]
    assert {"path": "app/config.py", "content": "new"} in calls
    assert {"path": "app/config.py", "content": "old"} not in calls
    assert {"command": "python app.py"} in calls
    assert "change the configuration" in said


def test_reserve_keeps_the_newest_tokens_whatever_the_share() -> None:
    book = Book(window=8_000)  # a quarter of it stays
    for number in range(40):
        book.say(f"question {number}", "x" * 1_200)
    plan = plan_of(book, "reserve")
    tail = sum(item.measure.tokens for item in plan.tail)
    assert 1_600 < tail <= 2_000
    small = Book(window=8_000)
    small.say("one", "two")
    small.strategy = "reserve"
    assert small.plan() is None


def test_user_messages_passes_over_a_prompt_that_is_larger_than_its_budget() -> None:
    book = Book(window=4_000)
    book.say("first " + "x" * 800, "one")
    book.say("giant " + "x" * 8_000, "two")
    book.say("last " + "x" * 800, "three")
    plan = plan_of(book, "userMessages")
    assert [visible_text(item.content)[:5] for item in plan.kept] == ["first", "last "]
    assert plan.tail == []


def test_assemble_keeps_the_first_request_and_writes_the_snapshot_from_the_facts() -> None:
    book = Book()
    book.say("Port the service to port 8123; never touch legacy/.", "fine")
    for number in range(9):
        book.say(f"edit src/module_{number}.py", "edited " * 40)
    plan = plan_of(book, "assemble")
    assert not plan.asks_model
    assert [visible_text(item.content) for item in plan.kept] == ["Port the service to port 8123; never touch legacy/."]
    written = snapshot_from_facts(task_of(plan), count_text=LEDGER.count_text)
    assert "src/module_3.py" in written


def test_a_view_larger_than_the_window_keeps_no_more_than_a_share_of_the_window() -> None:
    book = Book(window=4_000)
    for number in range(40):
        book.say(f"question {number}", "x" * 800)
    for name in NAMES:
        plan = plan_of(book, name)
        assert sum(item.measure.tokens for item in plan.tail) <= 0.3 * 4_000, name


# --- layers


def snapshot(**sections: str) -> str:
    names = ("overall_goal", "active_constraints", "key_knowledge", "artifact_trail", "file_system_state")
    body = "\n".join(
        f"<{name}>\n{sections.get(name, 'none')}\n</{name}>" for name in (*names, "recent_actions", "task_state")
    )
    return f"<state_snapshot>\n{body}\n</state_snapshot>"


def test_an_earlier_layer_stands_in_front_of_the_new_lines_marked_once_and_nothing_twice() -> None:
    first = snapshot(active_constraints="- tabs", task_state="- [DONE] a", key_knowledge="- port 8123")
    second = snapshot(active_constraints="- tabs\n- no jQuery", task_state="- [IN PROGRESS] b")
    twice = layered([layered([first], second)], snapshot(task_state="- c"))
    read = read_earlier(twice)
    assert read["active_constraints"] == ["- tabs", "- no jQuery"]
    assert read["task_state"] == ["- (earlier) [DONE] a", "- (earlier) [IN PROGRESS] b", "- c"]
    assert read["key_knowledge"] == ["- port 8123"]


def test_layers_that_outgrow_their_budgets_lose_actions_and_the_oldest_rules_first() -> None:
    rules = "\n".join(f"- rule {number} " + "r" * 40 for number in range(600))
    actions = "\n".join(f"- action {number} " + "a" * 40 for number in range(600))
    knowledge = "\n".join(f"- fact {number} " + "k" * 40 for number in range(100))
    read = read_earlier(
        layered([snapshot(active_constraints=rules, recent_actions=actions, key_knowledge=knowledge)], snapshot())
    )
    kept = sum(map(tokens_in, read["active_constraints"]))
    assert 0 < kept <= RULES_TOKENS
    assert "- rule 599 " + "r" * 40 in read["active_constraints"], "the oldest leave first"
    assert len(read["key_knowledge"]) == 100
    assert read["recent_actions"][-1].startswith("- (earlier) action 599 ")
    others = sum(tokens_in(one) for name, entries in read.items() if name != "active_constraints" for one in entries)
    assert EARLIER_TOKENS - 25 < others <= EARLIER_TOKENS


@pytest.mark.parametrize("fact", ["- fact {} " + "k" * 60, "- 事実 {} " + "表" * 40])
def test_layers_do_not_pile_up_however_many_passes_there_are(fact: str) -> None:
    def written(number: int) -> str:
        knowledge = "\n".join(fact.format(f"{number}.{line}") for line in range(20))
        return snapshot(key_knowledge=knowledge, active_constraints=f"- rule {number}")

    text, sizes = written(0), list[float]()
    for number in range(1, 12):
        text = layered([text], written(number), 1_000)
        sizes.append(tokens_in(text))
    assert max(sizes) <= tokens_in(written(0)) + 1_200
    assert fact.format("11.0") in text
    assert fact.format("0.0") not in text, "the oldest leave first"


def test_several_snapshots_of_a_view_become_one_section_by_section() -> None:
    joined = joined_snapshots([snapshot(overall_goal="early"), snapshot(overall_goal="late", task_state="- x")])
    assert joined is not None
    read = read_earlier(joined)
    assert read["overall_goal"] == ["early", "late"]
    assert read["task_state"] == ["- x"]
    assert joined_snapshots([]) is None


# --- time


def planning_time(name: StrategyName, trim: Trim) -> float:
    def once() -> float:
        started = thread_time()
        STRATEGIES[name]().plan(trim, LogState(1))
        return thread_time() - started

    return min(once() for _ in range(3))


@pytest.mark.parametrize("name", NAMES)
def test_planning_takes_time_in_proportion_to_the_history(name: StrategyName) -> None:
    def trim(turns: int) -> Trim:
        book = Book()
        for number in range(turns):
            book.prompt(f"edit src/module_{number}.py and never touch legacy/{number}")
            command(book, f"pytest tests/test_{number}.py", "1 failed\nexit code: 1" if number % 3 else "passed")
            book.reply("We decided to go on.")
            book.end()
        items = book.history.curated()
        return Trim(items=items, cut_items=items, cuts=())

    small, large = planning_time(name, trim(100)), planning_time(name, trim(1_600))
    assert large < 10 * 16 * max(small, 0.000_5)
