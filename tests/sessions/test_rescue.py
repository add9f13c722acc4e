"""Histories that fill the window or more than that: they end below the threshold in two attempts at most, or with a clear refusal."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.compression_events import CompressionStarted
from gemini_companion.sessions.events import ContextWindowWillOverflow
from tests.support.conversations import agent_run, dialogue
from tests.support.scripted_model import count_request
from tests.support.sessions import Studio
from tests.support.strategy_rules import NAMES

MOST_ATTEMPTS = 2


def image(size: int) -> Content:
    return Content(
        role="user",
        parts=({"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo" + "A" * size}}),
    )


def images(count: int = 8) -> list[Content]:
    return [content for number in range(count) for content in (image(4_000), model_text(f"picture {number} " * 20))]


HISTORIES: dict[str, list[Content]] = {
    "huge outputs in one run": [*agent_run(10, 4_000), model_text("All green.")],
    "huge outputs in a run under way": agent_run(10, 4_000),
    "one output larger than the rest": [*dialogue(4), *agent_run(1, 30_000), model_text("Read."), *dialogue(2)],
    "images": images(),
    "talk and images": [*dialogue(6), *images(4), *dialogue(3)],
    "one giant prompt at the end": [*dialogue(4), user_text("word " * 20_000), model_text("Noted.")],
    "one giant prompt and nothing else": [user_text("word " * 20_000), model_text("Noted.")],
}


@pytest.mark.parametrize("fullness", [1.0, 1.25, 1.5])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", HISTORIES)
async def test_an_overfull_history_ends_below_the_threshold_or_is_refused(
    studio: Studio, kind: str, name: StrategyName, fullness: float
) -> None:
    session = await studio.load(HISTORIES[kind])
    full = session.token_count(session.choice()).tokens
    studio.set(token_limit_override=round(full / fullness), compression_strategy=name)
    limit = session.limit(session.choice())
    answered = await studio.chat("go on")
    assert len(studio.heard.of(CompressionStarted)) <= MOST_ATTEMPTS
    if answered.stopped is not None:
        assert answered.stopped == "contextWindowWillOverflow"
        assert studio.heard.of(ContextWindowWillOverflow)
        assert answered.prompt is not None
        return
    mark = session.mark(session.choice()).tokens
    assert mark is not None
    assert session.token_count(session.choice()).tokens <= mark
    assert count_request(studio.model.main()[-1]) < limit
