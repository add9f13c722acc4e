"""The sentences of a conversation that say most, spread over all of it: for what no pattern finds, above all in dialogues without tools."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import msgspec

from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.patterns import GREETING
from gemini_companion.engine.facts.sentences import pieces, prose_lines, sentence_spans
from gemini_companion.engine.history.part import has_call, is_thought, text_of

_MOST_CONTENTS: Final = 20_000
"""Contents that are looked at; of a longer conversation, this many spread over it."""
_LONGEST_TEXT: Final = 16_000
"""Characters of one content's text that are looked at."""
_SHORTEST, _LONGEST = 12, 400
_PER_BUCKET: Final = 4
"""Contents that compete for the places of the first round."""
_FIRST_ROUND: Final = 2
"""Places that each of these stretches has in the first round; after it, worth alone counts."""


class KeySentence(msgspec.Struct, frozen=True, gc=False):
    """A sentence worth quoting."""

    index: int
    """Of its content."""
    order: int
    """Its place within the content."""
    speaker: str
    """The name that the content opens with (`Ann: …`), else its role."""
    text: str
    """Word for word."""


_WISHED: Final = 20.0
"""What a word of the guidance adds to a sentence's worth: more than anything else can."""


_LEAST: Final = 1.0
"""Worth below which a sentence is left out even where there is room."""


class _Candidate(NamedTuple):
    sentence: KeySentence
    words: frozenset[str]
    worth: float


def words_of(text: str) -> list[str]:
    """Words in small letters; Chinese, Japanese and Korean as pairs of characters."""
    words: list[str] = []
    for match in _word().finditer(text.lower()):
        word = match.group()
        if word[0] >= "⺀":
            words.extend(word[place : place + 2] for place in range(max(1, len(word) - 1)))
        else:
            words.append(word)
    return words


def key_sentences(sources: Sequence[FactSource], *, guidance: str = "", checkpoint: Callable[[], None] = lambda: None) -> list[KeySentence]:
    """Sentences of users and model, the most telling first: one round over all stretches of the conversation, then the next.

    A sentence tells much if its words are rare in the conversation, if it names people, things, dates or numbers, if it speaks of
    its speaker, gives a reason or answers a question; `guidance` puts what matches its words before all else. Tool outputs and
    greetings are left out.
    """
    said = [source for source in sources if not source.ide_context and any(text_of(part) for part in source.content.parts)]
    if len(said) > _MOST_CONTENTS:
        said = [said[place * len(said) // _MOST_CONTENTS] for place in range(_MOST_CONTENTS)]
    candidates: list[_Candidate] = []
    frequency: Counter[str] = Counter()
    asked = False
    for source in said:
        checkpoint()
        fresh = list(_candidates(source, answers=asked))
        for candidate in fresh:
            frequency.update(candidate.words)
        candidates.extend(fresh)
        asked = bool(fresh) and fresh[-1].sentence.text.rstrip().endswith(("?", "？"))
    wished = frozenset(words_of(guidance)) - _STOP_WORDS
    return _spread(candidates, frequency, wished)


def _spread(candidates: Sequence[_Candidate], frequency: Counter[str], wished: frozenset[str]) -> list[KeySentence]:
    total = len(candidates) + 1

    def worth(candidate: _Candidate) -> float:
        rare = sorted((math.log(total / (1 + frequency[word])) for word in candidate.words), reverse=True)[:8]
        return candidate.worth + sum(rare) / (4.0 + 0.5 * len(rare)) + (_WISHED if wished & candidate.words else 0.0)

    buckets: dict[int, list[tuple[float, _Candidate]]] = {}
    place = -1
    last = -1
    for candidate in candidates:
        if candidate.sentence.index != last:
            last = candidate.sentence.index
            place += 1
        buckets.setdefault(place // _PER_BUCKET, []).append((worth(candidate), candidate))
    scores = sorted(score for bucket in buckets.values() for score, _ in bucket)
    median = scores[len(scores) // 2] if scores else 0.0
    ranked: list[tuple[int, float, int, KeySentence]] = []
    for number, bucket in buckets.items():
        bucket.sort(key=lambda pair: -pair[0])
        for rank, (score, candidate) in enumerate(bucket):
            if score < _LEAST:
                break
            tier = 0 if score >= _WISHED else 1 if rank < _FIRST_ROUND and score >= median else 2
            ranked.append((tier, -score, number, candidate.sentence))
    ranked.sort(key=lambda entry: entry[:3])
    seen: set[str] = set()
    return [sentence for *_, sentence in ranked if not (sentence.text in seen or seen.add(sentence.text))]


def _candidates(source: FactSource, *, answers: bool) -> Iterator[_Candidate]:
    speaker = source.content.role
    order = 0
    acting = has_call(source.content)
    for part in source.content.parts:
        text = text_of(part)
        if not text or is_thought(part):
            continue
        text = next(pieces(text, _LONGEST_TEXT), "")
        heading = _heading().match(text)
        speaker = (heading["name"] if heading else "") or speaker
        for low, high in prose_lines(text):
            for start, end in sentence_spans(text, low, high):
                if heading and start < heading.end():
                    start = heading.end()
                sentence = text[start:end]
                order += 1
                if _SHORTEST <= len(sentence) <= _LONGEST:
                    words = frozenset(words_of(sentence)) - _STOP_WORDS
                    if len(words) > 1:
                        listed = _listed().match(text, low) is not None
                        worth = _worth(sentence, words, answer=answers and order == 1, listed=listed)
                        if acting and _announcing().match(sentence):
                            worth -= 4.0
                        yield _Candidate(KeySentence(source.index, order, speaker, sentence), words, worth)


def _worth(sentence: str, words: frozenset[str], *, answer: bool, listed: bool) -> float:
    """What the form of a sentence says for it, whatever its words."""
    worth = 0.9 * min(3, len(_telling().findall(sentence))) + 0.5 * min(3, len(_name().findall(sentence)))
    if _self().search(sentence):
        worth += 0.8
    if _reason().search(sentence):
        worth += 0.8
    if answer:
        worth += 0.8
    if sentence.endswith(("?", "？")):
        worth -= 1.2
    elif sentence.endswith((":", "：")):
        worth -= 6.0  # what follows it is what it says
    if listed:
        worth -= 1.2
    if sentence.endswith(("!", "！")):
        worth -= 0.3
    if _greeting().match(sentence):
        worth -= 1.5
    return worth + min(len(words), 14) * 0.12


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP_WORDS: Final = _words(
    "a about after all also am an and any are as at be been but by can could did do does doing for from get go got had has have he her him "
    "his how i if in into is it its it's i'm i've just let let's like me more my no not of off on one or our out over really she so some "
    "that that's the their them then there these they this to too up us very was we we're were what when which who will with would you "
    "you're your です ます した ない こと ので から れる して いる ある なる"
)


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[⺀-鿿ｦ-ﾟ가-힣豈-﫿]+|[^\W_⺀-鿿ｦ-ﾟ가-힣豈-﫿]+(?:['’_][^\W⺀-鿿ｦ-ﾟ가-힣豈-﫿]+)*")


@cache
def _listed() -> re.Pattern[str]:
    return re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")


@cache
def _heading() -> re.Pattern[str]:
    """What a line of a transcript opens with: a time in brackets, a speaker's name."""
    return re.compile(r"(?:\[[^\]\n]{3,60}\][ \t]+)?(?P<name>[A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30})?):[ \t]+")


@cache
def heading_time() -> re.Pattern[str]:
    """A time in brackets before anything else in a content."""
    return re.compile(r"\s*(?P<time>\[[^\]\n]{0,40}\d[^\]\n]{0,40}\])[ \t]")


@cache
def _telling() -> re.Pattern[str]:
    days = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
    months = "January|February|March|April|June|July|August|September|October|November|December"
    relative = "yesterday|today|tomorrow|tonight|last|next|ago|since|week|weekend|month|year"
    japanese = "昨日|今日|明日|先週|来週|先月|来月|去年|来年|月曜|火曜|水曜|木曜|金曜|土曜|日曜"
    return re.compile(rf"\d+|`[^`\n]+`|\b(?:{relative}|{days}|{months})\b|{japanese}")


@cache
def _name() -> re.Pattern[str]:
    return re.compile(r"(?<=[a-z,;:'\"(] )[A-Z][\w'-]+|\b[A-Z]{2,}[\w-]*|[\"“「『][^\"”」』\n]{2,60}[\"”」』]")


@cache
def _self() -> re.Pattern[str]:
    return re.compile(r"\b(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Ww]e|[Oo]ur|[Ww]e['’](?:re|ve|ll))\b|私|僕|俺|わたし")


@cache
def _reason() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:because|since|due to|so that|therefore|caused? by|the (?:problem|cause|reason|fix|issue|bug)|turns out|means that|found|decided|chose"
        r"|agreed|plan|fixed|works?|fails?|instead|called|named|started|finished|moved|bought|won|made"
        r"|joined|signed up)\b|ため|なので|原因|決め|決定|修正|見つ"
    )


@cache
def _announcing() -> re.Pattern[str]:
    """What somebody is about to do, which the calls show better."""
    return re.compile(
        r"(?:\w+, )?(?i:let['’]?s|let me|now,? (?:let|i|we)|i(?:['’]ll| will)|we(?:['’]ll| will)|next,? (?:i|we)|first,? (?:i|we|let)"
        r"|please|could you|would you)\b"
    )


@cache
def _greeting() -> re.Pattern[str]:
    return re.compile(rf"(?:{GREETING})")
