"""A quick look at a text's words spares searches, and never a fact."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts import glance
from gemini_companion.engine.facts.extract import facts_of
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.facts.patterns import ERROR_HINTS, hinted
from gemini_companion.engine.facts.rules import PLAN_HINTS, RULE_HINTS, RULE_PATTERN_HINTS
from gemini_companion.engine.history.content import Content, model_text, user_text
from tests.engine.facts.fact_sources import texts
from tests.performance.conversation import make_contents

EVERYTHING: Final = -1
"""What a glance would say of a text that can hold whatever there is."""

HINTED: Final = (*RULE_HINTS, *RULE_PATTERN_HINTS, *PLAN_HINTS, *ERROR_HINTS)
NUMBERS: Final = (
    *("3000", "12", "5", "12,", "80)", "2024", "1.2.3", "#12", "$5", "0x1f", "50%", "12ms", "ABC-12", "٣٤", "²"),
    *(
        "port",
        "ports:",
        "version",
        "v",
        "node.js",
        "PR",
        "issue",
        "May",
        "3rd",
        "lines",
        "ms",
        "seconds",
        "円",
        "ポート",
    ),
    "abcdefab-abcd-abcd-abcd-abcdefabcdef",
)
MARKS: Final = (
    *(
        "src/a.py",
        "C:\\x",
        "README",
        "a.b",
        "https://a.b/c",
        "foo_bar",
        "fooBar",
        "A1Bc",
        "foo()",
        "`foo`",
        "`git status`",
    ),
    *("$ ls -la", "PS C:\\> dir", "```", "~~~", "TODO: x", "FIXME(a) b", "- [ ] x", "[TODO] x", "Error: x", "panıc: x"),
    *("<log>", "</log>", "<example>", "</example>", "--- DEMO ---", "--- END OF DEMO ---", "> quoted", "Ann: hi"),
    *(
        "fn parser cursor",
        "class a b c d",
        "raise Aa bcdef",
        "import os.path;",
        "log.info (x)",
        "12\ta line of it",
        "漢字",
    ),
    *(
        "We decided that.",
        "Use tabs, not spaces.",
        "never mind",
        "must have been",
        "nobody may enter",
        "使わない",
        "请用中文",
    ),
)
SEPARATORS: Final = (
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "",
    "\t",
    "\u3000",
    ". ",
    "。",
    ", ",
    "\u00a0",
    "-",
    ": ",
    "! ",
    "_",
)
ODD_LETTERS: Final = (("i", "ı"), ("s", "ſ"), ("I", "İ"))


def in_full(content: Content, patched: pytest.MonkeyPatch) -> list[Fact]:
    """The facts of a content with nothing spared."""
    with patched.context() as patch:
        patch.setattr(glance, "glance", lambda _: EVERYTHING)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
        return facts_of(FactSource(0, content, 0))


def assert_the_same(text: str, patched: pytest.MonkeyPatch) -> None:
    for content in (user_text(text), model_text(text)):
        assert facts_of(FactSource(0, content, 0)) == in_full(content, patched), text


def soup(chance: random.Random, ingredients: tuple[str, ...]) -> str:
    size = chance.choice((2, 3, 5, 9, 25))
    text = "".join(part for _ in range(size) for part in (chance.choice(ingredients), chance.choice(SEPARATORS)))
    plain, odd = chance.choice(ODD_LETTERS)
    return chance.choice((text, text, text, text.upper(), text.title(), text.replace(plain, odd)))


@pytest.mark.parametrize(
    "ingredients", [HINTED, NUMBERS, MARKS, HINTED + NUMBERS + MARKS], ids=["words", "numbers", "marks", "all"]
)
def test_of_what_patterns_look_for_in_any_order_no_fact_is_spared(
    ingredients: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    chance = random.Random(11)
    for _ in range(1_000):
        assert_the_same(soup(chance, ingredients), monkeypatch)


@pytest.mark.parametrize("length", [400, 16_000, 17_000, 70_000])
def test_nor_of_a_text_of_any_length(length: int, monkeypatch: pytest.MonkeyPatch):
    chance = random.Random(length)
    for filler in ("parser cursor branch ", "closure assert fn x\n", "x" * 700 + "use", "必ず書いて。"):
        text = f"{filler * (length // len(filler))}{soup(chance, HINTED + NUMBERS + MARKS)} {filler * 3}"
        assert_the_same(text, monkeypatch)


@given(st.one_of(texts, st.text(max_size=80)))
def test_nor_of_any_text(text: str):
    with pytest.MonkeyPatch.context() as patched:
        assert_the_same(text, patched)


@pytest.mark.parametrize("ending", list(".,;!?)|:("))
def test_nor_of_a_listing_whose_only_signs_stand_behind_numbers(ending: str, monkeypatch: pytest.MonkeyPatch):
    line = f"Always take 1{ending} of them or 2{ending} and never 3{ending}\n"
    assert_the_same(line * 9, monkeypatch)


@pytest.mark.parametrize("folder", ["locomo", "tau-airline", "swe-agent"])
def test_nor_of_the_corpus(corpus: dict[str, dict[str, Any]], folder: str, monkeypatch: pytest.MonkeyPatch):
    contents = [
        content
        for name, document in corpus.items()
        if Path(name).parts[0] == folder
        for content in msgspec.convert(document["history"], list[Content])[:150]
    ]
    assert contents
    for content in contents:
        assert facts_of(FactSource(0, content, 0)) == in_full(content, monkeypatch)


def test_a_chat_of_plain_words_needs_hardly_a_search():
    """What is measured has code words and signs of its own: of most texts nothing is left to be looked for."""
    said = [content["parts"][0]["text"] for content in make_contents(300, block=("prompt", "answer"))]
    looked_for = glance.RULE | glance.PLAN | glance.ERROR | glance.PATH | glance.NUMBER | glance.SYMBOL | glance.LISTING
    assert not any(glance.glance(text) & looked_for for text in said)


@pytest.mark.parametrize(
    ("text", "bit"),
    [
        ("Never push to main.", glance.RULE),
        ("必ず書いてください。", glance.RULE),
        ("The next step is to merge.", glance.PLAN),
        ("it went with no such file", glance.ERROR),
        ("see src/a.py", glance.PATH),
        ("port 3000", glance.NUMBER),
        ("in May 12 of them", glance.NUMBER),
        ("12 seconds", glance.NUMBER),
        ("call fooBar", glance.SYMBOL),
    ],
)
def test_a_word_tells_what_may_be_there(text: str, bit: int):
    assert glance.glance(text) & bit


@pytest.mark.parametrize("text", ["the closure of 12 branches", "know 3, 4 and 5.", "a disclosure, a merge"])
def test_words_that_merely_hold_such_letters_do_not(text: str):
    assert not glance.glance(text) & (glance.RULE | glance.PLAN | glance.NUMBER)


def test_a_text_of_nothing_but_new_words_is_not_looked_at_word_by_word(monkeypatch: pytest.MonkeyPatch):
    texts: list[str] = []

    def noted(lowered: str, hints: tuple[str, ...]) -> bool:
        texts.append(lowered)
        return hinted(lowered, hints)

    monkeypatch.setattr(glance, "hinted", noted)
    words = ["qz" + "".join(letters) for letters in product("bcdfghjklmnpqrstvwxz", repeat=3)]
    assert glance.glance(" ".join(words)) & glance.ANYTHING == 0
    assert 0 < len(texts) < len(words) / 2
