"""Handlers of `gemini/session/*` and of what can be read of a session."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.protocol.session_types import ExportParams, KeepSessionParams, NewestParams
from gemini_companion.protocol.types import (
    ForkParams,
    HistoryParams,
    ImportParams,
    ListSessionsParams,
    NewSessionParams,
    OpenSessionParams,
    PinParams,
    PreviewContextParams,
    RenameParams,
    ReplayParams,
    SessionIdParams,
    SessionParams,
    StatsParams,
    SubscribeParams,
    UnpinParams,
)
from gemini_companion.sessions import pins
from gemini_companion.sessions.context.ide import preview_context
from gemini_companion.sessions.context.reports import ContextPreview
from gemini_companion.sessions.context.system_prompt import report_for, report_of
from gemini_companion.sessions.models.results import ModelReport
from gemini_companion.sessions.results import (
    ContextReport,
    EventPage,
    Exported,
    HistoryPage,
    NewestContents,
    Pin,
    PinList,
    SessionInfo,
    SessionList,
)
from gemini_companion.sessions.statistics.shapes import Stats
from gemini_companion.sessions.system_prompt import SystemPromptReport
from gemini_companion.sessions.transcript import inspection
from gemini_companion.sessions.transcript.newest import newest_contents
from gemini_companion.sessions.transcript.pages import history_page


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
    return Exported(content=await host.app.export(host.client, params.session_id, params.format))


async def import_(host: Host, params: ImportParams) -> SessionInfo:
    return await host.app.import_session(host.client, params.path)


async def newest(host: Host, params: NewestParams) -> NewestContents:
    app, session_id = host.app, params.session_id
    held = app.loaded(session_id) if app.services.store.holds(session_id) else None
    return await newest_contents(app.services, held, session_id, params.limit)


async def history(host: Host, params: HistoryParams) -> HistoryPage:
    session = await host.load(params.session_id)
    return await history_page(
        session, params.view, cursor=params.cursor, limit=params.limit, newest_first=params.newest_first
    )


async def context(host: Host, params: SessionParams) -> ContextReport:
    return inspection.context_report(await host.load(params.session_id))


async def system_prompt(host: Host, params: SessionParams) -> SystemPromptReport:
    if params.session_id is None and host.client.current is None:
        return await report_for(host.app.services, host.client)
    return await report_of(await host.load(params.session_id))


async def context_preview(host: Host, params: PreviewContextParams) -> ContextPreview:
    if params.of_new_session or (params.session_id is None and host.client.current is None):
        return await preview_context(host.app.services, host.client)
    return await preview_context(host.app.services, host.client, await host.load(params.session_id))


async def pin(host: Host, params: PinParams) -> Pin:
    pins.check_pin(params.text, params.turn_id)  # before a session is made for it
    session = await host.hold(params.session_id)
    return await pins.pin(session, text=params.text, turn_id=params.turn_id)


async def unpin(host: Host, params: UnpinParams) -> None:
    await pins.unpin(await host.hold(params.session_id), params.pin_id)


async def list_pins(host: Host, params: SessionParams) -> PinList:
    return inspection.pin_list(await host.load(params.session_id))


async def models(host: Host, params: Empty) -> ModelReport:
    services = host.app.services
    if host.client.current is None:
        return inspection.model_report(services, services.models.choose(services.settings()))
    return inspection.model_report(services, (await host.load(None)).choice())


async def stats(host: Host, params: StatsParams) -> Stats:
    if params.all:
        return await host.app.statistics.of_project()
    return await host.app.statistics.of_session(await host.load(params.session_id))


async def replay(host: Host, params: ReplayParams) -> EventPage:
    return await inspection.event_page(await host.load(params.session_id), params.after_seq)
