"""Recorded answers of the API: JSON lines of `{"method": …, "response": …}`, and of our own scripts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.emulator.faults import FAULTS
from tests.support.emulator.replies import Reply, answer, responses

METHODS = {"generateContentStream": "streamGenerateContent"}
"""Names of methods in recordings that differ from the API's."""


def recordings_folder() -> Path | None:
    """Where recordings lie: COMPANION_RECORDINGS, else beside the repository; `None` if there are none."""
    repository = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("COMPANION_RECORDINGS") or repository.parent / "shared" / "recordings")
    return folder if folder.is_dir() else None


def read_lines(path: Path) -> Iterator[tuple[str | None, Reply]]:
    """Each line as the method that it answers (`None`: any that generates) and the reply.

    A line has `response` (an object, or the list of a stream's), `text` (a text, or a list of pieces) or `fault` (a
    name in `FAULTS`), and may have `method`. Raises `ValueError` naming file and line.
    """
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry: dict[str, Any] = json.loads(line)
            method = entry.get("method")
            yield METHODS.get(str(method), method), _reply(entry)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f"{path}:{number}: {error!r}: expected an object with `response`, `text` or `fault`"
            ) from error


def _reply(entry: dict[str, Any]) -> Reply:
    if "fault" in entry:
        return FAULTS[entry["fault"]]()
    if "text" in entry:
        return answer(*([entry["text"]] if isinstance(entry["text"], str) else entry["text"]))
    return responses(*(entry["response"] if isinstance(entry["response"], list) else [entry["response"]]))
