"""Handlers of what runs in a session: chat, compression, and stopping either."""

from __future__ import annotations

from gemini_companion.engine.history.decode import decode_prompt
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.progress import client_progress
from gemini_companion.protocol.types import ApplyParams, CancelParams, ChatParams, CompressParams, SessionParams, UndoParams
from gemini_companion.sessions.checkpoints import apply_preview, undo
from gemini_companion.sessions.inspection import compaction_list
from gemini_companion.sessions.results import CancelResult, ChatResult, CompactionList, CompressionStatusReport


async def chat(host: Host, connection: Connection, params: ChatParams) -> ChatResult:
    prompt = decode_prompt(params.prompt, "$.prompt")
    with client_progress(connection, params.work_done_token, "Gemini answers"):
        return await host.app.chat(host.client(connection), prompt, session_id=params.session_id, model=params.model, replaces=params.replaces)


async def cancel(host: Host, connection: Connection, params: CancelParams) -> CancelResult:
    client = host.client(connection)
    if params.session_id is None and client.current is None:
        return CancelResult(cancelled=False)
    return await host.app.cancel(client, params.session_id, turn_id=params.turn_id, compaction_id=params.compaction_id)


async def compress(host: Host, connection: Connection, params: CompressParams) -> CompressionResult:
    client = host.client(connection)
    with client_progress(connection, params.work_done_token, "Compressing the chat") as bar, host.reporting(client, bar):
        return await host.app.compress(client, params.session_id, instructions=params.instructions, preview=params.preview)


async def compression_status(host: Host, connection: Connection, params: SessionParams) -> CompressionStatusReport:
    client = host.client(connection)
    if params.session_id is None and client.current is None:
        await host.app.writing(client, None)
    session = await host.app.reading(client, params.session_id)
    return session.status(client)


async def apply(host: Host, connection: Connection, params: ApplyParams) -> CompressionResult:
    client = host.client(connection)
    session = await host.app.writing(client, params.session_id)
    with client_progress(connection, params.work_done_token, "Applying the compression"):
        return await apply_preview(session, client=client.client_id, compaction_id=params.compaction_id, snapshot=params.snapshot)


async def undo_(host: Host, connection: Connection, params: UndoParams) -> CompressionResult:
    client = host.client(connection)
    session = await host.app.writing(client, params.session_id)
    return await undo(session, client=client.client_id, compaction_id=params.compaction_id)


async def compactions(host: Host, connection: Connection, params: SessionParams) -> CompactionList:
    return compaction_list(await host.app.reading(host.client(connection), params.session_id))
