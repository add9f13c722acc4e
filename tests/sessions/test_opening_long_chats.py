"""A long chat that is opened again holds up nobody else: what is done once for each content is done beside the loop."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.settled import Settled
from gemini_companion.sessions.threads import IN_THREAD_FROM
from tests.sessions.conftest import Opener


@pytest.fixture
def curated_on_the_loop(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many items were curated for good on the event loop's thread, each time."""
    counts: list[int] = []
    extend, loop = Settled.extend, threading.get_ident()

    def noting(self: Settled, curated: Sequence[Item], to: int) -> None:
        if threading.get_ident() == loop:
            counts.append(len(curated))
        extend(self, curated, to)

    monkeypatch.setattr(Settled, "extend", noting)
    return counts


async def test_the_rounds_of_a_long_chat_are_curated_beside_the_loop_when_it_is_opened(
    opened: Opener, curated_on_the_loop: list[int]
) -> None:
    first = opened()
    contents: list[Content] = []
    for number in range(IN_THREAD_FROM // 2 + 1):
        contents += [user_text(f"Question {number}"), model_text(f"Answer {number}")]
    session = await first.load(contents)
    await first.app.close()
    again = opened()
    curated_on_the_loop.clear()
    info = await again.app.open_session(again.client, session.session_id)
    assert sum(curated_on_the_loop) == 0
    assert info.token_count == session.token_count(session.choice()).tokens
