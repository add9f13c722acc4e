"""Handlers of `gemini/session/*`, of the models, and of the events of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import msgspec

from gemini_companion.protocol.codec import encode_body
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.protocol.session_types import ExportParams, KeepSessionParams, NewestParams
from gemini_companion.protocol.types import (
    ForkParams,
    ImportParams,
    ListSessionsParams,
    NewSessionParams,
    OpenSessionParams,
    RenameParams,
    ReplayParams,
    SessionIdParams,
    SubscribeParams,
)
from gemini_companion.sessions.models.results import ModelReport
from gemini_companion.sessions.results import (
    EventPage,
    Exported,
    SessionInfo,
    SessionList,
)
from gemini_companion.sessions.transcript import inspection
from gemini_companion.sessions.transcript.newest import newest_contents
from gemini_companion.sessions.transcript.results import NewestContents


async def new(host: Host, params: NewSessionParams) -> SessionInfo:
    return await host.app.new_session(
        host.client, model=params.model, title=params.title, system_instruction=params.system_instruction
    )


async def list_(host: Host, params: ListSessionsParams) -> SessionList:
    return await host.app.list_sessions(query=params.query, limit=params.limit, cursor=params.cursor)


async def open_(host: Host, params: OpenSessionParams) -> SessionInfo:
    return await host.app.open_session(host.client, params.session_id, take_over=params.take_over)


async def subscribe(host: Host, params: SubscribeParams) -> None:
    await host.app.subscribe(host.client, params.session_id, on=params.on)


async def fork(host: Host, params: ForkParams) -> SessionInfo:
    return await host.app.fork(host.client, params.session_id, params.at_turn)


async def rename(host: Host, params: RenameParams) -> SessionInfo:
    return await host.app.rename(host.client, params.session_id, params.title)


async def keep(host: Host, params: KeepSessionParams) -> SessionInfo:
    return await host.app.keep(host.client, params.session_id, on=params.on)


async def delete(host: Host, params: SessionIdParams) -> None:
    await host.app.delete(params.session_id)


async def export(host: Host, params: ExportParams) -> Exported:
    pieces = await host.app.export(host.client, params.session_id, params.format)
    return msgspec.structs.replace(Exported(content=""), content=await asyncio.to_thread(_as_string, pieces))


def _as_string(pieces: Iterable[str]) -> msgspec.Raw:
    """A JSON string of these; each is encoded by itself, for nothing else runs meanwhile."""
    written = bytearray(b'"')
    for piece in pieces:
        written += encode_body(piece)[1:-1]
    return msgspec.Raw(written + b'"')


async def import_(host: Host, params: ImportParams) -> SessionInfo:
    return await host.app.import_session(host.client, params.path)


async def newest(host: Host, params: NewestParams) -> NewestContents:
    app, session_id = host.app, params.session_id
    held = app.loaded(session_id) if await app.services.store.still_holds(session_id) else None
    return await newest_contents(app.services, held, session_id, params.limit)


async def models(host: Host, params: Empty) -> ModelReport:
    services = host.app.services
    if host.client.current is None:
        return inspection.model_report(services, services.models.choose(services.settings()))
    return inspection.model_report(services, (await host.load(None)).choice())


async def replay(host: Host, params: ReplayParams) -> EventPage:
    return await inspection.event_page(await host.load(params.session_id), params.after_seq)
