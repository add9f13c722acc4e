"""A daemon of its own over the store of a VS Code that runs, asked through the protocol:
`python ask_daemon.py WORKSPACE`.

Reads a list of `[METHOD, PARAMS]` on standard input, asks them in order, and prints the list of results. A `sessionId`
of `newest` is the chat that was used last. Its environment names the home and the data that it shares.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from tests.support.editor_client import editor


async def asked(workspace: Path, questions: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """The results, in order. Raises for an error of the daemon."""
    async with editor(dict(os.environ), workspace, options={"trusted": True}) as spoken:
        listed = (await spoken.ask("gemini/session/list", {}))["sessions"]
        newest = {"sessionId": listed[0]["sessionId"] if listed else None}
        return [
            await spoken.ask(method, {**params, **newest} if params.get("sessionId") == "newest" else params)
            for method, params in questions
        ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(asked(Path(sys.argv[1]), json.load(sys.stdin)))))
