"""An editor for end-to-end tests: the real server as a child over stdio, spoken to through pytest-lsp."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import make_test_lsp_client

from tests.support.lsp_types import daemon_paths
from tests.support.patience import PATIENCE

RECEIVED = (
    "gemini/event",
    "gemini/compressionStatus/didChange",
    "gemini/session/taken",
    "window/showMessage",
    "$/progress",
)
"""Notifications of the server."""

SERVER = [sys.executable, "-m", "gemini_companion", "serve"]


def server_environment(tmp_path: Path, **more: str) -> dict[str, str]:
    """An environment without keys, whose home and data are the test's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GEMINI", "GOOGLE", "COMPANION"))}
    return {
        **kept,
        "HOME": str(tmp_path / "home"),
        "COMPANION_DATA_DIR": str(tmp_path / "data"),
        "PYTHONPATH": daemon_paths(Path(__file__).resolve().parents[2] / "server"),
        **more,
    }


class _Requests(dict[Any, Any]):
    """What pygls keeps of requests under way, but for answers to the server's: it cannot end those when that exits."""

    def __init__(self, futures: Mapping[Any, Any]) -> None:
        super().__init__()
        self.answers: list[asyncio.Task[Any]] = []
        for key, future in futures.items():
            self[key] = future

    def __setitem__(self, key: Any, future: Any) -> None:
        """Keep a request; the server may ask until it is gone."""
        if isinstance(future, asyncio.Task):
            self.answers.append(future)
        else:
            super().__setitem__(key, future)


class Editor:
    """Asks with dictionaries, answers with plain JSON values, remembers every event."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.events: list[dict[str, Any]] = []
        self.envelopes: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.progress: list[dict[str, Any]] = []
        self.messages: list[str] = []
        self.taken: list[str] = []
        """Sessions that another process took."""
        self.is_killed = False
        self._changed = asyncio.Event()

    async def ask(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        request_id: str | None = None,
        patience: float = PATIENCE,
    ) -> Any:
        """The result, or a raised `JsonRpcException`."""
        converter = default_converter()
        typed = _typed(method, params or {})
        async with asyncio.timeout(patience):
            answer = await self.client.protocol.send_request_async(method, typed, msg_id=request_id)
        return converter.unstructure(answer) if method == "textDocument/codeAction" else plain(answer)

    async def fails(self, method: str, params: dict[str, Any] | None = None) -> JsonRpcException:
        """The error that the request is answered with."""
        try:
            answer = await self.ask(method, params)
        except JsonRpcException as error:
            return error
        raise AssertionError(f"{method} answered {answer!r}")

    def start(
        self, method: str, params: dict[str, Any] | None = None, *, request_id: str | None = None
    ) -> asyncio.Task[Any]:
        """Ask without waiting."""
        return asyncio.create_task(self.ask(method, params, request_id=request_id))

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """A notification."""
        self.client.protocol.notify(method, _typed(method, params))

    def open(self, path: Path, text: str | None = None) -> None:
        """Open a document."""
        shown = path.read_text("utf-8") if text is None else text
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(
                text_document=lsp.TextDocumentItem(uri=path.as_uri(), language_id="python", version=1, text=shown)
            )
        )

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type so far."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self.client._server is not None
        return self.client._server.pid

    async def kill(self) -> None:
        """SIGKILL to the server."""
        process = self.client._server
        assert process is not None
        requests = _Requests(self.client.protocol._request_futures)
        self.client.protocol._request_futures = requests
        process.kill()
        await process.wait()
        for answering in requests.answers:
            answering.cancel()
        self.is_killed = True

    async def is_told(self, session_id: str) -> None:
        """Returns once it is told that another process took a session."""
        async with asyncio.timeout(PATIENCE):
            while session_id not in self.taken:
                self._changed.clear()
                await self._changed.wait()

    async def wait_for(self, kind: str, count: int = 1) -> dict[str, Any]:
        """The `count`-th event of a type."""
        async with asyncio.timeout(PATIENCE):
            while len(self.of(kind)) < count:
                self._changed.clear()
                await self._changed.wait()
        return self.of(kind)[count - 1]

    def receive(self, method: str, params: Any) -> None:
        """Take a notification."""
        value = plain(params)
        if method == "gemini/event":
            self.envelopes.append(value)
            self.events.append(value["event"])
        elif method == "gemini/compressionStatus/didChange":
            self.statuses.append(value)
        elif method == "$/progress":
            self.progress.append(value)
        elif method == "gemini/session/taken":
            self.taken.append(value["sessionId"])
        else:
            self.messages.append(value["message"])
        self._changed.set()


def _typed(method: str, params: dict[str, Any]) -> Any:
    """The params as pygls sends them: those of LSP's own methods only as LSP's own types."""
    if method not in lsp.METHOD_TO_TYPES:
        return params
    return default_converter().structure(params, cast("Any", lsp.METHOD_TO_TYPES[method][2]))


def plain(value: Any) -> Any:
    """pygls' nested named tuples as dictionaries."""
    if hasattr(value, "_asdict"):
        return {key: plain(member) for key, member in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    if hasattr(value, "__attrs_attrs__"):
        return {name: plain(getattr(value, name)) for name in value.__slots__ if not name.startswith("__")}
    return value


@asynccontextmanager
async def editor(
    environment: dict[str, str],
    folder: Path,
    *,
    capabilities: str = "visual-studio-code",
    options: dict[str, Any] | None = None,
    command: Sequence[str] = SERVER,
    answers: Mapping[str, Callable[[Any], Any]] | None = None,
) -> AsyncGenerator[Editor]:
    """A running server with an initialized editor, which `answers` requests of these methods, each with plain JSON."""
    spoken: list[Editor] = []

    def make_client() -> LanguageClient:
        client = make_test_lsp_client()
        spoken.append(Editor(client))
        for method in RECEIVED:
            client.protocol.fm.features.pop(method, None)
            client.feature(method)(_receiving(spoken[0], method))
        for method, answer in (answers or {}).items():
            client.protocol.fm.features.pop(method, None)
            client.feature(method)(_answering(answer))
        return client

    config = ClientServerConfig(server_command=list(command), server_env=environment, client_factory=make_client)
    client = cast("LanguageClient", await config.start())
    try:
        await client.initialize_session(
            lsp.InitializeParams(
                capabilities=client_capabilities(capabilities),
                workspace_folders=[lsp.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
                initialization_options=options,
            )
        )
        yield spoken[0]
        if not spoken[0].is_killed:
            await client.shutdown_session()
    except BaseException:  # to stop would wait for a server that nobody asked to end
        if spoken and not spoken[0].is_killed:
            await spoken[0].kill()
        raise
    finally:
        await client.stop()


def _answering(answer: Callable[[Any], Any]) -> Any:
    async def respond(params: Any) -> Any:
        answered = answer(plain(params))
        return await answered if asyncio.iscoroutine(answered) else answered

    return respond


def _receiving(spoken: Editor, method: str) -> Any:
    def receive(params: Any) -> None:
        spoken.receive(method, params)

    return receive
