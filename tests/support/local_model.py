"""A model on this machine behind the emulated Gemini API: weights in a GGUF file, run by llama.cpp.

The weights are named by `COMPANION_GGUF`; `xllamacpp` is not one of the project's packages. Who wants to run what needs
them installs it beside.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.support.emulator import RecordedRequest, Reply, answer

Complete = Callable[[list[dict[str, str]], int], str]
"""From messages of a chat (`role`, `content`) and the most tokens of an answer to the answer."""

ANSWER_TOKENS: Final = 700
WINDOW_TOKENS: Final = 8_192


class LocalModel:
    """A responder of the emulator that answers by a model of a chat."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def __call__(self, request: RecordedRequest) -> Reply:
        """The model's answer, in one piece."""
        limit = request.body.get("generationConfig", {}).get("maxOutputTokens", ANSWER_TOKENS)
        text = self._complete(messages_of(request), min(int(limit), ANSWER_TOKENS))
        return answer(text) if text else answer()


def messages_of(request: RecordedRequest) -> list[dict[str, str]]:
    """A request's system instruction and contents as messages of a chat; what is no text is left out."""
    messages = [{"role": "system", "content": request.system}] if request.system else []
    for content in request.contents:
        texts = [part["text"] for part in content.get("parts", []) if isinstance(part.get("text"), str)]
        role = "assistant" if content.get("role") == "model" else "user"
        messages.append({"role": role, "content": "\n".join(texts)})
    return messages


def weights() -> str:
    """The path of the weights. Skips the test, with the reason, where they or what runs them are not there."""
    path = os.environ.get("COMPANION_GGUF", "")
    if not os.path.isfile(path):
        pytest.skip("no weights: COMPANION_GGUF names no GGUF file of a model tuned for chat")
    pytest.importorskip("xllamacpp", reason="xllamacpp, which runs the weights, is not installed")
    return path


def llama(path: str) -> Complete:
    """The model in a GGUF file, at a low temperature and with a fixed seed."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = WINDOW_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.sampling.temp = 0.2
    params.sampling.seed = 7
    server = xllamacpp.Server(params)

    def complete(messages: list[dict[str, str]], limit: int) -> str:
        result = server.handle_chat_completions({"messages": messages, "max_tokens": limit})
        return str(result["choices"][0]["message"]["content"] or "")

    return complete
