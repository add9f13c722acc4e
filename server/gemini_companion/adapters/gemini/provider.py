"""`GeminiProvider`: the port's methods on the SDK, loaded in a thread on first use; each stream has its task."""

from __future__ import annotations

import asyncio
import importlib
import math
import sys
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Final

from gemini_companion.adapters.gemini.answer import chunk_of, grounding_of
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.adapters.gemini.encoding import Bodies
from gemini_companion.adapters.gemini.grounding import ground_body, grounded_of
from gemini_companion.adapters.gemini.options import GeminiOptions, check_options
from gemini_companion.adapters.gemini.request import check_model_name
from gemini_companion.engine.errors import (
    ContextOverflow,
    ModelFault,
    ModelUnavailable,
    TokenCountFailed,
    Unauthenticated,
)
from gemini_companion.sessions.collector import COLLECTOR
from gemini_companion.sessions.models.port import (
    Capabilities,
    CountedTokens,
    EmbeddingPurpose,
    GroundingMeans,
    LocalContext,
    ModelChunk,
    ModelRequest,
)
from gemini_companion.sessions.recall_store import Vector
from gemini_companion.tools.grounding import Grounded

if TYPE_CHECKING:
    from google.genai import types

    from gemini_companion.adapters.gemini.sdk import Connection

_SDK: Final = "gemini_companion.adapters.gemini.sdk"
_EMBEDDING_MODEL: Final = "gemini-embedding-001"
_DIMENSIONS: Final = 256
"""Of a vector. The model's first numbers say most."""


class GeminiProvider:
    """Gemini over the network; see `sessions.models.port.ModelProvider` for the methods' contracts. Does not retry."""

    def __init__(self, options: GeminiOptions) -> None:
        self._options = options
        self._bodies = Bodies(options)
        self._connecting: asyncio.Task[Connection] | None = None
        self._streams: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def name(self) -> str:
        """Its name for people and clients."""
        return "gemini"

    @property
    def capabilities(self) -> Capabilities:
        """The service counts, calls tools, searches the web. Vertex AI embeds one text at a time: too slow."""
        return Capabilities(counts_remotely=True, calls_tools=True, grounds=True, embeds=not self._options.vertex)

    @property
    def embedding_model(self) -> str:
        """What the vectors are of."""
        return f"{_EMBEDDING_MODEL}/{_DIMENSIONS}"

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """Answer piece by piece. Leaving the loop, closing the iterator or cancelling the task closes the connection.

        The request runs in a task of its own that waits only for the network: cancelling it unwinds the SDK's nested
        generators from the inside, whereas closing those from outside would leave the inner ones to the garbage
        collector.
        """
        check_model_name(request.model)
        connection = await self._connection()
        body = await self._bodies.generate(request)
        inbox: asyncio.Queue[types.GenerateContentResponse | ModelChunk | None] = asyncio.Queue()

        async def run() -> None:
            try:
                await connection.stream(request.model, body, inbox.put_nowait)
            finally:
                inbox.put_nowait(None)

        task = asyncio.create_task(run(), name=f"gemini:{request.prompt_id}")
        self._streams.add(task)
        task.add_done_callback(self._ended)
        try:
            while (piece := await inbox.get()) is not None:
                yield piece if isinstance(piece, ModelChunk) else chunk_of(piece)
            await asyncio.wait([task])
            if task.cancelled():
                raise _closed()
            task.result()
        finally:
            task.cancel()
            await asyncio.wait([task])

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._streams.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: a caller that left early does not want it

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """Answer in one piece."""
        check_model_name(request.model)
        connection = await self._connection()
        body = await self._bodies.generate(request)
        return chunk_of(await connection.generate(request.model, body))

    async def ground(self, prompt: str, *, model: str, by: GroundingMeans) -> Grounded:
        """An answer from a search, or from the pages that the prompt names. Raises `ModelUnavailable` if refused."""
        check_model_name(model)
        connection = await self._connection()
        response = await connection.generate(model, Body.of(ground_body(prompt, by)))
        chunk = chunk_of(response)
        if chunk.block_reason:
            raise ModelUnavailable(f"It refused the question ({chunk.block_reason}).", retryable=False)
        return grounded_of(chunk, *grounding_of(response))

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """Count the contents; on Vertex AI also system instruction and tools, which the Developer API omits."""
        check_model_name(request.model)
        connection = await self._connection()
        body = await self._bodies.count(request)
        try:
            total = await connection.count(request.model, body)
        except (ContextOverflow, Unauthenticated):
            raise
        except ModelFault as fault:
            raise TokenCountFailed(
                f"The tokens could not be counted: {fault.message}",
                hint=fault.hint,
                retryable=fault.retryable,
                retry_after_ms=fault.retry_after_ms,
            ) from None
        if total is None or total < 0:
            raise TokenCountFailed("The tokens could not be counted: the answer holds no number.", retryable=True)
        return CountedTokens(total=total, source="api", covers_system=self._options.vertex)

    async def embed(self, texts: Sequence[str], *, purpose: EmbeddingPurpose) -> list[Vector]:
        """A vector for each text; at most 100 texts, as the service has it."""
        task = "RETRIEVAL_DOCUMENT" if purpose == "document" else "RETRIEVAL_QUERY"
        connection = await self._connection()
        found = await connection.embed(_EMBEDDING_MODEL, texts, task=task, dimensions=_DIMENSIONS)
        if len(found) != len(texts) or any(len(values) != _DIMENSIONS for values in found):
            raise ModelUnavailable("The answer does not hold a vector for each text.", retryable=True)
        return [Vector(model=self.embedding_model, values=_of_unit_length(values)) for values in found]

    async def warm_up(self) -> None:
        """Import the SDK and build its client in a thread. The first request reports a fault, if there is one."""
        try:
            await self._connection()
            await asyncio.to_thread(_rehearse)
        except ModelFault:
            return

    async def close(self) -> None:
        """End every stream and close the connections; later calls raise `ModelUnavailable`."""
        self._closed = True
        self._bodies.clear()
        for task in self._streams:
            task.cancel()
        if self._streams:
            await asyncio.wait(tuple(self._streams))
        if self._connecting is not None:
            try:
                connection = await asyncio.shield(self._connecting)
            except ModelFault:
                return
            await connection.close()

    async def _connection(self) -> Connection:
        """The one connection, made on first use; cancelling a caller does not stop that."""
        if self._closed:
            raise _closed()
        if self._connecting is None:
            self._connecting = asyncio.create_task(_connected(self._options), name="gemini:connect")
            self._connecting.add_done_callback(
                lambda task: task.cancelled() or task.exception()
            )  # marks it as retrieved: there may be no waiter left
        connecting = self._connecting
        try:
            connection = await asyncio.shield(connecting)
        except ModelFault:
            if self._connecting is connecting:
                self._connecting = None  # the next call tries again
            raise
        if self._closed:
            raise _closed()
        return connection


async def _connected(options: GeminiOptions) -> Connection:
    """A connection, made in a thread.

    The SDK is some hundred thousand objects that stay: a collection that goes through them holds up every stream.
    """
    if _SDK in sys.modules:
        return await asyncio.to_thread(_connect, options)
    with COLLECTOR.paused():
        connection = await asyncio.to_thread(_connect, options)
    COLLECTOR.leave_out()
    return connection


def _connect(options: GeminiOptions) -> Connection:
    check_options(options)
    try:
        sdk = importlib.import_module(_SDK)
    except ImportError as error:
        hint = "Reinstall gemini-companion with its dependencies."
        raise ModelUnavailable(
            f"The google-genai package cannot be imported ({error}).", hint=hint, retryable=False
        ) from error
    return sdk.Connection(options)


def _of_unit_length(values: Sequence[float]) -> tuple[float, ...]:
    """The vector at length 1, which the service gives only to whole ones. Raises `ModelUnavailable` if it has none."""
    length = math.hypot(*values)
    if not math.isfinite(length) or length <= 0:
        raise ModelUnavailable("The answer holds a vector that is none.", retryable=True)
    return tuple(value / length for value in values)


def _rehearse() -> None:
    asyncio.run(importlib.import_module(_SDK).rehearse())


def _closed() -> ModelUnavailable:
    return ModelUnavailable("The connection to the model was closed.", retryable=False)
