"""How many updates a second the server takes from an editor, until it answers a question that needs the last of
them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import median

NAME: Final = "ideUpdates"

_FILES: Final = 10
_LINES: Final = 1_000


def run(options: Options) -> Iterator[Finding]:
    """Our own notice with ten files, and keystrokes in a document of a thousand lines."""
    count = 50 if options.quick else 5_000
    workspace = options.scratch / "workspace"
    workspace.mkdir()
    paths = [workspace / f"module_{number}.py" for number in range(_FILES)]
    for path in paths:
        path.write_text("".join(f"value_{line} = {line}\n" for line in range(_LINES)), "utf-8")
    with Daemon(options.server_command(), options.environment()) as daemon:
        daemon.initialize(workspaceFolders=[{"uri": workspace.as_uri(), "name": "workspace"}])
        daemon.notify("initialized", {})
        document = {"uri": paths[0].as_uri(), "languageId": "python", "version": 1, "text": paths[0].read_text("utf-8")}
        daemon.notify("textDocument/didOpen", {"textDocument": document})
        daemon.request("gemini/session/new", {})
        notices = _rate(
            daemon, "gemini/ideContext/didChange", lambda index: _notice(paths, index), count, options.rounds(5)
        )
        keystrokes = _rate(
            daemon, "textDocument/didChange", lambda index: _keystroke(paths[0], index), count, options.rounds(5)
        )
    yield Figure(bench=NAME, name=f"gemini/ideContext/didChange, {_FILES} files", value=notices, unit="/s")
    yield Figure(
        bench=NAME, name=f"textDocument/didChange, a keystroke in {_LINES:,} lines", value=keystrokes, unit="/s"
    )


def _rate(daemon: Daemon, method: str, params: Callable[[int], dict[str, Any]], count: int, rounds: int) -> float:
    """Updates a second, the answer to a request after them included."""
    rates: list[float] = []
    messages = [{"jsonrpc": "2.0", "method": method, "params": params(index)} for index in range(count)]
    for _ in range(rounds):
        started = time.perf_counter()
        daemon.write(*messages)
        answer = daemon.request("gemini/context/preview", {})
        rates.append(count / (time.perf_counter() - started))
        assert "result" in answer, answer
    return median(rates)


def _notice(paths: list[Path], index: int) -> dict[str, Any]:
    position = {"line": index % _LINES, "character": 3}
    files: list[dict[str, Any]] = [
        {"uri": path.as_uri(), "lastFocusedAt": index - number} for number, path in enumerate(paths)
    ]
    files[0] |= {
        "isActive": True,
        "cursor": position,
        "selection": {"start": {"line": 0, "character": 0}, "end": position},
    }
    return {"openFiles": files}


def _keystroke(path: Path, index: int) -> dict[str, Any]:
    place = {"line": index % _LINES, "character": 5}
    change = {"range": {"start": place, "end": place}, "text": "x"}
    return {"textDocument": {"uri": path.as_uri(), "version": index + 2}, "contentChanges": [change]}
