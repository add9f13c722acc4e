"""Session files of every kind that is read, and what is said of those that cannot be."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.interchange import decode_session_file, encode_session, text_of
from gemini_companion.sessions.interchange.companion import VERSION
from gemini_companion.sessions.ports import SessionMeta
from tests.sessions.interchange.session_strategies import json_values
from tests.support.examples import examples

HI: list[Any] = [{"role": "user", "parts": [{"text": "hi"}]}]


def read(value: object, name: str = "session.json") -> Any:
    return decode_session_file(json.dumps(value).encode(), name)


def refused(data: bytes | object, name: str = "session.json") -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        decode_session_file(data if isinstance(data, bytes) else json.dumps(data).encode(), name)
    return caught.value


def test_a_bare_array_of_contents_is_a_history() -> None:
    session = read(HI)
    assert (session.contents, session.system_instruction, session.entries) == ([user_text("hi")], None, None)


def test_an_object_with_a_history_may_have_anything_else_besides() -> None:
    session = read({"history": HI, "source": "somewhere", "qa": [1], "systemInstruction": "Be kind."})
    assert (session.contents, session.system_instruction) == ([user_text("hi")], "Be kind.")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (None, None),
        ("", None),
        ("Be kind.", "Be kind."),
        ({"parts": [{"text": "Be kind."}, {"text": "Be brief."}]}, "Be kind.\nBe brief."),
        ({"role": "system", "parts": []}, None),
    ],
)
def test_a_system_instruction_is_a_string_or_like_a_content(raw: object, text: str | None) -> None:
    assert read({"history": [], "systemInstruction": raw}).system_instruction == text


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (5, "$.systemInstruction"),
        ({"text": "x"}, "$.systemInstruction.parts"),
        ({"parts": [{"inlineData": {}}]}, "$.systemInstruction.parts[0]"),
    ],
)
def test_a_system_instruction_of_another_form_is_refused(raw: object, path: str) -> None:
    assert refused({"history": [], "systemInstruction": raw}).path == path


def test_an_empty_history_is_fine() -> None:
    assert read([]).contents == read({"history": []}).contents == []


def test_the_name_of_the_file_and_what_would_be_accepted_stand_in_the_fault() -> None:
    fault = refused([{"role": "user", "parts": [{"text": 1}]}], "notes.json")
    assert fault.message == "notes.json: Expected a string at $[0].parts[0].text, found a number."
    assert "Gemini CLI" in fault.hint


def test_broken_json_is_told_by_line_and_column() -> None:
    assert "line 2, column 15" in refused(b'{"history": [],\n "again": [1, }').message
    assert "line 2, column 3" in refused(b'["\xc3\xa9",\n\t\t\x01]').message
    assert "line 1, column 2" in refused(b"[NaN]").message


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        ('["é"]'.encode("latin-1"), "not UTF-8"),
        ("[]".encode("utf-16"), "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"5", "Expected an array or an object"),
        (b"{}", "neither history nor messages"),
        (b'{"history": 1e999}', "cannot be read"),
        (b"[" + b"1" * 10_000 + b"]", "cannot be read"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
    ],
)
def test_what_is_no_session_file_is_refused_in_words(data: bytes, said: str) -> None:
    assert said in refused(data).message


def test_a_byte_order_mark_does_no_harm() -> None:
    assert decode_session_file(b"\xef\xbb\xbf[]", "x").contents == []


def test_lone_surrogates_are_written_out_and_nothing_that_only_looks_like_one() -> None:
    data = b'[{"role": "user", "parts": [{"text": "\\ud800 \\\\ud800 \\ud83d\\ude00 \\udc00\\"", "k\\udfff": 1}]}]'
    assert decode_session_file(data, "x").contents == [
        Content(role="user", parts=({"text": '\\ud800 \\ud800 \U0001f600 \\udc00"', "k\\udfff": 1},))
    ]


def test_an_export_of_a_later_version_is_refused_with_what_to_do() -> None:
    fault = refused({"format": "gemini-companion", "version": VERSION + 1, "meta": {}, "entries": []})
    assert (fault.path, "Update" in fault.hint) == ("$.version", True)


META = SessionMeta(
    session_id="s1", title="T", model="gemini-2.5-pro", created_at=1_700_000_000_000, updated_at=1_700_000_001_000
)


def export() -> dict[str, Any]:
    return json.loads("".join(text_of(encode_session(META, (), (), "companion"))))


def test_a_title_of_a_file_is_a_line_of_500_characters_without_signs_that_steer() -> None:
    title = "Mend it\x1b]0;owned\x07\x1b[2J\u202e\n" + "t" * 50_000
    written = {**export(), "meta": {**export()["meta"], "title": title}}
    foreign = {"sessionId": "s", "projectHash": "p", "messages": [], "summary": title}
    for session in (read(written), read(foreign)):
        assert session.title.startswith("Mend it")
        assert len(session.title) == 500
        assert not any(sign in session.title for sign in "\x1b\x07\u202e\n")
        assert session.meta is None or session.meta.title == session.title


PROMPT: dict[str, Any] = {
    "type": "prompt",
    "id": "e",
    "seq": 1,
    "time": 0,
    "turnId": "t",
    "content": {"role": "user", "parts": [{"text": "x"}]},
}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"version": None}, "$.version"),
        ({"version": True}, "$.version"),
        ({"meta": None}, "$.meta"),
        ({"meta": {"sessionId": 5}}, "$.meta.sessionId"),
        ({"meta": {**export()["meta"], "createdAt": -1}}, "$.meta.createdAt"),
        ({"meta": {**export()["meta"], "updatedAt": 2**70}}, "$.meta.updatedAt"),
        ({"entries": {}}, "$.entries"),
        ({"entries": [{"type": "song"}]}, "$.entries[0].type"),
        ({"entries": [PROMPT, PROMPT]}, "$.entries[1].seq"),
        ({"entries": [{**PROMPT, "seq": 2**60}]}, "$.entries[0].seq"),
        ({"entries": [{**PROMPT, "time": -5}]}, "$.entries[0].time"),
        (
            {"entries": [{**PROMPT, "content": {"role": "user", "parts": [{"text": 1}]}}]},
            "$.entries[0].content.parts[0].text",
        ),
        ({"history": [{}]}, "$.history[0].role"),
    ],
)
def test_a_damaged_export_is_refused_with_the_place(changes: dict[str, Any], path: str) -> None:
    assert refused({**export(), **changes}).path == path


CONTENT_FIELDS = [
    "history",
    "systemInstruction",
    "role",
    "parts",
    "text",
    "functionCall",
    "functionResponse",
    "name",
    "id",
    "args",
    "result",
]
RECORD_FIELDS = [
    "messages",
    "sessionId",
    "projectHash",
    "type",
    "content",
    "toolCalls",
    "thoughts",
    "$set",
    "$rewindTo",
]
EXPORT_FIELDS = ["format", "version", "meta", "entries", "seq", "time", "turnId"]

_shaped = st.recursive(
    json_values | st.sampled_from(["user", "model", "gemini", "gemini-companion", "s1", 1, "2026-01-01T00:00:00Z"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*CONTENT_FIELDS, *RECORD_FIELDS, *EXPORT_FIELDS]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=examples(100))
@given(_shaped | st.lists(_shaped, max_size=3), st.sampled_from(["x.json", "x.jsonl"]))
def test_only_invalid_input_escapes_whatever_json_a_file_holds(value: object, name: str) -> None:
    lines = (
        [json.dumps(item).encode() for item in value]
        if isinstance(value, list) and name.endswith("l")
        else [json.dumps(value).encode()]
    )
    with suppress(InvalidInput):
        decode_session_file(b"\n".join(lines), name)


def _samples() -> list[bytes]:
    contents = [
        user_text("hé"),
        Content(role="model", parts=({"functionCall": {"id": "c1", "name": "ls", "args": {"p": "\u2028"}}},)),
    ]
    contents += [
        Content(role="user", parts=({"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "x"}}},)),
        model_text("ok"),
    ]
    lines = [
        '{"sessionId":"s","projectHash":"h"}',
        '{"id":"1","type":"user","content":"q"}',
        '{"$rewindTo":"1"}',
        '{"$set":{"messages":[]}}',
    ]
    return [
        "".join(text_of(encode_session(META, (), contents, "companion"))).encode(),
        "".join(text_of(encode_session(META, (), contents, "gemini-cli"))).encode(),
        b'{"history": [], "systemInstruction": {"parts": [{"text": "\\ud800"}]}}',
        "\n".join(lines).encode(),
    ]


@settings(max_examples=examples(100))
@given(
    st.sampled_from(_samples()),
    st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 6), st.binary(max_size=4)), min_size=1, max_size=6),
    st.sampled_from(["x.json", "x.jsonl"]),
)
def test_only_invalid_input_escapes_however_the_bytes_were_changed(
    sample: bytes, edits: list[tuple[int, int, bytes]], name: str
) -> None:
    data = sample
    for place, length, new in edits:
        at = place % (len(data) + 1)
        data = data[:at] + new + data[at + length :]
    with suppress(InvalidInput):
        decode_session_file(data, name)
