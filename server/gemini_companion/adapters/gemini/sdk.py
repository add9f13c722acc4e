"""The one module that imports google-genai: calls and their faults. Takes 0.4 s to import: loaded in a thread.

The SDK is kept from: retrying, continuing, calling functions, choosing aiohttp, following redirects with our key,
sending a local endpoint through a proxy, warning about unknown enumeration values.
"""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar, cast

import httpx2
from google import genai
from google.auth import exceptions as auth_errors
from google.genai import errors as sdk_errors
from google.genai import types
from google.genai.version import __version__ as SDK_VERSION

from gemini_companion.adapters.certificates import tls_context
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.adapters.gemini.faults import (
    ENDPOINT_HINT,
    LATER_HINT,
    VERTEX_HINT,
    ErrorResponse,
    fault_of,
    is_page,
    one_line,
    page_fault,
)
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.transport import (
    BREATH_EVENTS,
    MAX_ANSWER_BYTES,
    PLACEHOLDER,
    AnswerTooLarge,
    BodyClient,
    Reading,
    UnexpectedRequest,
    http_client,
    outgoing,
    reading,
)
from gemini_companion.engine.errors import ModelFault, ModelUnavailable, Unauthenticated
from gemini_companion.sessions.models.port import ModelChunk

Json: TypeAlias = dict[str, Any]

_DEVELOPER_ENDPOINT: Final = "https://generativelanguage.googleapis.com/"
_SHORTEST_SECRET: Final = 8
"""Characters; cutting out a shorter "key" would only garble the sentence."""
_MESSAGE_LIMIT: Final = 4_000
"""Characters of an error's message that are read."""
_RAW: Final = "Raw response: "
"""Behind it the SDK quotes what it cannot read."""
_KNOWN_SDK: Final = "3.3."
"""The beginning of the versions whose requests were compared with ours; any other one is given the whole body."""
# The SDK wants typed contents and turns each into several objects on the event loop: 1.5 s for 10,000. Our HTTP client
# sends the body, already encoded, in place of this one; else `extra_body`, which takes JSON, replaces it.
_PLACEHOLDER: Final = [types.Content(role="user", parts=[types.Part(text=PLACEHOLDER)])]

logger = logging.getLogger(__name__)

logging.getLogger("google_genai").setLevel(logging.ERROR)  # it warns about the environment, which `doctor` explains


_GENERATING: Final[Json] = {"automatic_continuation": False, "automatic_function_calling": {"disable": True}}
"""The SDK's configuration. A dictionary, since the SDK copies a `GenerateContentConfig` deeply."""

T = TypeVar("T")


class _Models(Protocol):
    """The methods of the SDK's `AsyncModels` that are used, with the types that they are used with."""

    async def generate_content(
        self, *, model: str, contents: list[types.Content], config: Json
    ) -> types.GenerateContentResponse: ...

    async def generate_content_stream(
        self, *, model: str, contents: list[types.Content], config: Json
    ) -> AsyncIterator[types.GenerateContentResponse]: ...

    async def count_tokens(
        self, *, model: str, contents: list[types.Content], config: Json
    ) -> types.CountTokensResponse: ...

    async def embed_content(self, *, model: str, contents: list[str], config: Json) -> types.EmbedContentResponse: ...


class Connection:
    """An SDK client on our own HTTP client.

    Its calls raise only `ModelFault`s. The SDK's exceptions are not chained to them, since they have the request's
    headers, and so the key.
    """

    def __init__(self, options: GeminiOptions, http: httpx2.AsyncClient | None = None) -> None:
        self._options = options
        fault: ModelFault | None = None
        try:
            self._http = http or http_client(options)
            self._client = genai.Client(
                vertexai=options.vertex,
                api_key=options.api_key,
                project=options.project,
                location=options.location,
                http_options=types.HttpOptions(
                    base_url=options.base_url or (None if options.vertex else _DEVELOPER_ENDPOINT),
                    api_version=options.api_version,
                    httpx_async_client=self._http,
                    # For unused clients that the SDK makes beside ours; it would load all certificates twice more.
                    client_args={"verify": tls_context()},
                    async_client_args={"ssl": tls_context()},
                ),
            )
            self._models = cast("_Models", self._client.aio.models)
            self._sends_bodies = isinstance(self._http, BodyClient) and SDK_VERSION.startswith(_KNOWN_SDK)
        except auth_errors.GoogleAuthError as exc:
            fault = self._fault(exc, "")
        except Exception as exc:
            fault = ModelUnavailable(
                f"The connection to the model could not be set up ({type(exc).__name__}).",
                hint=ENDPOINT_HINT,
                retryable=False,
            )
        if fault is not None:
            raise fault

    async def stream(
        self, model: str, body: Body, emit: Callable[[types.GenerateContentResponse | ModelChunk], None]
    ) -> None:
        """Run one `streamGenerateContent`; `emit`, which must not raise, gets each piece, a plain one as a chunk.

        Cancelling it closes the connection. With a finish reason the answer is whole: what follows it (usage) is waited
        for only briefly.
        """
        fault: ModelFault | None = None
        patience = self._options.timeout_ms
        _keep_quiet()

        def take(piece: types.GenerateContentResponse | ModelChunk) -> None:
            nonlocal patience
            emit(piece)
            if _has_finish_reason(piece):
                patience = self._options.after_finish_ms
            _restart(limit, patience)

        stream = Reading(take)
        token = reading.set(stream)

        async def read(config: Json) -> None:  # the SDK sends the request when the first piece is asked for
            pieces = await self._models.generate_content_stream(
                model=model, contents=_PLACEHOLDER, config={**_GENERATING, **config}
            )
            number = 0
            async for piece in pieces:
                take(piece)
                number += 1
                if number % BREATH_EVENTS == 0:
                    await asyncio.sleep(0)

        try:
            # Bytes alone are no life sign: a proxy's comments may go on for ever.
            async with _time_limit(patience) as limit:
                await self._sending(body, read)
        except Exception as exc:
            fault = self._fault(exc, model)
        finally:
            reading.reset(token)
            await stream.close()
        if fault is not None:
            raise fault

    async def generate(self, model: str, body: Body) -> types.GenerateContentResponse:
        """Run one `generateContent`."""
        _keep_quiet()
        try:
            async with _time_limit(self._options.timeout_ms):
                return await self._sending(
                    body,
                    lambda config: self._models.generate_content(
                        model=model, contents=_PLACEHOLDER, config={**_GENERATING, **config}
                    ),
                )
        except Exception as exc:
            fault = self._fault(exc, model)
        raise fault

    async def count(self, model: str, body: Body) -> int | None:
        """Run one `countTokens`; `None` if the answer has no number."""
        _keep_quiet()
        try:
            async with _time_limit(self._options.idle_timeout_ms):
                answer = await self._sending(
                    body,
                    lambda config: self._models.count_tokens(model=model, contents=_PLACEHOLDER, config=config),
                )
                return answer.total_tokens
        except Exception as exc:
            fault = self._fault(exc, model)
        raise fault

    async def embed(self, model: str, texts: Sequence[str], *, task: str, dimensions: int) -> list[list[float]]:
        """Run one `batchEmbedContents`: a vector for each text, as far as the answer has them."""
        _keep_quiet()
        try:
            async with _time_limit(self._options.idle_timeout_ms):
                answer = await self._models.embed_content(
                    model=model, contents=list(texts), config={"task_type": task, "output_dimensionality": dimensions}
                )
                return [list(embedding.values or ()) for embedding in answer.embeddings or ()]
        except Exception as exc:
            fault = self._fault(exc, model)
        raise fault

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
        await self._client.aio.aclose()
        self._client.close()

    async def _sending(self, body: Body, call: Callable[[Json], Awaitable[T]]) -> T:
        """Make a call of the SDK whose request is sent with this body; `call` is given what its configuration needs."""
        if self._sends_bodies:
            sending = outgoing.set(body)
            try:
                return await call({})
            except UnexpectedRequest:  # before anything was sent
                self._sends_bodies = False
                logger.info("google-genai %s asks for something that is not known: it gets whole bodies", SDK_VERSION)
            finally:
                outgoing.reset(sending)
        return await call({"http_options": {"extra_body": await asyncio.to_thread(body.json)}})

    def _fault(self, exc: Exception, model: str) -> ModelFault:
        """The fault for an exception of the SDK, of its HTTP client or of Google's credentials."""
        match exc:
            case sdk_errors.APIError():
                return fault_of(self._error_response(exc), model=model, vertex=self._options.api_key is None)
            case httpx2.TimeoutException():
                return ModelUnavailable(
                    f"The model's service was silent for too long ({type(exc).__name__}).", hint=LATER_HINT
                )
            case TimeoutError():
                return ModelUnavailable("The model's service took too long to answer.", hint=LATER_HINT)
            case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
                return ModelUnavailable(
                    "The address of the model's service cannot be used.", hint=ENDPOINT_HINT, retryable=False
                )
            case httpx2.ConnectError() | httpx2.ProxyError():
                reason = self._redact(one_line(str(exc), 200))
                return ModelUnavailable(f"The model's service could not be reached ({reason}).", hint=ENDPOINT_HINT)
            case httpx2.HTTPError():
                return ModelUnavailable(
                    f"The connection to the model's service broke ({type(exc).__name__}).", hint=LATER_HINT
                )
            case AnswerTooLarge():
                return ModelUnavailable(
                    f"The answer is larger than {MAX_ANSWER_BYTES // 1024**2} MiB.", hint=ENDPOINT_HINT, retryable=False
                )
            case auth_errors.TransportError():
                return ModelUnavailable("Google's sign-in service could not be reached.", hint=ENDPOINT_HINT)
            case auth_errors.GoogleAuthError():
                reason = self._redact(one_line(str(exc), 200))
                return Unauthenticated(
                    f"The machine's Google credentials were not accepted ({reason}).", hint=VERTEX_HINT
                )
            case sdk_errors.UnknownApiResponseError() if is_page(raw := str(exc).partition(_RAW)[2]):
                return page_fault(self._redact(raw), 200)
            case _:
                # The errors of the SDK's parsers escape it: ValueError, TypeError, AttributeError, ValidationError …
                return ModelUnavailable(
                    f"The model's service sent something unreadable ({type(exc).__name__}).", hint=LATER_HINT
                )

    def _error_response(self, error: sdk_errors.APIError) -> ErrorResponse:
        exc = cast("Any", error)
        details: object = exc.details
        retry_after: object = getattr(exc.response, "headers", {}).get("retry-after")
        return ErrorResponse(
            code=exc.code if isinstance(exc.code, int) else 500,
            status=self._redact(str(exc.status or "")),
            message=self._redact(str(exc.message or ""))[:_MESSAGE_LIMIT],
            body=cast("Json", details) if isinstance(details, dict) else None,
            retry_after=retry_after if isinstance(retry_after, str) else None,
        )

    def _redact(self, text: str) -> str:
        key = self._options.api_key
        return text.replace(key, "[key]") if key and len(key) >= _SHORTEST_SECRET else text


def _time_limit(milliseconds: int) -> asyncio.Timeout:
    return asyncio.timeout(milliseconds / 1000)


def _restart(limit: asyncio.Timeout, milliseconds: int) -> None:
    if not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time() + milliseconds / 1000)


def _has_finish_reason(piece: types.GenerateContentResponse | ModelChunk) -> bool:
    if isinstance(piece, ModelChunk):
        return piece.finish_reason is not None
    candidate = piece.candidates[0] if piece.candidates else None
    return bool(candidate and candidate.finish_reason and candidate.finish_reason.value != "FINISH_REASON_UNSPECIFIED")


def _keep_quiet() -> None:
    """Silence the SDK's warnings of unknown enumeration values; before each call, as filters may have been reset."""
    warnings.filterwarnings("ignore", category=UserWarning, module=r"google\.genai\.")


async def rehearse() -> None:
    """Make every call once against canned answers, without a network: the SDK builds its parsers then (60 ms)."""
    answer: Json = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "-"}]}, "finishReason": "STOP"}],
        "usageMetadata": {},
    }
    body = Body.of({"contents": [{"role": "user", "parts": [{"text": "-"}]}]})

    def respond(request: httpx2.Request) -> httpx2.Response:
        text = json.dumps({"totalTokens": 1, **answer})
        return httpx2.Response(200, text=f"data: {text}\n\n" if "streamGenerateContent" in request.url.path else text)

    async with BodyClient(transport=httpx2.MockTransport(respond)) as http:
        connection = Connection(GeminiOptions(api_key="-", base_url="http://127.0.0.1/"), http)
        await connection.stream("-", body, lambda piece: None)
        await connection.generate("-", body)
        await connection.count("-", body)
        await connection.close()
