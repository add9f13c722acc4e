"""Handlers of what can be read of a session, and of its pins."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.types import (
    HistoryParams,
    PinParams,
    PreviewContextParams,
    SessionParams,
    StatsParams,
    UnpinParams,
)
from gemini_companion.sessions import pins
from gemini_companion.sessions.context.ide import preview_context
from gemini_companion.sessions.context.reports import ContextPreview
from gemini_companion.sessions.context.system_prompt import report_for, report_of
from gemini_companion.sessions.results import ContextReport, Pin, PinList
from gemini_companion.sessions.statistics.shapes import Stats
from gemini_companion.sessions.system_prompt import SystemPromptReport
from gemini_companion.sessions.transcript import inspection
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.sessions.transcript.results import HistoryPage


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


async def stats(host: Host, params: StatsParams) -> Stats:
    if params.all:
        return await host.app.statistics.of_project()
    return await host.app.statistics.of_session(await host.load(params.session_id))
