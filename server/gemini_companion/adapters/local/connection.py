"""Speaking to the worker: llama.cpp's server over its socket. Loaded with the first model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final, TypeAlias, cast

import httpx2
import msgspec

from gemini_companion.adapters.local.answer import Answer, Events, fault_of
from gemini_companion.adapters.local.process import Worker
from gemini_companion.adapters.local.request import Abilities
from gemini_companion.engine.errors import ModelFault, ModelUnavailable
from gemini_companion.sessions.models.port import ModelChunk

Json: TypeAlias = dict[str, Any]

EVENT_SECONDS: Final = 300.0
"""Longest silence: a batch of a prompt, or a word, of a model that is far too large for the machine."""

_MARK: Final = "probe-7f3a"
_PROBE_TOOL: Final[Json] = {
    "type": "function",
    "function": {"name": _MARK, "description": _MARK, "parameters": {"type": "object", "properties": {}}},
}


class WorkerGone(Exception):
    """The worker broke the connection, or was silent for `silent_seconds`."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(str(fault))
        self.silent_seconds = EVENT_SECONDS if isinstance(fault, TimeoutError) else None


class WorkerConnection:
    """Requests to one worker."""

    def __init__(self, worker: Worker) -> None:
        socket = worker.socket
        # A connection that is kept would be closed by the server some seconds later, perhaps under the next request.
        once = httpx2.Limits(max_keepalive_connections=0)
        self._version = worker.model.title
        self._client = httpx2.AsyncClient(
            base_url="http://local" if socket else worker.address,
            transport=httpx2.AsyncHTTPTransport(uds=socket, trust_env=False, verify=False, limits=once),
            trust_env=False,
            timeout=None,
            headers={"authorization": f"Bearer {worker.key}"},
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def stream(self, body: Json) -> AsyncGenerator[ModelChunk, None]:
        """The chunks of an answer. Raises `ModelFault`s, or `WorkerGone`.

        Closing the generator closes the connection, at which the server gives the request up.
        """
        answer, events = Answer(self._version), Events()
        try:
            request = self._client.build_request("POST", "/v1/chat/completions", json=body)
            async with asyncio.timeout(EVENT_SECONDS):
                response = await self._client.send(request, stream=True)
            try:
                if response.status_code != 200:
                    raise _refusal(await response.aread())
                async with aclosing(response.aiter_raw()) as pieces:
                    while (data := await _next(pieces)) is not None:
                        for event in events.feed(data):
                            for chunk in answer.add(event):
                                yield chunk
            finally:
                await response.aclose()
        except (httpx2.HTTPError, TimeoutError) as fault:
            raise WorkerGone(fault) from fault

    async def count(self, body: Json) -> int:
        """Tokens of a prompt, by the model's own tokenizer. Raises `ModelFault`s, or `WorkerGone`."""
        found = await self._post("/v1/chat/completions/input_tokens", body)
        tokens = found.get("input_tokens")
        if not isinstance(tokens, int) or tokens < 0:
            raise ModelUnavailable("The model on this machine counted no tokens.", retryable=False)
        return tokens

    async def abilities(self) -> Abilities:
        """What the model's template has a place for, tried out."""
        user = {"role": "user", "content": "hello"}
        system = await self._template({"messages": [{"role": "system", "content": _MARK}, user]})
        tools = await self._template({"messages": [user], "tools": [_PROBE_TOOL]})
        return Abilities(system=_MARK in system, tools=_MARK in tools)

    async def _template(self, body: Json) -> str:
        """The prompt that the template makes, empty if it refuses."""
        try:
            found = await self._post("/apply-template", body)
        except ModelFault:
            return ""
        return str(found.get("prompt") or "")

    async def _post(self, path: str, body: Json) -> Json:
        try:
            async with asyncio.timeout(EVENT_SECONDS):
                response = await self._client.post(path, json=body)
        except (httpx2.HTTPError, TimeoutError) as fault:
            raise WorkerGone(fault) from fault
        if response.status_code != 200:
            raise _refusal(response.content)
        return _object(response.content)


async def _next(pieces: AsyncGenerator[bytes]) -> bytes | None:
    """The next piece, `None` at the end."""
    async with asyncio.timeout(EVENT_SECONDS):
        return await anext(pieces, None)


def _refusal(content: bytes) -> ModelFault:
    return fault_of(_object(content).get("error"))


def _object(content: bytes) -> Json:
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        found = None
    return cast("Json", found) if isinstance(found, dict) else {}
