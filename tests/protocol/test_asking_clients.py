"""A connection's person and editor, asked: by our own requests, else by LSP's; whatever goes wrong is a no."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.protocol.applying import text_edit
from gemini_companion.protocol.asking import NO_ANSWER, ConnectionAsker
from gemini_companion.protocol.documents import Document
from gemini_companion.protocol.lsp import Position
from gemini_companion.protocol.question_text import text_of_question
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tool_results import QuestionPart, ToolQuestion
from gemini_companion.tools.documents import Diagnostic, FileDiagnostics
from tests.support.patience import PATIENCE
from tests.support.wire import InMemoryClient

URI = "file:///project/a.py"
RULE = ToolRule(tool="run_shell_command", decision="allow", command=("npm", "test"))
QUESTION = ToolQuestion(
    session_id="s",
    turn_id="t",
    tool_call_id="c",
    name="run_shell_command",
    args={"command": "npm test && rm -r dist"},
    title="Run npm test && rm -r dist",
    risk="command",
    command="npm test && rm -r dist",
    parts=(
        QuestionPart(text="npm test", decision="allow"),
        QuestionPart(text="rm -r dist", decision="ask", reason="deletes"),
    ),
    cwd="/project",
    sandbox="No sandbox: there is none here.",
    reason="it runs a command",
    warnings=("it deletes files",),
    irreversible="Deleted files cannot be taken back.",
    rule=RULE,
    rule_text="Allow run_shell_command: npm test …",
)


def asker(client: InMemoryClient, *supports: str) -> ConnectionAsker:
    return ConnectionAsker(client.server.connection, supports, lambda path: f"file://{path}")


def sent(client: InMemoryClient, method: str) -> dict[str, Any]:
    return next(message["params"] for message in client.received if message.get("method") == method)


# --- confirming


async def test_a_client_that_can_is_asked_with_all_that_is_known_and_its_answer_is_taken(client: InMemoryClient):
    client.handlers["gemini/confirmTool"] = lambda _params: {
        "outcome": "session",
        "editedArgs": {"command": "npm test"},
        "editedContent": "x",
        "reason": "only the tests",
        "rule": {"tool": "run_shell_command", "decision": "allow", "command": ["npm"]},
        "more": 1,
    }
    answer = await asker(client, "confirmTool").confirm(QUESTION, PATIENCE)
    assert answer == ConsentAnswer(
        outcome="session",
        edited_args={"command": "npm test"},
        edited_content="x",
        reason="only the tests",
        rule=ToolRule(tool="run_shell_command", decision="allow", command=("npm",)),
    )
    asked = sent(client, "gemini/confirmTool")
    assert asked["command"] == QUESTION.command
    assert asked["toolCallId"] == "c"
    assert asked["parts"][1] == {"text": "rm -r dist", "decision": "ask", "reason": "deletes"}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        [],
        "once",
        {"outcome": "yes"},
        {"outcome": "once", "editedArgs": [1]},
        {"outcome": "once", "rule": {"tool": 5}},
        ValueError("no"),
    ],
)
async def test_an_answer_that_is_none_is_no_answer(client: InMemoryClient, answer: object):
    client.handlers["gemini/confirmTool"] = lambda _params: answer
    assert await asker(client, "confirmTool").confirm(QUESTION, PATIENCE) is None


async def test_a_content_beyond_all_bounds_is_no_answer_and_a_long_reason_is_cut(client: InMemoryClient):
    client.handlers["gemini/confirmTool"] = lambda _params: {"outcome": "once", "editedContent": "x" * 10_000_001}
    assert await asker(client, "confirmTool").confirm(QUESTION, PATIENCE) is None
    client.handlers["gemini/confirmTool"] = lambda _params: {"outcome": "reject", "reason": "x" * 9_000}
    answer = await asker(client, "confirmTool").confirm(QUESTION, PATIENCE)
    assert answer is not None
    assert len(answer.reason) == 4_000


async def test_nobody_answers_in_time_and_the_question_is_taken_back(client: InMemoryClient):
    assert await asker(client, "confirmTool").confirm(QUESTION, 0.01) is None
    assert client.received[-1]["method"] == "$/cancelRequest"


async def test_a_question_that_is_settled_elsewhere_is_taken_back(client: InMemoryClient):
    asking = asyncio.create_task(asker(client, "confirmTool").confirm(QUESTION, PATIENCE))
    request = await client.until(lambda message: message.get("method") == "gemini/confirmTool")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert client.received[-1] == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request["id"]}}


async def test_a_client_that_leaves_while_it_is_asked_gives_no_answer(client: InMemoryClient):
    asking = asyncio.create_task(asker(client, "confirmTool").confirm(QUESTION, PATIENCE))
    await client.until(lambda message: message.get("method") == "gemini/confirmTool")
    await client.server.dispatcher.close()
    assert await asking is None
    assert await asker(client, "confirmTool").confirm(QUESTION, PATIENCE) is None


# --- with a message and buttons


@pytest.mark.parametrize(
    ("pressed", "outcome"), [("Yes", "once"), ("Yes for this session", "session"), ("No", "reject"), (None, None)]
)
async def test_an_editor_without_a_question_of_its_own_shows_a_message_with_buttons(
    client: InMemoryClient, pressed: str | None, outcome: str | None
):
    client.handlers["window/showMessageRequest"] = lambda _params: {"title": pressed} if pressed else None
    answer = await asker(client).confirm(QUESTION, PATIENCE)
    assert (answer.outcome if answer else None) == outcome
    shown = sent(client, "window/showMessageRequest")
    assert [one["title"] for one in shown["actions"]] == ["No", "Yes", "Yes for this session"]
    assert shown["message"] == text_of_question(QUESTION)


async def test_a_button_that_was_not_offered_is_no_answer(client: InMemoryClient):
    client.handlers["window/showMessageRequest"] = lambda _params: {"title": "Yes for this session"}
    once_only = ToolQuestion(session_id="s", turn_id="t", tool_call_id="c", name="x", args={}, title="X", risk="edit")
    assert await asker(client).confirm(once_only, PATIENCE) is None
    assert [one["title"] for one in sent(client, "window/showMessageRequest")["actions"]] == ["No", "Yes"]


def test_the_message_holds_the_whole_line_where_what_holds_it_back_and_what_cannot_be_undone():
    assert text_of_question(QUESTION).splitlines() == [
        "Run npm test && rm -r dist?",
        "    npm test && rm -r dist",
        "needs your yes: rm -r dist",
        "in /project",
        "No sandbox: there is none here.",
        "asked because it runs a command (mode ask)",
        "warning: it deletes files",
        "warning: Deleted files cannot be taken back.",
        "for this session: Allow run_shell_command: npm test …",
    ]


def test_the_message_has_all_of_a_diff_and_of_arguments_however_long():
    diff = "--- a\n+++ b\n" + "".join(f"+line {number}\n-old {number}\n" for number in range(100))
    diff += "+x = 1" + " " * 4_000 + "; hidden()"
    edit = ToolQuestion(
        session_id="s", turn_id="t", tool_call_id="c", name="x", args={}, title="Edit a", risk="edit", diff=diff
    )
    assert text_of_question(edit) == f"Edit a?\n{diff}"
    text = "{\n" + "x" * 4_000 + "\n}"
    asked = msgspec.structs.replace(edit, diff=None, args_text=text, title="Ask git")
    assert text_of_question(asked).splitlines()[1:] == [f"    {line}" for line in text.splitlines()]


# --- asking the person, and the editor


async def test_a_person_answers_in_an_option_or_in_their_own_words(client: InMemoryClient):
    client.handlers["gemini/askUser"] = lambda _params: {"answer": "neither"}
    one = asker(client, "askUser")
    assert await one.ask("s", "c", "Which?", ["a", "b"], allows_text=True, seconds=PATIENCE) == "neither"
    assert await one.ask("s", "c", "Which?", ["a", "b"], allows_text=False, seconds=PATIENCE) is None
    assert sent(client, "gemini/askUser")["options"] == ["a", "b"]


async def test_a_long_answer_comes_whole_and_one_that_is_cut_says_so(client: InMemoryClient):
    answers = ["word " * 50_000, "x" * 1_000_007]
    client.handlers["gemini/askUser"] = lambda _params: {"answer": answers[0]}
    one = asker(client, "askUser")
    assert await one.ask("s", "c", "Why?", [], allows_text=True, seconds=PATIENCE) == answers.pop(0)
    cut = await one.ask("s", "c", "Why?", [], allows_text=True, seconds=PATIENCE)
    assert cut is not None
    assert cut.endswith("x\n[… 7 characters left out …]")


async def test_without_a_question_of_its_own_an_editor_shows_the_options_as_buttons(client: InMemoryClient):
    client.handlers["window/showMessageRequest"] = lambda params: params["actions"][2]
    assert await asker(client).ask("s", "c", "Which?", ["a", "b"], allows_text=True, seconds=PATIENCE) == "b"
    assert await asker(client).ask("s", "c", "What?", [], allows_text=True, seconds=PATIENCE) is None


async def test_a_bare_return_in_an_editor_that_takes_the_first_button_is_no_answer(client: InMemoryClient):
    client.handlers["window/showMessageRequest"] = lambda params: params["actions"][0]
    one = asker(client)
    assert await one.ask("s", "c", "Shall I?", ["Yes", "No"], allows_text=True, seconds=PATIENCE) is None
    answer = await one.confirm(QUESTION, PATIENCE)
    assert answer is not None
    assert answer.outcome == "reject"


async def test_the_question_as_text_goes_to_those_who_show_it(client: InMemoryClient):
    client.handlers["gemini/confirmTool"] = lambda _params: {"outcome": "reject"}
    await asker(client, "confirmTool", "questionText").confirm(QUESTION, PATIENCE)
    assert sent(client, "gemini/confirmTool")["text"] == text_of_question(QUESTION)


async def test_problems_of_other_files_than_were_asked_about_are_left_out(client: InMemoryClient):
    problem = {"line": 0, "severity": "error", "message": "m" * 5_000}
    client.handlers["gemini/diagnostics"] = lambda _params: {
        "files": [{"path": "/a", "diagnostics": [problem] * 300}, {"path": "/b", "diagnostics": []}]
    }
    found = await asker(client, "diagnostics").diagnostics(["/a"], wait_ms=100)
    expected = Diagnostic(line=1, severity="error", message="m" * 2_000)
    assert found == (FileDiagnostics(path="/a", diagnostics=(expected,) * 200),)
    assert sent(client, "gemini/diagnostics") == {"paths": ["/a"], "waitMs": 100}


async def test_an_editor_that_reports_no_problems_on_request_cannot_say(client: InMemoryClient):
    assert await asker(client).diagnostics(["/a"], wait_ms=0) is None


# --- giving a document a new text

EDITS = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}


async def opened(client: InMemoryClient, capabilities: dict[str, Any], text: str = "one\ntwo\n") -> ConnectionAsker:
    await client.initialize(capabilities=capabilities)
    item = {"uri": URI, "languageId": "python", "version": 7, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": item})
    client.handlers["workspace/applyEdit"] = lambda _params: {"applied": True}
    return asker(client)


async def test_an_open_document_gets_its_new_text_by_its_version(raw_client: InMemoryClient):
    one = await opened(raw_client, EDITS)
    assert await one.apply_edit("/project/a.py", "one\ntwo\n", "one\ntwo!\n", "Edit a.py") == "made"
    assert sent(raw_client, "workspace/applyEdit") == {
        "label": "Edit a.py",
        "edit": {
            "documentChanges": [
                {
                    "textDocument": {"uri": URI, "version": 7},
                    "edits": [
                        {
                            "range": {"start": {"line": 1, "character": 3}, "end": {"line": 1, "character": 3}},
                            "newText": "!",
                        }
                    ],
                }
            ]
        },
    }


async def test_an_edit_has_been_made_only_once_the_editor_has_told_of_it(raw_client: InMemoryClient):
    one = await opened(raw_client, EDITS)
    edit = asyncio.create_task(one.apply_edit("/project/a.py", "one\ntwo\n", "one\n", "Edit a.py"))
    await raw_client.until(lambda message: message.get("method") == "workspace/applyEdit")
    named = {"uri": URI, "version": 8}
    raw_client.notify("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": "one\n"}]})
    assert await edit == "made"
    document = raw_client.server.connection.documents.opened(URI)
    assert document is not None
    assert document.source == "one\n"


async def test_an_annotation_goes_along_where_the_editor_takes_one(raw_client: InMemoryClient):
    edits = {"documentChanges": True, "changeAnnotationSupport": {}}
    one = await opened(raw_client, {"workspace": {"applyEdit": True, "workspaceEdit": edits}})
    assert await one.apply_edit("/project/a.py", "one\ntwo\n", "", "Edit a.py") == "made"
    (annotation,) = sent(raw_client, "workspace/applyEdit")["edit"]["changeAnnotations"].values()
    assert annotation == {"label": "Edit a.py", "needsConfirmation": False}


async def test_an_editor_without_versioned_edits_gets_plain_ones(raw_client: InMemoryClient):
    one = await opened(raw_client, {"workspace": {"applyEdit": True}})
    assert await one.apply_edit("/project/a.py", "one\ntwo\n", "x", "Edit a.py") == "made"
    assert list(sent(raw_client, "workspace/applyEdit")["edit"]["changes"]) == [URI]


async def test_a_text_that_is_another_by_now_is_left_alone(raw_client: InMemoryClient):
    one = await opened(raw_client, EDITS)
    assert await one.apply_edit("/project/a.py", "one\n", "x", "Edit a.py") == "refused"
    assert await one.apply_edit("/project/b.py", "", "x", "Edit b.py") == "unable"
    assert [message for message in raw_client.received if message.get("method") == "workspace/applyEdit"] == []


@pytest.mark.parametrize("answer", [{"applied": False}, ValueError("User cancelled server edit"), None])
async def test_an_edit_that_the_editor_does_not_make_is_refused(raw_client: InMemoryClient, answer: object):
    one = await opened(raw_client, EDITS)
    raw_client.handlers["workspace/applyEdit"] = lambda _params: answer
    assert await one.apply_edit("/project/a.py", "one\ntwo\n", "x", "Edit a.py") == "refused"


async def test_whether_a_silent_editor_made_an_edit_is_not_known_unless_it_tells_of_the_text(
    raw_client: InMemoryClient,
):
    await opened(raw_client, EDITS)
    del raw_client.handlers["workspace/applyEdit"]
    connection = raw_client.server.connection
    one = ConnectionAsker(connection, (), lambda path: f"file://{path}", edit_seconds=0.05)
    assert await one.apply_edit("/project/a.py", "one\ntwo\n", "x", "Edit a.py") == "unanswered"
    assert raw_client.received[-1]["method"] == "$/cancelRequest"
    edit = asyncio.create_task(one.apply_edit("/project/a.py", "one\ntwo\n", "x", "Edit a.py"))
    await raw_client.until(lambda message: message.get("id") == 2)
    named = {"uri": URI, "version": 8}
    raw_client.notify("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": "x"}]})
    assert await edit == "made"
    await raw_client.server.dispatcher.close()
    assert await one.apply_edit("/project/a.py", "x", "y", "Edit a.py") == "unable"


async def test_an_editor_that_takes_no_edits_is_sent_none(raw_client: InMemoryClient):
    one = await opened(raw_client, {})
    assert await one.apply_edit("/project/a.py", "one\ntwo\n", "x", "Edit a.py") == "unable"
    assert [message for message in raw_client.received if message.get("method") == "workspace/applyEdit"] == []


TEXTS = st.text(st.sampled_from("ab\r\n\U0001f600é"), max_size=12)


@given(TEXTS, TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_the_edit_of_two_texts_turns_one_into_the_other_in_any_encoding(before: str, after: str, encoding: Any):
    edit = text_edit(before, after, encoding)
    document = Document("file:///x", before, 1, "plaintext", encoding=encoding)
    document.replace(Position(**edit["range"]["start"]), Position(**edit["range"]["end"]), edit["newText"])
    assert document.source == after


async def test_a_plan_and_its_options_are_shown_without_signs_that_cannot_be_seen_and_the_option_comes_back_as_it_is(
    client: InMemoryClient,
):
    client.handlers["window/showMessageRequest"] = lambda _params: {"title": "Yes\\u{202E}"}
    one = asker(client)
    answer = await one.ask("s", "c", "Plan:\n\u2066rm\u202e", ["Yes\u202e", "No"], allows_text=False, seconds=PATIENCE)
    shown = sent(client, "window/showMessageRequest")
    assert answer == "Yes\u202e"
    assert shown["message"] == "Plan:\n\\u{2066}rm\\u{202E}"
    assert [one["title"] for one in shown["actions"]] == [NO_ANSWER, "Yes\\u{202E}", "No"]
