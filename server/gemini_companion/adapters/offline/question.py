"""What a prompt asks for, going by its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final

import msgspec

from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import is_decision, is_question, is_rule
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
    STATED = "stated"


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt, read."""

    intent: Intent
    text: str
    """The sentence that asks, else the whole prompt."""
    rules: tuple[str, ...]
    """Sentences that bid, forbid or decide something, or note a task."""
    names: tuple[str, ...]
    """Names that it speaks of: in backticks or quotes, then identifiers, then what follows "where is" and its like."""
    lines: tuple[int, int] | None
    """Lines that it names."""
    brings_text: bool
    """True if most of the prompt is text to look into."""


_GREETINGS: Final = "hi|hello|hey|good (?:morning|afternoon|evening)|こんにちは|こんばんは|おはよう(?:ございます)?"
_THANKS: Final = "thanks?(?: you)?(?: so much| a lot| very much)?|thx|ありがとう(?:ございます|ございました)?|どうも"
_THIS: Final = "this|it|that|here|(?:the |my )?(?:selection|selected|file|code)"
_LEAD: Final = "explain|describe|review|fix|check|read|what does|what is|what's|walk me through"
_PATTERNS: Final = {
    Intent.GREETING: rf"^\W*(?:{_GREETINGS})(?: there| gemini)?\W*$",
    Intent.THANKS: rf"^\W*(?:{_THANKS})\W*$",
    Intent.ABILITIES: (
        r"\b(?:who|what) are you\b|\bwhat can you do\b|\bare you (?:gemini|offline|a model)\b|^\W*help\W*$"
        r"|あなたは(?:誰|何)|何ができ|使い方"
    ),
    Intent.OPEN_FILES: (
        r"\b(?:what|which) (?:files?|documents?|tabs?|buffers?) .{0,20}\b(?:open|see|visible|active|shown)\b"
        r"|\b(?:list|show) .{0,12}\bopen files\b|ファイルが?開いて|開いている?ファイル"
    ),
    Intent.REQUESTS: (
        r"\bwhat (?:did|have) i (?:just |last |first )?(?:ask|asked|say|said|write|written|wrote)(?: you)?(?: (?:first"
        r"|last|before|earlier|so far|just now|now)){0,3}\W*$|\bmy (?:very )?(?:first|last|previous) (?:question"
        r"|message|prompt|request)\b|(?:最初|前|直前|さっき)の?(?:質問|発言)|何を(?:聞|質問)"
    ),
    Intent.TASKS: (
        r"\b(?:left to do|open tasks?|next steps?|to-?dos?|remaining (?:work|tasks?)|what (?:is|are|'s) (?:left|next"
        r"|open))\b|残り|やること|次は何|未完了"
    ),
    Intent.SUMMARY: r"\b(?:summari[sz]e|summary|recap|sum up|tl;?dr|overview|outline)\b|要約|まとめて|概要",
    Intent.MEMORY: (
        r"\b(?:decid|decision|agree|settle|chose|remember|recall|earlier|previously|last time|did (?:i|we|you)\b"
        r"|have (?:i|we)\b|i (?:said|told|asked|gave|wanted)\b|we (?:said|wanted|talked|chose)\b|(?:my|the) (?:rules?"
        r"|preferences?|constraints?)\b|(?:told|gave) you\b)|決め|決定|言った|言いました|以前|さっき|先ほど|覚え|約束|話した|ルール"
    ),
    Intent.THIS: (
        rf"^\W*(?:please )?(?:{_LEAD})\b.{{0,12}}?\b(?:{_THIS})\b|\b(?:the|my) (?:selection|selected)\b"
        rf"|^\W*(?:please )?explain\W*$"
        r"|(?:これ|この(?:コード|関数|ファイル|部分|選択)|選択(?:範囲|部分)?).{0,12}(?:説明|何|なに|教え|直|修正)"
    ),
}
_INTENTS: Final[tuple[tuple[Intent, Callable[[], re.Pattern[str]]], ...]] = tuple(
    (intent, lazy(pattern, re.IGNORECASE)) for intent, pattern in _PATTERNS.items()
)
"""In the order in which they are tried."""

_NAME_LEAD: Final = (
    r"\b(?:where(?: is|'s| are| does| do)|what(?: does| is|'s| do)|define[sd]?|definition of|find|explain|show(?: me)?)"
)
_KINDS: Final = "function|class|method|variable|type|constant|module"
_NAMES: Final = (
    lazy(r"`(?P<name>[^`\n]{1,100})`"),
    lazy(r"[\"“「](?P<name>[^\"”」\n]{1,60})[\"”」]"),
    lazy(
        r"(?<![\w/.])(?P<name>[A-Za-z_]\w*(?:\.\w+)*\(\)|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*"
        r"|[A-Z][a-z0-9]+[A-Z]\w*)(?![\w/])"
    ),
    lazy(rf"(?i:{_NAME_LEAD})(?i: the| an?)?(?i: (?:{_KINDS}))? (?P<name>[A-Za-z_]\w*)"),
    lazy(rf"\b(?P<name>[A-Za-z_]\w*) (?:{_KINDS})\b"),
    lazy(r"(?<![A-Za-z0-9_])(?P<name>[A-Za-z_][A-Za-z0-9_]*+)[ ]?(?=は|を|の(?:定義|説明|場所)|って|とは|が)"),
)
_DOTTED: Final = lazy(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?<!\.py)(?<!\.ts)(?<!\.js)(?<!\.md)(?<!\.rs)(?<!\.go)")
_LINES: Final = lazy(r"\blines? (?P<first>\d{1,7})(?: ?(?:to|-|–|and) ?(?P<last>\d{1,7}))?\b")
_TASK: Final = lazy(r"\btasks?:", re.IGNORECASE)


def read_question(prompt: str) -> Question:
    """Find the question in a prompt, and what kind it is."""
    words = prompt if len(prompt) <= 2 * _READ else f"{prompt[:_READ]}\n\n{prompt[-_READ:]}"
    said = sentences(words)
    asked = [sentence for sentence in said if is_question(sentence)]
    if len(asked) > 1 and any(speaks_of(Intent.MEMORY, sentence) for sentence in asked[-2:]):
        asked[-2:] = [" ".join(asked[-2:])]  # what was said, and where it is: one question
    text = asked[-1] if asked else (prompt.strip() if len(prompt) <= _LONG else next(iter(said), ""))
    stated = (
        ()
        if len(prompt) > _LONG
        else (
            sentence
            for sentence in said
            if not is_question(sentence) and (states(sentence) or _TASK().search(sentence))
        )
    )
    rules = tuple(stated)
    numbers = _LINES().search(words)
    first = int(numbers["first"]) if numbers else 0
    return Question(
        intent=_intent(text, bool(rules) and not asked),
        text=text,
        rules=rules,
        names=tuple(dict.fromkeys(_names_in(text))),
        lines=(first, max(first, int(numbers["last"] or first))) if numbers and first else None,
        brings_text=len(prompt) > _LONG,
    )


def speaks_of(intent: Intent, text: str) -> bool:
    """True if the words of a text alone make it a question of that kind."""
    return dict(_INTENTS)[intent]().search(text[:_READ]) is not None


def states(sentence: str) -> bool:
    """True for a sentence that lays down a rule or a decision."""
    return is_rule(sentence) or is_decision(sentence)


def _intent(text: str, only_rules: bool) -> Intent:
    for intent, pattern in _INTENTS:
        if pattern().search(text[:_READ]):
            return Intent.STATED if only_rules and intent is Intent.MEMORY else intent
    return Intent.STATED if only_rules else Intent.FIND


def _names_in(text: str) -> Iterator[str]:
    for pattern in _NAMES:
        for match in pattern().finditer(text[:_READ]):
            name = match["name"].removesuffix("()").strip()
            yield name.rpartition(".")[2] if _DOTTED().fullmatch(name) else name
