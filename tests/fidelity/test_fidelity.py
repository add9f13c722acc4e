"""With the gate a lossy summariser loses next to nothing over ten compressions of real conversations, at little cost."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gemini_companion.engine.history.content import Content
from tests.fidelity.passes import ARTIFACTS, GrowingChat, Kept, SummariserName


@pytest.fixture(name="chats", scope="session")
def read_chats(corpus: dict[str, dict[str, Any]]) -> list[list[Content]]:
    """Three of each kind."""
    folders: dict[str, list[list[Content]]] = {}
    for name, document in corpus.items():
        folders.setdefault(name.partition("/")[0], []).append(msgspec.convert(document["history"], list[Content]))
    return [chat for chats in folders.values() for chat in chats[:3]]


def kept(
    chats: list[list[Content]], summariser: SummariserName, *, has_gate: bool, passes: int = 10
) -> list[list[Kept]]:
    return [GrowingChat(chat, summariser, has_gate, seed, passes).run() for seed, chat in enumerate(chats)]


def share(runs: list[list[Kept]], number: int, kinds: frozenset[str] | None = None) -> float:
    passes = [run[number - 1] for run in runs]
    return sum(one.share(kinds) for one in passes) / len(passes)


def left(runs: list[list[Kept]]) -> float:
    """Share of the hidden tokens that stands in the view for them, after the last pass."""
    return sum(run[-1].replaced_by_tokens for run in runs) / sum(run[-1].hidden_tokens for run in runs)


@pytest.mark.parametrize("summariser", ["lossy", "terse"])
def test_one_five_and_ten_compressions_lose_neither_artifacts_nor_other_facts(
    chats: list[list[Content]], summariser: SummariserName
):
    without, gated = (kept(chats, summariser, has_gate=has_gate) for has_gate in (False, True))
    for number in (1, 5, 10):
        assert share(gated, number, ARTIFACTS) >= 0.95
        assert share(gated, number) >= 0.9
    assert share(without, 10) < 0.9
    assert not any(run[-1].refused or run[-1].unsupported for run in gated)


@pytest.mark.parametrize("passes", [1, 10])
def test_what_is_put_back_takes_hardly_more_room_than_a_snapshot_that_says_it_all(
    chats: list[list[Content]], passes: int
):
    """One compression of whole conversations, and ten while they grow."""
    gated = kept(chats, "lossy", has_gate=True, passes=passes)
    complete = kept(chats, "oracle", has_gate=False, passes=passes)
    assert share(gated, passes, ARTIFACTS) >= 0.95
    assert share(gated, passes) >= 0.95
    assert left(gated) <= 1.08 * left(complete)
