"""The server's text is the editor's, after any edits, in any encoding, with any line endings."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol.types import TextDocumentItem

from gemini_companion.protocol.documents import Document, Documents, split_lines
from gemini_companion.protocol.lsp import Position
from tests.support.examples import examples
from tests.support.sample_server import SampleApp
from tests.support.wire import InMemoryClient

URI = "file:///w/a%20b.py"
TEXT = st.text(st.sampled_from("ab\n\r\f\u2028\x85é😀\t"), max_size=14)
WIDTH = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def opened(text: str, encoding: str = "utf-16") -> Document:
    documents = Documents(None, position_encoding=encoding)
    documents.put_text_document(TextDocumentItem(uri=URI, language_id="python", version=1, text=text))
    document = documents.get_text_document(URI)
    assert isinstance(document, Document)
    return document


def at(line: int, character: int) -> Position:
    return Position(line=line, character=character)


def editor_offset(text: str, position: Position, encoding: str) -> int:
    """Where an editor takes a position to be: the specification read word by word, slowly."""
    starts = [0] + [match.end() for match in re.finditer("\r\n|\r|\n", text)]
    if position.line >= len(starts):
        return len(text)
    start = starts[position.line]
    length = len(re.split("[\r\n]", text[start:])[0])
    codec, width = WIDTH[encoding]
    units = 0
    for index in range(length):
        units += len(text[start + index].encode(codec)) // width
        if units > position.character:
            return start + index
    return start + length


@given(
    TEXT,
    st.lists(st.tuples(*[st.integers(0, 5), st.integers(0, 8)] * 2, TEXT), min_size=1, max_size=6),
    st.sampled_from(sorted(WIDTH)),
)
@settings(max_examples=examples(300))
def test_after_any_edits_the_text_is_the_editor_s(
    text: str, edits: list[tuple[int, int, int, int, str]], encoding: str
):
    document = opened(text, encoding)
    for first, from_, last, to, new in edits:
        start, end = at(first, from_), at(last, to)
        low, high = sorted((editor_offset(text, start, encoding), editor_offset(text, end, encoding)))
        text = text[:low] + new + text[high:]
        document.replace(start, end, new)
        assert "".join(document.lines) == text
        assert list(document.lines) == [line for line in split_lines(text) if line]
    assert document.source == text


@given(TEXT)
def test_lines_end_where_lsp_says_and_nowhere_else(text: str):
    lines = split_lines(text)
    assert "".join(lines) == text
    assert len(lines) == len(re.findall("\r\n|\r|\n", text)) + 1
    assert re.search("[\r\n]", lines[-1]) is None


def test_a_form_feed_is_no_line_ending():
    document = opened("one\f\ntwo\u2028\nthree\n")
    document.replace(at(2, 0), at(2, 5), "drei")
    assert document.source == "one\f\ntwo\u2028\ndrei\n"


async def test_a_document_follows_its_client_from_open_to_close(client: InMemoryClient, app: SampleApp):
    identifier: dict[str, Any] = {"uri": URI, "version": 2}
    client.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": URI, "languageId": "python", "version": 1, "text": "a😀b\nc\n"}},
    )
    documents = cast(Documents, client.server.connection.documents)
    changes = [
        {"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 4}}, "text": "B"},
        {
            "range": {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 0}},
            "text": "d",
            "rangeLength": 0,
        },
    ]
    client.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
    document = documents.opened(URI)
    assert document is not None
    assert (document.source, document.version, document.language_id) == ("a😀B\nc\nd", 2, "python")
    client.notify(
        "textDocument/didChange",
        {"textDocument": {**identifier, "version": None}, "contentChanges": [{"text": "whole"}]},
    )
    assert (document.source, list(document.lines)) == ("whole", ["whole"])
    for method in ("textDocument/didSave", "textDocument/didFocus"):
        client.notify(method, {"textDocument": {"uri": URI}})
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert documents.opened(URI) is None
    assert [name.removeprefix("textDocument/") for name, _ in app.documents] == [
        "didOpen",
        "didChange",
        "didChange",
        "didSave",
        "didFocus",
        "didClose",
    ]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/didOpen", {"garbage": 1}),
        ("textDocument/didOpen", [1]),
        ("textDocument/didOpen", None),
        ("textDocument/didOpen", {"textDocument": {"uri": "file:///x", "text": None}}),
        ("textDocument/didOpen", {"textDocument": {"uri": 5, "text": "x"}}),
        ("textDocument/didOpen", {"textDocument": {"uri": "file://[", "text": "x"}}),
        (
            "textDocument/didChange",
            {"textDocument": {"uri": "file:///none", "version": 1}, "contentChanges": [{"text": "x"}]},
        ),
        ("textDocument/didChange", {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [{"text": 5}]}),
        (
            "textDocument/didChange",
            {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [{"text": "x", "range": {}}]},
        ),
        (
            "textDocument/didChange",
            {
                "textDocument": {"uri": URI},
                "contentChanges": [
                    {"text": "x", "range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}}
                ],
            },
        ),
        ("textDocument/didClose", {"textDocument": URI}),
    ],
)
async def test_a_document_notification_that_does_not_fit_changes_nothing(
    client: InMemoryClient, app: SampleApp, method: str, params: object
):
    client.notify("textDocument/didOpen", {"textDocument": {"uri": URI, "text": "text"}})
    client.notify(method, params)
    documents = cast(Documents, client.server.connection.documents)
    assert list(documents.text_documents) == ["file:///w/a b.py"]
    document = documents.opened(URI)
    assert document is not None
    assert document.source == "text"
    assert len(app.documents) == 1
    assert client.received == []


async def test_closing_what_is_not_open_is_harmless(client: InMemoryClient):
    client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///none"}})
    assert await client.request("gemini/nothing") is None
