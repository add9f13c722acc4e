"""Finding standing rules in a person's prompt, word for word.

Precise rather than eager: a sentence is *plain* if it can hardly be anything but a rule ("never …", "always …", "do
not …" and the like in eleven languages), *probable* if it may well be one. What asks for something once, asks a
question, tells of something, or stands in code, in a quotation or in a pasted log is none. What is forbidden "yet" or
"for now" is forbidden until the person says otherwise.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.constraints import wording
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import has_cjk, is_question, is_request, is_rule
from gemini_companion.engine.facts.sentences import (
    example_spans,
    fenced_spans,
    is_code,
    pasted_spans,
    pieces,
    prose_lines,
    sentence_spans,
)

Certainty: TypeAlias = Literal["plain", "probable", "permission"]

LONGEST_RULE: Final = 600
"""Characters of a sentence that can be a rule; what is longer is an account."""
LOOKED_THROUGH: Final = 200_000
"""Characters of a prompt that are looked through: nobody types more."""
MOST_RULES: Final = 100
"""Rules that one prompt may bring."""

REPORTED: Final = "Only proposed: it may be what somebody else says."
FOR_THIS_TASK: Final = "Only proposed: it may be meant for this one task."
IN_PASSING: Final = "Only proposed: it may be a rule, or said in passing."

_SHORTEST: Final = 6
_CJK_SHORTEST: Final = 4

_CLOSERS: Final = {"“": "”", "„": "“”", "«": "»", "「": "」", "『": "』", '"': '"'}
_OPENER: Final = lazy(r"[“„«「『]|(?<!\w)\"")
_APOSTROPHES: Final = lazy(r"(?<![\w'’])'[^'\n]{1,400}'(?!\w)")
_CODE: Final = lazy(r"`[^`\n]{1,400}`")
_TAG: Final = lazy(r"<(?P<tag>[A-Za-z][\w-]{0,40})(?: [^<>\n]{0,200})?>")
_END_TAG: Final = lazy(r"</(?P<tag>[A-Za-z][\w-]{0,40})>")
_SIGN: Final = lazy(r"[^\n]")


class Found(NamedTuple):
    """A rule as it stands in a prompt."""

    text: str
    certainty: Certainty
    """`permission`: it may take back or replace an earlier rule, and is none by itself."""
    why: str = ""
    """For people: why it is only probable."""


def detect(prompt: str) -> list[Found]:
    """The rules in the words of a prompt, in order, each once. Linear in its length."""
    text = prompt[:LOOKED_THROUGH]
    found: dict[str, Found] = {}
    offset = 0
    for piece in pieces(_blanked(text)):
        judged = _without_quotations(piece)
        for start, end in _sentences(judged):
            if number := _NUMBER().match(judged, start, end):
                start = number.end()
            said = text[offset + start : offset + end]
            verdict = judge(judged[start:end]) if said not in found and _may_be_one(said) else None
            if verdict is not None:
                found[said] = Found(said, *verdict)
                if len(found) == MOST_RULES:
                    return list(found.values())
        offset += len(piece)
    return list(found.values())


def rules_in(prompt: str) -> list[str]:
    """The sentences of a prompt that are rules or may well be, in order."""
    return [one.text for one in detect(prompt) if one.certainty != "permission"]


def judge(sentence: str) -> tuple[Certainty, str] | None:
    """What a person's sentence is, its quotations and code blanked out, and why it is only probable; `None` if it is
    no rule.
    """
    sentence = _NOD().sub("", sentence)
    if is_question(sentence) or wording.LABELLED().match(sentence):
        return None
    lasting = wording.FROM_NOW_ON().search(sentence) is not None
    allows = (wording.PERMISSION().search(sentence) or wording.NEED_NOT().search(sentence)) is not None
    changes = (wording.CHANGES().search(sentence) or wording.ENDS().search(sentence)) is not None
    if not lasting and not wording.STANDING().search(sentence) and _is_once(sentence):
        return ("permission", "") if allows or changes or wording.NOW().match(sentence) else None
    is_plain = _is_plain(sentence)
    if (allows or wording.ENDS().search(sentence)) and not is_plain:
        return "permission", ""
    if is_plain or (lasting and not _tells(wording.FROM_NOW_ON().sub("", sentence)) and _orders(sentence)):
        if wording.REPORTED().search(sentence):
            return "probable", REPORTED
        mixed = is_request(_POLITE().sub("", sentence)) and not has_cjk(sentence) and not lasting
        return ("probable", FOR_THIS_TASK) if mixed else ("plain", "")
    if _tells(sentence):
        return ("permission", "") if changes else None
    if wording.MAY_BE().search(sentence):
        return "probable", IN_PASSING
    if is_rule(sentence) and not is_request(sentence):
        return "probable", IN_PASSING
    return ("permission", "") if changes else None


def _is_once(sentence: str) -> bool:
    """It is over with the work at hand. What is forbidden "yet" or "for now" is not: only the person ends that."""
    if wording.ONCE().search(sentence):
        return True
    return wording.MEANWHILE().search(sentence) is not None and not wording.FORBIDS().search(sentence)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for low, high in prose_lines(text):
        yield from sentence_spans(text, low, high)


def _may_be_one(sentence: str) -> bool:
    least = _CJK_SHORTEST if has_cjk(sentence) else _SHORTEST
    return least <= len(sentence) <= LONGEST_RULE and not is_code(sentence)


def _blanked(text: str) -> str:
    """The text, as long as before, without what was put into it: code, logs, examples, tagged documents."""
    blocks = ((start, end) for start, end, _ in fenced_spans(text))
    kept: list[str] = []
    done = 0
    for start, end in sorted((*blocks, *example_spans(text), *pasted_spans(text), *_tagged_spans(text))):
        if end > done:
            start = max(start, done)
            kept += [text[done:start], _SIGN().sub(" ", text[start:end])]
            done = end
    return "".join(kept) + text[done:]


def _tagged_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of what stands between a tag and its end: a document, a page, a message that was pasted."""
    if "</" not in text:
        return []
    ends: defaultdict[str, deque[int]] = defaultdict(deque)
    for match in _END_TAG().finditer(text):
        ends[match["tag"]].append(match.end())
    spans: list[tuple[int, int]] = []
    done = 0
    for match in _TAG().finditer(text):
        closing = ends[match["tag"]]
        while closing and closing[0] <= match.end():
            closing.popleft()
        if match.start() >= done and closing:
            done = closing.popleft()
            spans.append((match.start(), done))
    return spans


def _without_quotations(text: str) -> str:
    """The text, as long as before, its quotations and inline code filled with the letter x."""
    text = _APOSTROPHES().sub(_filled, _CODE().sub(lambda match: f"`{'x' * (len(match[0]) - 2)}`", text))
    return "\n".join(map(_line_without_quotations, text.split("\n")))


def _line_without_quotations(line: str) -> str:
    """One that is not closed goes on to the end of the line."""
    kept: list[str] = []
    done = 0
    while (opened := _OPENER().search(line, done)) is not None:
        closers = [at for sign in _CLOSERS[opened[0]] if (at := line.find(sign, opened.end())) >= 0]
        end = min(closers) + 1 if closers else len(line)
        quoted = line[opened.start() : end]
        kept += [line[done : opened.start()], quoted if _is_name(quoted) else "x" * len(quoted)]
        done = end
    return "".join(kept) + line[done:]


def _filled(match: re.Match[str]) -> str:
    return match[0] if _is_name(match[0]) else "x" * len(match[0])


def _is_name(quoted: str) -> bool:
    """A quoted word names something; quoted words say something."""
    return len(quoted) <= 40 and len(quoted.split()) == 1 and not has_cjk(quoted)


def _is_plain(sentence: str) -> bool:
    if has_cjk(sentence):
        if wording.HANGUL().search(sentence):
            return wording.KOREAN().search(sentence) is not None and not wording.KOREAN_TOLD().search(sentence)
        if wording.KANA().search(sentence):
            return (
                wording.JAPANESE().search(sentence) is not None
                and wording.JAPANESE_ORDERS().search(sentence) is not None
            )
        return wording.CHINESE().search(sentence) is not None and not wording.CHINESE_TOLD().match(sentence)
    if wording.ENGLISH().search(sentence):
        return True
    if wording.RUSSIAN().search(sentence):
        return not wording.RUSSIAN_TOLD().match(sentence)
    if wording.TURKISH().search(sentence):
        return not wording.TURKISH_TOLD().search(sentence)
    if _is_german_order(sentence) and wording.GERMAN_WORDS().search(sentence):
        return not wording.GERMAN_TOLD().match(sentence)
    if wording.HINDI_WORDS().search(sentence) and wording.HINDI().search(sentence):
        return wording.HINDI_TOLD().search(sentence) is None
    if wording.FRENCH().search(sentence):
        return not wording.FRENCH_TOLD().match(sentence)
    if wording.PORTUGUESE_WORDS().search(sentence) and wording.PORTUGUESE().search(sentence):
        return not wording.PORTUGUESE_TOLD().match(sentence)
    return wording.SPANISH().search(sentence) is not None and not wording.SPANISH_TOLD().match(sentence)


def _is_german_order(sentence: str) -> bool:
    if wording.GERMAN_ALWAYS().search(sentence) and wording.GERMAN_ORDERS().search(sentence):
        return True
    return wording.GERMAN().search(sentence) is not None


def _tells(sentence: str) -> bool:
    if has_cjk(sentence):
        if wording.HANGUL().search(sentence):
            return wording.KOREAN().search(sentence) is None
        if wording.KANA().search(sentence):
            return wording.JAPANESE_ORDERS().search(sentence) is None
        return (
            wording.CHINESE_TOLD().match(sentence) is not None or wording.CHINESE_STATES().search(sentence) is not None
        )
    if any(told().match(sentence) for told in _TOLD) or _NARRATOR().match(sentence):
        return True
    return wording.HINDI_TOLD().search(sentence) is not None


_NOD: Final = lazy(r"(?i)[, ]{1,3}(?:ok(?:ay)?|alright|please|ja|vale|d['’]accord|t(?:á|a) bom|theek hai)[ ]?\?{1,3}$")
"""It asks for a nod, and nothing else."""
_NUMBER: Final = lazy(r"(?:\d{1,3}[.)][ \t]{1,4})?")
_POLITE: Final = lazy(r"(?i)^\W{0,6}(?:bitte|please|por favor|s['’]il (?:te|vous) pla[iî]t)\b[ ,]{0,3}")
_NARRATOR: Final = lazy(
    r"(?i)\W{0,6}(?:(?:i|he|she|they|it|we)['’ ](?!want|prefer|expect|need you|never|always|only|do not|don['’]t"
    r"|d (?:rather|prefer|much)|would (?:rather|prefer)|settled|agreed|stick)"
    r"|(?!need|feed|embed|seed)\w{2,20}ed\b)"
)
_TOLD: Final = (
    wording.GERMAN_TOLD,
    wording.FRENCH_TOLD,
    wording.SPANISH_TOLD,
    wording.PORTUGUESE_TOLD,
)


def _orders(sentence: str) -> bool:
    """A sentence about the time from here on that says what to do, and not what will be."""
    if wording.KANA().search(sentence):
        return wording.JAPANESE_ORDERS().search(sentence) is not None
    return len(sentence.split()) > 3 or has_cjk(sentence)
