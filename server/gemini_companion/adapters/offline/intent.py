"""What a prompt asks for, going by its words."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache


class Intent(Enum):
    """Kinds of prompts that are answered differently."""

    GREETING = "greeting"
    THANKS = "thanks"
    ABILITIES = "abilities"
    OPEN_FILES = "openFiles"
    REQUESTS = "requests"
    SUMMARY = "summary"
    MEMORY = "memory"
    THIS = "this"
    FIND = "find"


def intent_of(prompt: str) -> Intent:
    """The first kind that fits; `FIND` fits everything."""
    head = prompt[:2_000]
    for intent, pattern in _patterns():
        if pattern.search(head):
            return intent
    return Intent.FIND


def named_in(prompt: str) -> list[str]:
    """Names that the prompt speaks of: what stands in backticks or quotes, then identifiers, then other capitalised words."""
    found: list[str] = []
    for pattern in _names():
        found.extend(match["name"] for match in pattern.finditer(prompt[:2_000]))
    return list(dict.fromkeys(name.removesuffix("()").rpartition(".")[2] or name for name in found))


@cache
def _patterns() -> tuple[tuple[Intent, re.Pattern[str]], ...]:
    def words(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    return (
        (Intent.GREETING, words(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|こんにちは|こんばんは|おはよう(?:ございます)?|やあ|もしもし)(?: there| gemini)?\W*$")),
        (Intent.THANKS, words(r"^\W*(?:thanks?(?: you)?(?: so much| a lot)?|thx|ありがとう(?:ございます|ございました)?|どうも)\W*$")),
        (
            Intent.ABILITIES,
            words(r"\b(?:who|what) are you\b|\bwhat can you do\b|\bhow do you work\b|\bare you (?:gemini|offline|a model)|^\W*help\W*$|あなたは(?:誰|何)|何ができ|使い方"),
        ),
        (
            Intent.OPEN_FILES,
            words(r"\b(?:what|which) (?:files?|documents?|tabs?|buffers?)\b.{0,30}\b(?:open|see|visible|active|shown)|\b(?:list|show)\b.{0,12}\bopen files\b|どのファイル|開いている?ファイル"),
        ),
        (
            Intent.REQUESTS,
            words(
                r"\bwhat (?:did|have|was|were) (?:i|my) (?:just |last |first )*(?:ask|asked|say|said|write|wrote|questions?|first|last|previous)\b[^a-z]{0,3}(?:you|before|earlier|so far|first|last|questions?|messages?|\W|$)"
                r"|\bmy (?:first|last|previous) (?:question|message|prompt|request)s?\b|(?:最初|前|直前|さっき)の?(?:質問|発言)|何を(?:聞|質問)"
            ),
        ),
        (Intent.SUMMARY, words(r"\b(?:summari[sz]e|summary|recap|sum up|tl;?dr|overview|outline)\b|要約|まとめて|概要")),
        (
            Intent.MEMORY,
            words(
                r"\b(?:decid|decision|agreed?\b|settled|chose|earlier|before\b|previous|remember|recall|again\?|did (?:i|we|you)\b|have (?:i|we)\b|i (?:said|told|asked|mentioned|want)"
                r"|we (?:said|want|talk|use)|last time|my (?:rule|preference|constraint)|told you)|決め|決定|言った|言いました|以前|さっき|先ほど|覚え|約束|話した"
            ),
        ),
        (
            Intent.THIS,
            words(
                r"^\W*(?:please )?(?:explain|describe|review|fix|check|read|what does|what is|what's|walk me through|ask)\b.{0,24}\b(?:this|it|that|here|selection|selected|above|file|code)\b"
                r"|\b(?:the|my|this) (?:selection|selected)|^\W*explain\W*$|(?:これ|この(?:コード|関数|ファイル|部分|選択)|選択(?:範囲|部分)?).{0,12}(?:説明|何|なに|教え|直|修正|読)"
            ),
        ),
    )


@cache
def _names() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(r"`(?P<name>[^`\n]{1,100})`"),
        re.compile(r"[\"“「](?P<name>[^\"”」\n]{1,60})[\"”」]"),
        re.compile(r"\b(?P<name>[A-Za-z_]\w*(?:\.\w+)*\(\)|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[\w-]+\.[a-z]{1,4})\b"),
        re.compile(r"(?:\bwhere (?:is|are|does|do)|\bwhat (?:does|is|do)|\bdefin(?:e|es|ed|ition of)|\bfind|\bexplain|\bshow(?: me)?)(?: the| an?)?(?: function| class| method| variable| type| constant)? (?P<name>[A-Za-z_]\w*)"),
        re.compile(r"(?P<name>[A-Za-z_]\w*)[ ]?(?=は|を|の(?:定義|説明|場所)|って|とは|が)"),
    )
