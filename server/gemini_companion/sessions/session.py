"""`Session`: one conversation held by this process: its log, its view, its numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from gemini_companion.engine.compression.breaker import Breaker
from gemini_companion.engine.history.content import Content, merge_neighbours
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompactionEntry,
    CompressionResult,
    Entry,
    IdeContextEntry,
    ModelChangeEntry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
)
from gemini_companion.engine.history.part import is_truthy
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import RequestParts, TokenLedger, TokenReading
from gemini_companion.sessions.channel import EventChannel
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.events import Event, UsageUpdated
from gemini_companion.sessions.lane import Job, Lane
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import CompressionStatusReport
from gemini_companion.sessions.services import ModelChoice, Services

Draft: TypeAlias = Callable[[int], Entry]
"""An entry that lacks only its sequence number."""


class Running(msgspec.Struct):
    """A compression under way, for the status and for those who join it."""

    job: Job[CompressionResult]
    started: float
    """On the monotonic clock, seconds."""
    phase: str = ""


class Session:
    """One conversation. Everything that changes its log goes through `append` or `commit`."""

    def __init__(self, meta: SessionMeta, entries: Iterable[Entry], services: Services, channel: EventChannel) -> None:
        self.meta = meta
        self.services = services
        self.channel = channel
        self.ledger = TokenLedger()
        self.history = History(self.ledger.measure)
        self.breaker = Breaker()
        self.lane = Lane()
        self.compression: Running | None = None
        """The compression that will be installed when it is done."""
        self.previews: dict[str, Running] = {}
        self.system_instruction = meta.system_instruction
        self.environment: Content | None = None
        self.environment_epoch = 0
        self.asked_model: str | None = None
        """The model that the running turn's request named; the session's own once it has answered."""
        self.last_result: CompressionResult | None = None
        self.turns = 0
        self.open_turns: dict[str, None] = {}
        """Turns that have not ended, oldest first."""
        self._due_ide_tokens = 0
        """What the editor's state took when it last left the view: the next request brings it back, so the meter counts it."""
        self._log_lock = asyncio.Lock()
        self._unwritten: list[Draft] = []
        self._system_tokens: tuple[str | None, int] = (None, 0)
        self._environment_tokens: tuple[Content | None, int] = (None, 0)
        for entry in entries:
            self._take_in(entry)

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.meta.session_id

    # --- the log -----------------------------------------------------------------------------------------------------------------

    def stamp(self) -> dict[str, Any]:
        """`id` and `time` of a new entry."""
        return {"id": self.services.new_id("entry"), "time": self.services.clock.now()}

    async def append(self, *drafts: Draft) -> list[Entry]:
        """Write entries durably, then take them into the view. Raises `StorageFault` or `SessionBusy`, with nothing taken in.

        Once begun it ends, even when the caller is cancelled meanwhile; the cancellation is raised afterwards.
        """
        return await self._finish(self._append(drafts), swallow_cancel=False)

    async def commit(self, *drafts: Draft) -> list[Entry]:
        """As `append`, but a cancellation that comes too late is swallowed: what is installed counts."""
        return await self._finish(self._append(drafts), swallow_cancel=True)

    def write_later(self, *drafts: Draft) -> None:
        """Entries that could not be written now go in front of the next ones."""
        self._unwritten.extend(drafts)

    async def _finish(self, work: Coroutine[Any, Any, list[Entry]], *, swallow_cancel: bool) -> list[Entry]:
        task = asyncio.create_task(work, name=f"append:{self.session_id}")
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            if swallow_cancel:
                return task.result()
            task.exception()
            raise

    async def _append(self, drafts: Sequence[Draft]) -> list[Entry]:
        async with self._log_lock:
            seq = self.history.version
            entries = [draft(seq + number) for number, draft in enumerate([*self._unwritten, *drafts], start=1)]
            await self.services.store.append(self.session_id, entries)
            self._unwritten.clear()
            for entry in entries:
                self._take_in(entry)
            return entries[len(entries) - len(drafts) :]

    def _take_in(self, entry: Entry) -> None:
        epoch, told = self.history.epoch, self.history.totals().ide_context if self.history.ide_entries else 0
        self.history.apply(entry)
        self.breaker.apply(entry)
        if self.history.epoch != epoch and told:
            self._due_ide_tokens = told
        match entry:
            case IdeContextEntry():
                self._due_ide_tokens = 0
            case PromptEntry():
                self.turns += 1
                self.open_turns[entry.turn_id] = None
            case ReplyEntry() | ToolResultEntry():
                self.open_turns[entry.turn_id] = None
            case TurnEndEntry():
                self.open_turns.pop(entry.turn_id, None)
                self.turns -= entry.outcome == "replaced"  # the turn that replaced it counts
            case CompactionEntry() | UndoEntry() | AttemptEntry():
                self.last_result = entry.result
            case ModelChangeEntry():
                self.meta = msgspec.structs.replace(self.meta, model=entry.model)
            case _:
                pass

    # --- what happens ------------------------------------------------------------------------------------------------------------

    def emit(self, event: Event, turn_id: str | None = None) -> None:
        """Tell every client that hears this session, at once and in order."""
        self.channel.emit(event, turn_id)

    def tell_status(self) -> None:
        """Tell every client that hears this session where compression stands."""
        for client in self.channel.hearers():
            if client.wants("compressionStatus"):
                client.sink.status(self.status(client))

    def tell_usage(self, turn_id: str | None = None) -> None:
        """Tell the meter and the status."""
        report = self.status(None)
        usage = UsageUpdated(
            token_count=report.token_count,
            token_limit=report.token_limit,
            source=report.token_count_source,
            tokens_until_compression=report.tokens_until_compression,
        )
        self.emit(usage, turn_id)
        self.tell_status()

    # --- numbers -----------------------------------------------------------------------------------------------------------------

    def choice(self) -> ModelChoice:
        """Which model answers."""
        return self.services.models.choose(self.services.settings(), asked=self.asked_model, session_model=self.meta.model)

    def limit(self, choice: ModelChoice) -> int:
        """Tokens that the model takes in one request."""
        return self.services.models.limit(self.services.settings(), choice.name)

    def parts(self) -> RequestParts:
        """Estimated tokens of the next request without its prompt, part by part."""
        if self._system_tokens[0] is not self.system_instruction:
            self._system_tokens = (self.system_instruction, round(self.ledger.count_text(self.system_instruction or "")))
        if self._environment_tokens[0] is not self.environment:
            tokens = self.ledger.measure(self.environment).tokens if self.environment else 0
            self._environment_tokens = (self.environment, tokens)
        surroundings = RequestParts(system_instruction=self._system_tokens[1], environment=self._environment_tokens[1])
        totals = self.history.totals()
        return surroundings.with_totals(totals._replace(ide_context=totals.ide_context + self._due_ide_tokens))

    def reading(self, choice: ModelChoice) -> TokenReading:
        """The session's one token number: what the next request would have without its prompt."""
        return self.ledger.read(choice.name, self.history.epoch, self.parts())

    def trigger_at(self, choice: ModelChoice) -> int | None:
        """The count at which automatic compression starts, `None` while it is off."""
        settings = self.services.settings()
        marks: list[int] = []
        if settings.compression_threshold < 1:
            marks.append(round(settings.compression_threshold * self.limit(choice)))
        if settings.compression_token_cap is not None:
            marks.append(settings.compression_token_cap)
        return min(marks) if marks else None

    def status(self, client: Client | None, choice: ModelChoice | None = None) -> CompressionStatusReport:
        """Where compression stands; whether the full IDE context is due is told for `client`."""
        choice = choice or self.choice()
        reading = self.reading(choice)
        mark = self.trigger_at(choice)
        running = self.compression or next(iter(self.previews.values()), None)
        state: Literal["idle", "running"] = "running" if running else "idle"
        return CompressionStatusReport(
            session_id=self.session_id,
            state=state,
            phase=(running.phase or msgspec.UNSET) if running else msgspec.UNSET,
            elapsed_ms=self.elapsed_ms(running.started) if running else msgspec.UNSET,
            last=self.last_result or msgspec.UNSET,
            has_failed_compression_attempt=self.breaker.has_failed(reading.tokens),
            force_full_ide_context=client is None or client.editor.is_full_due(self.history),
            token_count=reading.tokens,
            token_count_source=reading.source,
            token_limit=self.limit(choice),
            threshold=self.services.settings().compression_threshold,
            tokens_until_compression=None if mark is None else max(0, mark - reading.tokens),
            compressions=len(self.history.compactions),
            can_undo=bool(self.history.in_force),
        )

    def elapsed_ms(self, started: float) -> int:
        """Milliseconds since a point on the monotonic clock."""
        return max(0, round((self.services.clock.monotonic() - started) * 1000))

    # --- requests ----------------------------------------------------------------------------------------------------------------

    def request_contents(self, items: Iterable[Item], *more: Content) -> tuple[Content, ...]:
        """What is sent: environment, view, and `more`, as the API takes them."""
        contents = [item.content for item in items]
        if self.environment is not None:
            contents.insert(0, self.environment)
        contents.extend(more)
        return sendable(contents)


def sendable(contents: Iterable[Content]) -> tuple[Content, ...]:
    """One role after the other, function responses in front of a user content's other parts, empty contents left out."""
    merged = merge_neighbours(content for content in contents if content.parts)
    return tuple(_results_first(content) for content in merged)


def _results_first(content: Content) -> Content:
    if content.role != "user" or len(content.parts) < 2:
        return content
    results = [part for part in content.parts if is_truthy(part.get("functionResponse"))]
    if not results or len(results) == len(content.parts):
        return content
    others = [part for part in content.parts if not is_truthy(part.get("functionResponse"))]
    return Content(role="user", parts=(*results, *others))
