"""A fork's rows are its parent's, as far as they say the same, and stand by themselves."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import SqliteStore, records
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.engine.history.log import encode_entry
from tests.adapters.storage.planted_store import TOKEN, fill, leaks, said, vault
from tests.adapters.storage.stores import MakeStore, execute, meta, prompt
from tests.support.patience import PATIENCE
from tests.support.planted_secrets import PLANTED


@pytest.fixture
async def looked_through(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every document that is looked through for secrets from now on."""
    documents: list[bytes] = []
    document = Vault.document

    def counting(self: Vault, data: bytes) -> object:
        documents.append(data)
        return document(self, data)

    monkeypatch.setattr(Vault, "document", counting)
    return documents


async def forked(store: SqliteStore) -> None:
    entries = (await store.load("s1"))[1]
    await store.create(meta("fork", parent="s1"), [*entries, prompt(len(entries) + 1, "and on")])


async def test_what_a_fork_has_from_its_parent_is_not_looked_through_again(
    make_store: MakeStore, tmp_path: Path, looked_through: list[bytes]
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await fill(store)
        looked_through.clear()
        await forked(store)
        assert len(looked_through) == 2, "what is known of the session, and the entry that is its own"
        assert leaks(tmp_path) == []


async def test_a_fork_keeps_its_secrets_when_its_parent_is_deleted(make_store: MakeStore, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await fill(store)
        before = [encode_entry(entry) for entry in (await store.load("s1"))[1]]
        await forked(store)
        await store.delete("s1")
        after = [encode_entry(entry) for entry in (await store.load("fork"))[1]]
        assert after[:-1] == before
        assert any(TOKEN.encode() in entry for entry in after)
        assert [one.session_id for one in (await store.list(query="and on")).sessions] == ["fork"]
        await store.delete("fork")
        assert (await store.secrets())[0] <= 1  # the project's own rule has one


async def test_an_entry_that_says_something_else_is_the_forks_own(make_store: MakeStore, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await store.create(meta(), [prompt(1, "one"), prompt(2, "two"), prompt(3, "three")])
        await store.create(meta("fork", parent="s1"), [prompt(1, "one"), prompt(2, "other"), prompt(4, "four")])
        texts = [entry.content.parts[0]["text"] for entry in (await store.load("fork"))[1]]  # type: ignore[union-attr]
        assert texts == ["one", "other", "four"]
        assert await said(store) == ["one", "two", "three"]


async def test_a_fork_of_what_was_stored_without_redaction_is_looked_through(
    make_store: MakeStore, tmp_path: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        plain = make_store()
        await plain.create(meta(), [prompt(1, f"the token is {TOKEN}")])
        await plain.close()
        store = make_store(vault=vault(tmp_path))
        await store.create(meta("fork", parent="s1"), (await store.load("s1"))[1])
        ((data,),) = await execute(store, "SELECT json FROM log WHERE session_id = 'fork'")
        assert TOKEN.encode() not in data
        assert (await store.load("fork"))[1] == (await store.load("s1"))[1]


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


async def test_a_fork_of_a_session_that_is_gone_is_refused_and_leaves_nothing(
    make_store: MakeStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store(vault=vault(tmp_path))
        await store.create(meta(), [prompt(1, f"the token is {TOKEN}")])
        run, failures = store.worker.write, list[str]()

        def after_a_deletion(*arguments: object) -> object:
            monkeypatch.setattr(store.worker, "write", run)
            store.worker.post(lambda connection: records.delete_session(connection, "s1"), on_failure=failures.clear)
            return run(*arguments)  # type: ignore[arg-type]

        entries = (await store.load("s1"))[1]
        monkeypatch.setattr(store.worker, "write", after_a_deletion)
        with pytest.raises(SessionNotFound):
            await store.create(meta("fork", parent="s1"), entries)
        assert await execute(store, "SELECT count(*) FROM log WHERE session_id = 'fork'") == [(0,)]
