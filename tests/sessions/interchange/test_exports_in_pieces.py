"""A long session file is written some contents at a time, and is the same file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.sessions.interchange import encode_session, text_of
from gemini_companion.sessions.interchange.importing import entries_of
from gemini_companion.sessions.interchange.pieces import AT_ONCE
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import ExportFormat

META = SessionMeta(session_id="session-1", title="Long", model="gemini-2.5-pro", created_at=1, updated_at=2)
LENGTHS = (0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE)


def written(format: ExportFormat, length: int) -> tuple[str, list[Any]]:
    """The file, and the documents that were looked through for it."""
    contents = [(model_text if number % 2 else user_text)(f"line {number}\nnext") for number in range(length)]
    seen: list[Any] = []

    def redact(document: bytes) -> bytes:
        seen.append(json.loads(document))
        return document

    return "".join(text_of(encode_session(META, entries_of(contents, now=3), contents, format), redact)), seen


@pytest.mark.parametrize("length", LENGTHS)
def test_our_own_file_is_one_compact_document(length: int) -> None:
    text, _ = written("companion", length)
    document = json.loads(text)
    assert text == json.dumps(document, separators=(",", ":"))
    assert [len(document["history"]), sum("content" in entry for entry in document["entries"])] == [length, length]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_file_for_gemini_cli_is_one_indented_document(length: int) -> None:
    text, _ = written("gemini-cli", length)
    document = json.loads(text)
    assert text == json.dumps(document, indent=2)
    assert len(document["messages"]) == length


@pytest.mark.parametrize("length", LENGTHS)
def test_a_file_in_lines_has_one_for_each_message_and_ends_with_one(length: int) -> None:
    text, _ = written("gemini-cli-jsonl", length)
    assert text.endswith("}\n")
    ids = [json.loads(line).get("id") for line in text.splitlines()]
    assert len(ids) == len(set(ids)) == length + 1


@pytest.mark.parametrize("format", ["companion", "gemini-cli", "gemini-cli-jsonl"])
def test_no_call_gets_more_than_some_contents_to_look_through(format: ExportFormat) -> None:
    _, seen = written(format, 3 * AT_ONCE)
    arrays = [document for document in seen if isinstance(document, list)]
    assert max(map(len, arrays)) <= AT_ONCE
    assert sum(map(len, arrays)) >= 3 * AT_ONCE
