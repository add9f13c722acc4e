"""What the log says of a session's tools."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import (
    Entry,
    ReplyEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
    decode_entry,
    encode_entry,
)
from gemini_companion.engine.history.rounds import finished_to, last_end, open_reply
from gemini_companion.engine.history.tool_entries import (
    AllowanceEntry,
    CallRecord,
    ChangeEntry,
    ModeEntry,
    Todo,
    TodosEntry,
    ToolCallEntry,
    ToolRule,
)
from gemini_companion.engine.history.tool_state import ToolState
from tests.support.logs import Book, call, result

RULE = ToolRule(tool="run_shell_command", decision="allow", command=("npm", "test"))


def seen(state: ToolState) -> tuple[Any, ...]:
    return state.mode, state.todos, list(state.allowances.items()), list(state.open_calls.items())


def called(book: Book, call_id: str, state: Any = "asked") -> None:
    book.add(ToolCallEntry, turn_id=book.turn or "t", call_id=call_id, name="run", args={}, state=state)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("mode"), st.sampled_from(["ask", "plan", "acceptEdits"])),
        st.tuples(st.just("todos"), st.integers(0, 3)),
        st.tuples(st.just("allow"), st.sampled_from("abc")),
        st.tuples(st.just("revoke"), st.sampled_from("abc")),
        st.tuples(st.sampled_from(["asked", "running", "ended", "result"]), st.sampled_from("xyz")),
        st.tuples(st.sampled_from(["prompt", "resume", "end", "compress"]), st.just("")),
    ),
    max_size=40,
)


def take(book: Book, kind: str, value: Any) -> None:
    match kind:
        case "mode":
            book.add(ModeEntry, mode=value)
        case "todos":
            todos = tuple(Todo(description=str(n), status="pending") for n in range(value))
            book.add(TodosEntry, turn_id="t", todos=todos)
        case "allow" | "revoke":
            book.add(AllowanceEntry, rule_id=value, rule=RULE, revoked=kind == "revoke")
        case "result":
            record = CallRecord(call_id=value, name="run", outcome="ok")
            book.add(ToolResultEntry, turn_id=book.turn or "t", content=user_text("-"), calls=(record,))
        case "prompt":
            book.say("question " * 20, "answer " * 20)
        case "resume":
            book.resume()
        case "end":
            book.add(TurnEndEntry, turn_id="t", outcome="interrupted")
        case "compress":
            book.compress()
        case _:
            called(book, value, kind)


@given(STEPS)
def test_folding_a_log_at_once_after_storing_it_equals_folding_it_step_by_step(steps: list[tuple[str, Any]]) -> None:
    book, state = Book(), ToolState()
    for kind, value in steps:
        before = len(book.entries)
        take(book, kind, value)
        for entry in book.entries[before:]:
            state.apply(entry)
    stored: list[Entry] = [decode_entry(encode_entry(entry)) for entry in book.entries]
    assert seen(ToolState(stored)) == seen(state)


@given(STEPS)
def test_no_compression_end_or_resumption_changes_what_a_person_set(steps: list[tuple[str, Any]]) -> None:
    book, bare = Book(), Book()
    for kind, value in steps:
        take(book, kind, value)
        if kind not in ("compress", "resume", "end"):
            take(bare, kind, value)
    one, other = ToolState(book.entries), ToolState(bare.entries)
    assert (one.mode, one.todos, one.allowances) == (other.mode, other.todos, other.allowances)


def test_a_call_is_open_until_it_has_a_result_or_another_prompt_comes_after_the_end_of_its_turn() -> None:
    book = Book()
    book.begin()
    for call_id in "ab":
        called(book, call_id)
    called(book, "a", "running")
    state = ToolState(book.entries)
    assert [(one.call_id, one.state) for one in state.calls_of(book.turn)] == [("a", "running"), ("b", "asked")]
    take(book, "result", "a")
    assert list(ToolState(book.entries).open_calls) == ["b"]
    going_on = book.turn
    book.turn = ""
    book.prompt("Taken back while it waited.")
    book.end("cancelled")
    assert list(ToolState(book.entries).open_calls) == ["b"]
    book.turn = going_on
    book.end("interrupted")
    assert list(ToolState(book.entries).open_calls) == ["b"]
    book.prompt("Something else.")
    assert ToolState(book.entries).open_calls == {}


def test_a_turn_is_finished_up_to_its_last_results_and_what_was_said_behind_them() -> None:
    book = Book()
    book.prompt("Go.")
    turn = book.turn
    assert finished_to(book.entries, turn) == 0
    first = book.reply(call("run", "a"))
    assert open_reply(book.entries, turn) == first
    results = book.results(result("run", "a"))
    assert (finished_to(book.entries, turn), open_reply(book.entries, turn)) == (results.seq, None)
    steer = book.steer("Faster.")
    book.ide()
    assert finished_to(book.entries, turn) == steer.seq
    book.reply("Half an answer, and")
    assert (finished_to(book.entries, turn), open_reply(book.entries, turn)) == (steer.seq, None)
    assert last_end(book.entries, turn) is None
    end = book.end("interrupted", kept_to=steer.seq)
    assert last_end(book.entries, turn) == end
    book.add(ReplyEntry, turn_id=turn, content=model_text("It went on."))
    assert last_end(book.entries, turn) is None


def test_a_change_that_was_cut_short_has_the_last_sign_of_life_of_the_first_process_that_was_killed() -> None:
    book = Book()
    book.add(ChangeEntry, turn_id="t", change_id="c", changes=(), is_done=False, by_command=True)
    book.add(ResumeEntry)
    assert ToolState(book.entries).changes.cut_at == {}
    book.add(ResumeEntry, last_held=100)
    book.add(ResumeEntry, last_held=200)
    assert ToolState(book.entries).changes.cut_at == {"c": 100}
    book.add(ChangeEntry, turn_id="t", change_id="c", changes=(), is_done=True, by_command=True)
    assert ToolState(book.entries).changes.cut_at == {}
