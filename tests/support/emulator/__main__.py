"""The emulator as a process: `python -m tests.support.emulator [--port N] [--script FILE] [--replay FILE] [--snapshot
MODE]`.

Prints one JSON line, `{"baseUrl": …}`, and serves until it is interrupted or terminated. Files: see
`recordings.read_lines`; after a script it goes on answering by itself, after a replay it refuses. `GET
/emulator/requests` shows what was asked.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path
from typing import get_args

from tests.support.emulator.emulator import Emulator
from tests.support.emulator.responders import Mode, Summariser


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.emulator", description="A Gemini API on loopback.")
    parser.add_argument("--port", type=int, default=0, help="a free one by default")
    parser.add_argument("--script", type=Path, help="JSON lines of replies, used before the emulator's own")
    parser.add_argument("--replay", type=Path, help="JSON lines of recorded replies, and nothing else")
    parser.add_argument("--snapshot", choices=get_args(Mode), default="plausible", help="how summarisers are answered")
    arguments = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    emulator = Emulator(responder=Summariser(arguments.snapshot))
    if arguments.script is not None:
        emulator.replay(arguments.script)
        emulator.replaying = False
    if arguments.replay is not None:
        emulator.replay(arguments.replay)
    emulator.start(arguments.port)
    print(json.dumps({"baseUrl": emulator.base_url}), flush=True)
    stop.wait()
    emulator.stop()


if __name__ == "__main__":
    main()
