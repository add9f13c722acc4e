"""What a person does in a day with one long chat, over a store as the daemon has it: how late the event loop is."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

import msgspec

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.sessions.compression.ahead import look_ahead
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.models.port import Capabilities, LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.putting_away import put_away_hidden
from gemini_companion.sessions.recall.service import recall
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.surrounding_events import SettingsChanged
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.turn.loop import is_named
from gemini_companion.tools.tool import ToolOutput
from tests.performance.conversation import make_contents
from tests.performance.instant import InstantModel
from tests.performance.lateness import Step, worst_lag
from tests.performance.options import Options
from tests.performance.spread import median
from tests.support.sample_tools import SampleTool, allowing
from tests.support.sessions import ManualClock, Studio

_SHORT: Final = 400
"""Characters of the contents: so, ten thousand fill a window of a million tokens."""
_OUTPUT: Final = "a line of what a command said\n" * 35_000
"""One megabyte."""
_THOUGHT: Final = {"text": "What is asked here, and where may it stand? " * 10, "thought": True}
_CLIENT: Final = "bench"
_CALL: Final = "Say it."
"""The prompt that is answered with a call."""


class Day:
    """One chat of `size` contents in a store of its own, and everything that is done with it."""

    def __init__(self, options: Options, size: int) -> None:
        self._size = size
        self._folder = Path(mkdtemp(dir=options.scratch))
        self._vault = Vault(self._folder, keyring=lambda: None)
        self._numbers = itertools.count(1)
        self._lags: dict[str, list[float]] = {}

    async def lags(self, rounds: int) -> dict[str, float]:
        """Milliseconds that the event loop was late at worst, by what was done; the median of the rounds."""
        file = self._folder / "contents.json"
        file.write_text(json.dumps(list(self._contents())), "utf-8")
        first = self._studio()
        info = await self._done("importing", partial(first.app.import_session, first.client, str(file)))
        await self._done("indexing what was said", first.store.recall.index)
        await first.app.close()
        for _ in range(rounds):
            await self._round(info.session_id)
        return {what: median(times) for what, times in self._lags.items()}

    async def _round(self, session_id: str) -> None:
        studio = self._studio()
        app, client = studio.app, studio.client
        await self._done("opening", partial(app.open_session, client, session_id))
        session = await app.hold(client, session_id)
        await self._done("a turn", partial(app.chat, client, ({"text": "What did we do with the parser?"},)))
        await self._done("a call with an output of a megabyte", partial(app.chat, client, ({"text": _CALL},)))
        await self._done("compressing, the first time", partial(app.compress, client, session_id))
        await self._done("undoing, with thoughts", partial(undo, session, client=_CLIENT))
        await self._done("compressing again", partial(app.compress, client, session_id))
        await undo(session, client=_CLIENT)
        preview = await self._done("a preview", partial(app.compress, client, session_id, preview=True))
        await self._done(
            "applying it", partial(apply_preview, session, client=_CLIENT, compression_id=preview.compression_id)
        )
        await undo(session, client=_CLIENT)
        async for what, step in self._reads(studio, session):
            await self._done(what, step)
        fork = await self._done("a fork", partial(app.fork, client, session_id, None))
        await self._done("deleting it", partial(app.delete, fork.session_id))
        await self._with_what_is_packed(studio, session)
        await self._done("closing", app.close)

    async def _reads(self, studio: Studio, session: Session) -> AsyncIterator[tuple[str, Step]]:
        app, client, session_id = studio.app, studio.client, session.session_id
        yield "a page", partial(history_page, session, "transcript", cursor=f"0.{self._size // 2}", limit=50)
        yield "exporting", partial(app.export, client, session_id, "companion")
        yield "exporting for Gemini CLI", partial(app.export, client, session_id, "gemini-cli")
        yield "the list of chats", app.list_sessions
        yield "a search of the list", partial(app.list_sessions, query="parser")
        yield "recalling", partial(recall, studio.services, query="parser cursor")

        async def change() -> None:
            studio.set(compression_threshold=0.9)
            app.notify_all(SettingsChanged(keys=("model.compressionThreshold",)))

        yield "a change of settings", change

    async def _with_what_is_packed(self, studio: Studio, session: Session) -> None:
        app, client, session_id = studio.app, studio.client, session.session_id
        turns = [entry.turn_id for entry in session.history.prompts]
        await app.compress(client, session_id)
        await self._done("packing what is hidden", partial(put_away_hidden, session))
        assert session.history.entries.gone > self._size / 3
        async for what, step in self._reads(studio, session):
            await self._done(f"{what}, packed", step)
        named = partial(is_named, session, "/nowhere/named.it")
        await self._done("a path that no prompt names, packed", named)
        await self._done("the session's numbers, packed", partial(app.statistics.of_session, session))
        for where, turn in (("", None), (" at an earlier turn", turns[len(turns) // 2])):
            fork = await self._done(f"a fork{where}, packed", partial(app.fork, client, session_id, turn))
            await app.delete(fork.session_id)
        await self._done("a turn, packed", partial(app.chat, client, ({"text": "And what with the lexer?"},)))
        await self._done("compressing further, packed", partial(app.compress, client, session_id))
        await self._done("packing further", partial(put_away_hidden, session))
        await self._done("undoing, packed", partial(undo, session, client=_CLIENT))
        await self._done("undoing the one before, packed", partial(undo, session, client=_CLIENT))
        await app.compress(client, session_id)

        async def undone_meanwhile() -> None:
            look_ahead(session)
            while not session.history.entries.gone:
                await asyncio.sleep(0)
            await undo(session, client=_CLIENT)

        await self._done("undoing while it is packed", undone_meanwhile)

    async def _done(self, what: str, work: Step) -> Any:
        results: list[Any] = []

        async def run() -> None:
            results.append(await work())

        self._lags.setdefault(what, []).append(await worst_lag(run))
        return results[0]

    def _contents(self) -> Iterator[dict[str, Any]]:
        for content in make_contents(self._size, characters=_SHORT):
            thinks = content["role"] == "model" and "text" in content["parts"][0]
            yield {**content, "parts": [_THOUGHT, *content["parts"]]} if thinks else content

    def _studio(self) -> Studio:
        async def say(*_: object) -> ToolOutput:
            return ToolOutput(output=_OUTPUT, summary="said")

        model = cast("Any", _Caller())
        studio = Studio(
            self._folder,
            model=model,
            offline=model,
            store=open_store(self._folder / "data", "bench", clock=ManualClock(), vault=self._vault),
            tools=[SampleTool("say", "read", say)],
            tooling=allowing(),
            compression_threshold=1.0,
        )
        studio.services.new_id = lambda kind: f"{kind}-{next(self._numbers):08d}"
        return studio


class _Caller(InstantModel):
    """Answers at once, and calls a tool where the prompt is `_CALL`."""

    @property
    def capabilities(self) -> Capabilities:
        return msgspec.structs.replace(super().capabilities, calls_tools=True)

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        if any(part.get("text") == _CALL for part in request.contents[-1].parts):
            yield ModelChunk(parts=({"functionCall": {"name": "say", "args": {}}},), finish_reason="STOP")
            return
        async for chunk in super().stream(request, local):
            yield chunk
