"""The product as the subject of a run: the real application over a store in memory."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion.adapters.storage.memory import MemoryStore
from gemini_companion.adapters.workspace.disk import DiskWorkspace
from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import ContentEntry, Entry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.part import has_call, has_response, is_plain_user, visible_text
from gemini_companion.evaluation.arms import Arm
from gemini_companion.evaluation.provider import MODEL, EvaluationCatalogue, EvaluationModel
from gemini_companion.evaluation.subject import Outcome, Request
from gemini_companion.evaluation.virtual_clock import VirtualClock
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.models.registry import ModelRegistry, Registration
from gemini_companion.sessions.results import CompressionStatusReport
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.settings.load import SettingsLoader

QUESTION: Final = "Please go on."
"""The prompt of the turn that shows what the model gets."""
_STARTING: Final = "I will see to it."
"""What the agent says to a prompt before it calls a tool."""
_SECONDS_A_TURN: Final = 40.0


class ProductSubject:
    """A session of its own application. Made by `open`."""

    def __init__(self, app: Application, client: Client, session: Session, model: EvaluationModel) -> None:
        self._app, self._client, self._session, self._model = app, client, session, model
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    async def open(
        cls,
        model: EvaluationModel,
        clock: VirtualClock,
        *,
        arm: Arm,
        strategy: str,
    ) -> ProductSubject:
        """Make an application with one session. Nothing compresses by itself."""
        folder = tempfile.TemporaryDirectory(prefix="gemini-companion-eval-")
        base = SettingsLoader(Path(folder.name), (), {}).reload(trusted=False).settings
        settings = msgspec.structs.replace(base, model_name=MODEL, **_settings_of(arm, strategy))
        catalogue = EvaluationCatalogue(model.window)
        numbers = itertools.count(1)
        services = Services(
            store=MemoryStore(folder.name),
            clock=clock,
            models=ModelRegistry([Registration(catalogue=catalogue, provider=model)]),
            workspace=DiskWorkspace(),
            settings=lambda: settings,
            new_id=lambda kind: f"{kind}-{next(numbers):08d}",
            new_nonce=lambda: f"nonce{next(numbers):08d}",
            with_environment=False,
        )
        app = Application(services)
        client = Client("evaluation", _Silence(), name="evaluation")
        app.attach(client)
        session = await app.create(client, title="Evaluation", system_instruction="You are a careful assistant.")
        subject = cls(app, client, session, model)
        subject._folder = folder
        return subject

    async def say(self, contents: Sequence[Content]) -> None:
        """Prompts go through the front door, with what the agent replied; its rounds of tools into the log."""
        index = 0
        while index < len(contents):
            prompt, reply, index = _next_turn(contents, index)
            self._model.replies.append(reply)
            self._pass_time()
            await self._app.chat(self._client, prompt.parts, session_id=self._session.session_id)
            rounds: list[Content] = []
            while index < len(contents) and not is_plain_user(contents[index]):
                rounds.append(contents[index])
                index += 1
            await self._log(rounds)

    async def request(self) -> Request:
        """A turn of its own."""
        self._model.replies.append("Gladly.")
        await self._app.chat(self._client, user_text(QUESTION).parts, session_id=self._session.session_id)
        sent = self._model.main[-1]
        rules = self._session.history.constraints.all()
        in_force = tuple(rule.text for rule in rules if rule.state == "inForce")
        return Request(sent.system_instruction or "", sent.contents, in_force)

    async def compress(self) -> Outcome:
        """Through the front door too."""
        before = self._session.services.clock.monotonic()
        try:
            result = await self._app.compress(self._client, self._session.session_id)
        except ModelFault as fault:
            return Outcome(status=type(fault).__name__)
        passed = self._session.services.clock.monotonic() - before
        retention = result.retention
        return Outcome(
            status=result.status,
            retention=retention.score if retention else None,
            appended=getattr(retention, "appended", 0),
            unsupported=len(getattr(retention, "unsupported", ())),
            virtual_ms=round(passed * 1000),
        )

    async def undo_all(self) -> bool | None:
        """Newest first. What was said is compared content by content, as JSON."""
        history = self._session.history
        if not history.in_force:
            return None
        said = [entry.content for entry in history.entries if isinstance(entry, ContentEntry)]
        while history.in_force:
            await undo(self._session, client=self._client.client_id)
        encode = msgspec.json.encode
        shown = [item.content for item in history.items if item.kind != "pin"]
        return encode(shown) == encode(said)

    async def close(self) -> None:
        """End the application."""
        await self._app.close()
        if self._folder is not None:
            self._folder.cleanup()

    async def _log(self, rounds: Sequence[Content]) -> None:
        turn_id = self._session.services.new_id("turn")
        drafts: list[Any] = []
        for content in rounds:
            kind = ToolResultEntry if has_response(content) else ReplyEntry
            drafts.append(_draft(kind, self._session.stamp(), turn_id, content))
        if drafts:
            await self._session.append(*drafts)

    def _pass_time(self) -> None:
        clock = self._session.services.clock
        if isinstance(clock, VirtualClock):
            clock.pass_time(_SECONDS_A_TURN)


def _draft(kind: type[ReplyEntry | ToolResultEntry], stamp: Mapping[str, Any], turn_id: str, content: Content) -> Any:
    def entry(seq: int) -> Entry:
        return kind(**stamp, seq=seq, turn_id=turn_id, content=content)

    return entry


def _next_turn(contents: Sequence[Content], index: int) -> tuple[Content, str, int]:
    """The prompt at an index, the agent's first reply to it, and the index of what comes next."""
    prompt = contents[index]
    if not is_plain_user(prompt) or not visible_text(prompt).strip():
        return user_text(QUESTION), _STARTING, index
    after = contents[index + 1] if index + 1 < len(contents) else model_text(_STARTING)
    plain = after.role == "model" and not has_call(after) and visible_text(after).strip()
    return (prompt, visible_text(after), index + 2) if plain else (prompt, _STARTING, index + 1)


def _settings_of(arm: Arm, strategy: str) -> dict[str, Any]:
    """The settings that make an arm. Nothing is compressed by itself."""
    return {
        "compression_threshold": 1.0,
        "compression_strategy": strategy,
        "compression_gate": arm.gate,
        "compression_constraints": "auto" if arm.ledger else "off",
    }


class _Silence:
    """A client that does not listen."""

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Nothing."""

    def status(self, report: CompressionStatusReport) -> None:
        """Nothing."""

    def taken(self, session_id: str) -> None:
        """Nothing."""
