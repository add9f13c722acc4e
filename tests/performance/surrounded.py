"""Starting where much surrounds a chat: 200 memory files and 20 hooks, beside a folder that has neither."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import medians
from tests.performance.timing import interleaved
from tests.support.emulator import Emulator

NAME: Final = "surrounded"
BARE: Final = "neither"
MEMORY_FILES: Final = 200
HOOKS: Final = 20

TO_INITIALIZE: Final = 1.1
TO_FIRST_ANSWER: Final = 1.5
"""With hooks that wait for other events."""

_OF_TOOLS: Final = ("BeforeTool", "AfterTool")
_OF_TURNS: Final = ("SessionStart", "BeforeAgent", "BeforeModel", "AfterModel", "AfterAgent")


class Start(NamedTuple):
    """Milliseconds from spawning the server."""

    initialized: float
    answered: float


def run(options: Options) -> Iterator[Finding]:
    """Measure the three in turns."""
    with Emulator() as provider:
        environment = options.environment(GEMINI_API_KEY="bench", GOOGLE_GEMINI_BASE_URL=provider.base_url)
        folders = {
            BARE: _folder(options.scratch / "bare"),
            "hooks that wait": _folder(options.scratch / "waiting", _OF_TOOLS),
            "hooks that run": _folder(options.scratch / "running", _OF_TURNS),
        }
        starts: dict[str, list[Start]] = {name: [] for name in folders}

        def measure(name: str) -> float:
            starts[name].append(_start(options.server_command(), environment, folders[name]))
            return starts[name][-1].answered

        for name in folders:
            measure(name)  # once for the disk's cache and the compiled modules
            starts[name].clear()
        interleaved({name: partial(measure, name) for name in folders}, options.rounds(5))
    initialized = medians({name: [one.initialized for one in of] for name, of in starts.items()})
    answered = medians({name: [one.answered for one in of] for name, of in starts.items()})
    figure = partial(Figure, bench=NAME, unit="ms", beside=BARE)
    waits, runs = "hooks that wait", "hooks that run"
    yield figure(name="to initialize", value=initialized[waits], beside_value=initialized[BARE], target=TO_INITIALIZE)
    yield figure(name="to the first answer", value=answered[waits], beside_value=answered[BARE], target=TO_FIRST_ANSWER)
    yield figure(
        name="to the first answer, all hooks run",
        value=answered[runs],
        beside_value=answered[BARE],
        note=f"{HOOKS} processes in {len(_OF_TURNS)} steps, each with its reaper",
    )


def _folder(folder: Path, events: tuple[str, ...] = ()) -> Path:
    """A project; with memory files and hooks of these events, if any."""
    (folder / ".git").mkdir(parents=True)
    if not events:
        return folder
    hooks: dict[str, Any] = {}
    for number in range(HOOKS):
        hook = {"type": "command", "name": f"hook {number}", "command": f"cat > /dev/null # {number}"}
        hooks.setdefault(events[number % len(events)], []).append({"hooks": [hook]})
    (folder / ".gemini").mkdir()
    (folder / ".gemini" / "settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
    for number in range(MEMORY_FILES):
        place = folder / f"part{number % 20}" / f"module{number}" if number else folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "GEMINI.md").write_text(f"# Module {number}\n\n" + "- Mind the rules of this module.\n" * 20, "utf-8")
    return folder


def _start(command: list[str], environment: dict[str, str], folder: Path) -> Start:
    with Daemon(command, environment) as daemon:
        place = {"uri": folder.as_uri(), "name": folder.name}
        daemon.initialize(workspaceFolders=[place], initializationOptions={"trusted": True})
        initialized = time.perf_counter()
        daemon.notify("initialized", {})
        answer = daemon.request("gemini/chat", {"prompt": "Hi"})
        assert "result" in answer, answer
        answered = time.perf_counter()
        return Start((initialized - daemon.started) * 1000, (answered - daemon.started) * 1000)
