"""A model of a chat stands behind the emulated API: what the SDK asks reaches it, and its answer comes back."""

from __future__ import annotations

from gemini_companion.adapters.gemini import GeminiProvider
from gemini_companion.engine.history.content import model_text, user_text, visible_text_of
from gemini_companion.sessions.models.port import ModelRequest
from tests.support.emulator import Emulator
from tests.support.local_model import ANSWER_TOKENS, LocalModel

REQUEST = ModelRequest(
    model="gemini-2.5-flash",
    contents=(user_text("Which port?"), model_text("5433."), user_text("Sure?")),
    system_instruction="Be brief.",
    max_output_tokens=50,
)
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Which port?"},
    {"role": "assistant", "content": "5433."},
    {"role": "user", "content": "Sure?"},
]


async def test_a_request_of_the_sdk_becomes_messages_and_a_limit_and_is_answered(
    emulator: Emulator, gemini: GeminiProvider
) -> None:
    asked: list[tuple[list[dict[str, str]], int]] = []

    def complete(messages: list[dict[str, str]], limit: int) -> str:
        asked.append((messages, limit))
        return "Yes, 5433."

    emulator.responder = LocalModel(complete)
    whole = await gemini.generate(REQUEST)
    streamed = [part async for chunk in gemini.stream(REQUEST) for part in chunk.parts]
    assert visible_text_of(whole.parts) == visible_text_of(streamed) == "Yes, 5433."
    assert asked == [(MESSAGES, 50), (MESSAGES, 50)]
    assert (await gemini.count_tokens(REQUEST)).total > 0


async def test_without_a_limit_an_answer_has_one_all_the_same(emulator: Emulator, gemini: GeminiProvider) -> None:
    limits: list[int] = []
    emulator.responder = LocalModel(lambda _, limit: f"{limits.append(limit)}")
    await gemini.generate(ModelRequest(model="gemini-2.5-flash", contents=(user_text("Hi"),)))
    assert limits == [ANSWER_TOKENS]
