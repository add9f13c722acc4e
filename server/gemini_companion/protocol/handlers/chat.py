"""Handlers of prompts, and of stopping whatever runs."""

from __future__ import annotations

from contextlib import AbstractContextManager

import msgspec

from gemini_companion.engine.history.decode import decode_prompt
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.messages import sentence_for
from gemini_companion.protocol.types import CancelParams, ChatParams, ResumeParams
from gemini_companion.sessions.results import CancelResult, ChatResult


async def chat(host: Host, params: ChatParams) -> ChatResult:
    prompt = decode_prompt(params.prompt, "$.prompt")
    with _progress(host, params, "Gemini answers"):
        result = await host.app.chat(
            host.client,
            prompt,
            session_id=params.session_id,
            model=params.model,
            replaces=params.replaces,
            steer=params.steer,
        )
        return _explained(result)


async def resume(host: Host, params: ResumeParams) -> ChatResult:
    with _progress(host, params, "Gemini goes on"):
        return _explained(await host.app.resume(host.client, params.session_id))


def _progress(host: Host, params: ChatParams | ResumeParams, title: str) -> AbstractContextManager[None]:
    """The bar of a turn. Where the window is full it waits for a compression, and says for what."""
    return host.sink.compression_progress(
        params.work_done_token, title, host.session_meant(params.session_id), afterwards="Answering"
    )


def _explained(result: ChatResult) -> ChatResult:
    """The result, with a sentence about why the turn was stopped, if it was."""
    return result if result.stopped is None else msgspec.structs.replace(result, message=sentence_for(result))


async def cancel(host: Host, params: CancelParams) -> CancelResult:
    if params.session_id is None and host.client.current is None:
        return CancelResult(cancelled=False)
    return await host.app.cancel(
        host.client, params.session_id, turn_id=params.turn_id, compression_id=params.compression_id
    )
