"""A store into which secrets of every kind are written in every way that it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemini_companion.adapters.keyrings import Keyring
from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.versions import digest_of
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.log import PromptEntry, encode_entry
from gemini_companion.engine.recall.query import parse_query
from tests.adapters.storage.stores import START, event, meta, prompt
from tests.support.planted_secrets import PLANTED, leaks_in

TOKEN = next(one.secret for one in PLANTED if one.kind == "GitHub token")
SAID = "\n".join(one.text for one in PLANTED)


class DictKeyring:
    """A keyring of a test's own."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


def vault(data_dir: Path, *, keyring: Callable[[], Keyring | None] = lambda: None, **options: Any) -> Vault:
    """A vault that knows no keyring but the test's own."""
    return Vault(data_dir, keyring=keyring, **options)


def leaks(folder: Path) -> list[str]:
    """What stands in any file below the folder, zstd frames unpacked."""
    import zstandard

    found: list[str] = []
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if data.startswith(zstandard.MAGIC_NUMBER.to_bytes(4, "little")):
            data = zstandard.ZstdDecompressor().decompress(data)
        found += [f"{path.name}: {leak}" for leak in leaks_in(data)]
    return found


def rule(text: str) -> Constraint:
    return Constraint(
        constraint_id="c1", text=text, scope="project", state="inForce", created_at=START, source="client"
    )


async def said(store: SqliteStore) -> list[str]:
    """The texts of the session's prompts."""
    _, entries = await store.load("s1")
    return [entry.content.parts[0]["text"] for entry in entries if isinstance(entry, PromptEntry)]


async def fill(store: SqliteStore) -> None:
    """Write secrets in every way that a store has."""
    await store.create(meta(title=f"About {TOKEN}"))
    await store.append("s1", [prompt(1, SAID)])
    await store.append("s1", [prompt(number, one.text) for number, one in enumerate(PLANTED, start=2)])
    store.save_events([event(1, text=SAID)])
    half = len(TOKEN) // 2
    store.save_events([event(2, text=TOKEN[:half]), event(3, text=TOKEN[half:])])
    await store.save_text("s1", "whole.txt", SAID)
    await store.versions.save("s1", "t", [SAID.encode()])
    await store.save_constraints([rule(f"Never print {TOKEN}")])


async def all_that_is_kept(store: SqliteStore) -> list[object]:
    kept, entries = await store.load("s1")
    return [
        kept.title,
        [encode_entry(entry) for entry in entries],
        (await store.events("s1", 0)).events,
        await store.read_text("s1", "whole.txt"),
        await store.versions.load(digest_of(SAID.encode())),
        await store.constraints(),
        (await store.list(limit=5)).sessions[0].title,
        [hit.text for hit in (await store.recall.search(parse_query("push access token github"))).hits],
    ]
