"""What others do with a long history, in the same harness: pure functions over contents, and a call for a summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gemini_companion.engine.compression import find_split_point
from gemini_companion.engine.compression.instructions import FIRST_REQUEST, SYSTEM_INSTRUCTION, VERIFY_REQUEST
from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.history.content import (
    Content,
    Part,
    merge_neighbours,
    model_text,
    user_text,
    visible_text_of,
)
from gemini_companion.engine.history.part import has_response, is_plain_user, response_of, response_text
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.arms import BaselineName
from gemini_companion.evaluation.provider import MODEL, EvaluationModel
from gemini_companion.evaluation.subject import Outcome, Request
from gemini_companion.sessions.models.port import ModelRequest

COMPRESSED_SHARE: Final = 0.7
"""Of the characters, what the published rule compresses."""
OUTPUT_TOKENS: Final = 50_000
"""Tokens of tool outputs that the published rule keeps whole, newest first."""
CUT_LINES: Final = 30
"""Lines of an output past that which it keeps."""
CODEX_TOKENS: Final = 20_000
"""Tokens of the user's messages that Codex keeps."""
NEWEST_OUTPUTS: Final = 4
"""Outputs that are never masked."""

ACKNOWLEDGEMENT: Final = "Got it. Thanks for the additional context!"
_MASK: Final = "[output left out]"
_CODEX_PREFIX: Final = "Another model began to work on this. Its summary of what was done so far:"
_TRIES: Final = 2


class BaselineSubject:
    """A history under one of the baselines. `targets` are the tokens to come down to, pass by pass."""

    def __init__(
        self, name: BaselineName, model: EvaluationModel, ledger: TokenLedger, *, targets: Sequence[int] = ()
    ) -> None:
        self._name = name
        self._model = model
        self._ledger = ledger
        self._targets = list(targets)
        self._view: list[Content] = []

    async def say(self, contents: Sequence[Content]) -> None:
        """Append them."""
        self._view.extend(contents)

    async def request(self) -> Request:
        """The history with a question behind it."""
        return Request("", tuple(merge_neighbours([*self._view, user_text("Please go on.")])))

    async def compress(self) -> Outcome:
        """Treat the history as the baseline does."""
        if self._name == "none":
            return Outcome(status="NOOP")
        if self._name in ("drop-oldest", "mask-only"):
            target = self._targets.pop(0) if self._targets else 0
            reduce = dropped if self._name == "drop-oldest" else masked
            view = reduce(self._view, target, self._ledger)
        else:
            try:
                view = await (self._gemini_cli() if self._name == "gemini-cli" else self._codex())
            except ModelFault as fault:
                return Outcome(status=type(fault).__name__)
            if view is None:
                return Outcome(status="COMPRESSION_FAILED_EMPTY_SUMMARY")
        if self._tokens(view) >= self._tokens(self._view):
            return Outcome(status="COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" if self._model.calls else "NOOP")
        self._view = view
        return Outcome(status="COMPRESSED")

    async def undo_all(self) -> bool | None:
        """None of them can."""
        return None

    async def close(self) -> None:
        """Nothing to end."""

    def _tokens(self, contents: Sequence[Content]) -> int:
        return sum(self._ledger.measure(content).tokens for content in contents)

    async def _gemini_cli(self) -> list[Content] | None:
        """70/30 by characters at a plain user content; the summary is taken as it comes."""
        cut = outputs_within_budget(self._view, self._ledger)
        split = find_split_point(cut, COMPRESSED_SHARE)
        if split == 0:
            return list(self._view)
        summary = await self._summary(cut[:split])
        return None if not summary else [user_text(summary), model_text(ACKNOWLEDGEMENT), *cut[split:]]

    async def _codex(self) -> list[Content] | None:
        """The user's newest messages and a summary of everything."""
        summary = await self._summary(self._view)
        if not summary:
            return None
        kept: list[Content] = []
        left = CODEX_TOKENS
        for content in reversed(self._view):
            if is_plain_user(content) and not visible_text_of(content.parts).startswith(_CODEX_PREFIX):
                left -= self._ledger.measure(content).tokens
                if left < 0:
                    break
                kept.append(content)
        return [*reversed(kept), user_text(f"{_CODEX_PREFIX}\n{summary}"), model_text(ACKNOWLEDGEMENT)]

    async def _summary(self, history: Sequence[Content]) -> str:
        """Two passes; the second answer if it says anything."""
        first = await self._ask((*history, user_text(FIRST_REQUEST)))
        second = await self._ask((*history, model_text(first or "(no answer)"), user_text(VERIFY_REQUEST)))
        return (second or first).strip()

    async def _ask(self, contents: Sequence[Content]) -> str:
        request = ModelRequest(
            model=MODEL, contents=tuple(contents), system_instruction=SYSTEM_INSTRUCTION, role="utility_compressor"
        )
        for attempt in range(_TRIES):
            try:
                return visible_text_of((await self._model.generate(request)).parts)
            except ModelFault:
                if attempt + 1 == _TRIES:
                    raise
        return ""


def dropped(view: Sequence[Content], target: int, ledger: TokenLedger) -> list[Content]:
    """Without its oldest turns, so many that it fits into `target` tokens; the newest turn always stays."""
    starts = [index for index, content in enumerate(view) if is_plain_user(content)] or [0]
    sizes = [ledger.measure(content).tokens for content in view]
    left = sum(sizes)
    start = 0
    for following in starts[1:]:
        if left <= target:
            break
        left -= sum(sizes[start:following])
        start = following
    return list(view[start:])


def masked(view: Sequence[Content], target: int, ledger: TokenLedger) -> list[Content]:
    """With tool outputs masked from the oldest on, until it fits into `target` tokens; the newest few stay."""
    contents = list(view)
    left = sum(ledger.measure(content).tokens for content in contents)
    places = [index for index, content in enumerate(contents) if has_response(content)]
    for index in places[:-NEWEST_OUTPUTS]:
        if left <= target:
            break
        before = ledger.measure(contents[index]).tokens
        contents[index] = _with_outputs(contents[index], lambda _: _MASK)
        left += ledger.measure(contents[index]).tokens - before
    return contents


def outputs_within_budget(view: Sequence[Content], ledger: TokenLedger) -> list[Content]:
    """Tool outputs past 50,000 tokens, counted from the newest, cut to their last lines."""
    spent = 0.0

    def fit(text: str) -> str:
        nonlocal spent
        tokens = ledger.count_text(text)
        if spent + tokens > OUTPUT_TOKENS:
            text = "\n".join(text.splitlines()[-CUT_LINES:])
            tokens = ledger.count_text(text)
        spent += tokens
        return text

    return [_with_outputs(content, fit) for content in reversed(view)][::-1]


def _with_outputs(content: Content, change: Callable[[str], str]) -> Content:
    if not has_response(content):
        return content
    parts: list[Part] = []
    for part in content.parts:
        response = response_of(part)
        if response is None:
            parts.append(part)
            continue
        text = response_text(response) or ""
        parts.append({**part, "functionResponse": {**response, "response": {"output": change(text)}}})
    return Content(role=content.role, parts=tuple(parts))
