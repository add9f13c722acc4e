"""A long session on the disk: importing it, opening it again, forking it, reading a page of it, and the room it takes."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

from gemini_companion.adapters.storage.schema import FILE_NAME
from gemini_companion.adapters.storage.store import open_store
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.sessions.transcript.pages import history_page
from tests.performance.conversation import make_contents
from tests.performance.figures import Figure, Finding
from tests.performance.instant import InstantModel
from tests.performance.options import Options
from tests.performance.spread import median
from tests.support.sessions import ManualClock, Studio

NAME: Final = "stored"
SIZE: Final = 10_000
LARGE: Final = 100_000
SMALL: Final = (100, 1_000)
_TARGETS: Final = {
    SIZE: {"import": 1_200, "open": 400, "fork": 50, "page": 2},
    LARGE: {"open": 3_000, "fork": 100, "page": 3},
}
"""Milliseconds."""
ROOM: Final = 1.6
"""Bytes of the database for each byte of the log's JSON."""
_DATA: Final = "data"
_PAGE: Final = 50


def run(options: Options) -> Iterator[Finding]:
    """Each size in a store of its own, with a vault as the daemon has it."""
    for size in (500,) if options.quick else (*SMALL, SIZE, LARGE):
        yield from asyncio.run(_Shelf(options, size).figures())


class _Shelf:
    """A store with one long session, opened anew for each round, as by another process."""

    def __init__(self, options: Options, size: int) -> None:
        self._size = size
        self._rounds = options.rounds(3 if size >= LARGE else 5)
        self._folder = Path(mkdtemp(dir=options.scratch))
        self._vault = Vault(self._folder, keyring=lambda: None)
        self._numbers = itertools.count(1)
        self._times: dict[str, list[float]] = {}

    async def figures(self) -> list[Finding]:
        """Everything, in the order in which a person meets it."""
        file = self._folder / "contents.json"
        file.write_text(json.dumps(make_contents(self._size)), "utf-8")
        first = self._studio()
        info = await self._timed("import", lambda: first.app.import_session(first.client, str(file)))
        await first.store.recall.index()
        await first.app.close()
        for number in range(self._rounds - 1 if self._size < LARGE else 0):
            again = self._studio(f"again-{number}")  # in one store, room of those that are deleted would count
            await self._timed("import", lambda to=again: to.app.import_session(to.client, str(file)))
            await again.app.close()
        room = await self._room()
        for _ in range(self._rounds):
            await self._round(info.session_id)
        targets = _TARGETS.get(self._size, {})
        listed: list[Finding] = [
            Figure(
                bench=NAME,
                name=f"{what}, {self._size:,} contents",
                value=median(times),
                unit="ms",
                target=targets.get(what),
            )
            for what, times in self._times.items()
        ]
        listed.append(
            Figure(
                bench=NAME,
                name=f"database by JSON, {self._size:,} contents",
                value=room,
                unit="",
                target=ROOM if targets else None,
            )
        )
        return listed

    async def _round(self, session_id: str) -> None:
        studio = self._studio()
        await self._timed("open", lambda: studio.app.open_session(studio.client, session_id))
        session = await studio.app.hold(studio.client, session_id)
        for share in (0.0, 0.5, 0.99):
            cursor = f"0.{round(self._size * share)}"
            await self._timed("page", lambda at=cursor: history_page(session, "transcript", cursor=at, limit=_PAGE))
        fork = await self._timed("fork", lambda: studio.app.fork(studio.client, session_id, None))
        await studio.app.delete(fork.session_id)
        await studio.app.close()

    async def _room(self) -> float:
        """The size of the file beside that of the log."""
        store = self._studio().store
        path = next((self._folder / _DATA).rglob(FILE_NAME))
        sizes = await store.stored()
        await store.close()
        return path.stat().st_size / sum(one.size for one in sizes)

    async def _timed(self, what: str, work: Callable[[], Awaitable[Any]]) -> Any:
        begun = time.perf_counter()
        result = await work()
        self._times.setdefault(what, []).append((time.perf_counter() - begun) * 1_000)
        return result

    def _studio(self, data: str = _DATA) -> Studio:
        model = cast("Any", InstantModel())
        store = open_store(self._folder / data, "bench", clock=ManualClock(), vault=self._vault)
        studio = Studio(self._folder, model=model, offline=model, store=store, compression_threshold=1.0)
        studio.services.new_id = lambda kind: f"{kind}-{next(self._numbers):08d}"
        return studio
