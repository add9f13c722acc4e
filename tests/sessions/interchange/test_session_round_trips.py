"""What is exported comes back equal."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.commands.naming import flattened
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import Entry, PromptEntry, ReplyEntry, Usage
from gemini_companion.sessions.interchange import SessionExport, decode_session_file, encode_session, text_of
from gemini_companion.sessions.interchange.companion import VERSION
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import ExportFormat
from tests.sessions.interchange.session_strategies import contents, logs, metas
from tests.support.examples import examples

CORPUS = Path(os.environ.get("COMPANION_CORPUS", Path(__file__).parents[3].parent / "shared" / "corpus"))

FOR_GEMINI_CLI: tuple[ExportFormat, ...] = ("gemini-cli", "gemini-cli-jsonl")

META = SessionMeta(
    session_id="s1",
    title="About q",
    model="gemini-2.5-pro",
    created_at=1_767_225_600_123,
    updated_at=1_767_225_601_000,
    workspace_folders=("/w",),
    system_instruction="Be kind.",
)


@settings(max_examples=examples(60))
@given(metas, logs(), st.lists(contents, max_size=3))
def test_our_own_export_gives_back_an_equal_log(
    meta: SessionMeta, entries: tuple[Entry, ...], history: list[Content]
) -> None:
    held = msgspec.structs.replace(meta, held_by=77)
    session = decode_session_file(
        "".join(text_of(encode_session(held, entries, history, "companion"))).encode(), "s.json"
    )
    meta = msgspec.structs.replace(meta, title=flattened(meta.title, 500))  # a file's title is shown, whoever wrote it
    assert (session.meta, session.entries, session.contents) == (meta, entries, history)
    assert (session.title, session.system_instruction, session.session_id) == (
        meta.title,
        meta.system_instruction,
        meta.session_id,
    )


@settings(max_examples=examples(100))
@given(metas, st.lists(contents, max_size=8))
def test_an_export_for_gemini_cli_gives_back_equal_contents(meta: SessionMeta, history: list[Content]) -> None:
    meta = msgspec.structs.replace(meta, session_id=meta.session_id or "s")  # by which a `.jsonl` file is known
    for format in FOR_GEMINI_CLI:
        session = decode_session_file("".join(text_of(encode_session(meta, (), history, format))).encode(), "s.json")
        assert list(map(without_false_thought, session.contents)) == list(map(without_false_thought, history))
        assert session.system_instruction == meta.system_instruction


def without_false_thought(content: Content) -> Content:
    """`thought: false` says what its absence says, and marks for Gemini CLI what it would leave out else."""
    parts = (
        {name: value for name, value in part.items() if (name, value) != ("thought", False)} for part in content.parts
    )
    return Content(role=content.role, parts=tuple(parts))


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*.json")) or [None], ids=lambda path: path.stem if path else "no corpus"
)
def test_real_conversations_come_back_equal_from_either_format(path: Path | None) -> None:
    if path is None:
        pytest.skip(f"{CORPUS} is not there (COMPANION_CORPUS)")
    history = decode_session_file(path.read_bytes(), path.name).contents
    assert history
    for format in ("companion", *FOR_GEMINI_CLI):
        assert (
            decode_session_file("".join(text_of(encode_session(META, (), history, format))).encode(), "s.json").contents
            == history
        )


def test_pins_in_force_are_told_beside_the_log() -> None:
    raw = json.loads("".join(text_of(encode_session(META, (), (), "companion"))))
    common = {"id": "e", "time": 1}
    raw["entries"] = [
        {"type": "pin", "seq": 1, "pinId": "p1", "text": "one", **common},
        {"type": "pin", "seq": 2, "pinId": "p2", "text": "two", **common},
        {"type": "unpin", "seq": 3, "pinId": "p1", **common},
    ]
    assert decode_session_file(json.dumps(raw).encode(), "s.json").pins == ("two",)


def test_our_own_export_says_what_it_is_and_reads_as_a_plain_history_too() -> None:
    text = "".join(text_of(encode_session(META, (), [user_text("q")], "companion")))
    raw = json.loads(text)
    assert (raw["format"], raw["version"]) == ("gemini-companion", VERSION)
    assert raw["history"] == [{"role": "user", "parts": [{"text": "q"}]}]
    assert msgspec.json.decode(text, type=SessionExport).meta == META


def exported(history: Sequence[Content], entries: Sequence[Entry] = ()) -> dict[str, object]:
    return json.loads("".join(text_of(encode_session(META, entries, history, "gemini-cli"))))


def test_the_other_programs_fields_are_all_there() -> None:
    document = exported([user_text("q")])
    assert {
        name: document[name] for name in ("sessionId", "startTime", "lastUpdated", "kind", "summary", "directories")
    } == {
        "sessionId": "s1",
        "startTime": "2026-01-01T00:00:00.123Z",
        "lastUpdated": "2026-01-01T00:00:01.000Z",
        "kind": "main",
        "summary": "About q",
        "directories": ["/w"],
    }
    assert (
        document["projectHash"] == "d1bb8ca354673cd575d31d952490058c9943aef39d5a9553fb4a21ab7a59a19d"
    )  # SHA-256 of "/w"


def test_results_are_messages_of_their_own_and_the_calls_show_what_became_of_them() -> None:
    call = {"functionCall": {"id": "c1", "name": "ls", "args": {"p": "."}}, "thoughtSignature": "sig"}
    other = {"functionCall": {"id": "c2", "name": "cat"}}
    open_one = {"functionCall": {"name": "rm"}}
    told = [
        {"functionResponse": {"id": "c2", "name": "cat", "response": {"error": "no"}}},
        {"inlineData": {"mimeType": "image/png", "data": ""}},
        {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "x"}}},
    ]
    history = [
        user_text("q"),
        Content(role="model", parts=({"text": "I look."}, call, other, open_one)),
        Content(role="user", parts=tuple(told)),
    ]
    messages = exported(history)["messages"]
    assert isinstance(messages, list)
    assert [message["type"] for message in messages] == ["user", "gemini", "user"]
    assert [message["content"] for message in messages[1:]] == [[{"text": "I look."}, call, other, open_one], told]
    assert [message.get("displayContent") for message in messages] == [None, "I look.", " "]
    assert [(record["id"], record["status"]) for record in messages[1]["toolCalls"]] == [
        ("shown-c1", "success"),
        ("shown-c2", "error"),
        ("shown-2", "cancelled"),
    ]
    assert not any("result" in record for record in messages[1]["toolCalls"]), "Gemini CLI would tell them twice"


@pytest.mark.parametrize("text", ["/etc/hosts", " ?", "<session_context>", "<hook_context>x", "", " \n"])
def test_a_prompt_that_gemini_cli_would_leave_out_is_marked_and_comes_back_as_it_was(text: str) -> None:
    history = [user_text("q"), model_text("a"), Content(role="user", parts=({"text": text}, {"text": ""}))]
    messages = exported(history)["messages"]
    assert isinstance(messages, list)
    assert [part.get("thought") for message in messages for part in message["content"]] == [None, None, False, None]
    lines = "".join(text_of(encode_session(META, (), history, "gemini-cli-jsonl")))
    assert lines.endswith("}\n"), "Gemini CLI writes on behind it"
    assert decode_session_file(lines.encode(), "s.jsonl").contents == history


def test_the_log_says_when_and_by_which_model_a_content_was_said() -> None:
    prompt = PromptEntry(id="p", seq=1, time=1_767_225_700_000, turn_id="t", content=user_text("q"))
    usage = Usage(prompt_tokens=5, output_tokens=2, total_tokens=7)
    reply = ReplyEntry(
        id="r", seq=2, time=1_767_225_701_000, turn_id="t", content=model_text("a"), model="gemini-3-pro", usage=usage
    )
    document = exported([prompt.content, reply.content, reply.content], [prompt, reply])
    messages = document["messages"]
    assert isinstance(messages, list)
    assert [(message["id"], message["timestamp"], message.get("model")) for message in messages[:2]] == [
        ("p", "2026-01-01T00:01:40.000Z", None),
        ("r", "2026-01-01T00:01:41.000Z", "gemini-3-pro"),
    ]
    assert messages[1]["tokens"] == {"input": 5, "output": 2, "cached": 0, "thoughts": 0, "tool": 0, "total": 7}
    assert len({message["id"] for message in messages}) == 3, "a reader keeps one message per id"


@given(st.integers(0, 2**53 - 1))
def test_any_time_that_a_session_may_have_can_be_written(time: int) -> None:
    document = exported([user_text("q")], [PromptEntry(id="p", seq=1, time=time, turn_id="t", content=user_text("q"))])
    assert datetime.fromisoformat(str(document["startTime"]))
    "".join(
        text_of(
            encode_session(
                msgspec.structs.replace(META, created_at=time, updated_at=time), (), [user_text("q")], "gemini-cli"
            )
        )
    )
