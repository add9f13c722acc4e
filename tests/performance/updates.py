"""How many editor updates a second the daemon takes in, until a request behind them is answered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options

NAME: Final = "editor updates"


def run(options: Options) -> Iterator[Finding]:
    """Notices of ten open files, and edits of one document."""
    count = 500 if options.quick else 10_000
    folder = options.scratch / "workspace"
    folder.mkdir(exist_ok=True)
    paths = [folder / f"file_{number}.py" for number in range(10)]
    for path in paths:
        path.write_text("x = 1\n" * 200, "utf-8")
    with Daemon(options.server_command(), options.environment()) as daemon:
        daemon.initialize(workspaceFolders=[{"uri": folder.as_uri(), "name": "workspace"}])
        daemon.notify("initialized", {})
        text = paths[0].read_text("utf-8")
        daemon.notify("textDocument/didOpen", {"textDocument": {"uri": paths[0].as_uri(), "languageId": "python", "version": 1, "text": text}})
        daemon.request("gemini/models", {})
        notices = [_notice([path.as_uri() for path in paths], number) for number in range(count)]
        yield _rate("gemini/ideContext/didChange, ten files", _taken_in(daemon, notices), count)
        edits = [_edit(paths[0].as_uri(), number) for number in range(count)]
        yield _rate("textDocument/didChange", _taken_in(daemon, edits), count)


def _taken_in(daemon: Daemon, messages: list[dict[str, Any]]) -> float:
    started = time.perf_counter()
    for start in range(0, len(messages), 100):
        daemon.write(*messages[start : start + 100])
    daemon.request("gemini/models", {})
    return time.perf_counter() - started


def _rate(name: str, took: float, count: int) -> Figure:
    return Figure(bench=NAME, name=name, value=count / took, unit="a second")


def _notice(uris: list[str], number: int) -> dict[str, Any]:
    files: list[dict[str, Any]] = [{"uri": uri, "lastFocusedAt": number + index, "isActive": index == 9} for index, uri in enumerate(uris)]
    files[9] |= {"cursor": {"line": number % 100, "character": 0}, "selectedText": "x = 1"}
    return {"jsonrpc": "2.0", "method": "gemini/ideContext/didChange", "params": {"openFiles": files}}


def _edit(uri: str, number: int) -> dict[str, Any]:
    place = {"line": number % 100, "character": 0}
    change = {"range": {"start": place, "end": place}, "text": "y"}
    params = {"textDocument": {"uri": uri, "version": number + 2}, "contentChanges": [change]}
    return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}
