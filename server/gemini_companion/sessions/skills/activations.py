"""Which skills were activated, as the log and the view have it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.part import response_of
from gemini_companion.tools.notes.activate_skill import ACTIVATE_SKILL


def activations(entries: Entries[Entry]) -> Iterator[str]:
    """What activated skills said, whatever of it the model is shown now; the newest first."""
    for entry in entries.results_of(ACTIVATE_SKILL):
        if any(call.name == ACTIVATE_SKILL and call.outcome == "ok" for call in entry.calls):
            yield from activations_in(entry.content)


def activations_in(content: Content) -> Iterator[str]:
    """The same of one content."""
    for part in content.parts:
        wire = response_of(part)
        response: object = wire.get("response") if wire is not None and wire.get("name") == ACTIVATE_SKILL else None
        output = cast("dict[str, object]", response).get("output") if isinstance(response, dict) else None
        if isinstance(output, str) and output.startswith("<activated_skill "):
            yield output
