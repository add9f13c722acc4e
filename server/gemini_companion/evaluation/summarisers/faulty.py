"""Stand-in models that do not work: broken, slow, recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.errors import InvalidInput, ModelUnavailable
from gemini_companion.engine.history.content import Content, visible_text_of
from gemini_companion.evaluation.provider import Writer
from gemini_companion.evaluation.summarisers.reading import read_request
from gemini_companion.evaluation.summarisers.writing import Oracle
from gemini_companion.sessions.models.port import ModelRequest

_GIANT: Final = 400_000
"""Characters of a giant answer."""


class Broken:
    """Fails in another way each time: nothing, garbage, a giant, a tag that is never closed, a fault."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._passes = 0

    def write(self, request: ModelRequest) -> str:
        """An answer that is of no use. Raises `ModelUnavailable` in every fifth pass."""
        if read_request(request).is_first:
            self._passes += 1
        match self._passes % 5:
            case 1:
                return ""
            case 2:
                return "%PDF-1.7 \u0000\ufffd{]]<state_snapshot</overall_goal> 42 42 42"
            case 3:
                words = " ".join(f"w{number}" for number in range(_GIANT // 8))
                return f"<state_snapshot>\n<overall_goal>{words}</overall_goal>\n</state_snapshot>"
            case 4:
                whole = self._oracle.write(request)
                return whole[: whole.find("</key_knowledge>")]
            case _:
                raise ModelUnavailable("The stand-in model is broken.")


class Slow:
    """Writes what another one writes, at so many tokens a second of virtual time."""

    def __init__(
        self, writer: Writer, tokens_a_second: float, count_text: Callable[[str], float], wait: Callable[[float], None]
    ) -> None:
        self._writer, self._rate, self._count, self._wait = writer, tokens_a_second, count_text, wait

    def write(self, request: ModelRequest) -> str:
        """The other one's answer, later."""
        answer = self._writer.write(request)
        self._wait(self._count(answer) / self._rate)
        return answer


class Recorded:
    """Gives recorded answers, one after the other, over and over."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = answers
        self._next = 0

    def write(self, request: ModelRequest) -> str:
        """The next recorded answer."""
        answer = self._answers[self._next % len(self._answers)]
        self._next += 1
        return answer


class _Answered(msgspec.Struct):
    content: Content = Content(role="model", parts=())


class _Response(msgspec.Struct):
    """Of a response what is replayed."""

    candidates: tuple[_Answered, ...] = ()


def recorded_answers(path: Path) -> list[str]:
    """The texts of recorded responses: a JSON object a line, `{method, response}`. Raises `InvalidInput`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from None
    answers: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            recorded = msgspec.json.decode(line)
            chunks = recorded["response"]
            answers.append("".join(map(_text_of, cast("list[Any]", chunks if isinstance(chunks, list) else [chunks]))))
        except (msgspec.DecodeError, msgspec.ValidationError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"{path}, line {number}, is no recorded response ({type(error).__name__}).",
                hint='Each line is {"method": "generateContent", "response": {"candidates": […]}}.',
            ) from None
    if not answers:
        raise InvalidInput(f"{path} holds no recorded response.")
    return answers


def _text_of(chunk: Any) -> str:
    """The text of a response as the API gives it, thoughts left out; empty for a response without."""
    response = msgspec.convert(chunk, _Response)
    return visible_text_of(response.candidates[0].content.parts) if response.candidates else ""
