"""`Application`: the sessions of this process and the clients that use them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from functools import partial
from pathlib import Path

import msgspec

from gemini_companion.engine.errors import SessionBusy, SessionNotFound
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import CompressionResult, Entry
from gemini_companion.sessions.cancelling import cancel_job, list_what_is_done
from gemini_companion.sessions.clients import Client, Switch, found
from gemini_companion.sessions.compression.background import give_way, heed, wait_for_idle_time
from gemini_companion.sessions.compression.service import compress, compress_by_prompt
from gemini_companion.sessions.compression_state import NO_WISH, Wish
from gemini_companion.sessions.context.late_environment import refresh_environment
from gemini_companion.sessions.deleting import delete_session
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.forking import Fork, fork_of
from gemini_companion.sessions.late_interchange import export_text, imported_file
from gemini_companion.sessions.late_statistics import LateStatistics
from gemini_companion.sessions.late_turns import LateTurns
from gemini_companion.sessions.models.names import requested_model
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.registry import SessionRegistry
from gemini_companion.sessions.results import CancelResult, ChatResult, ExportFormat, SessionInfo, SessionList
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.session_info import kept, listed, session_info, titled
from gemini_companion.sessions.surrounding_events import TrustChanged
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.sessions.turn.prompt import check_prompt, slash_compression, unescaped
from gemini_companion.sessions.turn.titles import Titles
from gemini_companion.settings.trust import reported_trust


class Application:
    """Everything that a connection can ask for, whatever the protocol. One per process."""

    def __init__(self, services: Services, tooling: Tooling | None = None) -> None:
        self.services = services
        self.tooling = tooling or Tooling()
        self.clients: dict[str, Client] = {}
        self._sessions = SessionRegistry(services, self.subscribers, self._is_current)
        self.tooling.commands.use(self._sessions.get)
        self._titles = Titles(services)
        self.statistics = LateStatistics(services, self._sessions.get)
        self._turns = LateTurns()

    # --- clients

    def attach(self, client: Client) -> None:
        """Register a client that has connected."""
        self.clients[client.client_id] = client

    def detach(self, client: Client) -> None:
        """Remove a client that has disconnected; its sessions stay."""
        self.clients.pop(client.client_id, None)
        self._sessions.end_preparing()

    def trusted(self) -> bool | None:
        """Whether the clients trust the workspace, as far as they have reported it; see `reported_trust`."""
        return reported_trust((client.trusted, client.folders) for client in self.clients.values())

    def folders(self) -> tuple[str, ...]:
        """The workspace folders of all clients, absolute paths, each once."""
        return tuple(dict.fromkeys(folder for client in self.clients.values() for folder in client.folders))

    def notify_trust(self, client: Client) -> None:
        """Emit a change of trust to the client's current session."""
        if session := self._sessions.held(client.current or ""):
            session.emit(TrustChanged(trusted=self.trusted() or False))

    def notify_all(self, event: Event) -> None:
        """Emit an event to every loaded session's subscribers, with the status, which may depend on it."""
        for session in self._sessions:
            if self._sessions.held(session.session_id):  # only the holder numbers a session's events
                session.emit(event)
            heed(session, event)
            session.notify_status()

    def subscribers(self, session_id: str) -> Iterable[Client]:
        """The clients that are subscribed to a session."""
        return [client for client in self.clients.values() if client.is_subscribed_to(session_id)]

    def _is_current(self, session_id: str) -> bool:
        return any(client.current == session_id for client in self.clients.values())

    async def let_go_idle(self) -> None:
        """Unload and release sessions that are nobody's current one and that nothing runs in; called now and then."""
        await self._sessions.let_go()

    # --- finding a session

    async def load(self, client: Client, session_id: str | None) -> Session:
        """The named session, or the client's current one, as it is now. Waits for a switch under way only if there is
        none yet. Raises `SessionNotFound`.
        """
        wanted = (client.current or await client.next_current()) if session_id is None else session_id
        if wanted is None:
            raise SessionNotFound(
                "There is no current session.", hint="Send a prompt, which begins one, or open an earlier one."
            )
        return await found(client, wanted, self._sessions.load(wanted), is_named=session_id is not None)

    async def hold(self, client: Client, session_id: str | None, *, as_it_is: bool = False) -> Session:
        """Like `load`, held by this process; made if none is named or current. Raises `SessionBusy` too.

        If none is named, it is the one that is current once every switch asked for before has ended, or if it is taken
        `as_it_is`, the one that is current now.
        """
        wanted = session_id
        if wanted is None:
            wanted = (client.current if as_it_is else None) or await client.next_current()
        if wanted is None:
            async with client.making_session:  # two prompts at once make one session
                if client.current is None:
                    await self.new_session(client)
            wanted = client.current or ""
        return await found(client, wanted, self._sessions.hold(wanted), is_named=session_id is not None)

    def loaded(self, session_id: str) -> Session | None:
        """A session as it was read last, if it is loaded. Raises `SessionNotFound` for one that is being made."""
        self._sessions.making.require_told(session_id)
        return self._sessions.get(session_id)

    # --- the sessions

    async def new_session(
        self,
        client: Client,
        *,
        model: str | None = None,
        title: str | None = None,
        system_instruction: str | None = None,
    ) -> SessionInfo:
        """Make a session; it becomes the client's current one. Raises `InvalidInput` for what is no model's name."""
        named, left = requested_model(model) or "", client.current
        with client.switch() as switch:
            session = await self.create(
                client, model=named, title=title or "", system_instruction=system_instruction, switch=switch
            )
            self._sessions.leave(left, session)
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
        fork: Fork | None = None,
        switch: Switch | None = None,
    ) -> Session:
        """Make a session of these entries, or of those of a `fork` of its `parent`. `switch` was begun for it."""
        with switch or client.switch() as switch:
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
            async with self._sessions.made(meta, entries, fork) as session:
                await refresh_environment(session)
                await session.update_listing(is_change=False)
            switch.to(meta.session_id)  # from here on it is asked for: nothing is waited for until that is answered
            self.expect_prompt()
            return session

    async def list_sessions(self, *, query: str = "", limit: int = 50, cursor: str | None = None) -> SessionList:
        """This project's sessions, newest first. `cursor` is the `next_cursor` of the page before."""
        page = await self.services.store.list(query=query, limit=limit, cursor=cursor)
        return await listed(page, self.services, self._sessions.held, hidden=self._sessions.making.untold)

    async def open_session(self, client: Client, session_id: str, *, take_over: bool = False) -> SessionInfo:
        """Make a session the client's current one, held for writing unless another process has it.

        `take_over` takes it from that process. Raises `SessionNotFound`.
        """
        with client.switch() as switch:
            try:
                session = await found(client, session_id, self._sessions.hold(session_id, take_over=take_over))
            except SessionBusy:
                session = await self._sessions.load(session_id)
            switch.to(session_id)
        self.expect_prompt()
        self._sessions.end_preparing()
        await refresh_environment(session)
        if self._sessions.held(session_id) is session:
            await self._turns.resume_if_asked(session, client, self.tooling)
            wait_for_idle_time(session, self._sessions.is_open)
        return session_info(await self.services.store.meta(session_id), session)

    async def subscribe(self, client: Client, session_id: str, *, on: bool) -> None:
        """Subscribe a client to a session, or end that. Raises `SessionNotFound`."""
        self._sessions.making.require_told(session_id)
        await self.services.store.meta(session_id)
        client.subscribe(session_id, on=on)

    async def fork(self, client: Client, session_id: str, at_turn: str | int | None) -> SessionInfo:
        """A new session that begins as the old one was after `at_turn`, or as it is now if that is `None`.

        `at_turn` is a turn's id or its number from 1. Raises `InvalidInput` if there is no such turn.
        """
        with client.switch() as switch:
            source = await self.load(client, session_id)
            fork = await fork_of(source, at_turn)
            title = f"{source.meta.title} (fork)" if source.meta.title else ""
            session = await self.create(
                client,
                model=source.meta.model,
                title=title,
                system_instruction=source.meta.system_instruction,
                parent=source.session_id,
                fork=fork,
                switch=switch,
            )
        return self.info(session)

    async def rename(self, client: Client, session_id: str, title: str) -> SessionInfo:
        """Set a session's title."""
        return self.info(await titled(await self.hold(client, session_id), title))

    async def keep(self, client: Client, session_id: str, *, on: bool) -> SessionInfo:
        """Keep a session, whatever the limits for sessions say, or end that."""
        return self.info(await kept(await self.hold(client, session_id), on=on))

    async def delete(self, session_id: str) -> None:
        """Delete a session and its files, after ending what runs in it. Raises `SessionNotFound`, `SessionBusy`."""
        await self._turns.reached()
        for one in await delete_session(session_id, self._sessions, self.tooling):
            for client in self.clients.values():
                client.forget(one)

    async def export(self, client: Client, session_id: str, format: ExportFormat) -> list[str]:
        """The session as the text of a file of that format, in pieces, with marks for secrets."""
        return await export_text(await self.load(client, session_id), format)

    async def import_session(self, client: Client, path: str) -> SessionInfo:
        """Make a session of a file; `path` is absolute. Raises `InvalidInput` that names what is wrong, and where."""
        with client.switch() as switch:
            async with imported_file(path, self.services) as (imported, entries):
                session = await self.create(
                    client,
                    model=imported.model or "",
                    title=imported.title or Path(path).stem[:80],
                    system_instruction=imported.system_instruction,
                    entries=entries,
                    switch=switch,
                )
        return msgspec.structs.replace(self.info(session), warnings=imported.warnings)

    def info(self, session: Session) -> SessionInfo:
        """What a listing shows of a loaded session."""
        return session_info(session.meta, session)

    # --- turns

    def expect_prompt(self) -> None:
        """Somebody writes a prompt, or has a chat open: what the first one needs is loaded while nobody waits."""
        self._turns.expect(self.services.models)

    async def chat(
        self,
        client: Client,
        prompt: tuple[Part, ...],
        *,
        session_id: str | None = None,
        model: str | None = None,
        replaces: str | None = None,
        steer: bool = False,
    ) -> ChatResult:
        """Answer a prompt, in the order of the session's lane. A slash command for compression runs that instead; two
        slashes before a word stand for one, which begins no command.

        `model` is used for this session from the first answer on. `replaces` is the id of the newest turn, which leaves
        the view with this answer; `steer` joins the turn under way. Raises what `Turn.run` raises, and `Overloaded`.
        """
        check_prompt(prompt)
        self._turns.prepare()
        hold = partial(self.hold, client, session_id)
        session, start = await self._turns.begin(hold, client, self.tooling, prompt, model)
        if (guidance := slash_compression(prompt)) is not None:
            return await compress_by_prompt(session, client, guidance)
        prompt = unescaped(prompt)
        return await self._finish(session, client, start.chat(prompt, model=model, replaces=replaces, steer=steer))

    async def resume(self, client: Client, session_id: str | None = None) -> ChatResult:
        """Go on with the newest turn where it stands: after its last round, or a failure, or an end of the daemon.

        Raises `InvalidInput` if it cannot go on, and what `chat` raises.
        """
        session = await self.hold(client, session_id)
        return await self._finish(session, client, (await self._turns.start(session, client, self.tooling)).resume())

    async def _finish(self, session: Session, client: Client, turn: Awaitable[ChatResult]) -> ChatResult:
        for one in self._sessions:
            give_way(one)
        try:
            with client.following(session.session_id):
                return await turn
        finally:
            await self._after_turn(session)

    async def _after_turn(self, session: Session) -> None:
        """Update the listing and begin to find a title. Failures of either must not fail the turn."""
        if not session.is_gone and self._sessions.get(session.session_id) is session:
            self._titles.begin(session, Session.save_meta)
        await list_what_is_done(session)
        wait_for_idle_time(session, self._sessions.is_open)

    async def compress(
        self, client: Client, session_id: str | None, wish: Wish = NO_WISH, *, preview: bool = False
    ) -> CompressionResult:
        """Compress a session on request; `preview` computes the compression and does not install it."""
        session = await self.hold(client, session_id, as_it_is=preview)
        await self._turns.reached()
        with client.following(session.session_id):
            return await compress(session, client=client.client_id, wish=wish, preview=preview)

    async def cancel(
        self, client: Client, session_id: str | None, *, turn_id: str | None = None, compression_id: str | None = None
    ) -> CancelResult:
        """Stop the job with this id, or without one whatever runs in the session."""
        session, by = await self.load(client, session_id), client.client_id
        await self._turns.reached()
        return CancelResult(cancelled=cancel_job(session, by, turn_id=turn_id, compression_id=compression_id))

    async def close(self) -> None:
        """End every job and command, and release every session."""
        self._turns.close()
        await asyncio.gather(*(session.stop("shutdown") for session in self._sessions))  # they share a transaction
        await self.tooling.commands.close()
        await self._titles.close()
        await self._sessions.close()
        await self.services.store.close()
        await self.services.models.close()
