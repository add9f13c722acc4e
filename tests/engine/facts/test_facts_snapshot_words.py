"""What an extractive snapshot tells of what was said: goal, rules, decisions, knowledge and tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gemini_companion.engine.constraints.contradiction import left_standing
from gemini_companion.engine.constraints.detect import rules_in
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.facts.statements import tokens_in
from gemini_companion.engine.history.content import Content, model_text, user_text
from tests.engine.facts.fact_sources import (
    call,
    chat,
    count_words,
    result,
    section,
    snapshot_of,
    sources_of,
)

NATURAL = Path(__file__).resolve().parents[2] / "data" / "natural"
_SIGNS = re.compile(r"[一-鿿぀-ヿ]|\w+")
"""Words, of Japanese the characters."""


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


def test_the_goal_is_what_the_person_asked_for_first_and_last_and_the_state_the_models_newest_word():
    snapshot = snapshot_of(chat("Build a parser for TOML.", "Done.", "Now add tests for dates.", "I added two tests."))
    assert section(snapshot, "overall_goal") == "- Build a parser for TOML.\n- Now add tests for dates."
    assert section(snapshot, "task_state").startswith("- Last word of the model: I added two tests.")


def test_a_request_that_nobody_answered_is_marked():
    goal = section(snapshot_of(chat("Build it.", "Done.", "Now what?")), "overall_goal")
    assert goal == "- Build it.\n- Not answered yet: Now what?"


def test_a_request_that_tools_are_working_on_waits_and_a_finished_one_is_no_next_step():
    asked = [user_text("Mend the tests."), call("pytest"), result("1 failed")]
    assert "- Not answered yet: Mend the tests." in snapshot_of(sources_of(asked))
    assert "Not answered" not in snapshot_of(sources_of([*asked, model_text("It was the clock.")]))


@pytest.mark.parametrize(
    ("wish", "detail", "talk", "change"),
    [
        (
            "I need the importer to read Shift-JIS files.",
            "The importer reads Shift-JIS now.",
            "fine, thanks",
            "New job: the exporter must write Shift-JIS, too.",
        ),
        (
            "Der Importeur muss Dateien in Latin-1 lesen.",
            "Der Importeur liest Latin-1.",
            "passt, danke dir",
            "Ab jetzt geht es um den Exporteur: auch er soll Latin-1 schreiben.",
        ),
        (
            "取込処理でShift-JISのファイルを読めるようにしたいです。",
            "取込処理はShift-JISを読めます。",
            "了解、ありがとう",
            "ここからは出力処理の話で、Shift-JISで書き出したいです。",
        ),
        (
            "Preciso que o importador leia arquivos Latin-1.",
            "O importador lê Latin-1.",
            "beleza, valeu",
            "Agora o exportador também tem que gravar em Latin-1.",
        ),
    ],
    ids=["English", "German", "Japanese", "Portuguese"],
)
def test_the_goal_has_what_the_work_began_with_and_its_last_change_in_any_language(
    wish: str, detail: str, talk: str, change: str
):
    turns = [wish, detail, *(f"{talk} {number}" if part == 0 else detail for number in range(9) for part in (0, 1))]
    goal = section(snapshot_of(chat(*turns, change, "OK."), budget=120), "overall_goal").split("\n")
    assert goal[0] == f"- {wish}"
    assert goal[-1] == f"- {change}"


def test_a_change_of_goal_in_what_stays_behind_a_snapshot_is_in_its_goal():
    hidden = chat("Build a parser for TOML.", "Done.")
    later = [user_text("Forget TOML: the parser has to read YAML."), model_text("OK.")]
    snapshot = extractive_snapshot(hidden, previous=None, budget_tokens=400, count_text=count_words, later=later)
    assert section(snapshot, "overall_goal").endswith("Forget TOML: the parser has to read YAML.")
    assert "Last word" not in snapshot


def test_a_goal_is_carried_through_many_snapshots_and_does_not_grow():
    goal = snapshot = ""
    for number in range(12):
        asked = f"Step {number} of the migration of the billing tables is to move column_{number} to the new schema."
        previous = snapshot or None
        snapshot = extractive_snapshot(
            chat(asked, f"Moved column_{number}."), previous=previous, budget_tokens=150, count_text=count_words
        )
        goal = section(snapshot, "overall_goal")
        assert asked in goal
    assert len(goal) < 1_200
    assert goal.startswith("- Step ")


def test_a_long_wish_that_an_earlier_snapshot_cut_is_carried_as_it_stands():
    wish = "The importer must read every legacy file that the branch offices send us by courier, " * 6
    first = snapshot_of(chat(f"{wish}and soon.", "OK."))
    goal = section(first, "overall_goal")
    assert "characters)" in goal
    again = extractive_snapshot(
        chat("Go on.", "OK."), previous=first, budget_tokens=200, count_text=count_words, later=[user_text("And?")]
    )
    assert section(again, "overall_goal").startswith(f"{goal}\n")


def test_what_is_known_of_contents_is_not_looked_for_again_and_the_snapshot_is_the_same():
    asked: list[int] = []

    class Reader(FactCache):
        def facts_of(self, source: FactSource) -> Sequence[Fact]:
            asked.append(source.index)
            return super().facts_of(source)

    items = chat("Never push to main. Mend src/a.py.", "I mended src/a.py, and 3 tests pass.", "Thanks.", "Bye.")
    reader = Reader()
    reader.look_through([FactSource(one.index + 7, one.content, one.seq) for one in items], lambda: None)
    asked.clear()
    made = [
        extractive_snapshot(items, previous=None, budget_tokens=200, count_text=count_words, cite=True, reader=one)
        for one in (reader, None)
    ]
    assert made[0] == made[1]
    assert sorted(asked) == [0, 1, 2, 3]


def test_where_no_tool_changed_a_file_the_words_that_name_it_tell_what_changed():
    snapshot = snapshot_of(
        chat(
            "In src/pay.py the amounts are rounded too early.",
            "I moved the rounding in src/pay.py behind the sum, and docs/pay.md says so.",
            "Was src/pay.py slow before?",
            "No.",
        )
    )
    assert "I moved the rounding in src/pay.py behind the sum" in section(snapshot, "artifact_trail")
    assert "slow" not in section(snapshot, "artifact_trail")


def test_thanks_and_small_talk_are_not_told_among_the_calls():
    turns = (
        "Mend src/a.py.",
        "Done.",
        "nice, thx!",
        "Sure.",
        "The bug came back after release 4.2 in src/a.py.",
        "I see.",
    )
    snapshot = snapshot_of(chat(*turns, "Mend it then.", "Done."))
    assert "The bug came back after release 4.2" in snapshot
    assert "thx" not in section(snapshot, "recent_actions")


def test_beside_a_record_a_snapshot_tells_goal_rules_files_and_the_newest_run_and_no_calls():
    worked = [
        user_text("Make the parser faster. Never touch the lexer."),
        call("pytest -q"),
        result("3 passed"),
        Content(role="model", parts=({"functionCall": {"name": "write_file", "args": {"file_path": "src/p.py"}}},)),
        result("Successfully created and wrote to new file: src/p.py.", "write_file"),
        model_text("The cache in src/p.py makes it twice as fast."),
    ]
    later = [user_text("And the docs?")]
    snapshot = extractive_snapshot(
        sources_of(worked), previous=None, budget_tokens=300, count_text=count_words, later=later, beside_record=True
    )
    assert "Make the parser faster." in section(snapshot, "overall_goal")
    assert "Never touch the lexer." in section(snapshot, "active_constraints")
    assert section(snapshot, "artifact_trail") == "- created: src/p.py"
    assert section(snapshot, "key_knowledge") == "- last run: pytest -q → 3 passed"
    assert section(snapshot, "recent_actions") == "(none)"


def test_beside_a_record_constraints_are_the_rules_that_hold_and_stand_nowhere_else_a_sentence_each():
    told = [
        "We work on the importer. Never push to main without asking me. Keep functions under 40 lines.",
        "Never touch the lexer. Always answer in English. My neighbour says that one must never use tabs.",
        "ok you can push to main now",
    ]
    earlier = (
        "<state_snapshot><active_constraints>\n- Never edit legacy/.\n- Always write tests.\n</active_constraints>"
        "</state_snapshot>"
    )
    later = [user_text("You may edit legacy/ from now on."), model_text("ok")]
    snapshot = extractive_snapshot(
        chat(*(turn for said in told for turn in (said, "ok"))),
        previous=earlier,
        budget_tokens=300,
        count_text=count_words,
        later=later,
        beside_record=True,
        rules_in=rules_in,
        left_standing=left_standing,
        in_force=["Always answer in English."],
        released=["Never push to main without asking me."],
    )
    assert section(snapshot, "active_constraints") == "- Always write tests.\n- Never touch the lexer."
    assert "Never push" not in section(snapshot, "overall_goal")


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


@pytest.mark.parametrize("file", sorted(NATURAL.glob("*.json")), ids=lambda file: file.stem)
def test_in_every_language_what_was_found_has_room_beside_rules_and_calls(file: Path) -> None:
    history = json.loads(file.read_text("utf-8"))["history"]
    hidden = sources_of(
        [Content(role=one["role"], parts=tuple(one["parts"])) for one in history[: len(history) * 7 // 10]]
    )
    tokens = sum(map(tokens_in, (part.get("text", "") for one in hidden for part in one.content.parts)))
    snapshot = extractive_snapshot(
        hidden, previous=None, budget_tokens=max(400, int(tokens) // 5), count_text=tokens_in
    )
    assert section(snapshot, "key_knowledge") != "(none)"


def test_constraints_are_the_rules_that_are_read_in_a_prompt_with_the_short_sentence_behind_one():
    told = "Alle 11 haben im Feld ein positives Vorzeichen, das nur fürs Protokoll benutzt wird."
    rule = (
        "Please wait for my OK before you push anything to main or to one of the release branches of the old product."
    )
    prompt = f"{rule} The reviewers said so. The meeting with the people from the other house was moved to a room that is further down the corridor on the floor above this one."
    hidden = sources_of([user_text(told), model_text("ok"), user_text(prompt), model_text("ok")])
    snapshot = extractive_snapshot(hidden, previous=None, budget_tokens=900, count_text=count_words, rules_in=rules_in)
    assert section(snapshot, "active_constraints") == f"- {rule} The reviewers said so."


def test_where_all_is_calls_nothing_is_put_aside_for_talk() -> None:
    calls = [
        content for n in range(20) for content in (call(f"make part_{n} " + "--with-much " * 12), result(f"built {n}"))
    ]
    snapshot = snapshot_of(sources_of([user_text("Build it all."), *calls]), budget=900)
    assert [n for n in range(10, 20) if f"make part_{n} " not in snapshot] == []


@pytest.mark.parametrize(
    "prompt",
    [
        "COBOL schreibe ich seit zwanzig Jahren, Linux dagegen ist für mich eher Neuland. Da darfst du weiter ausholen.",
        "現場の機械にはボタンが二つしかなく、表示も一行だけという作りなのです。だから短めでお願いします。",
    ],
)
def test_the_goal_has_a_sentence_with_the_short_one_that_belongs_to_it(prompt: str) -> None:
    assert f"- {prompt}" in section(snapshot_of(chat(f"Lies die Quelle.\n{prompt}\nDanke!", "ok")), "overall_goal")


def test_a_demonstration_in_a_prompt_lays_down_no_rules_and_is_not_quoted():
    shown = (
        "--- DEMONSTRATION ---\nYou must always greet. The cause was wrong in module_7.\n--- END OF DEMONSTRATION ---"
    )
    snapshot = snapshot_of(chat(f"Follow the style.\n{shown}\nNow fix the parser. Never push.", "ok"))
    assert section(snapshot, "active_constraints") == "- Never push."
    assert "must always greet" not in snapshot
    assert section(snapshot, "overall_goal") == "- Follow the style.\n- Now fix the parser. Never push."


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


def test_of_a_pasted_log_the_words_and_the_failing_line_stand_in_the_request_that_waits():
    log = [f"2031-04-0{n % 9 + 1} 10:00:{n % 60:02d} INFO worker[{n}]: job_{n}_77 done (queue=mail)" for n in range(90)]
    log[50] = "2031-04-05 10:00:50 WARN worker[50]: you must always set queue.size (see docs/queue.md)"
    log[40] = "2031-04-05 10:00:40 ERROR worker[40]: error: mailbox full: bob"
    request_ = (
        "Here is what the queue printed. Never restart it. Why did it stop?\n" + "\n".join(log) + "\nPlease hurry."
    )
    snapshot = snapshot_of(chat("Look after the mail queue.", "OK.", request_))
    state = section(snapshot, "overall_goal")
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


def test_beside_a_record_the_goal_names_what_stands_below_it_and_does_not_say_it_again():
    first, newest = (
        "Port the invoice parser to the new grammar, please.",
        "Now write the runbook for the people on call.",
    )
    contents = [user_text(first), model_text("Done."), user_text(newest)]
    wanted = {True: "- Now write the runbook … (below)", False: f"- {newest}"}
    for beside_record, line in wanted.items():
        snapshot = extractive_snapshot(
            sources_of(contents[:2]),
            previous=f"<state_snapshot><overall_goal>\n{wanted[True]}\n</overall_goal></state_snapshot>",
            budget_tokens=200,
            count_text=count_words,
            later=contents[2:],
            beside_record=beside_record,
        )
        assert section(snapshot, "overall_goal").split("\n") == [f"- {first}", line]


@pytest.mark.parametrize("beside_record", [True, False], ids=["record", "alone"])
def test_on_labelled_conversations_the_goal_is_that_of_the_end_in_nine_of_twelve(beside_record: bool):
    met: list[str] = []
    for path in sorted(NATURAL.glob("*.json")):
        labelled = json.loads(path.read_text("utf-8"))
        contents = [Content(role=one["role"], parts=tuple(one["parts"])) for one in labelled["history"]]
        cut = round(0.8 * len(contents))
        snapshot = extractive_snapshot(
            sources_of(contents[:cut]),
            previous=None,
            budget_tokens=200,
            count_text=count_words,
            later=contents[cut:],
            beside_record=beside_record,
        )
        said = set(_SIGNS.findall(section(snapshot, "overall_goal").lower()))
        for span in labelled["gold"]["goal"]["spans"]:
            words = _SIGNS.findall(span.lower())
            if sum(word in said for word in words) >= 0.6 * len(words):
                met.append(path.stem)
                break
    assert len(met) >= 9, met
