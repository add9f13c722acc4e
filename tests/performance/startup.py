"""From spawning a server to its answer to `initialize` and to a first answer, and the memory that it has then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.performance.daemon import Daemon, end_group
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.gemini_cli import CLI, Unavailable, installed, node
from tests.performance.options import Options
from tests.performance.spread import medians
from tests.performance.timing import descendants, interleaved, resident_mib
from tests.support.lsp_types import PLAIN

NAME: Final = "startup"
BARE: Final = "a bare pygls server"
GEMINI_CLI: Final = "gemini --acp"

WHOLE: Final = "with LSP's types built whole"

BESIDE_BARE: Final = 0.35
BESIDE_GEMINI_CLI: Final = 0.1
MEMORY_BESIDE_GEMINI_CLI: Final = 0.3
FIRST_DELTA_BESIDE_WHOLE: Final = 0.75
MEMORY: Final = 36.0
"""MiB, with `initialize` answered and nothing asked."""
IDLE_MEMORY: Final = 34.3
"""MiB, with every method bound and nothing asked: 36 MB."""
_IDLE_AFTER: Final = 4.0
"""Seconds after which a daemon has done all that it does by itself."""

_TO_ACP: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


class Start(NamedTuple):
    """Milliseconds until the answer, and MiB resident then."""

    ms: float
    mib: float


def run(options: Options) -> Iterator[Finding]:
    """Measure ours, the bare server and Gemini CLI in turns."""
    environment = options.environment()
    bare = [sys.executable, str(Path(__file__).with_name("bare_server.py"))]
    contenders: dict[str, Callable[[], Start]] = {
        "ours": partial(_language_server, options.server_command(), environment),
        BARE: partial(_language_server, bare, environment),
    }
    is_there = False
    if not options.quick:
        try:
            contenders[GEMINI_CLI] = partial(
                _agent_server, _gemini_cli_command(options), _gemini_cli_environment(options), options.scratch
            )
            contenders[GEMINI_CLI]()
            is_there = True
        except (Unavailable, OSError, EOFError) as error:
            contenders.pop(GEMINI_CLI, None)
            yield Skipped(bench=NAME, name=GEMINI_CLI, reason=str(error))
    else:
        yield Skipped(bench=NAME, name=GEMINI_CLI, reason="left out in a hurry (--quick)")
    for measure in contenders.values():
        measure()  # once for the disk's cache and the compiled modules
    starts: dict[str, list[Start]] = {name: [] for name in contenders}
    interleaved(
        {name: partial(_note, starts[name], measure) for name, measure in contenders.items()}, options.rounds(9)
    )
    ms = medians({name: [start.ms for start in of] for name, of in starts.items()})
    mib = medians({name: [start.mib for start in of] for name, of in starts.items()})
    yield Figure(
        bench=NAME,
        name="to initialize",
        value=ms["ours"],
        unit="ms",
        beside=BARE,
        beside_value=ms[BARE],
        target=BESIDE_BARE,
    )
    if is_there:
        yield Figure(
            bench=NAME,
            name="to initialize",
            value=ms["ours"],
            unit="ms",
            beside=GEMINI_CLI,
            beside_value=ms[GEMINI_CLI],
            target=BESIDE_GEMINI_CLI,
        )
    yield Figure(bench=NAME, name="memory then", value=mib["ours"], unit="MiB", target=MEMORY)
    if is_there:
        yield Figure(
            bench=NAME,
            name="memory of the process that answered",
            value=mib["ours"],
            unit="MiB",
            beside=GEMINI_CLI,
            beside_value=mib[GEMINI_CLI],
            target=MEMORY_BESIDE_GEMINI_CLI,
            note="Gemini CLI's launcher, a process of its own, is not counted",
        )

    yield from _later(options, environment)


def _later(options: Options, environment: dict[str, str]) -> Iterator[Finding]:
    """The first answer of the built-in model, asked for at once; and the memory of a daemon that nobody asks."""
    whole = {**environment, "PYTHONPATH": os.pathsep.join([environment["PYTHONPATH"], PLAIN])}
    command = options.server_command()
    contenders = {"ours": partial(_first_delta, command, environment), WHOLE: partial(_first_delta, command, whole)}
    for measure in contenders.values():
        measure()
    ms = medians(interleaved(contenders, options.rounds(9)))
    yield Figure(
        bench=NAME,
        name="to the first words of an answer",
        value=ms["ours"],
        unit="ms",
        beside=WHOLE,
        beside_value=ms[WHOLE],
        target=FIRST_DELTA_BESIDE_WHOLE,
    )
    yield Figure(bench=NAME, name="memory, idle", value=_idle(command, environment), unit="MiB", target=IDLE_MEMORY)


def _first_delta(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds from spawning."""
    with Daemon(command, environment) as daemon:
        daemon.initialize()
        daemon.notify("initialized", {})
        daemon.send("gemini/chat", {"prompt": "What does parse do?"})
        while True:
            arrival = daemon.next()
            if "error" in arrival.message:
                raise EOFError(f"no answer: {arrival.message['error']}")
            if arrival.message.get("params", {}).get("event", {}).get("type") == "messageDelta":
                return arrival.at / 1e6 - daemon.started * 1000


def _idle(command: list[str], environment: dict[str, str]) -> float:
    """MiB resident."""
    with Daemon(command, environment) as daemon:
        daemon.initialize()
        daemon.notify("initialized", {})
        daemon.request("gemini/models", {})
        threading.Event().wait(_IDLE_AFTER)
        return resident_mib(daemon.process.pid)


def _note(starts: list[Start], measure: Callable[[], Start]) -> float:
    start = measure()
    starts.append(start)
    return start.ms


def _language_server(command: list[str], environment: dict[str, str]) -> Start:
    with Daemon(command, environment) as daemon:
        daemon.initialize()
        return Start((time.perf_counter() - daemon.started) * 1000, resident_mib(daemon.process.pid))


def _agent_server(command: list[str], environment: dict[str, str], folder: Path) -> Start:
    """The same for a server that speaks JSON lines, started as a user would: with its launcher."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )
    try:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(_TO_ACP).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        taken = (time.perf_counter() - started) * 1000
        if b'"result"' not in answer:
            raise EOFError(f"{GEMINI_CLI} does not answer initialize")
        return Start(taken, max(resident_mib(pid) for pid in (process.pid, *descendants(process.pid))))
    finally:
        end_group(process)


def _gemini_cli_command(options: Options) -> list[str]:
    home = installed(options, CLI)
    script = json.loads((home / "package.json").read_text("utf-8"))["bin"]["gemini"]
    return [node(), str(home / script), "--acp"]


def _gemini_cli_environment(options: Options) -> dict[str, str]:
    return options.environment(GEMINI_CLI_HOME=str(options.scratch / "home"), GEMINI_TELEMETRY_ENABLED="false")
