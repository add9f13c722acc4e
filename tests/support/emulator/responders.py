"""What the emulator answers when nothing is scripted: a small reply to a chat, a snapshot to a summariser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from tests.support.emulator.replies import Reply, answer
from tests.support.emulator.requested import RecordedRequest

Responder = Callable[[RecordedRequest], Reply]

SECTIONS = (
    "overall_goal",
    "active_constraints",
    "key_knowledge",
    "artifact_trail",
    "file_system_state",
    "recent_actions",
    "task_state",
)
"""The sections of a `<state_snapshot>`, in order."""

Mode = Literal["plausible", "empty", "garbage", "inflated", "no_tag", "unclosed", "scratchpad_only"]

_PATH = re.compile(r"(?<![\w/.])(?:/|\./|[\w-]+/)[\w./-]*\.\w{1,5}\b")
_WORDS = re.compile(r"\S+\s*")


def asks_for_snapshot(request: RecordedRequest) -> bool:
    """True for a summariser's request: it speaks of the tag in its system instruction or its prompt, and is never a
    stream.
    """
    return request.method == "generateContent" and (
        "state_snapshot" in request.system or "state_snapshot" in request.prompt
    )


def asks_for_title(request: RecordedRequest) -> bool:
    """True for a request for a session's title."""
    return request.method == "generateContent" and "Give this conversation a title" in request.prompt


def echo(request: RecordedRequest) -> Reply:
    """A short answer that repeats the prompt's first words, in pieces."""
    words = _WORDS.findall(request.prompt)[-400:][:12]
    return answer(*("You said: ", *words, "…"))


def snapshot_of(sections: dict[str, str]) -> str:
    """A snapshot with the seven sections, those that are not given being empty."""
    body = "\n".join(f"    <{name}>\n        {sections.get(name, 'None.')}\n    </{name}>" for name in SECTIONS)
    return f"<state_snapshot>\n{body}\n</state_snapshot>"


class Summariser:
    """Answers summarisers by `mode` or by an `oracle` that writes the whole text, and everybody else by `otherwise`."""

    def __init__(
        self,
        mode: Mode = "plausible",
        *,
        oracle: Callable[[RecordedRequest], str] | None = None,
        otherwise: Responder = echo,
    ) -> None:
        self.mode: Mode = mode
        self.oracle = oracle
        self.otherwise = otherwise

    def __call__(self, request: RecordedRequest) -> Reply:
        """The reply to `request`."""
        if not asks_for_snapshot(request):
            return self.otherwise(request)
        text = self.oracle(request) if self.oracle is not None else self._text(request)
        return answer(text) if text else answer()

    def _text(self, request: RecordedRequest) -> str:
        snapshot = _plausible(request)
        match self.mode:
            case "plausible":
                return f"<scratchpad>\nThe user, the files, what is left.\n</scratchpad>\n\n{snapshot}"
            case "empty":
                return ""
            case "garbage":
                return "Sure! Here is a summary of our conversation: we talked."
            case "inflated":
                return snapshot.replace(
                    "</task_state>",
                    f"{' '.join(f'And more was said: {n}.' for n in range(request.characters // 12 + 100))}</task_state>",
                )
            case "no_tag":
                return "\n".join(snapshot.splitlines()[1:-1])
            case "unclosed":
                return snapshot[: len(snapshot) * 3 // 4]
            case "scratchpad_only":
                return "<scratchpad>\nI have thought about it at length.\n</scratchpad>"


def _plausible(request: RecordedRequest) -> str:
    paths = list(dict.fromkeys(_PATH.findall(request.text)))[-25:]
    listed = "\n        ".join(f"- {path}" for path in paths) or "None."
    return snapshot_of(
        {
            "overall_goal": "Do what the user asked for in the first message.",
            "active_constraints": "- Keep to what the user said.",
            "key_knowledge": f"- {len(paths)} files were spoken of.",
            "artifact_trail": listed,
            "file_system_state": "- The working directory has not changed.",
            "recent_actions": "- The last request was answered.",
            "task_state": "1. [DONE] The first request.\n        2. [IN PROGRESS] The last one.",
        }
    )
