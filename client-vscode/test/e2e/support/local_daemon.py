"""The daemon as it is, and beside its data a list of what its local model is asked: `python local_daemon.py serve`.

`asked.jsonl` gets a line for each request that goes to the worker: its role, and all text of its messages.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from gemini_companion.__main__ import main
from gemini_companion.adapters.local import running

ASKED = Path(os.environ["COMPANION_DATA_DIR"]).parent / "asked.jsonl"
_chat_body = running.chat_body


def _recorded(request: Any, *others: Any) -> dict[str, Any]:
    body = _chat_body(request, *others)
    messages = [str(message["content"]) for message in body["messages"]]
    line = {"role": request.role, "text": "\n".join(messages), "prompt": messages[-1]}
    with ASKED.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return body


if __name__ == "__main__":
    running.chat_body = _recorded
    sys.exit(main())
