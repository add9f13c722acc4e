"""On every conversation of the corpus, by patterns of the test's own: nothing recent is lost, up to a fifth of what is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.facts.span import RECENT
from gemini_companion.engine.history.content import Content
from tests.engine.facts.fact_sources import count_words

PATHS = (
    re.compile(
        r"(?<![\w./:<-])(?:\.{0,2}/)?(?:[\w.@-]+/)*[\w.@-]+\.(?:py|js|ts|json|md|rst|toml|cfg|ini|yml|sh|c|h|html|png|so|in)\b"
    ),
    re.compile(r"(?<![\w./:<-])/(?:[\w.@+-]+/)*[\w.@+-]*[\w@+-]"),
)
DIRECTIVE = re.compile(
    r"\b(?:must|never|always|don't|do not|only|prefer|should|avoid|make sure)\b|必ず|しないで|だけ|べき|禁止",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"\d+:")
TO_EACH_OTHER = re.compile(r"(?:\[[^\]]*\] )?[A-Z][a-z]+: ")
"""How a content of a talk between people begins: nobody there lays down rules for a model."""
EXAMPLE = re.compile(r"^--- DEMONSTRATION ---$.*?^--- END OF DEMONSTRATION ---$", re.MULTILINE | re.DOTALL)
INSTALLED = re.compile(r"/site-packages$|^/tmp/pip-")


def facts_of(content: Content) -> Iterator[str]:
    plain = content.role == "user" and not any("functionResponse" in part for part in content.parts)
    for part in content.parts:
        text: Any = part.get("text") or part.get("functionResponse", {}).get("response", {}).get("output") or ""
        command = part.get("functionCall", {}).get("args", {}).get("command")
        if command:
            yield command.strip()
        if plain:
            told = "" if TO_EACH_OTHER.match(text) else EXAMPLE.sub("", text)
            yield from (
                said.strip()
                for said in re.split(r"(?<=[.!?。])\s+|\n+", told)
                if DIRECTIVE.search(said) and not NUMBERED.match(said)
            )
        for pattern in PATHS:
            found = (match.group().rstrip(".") for match in pattern.finditer(command or text))
            yield from (path for path in found if not INSTALLED.search(path))


@pytest.fixture(scope="session", name="conversations")
def read_corpus(corpus: dict[str, dict[str, Any]]) -> dict[str, list[Content]]:
    return {name: msgspec.convert(document["history"], list[Content]) for name, document in corpus.items()}


@pytest.mark.parametrize("folder", ["locomo", "tau-airline", "swe-agent"])
@pytest.mark.parametrize("keeps_the_prompt", [False, True], ids=["from the start", "without the first prompt"])
def test_every_recent_path_command_and_directive_stands_in_the_snapshot(
    conversations: dict[str, list[Content]], folder: str, keeps_the_prompt: bool
):
    seen = 0
    for name, history in conversations.items():
        hidden = [FactSource(index, content, index) for index, content in enumerate(history[: len(history) * 7 // 10])][
            keeps_the_prompt:
        ]
        tokens = sum(count_words(msgspec.json.encode(source.content).decode()) for source in hidden)
        if not name.startswith(folder) or tokens <= 2_000:
            continue
        seen += 1
        snapshot = extractive_snapshot(hidden, previous=None, budget_tokens=int(tokens // 5), count_text=count_words)
        wanted = [fact for source in reversed(hidden[-RECENT:]) for fact in facts_of(source.content)]
        assert [fact for fact in wanted if fact not in snapshot] == [], name
        assert count_words(snapshot) <= 1.08 * tokens / 5 + 300, name
        assert len(re.findall(r"^</?\w+>$", snapshot, re.MULTILINE)) == 16, name
    assert seen >= 5


def test_a_dialogue_keeps_most_of_what_questions_are_asked_about(
    corpus: dict[str, dict[str, Any]], conversations: dict[str, list[Content]]
):
    """Of the contents that LoCoMo's questions rest on, more stand in a snapshot of a fifth than a fifth could by chance."""
    kept = asked = 0
    for name, document in corpus.items():
        if "qa" not in document:
            continue
        history = conversations[name]
        hidden = [FactSource(index, content, index) for index, content in enumerate(history[: len(history) * 7 // 10])]
        tokens = sum(count_words(content.parts[0]["text"]) for content in history[: len(hidden)])
        snapshot = extractive_snapshot(hidden, previous=None, budget_tokens=int(tokens // 5), count_text=count_words)
        evidence = {
            index for question in document["qa"] for index in question.get("evidence", []) if index < len(hidden)
        }
        for index in evidence:
            asked += 1
            said = re.split(r"(?<=[.!?])\s+", re.sub(r"^(?:\[[^\]]*\] )?\w+: ", "", history[index].parts[0]["text"]))
            kept += any(len(sentence) > 12 and sentence in snapshot for sentence in said)
    assert asked > 300
    assert kept / asked > 0.4
