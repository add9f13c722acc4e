"""`LocalProvider`: the port's methods on a worker process, which is started on first use and ended when it is idle."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from gemini_companion.adapters.local.catalogue import LOCAL_MODEL
from gemini_companion.adapters.local.file import LocalFile, LocalModel
from gemini_companion.engine.errors import ContextOverflow, ModelFault, ModelUnavailable, TokenCountFailed
from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.models.port import Capabilities, CountedTokens, LocalContext, ModelChunk, ModelRequest

if TYPE_CHECKING:
    from gemini_companion.adapters.local.running import Running

IDLE_SECONDS: Final = 600.0
"""After so long without a request the model leaves the memory."""

_CAPABILITIES: Final = Capabilities(counts_remotely=True, runs_here=True, answers_one_by_one=True, calls_tools=True)


class LocalProvider:
    """A model in a file, on this machine; see `sessions.models.port.ModelProvider` for the methods' contracts.

    It answers one request after the other, in the order in which they came: two at once would each take twice as long.
    """

    def __init__(self, file: LocalFile, env: Mapping[str, str], *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._file = file
        self._env = env
        self._idle_seconds = idle_seconds
        self._turnstile = asyncio.Lock()
        self._waiting = 0
        self._loading: asyncio.Task[Running] | None = None
        self._loading_model: LocalModel | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def name(self) -> str:
        """Its name for people and clients."""
        return LOCAL_MODEL

    @property
    def capabilities(self) -> Capabilities:
        """It counts with the model's own tokenizer; it calls tools if the model's template has a place for them."""
        return _CAPABILITIES

    @property
    def pid(self) -> int | None:
        """The id of the process that holds the model; `None` while there is none."""
        running = self._running_now()
        return running.worker.pid if running is not None and running.worker.is_alive else None

    async def stream(
        self, request: ModelRequest, local: LocalContext | None = None
    ) -> AsyncGenerator[ModelChunk, None]:
        """Answer piece by piece; first a chunk that says so, if the model has to be loaded.

        Closing the iterator ends the request; the process stops at the end of the batch or word that it computes.
        """
        async with self._turn():
            model = await asyncio.to_thread(self._file.model)
            if not self._has(model):
                yield ModelChunk(is_loading=True)
            running = await self._loaded(model)
            async with aclosing(running.stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """Answer in one piece."""
        parts: list[Part] = []
        finish_reason = usage = model_version = None
        async with aclosing(self.stream(request)) as chunks:
            async for chunk in chunks:
                parts += chunk.parts
                finish_reason = chunk.finish_reason or finish_reason
                usage = chunk.usage or usage
                model_version = chunk.model_version or model_version
        return ModelChunk(parts=tuple(parts), finish_reason=finish_reason, usage=usage, model_version=model_version)

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """Count the whole request, template and system instruction included, with the model's own tokenizer."""
        try:
            async with self._turn():
                running = await self._loaded(await asyncio.to_thread(self._file.model))
                total = await running.count(request)
        except (ContextOverflow, TokenCountFailed):
            raise
        except ModelFault as fault:
            raise TokenCountFailed(
                f"The tokens could not be counted: {fault.message}", hint=fault.hint, retryable=fault.retryable
            ) from None
        return CountedTokens(total=total, source="api", covers_system=True)

    async def warm_up(self) -> None:
        """Read the file's head, if one is set. The model is loaded when somebody asks it something.

        The first request reports a fault, if there is one.
        """
        if self._file.is_set:
            with suppress(ModelUnavailable):
                await asyncio.to_thread(self._file.model)

    async def close(self) -> None:
        """End the process; later calls raise `ModelUnavailable`."""
        self._closed = True
        self._cancel_idle()
        await self._unload()
        if self._ending:
            await asyncio.wait(tuple(self._ending))

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        """One request at a time; the last one starts the clock for unloading."""
        self._waiting += 1
        self._cancel_idle()
        try:
            async with self._turnstile:
                if self._closed:
                    raise _closed()
                yield
        finally:
            self._waiting -= 1
            if not self._waiting and not self._closed and self._loading is not None:
                self._idle = asyncio.get_running_loop().call_later(self._idle_seconds, self._on_idle)

    def _running_now(self) -> Running | None:
        loading = self._loading
        if loading is None or not loading.done() or loading.cancelled() or loading.exception() is not None:
            return None
        return loading.result()

    def _has(self, model: LocalModel) -> bool:
        """True if this very model is in memory."""
        running = self._running_now()
        return running is not None and running.worker.is_alive and self._loading_model == model

    async def _loaded(self, model: LocalModel) -> Running:
        """The model in memory. Loading goes on if the one who asked for it gives up."""
        is_stale = self._loading is not None and self._loading.done() and not self._has(model)
        if is_stale or (self._loading is not None and self._loading_model != model):
            await self._unload()
        if self._loading is None:
            self._loading_model = model
            self._loading = asyncio.create_task(self._load(model), name="local:load")
            self._loading.add_done_callback(
                lambda task: task.cancelled() or task.exception()
            )  # marks it as retrieved: there may be no waiter left
        return await asyncio.shield(self._loading)

    async def _load(self, model: LocalModel) -> Running:
        module = await asyncio.to_thread(importlib.import_module, "gemini_companion.adapters.local.running")
        start: Callable[..., Any] = module.start
        return await start(model, self._env)

    async def _unload(self) -> None:
        """End the process, or its start."""
        loading, self._loading, self._loading_model = self._loading, None, None
        if loading is None:
            return
        if not loading.done():
            loading.cancel()
            await asyncio.wait([loading])
        if not loading.cancelled() and loading.exception() is None:
            await loading.result().end()

    def _on_idle(self) -> None:
        self._idle = None
        if self._waiting or self._closed:
            return
        task = asyncio.create_task(self._unload(), name="local:unload")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _cancel_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None


def _closed() -> ModelUnavailable:
    return ModelUnavailable("The model on this machine was closed.", retryable=False)
