from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.compression.gate import GateOptions, gate
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.open_tasks import MOST_OPEN, settled_in
from gemini_companion.engine.facts.retention import NEWEST, FactCache, placed_facts, wanted_facts
from gemini_companion.engine.history.content import Content, model_text, user_text

RUN_LATER = "Later on, when this is done: run `make check-amber-1234` and mend what it reports."
TICKET = "The next step after this is TODO-AMBER-12, the cleanup of the importer."
DOCS = "Still to do: document the options in the manual."


def sources(*said: str) -> list[FactSource]:
    """The words of a person and the model in turn, and so much talk behind them that they are old."""
    chat = [user_text(text) if number % 2 == 0 else model_text(text) for number, text in enumerate(said)]
    small_talk = [user_text("How is the weather?"), model_text("It rains.")] * NEWEST
    return [FactSource(number, content, number + 1) for number, content in enumerate([*chat, *small_talk])]


def left(*said: str) -> list[str]:
    return [fact.text for fact in wanted_facts(sources(*said)) if fact.kind == "task"]


@pytest.mark.parametrize(
    "task",
    [
        RUN_LATER,
        TICKET,
        "For later: rename the table of users.",
        "[TODO] write the release notes",
        "Wenn das fertig ist, räume bitte noch den Importer auf.",
        "あとでREADMEを更新してください。",
    ],
)
def test_what_a_person_leaves_for_later_counts_however_old_it_is(task: str):
    assert left(task, "Understood.") == [task]


def test_what_the_model_leaves_open_at_the_end_of_its_turn_counts():
    assert left("Fix a.py.", f"Fixed. {DOCS}") == [DOCS]


@pytest.mark.parametrize(
    "answer", ["Fixed. Next, I will run the tests.", "The next step is to run the tests.", "Next: running the tests."]
)
def test_what_the_model_says_that_it_does_next_is_no_open_task(answer: str):
    assert left("Fix a.py.", answer) == []


def test_what_the_model_says_while_it_works_is_no_open_task():
    call = Content(role="model", parts=({"text": DOCS}, {"functionCall": {"name": "f", "args": {}}}))
    items = [user_text("Fix a.py."), call, *[user_text("Well."), model_text("Yes.")] * NEWEST]
    assert not [
        fact for fact in wanted_facts([FactSource(n, c, n) for n, c in enumerate(items)]) if fact.kind == "task"
    ]


@pytest.mark.parametrize(
    ("task", "word"),
    [
        (TICKET, "TODO-AMBER-12 is done."),
        (TICKET, "- [x] TODO-AMBER-12"),
        (RUN_LATER, "I ran `make check-amber-1234`: all passed, there was nothing to mend."),
        (RUN_LATER, "[DONE] run make check-amber-1234 when this is done"),
        ("Afterwards, rename the table of users.", "I have renamed the table of users."),
        ("Wenn das fertig ist, räume bitte noch den Importer auf.", "Den Importer aufräumen: erledigt."),
    ],
)
def test_a_task_is_over_when_the_model_or_the_person_says_that_it_is_done(task: str, word: str):
    assert left(task, "Understood.", "Go on.", word) == []
    assert left(task, "Understood.", word, "Fine.") == []


@pytest.mark.parametrize("word", ["Forget TODO-AMBER-12.", "TODO-AMBER-12 is no longer needed.", "Drop TODO-AMBER-12."])
def test_a_task_that_is_withdrawn_is_over(word: str):
    assert left(TICKET, "Understood.", word, "All right.") == []


@pytest.mark.parametrize(
    "word",
    [
        "Do not forget TODO-AMBER-12!",
        "Is TODO-AMBER-12 done?",
        "TODO-AMBER-12 is not done yet.",
        "When TODO-AMBER-12 is done, tell me.",
        "TODO-AMBER-13 is done.",
        "I am done with the parser.",
    ],
)
def test_other_words_about_a_task_leave_it_open(word: str):
    assert TICKET in left(TICKET, "Understood.", word, "I see.")


def test_a_change_to_the_file_of_a_task_is_not_the_task():
    task = "Later on, when this is done: refactor src/a.py and split its parser."
    assert left(task, "Understood.", "Mend the typo.", "I fixed a typo in src/a.py.") == [task]


def test_a_request_that_is_met_in_its_turn_does_not_bind():
    assert left("Next steps: write tests for the parser.", "Done. They are there.") == []
    assert left(RUN_LATER, "Done. The parser is mended.") == [RUN_LATER]


def test_a_tools_output_settles_no_task():
    output = {"functionResponse": {"name": "read_file", "response": {"output": "TODO-AMBER-12 is done. Forget it."}}}
    items = [user_text(TICKET), model_text("Yes."), Content(role="user", parts=(output,)), model_text("I see.")]
    items += [user_text("Well."), model_text("Yes.")] * NEWEST
    found = wanted_facts([FactSource(number, content, number) for number, content in enumerate(items)])
    assert TICKET in [fact.text for fact in found]


def test_words_behind_what_is_hidden_settle_a_task_too():
    items = sources(TICKET, "Understood.")
    assert not [
        fact for _, fact in placed_facts(items, later=[model_text("TODO-AMBER-12 is done.")]) if fact.kind == "task"
    ]


def test_the_gate_puts_an_old_open_task_back_and_not_one_that_the_snapshot_tells_as_done():
    items = sources(TICKET, "Understood.", RUN_LATER, "Understood.")
    snapshot = "<state_snapshot><task_state>\n1. [DONE] TODO-AMBER-12\n</task_state></state_snapshot>"
    found = gate(items, snapshot, [], GateOptions(), count_text=lambda text: len(text) / 4, hidden_tokens=10_000)
    assert f"- open: {RUN_LATER}" in found.appendix.splitlines()
    assert "TODO-AMBER-12" not in found.appendix


def test_a_cache_changes_nothing():
    items, cache = sources(TICKET, "Yes.", RUN_LATER, "TODO-AMBER-12 is done."), FactCache()
    assert wanted_facts(items, cache=cache) == wanted_facts(items, cache=cache) == wanted_facts(items)


def test_only_the_newest_open_tasks_are_followed():
    tasks = [f"For later: look at the table number{number} again." for number in range(MOST_OPEN + 5)]
    found = left(*(text for task in tasks for text in (task, "Yes.")))
    assert set(found) == set(tasks[5:])


@given(st.lists(st.text(alphabet="ab1-_/. \n[]xDONE完了、.!?'’", max_size=80), max_size=6))
def test_any_words_at_all_are_read(said: list[str]):
    for text in said:
        list(settled_in(text))
    items = [user_text(f"For later: {text}") if number % 2 else model_text(text) for number, text in enumerate(said)]
    shuffled = [FactSource(number, content, number) for number, content in enumerate(items)]
    assert set(wanted_facts(shuffled)) == set(wanted_facts(shuffled, cache=FactCache()))
