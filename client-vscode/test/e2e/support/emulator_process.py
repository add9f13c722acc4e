"""The Gemini API emulator for tests in another language: one command a line on standard input, each answered by one
line.

| command | does |
| --- | --- |
| `{"do": "script", "replies": […], "to", "about"?}` | queues replies: `{"pieces": […], "finish"?}` or `{"fault": NAME,
"with"?: {…}}` |
| `{"do": "release", "gate": NAME}` | opens a gate |
| `{"do": "reached", "gate": NAME}` | waits until the emulator stands before it |
| `{"do": "asked", "count": N}` | waits for the Nth chat |
| `{"do": "requests"}` | answers what was asked so far |
| `{"do": "keys", "keys": […] or null}` | says which keys are accepted |
| `{"do": "reset"}` | forgets script, gates, keys and requests |

`to` is `chat` or `snapshot`: which requests are answered so; titles and counts never are. With `about`, only those in
whose conversation this text stands.
What is not scripted
the emulator answers by itself: an echo, a snapshot, a title. A piece is a text, `{"thought": TEXT}`, `{"call": NAME,
"args": {…}}`, `{"gate": NAME}` or `{"drop": true}`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from tests.support.emulator import (
    Drop,
    Emulator,
    Gate,
    RecordedRequest,
    Reply,
    Summariser,
    answer,
    asks_for_snapshot,
    call,
    echo,
    thought,
)
from tests.support.emulator.faults import FAULTS

TITLE = "The last word of the tokenizer"
TARGETS = {"chat": ("streamGenerateContent", None), "snapshot": ("generateContent", asks_for_snapshot)}


class Remote:
    """An emulator under the orders of another process."""

    def __init__(self) -> None:
        self.emulator = Emulator(responder=Summariser(otherwise=_echo_or_title))
        self._gates: dict[str, Gate] = {}

    def obey(self, command: dict[str, Any]) -> Any:
        """Do one command. Raises whatever is wrong with it, and `TimeoutError` if what it waits for does not come."""
        match command["do"]:
            case "script":
                method, when = TARGETS[command["to"]]
                if about := command.get("about"):
                    when = lambda request: about in request.text  # noqa: E731
                self.emulator.script(*(self._reply(reply) for reply in command["replies"]), method=method, when=when)
            case "release":
                self._gates[command["gate"]].release()
            case "reached":
                asyncio.run(self._gates[command["gate"]].wait_reached())
            case "asked":
                return _shown(self.emulator.wait_for_request_blocking(command["count"], "streamGenerateContent"))
            case "requests":
                return [_shown(request) for request in list(self.emulator.requests)]
            case "keys":
                self.emulator.keys = None if command["keys"] is None else set(command["keys"])
            case "reset":
                self._reset()
            case unknown:
                raise ValueError(f"{unknown!r} is no command")
        return None

    def _reset(self) -> None:
        self.emulator.release()
        for gate in self._gates.values():
            gate.release()
        self._gates.clear()
        self.emulator._script.clear()
        self.emulator.requests.clear()
        self.emulator.keys = None

    def _reply(self, reply: dict[str, Any]) -> Reply:
        if "fault" in reply:
            return FAULTS[reply["fault"]](**reply.get("with", {}))
        return answer(*(self._piece(piece) for piece in reply["pieces"]), finish=reply.get("finish", "STOP"))

    def _piece(self, piece: Any) -> Any:
        if isinstance(piece, str):
            return piece
        if "call" in piece:
            return call(piece["call"], piece["args"])
        if "gate" in piece:
            return self._gates.setdefault(piece["gate"], Gate())
        return Drop() if "drop" in piece else thought(piece["thought"])


def _echo_or_title(request: RecordedRequest) -> Reply:
    return answer(TITLE) if request.method == "generateContent" else echo(request)


def _shown(request: RecordedRequest) -> dict[str, Any]:
    shown = {
        "method": request.method,
        "model": request.model,
        "system": request.system,
        "prompt": request.prompt,
        "text": request.text,
        "responses": request.responses,
    }
    return {**shown, "key": request.headers.get("x-goog-api-key", ""), "hungUp": request.hung_up}


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until standard input ends."""
    remote = Remote()
    with remote.emulator as emulator:
        _say({"baseUrl": emulator.base_url})
        for line in sys.stdin:
            try:
                _say({"ok": remote.obey(json.loads(line))})
            except Exception as error:
                _say({"error": f"{line.strip()[:200]}: {error!r}"})


if __name__ == "__main__":
    main()
