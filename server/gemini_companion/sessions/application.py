"""`Application`: the sessions of this process and the clients that use them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from gemini_companion.engine.errors import CompanionError, InvalidInput, SessionBusy, SessionNotFound
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import CompressionResult, Entry, Usage
from gemini_companion.sessions.channel import EVENT_NUMBERS, EventChannel
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compressing import compress
from gemini_companion.sessions.environment import refresh_environment
from gemini_companion.sessions.events import PromptQueued, SettingsChanged, TitleChanged, TrustChanged
from gemini_companion.sessions.importing import copied, entries_until, import_file
from gemini_companion.sessions.interchange import ExportFormat, encode_session
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.recovery import recover
from gemini_companion.sessions.results import CancelResult, ChatResult, SessionInfo, SessionList
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.slash import slash_compression
from gemini_companion.sessions.summarising import off_loop
from gemini_companion.sessions.titles import Titles
from gemini_companion.sessions.turn import Turn, check_replaceable

_OF_TOOLS: Final = frozenset({"functionCall", "functionResponse"})
"""Fields of parts that no person writes."""


class Application:
    """Everything that a connection can ask for, whatever the protocol. One per process."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.clients: dict[str, Client] = {}
        self._sessions: dict[str, Session] = {}
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._titles = Titles(services)

    # --- clients -----------------------------------------------------------------------------------------------------------------

    def attach(self, client: Client) -> None:
        """A client connected."""
        self.clients[client.client_id] = client

    def detach(self, client: Client) -> None:
        """A client went away; its sessions stay."""
        self.clients.pop(client.client_id, None)

    def trusted(self) -> bool | None:
        """What the clients say of the workspace: the lowest wins, `None` if nobody said anything."""
        said = [client.trusted for client in self.clients.values() if client.trusted is not None]
        return all(said) if said else None

    def folders(self) -> tuple[str, ...]:
        """The workspace folders of all clients, each once."""
        return tuple(dict.fromkeys(folder for client in self.clients.values() for folder in client.folders))

    def tell_trust(self, client: Client) -> None:
        """Tell the client's current session that its trust changed."""
        session = self._sessions.get(client.current or "")
        if session is not None and self.services.store.holds(session.session_id):
            session.emit(TrustChanged(trusted=self.trusted() or False))

    def tell_settings(self, keys: tuple[str, ...]) -> None:
        """Tell every loaded session that settings changed."""
        for session in self._sessions.values():
            if self.services.store.holds(session.session_id):  # only the holder numbers a session's events
                session.emit(SettingsChanged(keys=keys))
            session.tell_status()

    def hearers(self, session_id: str) -> Iterable[Client]:
        """The clients that hear a session."""
        return [client for client in self.clients.values() if client.hears(session_id)]

    # --- finding a session -------------------------------------------------------------------------------------------------------

    async def reading(self, client: Client, session_id: str | None) -> Session:
        """The named session, or the client's current one, as it is now. Raises `SessionNotFound`."""
        wanted = client.current if session_id is None else session_id
        if wanted is None:
            raise SessionNotFound("There is no current session.", hint="Send a prompt, which begins one, or open an earlier one.")
        return await _found(client, wanted, self._load(wanted), is_named=session_id is not None)

    async def writing(self, client: Client, session_id: str | None) -> Session:
        """The same, held by this process, and made if the client has none. Raises `SessionNotFound`, `SessionBusy`."""
        if session_id is None:
            async with client.making_session:  # two prompts at once make one session
                if client.current is None:
                    await self.new_session(client)
        wanted = client.current or "" if session_id is None else session_id
        return await _found(client, wanted, self._hold(wanted), is_named=session_id is not None)

    async def _load(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is not None and self.services.store.holds(session_id):
            return session
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            session = self._sessions.get(session_id)
            if session is not None and self.services.store.holds(session_id):
                return session
            # Another process may have written meanwhile: what nobody here holds is read anew.
            meta, entries = await self.services.store.load(session_id)
            return await self._keep(meta, entries, first_event=0)

    async def _hold(self, session_id: str, *, take_over: bool = False) -> Session:
        """Hold a session for writing; what a crash left open is closed. Raises `SessionBusy`."""
        store = self.services.store
        if store.holds(session_id) and session_id in self._sessions:
            return self._sessions[session_id]
        async with self._opening.setdefault(session_id, asyncio.Lock()):
            if store.holds(session_id) and session_id in self._sessions:
                return self._sessions[session_id]
            await store.hold(session_id, take_over=take_over)
            meta, entries = await store.load(session_id)
            first = await store.reserve_event_seqs(session_id, EVENT_NUMBERS)
            session = await self._keep(meta, entries, first_event=first)
            await recover(session, first)
            return session

    async def _keep(self, meta: SessionMeta, entries: Sequence[Entry], *, first_event: int) -> Session:
        """Fold a log; a long one in a thread, for every content is measured."""
        channel = EventChannel(meta.session_id, self.services.store, self.services.clock, self.hearers, first_event)
        session = await off_loop(len(entries), lambda: Session(meta, entries, self.services, channel))
        self._sessions[meta.session_id] = session
        return session

    # --- the sessions ------------------------------------------------------------------------------------------------------------

    async def new_session(
        self, client: Client, *, model: str | None = None, title: str | None = None, system_instruction: str | None = None
    ) -> SessionInfo:
        """Make a session; it becomes the client's current one."""
        session = await self.create(client, model=model or "", title=title or "", system_instruction=system_instruction)
        return self.info(session)

    async def create(
        self,
        client: Client,
        *,
        model: str = "",
        title: str = "",
        system_instruction: str | None = None,
        parent: str | None = None,
        entries: tuple[Entry, ...] = (),
    ) -> Session:
        """Make a session of these entries; it becomes the client's current one."""
        now = self.services.clock.now()
        meta = SessionMeta(
            session_id=self.services.new_id("session"),
            title=title,
            model=model,
            created_at=now,
            updated_at=now,
            workspace_folders=client.folders,
            system_instruction=system_instruction,
            parent=parent,
        )
        await self.services.store.create(meta, entries)
        first = await self.services.store.reserve_event_seqs(meta.session_id, EVENT_NUMBERS)
        session = await self._keep(meta, entries, first_event=first)
        client.current = meta.session_id
        await refresh_environment(session)
        return session

    async def list_sessions(self, *, query: str = "", limit: int = 50, cursor: str | None = None) -> SessionList:
        """This project's sessions, newest first."""
        page = await self.services.store.list(query=query, limit=limit, cursor=cursor)
        return SessionList(sessions=tuple(self._info(meta) for meta in page.sessions), next_cursor=page.next_cursor)

    async def open_session(self, client: Client, session_id: str, *, take_over: bool = False) -> SessionInfo:
        """Make a session the client's current one; held for writing unless another process has it."""
        try:
            session = await _found(client, session_id, self._hold(session_id, take_over=take_over))
        except SessionBusy:
            session = await self._load(session_id)
        client.current = session_id
        await refresh_environment(session)
        return self._info(await self.services.store.meta(session_id), session)

    async def subscribe(self, client: Client, session_id: str, *, on: bool) -> None:
        """Hear a session, or no more."""
        await self.services.store.meta(session_id)
        client.subscribe(session_id, on=on)

    async def fork(self, client: Client, session_id: str, at_turn: str | int | None) -> SessionInfo:
        """A new session that begins as the old one was after `at_turn` (a turn's id or its number from 1), or as it is now."""
        source = await self.reading(client, session_id)
        said = list(source.history.entries)
        entries = await off_loop(len(said), lambda: copied(entries_until(said, at_turn), self.services, "fork"))
        title = f"{source.meta.title} (fork)" if source.meta.title else ""
        session = await self.create(
            client,
            model=source.meta.model,
            title=title,
            system_instruction=source.meta.system_instruction,
            parent=source.session_id,
            entries=entries,
        )
        await self._save_meta(session)
        return self.info(session)

    async def rename(self, client: Client, session_id: str, title: str) -> SessionInfo:
        """Give a session another title."""
        session = await self.writing(client, session_id)
        session.meta = msgspec.structs.replace(session.meta, title=title)
        await self._save_meta(session)
        session.emit(TitleChanged(title=title))
        return self.info(session)

    async def delete(self, session_id: str) -> None:
        """Forget a session and its files, ending what runs in it."""
        session = self._sessions.get(session_id)
        if session is not None:
            await _stop(session, "delete")
        await self.services.store.delete(session_id)
        self._sessions.pop(session_id, None)
        for client in self.clients.values():
            client.forget(session_id)

    async def export(self, client: Client, session_id: str, format: ExportFormat) -> str:
        """The session as the text of a file."""
        session = await self.reading(client, session_id)
        history = session.history
        return await asyncio.to_thread(encode_session, session.meta, list(history.entries), history.contents(), format)

    async def import_session(self, client: Client, path: str) -> SessionInfo:
        """Read a session file. Raises `InvalidInput` that says what is wrong with it, and where."""
        imported, entries = await asyncio.to_thread(import_file, path, self.services)
        session = await self.create(
            client,
            model=imported.model or "",
            title=imported.title or Path(path).stem[:80],
            system_instruction=imported.system_instruction,
            entries=entries,
        )
        await self._save_meta(session)
        return msgspec.structs.replace(self.info(session), warnings=imported.warnings)

    def info(self, session: Session) -> SessionInfo:
        """What is known of a session that is loaded."""
        return self._info(session.meta, session)

    def _info(self, meta: SessionMeta, session: Session | None = None) -> SessionInfo:
        if session is None and self.services.store.holds(meta.session_id):  # what others hold is known best by the store
            session = self._sessions.get(meta.session_id)
        if session is not None:
            meta = msgspec.structs.replace(session.meta, turns=session.turns, held_by=meta.held_by)
        return SessionInfo(
            session_id=meta.session_id,
            title=meta.title,
            model=meta.model or (session.choice().name if session else ""),
            created_at=meta.created_at,
            updated_at=meta.updated_at,
            turns=meta.turns,
            token_count=session.reading(session.choice()).tokens if session else meta.token_count,
            workspace_folders=tuple(Path(folder).as_uri() for folder in meta.workspace_folders if Path(folder).is_absolute()),
            parent=meta.parent,
            held_by=meta.held_by,
        )

    async def _save_meta(self, session: Session) -> None:
        session.meta = msgspec.structs.replace(
            session.meta, updated_at=self.services.clock.now(), turns=session.turns, token_count=session.reading(session.choice()).tokens
        )
        await self.services.store.save_meta(session.meta)

    # --- turns -------------------------------------------------------------------------------------------------------------------

    async def chat(
        self, client: Client, prompt: tuple[Part, ...], *, session_id: str | None = None, model: str | None = None, replaces: str | None = None
    ) -> ChatResult:
        """Answer a prompt, in its order. A prompt that is just a slash command for compression runs that.

        `replaces` names the newest turn, which leaves the view once this answer is there.
        """
        _check_prompt(prompt)
        session = await self.writing(client, session_id)
        guidance = slash_compression(prompt)
        if guidance is not None:
            return await self._compress_by_prompt(session, client, guidance)
        if replaces is not None and session.lane.is_idle:  # else it is for the turn to say, when its time comes
            check_replaceable(session, replaces)
        turn = Turn(
            session=session,
            turn_id=self.services.new_id("turn"),
            client=client,
            prompt=prompt,
            asked_model=model,
            replaces=replaces,
        )
        job = Job("turn", turn.turn_id, turn.run, abandon=turn.abandon, client=client.client_id)
        busy_with = session.lane.current.kind if session.lane.current else "turn"
        position = session.lane.submit(job)
        if position:
            session.emit(PromptQueued(position=position, because=busy_with), turn.turn_id)
        try:
            with client.following(session.session_id):
                return await job.wait(client.client_id)
        finally:
            await self._after_turn(session)

    async def _compress_by_prompt(self, session: Session, client: Client, guidance: str) -> ChatResult:
        with client.following(session.session_id):
            result = await compress(session, client=client.client_id, instructions=guidance)
        choice = session.choice()
        return ChatResult(
            session_id=session.session_id,
            turn_id=self.services.new_id("turn"),
            text=result.message,
            finish_reason="STOP",
            model=choice.name,
            usage=Usage(),
            compression=result,
        )

    async def _after_turn(self, session: Session) -> None:
        """Keep the listing true, and find a title. Neither may cost the answer."""
        self._titles.begin(session, self._save_meta)
        with suppress(CompanionError):
            await self._save_meta(session)

    async def compress(self, client: Client, session_id: str | None, *, instructions: str = "", preview: bool = False) -> CompressionResult:
        """Compress a session by hand."""
        session = await self.writing(client, session_id)
        with client.following(session.session_id):
            result = await compress(session, client=client.client_id, instructions=instructions, preview=preview)
        with suppress(CompanionError):
            await self._save_meta(session)
        return result

    async def cancel(self, client: Client, session_id: str | None, *, turn_id: str | None = None, compaction_id: str | None = None) -> CancelResult:
        """Stop the job with this id, or else whatever runs in the session."""
        session = await self.reading(client, session_id)
        by = client.client_id
        job_id = turn_id or compaction_id
        preview = session.previews.get(compaction_id or "")
        if preview is not None:
            preview.job.cancel(by)
            return CancelResult(cancelled=True)
        if session.lane.cancel(by, job_id):
            return CancelResult(cancelled=True)
        if job_id is None and session.previews:
            next(iter(session.previews.values())).job.cancel(by)
            return CancelResult(cancelled=True)
        return CancelResult(cancelled=False)

    async def close(self) -> None:
        """End every job, let go of every session."""
        for session in self._sessions.values():
            await _stop(session, "shutdown")
            session.channel.keep_deltas()
        await self._titles.close()
        await self.services.store.close()
        await self.services.models.close()


async def _found(client: Client, session_id: str, session: Awaitable[Session], *, is_named: bool = True) -> Session:
    """The session. A client hears the one that it named from before its opening, which may have something to tell."""
    if is_named:
        client.name_session(session_id)
    try:
        return await session
    except SessionNotFound:
        client.forget(session_id)
        raise


async def _stop(session: Session, by: str) -> None:
    """End everything that runs in a session."""
    previews = [preview.job for preview in session.previews.values()]
    for job in previews:
        job.cancel(by)
    await session.lane.drain(by)
    for job in previews:
        await job.settled()


def _check_prompt(prompt: Sequence[Part]) -> None:
    """Raises `InvalidInput` for one that says nothing, or that holds what no person writes."""
    if not any(map(_says_something, prompt)):
        raise InvalidInput("The prompt is empty.", path="$.prompt", hint="Write something, or attach a file.")
    for index, part in enumerate(prompt):
        if not _OF_TOOLS.isdisjoint(part):
            place = f"$.prompt[{index}]"
            raise InvalidInput(f"{place}: calls and their results come from the model and its tools, not from a prompt.", path=place)


def _says_something(part: Part) -> bool:
    text = part.get("text")
    return bool(text.strip() if isinstance(text, str) else text) or any(part[key] for key in part if key not in ("text", "thought"))
