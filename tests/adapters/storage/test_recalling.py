"""Finding what was said, in the store's own index."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.storage import SqliteStore, recall_search
from gemini_companion.adapters.storage.records import insert_session
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    Entry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    TurnEndEntry,
    TurnOutcome,
    UndoEntry,
)
from gemini_companion.engine.history.shown import Shown
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.recalled import RecallHit
from tests.adapters.storage.stores import START, execute, meta
from tests.hostile.timing import cpu_seconds
from tests.support.patience import PATIENCE


class Talk:
    """Entries as a chat writes them: turns of a prompt and an answer, with their ends."""

    def __init__(self, *turns: tuple[str, str], ids: str = "") -> None:
        self.ids = ids
        self.entries: list[Entry] = []
        self.count = 0
        for prompt, answer in turns:
            self.turn(prompt, answer)

    @property
    def seq(self) -> int:
        return len(self.entries) + 1

    def _common(self) -> dict[str, Any]:
        return {"id": f"{self.ids}e{self.seq}", "seq": self.seq, "time": START + self.seq, "turn_id": f"t{self.count}"}

    def prompt(self, text: str) -> Talk:
        self.count += 1
        self.entries.append(PromptEntry(**self._common(), content=Content(role="user", parts=({"text": text},))))
        return self

    def answer(self, text: str) -> Talk:
        self.entries.append(ReplyEntry(**self._common(), content=Content(role="model", parts=({"text": text},))))
        return self

    def result(self, text: str) -> Talk:
        part: dict[str, Any] = {"functionResponse": {"name": "run", "response": {"output": text}}}
        self.entries.append(ToolResultEntry(**self._common(), content=Content(role="user", parts=(part,))))
        return self

    def end(self, outcome: TurnOutcome = "completed", *, turn_id: str | None = None, kept_to: int = 0) -> Talk:
        common: dict[str, Any] = {**self._common(), **({"turn_id": turn_id} if turn_id else {})}
        shown = None if outcome == "completed" else Shown(text="What the zebra had said until then.")
        self.entries.append(TurnEndEntry(**common, outcome=outcome, kept_to=kept_to, shown=shown))
        return self

    def turn(self, prompt: str, answer: str) -> Talk:
        return self.prompt(prompt).answer(answer).end()


COFFEE = Talk(("Which port does the server use?", "It listens on 8123."), ("And the coffee machine?", "None at all."))


async def recalled(store: SqliteStore, question: str, **more: Any) -> list[RecallHit]:
    return list((await store.recall.search(parse_query(question), **more)).hits)


async def texts(store: SqliteStore, question: str, **more: Any) -> list[str]:
    return [hit.text for hit in await recalled(store, question, **more)]


async def test_what_was_said_is_found_with_where_and_what_stands_beside_it(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta(title="Ports"), COFFEE.entries)
        first, *_ = await recalled(store, "listening port")
        assert first == RecallHit(
            session_id="s1",
            session_title="Ports",
            turn_id="t1",
            entry_id="e2",
            role="model",
            time=START + 2,
            text="It listens on 8123.",
            score=first.score,
            before=("Which port does the server use?",),
            after=("And the coffee machine?", "None at all."),
        )
        assert first.score > 0


async def test_all_sessions_are_searched_unless_one_is_named(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        for number in range(3):
            await store.create(
                meta(f"s{number}"), Talk(("The marmot sleeps.", f"In hole {number}."), ids=f"s{number}").entries
            )
        assert {hit.session_id for hit in await recalled(store, "marmots")} == {"s0", "s1", "s2"}
        assert {hit.session_id for hit in await recalled(store, "marmots", session_id="s1")} == {"s1"}
        with pytest.raises(SessionNotFound):
            await recalled(store, "marmots", session_id="elsewhere")


async def test_an_entry_is_found_as_soon_as_it_is_written_and_not_after_its_session_went(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        talk = Talk(("Hello.", "Hello."))
        await store.create(meta(), talk.entries)
        written = len(talk.entries)
        await store.append("s1", talk.turn("The zebra is striped.", "Indeed.").entries[written:])
        assert (await texts(store, "zebra"))[0] == "The zebra is striped."
        await store.delete("s1")
        assert await texts(store, "zebra") == []
        assert await execute(store, "SELECT count(*) FROM recall") == [(0,)]
        assert await execute(store, "SELECT count(*) FROM passages") == [(0,)]


@pytest.mark.parametrize(
    ("outcome", "kept_to", "found"),
    [
        ("completed", 0, ["The zebra asked.", "The zebra answered."]),
        ("replaced", 0, []),
        ("cancelled", 0, []),
        ("failed", 1, ["The zebra asked."]),
        ("interrupted", 2, ["The zebra asked.", "The zebra answered."]),
    ],
)
async def test_what_no_view_shows_is_not_recalled_nor_what_was_shown_of_an_answer(
    store: SqliteStore, outcome: TurnOutcome, kept_to: int, found: list[str]
) -> None:
    async with asyncio.timeout(PATIENCE):
        talk = Talk().prompt("The zebra asked.").answer("The zebra answered.").end(outcome, kept_to=kept_to)
        await store.create(meta(), talk.entries)
        hits = (await store.recall.whole(turn_id="t1")).hits
        assert [hit.text for hit in hits] == found
        assert bool(await texts(store, "zebra")) == bool(found)


async def test_a_turn_that_was_replaced_gives_its_place_to_the_new_one(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        talk = Talk(("Before.", "Quite."), ("The zebra?", "Old answer."), ("The zebra?", "New answer."))
        talk.end("replaced", turn_id="t2")
        await store.create(meta(), talk.entries)
        (hit,) = await recalled(store, "new answers")
        assert (hit.text, hit.before) == ("New answer.", ("Quite.", "The zebra?"))
        assert not any("Old" in text for text in await texts(store, "old answer zebra"))


async def test_a_turn_or_an_entry_comes_back_whole(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        long = "a word and another\n" * 1_000
        await store.create(meta(title="Long"), Talk().prompt("Show it.").answer("I look.").result(long).end().entries)
        hits = (await store.recall.whole(turn_id="t1")).hits
        assert [(hit.role, hit.text) for hit in hits] == [("user", "Show it."), ("model", "I look."), ("tool", long)]
        (entry,) = (await store.recall.whole(entry_id="e2", session_id="s1")).hits
        assert (entry.text, entry.session_title, entry.score) == ("I look.", "Long", 0.0)
        assert (await store.recall.whole(turn_id="t9")).hits == ()
        with pytest.raises(SessionNotFound):
            await store.recall.whole(turn_id="t1", session_id="elsewhere")


async def test_what_a_fork_repeats_is_found_once(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("original"), COFFEE.entries)
        await store.create(meta("fork", parent="original"), COFFEE.entries)
        assert sorted(await texts(store, "coffee machine")) == sorted(set(await texts(store, "coffee machine")))
        assert len((await store.recall.whole(turn_id="t1")).hits) == 2


async def test_a_hit_tells_whether_a_compression_hides_it(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        result = CompressionResult(
            status="COMPRESSED",
            trigger="manual",
            original_token_count=9,
            new_token_count=1,
            token_count_source="estimate",
            model_calls=1,
            duration_ms=1,
            message="",
        )
        talk = Talk(("One marmot.", "Yes."), ("Two marmots.", "Yes."))
        count = len(talk.entries)
        talk.entries.append(
            CompressionEntry(
                id="c", seq=count + 1, time=START, compression_id="c1", result=result, hides=(1, 3), keeps=(2,)
            )
        )
        await store.create(meta(), talk.entries)
        hidden = {hit.text: hit.is_hidden for hit in (await store.recall.whole(turn_id="t1")).hits}
        assert hidden == {"One marmot.": True, "Yes.": False}
        assert [hit.is_hidden for hit in (await store.recall.whole(turn_id="t2")).hits] == [False, False]
        await store.append("s1", [UndoEntry(id="u", seq=count + 2, time=START, undone=("c1",), result=result)])
        assert not any(hit.is_hidden for hit in await recalled(store, "marmot"))


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("We configured the poolers generously.", "generous configuration of a pooler"),
        ("See parseConfigFile in loader.", "where is the config file parsed"),
        ("My children went home.", "when did the child go"),
        ("接続タイムアウトの再試行を三回に増やした", "再試行は何回"),
        ("数据库连接超时", "连接超时重试几次"),
        ("Ein Café in Zürich", "cafe zurich"),
        ("Die Größe ist ５", "größe 5"),
    ],
)
async def test_words_are_found_by_stem_part_and_pair(store: SqliteStore, said: str, asked: str) -> None:
    async with asyncio.timeout(PATIENCE):
        talk = Talk(("Nothing of note.", "Unrelated remark."), (said, "I see."))
        await store.create(meta(), talk.entries)
        assert said in await texts(store, asked)


async def test_a_long_text_is_shown_where_it_matches(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        long = "\n".join(f"line {number} of the listing" for number in range(3_000))
        long = long.replace("line 1234 of", "line 1234 with the marmot of")
        await store.create(meta(), Talk().prompt("List it.").answer("Here.").result(long).end().entries)
        (hit,) = await recalled(store, "marmot")
        assert "the marmot of the listing" in hit.text
        assert len(hit.text) <= 600


# --- hostile questions

TRICKS = [
    *('"', '""', 'a" OR "b', "NEAR(a b", "body : x", "-x", "*", "^a", "col:", "a AND", "(", "'; DROP TABLE recall; --"),
    *("\0", "a\0b", "\ud800", "\ud800 a", "{}[]", "NOT", "OR", "é\u0301" * 500, "\u202e", "x" * 1_000_000),
    *(" ".join(f"w{number}" for number in range(200_000)), "?", "   ", "'", "\\", "%_", "🦊", "᭄", "a.b.c/d:e-f"),
]


@pytest.fixture(scope="module")
def indexed() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    insert_session(connection, Vaulted().meta(meta()), Vaulted().entries(COFFEE.entries))
    return connection


@pytest.mark.parametrize("question", TRICKS, ids=lambda trick: ascii(trick[:12]))
def test_no_question_is_an_instruction_to_the_index(indexed: sqlite3.Connection, question: str) -> None:
    def work() -> None:
        query = parse_query(question)
        recall_search.hits(indexed, recall_search.search(indexed, query), query.words)

    assert cpu_seconds(work, enough=2.0) < 2.0
    assert indexed.execute("SELECT count(*) FROM recall").fetchone() == (4,)


@given(st.text())
def test_any_text_can_be_asked_and_said(text: str) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    said = text.encode(errors="replace").decode()
    insert_session(connection, Vaulted().meta(meta()), Vaulted().entries(Talk((said, said)).entries))
    query = parse_query(text)
    for hit in recall_search.hits(connection, recall_search.search(connection, query), query.words):
        assert hit.text.strip("…") in said
    connection.close()
