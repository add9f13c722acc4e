"""Requests to the offline model, and the small workspace that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gemini_companion.adapters.offline.provider import OfflineProvider
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest, OpenDocument

SERVER = '''"""A tiny HTTP server."""

import os

PORT = int(os.environ.get("PORT", "8080"))
RETRIES = 3


def connect(host: str, retries: int = RETRIES) -> "Socket":
    """Open a socket to the host, trying again on refusal."""
    for attempt in range(retries):
        pass
    return open_socket(host, PORT)


class Server:
    """Serves requests until it is stopped."""

    def start(self) -> None:
        self.socket = connect("localhost")
'''
SOCKETS = """# Opens sockets.
def open_socket(host, port):
    timeout = 30  # seconds
    return Socket(host, port, timeout)
"""
README = "# Demo\n\n## How to run\n\nRun `make serve` and open http://localhost:8080.\n\n## Tests\n\nRun `make test`.\n"

DOCUMENTS = (
    OpenDocument(path="/w/app/sockets.py", text=SOCKETS),
    OpenDocument(path="/w/app/server.py", text=SERVER, is_active=True, selection=(9, 13)),
    OpenDocument(path="/w/README.md", text=README),
)


def count_words(text: str) -> float:
    return len(text) / 4


def client(**options: Any) -> OfflineProvider:
    return OfflineProvider(count_text=count_words, **options)


def request(*turns: str | Content, **fields: Any) -> ModelRequest:
    """User and model in turn; contents as they are."""
    contents = tuple(
        turn if isinstance(turn, Content) else (user_text if index % 2 == 0 else model_text)(turn)
        for index, turn in enumerate(turns)
    )
    return ModelRequest(model="gemini-3-pro", contents=contents, **fields)


async def chunks_of(
    asked: ModelRequest,
    model: OfflineProvider | None = None,
    *,
    documents: Sequence[OpenDocument] = (),
    folders: tuple[str, ...] = (),
    is_fallback: bool = False,
) -> list[ModelChunk]:
    local = LocalContext(documents=lambda: documents, folders=folders, is_fallback=is_fallback)
    return [chunk async for chunk in (model or client()).stream(asked, local)]


def text_of(chunks: Sequence[ModelChunk]) -> str:
    return "".join(part["text"] for chunk in chunks for part in chunk.parts)


async def answer_to(*turns: str | Content, documents: Sequence[OpenDocument] = DOCUMENTS) -> str:
    return text_of(await chunks_of(request(*turns), documents=documents))
