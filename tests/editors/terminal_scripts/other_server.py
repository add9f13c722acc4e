"""A language server beside ours: it writes what it knows of a text into a file, and tries what only ours may ask for."""

from __future__ import annotations

import sys
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

LOG = Path(sys.argv[1])
server = LanguageServer("other", "1")


def note(line: str) -> None:
    """Add a line to the file."""
    with LOG.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
async def opened(params: types.DidOpenTextDocumentParams) -> None:
    """A text was opened."""
    note("open")
    path = params.text_document.uri.removeprefix("file://")
    for method in ("gemini/saveDocument", "gemini/confirmTool"):
        try:
            answer = await server.protocol.send_request_async(
                method, {"path": path, "text": "May I?", "toolCallId": "1"}
            )
            note(f"answered {answer!r}")
        except Exception as problem:  # whatever it says, it is a no
            note(f"refused {problem!r}")


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(params: types.DidChangeTextDocumentParams) -> None:
    """A text was changed."""
    note(f"has {server.workspace.get_text_document(params.text_document.uri).source!r}")


server.start_io()
