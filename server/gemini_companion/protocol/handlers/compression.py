"""Handlers of `gemini/compress` and `gemini/compression*`."""

from __future__ import annotations

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.engine.history.verdict import Verdict
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.progress import client_progress
from gemini_companion.protocol.types import (
    ApplyParams,
    CompressionParams,
    CompressParams,
    KeepStatementParams,
    KeptParams,
    RateParams,
    SessionParams,
    UndoParams,
)
from gemini_companion.sessions.compression.cost import verdict_now
from gemini_companion.sessions.compression.kept import keep_statement, kept_report
from gemini_companion.sessions.compression.preview import apply_preview, discard_preview
from gemini_companion.sessions.compression.rating import rate
from gemini_companion.sessions.compression.results import CompressionSources, KeptReport
from gemini_companion.sessions.compression.sources import snapshot_sources
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_state import Wish
from gemini_companion.sessions.results import CompressionList, CompressionStatusReport
from gemini_companion.sessions.transcript.inspection import compression_list


async def compress(host: Host, params: CompressParams) -> CompressionResult:
    if params.up_to is not None and params.from_ is not None:
        raise InvalidInput("A compression goes up to a turn or begins at one, not both.", path="$.from")
    wish = Wish(guidance=params.instructions, strategy=params.strategy, up_to=params.up_to, since=params.from_)
    meant = host.session_meant(params.session_id)
    with host.sink.compression_progress(params.work_done_token, "Compressing the chat", meant):
        return await host.app.compress(host.client, params.session_id, wish=wish, preview=params.preview)


async def status(host: Host, params: SessionParams) -> CompressionStatusReport:
    if params.session_id is None and host.client.current is None:
        await host.hold(None)
    return (await host.load(params.session_id)).status(host.client)


async def apply(host: Host, params: ApplyParams) -> CompressionResult:
    session = await host.hold(params.session_id)
    with client_progress(host.connection, params.work_done_token, "Applying the compression"):
        return await apply_preview(
            session, client=host.client.client_id, compression_id=params.compression_id, snapshot=params.snapshot
        )


async def discard(host: Host, params: CompressionParams) -> None:
    await discard_preview(await host.hold(params.session_id), params.compression_id)


async def undo_(host: Host, params: UndoParams) -> CompressionResult:
    session = await host.hold(params.session_id)
    return await undo(session, client=host.client.client_id, compression_id=params.compression_id)


async def rate_(host: Host, params: RateParams) -> None:
    session = await host.hold(params.session_id)
    await rate(session, params.compression_id, rating=params.rating, note=params.note)


async def verdict(host: Host, params: SessionParams) -> Verdict:
    return verdict_now(await host.load(params.session_id))


async def list_(host: Host, params: SessionParams) -> CompressionList:
    return compression_list(await host.load(params.session_id))


async def sources(host: Host, params: CompressionParams) -> CompressionSources:
    return await snapshot_sources(await host.load(params.session_id), params.compression_id)


async def kept(host: Host, params: KeptParams) -> KeptReport:
    return await kept_report(await host.load(params.session_id), params.compression_id, params.contains)


async def keep(host: Host, params: KeepStatementParams) -> None:
    await keep_statement(await host.hold(params.session_id), params.statement_id, is_kept=params.is_kept)
