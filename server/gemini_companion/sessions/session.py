"""`Session`: one conversation held by this process: its log, its view, its numbers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import msgspec

from gemini_companion.engine.compression.preparing import tokens_saved
from gemini_companion.engine.compression.undo import can_undo
from gemini_companion.engine.errors import CompanionError, SessionBusy
from gemini_companion.engine.history.appending import only_appends
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.counting import StoredCounts
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    Entry,
    IdeContextEntry,
    ModelChangeEntry,
    PreviewEntry,
    ResumeEntry,
    UndoEntry,
)
from gemini_companion.engine.history.tool_entries import Mode
from gemini_companion.engine.tokens.ledger import RequestParts, TokenCount, TokenLedger
from gemini_companion.sessions.channel import EventChannel
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression_state import ActiveCompressions, usage_of
from gemini_companion.sessions.editor_knowledge import EditorKnowledge
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.folds import Folds, Takers, empty_folds
from gemini_companion.sessions.lane import Lane
from gemini_companion.sessions.listed_counts import is_surrounded, kept_tokens
from gemini_companion.sessions.log_writer import Draft, LogWriter
from gemini_companion.sessions.models.port import Conversation
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.models.route import Route
from gemini_companion.sessions.offering import Offering
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import CompressionStatusReport
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.surroundings import Surroundings
from gemini_companion.sessions.system_prompt import PromptBasis
from gemini_companion.sessions.trigger import Costs, Mark, mark_of, mode_of
from gemini_companion.sessions.unlogged import Unlogged

if TYPE_CHECKING:
    from gemini_companion.engine.facts.retention import FactCache

logger = logging.getLogger(__name__)


class Session:
    """One conversation. Everything that changes its log goes through `append` or `commit`."""

    def __init__(
        self,
        meta: SessionMeta,
        entries: Iterable[Entry],
        services: Services,
        channel: EventChannel,
        ledger: TokenLedger | None = None,
        counts: StoredCounts | None = None,
        folds: Folds | None = None,
    ) -> None:
        """`entries` are the log, or what stands in it behind what `folds` have taken in."""
        self.meta = meta
        self.services = services
        self.channel = channel
        self.ledger = ledger or TokenLedger()
        begun = folds.measured_with(self.ledger.measure) if folds else empty_folds(self.ledger.measure, counts)
        self.history, self.transcript, self.tools_state = begun.history, begun.transcript, begun.tools_state
        self.breaker, self.experience, self.prepared = begun.breaker, begun.experience, begun.prepared
        self.lane, self.compressions, self.conversation = Lane(), ActiveCompressions(), Conversation()
        self.system_instruction, self.prompt_basis = meta.system_instruction, PromptBasis()
        self.environment: Content | None = None  # the first of every request, built where the view begins anew
        self.environment_of: tuple[str, ...] | None = None  # the compressions that were in force when it was built
        self.asked_model: str | None = None
        """The model that the running turn's request named; the session's own once it has answered."""
        self.route = Route()
        self.spending, self.last_result = begun.spending, begun.last_result
        self._takers = Takers(begun)
        self._due_ide_tokens = begun.due_ide_tokens  # the next request sends it again, so it is counted
        self.editor_knowledge = EditorKnowledge(self.history)
        self.rules_lock = asyncio.Lock()  # held from where rules are judged by those in force until they are logged
        self.caller: Session | None = None  # the chat that this subagent works for now
        self.unlogged = Unlogged()
        self.last_used = 0.0  # seconds on the monotonic clock
        self.is_gone = False  # it was ended, to be deleted or since another process has it
        self._users: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._writer = LogWriter(meta.session_id, services)
        self.surroundings = Surroundings(self.ledger)
        self.tools = services.tools  # what the model can call; the tools of servers join where a turn begins
        self._offering = Offering(services)
        for entry in entries:
            self._take_in(entry)

    @cached_property
    def fact_cache(self) -> FactCache:
        """The facts of contents that a compression looked through before."""
        from gemini_companion.engine.facts.retention import FactCache

        return FactCache()

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.meta.session_id

    @property
    def folds(self) -> Folds:
        """What its log says."""
        others = self.tools_state, self.breaker, self.experience, self.prepared, self.spending
        return Folds(self.history, self.transcript, *others, self._due_ide_tokens, self.last_result)

    @property
    def principal(self) -> Session:
        """The session whose rules of consent and mode hold here: the chat of a subagent, else the session itself."""
        return self.caller or self

    @property
    def turns(self) -> int:
        """Turns in the log, without those that were replaced."""
        return self.transcript.turns

    @property
    def open_turns(self) -> Collection[str]:
        """Turns that have not ended, oldest first."""
        return self.transcript.open_turns

    def use(self, task: asyncio.Task[Any] | None, now: float) -> None:
        """Note that a task, usually a request's, works with it until it is done."""
        self.last_used = now
        if task is not None:
            self._users.add(task)

    @property
    def is_in_use(self) -> bool:
        """True while something runs, waits or is previewed here, is still to be written, or is asked for."""
        return (
            not self.lane.is_idle
            or self.compressions.shown is not None
            or self._writer.is_writing
            or (self._writer.has_left and self.services.store.holds(self.session_id))  # else it never can be
            or any(not task.done() for task in self._users)
        )

    # --- the log

    def stamp(self) -> dict[str, Any]:
        """`id` and `time` (ms since 1970) of a new entry."""
        return {"id": self.services.new_id("entry"), "time": self.services.clock.now()}

    async def append(self, *drafts: Draft) -> list[Entry]:
        """Write entries durably, then add them to the view. Raises `StorageFault` or `SessionBusy`, with nothing added.

        Once begun it completes, even if the caller is cancelled meanwhile; the cancellation is raised afterwards.
        """
        return await self._write(drafts, swallow_cancel=False)

    async def commit(self, *drafts: Draft) -> list[Entry]:
        """Like `append`, but a cancellation that comes too late is swallowed: what is written stays installed."""
        return await self._write(drafts, swallow_cancel=True)

    def write_later(self, *drafts: Draft) -> None:
        """Queue entries that could not be written now, to be written ahead of the next ones."""
        self._writer.leave(drafts)

    async def write_left(self) -> None:
        """Write what is queued, where nothing runs that will; if the store still fails it stays queued."""
        if self._writer.has_left and self.lane.is_idle:
            with suppress(CompanionError):
                await self.commit()
                await self.save_meta(is_change=False)

    async def _write(self, drafts: Sequence[Draft], *, swallow_cancel: bool) -> list[Entry]:
        return await self._writer.write(
            drafts, lambda: self.history.version, self._take_in, swallow_cancel=swallow_cancel
        )

    def _take_in(self, entry: Entry) -> None:
        epoch = self.history.epoch
        ide_tokens = 0 if only_appends(entry) else self.editor_knowledge.tokens_if_sent_again(self.ledger.measure)
        self.history.apply(entry)
        for take_in in self._takers[type(entry)]:
            take_in(entry)
        if self.caller is not None:
            self.caller.unlogged.hear_agent(entry)  # what it spends and changes is the chat's
        if self.history.epoch != epoch and ide_tokens:
            self._due_ide_tokens = ide_tokens
        match entry:
            case IdeContextEntry():
                self._due_ide_tokens = 0
            case CompressionEntry() | UndoEntry() | AttemptEntry():
                self.last_result = entry.result
            case ResumeEntry():
                self.environment_of = None
            case ModelChangeEntry():
                self.meta = msgspec.structs.replace(self.meta, model=entry.model)
            case _:
                pass

    async def save_meta(self, *, is_change: bool = True) -> None:
        """Store what listings show: title, model, turns, token count, and that it was changed now, if it was.

        Raises `StorageFault`, `SessionBusy`.
        """
        if self.is_gone:  # what stands there now may be another's, and this process's again
            raise SessionBusy("The session ended here, or another process had it meanwhile.", hint="Open it again.")
        used = self.services.clock.now() if is_change else max(self.meta.updated_at, self._writer.last_use)
        choice, self.meta = self.choice(), msgspec.structs.replace(self.meta, updated_at=used, turns=self.turns)
        if is_surrounded(self.environment, self.services) or not self.meta.token_count:
            count, kept = self.token_count(choice).tokens, kept_tokens(self.ledger, self.history, choice.name)
            self.meta = msgspec.structs.replace(self.meta, token_count=count, counted=kept)
        await self.services.store.save_meta(self.meta)

    async def update_listing(self, *, is_change: bool = True) -> None:
        """The same after whatever changed the log; a failure costs no more than an old number in a listing."""
        with suppress(CompanionError):
            await self.save_meta(is_change=is_change)

    async def stop(self, by: str) -> None:
        """Cancel everything that runs in the session, and wait for its end. `by` is a client's id or a reason."""
        self.is_gone = by != "shutdown"
        previews = self.compressions.beside()
        for job in previews:
            job.cancel(by)
        await self.lane.drain(by)
        await asyncio.gather(*(job.settled() for job in previews))
        await self.write_left()

    def emit(self, event: Event, turn_id: str | None = None) -> None:
        """Send an event to every subscriber, at once and in order."""
        self.channel.emit(event, turn_id)

    def notify_status(self) -> None:
        """Send the status of compression to every subscriber."""
        for client in self.channel.subscribers():
            if client.wants("compressionStatus"):
                client.sink.status(self.status(client))

    def notify_usage(self, turn_id: str | None = None) -> None:
        """Emit the token count, and send the status."""
        self.emit(usage_of(self.status(None)), turn_id)
        self.notify_status()

    # --- numbers

    def choice(self) -> ModelChoice:
        """The model that answers, and its provider; a turn keeps its own."""
        return self.route.now or self.services.models.choose(
            self.services.settings(), asked=self.asked_model, session_model=self.meta.model
        )

    @property
    def mode(self) -> Mode:
        """What tools may do unasked: as a person chose, else as the settings say."""
        if self.meta.agent is not None and self.caller is None:  # nobody knows what the chat's mode is
            return self.tools_state.chosen_mode or "ask"
        return self.principal.tools_state.chosen_mode or self.services.settings().tools.mode

    def declarations(self, choice: ModelChoice, basis: PromptBasis | None = None) -> tuple[dict[str, Any], ...]:
        """The function declarations of a request to this model, on the session's own basis if none is given."""
        has_skills = bool((basis or self.prompt_basis).skills)
        return self._offering.declarations(choice, self.mode, self.tools, has_skills=has_skills)

    def limit(self, choice: ModelChoice) -> int:
        """Tokens that the model accepts in one request."""
        return self.services.models.limit(self.services.settings(), choice.name)

    def parts(self) -> RequestParts:
        """Estimated tokens of the next request without its prompt, part by part."""
        around = self.surroundings.parts(self.system_instruction, self.environment, self.declarations(self.choice()))
        totals = self.history.totals()
        return around.with_totals(totals._replace(ide_context=totals.ide_context + self._due_ide_tokens))

    def token_count(self, choice: ModelChoice) -> TokenCount:
        """The session's one token number: what the next request would have without its prompt."""
        return self.ledger.read(choice.name, self.history.epoch, self.parts())

    def observe(self, choice: ModelChoice, measured: int, parts: RequestParts | None = None) -> None:
        """Learn from the provider's count of a request of `parts`, which it took, or by default of the next one without
        its prompt, which may be too large for it. An absurd count is not believed.
        """
        counted, limit = (self.parts(), None) if parts is None else (parts, self.limit(choice))
        if not self.ledger.observe(choice.name, self.history.epoch, counted, measured, limit=limit):
            logger.warning("Not believed: %d tokens counted where %d were estimated", measured, counted.total)

    def mark(self, choice: ModelChoice) -> Mark:
        """Where automatic compression starts."""
        return mark_of(self.services.settings(), self.limit(choice), choice.name, self.experience)

    def costs(self, choice: ModelChoice) -> Costs:
        """What a verdict on the cost of a compression rests on."""
        compressor = self.services.models.compressor(self.services.settings(), choice)
        return Costs(choice, compressor, self.experience, self.limit(choice))

    def status(self, client: Client | None, choice: ModelChoice | None = None) -> CompressionStatusReport:
        """Where compression stands. `force_full_ide_context` is computed for `client`, and true without one."""
        limit = self.limit(choice := choice or self.choice())
        settings, count = self.services.settings(), self.token_count(choice)
        mark = self.mark(choice).after_pause(settings, self.breaker.pause_at(count.tokens, limit), limit)
        left = None if mark.tokens is None else max(0, mark.tokens - count.tokens)
        verdict = self.costs(choice).estimate(count.tokens, self.parts(), settings.compression_strategy)
        under_way = self.compressions.reported(is_prepared=(prepared := self.ready_compression()) is not None)
        return CompressionStatusReport(
            session_id=self.session_id,
            state=self.compressions.state(is_prepared=prepared is not None),
            phase=(under_way.shown_phase or msgspec.UNSET) if under_way else msgspec.UNSET,
            compression_id=shown.compression_id if (shown := under_way or prepared) else msgspec.UNSET,
            prepared_saves=tokens_saved(prepared) if prepared else msgspec.UNSET,
            elapsed_ms=under_way.elapsed_ms if under_way else msgspec.UNSET,
            last=self.last_result or msgspec.UNSET,
            has_failed_compression_attempt=self.breaker.has_failed(count.tokens),
            force_full_ide_context=client is None or self.editor_knowledge.is_full_due(client.client_id),
            token_count=count.tokens,
            token_count_source=count.source,
            token_limit=limit,
            threshold=mark.share,
            threshold_reason=mark.reason or msgspec.UNSET,
            tokens_until_compression=left,
            mode=mode_of(settings, mark),
            is_due=left == 0,
            verdict=verdict or msgspec.UNSET,
            compression_at=msgspec.UNSET if mark.tokens is None else mark.tokens,
            compressions=len(self.history.compressions),
            can_undo=any(map(can_undo, self.history.in_force.values())),
        )

    def ready_compression(self) -> PreviewEntry | None:
        """The prepared compression that may be installed now, under the settings as they are."""
        return self.prepared.installable(self.history, *self.services.settings().compression_terms)

    def elapsed_ms(self, started: float) -> int:
        """Milliseconds since a point on the monotonic clock."""
        return max(0, round((self.services.clock.monotonic() - started) * 1000))

    def request_contents(self, *more: Content, close: bool = False) -> tuple[Content, ...]:
        """The contents of a request: the environment, the view, then `more`, as the API accepts them.

        `close` fills in the results that the last round lacks.
        """
        return self.history.request_contents(self.environment, more, close=close)
