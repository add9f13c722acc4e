"""A fork shares the rows that it began with; whatever becomes of the others, its log stays as it was."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.errors import InvalidInput, SessionNotFound, StaleVersion
from gemini_companion.engine.history.log import Entry, encode_entry
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.shared_entries import Ranges, ranges_of
from tests.adapters.storage.forked_chats import forked, log_of, rows, talk
from tests.adapters.storage.planted_store import TOKEN, fill, leaks, vault
from tests.adapters.storage.stores import MakeStore, execute, meta, prompt
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import PLANTED


@pytest.fixture
async def looked_through(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every document that is looked through for secrets from now on."""
    documents: list[object] = []
    document, unchanged = Vault.document, Vault.unchanged

    def counting(self: Vault, data: bytes) -> object:
        documents.append(data)
        return document(self, data)

    def counting_all(self: Vault, values: Iterable[object]) -> Iterator[bool]:
        some = list(values)
        documents.extend(some)
        return unchanged(self, some)

    monkeypatch.setattr(Vault, "document", counting)
    monkeypatch.setattr(Vault, "unchanged", counting_all)
    return documents


async def test_a_fork_writes_no_row_that_its_parent_has(
    make_store: MakeStore, tmp_path: Path, looked_through: list[object]
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await fill(store)
        before = await log_of(store, "s1")
        looked_through.clear()
        await forked(store)
        assert len(looked_through) == 2, "what is known of the session, and the entry that is its own"
        assert len((await rows(store))["fork"]) == 1
        assert (await log_of(store, "fork"))[:-1] == before
        assert leaks(tmp_path) == []


async def test_a_fork_keeps_its_entries_and_their_secrets_when_its_parent_is_deleted(
    make_store: MakeStore, tmp_path: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await fill(store)
        before = await log_of(store, "s1")
        await forked(store)
        await store.delete("s1")
        after = await log_of(store, "fork")
        assert after[:-1] == before
        assert any(TOKEN.encode() in entry for entry in after)
        assert [one.session_id for one in (await store.list(query="on in")).sessions] == ["fork"]
        await store.delete("fork")
        assert (await store.secrets())[0] <= 1  # the project's own rule has one
        assert await rows(store) == {}


async def test_of_a_deleted_parent_exactly_what_forks_share_stays(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two", "three", "four", "five"))
        await store.create(meta("a", parent="s1"), talk("a", first=6), [(1, 1), (3, 3)])
        await forked(store, "b", to=2)
        await forked(store, "of-b", parent="b")
        await store.delete("s1")
        assert await rows(store) == {"a": [6], "b": [3], "of-b": [4], "s1": [1, 2, 3]}
        await store.delete("a")
        assert await rows(store) == {"b": [3], "of-b": [4], "s1": [1, 2]}
        await store.delete("b")
        assert await rows(store) == {"b": [3], "of-b": [4], "s1": [1, 2]}
        assert len(await log_of(store, "of-b")) == 4
        await store.delete("of-b")
        assert await rows(store) == {}
        assert await execute(store, "SELECT count(*) FROM shares") == [(0,)]


async def test_what_forks_still_have_counts_once_as_the_room_that_they_take(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("word " * 2_000))
        (whole,) = [one.size for one in await store.stored()]
        for name in ("a", "b"):
            await forked(store, name)
        assert sum(one.size for one in await store.stored()) < 1.2 * whole
        await store.delete("s1")
        left = {one.session_id: one.size for one in await store.stored()}
        assert whole < sum(left.values()) < 1.2 * whole
        await store.delete(max(left, key=lambda one: left[one]))
        ((one),) = await store.stored()
        assert one.size > whole


async def test_each_row_that_forks_still_have_counts_whichever_of_them_is_the_oldest(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("little", *("word " * 2_000 for _ in range(3))))
        (whole,) = [one.size for one in await store.stored()]
        for name, end in (("early", 1), ("late", 3), ("last", 4)):
            await forked(store, name, to=end)
        await store.delete("s1")
        left = {one.session_id: one.size for one in await store.stored()}
        assert whole < sum(left.values()) < 1.2 * whole
        assert left["early"] < left["last"] < left["late"] < whole
        await store.delete("early")
        assert whole < sum(one.size for one in await store.stored()) < 1.2 * whole


async def test_both_go_on_apart_from_each_other(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        await forked(store, to=1)
        await store.append("s1", talk("three", first=3))
        await store.append("fork", talk("other three", first=3))
        texts = [entry.content.parts[0]["text"] for entry in (await store.load("fork"))[1]]  # type: ignore[union-attr]
        assert texts == ["one", "on in fork", "other three"]
        assert len(await log_of(store, "s1")) == 3


async def test_a_fork_is_searched_for_what_it_shares_also_when_its_parent_is_gone(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("the harbour", "the {{sign", "the lighthouse"))
        await forked(store, to=2)
        for word, both in (("harbour", True), ("{{", True), ("lighthouse", False)):
            listed = {one.session_id for one in (await store.list(query=word)).sessions}
            assert listed == ({"s1", "fork"} if both else {"s1"}), word
        everywhere = [hit.text for hit in (await store.recall.search(parse_query("harbour"))).hits]
        assert everywhere.count("the harbour") == 1
        await store.delete("s1")
        assert [one.session_id for one in (await store.list(query="harbour")).sessions] == ["fork"]
        hits = (await store.recall.search(parse_query("harbour"), session_id="fork")).hits
        assert ("fork", "the harbour") in {(hit.session_id, hit.text) for hit in hits}
        assert [one.session_id for one in (await store.list(query="{{")).sessions] == ["fork"]
        await store.delete("fork")
        assert (await store.recall.search(parse_query("harbour"))).hits == ()


async def test_what_a_fork_shares_is_redacted_for_it_too(make_store: MakeStore, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        plain = make_store()
        await plain.create(meta(), talk(f"the token is {TOKEN}", "the harbour"))
        await forked(plain)
        await plain.recall.index()
        await plain.close()
        store = make_store(vault=vault(tmp_path))
        before = await log_of(store, "fork")
        await store.redact_older()
        assert await execute(store, "SELECT count(*) FROM log WHERE redacted = 0") == [(0,)]
        await store.delete("s1")
        assert await log_of(store, "fork") == before
        assert leaks(tmp_path) == []
        assert [one.session_id for one in (await store.list(query="harbour")).sessions] == ["fork"]
        assert (await store.list(query=TOKEN)).sessions == ()


async def test_what_a_fork_has_of_a_deleted_parent_is_redacted_for_it(make_store: MakeStore, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        plain = make_store()
        await plain.create(meta(), talk(f"the token is {TOKEN}"))
        await forked(plain)
        await plain.delete("s1")
        await plain.close()
        store = make_store(vault=vault(tmp_path))
        before = await log_of(store, "fork")
        await store.redact_older()
        assert await log_of(store, "fork") == before
        await store.delete("fork")
        assert (await store.secrets()) == (0, 0)


async def test_without_the_key_a_fork_has_the_marks_of_its_parent(make_store: MakeStore, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await fill(store)
        await store.close()
        shutil.rmtree(tmp_path / "vault")
        without = make_store(vault=vault(tmp_path))
        await forked(without)
        whole = (await without.load("s1"))[1]
        assert (await without.load("fork"))[1][:-1] == whole
        assert len(whole) == len(PLANTED) + 1


@pytest.mark.parametrize(
    ("parent", "shared", "fault"),
    [("gone", [(1, 2)], SessionNotFound), ("s1", [(1, 3)], StaleVersion), ("s1", [(1, 2), (2, 9)], StaleVersion)],
)
async def test_a_fork_of_what_is_not_there_is_refused_and_leaves_nothing(
    make_store: MakeStore, parent: str, shared: Ranges, fault: type[Exception]
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one", "two"))
        with pytest.raises(fault):
            await store.create(meta("fork", parent=parent), talk("on", first=4), shared)
        assert await rows(store) == {"s1": [1, 2]}
        assert [one.session_id for one in (await store.list()).sessions] == ["s1"]


async def test_the_id_of_a_deleted_chat_of_which_a_fork_has_rows_is_given_to_no_other(make_store: MakeStore) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), talk("one"))
        await forked(store)
        await store.delete("s1")
        with pytest.raises(InvalidInput):
            await store.create(meta(), talk("another"))
        await store.delete("fork")
        await store.create(meta(), talk("another"))


@pytest.mark.parametrize("seed", range(12))
async def test_every_chat_of_a_random_tree_is_what_a_store_that_copies_would_have(
    make_store: MakeStore, seed: int
) -> None:
    dice = random.Random(seed)
    store, logs, made = make_store(), dict[str, list[Entry]](), 0

    async def begin(parent: str | None, shared: Sequence[Entry]) -> None:
        nonlocal made
        made += 1
        name, first = f"chat-{made}", shared[-1].seq + 1 if shared else 1
        own = talk(f"word{made} begins", first=first)
        await store.create(meta(name, parent=parent), own, ranges_of(shared))
        logs[name] = [*shared, *own]

    async with asyncio.timeout(PATIENCE):
        await begin(None, [])
        for _ in range(60):
            name = dice.choice(list(logs))
            match dice.choice(("append", "append", "fork", "fork", "gaps", "delete", "restart", "begin")):
                case "append":
                    entries = talk(*(f"{name} says {dice.random()}" for _ in range(dice.randint(1, 5))))
                    entries = [prompt(logs[name][-1].seq + one.seq, f"{name} {one.seq}") for one in entries]
                    await store.append(name, entries)
                    logs[name] += entries
                case "fork":
                    await begin(name, logs[name][: dice.randint(1, len(logs[name]))])
                case "gaps":
                    await begin(name, [one for one in logs[name] if dice.random() < 0.7])
                case "delete" if len(logs) > 1:
                    await store.delete(name)
                    del logs[name]
                case "restart":
                    await store.close()
                    store = make_store()
                    for one in logs:
                        await store.hold(one)
                case "begin" | _:
                    await begin(None, [])
        for name, log in logs.items():
            assert await log_of(store, name) == [encode_entry(entry) for entry in log]
            hits = {one.session_id for one in (await store.list(query=f"word{name[5:]} begins", limit=500)).sessions}
            assert hits == {one for one, other in logs.items() if any(f"word{name[5:]} b" in str(e) for e in other)}
        shared = await execute(store, "SELECT owner, first, last FROM shares")
        for owner, seqs in (await rows(store)).items():
            kept = {seq for one, first, last in shared if one == owner for seq in range(first, last + 1)}
            assert owner in logs or set(seqs) == kept, "of what is gone only what is shared stays"
        for name in list(logs):
            await store.delete(name)
        assert await rows(store) == {}
