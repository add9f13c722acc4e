"""A large session file is read in pieces, and is what it would be in one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import user_text
from gemini_companion.sessions.interchange import decode_session_file, encode_session, text_of
from gemini_companion.sessions.interchange.companion import VERSION
from gemini_companion.sessions.interchange.json_document import parse_json
from gemini_companion.sessions.ports import SessionMeta

LARGE: Any = {"role": "user", "parts": [{"text": "ä" * 1_500_000}]}
MANY = 1_600
"""Entries, more than are converted in one go."""


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "document",
    [
        [LARGE, {"role": "model", "parts": [{"text": "short", "n": [1, 2.5, None, True]}]}],
        {"history": [LARGE], "systemInstruction": "Be brief.", "a": {"b": [1, {"c": []}]}, "x": "[", "y": [], "é": 1},
    ],
)
def test_a_large_file_is_read_like_a_small_one(document: Any, indent: int | None) -> None:
    for ascii_only in (True, False):
        text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
        for data in (text.encode(), b"\xef\xbb\xbf" + text.encode(), f" \r\n{text}\n".encode()):
            assert parse_json(data) == document


@pytest.mark.parametrize("document", ["a string", 12, True, None])
def test_a_large_file_that_is_no_session_is_refused_like_a_small_one(document: object) -> None:
    with pytest.raises(InvalidInput, match="Expected an array or an object"):
        decode_session_file(b" " * 2_000_000 + json.dumps(document).encode(), "a.json")


def test_a_large_file_of_blanks_is_empty() -> None:
    with pytest.raises(InvalidInput, match="The file is empty"):
        decode_session_file(b" \n" * 1_000_000, "a.json")


@pytest.mark.parametrize("broken", [(b"user", b"us\ner"), (b"]}]", b"]}}"), (b"]}]", b"]}]]")])
def test_what_is_broken_in_a_large_file_is_told_by_line_and_column(broken: tuple[bytes, bytes]) -> None:
    data = json.dumps([LARGE]).encode().replace(*broken)
    with pytest.raises(InvalidInput, match=r"Broken JSON at line 1, column \d+"):
        decode_session_file(data, "a.json")


def test_lone_surrogates_of_a_large_file_are_written_out() -> None:
    data = json.dumps([LARGE, {"role": "user", "parts": [{"text": "a \ud800 b"}]}]).encode()
    assert decode_session_file(data, "a.json").contents[1] == user_text(r"a \ud800 b")


def test_of_a_name_that_stands_twice_in_a_large_file_the_last_counts() -> None:
    data = f'{{"history": {json.dumps([LARGE])}, "history": []}}'.encode()
    assert list(decode_session_file(data, "a.json").contents) == []


def exported(entries: list[dict[str, Any]]) -> bytes:
    meta = SessionMeta(session_id="s1", title="T", model="gemini-2.5-pro", created_at=1, updated_at=1)
    export = json.loads("".join(text_of(encode_session(meta, (), (), "companion"))))
    return json.dumps({**export, "version": VERSION, "entries": entries}).encode()


def prompts() -> list[dict[str, Any]]:
    content = {"role": "user", "parts": [{"text": "x"}]}
    return [
        {"type": "prompt", "id": f"e{n}", "seq": n, "time": n, "turnId": f"t{n}", "content": content}
        for n in range(1, MANY)
    ]


def test_all_of_many_entries_are_taken_in_their_order() -> None:
    imported = decode_session_file(exported(prompts()), "a.json")
    assert imported.entries is not None
    assert [entry.seq for entry in imported.entries] == list(range(1, MANY))


def test_what_is_wrong_with_one_of_many_entries_is_told_with_its_place() -> None:
    entries = prompts()
    entries[1_234]["seq"] = "many"
    with pytest.raises(InvalidInput) as caught:
        decode_session_file(exported(entries), "a.json")
    assert caught.value.path == "$.entries[1234].seq"
