"""Finding sessions again: in pages, and by what was said in them."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
import threading
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.storage import SqliteStore, search
from gemini_companion.adapters.storage.paging import decode_cursor, encode_cursor
from gemini_companion.adapters.storage.records import insert_session
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.log import (
    Entry,
    IdeContextEntry,
    PinEntry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.shown import Shown
from tests.adapters.storage.stores import START, meta, prompt
from tests.support.patience import PATIENCE


async def found(store: SqliteStore, query: str) -> list[str]:
    return [listed.session_id for listed in (await store.list(query=query)).sessions]


async def test_pages_go_on_where_the_last_one_ended_also_among_equal_times(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for number in range(7):
            await store.create(meta(f"s{number}", updated_at=START + number // 3))
        names: list[str] = []
        cursor = None
        while True:
            page = await store.list(limit=2, cursor=cursor)
            names += [listed.session_id for listed in page.sessions]
            cursor = page.next_cursor
            if cursor is None:
                break
            assert len(page.sessions) == 2
        assert names == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]


@pytest.mark.parametrize(("limit", "size"), [(-5, 1), (0, 1), (2, 2), (10**9, 3)])
async def test_a_page_has_at_least_one_session_and_a_bound(store: SqliteStore, limit: int, size: int) -> None:
    async with asyncio.timeout(PATIENCE):
        for number in range(3):
            await store.create(meta(f"s{number}"))
        assert len((await store.list(limit=limit)).sessions) == size


async def test_paging_works_within_what_a_query_finds(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for number in range(4):
            await store.create(meta(f"s{number}", title="even" if number % 2 == 0 else "odd"))
        first = await store.list(query="even", limit=1)
        second = await store.list(query="even", limit=1, cursor=first.next_cursor)
        assert [listed.session_id for page in (first, second) for listed in page.sessions] == ["s2", "s0"]
        assert second.next_cursor is None


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.text(st.characters(exclude_categories=["Cs"]), max_size=9))
def test_a_cursor_says_what_it_was_made_of(time: int, session_id: str) -> None:
    assert decode_cursor(encode_cursor(time, session_id)) == (time, session_id)


@given(st.text(max_size=20) | st.binary(max_size=20).map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_a_cursor_that_is_none_is_refused(cursor: str) -> None:
    try:
        place = decode_cursor(cursor)
    except InvalidInput as fault:
        assert fault.path == "$.cursor"  # noqa: PT017
    else:
        assert isinstance(place[0], int)
        assert isinstance(place[1], str)


async def test_a_cursor_from_elsewhere_is_refused_by_the_listing(store: SqliteStore) -> None:
    huge = base64.urlsafe_b64encode(msgspec.json.encode([2**70, "x"])).decode()
    async with asyncio.timeout(PATIENCE):
        for cursor in ("nonsense", "", "{}", huge, "é"):
            with pytest.raises(InvalidInput):
                await store.list(cursor=cursor)


# --- what is found


@pytest.mark.parametrize(
    ("said", "query", "is_found"),
    [
        ("Fix the parser", "fix parser", True),
        ("Fix the parser", "parser FIX", True),
        ("Fix the parser", "fix pars", True),
        ("Fix the parser", "pars fix", False),
        ("Fix the parser", "arser", False),
        ("Fix the parser", "fix lexer", False),
        ("Ça coûte 3 €", "ca coute", True),
        ("Ｆｕｌｌ width", "full", True),
        ("def find_split_point(x):", "find_split_point", True),
        ("def find_split_point(x):", "find_spl", True),
        ("def find_split_point(x):", "split_find", False),
        ("server/main.py:12", "main.py", True),
        ("東京都に行きました", "東京", True),
        ("東京都に行きました", "京都", True),
        ("東京都に行きました", "都", True),
        ("東京都に行きました", "した", True),
        ("東京都に行きました", "た", True),
        ("東京都に行きました", "京東", False),
        ("東京都に行きました", "東都", False),
        ("東京都に行きました", "東京 行き", True),
        ("Pythonの関数を直す", "Pythonの関数", True),
        ("Pythonの関数を直す", "関数 python", True),
        ("Pythonの関数を直す", "関数foo", False),
        ("ファイルmainを開く", "ファイルmainを", True),
        ("修复解析器的错误", "解析器", True),
        ("修复解析器的错误", "解析错", False),
        ("한국어를 배웁니다", "한국어", True),
        ("C++ and -- and !!", "++", True),
        ("C++ and -- and !!", "%%", False),
        ("100% sure", "%", True),
        ("nothing", "_", False),
        ('say "hello"', '"hello"', True),
        ("x", "\0", True),
        ("x", "", True),
        ("x", "   ", True),
    ],
)
async def test_words_find_what_was_said(store: SqliteStore, said: str, query: str, is_found: bool) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1, said)])
        assert bool(await found(store, query)) is is_found


OPERATORS = [
    '"',
    '""',
    "a OR b",
    "NOT x",
    "a AND",
    "NEAR(a b)",
    "body:a",
    "a*",
    "*",
    "^a",
    "(",
    ")",
    "a + b",
    "{a}",
    "-a",
    "'",
    "a;b",
    "\\",
    "日 OR",
]


@pytest.mark.parametrize("query", [*OPERATORS, "\ud800"])
async def test_what_would_be_an_operator_is_a_word(store: SqliteStore, query: str) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [prompt(1, "unrelated")])
        assert await found(store, query) == []


async def test_the_words_may_stand_in_different_entries_and_in_the_title(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="About lexers"), [prompt(1, "alpha")])
        await store.append("s1", [prompt(2, "beta")])
        await store.create(meta("s2", title="About lexers"), [prompt(1, "alpha")])
        assert await found(store, "beta lexers alpha") == ["s1"]


async def test_a_new_title_is_found_and_the_old_one_no_more(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="Sparrow"))
        await store.save_meta(meta(title="Heron"))
        await store.save_meta(meta(title="Heron", turns=1))
        assert (await found(store, "sparrow"), await found(store, "heron")) == ([], ["s1"])


CALL = {
    "functionCall": {"name": "run_shell_command", "args": {"command": "make gizmo", "deep": [{"x": "widget"}], "n": 5}}
}
ANSWER = {"functionResponse": {"name": "run_shell_command", "response": {"output": "sprocket"}}}
ODD_ANSWER = {"functionResponse": {"name": "run_shell_command", "response": {"rows": [["flange"]]}}}
_common: dict[str, Any] = {"id": "e", "time": 1, "turn_id": "t"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (PromptEntry(seq=1, content=user_text("gizmo"), **_common), {"gizmo"}),
        (
            ReplyEntry(seq=1, content=Content(role="model", parts=({"text": "gizmo"}, CALL)), **_common),
            {"gizmo", "widget", "run_shell_command"},
        ),
        (
            ToolResultEntry(seq=1, content=Content(role="user", parts=(ANSWER, ODD_ANSWER)), **_common),
            {"sprocket", "flange"},
        ),
        (PinEntry(id="e", seq=1, time=1, pin_id="p", text="gizmo"), {"gizmo"}),
        (
            ReplyEntry(seq=1, content=Content(role="model", parts=({"text": "gizmo", "thought": True},)), **_common),
            set(),
        ),
        (IdeContextEntry(seq=1, content=user_text("gizmo"), kind="full", client="c", epoch=1, **_common), set()),
        (TurnEndEntry(seq=1, outcome="cancelled", shown=Shown(text="gizmo", thoughts="flange"), **_common), {"gizmo"}),
        (TurnEndEntry(seq=1, outcome="cancelled", reason="gizmo", **_common), set()),
    ],
    ids=["prompt", "reply and call", "results", "pin", "thought", "IDE context", "cut short", "end"],
)
async def test_what_is_said_is_found_and_nothing_else(store: SqliteStore, entry: Entry, words: set[str]) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(), [entry])
        every = {"gizmo", "widget", "sprocket", "flange", "run_shell_command"}
        assert {word for word in every if await found(store, word)} == words


def matches(said: str, query: str) -> bool:
    """The index alone, without a store around it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(connection)
        search.teach(connection)
        insert_session(connection, Vaulted().meta(meta()), Vaulted().entries([prompt(1, said)]))
        clauses, arguments = search.conditions(query)
        where = " AND ".join(clauses) or "1"
        return bool(connection.execute(f"SELECT 1 FROM sessions WHERE {where}", arguments).fetchall())
    finally:
        connection.close()


_word = st.text("abcé日本語東京のをガギ한국กิ", min_size=1, max_size=6)


@given(st.lists(_word, min_size=1, max_size=6), st.data())
def test_every_word_is_found_by_itself_and_by_its_beginning(words: list[str], data: st.DataObject) -> None:
    said = " ".join(words)
    word = data.draw(st.sampled_from(words))
    assert matches(said, word)
    assert matches(said, word[: data.draw(st.integers(1, len(word)))])


@given(st.text("日本語東京のを", min_size=1, max_size=12), st.data())
def test_any_run_of_characters_is_found_where_there_are_no_spaces(said: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(said) - 1))
    run = said[start : data.draw(st.integers(start + 1, len(said)))]
    assert matches(f"before {said} after", run)
    assert matches(said, run) is (run in said)


@given(st.text(max_size=40), st.text(max_size=30))
def test_no_query_is_a_syntax_error(said: str, query: str) -> None:
    matches(said.encode(errors="replace").decode(), query)


async def test_no_write_waits_for_a_search_however_long_it_reads(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, released = threading.Event(), threading.Event()
    normal = search.normal

    def slowly(text: str) -> str:
        if text == "An arrow \u21d2":
            reached.set()
            released.wait(PATIENCE)
        return normal(text)

    monkeypatch.setattr(search, "normal", slowly)
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("s1", title="An arrow \u21d2"), [prompt(1)])
        searching = asyncio.create_task(found(store, "\u21d2"))
        try:
            assert await asyncio.to_thread(reached.wait, PATIENCE)
            await store.append("s1", [prompt(2)])
            assert not searching.done()
        finally:
            released.set()
        assert await searching == ["s1"]
