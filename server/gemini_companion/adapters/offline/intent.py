"""What a prompt asks for, going by its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Final

import msgspec

from gemini_companion.engine.facts.patterns import binding_rule
from gemini_companion.engine.facts.sentences import sentences

_READ: Final = 4_000
"""Characters of a prompt's head and of its tail that are read as words; what lies between is data."""
_LONG: Final = 1_200
"""Characters past which a prompt brings its own text to look into."""


class Intent(Enum):
    """Kinds of prompts that are answered differently."""

    GREETING = "greeting"
    THANKS = "thanks"
    ABILITIES = "abilities"
    OPEN_FILES = "openFiles"
    REQUESTS = "requests"
    TASKS = "tasks"
    SUMMARY = "summary"
    MEMORY = "memory"
    THIS = "this"
    FIND = "find"
    TOLD = "told"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, read."""

    intent: Intent
    text: str
    """The sentence that asks, else the whole prompt."""
    rules: tuple[str, ...]
    """Sentences that bid, forbid or decide something."""
    names: tuple[str, ...]
    """Names that it speaks of: what stands in backticks or quotes, then identifiers, then what follows "where is" and its like."""
    lines: tuple[int, int] | None
    """Lines that it names."""
    brings_text: bool
    """True if most of the prompt is text to look into."""


def read_question(prompt: str) -> Question:
    """Find the question in a prompt, and what kind it is."""
    words = prompt if len(prompt) <= 2 * _READ else f"{prompt[:_READ]}\n\n{prompt[-_READ:]}"
    said = sentences(words)
    asked = [sentence for sentence in said if sentence.endswith(("?", "？"))]
    text = asked[-1] if asked else (prompt.strip() if len(prompt) <= _LONG else next(iter(said), ""))
    stated = () if len(prompt) > _LONG else (sentence for sentence in said if sentence not in asked and _states(sentence))
    rules = tuple(stated)
    numbers = _lines().search(words)
    first = int(numbers["first"]) if numbers else 0
    return Question(
        intent=_intent(text, bool(rules) and not asked),
        text=text,
        rules=rules,
        names=tuple(dict.fromkeys(_names_in(text))),
        lines=(first, max(first, int(numbers["last"] or first))) if numbers and first else None,
        brings_text=len(prompt) > _LONG,
    )


def _states(sentence: str) -> bool:
    return binding_rule().search(sentence) is not None or _decision().search(sentence) is not None


def _intent(text: str, only_rules: bool) -> Intent:
    for intent, pattern in _patterns():
        if pattern.search(text):
            return Intent.TOLD if only_rules and intent is Intent.MEMORY else intent
    return Intent.TOLD if only_rules else Intent.FIND


def _names_in(text: str) -> Iterator[str]:
    for pattern in _names():
        for match in pattern.finditer(text[:_READ]):
            name = match["name"].removesuffix("()").strip()
            yield name.rpartition(".")[2] if _dotted().fullmatch(name) else name


@cache
def _patterns() -> tuple[tuple[Intent, re.Pattern[str]], ...]:
    """In the order in which they are tried."""
    greetings = "hi|hello|hey|good (?:morning|afternoon|evening)|こんにちは|こんばんは|おはよう(?:ございます)?"
    thanks = "thanks?(?: you)?(?: so much| a lot| very much)?|thx|ありがとう(?:ございます|ございました)?|どうも"
    this = "this|it|that|here|(?:the |my )?(?:selection|selected|file|code)"
    lead = "explain|describe|review|fix|check|read|what does|what is|what's|walk me through"
    table = {
        Intent.GREETING: rf"^\W*(?:{greetings})(?: there| gemini)?\W*$",
        Intent.THANKS: rf"^\W*(?:{thanks})\W*$",
        Intent.ABILITIES: (
            r"\b(?:who|what) are you\b|\bwhat can you do\b|\bare you (?:gemini|offline|a model)\b|^\W*help\W*$"
            r"|あなたは(?:誰|何)|何ができ|使い方"
        ),
        Intent.OPEN_FILES: (
            r"\b(?:what|which) (?:files?|documents?|tabs?|buffers?) .{0,20}\b(?:open|see|visible|active|shown)\b"
            r"|\b(?:list|show) .{0,12}\bopen files\b|ファイルが?開いて|開いている?ファイル"
        ),
        Intent.REQUESTS: (
            r"\bwhat (?:did|have) i (?:just |last |first )?(?:ask|asked|say|said|write|written|wrote)(?: you)?"
            r"(?: (?:first|last|before|earlier|so far|just now|now))*\W*$"
            r"|\bmy (?:very )?(?:first|last|previous) (?:question|message|prompt|request)\b"
            r"|(?:最初|前|直前|さっき)の?(?:質問|発言)|何を(?:聞|質問)"
        ),
        Intent.TASKS: (
            r"\b(?:left to do|open tasks?|next steps?|to-?dos?|remaining (?:work|tasks?)|what (?:is|are|'s) (?:left|next|open))\b"
            r"|残り|やること|次は何|未完了"
        ),
        Intent.SUMMARY: r"\b(?:summari[sz]e|summary|recap|sum up|tl;?dr|overview|outline)\b|要約|まとめて|概要",
        Intent.MEMORY: (
            r"\b(?:decid|decision|agree|settle|chose|remember|recall|earlier|previously|last time|did (?:i|we|you)\b|have (?:i|we)\b"
            r"|i (?:said|told|asked|gave|wanted)\b"
            r"|we (?:said|wanted|talked|chose)\b|(?:my|the) (?:rules?|preferences?|constraints?)\b|(?:told|gave) you\b)"
            r"|決め|決定|言った|言いました|以前|さっき|先ほど|覚え|約束|話した|ルール"
        ),
        Intent.THIS: (
            rf"^\W*(?:please )?(?:{lead})\b.{{0,12}}?\b(?:{this})\b|\b(?:the|my) (?:selection|selected)\b|^\W*(?:please )?explain\W*$"
            r"|(?:これ|この(?:コード|関数|ファイル|部分|選択)|選択(?:範囲|部分)?).{0,12}(?:説明|何|なに|教え|直|修正)"
        ),
    }
    return tuple((intent, re.compile(pattern, re.IGNORECASE)) for intent, pattern in table.items())


@cache
def _names() -> tuple[re.Pattern[str], ...]:
    lead = r"\b(?:where(?: is|'s| are| does| do)|what(?: does| is|'s| do)|define[sd]?|definition of|find|explain|show(?: me)?)"
    kinds = "function|class|method|variable|type|constant|module"
    return (
        re.compile(r"`(?P<name>[^`\n]{1,100})`"),
        re.compile(r"[\"“「](?P<name>[^\"”」\n]{1,60})[\"”」]"),
        re.compile(r"(?<![\w/.])(?P<name>[A-Za-z_]\w*(?:\.\w+)*\(\)|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)(?![\w/])"),
        re.compile(rf"(?i:{lead})(?i: the| an?)?(?i: (?:{kinds}))? (?P<name>[A-Za-z_]\w*)"),
        re.compile(rf"\b(?P<name>[A-Za-z_]\w*) (?:{kinds})\b"),
        re.compile(r"(?P<name>[A-Za-z_]\w*)[ ]?(?=は|を|の(?:定義|説明|場所)|って|とは|が)"),
    )


@cache
def _dotted() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?<!\.py)(?<!\.ts)(?<!\.js)(?<!\.md)(?<!\.rs)(?<!\.go)")


@cache
def _lines() -> re.Pattern[str]:
    return re.compile(r"\blines? (?P<first>\d{1,7})(?: ?(?:to|-|–|and) ?(?P<last>\d{1,7}))?\b")


@cache
def _decision() -> re.Pattern[str]:
    return re.compile(
        r"(?i:\b(?:we|i)(?:['’]ll| will| have|['’]ve)? (?:decided?|agreed?|chose|choose|settled?|use|go with|want|prefer)\b"
        r"|^let['’]?s (?:use|go with|keep)\b|\btasks?:)|(?:に|と)決め|ことにし|を使(?:う|い)"
    )
