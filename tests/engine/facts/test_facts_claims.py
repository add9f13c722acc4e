"""What a snapshot names that never occurred is found; what occurred in another form is not held against it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.compression.gate import GateOptions, gate
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.history.content import Content, model_text, user_text
from tests.engine.facts.fact_sources import call, count_words, result, sources_of

HIDDEN = [
    user_text("The service src/app/server.py listens on port 8443. Docs: https://example.com/v2/docs."),
    call("cd /project/project/src && vim app/client.py"),
    result('{"gift_card_5094406": {"amount": 274}}\n12 passed in 3.41s\nbuild 7f3a9c1d0e\n  C:\\work\\x\\main.py'),
    model_text("Redis 7.2.1 it is, with a time limit of 1500 ms."),
]


def claims(said: str, also: tuple[str, ...] = ()) -> list[str]:
    snapshot = f"<state_snapshot>\n<key_knowledge>\n{said}\n</key_knowledge>\n</state_snapshot>"
    found = gate(
        sources_of(HIDDEN), snapshot, [], GateOptions(), count_text=count_words, hidden_tokens=1_000, also=also
    )
    return [claim.text for claim in found.retention.unsupported]


@pytest.mark.parametrize(
    "said",
    [
        "src/app/server.py, ./src/app/server.py, app/server.py, src/app/, server.py",
        "/project/project/src/app/client.py: a directory that was entered, and a file in it",
        "port 8443, 8443, https://example.com/v2/docs, Redis 7.2.1, v7.2.1, 1500 ms, 1500ms",
        "gift_card_5094406 has 274; 3.41 seconds; 7f3a9c1d0e",
        "C:\\work\\x\\main.py",
        "12 tests, 90%, 3 days, step 2, 15 minutes: counted, or summed up",
        "… and 1,234 more directives (+12,345 characters) (+210 lines) /project/project/sr …",
    ],
)
def test_what_occurred_in_any_form_is_supported(said: str):
    assert claims(said) == []


@pytest.mark.parametrize(
    "made_up",
    [
        "src/app/login.py",
        "app/server.ts",
        "https://example.com/v3/docs",
        "port 8444",
        "7.2.2",
        "v9.1.4",
        "2500 ms",
        "gift_card_5094407",
    ],
)
def test_what_never_occurred_is_named(made_up: str):
    found = claims(f"It is {made_up} now.")
    assert len(found) == 1
    assert found[0] in made_up or made_up in found[0]


def test_what_only_stands_in_other_texts_that_the_author_knew_is_supported():
    assert claims("See docs/house-rules.md.") == ["docs/house-rules.md"]
    assert claims("See docs/house-rules.md.", also=("Rules: docs/house-rules.md",)) == []


def invented(known: list[str], chance: random.Random) -> Iterator[str]:
    names = ["login", "config", "session", "worker", "cache", "billing", "router", "schema"]
    for _ in range(10):
        folder = "/".join(chance.choice(known).strip("/").split("/")[:-1]) or "src"
        yield f"{folder}/{chance.choice(names)}_{chance.choice(names)}.py"
        yield f"https://docs.example.org/{chance.choice(names)}/{chance.randrange(1000, 9999)}"
        yield f"version {chance.randrange(11, 40)}.{chance.randrange(11, 60)}.{chance.randrange(1, 9)}"
        yield f"{chance.randrange(1013, 9999)} ms"


def test_of_planted_inventions_at_least_95_of_100_are_found_on_the_corpus(corpus: dict[str, dict[str, Any]]):
    found = planted = 0
    for number, document in enumerate(corpus.values()):
        contents = msgspec.convert(document["history"], list[Content])
        known = [path for content in contents for path in paths_in(text_of_content(content)) if "/" in path]
        made_up = list(invented(known or ["src/app/main.py"], random.Random(number)))
        snapshot = "<state_snapshot>\n" + "\n".join(f"It is {claim} now." for claim in made_up) + "\n</state_snapshot>"
        told = gate(
            sources_of(contents), snapshot, [], GateOptions(), count_text=count_words, hidden_tokens=1_000
        ).retention.unsupported
        planted += len(set(made_up))
        found += len({claim for claim in made_up if any(fact.text in claim for fact in told)})
    assert planted > 200
    assert found >= 0.95 * planted
