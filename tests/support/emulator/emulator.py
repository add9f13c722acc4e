"""The emulator itself: which request gets which answer, and what was asked."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.emulator import faults
from tests.support.emulator.delivery import deliver
from tests.support.emulator.embeddings import check_embed, embeddings
from tests.support.emulator.errors import ApiError, error_info, too_large
from tests.support.emulator.http_server import Exchange, HttpRequest, LoopbackServer
from tests.support.emulator.recordings import read_lines
from tests.support.emulator.replies import Json, Reply, answer
from tests.support.emulator.requested import RecordedRequest
from tests.support.emulator.responders import Responder, Summariser, asks_for_title
from tests.support.emulator.tokens import count_request, input_limit
from tests.support.emulator.validation import check_count, check_generate
from tests.support.emulator.waiting import Gate, Watch
from tests.support.patience import PATIENCE

Method = Literal["generateContent", "streamGenerateContent", "countTokens", "batchEmbedContents"]

_PATH = re.compile(
    r"/(?P<version>v1|v1alpha|v1beta|v1beta1)/(?P<vertex>(?:projects/[^/]+/locations/[^/]+/)?publishers/[^/]+/)?models/(?P<model>[^/:]+):(?P<method>\w+)"
)
_KNOWN_MODEL = re.compile(r"gem(?:ini|ma)-[\w.-]+")


@dataclass(frozen=True)
class _Scripted:
    reply: Reply
    method: str | None
    when: Callable[[RecordedRequest], bool] | None

    def fits(self, request: RecordedRequest) -> bool:
        generates = request.method not in ("countTokens", "batchEmbedContents")
        right_method = (
            generates and not asks_for_title(request) if self.method is None else request.method == self.method
        )
        return right_method and (self.when is None or self.when(request))


class Emulator:
    """A Gemini API on loopback: scripted, replaying or answering by itself.

    Every request is first checked as the real API would (key, model, form, size); only then does it get the first
    scripted reply that fits it, else one from `responder`. Use it as a context manager, or call `start` and `stop`.
    Attributes may be changed at any time.
    """

    faults = faults
    """Everything that can go wrong, as replies."""

    def __init__(self, *, prefix: str = "", responder: Responder | None = None) -> None:
        self._prefix = prefix.rstrip("/")
        self._server = LoopbackServer(self._handle)
        self._script: deque[_Scripted] = deque()
        self._lock = threading.Lock()
        self._watch = Watch()
        self._gates: list[Gate] = []
        self.requests: list[RecordedRequest] = []
        """Everything that was asked of a model, in order."""
        self.malformed: list[str] = []
        """The messages of requests that were refused for their form. Tests that mean it clear this."""
        self.defects: list[str] = []
        """What went wrong in a script or in the emulator itself."""
        self.responder: Responder = responder or Summariser()
        self.count: Callable[[Json], int] = count_request
        """Tokens of a request's body."""
        self.limits: dict[str, int] = {}
        """Input limits by model, over the usual ones."""
        self.count_limits: dict[str, int] = {}
        """The same for `countTokens`; without an entry it refuses what `generateContent` refuses."""
        self.keys: set[str] | None = None
        """The keys that are accepted; `None` for any."""
        self.models: set[str] | None = None
        """The models that exist; `None` for any that is called gemini-… or gemma-…."""
        self.signed_calls = True
        """Demand thought signatures on the calls of the turn under way, from Gemini 3 on."""
        self.orderly = True
        """Demand that roles alternate and that each call has one response. Other programs' requests may not."""
        self.replaying = False
        """Answer with an error, not by `responder`, when the script has ended."""

    @property
    def base_url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.port}{self._prefix}"

    def start(self, port: int = 0) -> None:
        """Listen on `port`, or on a free one."""
        self._server.start(port)

    def stop(self) -> None:
        """Close every connection."""
        self._server.stop()

    def __enter__(self) -> Emulator:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Emulator:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    def script(
        self, *replies: Reply | str, method: Method | None = None, when: Callable[[RecordedRequest], bool] | None = None
    ) -> None:
        """Queue replies, each for one request of `method` for which `when` holds.

        By default: any that generates, but for titles, which are asked for whenever there is time for them.
        """
        with self._lock:
            self._script.extend(
                _Scripted(answer(reply) if isinstance(reply, str) else reply, method, when) for reply in replies
            )

    def replay(self, path: Path) -> None:
        """Queue a file's replies (see `recordings`); past its end every request is refused."""
        for method, reply in read_lines(path):
            with self._lock:
                self._script.append(_Scripted(reply, method, None))
        self.replaying = True

    @property
    def unused(self) -> int:
        """How many scripted replies nobody has asked for yet."""
        return len(self._script)

    def asked(self, method: Method | None = None) -> list[RecordedRequest]:
        """The requests of one method."""
        return [request for request in self.requests if method is None or request.method == method]

    async def wait_for_request(self, count: int = 1, method: Method | None = None) -> RecordedRequest:
        """The request that is the `count`th of its method, once it has come. Raises `TimeoutError` after `PATIENCE`."""
        return await asyncio.wait_for(asyncio.wrap_future(self._watch.when(lambda: self._nth(count, method))), PATIENCE)

    def wait_for_request_blocking(self, count: int = 1, method: Method | None = None) -> RecordedRequest:
        """The same for tests that are not async."""
        return self._watch.when(lambda: self._nth(count, method)).result(PATIENCE)

    async def wait_for_hang_up(self, request: RecordedRequest) -> None:
        """Wait until the client has closed the connection of a request under way. Raises `TimeoutError` after
        `PATIENCE`.
        """
        await asyncio.wait_for(asyncio.wrap_future(self._watch.when(lambda: request.hung_up or None)), PATIENCE)

    def release(self) -> None:
        """Open every gate of every reply so far."""
        for gate in self._gates:
            gate.release()

    def _nth(self, count: int, method: Method | None) -> RecordedRequest | None:
        asked = self.asked(method)
        return asked[count - 1] if len(asked) >= count else None

    async def _handle(self, http: HttpRequest, exchange: Exchange) -> None:
        url = urlsplit(http.target)
        path = url.path.removeprefix(self._prefix) if url.path.startswith(self._prefix) else ""
        if http.method == "POST" and path == "/token":  # where the tests' Google credentials are refreshed
            return await exchange.reply(
                200, json.dumps({"access_token": "emulated", "expires_in": 3600, "token_type": "Bearer"}).encode()
            )
        if http.method == "GET" and path == "/emulator/requests":
            shown = [
                {"method": request.method, "model": request.model, "body": request.body, "status": request.status}
                for request in self.requests
            ]
            return await exchange.reply(200, json.dumps(shown).encode())
        match = _PATH.fullmatch(path)
        if http.method != "POST" or match is None or match["method"] not in get_args(Method):
            return await exchange.reply(
                404, b"<!DOCTYPE html><title>Error 404 (Not Found)</title>", {"content-type": "text/html"}
            )
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        request = RecordedRequest(
            len(self.requests),
            match["method"],
            unquote(match["model"]),
            path,
            query,
            http.headers,
            _json(http.body),
            match["vertex"] is not None,
        )
        self.requests.append(request)
        self._watch.changed()
        try:
            reply = self._reply_to(request)
            self._gates.extend(reply.gates)
            await deliver(request, reply, exchange, 0 if reply.error else self.count(request.body))
        except asyncio.CancelledError:
            request.hung_up = exchange.gone
            raise
        except ConnectionError:
            request.hung_up = True
            raise
        except Exception as error:
            self.defects.append(repr(error))
            await exchange.reply(500, ApiError(500, f"The emulator or its script is broken: {error!r}").body())
        finally:
            self._watch.changed()
        return None

    def _reply_to(self, request: RecordedRequest) -> Reply:
        try:
            self._check(request)
        except ApiError as error:
            return Reply(error=error)
        with self._lock:
            for scripted in self._script:
                if scripted.fits(request):
                    self._script.remove(scripted)
                    return scripted.reply
        if request.method == "batchEmbedContents":
            return Reply(
                body=json.dumps(embeddings(request.body)).encode(), headers={"content-type": "application/json"}
            )
        if request.method == "countTokens":
            return Reply(steps=({"totalTokens": self.count(request.body)},), usage=None)
        if self.replaying:
            return Reply(error=ApiError(400, "The recording has no more answers.", status="FAILED_PRECONDITION"))
        return self.responder(request)

    def _check(self, request: RecordedRequest) -> None:
        """Raises `ApiError` as the real API would."""
        key = request.headers.get("x-goog-api-key") or request.query.get("key")
        if not key and not (request.vertex and request.headers.get("authorization", "").startswith("Bearer ")):
            raise ApiError(403, "Method doesn't allow unregistered callers (callers without established identity).")
        if key and self.keys is not None and key not in self.keys:
            raise ApiError(
                400, "API key not valid. Please pass a valid API key.", details=[error_info("API_KEY_INVALID")]
            )
        if not (_KNOWN_MODEL.fullmatch(request.model) if self.models is None else request.model in self.models):
            raise ApiError(
                404,
                f"models/{request.model} is not found, or is not supported for {request.method}. Call ListModels to see"
                " what is.",
            )
        counting = request.method == "countTokens"
        try:
            if request.method == "batchEmbedContents":
                check_embed(request.body, request.model)
            elif counting:
                check_count(request.body, vertex=request.vertex)
            else:
                check_generate(
                    request.body,
                    signed_calls=self.signed_calls and re.match(r"gemini-[3-9]", request.model) is not None,
                    orderly=self.orderly,
                )
        except ApiError as error:
            self.malformed.append(error.message)
            raise
        limit = self.limits.get(request.model, input_limit(request.model))
        if counting:
            limit = self.count_limits.get(request.model, limit)
        if (count := self.count(request.body)) > limit:
            raise too_large(count, limit)


def _json(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
