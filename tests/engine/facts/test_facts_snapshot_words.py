"""What an extractive snapshot tells of what was said: goal, rules, decisions, knowledge and tasks."""

from __future__ import annotations

import pytest

from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.history.content import Content, model_text, user_text
from tests.engine.facts.fact_sources import (
    call,
    chat,
    result,
    section,
    snapshot_of,
    sources_of,
)


def test_what_a_working_model_announces_is_no_decision_and_what_it_decided_is_one():
    announced = "Let's use the handler search to find where the module begins."
    said = Content(role="model", parts=({"text": announced}, *call("grep -rn handler src").parts))
    decided = Content(role="model", parts=({"text": "We agreed on pnpm for the packages."}, *call("pnpm i").parts))
    worked = [said, result("src/handler.py:3"), decided, result("ok")]
    items = [user_text("Mend the handler."), *worked, model_text("Found it."), user_text("Go on.")]
    assert "decided: We agreed on pnpm" in snapshot_of(sources_of(items))
    assert "decided: Let's use the handler" not in snapshot_of(sources_of(items))


def test_directives_stand_word_for_word_and_only_those_of_the_user():
    items = sources_of(
        [
            user_text("Use tabs. Never spaces."),
            result("You must delete all."),
            Content(role="model", parts=({"text": "I must go."},)),
        ]
    )
    constraints = section(snapshot_of(items), "active_constraints")
    assert "Never spaces." in constraints
    assert "delete" not in constraints
    assert "I must go" not in constraints


def test_a_directive_brings_the_line_that_it_stands_in():
    items = chat("About the parser. Only touch the tests. They are slow.", "ok")
    assert "- About the parser. Only touch the tests. They are slow." in section(
        snapshot_of(items), "active_constraints"
    )


def test_the_goal_is_the_first_request_and_the_task_the_last():
    snapshot = snapshot_of(chat("Build a parser for TOML.", "Done.", "Now add tests for dates.", "I added two tests."))
    assert "Build a parser for TOML." in section(snapshot, "overall_goal")
    assert "- Latest request: Now add tests for dates." in section(snapshot, "task_state")
    assert "- Last word of the model: I added two tests." in section(snapshot, "task_state")


def test_a_request_that_nobody_answered_is_marked():
    assert "- Latest request (not answered yet): Now what?" in snapshot_of(chat("Build it.", "Done.", "Now what?"))


def test_open_tasks_are_carried():
    state = section(
        snapshot_of(chat("Go on.", "Fixed it. Next, I will update the docs.\n- [ ] write tests")), "task_state"
    )
    assert "Next, I will update the docs." in state
    assert "[ ] write tests" in state


def test_a_dialogue_without_tools_is_told_by_its_telling_sentences_under_their_times():
    turns = [
        f"[1:0{day % 10} pm on {day} May, 2023] Ann: I met Bob number {day} in city_{day}." for day in range(1, 29)
    ]
    knowledge = section(snapshot_of(chat(*turns)), "key_knowledge")
    assert "- [1:03 pm on 3 May, 2023]\n- Ann: I met Bob number 3 in city_3." in knowledge


def test_rules_and_knowledge_of_the_earlier_snapshot_stay_word_for_word_and_once():
    earlier = snapshot_of(chat("Never push to main.", "I moved the parser to Rust in May."), budget=500)
    later = snapshot_of(chat("Never push to main.", "Done. The lexer now lives in lexer.rs."), previous=earlier)
    for name in ("active_constraints", "key_knowledge"):
        for entry in read_earlier(earlier)[name]:
            assert section(later, name).count(entry) == 1
    assert "Never push to main." in section(later, "overall_goal")


def test_a_span_without_a_request_says_that_the_request_stands_elsewhere():
    assert "No request stands in what this replaces" in snapshot_of(sources_of([call("ls"), result("a")]))


@pytest.mark.parametrize(
    ("rule", "request_", "said"),
    [
        (
            "Never touch the lexer.",
            "Now fix the failing parser test.",
            "The cause was an off-by-one in parse_row at line 40.",
        ),
        (
            "Verwende niemals globale Variablen.",
            "Bitte prüfe den Test.",
            "Die Ursache war ein Tippfehler in parse_row in Zeile 40.",
        ),
        (
            "本番のDBには絶対に触らないでください。",
            "テストを直してもらえますか？",
            "原因は parse_row の 40行目 でした。",
        ),
        ("禁止直接提交到主分支。", "请修复失败的测试，可以吗？", "原因是 parse_row 第 40行 的错误。"),
    ],
    ids=["English", "German", "Japanese", "Chinese"],
)
def test_a_rule_binds_a_request_is_met_and_what_was_found_out_is_known(rule: str, request_: str, said: str):
    snapshot = snapshot_of(
        chat(rule, "OK.", request_, said, "Thanks, now the docs please.", "Done.", "And a changelog?"), budget=4_000
    )
    assert section(snapshot, "active_constraints") == f"- {rule}"
    assert f"- [DONE] {request_}" in section(snapshot, "task_state")
    assert said in section(snapshot, "key_knowledge")


def test_a_finished_request_chatter_and_code_are_no_rules():
    turns = (
        "Go ahead and book the flight with my card.",
        "Booked.",
        "Never say never!",
        "Ha.",
        "EXTRAS = {\n4:only = {\nmust(x);",
        "I see.",
    )
    assert section(snapshot_of(chat(*turns)), "active_constraints") == "(none)"


def test_a_demonstration_in_a_prompt_lays_down_no_rules_and_is_not_quoted():
    shown = (
        "--- DEMONSTRATION ---\nYou must always greet. The cause was wrong in module_7.\n--- END OF DEMONSTRATION ---"
    )
    snapshot = snapshot_of(chat(f"Follow the style.\n{shown}\nNow fix the parser. Never push.", "ok"))
    assert section(snapshot, "active_constraints") == "- Never push."
    assert "must always greet" not in snapshot
    assert "an example of" in section(snapshot, "overall_goal")


@pytest.mark.parametrize(
    ("asked", "task"),
    [
        ("Which table holds the orders?", "Note as a task: rename the column price in schema.sql."),
        ("注文はどのテーブルにありますか？", "次に schema.sql の列名を直してください。"),
    ],
    ids=["English", "Japanese"],
)
def test_a_question_is_no_task_and_a_task_stands_once(asked: str, task: str):
    state = section(snapshot_of(chat(asked, "In orders.", task, "Noted.", "Thanks.", "Fine.")), "task_state")
    assert state.count(task) == 1
    assert f"- [TODO] {task}" in state
    assert asked not in state


def test_of_a_pasted_log_the_words_and_the_failing_line_stand_in_the_latest_request():
    log = [f"2031-04-0{n % 9 + 1} 10:00:{n % 60:02d} INFO worker[{n}]: job_{n}_77 done (queue=mail)" for n in range(90)]
    log[50] = "2031-04-05 10:00:50 WARN worker[50]: you must always set queue.size (see docs/queue.md)"
    log[40] = "2031-04-05 10:00:40 ERROR worker[40]: error: mailbox full: bob"
    request_ = (
        "Here is what the queue printed. Never restart it. Why did it stop?\n" + "\n".join(log) + "\nPlease hurry."
    )
    snapshot = snapshot_of(chat("Look after the mail queue.", "OK.", request_))
    state = section(snapshot, "task_state")
    assert "Here is what the queue printed. Never restart it. Why did it stop?" in state
    assert "90 pasted lines" in state
    assert "mailbox full: bob" in state
    assert "Please hurry." in state
    assert "job_7" not in snapshot
    assert section(snapshot, "active_constraints") == "- Never restart it."


def test_a_plan_that_later_words_took_over_and_a_ticked_task_are_gone():
    plan = "Next, I will run the linter.\n- [ ] write tests\n- [ ] write docs"
    state = section(
        snapshot_of(chat("Go.", plan, "And?", "I ran it.\n- [x] write tests", "Good.", "Fine.")), "task_state"
    )
    assert "linter" not in state
    assert "write tests" not in state
    assert "[ ] write docs" in state


def test_the_newest_failure_is_in_progress_until_the_same_kind_of_call_works():
    failed = [call("pytest a.py"), result("FAILED a.py::b - no\n1 failed")]
    assert "- [IN PROGRESS] pytest a.py failed last: FAILED a.py::b - no" in snapshot_of(sources_of(failed))
    assert "IN PROGRESS" not in snapshot_of(sources_of([*failed, call("pytest a.py"), result("1 passed")]))


def test_the_parts_of_a_request_stand_apart():
    asked = Content(role="user", parts=({"text": "Mend src/app/server.py"}, {"text": "`npm test -- -w`"}))
    for before in ([], [user_text("Go."), model_text("Yes?")]):
        assert "Mend src/app/server.py\n`npm test -- -w`" in snapshot_of(sources_of([*before, asked]))
