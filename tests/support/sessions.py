"""An application over fakes: a memory store, a clock that the test turns, a scripted model, a client that remembers
what it received.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from gemini_companion.adapters.gemini.catalogue import GEMINI_CATALOGUE
from gemini_companion.adapters.offline.catalogue import OFFLINE_CATALOGUE
from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import CompressionResult, Withheld
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression_state import Wish
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.interchange.importing import entries_of
from gemini_companion.sessions.models.port import ModelProvider
from gemini_companion.sessions.models.registry import ModelRegistry, Registration
from gemini_companion.sessions.ports import Listed, Listing, Named, Names, SessionStore, WorkspaceFiles
from gemini_companion.sessions.results import ChatResult, CompressionStatusReport
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.load import SettingsLoader
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import Tool
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SilentEditor, no_ports
from tests.support.scripted_model import ScriptedModel


class ManualClock:
    """Time that stands still but for what is slept, which passes at once."""

    def __init__(self) -> None:
        self.time = 1_000_000
        self.slept: list[float] = []

    def now(self) -> int:
        self.time += 1
        return self.time

    def monotonic(self) -> float:
        return self.time / 1000

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += round(seconds * 1000)
        await asyncio.sleep(0)


class OpenWorkspace:
    """Every file may be shown but those whose name says `secret`; texts come from a dictionary."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def admit(self, paths: Any, folders: Any) -> dict[str, Withheld | None]:
        return {
            path: Withheld(name=Path(path).name, reason="a secret by its name") if "secret" in path else None
            for path in paths
        }

    async def read_text(self, path: str, *, limit: int = 1_000_000) -> str | None:
        return self.texts.get(path)

    async def read_bytes(self, path: str, *, limit: int) -> bytes | None:
        text = self.texts.get(path)
        return None if text is None else text.encode("utf-8", "surrogateescape")[:limit]

    async def tree(self, folders: Any, *, limit: int = 200) -> str:
        return "\n".join(folders)

    async def find(self, named: Any, folders: Any) -> list[Named | None]:
        places = [[f"{folder}/{path}" for path in paths for folder in folders] for paths in named]
        return [next((Named(path=place) for place in tried if place in self.texts), None) for tried in places]

    async def names_below(self, path: str, folders: Any, *, limit: int = 500) -> Names:
        return Names(text=f"{path}/")

    async def listing(self, folders: Any) -> Listing:
        return Listing(
            entries=tuple(Listed(folder=folders[0], path=path.removeprefix(f"{folders[0]}/")) for path in self.texts)
        )


class RecordingSink:
    """Remembers what a client received."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.sent: list[tuple[str, int, str | None, Event]] = []
        self.reports: list[CompressionStatusReport] = []
        self.lost: list[str] = []
        self._waiting: list[tuple[type[Any], asyncio.Event]] = []

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        self.events.append(event)
        self.sent.append((session_id, seq, turn_id, event))
        for kind, arrived in self._waiting:
            if isinstance(event, kind):
                arrived.set()

    def status(self, report: CompressionStatusReport) -> None:
        self.reports.append(report)

    def taken(self, session_id: str) -> None:
        self.lost.append(session_id)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def wait_for(self, kind: type[Any]) -> None:
        arrived = asyncio.Event()
        self._waiting.append((kind, arrived))
        if self.of(kind):
            return
        async with asyncio.timeout(PATIENCE):
            await arrived.wait()


def registry_of(gemini: ModelProvider | None, offline: ModelProvider) -> ModelRegistry:
    """Gemini, if it can answer, and the built-in model."""
    missing = "" if gemini else "no API key was found"
    return ModelRegistry(
        [
            Registration(catalogue=GEMINI_CATALOGUE, provider=gemini, missing=missing, remedy="Set a key."),
            Registration(catalogue=OFFLINE_CATALOGUE, provider=offline),
        ]
    )


class Studio:
    """An application with a model, a clock, a store and a first client, ready to be spoken to."""

    def __init__(
        self,
        tmp_path: Path,
        *,
        model: ScriptedModel | None = None,
        store: SessionStore | None = None,
        offline: ScriptedModel | None = None,
        workspace: WorkspaceFiles | None = None,
        tools: Iterable[Tool[Any]] = (),
        tooling: Tooling | None = None,
        **settings: Any,
    ) -> None:
        self.model = model or ScriptedModel()
        self.offline = offline or ScriptedModel("offline")
        self.clock = ManualClock()
        self.workspace = OpenWorkspace()
        base = SettingsLoader(tmp_path, (), {}).reload(trusted=False).settings
        # Compressions are made where they are due: what prepares them beside the chat has tests of its own.
        own = {"model_name": "gemini-2.5-pro", "compression_background": "off", **settings}
        self.settings: Settings = msgspec.structs.replace(base, **own)
        self.store: SessionStore = store or MemoryStore(str(tmp_path / "files"))
        self.trusted = True
        self.editor = SilentEditor()
        """What tools see of the editor and the person."""
        numbers = itertools.count(1)
        self.services = Services(
            store=self.store,
            clock=self.clock,
            models=registry_of(self.model, self.offline),
            workspace=workspace or self.workspace,
            settings=lambda: self.settings,
            new_id=lambda kind: f"{kind}-{next(numbers):06d}",
            new_nonce=lambda: f"nonce{next(numbers)}",
            today=lambda: "Saturday",
            platform="Linux",
            trusted=lambda: self.trusted,
            tools=ToolRegistry(tools),
            ports=no_ports(self.editor),
        )
        self.app = Application(self.services, tooling)
        self.client, self.heard = self.connect()

    def connect(self, name: str = "editor") -> tuple[Client, RecordingSink]:
        sink = RecordingSink()
        client = Client(self.services.new_id("client"), sink, name=name)
        client.folders = ("/project",)
        self.app.attach(client)
        return client, sink

    def take_key_away(self, *, offline: ModelProvider | None = None) -> None:
        """From here on Gemini cannot answer."""
        self.services.models = registry_of(None, offline or self.offline)

    def set(self, **settings: Any) -> None:
        self.settings = msgspec.structs.replace(self.settings, **settings)

    async def chat(self, text: str, client: Client | None = None, **more: Any) -> ChatResult:
        async with asyncio.timeout(PATIENCE):
            return await self.app.chat(client or self.client, ({"text": text},), **more)

    async def compress(
        self, *, session_id: str | None = None, instructions: str = "", preview: bool = False, **wish: Any
    ) -> CompressionResult:
        async with asyncio.timeout(PATIENCE):
            return await self.app.compress(
                self.client, session_id, wish=Wish(guidance=instructions, **wish), preview=preview
            )

    async def session(self) -> Session:
        return await self.app.hold(self.client, None)

    async def load(self, contents: list[Content], **more: Any) -> Session:
        """A session that begins with these contents."""
        session = await self.app.create(self.client, entries=entries_of(contents, now=self.clock.now()), **more)
        return session

    def contents(self, session: Session) -> list[Content]:
        return session.history.contents()
