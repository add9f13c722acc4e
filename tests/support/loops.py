"""Streams of a model with loops planted in them and without, and one way to listen to either."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gemini_companion.engine.loops.chanting import CHUNK, MOST_APART, REPEATS, Chant, Chanting

BOUND: Final = 2 * CHUNK + MOST_APART * REPEATS
"""Characters from where a loop begins until it must have been noticed."""

_ENGLISH: Final = [
    "the",
    "parser",
    "reads",
    "every",
    "line",
    "of",
    "this",
    "file",
    "and",
    "then",
    "keeps",
    "what",
    "it",
    "needs",
    "for",
    "later",
    "while",
    "we",
    "look",
    "at",
    "another",
    "module",
    "because",
    "its",
    "tests",
    "fail",
    "with",
    "an",
    "error",
    "that",
    "nobody",
    "understands",
    "yet",
    "so",
    "let",
    "me",
    "check",
    "how",
    "config",
    "values",
    "are",
    "merged",
]
_JAPANESE: Final = "関数を読み込み設定値検証結果表示変更差分一覧更新処理失敗原因調査依存解決行列次第確認必要場合もありますがこのコードではにともから"
_EMOJI: Final = "🙂🚀🔧✅❌📁"
_CODE: Final = ("for item in items:", "    total += item", "return None", "if not found:", "    pass", "}", "end")


class Stream(NamedTuple):
    """A model's text; a loop begins at `planted`, if one does."""

    text: str
    planted: int | None


def listen(text: str, lengths: Iterator[int], chanting: Chanting | None = None) -> tuple[Chant | None, int]:
    """Listen to a text in pieces of these lengths. The chant, and where its piece ended."""
    chanting = chanting or Chanting()
    at = 0
    while at < len(text):
        length = max(1, next(lengths))
        chant = chanting.feed(text[at : at + length])
        at = min(len(text), at + length)
        if chant is not None:
            return chant, at
    return None, at


def streams(count: int, seed: int) -> Iterator[Stream]:
    """Half of them with a loop: sentences in English or Japanese, with code, tables, lists, emoji and dividers."""
    for number in range(count):
        chance = random.Random(seed + number)
        before = "".join(_blocks(chance, chance.randrange(0, 12)))
        if number % 2:
            yield Stream(before + "".join(_blocks(chance, 10)), None)
            continue
        sentence = _sentence(chance, chance.randrange(12, 200))
        extra = chance.choice(("", "", "\n", "\n\n", "```python\n" + _code(chance) + "```\n", _table(chance)))
        unit = sentence + extra if not extra.startswith(("`", "|")) else f"{sentence}\n\n{extra}\n"
        yield Stream(before + "\n\n" + unit * (2 * BOUND // len(sentence) + 2), len(before) + 2)


def _blocks(chance: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield chance.choice((_paragraph, _paragraph, _code_block, _table, _list, _divider, _cases))(chance)
        yield "\n\n"


def _paragraph(chance: random.Random) -> str:
    return "".join(_sentence(chance, chance.randrange(20, 160)) for _ in range(chance.randrange(1, 6)))


def _sentence(chance: random.Random, length: int) -> str:
    """Made up anew each time: words with a number here and there, so that it is like no other."""
    text = ""
    is_japanese = chance.random() < 0.4
    while len(text) < length:
        if is_japanese:
            text += "".join(chance.choice(_JAPANESE) for _ in range(8))
        else:
            text += chance.choice(_ENGLISH) + " "
        if chance.random() < 0.1:
            text += f"{chance.choice(_EMOJI)}{chance.randrange(100)} "
    return text.rstrip() + ("。" if is_japanese else ". ")


def _code(chance: random.Random) -> str:
    return "".join(f"{chance.choice(_CODE)}\n" for _ in range(chance.randrange(1, 40)))


def _code_block(chance: random.Random) -> str:
    return f"```\n{_code(chance)}```"


def _table(chance: random.Random) -> str:
    return "| a | b |\n|---|---|\n" + "| 0 | none |\n" * chance.randrange(1, 40)


def _list(chance: random.Random) -> str:
    mark = chance.choice(("- ", "* ", "+ ", "1. ", "・", "> "))
    return f"{mark}it is checked and nothing has to be changed here at all.\n" * chance.randrange(1, 30)


def _divider(chance: random.Random) -> str:
    return chance.choice("-=─*_#.") * chance.randrange(3, 120)


def _cases(chance: random.Random) -> str:
    """A pattern that is filled in: alike at each end, another thing in the middle."""
    return "".join(
        f"When the value is {chance.randrange(10**6)}, the function gives back what it was given, without a change. "
        for _ in range(chance.randrange(1, 25))
    )


def each(lengths: Iterable[int]) -> Iterator[int]:
    """The lengths over and over."""
    known = list(lengths) or [1]
    while True:
        yield from known
