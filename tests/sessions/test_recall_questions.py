"""Questions that are typed: few vectors are asked for, and no result is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.sessions.models.port import EmbeddingPurpose
from gemini_companion.sessions.question_vectors import LEAST_GAP_SECONDS, MOST_KNOWN, QuestionVectors
from gemini_companion.sessions.recall_store import Vector
from tests.support.sessions import ManualClock


class Embeds:
    """Makes a vector of the length of a text, and remembers when it was asked for which."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.asked: list[str] = []
        self.times: list[float] = []
        self.faults: list[ModelUnavailable] = []

    @property
    def embedding_model(self) -> str:
        return "vectors"

    async def embed(self, texts: Sequence[str], *, purpose: EmbeddingPurpose) -> list[Vector]:
        assert purpose == "question"
        self.asked += texts
        self.times.append(self.clock.monotonic())
        await asyncio.sleep(0)
        if self.faults:
            raise self.faults.pop()
        return [Vector(model="vectors", values=(float(len(text)),)) for text in texts]


@pytest.fixture
def embeds() -> Embeds:
    return Embeds(ManualClock())


async def find(questions: QuestionVectors, embeds: Embeds, *texts: str) -> list[float | None]:
    found = await asyncio.gather(*(questions.find(embeds, text, embeds.clock) for text in texts))
    return [vector.values[0] if vector else None for vector in found]


async def test_while_somebody_types_the_first_and_the_last_question_are_asked(embeds: Embeds) -> None:
    typed = ["c", "ca", "car", "car p", "car park", "car par", "car parks"]
    found = await find(QuestionVectors(), embeds, *typed)
    assert embeds.asked == ["c", "car parks"]
    assert (found[0], found[-1]) == (1, 9)


async def test_requests_are_a_second_apart(embeds: Embeds) -> None:
    await find(QuestionVectors(), embeds, "one", "two", "three")
    assert embeds.asked == ["one", "two", "three"], "questions of several people are all answered"
    gaps = [later - earlier for earlier, later in zip(embeds.times, embeds.times[1:], strict=False)]
    assert min(gaps) >= LEAST_GAP_SECONDS


async def test_a_question_is_asked_once_and_the_oldest_is_forgotten(embeds: Embeds) -> None:
    questions = QuestionVectors()
    assert await find(questions, embeds, "car", "car", "cat") == [3, 3, 3]
    assert embeds.asked == ["car", "cat"]
    for number in range(MOST_KNOWN - 1):
        await find(questions, embeds, f"{number}")
    await find(questions, embeds, "cat", "car")
    assert embeds.asked.count("cat") == 1
    assert embeds.asked.count("car") == 2


async def test_a_fault_is_raised_and_the_next_question_is_asked_all_the_same(embeds: Embeds) -> None:
    questions = QuestionVectors()
    embeds.faults = [ModelUnavailable("down")]
    with pytest.raises(ModelUnavailable):
        await find(questions, embeds, "car")
    assert await find(questions, embeds, "car") == [3]


async def test_one_who_gives_up_holds_nobody_up(embeds: Embeds) -> None:
    questions = QuestionVectors()
    first = asyncio.create_task(questions.find(embeds, "one", embeds.clock))
    second = asyncio.create_task(questions.find(embeds, "one more", embeds.clock))
    await asyncio.sleep(0)
    first.cancel()
    second.cancel()
    await asyncio.wait([first, second])
    assert await find(questions, embeds, "other") == [5]
