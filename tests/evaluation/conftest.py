"""A small corpus for every test of the evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gemini_companion.evaluation.cell import Cell
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.synthetic import synthetic_corpus

MakeCell = Callable[..., Cell]


@pytest.fixture(scope="session")
def corpus() -> list[Conversation]:
    return synthetic_corpus(1)


@pytest.fixture
def cell(corpus: list[Conversation]) -> MakeCell:
    def make(**changes: object) -> Cell:
        base = Cell(
            conversation=corpus[0].name,
            digest=corpus[0].digest,
            arm="prompt-only",
            strategy="split",
            summariser="oracle",
            seed=1,
            passes=1,
        )
        return msgspec.structs.replace(base, **changes)

    return make


@pytest.fixture
def folder(tmp_path: Path, corpus: list[Conversation]) -> Path:
    """The small corpus as files."""
    for conversation in corpus:
        path = tmp_path / "corpus" / f"{conversation.name}.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(msgspec.json.encode({"history": conversation.history}))
    return tmp_path / "corpus"
