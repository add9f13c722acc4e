"""Handlers of `gemini/session/*` and of what can be read of a session."""

from __future__ import annotations

from gemini_companion.engine.errors import CheckpointNotFound, InvalidInput
from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import PinEntry, PromptEntry, RatingEntry, UnpinEntry
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.protocol.types import (
    ExportParams,
    ForkParams,
    HistoryParams,
    ImportParams,
    ListSessionsParams,
    NewSessionParams,
    OpenSessionParams,
    PinParams,
    RateParams,
    RenameParams,
    ReplayParams,
    SessionIdParams,
    SessionParams,
    SubscribeParams,
    UnpinParams,
)
from gemini_companion.sessions.history_pages import history_page
from gemini_companion.sessions.ide import prepare_context
from gemini_companion.sessions.inspection import context_report, event_page, model_report, pin_list, stats
from gemini_companion.sessions.results import (
    ContextPreview,
    ContextReport,
    EventPage,
    Exported,
    HistoryPage,
    ModelReport,
    Pin,
    PinList,
    SessionInfo,
    SessionList,
    Stats,
)
from gemini_companion.sessions.session import Session


async def new(host: Host, connection: Connection, params: NewSessionParams) -> SessionInfo:
    client = host.client(connection)
    return await host.app.new_session(client, model=params.model, title=params.title, system_instruction=params.system_instruction)


async def list_(host: Host, connection: Connection, params: ListSessionsParams) -> SessionList:
    return await host.app.list_sessions(query=params.query, limit=params.limit, cursor=params.cursor)


async def open_(host: Host, connection: Connection, params: OpenSessionParams) -> SessionInfo:
    return await host.app.open_session(host.client(connection), params.session_id, take_over=params.take_over)


async def subscribe(host: Host, connection: Connection, params: SubscribeParams) -> None:
    await host.app.subscribe(host.client(connection), params.session_id, on=params.on)


async def fork(host: Host, connection: Connection, params: ForkParams) -> SessionInfo:
    return await host.app.fork(host.client(connection), params.session_id, params.at_turn)


async def rename(host: Host, connection: Connection, params: RenameParams) -> SessionInfo:
    return await host.app.rename(host.client(connection), params.session_id, params.title)


async def delete(host: Host, connection: Connection, params: SessionIdParams) -> None:
    await host.app.delete(params.session_id)


async def export(host: Host, connection: Connection, params: ExportParams) -> Exported:
    return Exported(content=await host.app.export(host.client(connection), params.session_id, params.format))


async def import_(host: Host, connection: Connection, params: ImportParams) -> SessionInfo:
    return await host.app.import_session(host.client(connection), params.path)


async def history(host: Host, connection: Connection, params: HistoryParams) -> HistoryPage:
    session = await _read(host, connection, params.session_id)
    return await history_page(session, params.view, cursor=params.cursor, limit=params.limit)


async def context(host: Host, connection: Connection, params: SessionParams) -> ContextReport:
    return context_report(await _read(host, connection, params.session_id))


async def context_preview(host: Host, connection: Connection, params: SessionParams) -> ContextPreview:
    session = await _read(host, connection, params.session_id)
    return (await prepare_context(session, host.client(connection))).preview()


async def pin(host: Host, connection: Connection, params: PinParams) -> Pin:
    if bool(params.text) == bool(params.turn_id):
        raise InvalidInput("Give either `text` or `turnId`.", path="$.text")
    if params.text and not params.text.strip():
        raise InvalidInput("The text to pin is empty.", path="$.text")
    session = await host.app.writing(host.client(connection), params.session_id)
    return await pin_text(session, params.text or _prompt_of(session, params.turn_id or ""), params.turn_id)


async def pin_text(session: Session, text: str, turn_id: str | None = None) -> Pin:
    """Pin a text in a session."""
    pin_id, stamp = session.services.new_id("pin"), session.stamp()
    await session.append(lambda seq: PinEntry(**stamp, seq=seq, pin_id=pin_id, text=text, turn_id=turn_id))
    session.tell_usage()
    return Pin(pin_id=pin_id, text=text, turn_id=turn_id, created_at=stamp["time"])


async def unpin(host: Host, connection: Connection, params: UnpinParams) -> None:
    session = await host.app.writing(host.client(connection), params.session_id)
    if params.pin_id not in session.history.pins:
        raise InvalidInput(f"There is no pin {params.pin_id}.", path="$.pinId", hint="gemini/pins lists them.")
    stamp = session.stamp()
    await session.append(lambda seq: UnpinEntry(**stamp, seq=seq, pin_id=params.pin_id))
    session.tell_usage()


async def pins(host: Host, connection: Connection, params: SessionParams) -> PinList:
    return pin_list(await _read(host, connection, params.session_id))


async def rate(host: Host, connection: Connection, params: RateParams) -> None:
    session = await host.app.writing(host.client(connection), params.session_id)
    if params.compaction_id not in session.history.compactions:
        raise CheckpointNotFound(f"There is no compression {params.compaction_id}.", hint="gemini/compression/list names them.")
    stamp = session.stamp()
    await session.append(lambda seq: RatingEntry(**stamp, seq=seq, compaction_id=params.compaction_id, rating=params.rating, note=params.note))


async def models(host: Host, connection: Connection, params: Empty) -> ModelReport:
    services = host.app.services
    client = host.client(connection)
    if client.current is None:
        return model_report(services, services.models.choose(services.settings()))
    session = await host.app.reading(client, None)
    return model_report(services, session.choice())


async def session_stats(host: Host, connection: Connection, params: SessionParams) -> Stats:
    return stats(await _read(host, connection, params.session_id))


async def replay(host: Host, connection: Connection, params: ReplayParams) -> EventPage:
    return await event_page(await _read(host, connection, params.session_id), params.after_seq)


async def _read(host: Host, connection: Connection, session_id: str | None) -> Session:
    return await host.app.reading(host.client(connection), session_id)


def _prompt_of(session: Session, turn_id: str) -> str:
    for entry in session.history.entries:
        if isinstance(entry, PromptEntry) and entry.turn_id == turn_id:
            text = visible_text_of(entry.said)
            if text:
                return text
    raise InvalidInput(f"The session has no turn {turn_id} with a text to pin.", path="$.turnId", hint="Turn ids are in gemini/session/history.")
