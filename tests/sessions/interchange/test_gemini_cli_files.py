"""Gemini CLI's own session files: what its loader makes of them, and the history that they hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.interchange import ImportedSession, decode_session_file
from gemini_companion.sessions.interchange.gemini_cli import conversation_of_document, conversation_of_records
from gemini_companion.sessions.interchange.importing import entries_of
from tests.support.logs import LEDGER

GOLDEN = (
    Path(os.environ.get("COMPANION_GOLDEN", Path(__file__).parents[3].parent / "shared" / "golden"))
    / "models_recording.json"
)

HEAD = {
    "sessionId": "s1",
    "projectHash": "h",
    "startTime": "2026-01-01T00:00:00.000Z",
    "lastUpdated": "2026-01-01T00:00:00.000Z",
}
CALL = {"functionCall": {"id": "c1", "name": "read_file", "args": {"p": 1}}}
RESPONSE = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "x"}}}


def jsonl(*records: object) -> ImportedSession:
    return decode_session_file(
        "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode(), "s.jsonl"
    )


def whole(*messages: object, **fields: object) -> ImportedSession:
    return decode_session_file(json.dumps({**HEAD, **fields, "messages": messages}, indent=2).encode(), "s.json")


def user(identity: str, content: object, **fields: object) -> dict[str, Any]:
    return {"id": identity, "timestamp": "2026-01-01T00:00:00.000Z", "type": "user", "content": content, **fields}


def gemini(identity: str, content: object, **fields: object) -> dict[str, Any]:
    return user(identity, content, **fields) | {"type": "gemini"}


def golden_cases() -> list[Any]:
    if not GOLDEN.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{GOLDEN} is not there (COMPANION_GOLDEN)"))]
    cases = [
        case
        for case in json.loads(GOLDEN.read_text("utf-8"))["cases"]
        if case["fn"] in ("loadConversation", "recording")
    ]
    return [pytest.param(case, id=case["id"]) for case in cases]


# Where we don't answer as Gemini CLI's loader does:
# - the counts and the first message that it derives for its list of sessions (`messageCount`, `hasResumableContent`,
#   `memoryScratchpadIsStale`, …) are not read: importing needs the messages alone;
# - `metadataOnly` is an option of its list too: without it the messages are there, as many as it counts;
# - where it answers null we say what is wrong with the file.
DERIVED = {
    "messages",
    "messageCount",
    "userMessageCount",
    "memoryScratchpadIsStale",
    "firstUserMessage",
    "hasResumableContent",
}


@pytest.mark.parametrize("case", golden_cases())
def test_a_file_is_folded_as_gemini_cli_folds_it(case: dict[str, Any]) -> None:
    if case["fn"] == "recording":
        records = case["expected"]["result"]["records"]
        conversation = conversation_of_records(enumerate(records, start=1))
        latest = {record["id"]: record for record in records if "id" in record}
        for record in records:
            latest = {message["id"]: message for message in record.get("$set", {}).get("messages", ())} or latest
        assert {identity: message.fields for identity, message in conversation.messages.items()} == latest
        assert conversation.is_named
        return
    source, expected = case["input"], case["expected"]["result"]
    data = source["raw"] if "raw" in source else "\n".join(json.dumps(line) for line in source["lines"])
    if expected is None:
        with pytest.raises(InvalidInput):
            decode_session_file(data.encode(), "s.jsonl")
        return
    if "raw" in source:
        conversation = conversation_of_document(json.loads(source["raw"]))
    else:
        conversation = conversation_of_records(enumerate(source["lines"], start=1))
    messages = [message.fields for message in conversation.messages.values()]
    if source.get("options", {}).get("metadataOnly"):
        assert len(messages) == expected["messageCount"]
    else:
        assert messages == expected["messages"]
    assert {name: conversation.fields.get(name) for name in expected.keys() - DERIVED} == {
        name: value for name, value in expected.items() if name not in DERIVED
    }
    assert decode_session_file(data.encode(), "s.jsonl").session_id == expected["sessionId"]


def test_a_session_is_read_with_its_title_model_and_time() -> None:
    session = whole(user("1", "q"), gemini("2", "a", model="gemini-2.5-pro"), summary="About q")
    assert session.contents == [user_text("q"), model_text("a")]
    assert (session.title, session.model, session.session_id, session.created_at) == (
        "About q",
        "gemini-2.5-pro",
        "s1",
        1_767_225_600_000,
    )


def test_the_same_session_reads_alike_from_both_kinds_of_file() -> None:
    messages = [
        user("1", [{"text": "q"}]),
        gemini("2", "", toolCalls=[{"id": "c1", "name": "read_file", "args": {"p": 1}, "result": [RESPONSE]}]),
    ]
    assert jsonl(HEAD, *messages) == whole(*messages)


def test_a_message_written_again_replaces_the_first_in_its_place() -> None:
    session = jsonl(HEAD, user("1", "q"), gemini("2", "a"), user("3", "r"), gemini("2", "better"))
    assert session.contents == [user_text("q"), model_text("better"), user_text("r")]


def test_a_rewind_takes_the_message_and_all_after_it_and_an_unknown_one_takes_everything() -> None:
    known = jsonl(HEAD, user("1", "q"), gemini("2", "a"), user("3", "r"), {"$rewindTo": "2"}, user("4", "s"))
    unknown = jsonl(HEAD, user("1", "q"), {"$rewindTo": "?"}, user("4", "s"))
    assert known.contents == [user_text("q"), user_text("s")]
    assert unknown.contents == [user_text("s")]


def test_a_checkpoint_replaces_what_came_before() -> None:
    session = jsonl(
        HEAD, user("1", "q"), {"$set": {"messages": [user("9", "nine")], "summary": "S"}}, gemini("10", "a")
    )
    assert (session.contents, session.title) == ([user_text("nine"), model_text("a")], "S")


def test_lines_that_cannot_be_read_are_left_out_and_said() -> None:
    session = jsonl(HEAD, user("1", "q"), '{"id": "2", "type": "gem', "", gemini("3", "a"))
    assert session.contents == [user_text("q"), model_text("a")]
    assert session.warnings == ("Line 3 is not JSON and was left out.",)


def test_records_are_known_for_what_they_are_under_any_name() -> None:
    data = f"{json.dumps(HEAD)}\n{json.dumps(user('1', 'q'))}\n".encode()
    assert decode_session_file(data, "-").contents == [user_text("q")]


def test_a_file_whose_lines_name_no_session_is_refused() -> None:
    with pytest.raises(InvalidInput, match="which session it is of"):
        jsonl(user("1", "q"), gemini("2", "a"))


def test_a_line_that_cannot_be_decoded_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"line 2: \$\.content\[0\]\.text"):
        jsonl(HEAD, user("1", [{"text": 5}]), user("2", "r"))


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (5, "$.messages[0]"),
        (user("1", 5), "$.messages[0].content[0]"),
        (gemini("1", "", toolCalls={}), "$.messages[0].toolCalls"),
        (gemini("1", "", toolCalls=[{"id": "c1"}]), "$.messages[0].toolCalls[0].name"),
        (gemini("1", "", toolCalls=[{"id": 5, "name": "f"}]), "$.messages[0].toolCalls[0].id"),
        (gemini("1", "", toolCalls=[{"id": "c1", "name": "f", "args": 5}]), "$.messages[0].toolCalls[0].args"),
        (
            gemini("1", "", toolCalls=[{"id": "c1", "name": "f", "result": [{"functionResponse": 5}]}]),
            "$.messages[0].toolCalls[0].result[0].functionResponse",
        ),
    ],
)
def test_a_message_of_another_form_is_refused_with_its_path(message: object, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        whole(message)
    assert caught.value.path == path


def test_notices_are_no_part_of_the_history() -> None:
    others = [user(kind, "x") | {"type": kind} for kind in ("info", "error", "warning", "something new")]
    assert whole(user("1", "q"), *others, gemini("2", "a")).contents == [user_text("q"), model_text("a")]


def test_surroundings_and_commands_are_no_part_of_the_history() -> None:
    session = whole(
        user("1", "<session_context>today</session_context>"),
        user("2", "/help"),
        user("3", "?"),
        user("4", ""),
        user("5", "q"),
        gemini("6", "a"),
    )
    assert session.contents == [user_text("q"), model_text("a")]


def test_a_prompt_that_starts_like_a_command_but_was_answered_is_kept() -> None:
    # Gemini CLI drops it when it resumes, and with it half of the turn.
    assert whole(user("1", "/etc/hosts is odd"), gemini("2", "It is.")).contents == [
        user_text("/etc/hosts is odd"),
        model_text("It is."),
    ]


def test_an_older_answer_is_put_together_from_thoughts_text_and_calls() -> None:
    thoughts = [{"subject": "Plan", "description": "read it"}, {"description": "then tell"}]
    call = {"id": "c1", "name": "read_file", "args": {"p": 1}, "result": "the text"}
    session = whole(user("1", "q"), gemini("2", "Reading.", thoughts=thoughts, toolCalls=[call]), gemini("3", "Done."))
    assert session.contents == [
        user_text("q"),
        Content(
            role="model",
            parts=(
                {"text": "**Plan** read it", "thought": True},
                {"text": "then tell", "thought": True},
                {"text": "Reading."},
                CALL,
            ),
        ),
        Content(
            role="user",
            parts=({"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "the text"}}},),
        ),
        model_text("Done."),
    ]


def test_a_newer_answer_is_taken_as_it_stands() -> None:
    parts = [{"text": "hm", "thought": True, "thoughtSignature": "sig"}, {"text": "Reading."}, CALL]
    message = gemini(
        "2", parts, thoughts=[{"description": "again"}], toolCalls=[{**CALL["functionCall"], "result": [RESPONSE]}]
    )
    assert whole(user("1", "q"), message).contents == [
        user_text("q"),
        Content(role="model", parts=tuple(parts)),
        Content(role="user", parts=(RESPONSE,)),
    ]


def test_a_result_that_is_recorded_in_both_places_is_there_once() -> None:
    message = gemini("2", [CALL], toolCalls=[{**CALL["functionCall"], "result": [RESPONSE]}])
    assert whole(user("1", "q"), message, user("3", [RESPONSE])).contents == [
        user_text("q"),
        Content(role="model", parts=(CALL,)),
        Content(role="user", parts=(RESPONSE,)),
    ]


def recorded(identity: str, output: str = "x") -> dict[str, Any]:
    return {"id": identity, "name": "read_file", "args": {"p": 1}, "result": [told(identity, output)]}


def told(identity: str | None, output: str = "x") -> dict[str, Any]:
    known = {} if identity is None else {"id": identity}
    return {"functionResponse": {**known, "name": "read_file", "response": {"output": output}}}


def called(identity: str) -> dict[str, Any]:
    return {"functionCall": {"id": identity, "name": "read_file", "args": {"p": 1}}}


@pytest.mark.parametrize(
    "messages",
    [
        [gemini("2", [called("c1")], toolCalls=[recorded("c1")]), user("h", "By the way."), user("3", [told("c1")])],
        [gemini("2", [called("c1")], toolCalls=[recorded("c1")]), user("3", [told(None)])],
        [gemini("2", [called("read_file__c1")], toolCalls=[recorded("c1")]), user("3", [told("read_file__c1")])],
        [gemini("2", [called("c1")], toolCalls=[recorded("c1"), recorded("c1")])],
        [gemini("2", [called("c1")]), user("3", [told("c1")]), user("4", [told("c1")])],
        [
            gemini("2", [called("c1")], toolCalls=[recorded("c1")]),
            user("i", "x") | {"type": "info"},
            user("3", [told("c1")]),
        ],
    ],
    ids=["a hint between", "without an id", "under a longer id", "recorded twice", "told twice", "a notice between"],
)
def test_each_call_of_a_resumed_session_has_its_result_once_and_once_it_is_counted(messages: list[Any]) -> None:
    session = whole(user("1", "q"), *messages, gemini("9", "Done."))
    parts = [part for content in session.contents for part in content.parts]
    assert sum("functionResponse" in part for part in parts) == 1
    view = History(LEDGER.measure, entries_of(session.contents, now=1)).curated()
    assert [len(item.content.parts) for item in view] == [len(content.parts) for content in session.contents]


def test_results_told_together_after_several_answers_are_not_taken_from_their_records_too() -> None:
    calls = [gemini(f"g{n}", [called(f"c{n}")], toolCalls=[recorded(f"c{n}")]) for n in range(3)]
    session = whole(user("1", "q"), *calls, user("2", [told(f"c{n}") for n in range(3)]))
    assert [content.role for content in session.contents] == ["user", "model", "model", "model", "user"]


def test_of_two_calls_with_equal_results_the_one_that_no_message_tells_keeps_its_own() -> None:
    message = gemini("2", [called("c1"), called("c2")], toolCalls=[recorded("c1"), recorded("c2")])
    session = whole(user("1", "q"), message, user("3", [told("c2")]))
    assert [part for content in session.contents[2:] for part in content.parts] == [told("c1"), told("c2")]


@pytest.mark.parametrize("result", ["text", ["te", "xt"], [{"text": "text"}], {"text": "text"}])
def test_a_result_that_is_mere_text_becomes_the_output_of_its_call(result: object) -> None:
    session = whole(
        user("1", "q"), gemini("2", "", toolCalls=[{"id": "c1", "name": "read_file", "args": {}, "result": result}])
    )
    assert session.contents[-1] == Content(
        role="user", parts=({"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "text"}}},)
    )


def test_a_call_without_a_result_stays_open() -> None:
    session = whole(user("1", "q"), gemini("2", "", toolCalls=[{"id": "c1", "name": "f", "args": {}, "result": None}]))
    assert session.contents[1:] == [
        Content(role="model", parts=({"functionCall": {"id": "c1", "name": "f", "args": {}}},))
    ]


@pytest.mark.parametrize(
    "time", [None, 5, "yesterday", "2026-01-01", "0001-01-01T00:00:00+14:00", "2026-13-01T00:00:00Z"]
)
def test_a_time_that_is_none_is_not_taken(time: object) -> None:
    assert whole(user("1", "q"), startTime=time).created_at in (None, 0)
