"""Noticing that the model makes the same failing call again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from gemini_companion.sessions.tools.called import Ended

TOLD_AT: Final = 2
ASKED_AT: Final = 3

AGAIN_FAILED: Final = "\n\nThis very call has now failed"
_NOTE: Final = (
    AGAIN_FAILED + " {times} times, and nothing has changed in between. Do not repeat it: find out why it"
    " fails, try something else, or ask the user."
)
_FAILED: Final = frozenset({"failed", "timedOut"})


class Repeats:
    """Counts failures by tool and arguments. Any call that changes something and works begins the count anew."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}

    def note(self, ended: Sequence[Ended]) -> tuple[list[Ended], Ended | None]:
        """The calls of a round, those that failed again with a word to the model, and one about which to ask."""
        told: list[Ended] = []
        ask: Ended | None = None
        for one in ended:
            key = one.called.key
            if one.record.outcome not in _FAILED:
                if one.acted and one.record.outcome == "ok":
                    self._failures.clear()
                self._failures.pop(key, None)
                told.append(one)
                continue
            times = self._failures[key] = self._failures.get(key, 0) + 1
            told.append(_with_note(one, times) if times >= TOLD_AT else one)
            if times >= ASKED_AT:
                ask = one
        return told, ask

    def forget(self) -> None:
        """Begin anew: a person said that it shall go on."""
        self._failures.clear()


def question_about(ended: Ended) -> str:
    """What a person is asked, or told where nobody can be asked."""
    record = ended.record
    return (
        f"The model has called {record.name} {ASKED_AT} times with the same arguments, and it failed each time"
        f" ({record.summary or record.outcome}). Shall it go on?"
    )


def _with_note(ended: Ended, times: int) -> Ended:
    fields: dict[str, Any] = ended.part["functionResponse"]
    response: dict[str, Any] = fields["response"]
    key = "error" if isinstance(response.get("error"), str) else "output"
    text = f"{response.get(key) or ''}{_NOTE.format(times=times)}".lstrip()
    return replace(ended, part={"functionResponse": {**fields, "response": {**response, key: text}}})
