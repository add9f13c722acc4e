"""The same run as Gemini CLI sends it: by its published code, or by its rules as we read them where that cannot be run.

Both sides are counted by the same counter, and get the same system instruction, declarations and environment. Driven as
published: what cuts an output, what masks old ones, when the history is compressed, what it keeps and what is asked for
that. Ours is the loop around it, in the order of its client, and the text of the snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from gemini_companion.engine.compression.split import SPLIT_FRACTION, find_split_point
from gemini_companion.engine.history.content import Content, Part, model_text, user_text
from tests.performance.agent_run import TOOL, WINDOW, Counter, Outcome, Turn
from tests.performance.gemini_cli import Driven, Unavailable
from tests.performance.options import Options
from tests.support.scripted_model import SNAPSHOT

DRIVER: Final = Path(__file__).with_name("gemini_cli_agent.mjs")


class Peer(Protocol):
    """A history that Gemini CLI keeps."""

    compressions: int

    def cut(self, call_id: str, output: str) -> str:
        """What an output leaves in the history."""
        ...

    def send(self, pending: Content, last: int) -> tuple[list[Sequence[Content]], Sequence[Content]]:
        """The requests for snapshots that go before the next one, and that itself, which ends with `pending`.

        `last` is how many tokens the last request had.
        """
        ...

    def answer(self, content: Content) -> None:
        """The model answered."""
        ...


def run_peer(turns: Sequence[Turn], peer: Peer, *, surroundings: int) -> Outcome:
    """The turns as the peer sends them, `surroundings` tokens around each request's history."""
    counter, outcome = Counter(), Outcome()
    last = number = 0
    for turn in turns:
        pending = user_text(turn.prompt)
        for step in (*turn.rounds, None):
            asked, contents = peer.send(pending, last)
            for request in asked:
                outcome.take(counter.contents(request), request)
            last = surroundings + counter.contents(contents)
            outcome.take(last, contents)
            if step is None:
                peer.answer(model_text("Done."))
                break
            number += 1
            call = {"id": f"c{number}", "name": TOOL, "args": {"content": step.command}}
            peer.answer(Content(role="model", parts=({"text": step.said or "Next."}, {"functionCall": call})))
            pending = Content(role="user", parts=(_response(f"c{number}", peer.cut(f"c{number}", step.output)),))
    outcome.compressions = peer.compressions
    return outcome


def _response(call_id: str, output: str) -> Part:
    return {"functionResponse": {"id": call_id, "name": TOOL, "response": {"output": output}}}


class PublishedPeer(Driven):
    """Its published code in a process. Everything raises `Unavailable` where that cannot be had or run."""

    def __init__(self, options: Options) -> None:
        super().__init__(options, DRIVER)
        self.compressions = 0
        self._contents: dict[str, Content] = {}
        self.ask({"do": "begin", "snapshot": SNAPSHOT})

    def cut(self, call_id: str, output: str) -> str:
        """What an output leaves in the history."""
        return str(self.ask({"do": "truncate", "id": call_id, "name": TOOL, "output": output})["output"])

    def send(self, pending: Content, last: int) -> tuple[list[Sequence[Content]], Sequence[Content]]:
        """Snapshots that were asked for, and the request."""
        told = self.ask({"do": "send", "pending": _plain(pending), "lastPromptTokens": last})
        self.compressions += told["status"] == "COMPRESSED"
        return [self._known(request) for request in told["summaries"]], self._known(told["request"])

    def answer(self, content: Content) -> None:
        """The model answered."""
        self.ask({"do": "answer", "content": _plain(content)})

    def _known(self, request: dict[str, Any]) -> list[Content]:
        for digest, content in request["fresh"].items():
            self._contents[digest] = Content(role=content["role"], parts=tuple(content["parts"]))
        try:
            return [self._contents[digest] for digest in request["ids"]]
        except KeyError as error:
            raise Unavailable("the driver named a content that it never gave") from error


def _plain(content: Content) -> dict[str, Any]:
    return {"role": content.role, "parts": list(content.parts)}


_CUT: Final = 40_000
_PROTECTED: Final = 50_000
_LEAST_SAVED: Final = 30_000
_PREVIEW_LINES: Final = 10
_PLACE: Final = "/home/user/.gemini/tmp/project/tool-outputs/session-1/run_shell_command_c.txt"
_MASKED: Final = "<tool_output_masked>"


class ModelledPeer:
    """Its rules: outputs cut at 40,000 characters, masked, the history compressed at half of the window by two requests,
    one that asks and one that checks.
    """

    def __init__(self) -> None:
        self.compressions = 0
        self._history: list[Content] = []

    def cut(self, call_id: str, output: str) -> str:
        """What an output leaves in the history."""
        return _cut(output)

    def send(self, pending: Content, last: int) -> tuple[list[Sequence[Content]], Sequence[Content]]:
        """Snapshots that were asked for, and the request."""
        asked: list[Sequence[Content]] = []
        at = find_split_point(self._history, SPLIT_FRACTION) if last >= WINDOW // 2 else 0
        if at:
            self.compressions += 1
            asked = [self._history[:at]] * 2
            acknowledged = model_text("Got it. Thanks for the additional context!")
            self._history = [user_text(SNAPSHOT), acknowledged, *self._history[at:]]
        self._history = [*_masked(self._history), pending]
        return asked, tuple(self._history)

    def answer(self, content: Content) -> None:
        """The model answered."""
        self._history.append(content)


def _cut(output: str) -> str:
    if len(output) <= _CUT:
        return output
    head = _CUT // 5
    tail = _CUT - head
    left = f"... [{len(output) - _CUT:,} characters omitted] ..."
    opening = f"Output too large. Showing first {head:,} and last {tail:,} characters. For full output see: {_PLACE}"
    return f"{opening}\n{output[:head]}\n\n{left}\n\n{output[-tail:]}"


def _masked(history: Sequence[Content]) -> list[Content]:
    """Outputs behind the newest 50,000 tokens of them become previews, where that prunes 30,000 tokens."""
    protected, prunable, found = 0, 0, dict[int, Part]()
    for index in range(len(history) - 1, -1, -1):  # what is pending is the newest one
        for part in history[index].parts:
            response = part.get("functionResponse")
            if not response or _MASKED in (output := response["response"]["output"]):
                continue
            tokens = len(json.dumps(response["response"], ensure_ascii=False)) // 4
            protected += tokens
            if protected > _PROTECTED:
                prunable += tokens
                preview = _response(response["id"], _preview(output))
                if len(_preview(output)) < len(output):
                    found[index] = preview
    if prunable < _LEAST_SAVED:
        return list(history)
    return [
        Content(role=content.role, parts=(found[index],)) if index in found else content
        for index, content in enumerate(history)
    ]


def _preview(output: str) -> str:
    lines = output.split("\n")
    if len(lines) > 2 * _PREVIEW_LINES:
        left = f"... [{len(lines) - 2 * _PREVIEW_LINES} lines omitted] ..."
        lines = [*lines[:_PREVIEW_LINES], left, *lines[-_PREVIEW_LINES:]]
    text = "\n".join(lines)
    return f"{_MASKED}\n{text}\n\nOutput too large. Full output available at: {_PLACE}\n</tool_output_masked>"
