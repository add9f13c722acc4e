"""An import, stage by stage: the processor time of each, and of a large output on its way into the log."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, TypeVar

from gemini_companion.adapters.storage import recall_index, records
from gemini_companion.adapters.storage.counts import save_counts
from gemini_companion.adapters.storage.database import Database
from gemini_companion.adapters.storage.vaulted import Vaulted, WrittenEntry
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry, ToolResultEntry, encode_entry
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.channel import EventChannel
from gemini_companion.sessions.interchange import decode_session_file
from gemini_companion.sessions.interchange.importing import copied, log_of, only_proposed
from gemini_companion.sessions.interchange.json_document import parse_json
from gemini_companion.sessions.kept_counts import KeptCount
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.session import Session
from tests.performance.conversation import make_contents
from tests.performance.figures import Figure, Finding
from tests.performance.options import ROOT, Options
from tests.performance.spread import median
from tests.support.sessions import Studio

NAME: Final = "importing"
SIZE: Final = 10_000
_OUTPUT: Final = 1_000_000
"""Characters of the large output, which is source code."""
_SESSION: Final = SessionMeta(session_id="bench", title="bench", model="", created_at=1, updated_at=1)

_T = TypeVar("_T")


def run(options: Options) -> Iterator[Finding]:
    """The stages in their order; those that are part of another one say so."""
    size = 500 if options.quick else SIZE
    times: dict[str, list[float]] = {}
    for _ in range(options.rounds(3)):
        asyncio.run(_Import(Path(mkdtemp(dir=options.scratch)), times).whole(size))
    for name, each in times.items():
        yield Figure(bench=NAME, name=name.format(size=size), value=median(each), unit="ms CPU")


class _Import:
    """One import by hand, on one thread, into a store of its own."""

    def __init__(self, folder: Path, times: dict[str, list[float]]) -> None:
        self._folder = folder
        self._times = times
        self._vaulted = Vaulted(Vault(folder, keyring=lambda: None))
        self._database = Database(str(folder / "store"), now=lambda: 1, notify=lambda message: None)
        self._studio = Studio(folder)

    async def whole(self, size: int) -> None:
        """All stages, one after the other."""
        file = self._folder / "contents.json"
        file.write_text(json.dumps(make_contents(size)), "utf-8")
        self._vaulted.row(encode_entry(_large_output("a warm-up")))  # loads what looks for secrets
        self._database.connection()
        data = self._stage("{size:,} contents: reading the file", file.read_bytes)
        self._stage("  JSON alone", lambda: parse_json(data))
        imported = self._stage("decoding and checking", lambda: decode_session_file(data, file.name))
        log = self._stage("entries", lambda: self._entries(log_of(imported, now=1)))
        self._stage("  encoding alone", lambda: [encode_entry(entry) for entry in log])
        written = self._stage("encoding, looking for secrets", lambda: self._vaulted.entries(log))
        self._stage("rows", lambda: self._insert(written))
        self._stage("  counting tokens alone", lambda: _count(imported.contents))
        session = self._stage("counting tokens, folding", lambda: self._folded(log))
        self._stage("keeping the counts, beside the answer", lambda: self._keep(session))
        self._stage("indexing, beside the answer", self._index)
        self._database.drop()
        entry = _large_output(_source_code())
        self._stage("an output of a megabyte: looking for secrets", lambda: self._vaulted.entries([entry]))

    def _stage(self, name: str, work: Callable[[], _T]) -> _T:
        begun = time.process_time()
        result = work()
        self._times.setdefault(name, []).append((time.process_time() - begun) * 1_000)
        return result

    def _entries(self, log: tuple[Entry, ...]) -> tuple[Entry, ...]:
        numbers = itertools.count(1)
        return copied(only_proposed(log, lambda: f"constraint-{next(numbers)}"), self._studio.services, "import")

    def _insert(self, written: Sequence[WrittenEntry]) -> None:
        connection = self._database.connection()
        connection.execute("BEGIN IMMEDIATE")
        records.insert_session(connection, self._vaulted.meta(_SESSION), written)
        connection.execute("COMMIT")

    def _folded(self, log: tuple[Entry, ...]) -> Session:
        studio = self._studio
        observe = studio.services.observing.event
        channel = EventChannel(_SESSION.session_id, studio.store, studio.clock, lambda session_id: [], 0, observe)
        return Session(_SESSION, log, studio.services, channel)

    def _keep(self, session: Session) -> None:
        counting = session.history.counting
        connection = self._database.connection()
        while fresh := counting.take_fresh(1_000):
            kept = [KeptCount(one.entry.seq, 0, counting.counted(one.item)) for one in fresh]
            save_counts(connection, _SESSION.session_id, kept)

    def _index(self) -> None:
        connection = self._database.connection()
        is_left = True
        while is_left:
            connection.execute("BEGIN IMMEDIATE")
            is_left = bool(recall_index.index_step(connection))
            connection.execute("COMMIT")


def _count(contents: Sequence[Content]) -> None:
    ledger = TokenLedger()
    for content in contents:
        ledger.measure(content)


def _source_code() -> str:
    text = ""
    for path in sorted((ROOT / "server").rglob("*.py")):
        text += path.read_text("utf-8")
        if len(text) >= _OUTPUT:
            break
    return text[:_OUTPUT]


def _large_output(output: str) -> ToolResultEntry:
    part = {"functionResponse": {"id": "call", "name": "run_shell_command", "response": {"output": output}}}
    content = Content(role="user", parts=(part,))
    return ToolResultEntry(id="entry", seq=1, time=1, turn_id="turn", content=content)
