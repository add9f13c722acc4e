"""The full-text indexes have no copies of the texts: what is taken out of them is exactly what was put in."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.storage import SqliteStore, recall_index, records, search
from gemini_companion.adapters.storage.schema import migrate
from gemini_companion.adapters.storage.vaulted import Vaulted
from gemini_companion.engine.recall.words import normal
from tests.adapters.storage.planted_store import fill, leaks, vault
from tests.adapters.storage.stores import MakeStore, execute, meta, prompt
from tests.adapters.storage.test_recalling import COFFEE, Talk, texts
from tests.support.examples import examples
from tests.support.patience import PATIENCE

INDEXES = ("texts", "recall")


def words(connection: sqlite3.Connection) -> list[Any]:
    """Every word of both indexes, with the entries that have it, and how often each."""
    found: list[Any] = []
    for index in INDEXES:
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.of_{index} USING fts5vocab (main, {index}, instance)"
        )
        rows = connection.execute(f"SELECT term, doc, offset FROM of_{index}").fetchall()
        sessions = dict(connection.execute("SELECT number, session_id FROM recall_sessions").fetchall())
        seqs = dict(connection.execute("SELECT id, seq FROM passages").fetchall())
        for term, row, offset in rows:
            spot = row >> 9 if index == "recall" else row
            seq = seqs[spot] if index == "recall" else spot & 0xFFFFFF
            found.append((index, term, sessions[spot >> 24], seq, offset))
    return sorted(found)


def index_all(connection: sqlite3.Connection) -> None:
    while recall_index.index_step(connection):
        pass


class Shelf:
    """Sessions in a file of their own, changed as a store changes them."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(self.connection)
        self.talks: dict[str, Talk] = {}

    def begin(self, name: str, text: str) -> None:
        if name in self.talks:
            return
        self.talks[name] = Talk((text, "Yes."), ids=name)
        written = Vaulted().entries(self.talks[name].entries)
        records.insert_session(self.connection, Vaulted().meta(meta(name, title=text)), written)

    def say(self, name: str, text: str) -> None:
        self._append(name, lambda talk: talk.turn(text, f"No, {text}"))

    def break_off(self, name: str, text: str) -> None:
        self._append(name, lambda talk: talk.prompt(text).end("cancelled"))

    def rename(self, name: str, text: str) -> None:
        if name in self.talks:
            records.update_session(self.connection, Vaulted().meta(meta(name, title=text)))

    def delete(self, name: str, text: str) -> None:
        if self.talks.pop(name, None):
            recall_index.forget_some(self.connection, name)
            records.delete_session(self.connection, name)

    def index(self, name: str, text: str) -> None:
        recall_index.index_step(self.connection)

    def _append(self, name: str, grow: Any) -> None:
        if name not in self.talks:
            return
        talk = self.talks[name]
        before = len(talk.entries)
        grow(talk)
        records.append_entries(self.connection, name, Vaulted().entries(talk.entries[before:]))


_TEXT = st.text("ab éñ東京のfooBar_ .->?1", max_size=12) | st.sampled_from(
    ["Marmots ran", "fooBar went", "東京の coffee"]
)
_DEED = st.tuples(
    st.sampled_from([Shelf.begin, Shelf.say, Shelf.break_off, Shelf.rename, Shelf.delete, Shelf.index]),
    st.sampled_from(["one", "two"]),
    _TEXT,
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(_DEED, max_size=14))
def test_whatever_is_done_the_indexes_have_the_words_of_the_log_and_no_others(deeds: list[Any]) -> None:
    shelf = Shelf()
    with closing(shelf.connection):
        for deed, name, text in deeds:
            deed(shelf, name, text)
        index_all(shelf.connection)
        kept = words(shelf.connection)
        recall_index.empty(shelf.connection)
        index_all(shelf.connection)
        assert kept == words(shelf.connection)
        for name in list(shelf.talks):
            shelf.delete(name, "")
        assert words(shelf.connection) == []


async def test_the_file_has_each_text_once(store: SqliteStore, database: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        said = "Nobody says this of a marmot twice."
        await store.create(meta(), Talk((said, "Yes.")).entries)
        assert await texts(store, "marmot twice")
        await store.close()
        assert database.read_bytes().count(said.encode()) == 1


async def test_a_session_with_a_damaged_entry_goes_and_the_others_are_found(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("gone"), COFFEE.entries)
        await store.create(meta("kept", title="Of tea"), Talk(("And the tea machine?", "Two."), ids="k").entries)
        await execute(store, "UPDATE log SET json = x'00' WHERE session_id = 'gone' AND seq = 4")
        await store.delete("gone")
        assert (await texts(store, "machine"))[0] == "And the tea machine?"
        for query in ("tea mach", "of tea", "two"):
            assert [one.session_id for one in (await store.list(query=query)).sessions] == ["kept"], query
        assert (await store.list(query="coffee")).sessions == ()
        await store.delete("kept")
        assert await store.worker.run("read", words) == []


@pytest.mark.parametrize("damaged", [1, 150, 300, 550, 600])
async def test_a_long_session_goes_wherever_an_entry_of_it_is_damaged(store: SqliteStore, damaged: int) -> None:
    """Its words are taken out in steps, and each may find that the indexes have to be made anew."""
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("gone"), [prompt(number, f"Marmot {number}") for number in range(1, 601)])
        await store.create(meta("kept"), COFFEE.entries)
        await store.recall.index()
        await execute(store, f"UPDATE log SET json = x'00' WHERE session_id = 'gone' AND seq = {damaged}")
        await store.delete("gone")
        assert [one.session_id for one in (await store.list(query="coffee")).sessions] == ["kept"]
        assert {row[2] for row in await store.worker.run("read", words)} == {"kept"}


async def test_what_cannot_be_taken_out_while_a_long_session_is_indexed_has_all_indexed_anew() -> None:
    talk = Talk()
    for number in range(100):
        talk.prompt(f"Marmot {number}")
    talk.end("cancelled", turn_id="t40")
    for number in range(100):
        talk.prompt(f"Weasel {number}")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        records.insert_session(connection, Vaulted().meta(meta()), Vaulted().entries(talk.entries))
        recall_index.index_step(connection)
        connection.execute("UPDATE log SET json = x'00' WHERE seq = 40")
        index_all(connection)
        kept = words(connection)
        recall_index.empty(connection)
        index_all(connection)
        assert kept == words(connection) != []


async def test_a_long_session_leaves_the_indexes_while_others_write(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("long"), [prompt(number, f"Marmot {number}") for number in range(1, 2_001)])
        await store.recall.index()
        await store.create(meta("short"))
        deleting = asyncio.create_task(store.delete("long"))
        written = 0
        while not deleting.done():
            written += 1
            await store.append("short", [prompt(written, "meanwhile")])
            await store.recall.index()  # does not put in again what is being taken out
        await deleting
        assert written > 5
        assert {row[3] for row in await store.worker.run("read", words) if row[2] == "short"} == set(
            range(1, written + 1)
        )
        assert {row[2] for row in await store.worker.run("read", words)} == {"short"}


async def test_indexes_of_other_rules_are_made_anew_when_the_file_is_opened(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), COFFEE.entries)
        await store.close()
        monkeypatch.setattr(recall_index, "RULES_OF_WORDS", recall_index.RULES_OF_WORDS + 1)
        again = make_store()
        await again.list()
        assert await again.worker.run("read", words) == []
        assert len((await again.list(query="coffee")).sessions) == 1
        assert await texts(again, "coffee machine")
        await again.close()
        third = make_store()
        await third.list()
        assert await third.worker.run("read", words)


async def test_words_of_secrets_leave_the_indexes_when_they_are_redacted_later(
    make_store: MakeStore, tmp_path: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        old = make_store()
        await fill(old)
        await execute(old, "UPDATE redaction SET files = 1, pages = 1")  # as the migration of an earlier file does
        await old.close()
        store = make_store(vault=vault(tmp_path))
        await store.redact_older()
        assert leaks(tmp_path) == []
        await store.recall.index()
        kept = await store.worker.run("read", words)
        await store.worker.run("write", recall_index.empty)
        await store.recall.index()
        assert kept == await store.worker.run("read", words)


@pytest.mark.parametrize("sign", ["->", "?", "{", '"', "\\", "→"])
async def test_signs_are_found_in_texts_and_titles_and_not_in_how_they_are_stored(
    store: SqliteStore, sign: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("said"), [prompt(1, "nothing"), prompt(2, f"a {sign} b")])
        await store.create(meta("titled", title=f"of {sign}"), [prompt(1, "nothing")])
        await store.create(meta("neither"), [prompt(1, "nothing")])
        await store.create(meta("damaged"), [prompt(1, "nothing")])
        await execute(store, "UPDATE log SET json = ? WHERE session_id = 'damaged'", f'{{"{sign}'.encode())
        found = {one.session_id for one in (await store.list(query=sign)).sessions}
        assert found == {"said", "titled"}


@pytest.mark.parametrize("sign", ["⇒", "...", "≠", '"', "/", "\\", "!="])
@pytest.mark.parametrize("beside", ["plain", "größer", "Привет\n", "東京", "“…”", "a\u0308"])
@pytest.mark.parametrize("said", ["⇒", "…", "=\u0338", '"', "/", "\\", "！＝"])
def test_a_sign_is_found_in_json_just_where_the_decoded_text_has_it(sign: str, beside: str, said: str) -> None:
    text = f"{beside} {said} {beside}"
    stored = Vaulted().entries([prompt(1, text)])[0].row.data
    with closing(sqlite3.connect(":memory:")) as connection:
        search.teach(connection)
        for source in (stored, json.dumps(json.loads(stored)).encode(), stored.replace(b"/", b"\\/")):
            (found,) = connection.execute(f"SELECT {search.SAYS}(?, ?)", (source, sign)).fetchone()
            assert bool(found) == (sign in normal(text)), source


def test_what_is_told_from_json_alone_is_left_as_it_is_by_the_forms_that_are_compared() -> None:
    blocks = [*range(0x80), *range(0xC0, 0x100), *range(0x400, 0x480), *range(0x4000, 0xA000)]
    characters = [chr(code) for code in blocks]
    assert normal("".join(characters)) == "".join(characters)
    assert not any(map(unicodedata.combining, characters))
