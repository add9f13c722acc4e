"""The sentences of a conversation that say most, spread over all of it: for what no pattern finds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from typing import Final, TypeAlias

import msgspec

from gemini_companion.engine.facts.extract import condensed, speaker_of
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import GREETING, is_announcement, is_question
from gemini_companion.engine.facts.sentences import is_code, pieces, prose_lines, sentence_spans
from gemini_companion.engine.history.part import has_call, is_thought, text_of

_MOST_CONTENTS: Final = 20_000
"""Contents that are looked at; of a longer conversation, this many spread over it."""
_LONGEST_TEXT: Final = 16_000
"""Characters of one content's text that are looked at."""
_MOST_CHARACTERS: Final = 262_144
"""The same, with examples."""
_SHORTEST, _LONGEST = 12, 400
_PER_BUCKET: Final = 4
"""Contents that compete for the places of the first round."""
_FIRST_ROUND: Final = 2
"""Places that each of these stretches has in the first round; after it, worth alone counts."""
_WISHED: Final = 20.0
"""What a word of the guidance adds to a sentence's worth: more than anything else can."""
_LEAST: Final = 1.0
"""Worth below which a sentence is left out even where there is room."""

_WORD: Final = lazy(r"[⺀-鿿ｦ-ﾟ가-힣豈-﫿]+|[^\W_⺀-鿿ｦ-ﾟ가-힣豈-﫿]+(?:['’_][^\W⺀-鿿ｦ-ﾟ가-힣豈-﫿]+)*")
_LISTED: Final = lazy(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_TELLING: Final = lazy(
    r"\d+|`[^`\n]+`|\b(?:yesterday|today|tomorrow|tonight|last|next|ago|since|week|weekend|month|year|Monday|Tuesday"
    r"|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|June|July|August|September|October"
    r"|November|December)\b|昨日|今日|明日|先週|来週|先月|来月|去年|来年|[月火水木金土日]曜|昨天|今天|明天|上周|下周|gestern|heute|morgen"
)
_NAME: Final = lazy(r"(?<=[a-z,;:'\"(] )[A-Z][\w'-]+|\b[A-Z]{2,}[\w-]*|[\"“「『][^\"”」』\n]{2,60}[\"”」』]")
_OWN: Final = lazy(
    r"\b(?:I|I['’](?:m|ve|d|ll)|[Mm]y|[Ww]e|[Oo]ur|[Ww]e['’](?:re|ve|ll)|ich|mein\w*|wir)\b|私|僕|俺|わたし|我"
)
_REASON: Final = lazy(
    r"\b(?:because|since|due to|so that|therefore|caused? by|the (?:problem|cause|reason|fix|issue|bug)|turns out"
    r"|means that|found|decided|chose|agreed|plan|fixed|works?|fails?|instead|called|named|started|finished|moved"
    r"|bought|won|made|joined|signed up|returns?|equal to|requires?|weil|ursache|behoben)\b|ため|なので|原因|決め|決定|修正|見つ|因为"
    r"|决定|修复|发现"
)
_STOP_WORDS: Final = frozenset(
    "a about after all also am an and any are as at be been but by can could did do does doing for from get go got had "  # noqa: SIM905
    "has have he her him his how i if in into is it its it's i'm i've just let let's like me more my no not of off on "
    "one or our out over really she so some that that's the their them then there these they this to too up us very "
    "was we we're were what when which who will with would you you're your der die das und ist nicht ein eine です ます した "
    "ない こと ので から れる して いる ある "
    "なる".split()
)


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


_Candidate: TypeAlias = tuple[KeySentence, frozenset[str], float]
"""A sentence, its words, and what its form is worth."""


def words_of(text: str) -> list[str]:
    """Words in small letters; Chinese, Japanese and Korean as pairs of characters."""
    words: list[str] = []
    for word in _WORD().findall(text.lower()):
        pairs = (word[place : place + 2] for place in range(max(1, len(word) - 1)))
        words.extend(pairs if word[0] >= "⺀" else (word,))
    return words


def key_sentences(
    sources: Sequence[FactSource], *, guidance: str = "", poll: Callable[[], None] = lambda: None
) -> list[KeySentence]:
    """Sentences of users and model, the most telling first: a round over all of the conversation, then the next.

    A sentence tells much if its words are rare in the conversation, if it names people, things, dates or numbers, if
    it speaks of its speaker, gives a reason or answers a question; `guidance` puts what matches its words before all
    else. Tool outputs, greetings, questions of the model and what it announces beside its calls are left out.
    """
    said = [source for source in sources if not source.ide_context and any(map(text_of, source.content.parts))]
    if len(said) > _MOST_CONTENTS:
        said = [said[place * len(said) // _MOST_CONTENTS] for place in range(_MOST_CONTENTS)]
    candidates: list[_Candidate] = []
    asked = False
    for source in said:
        poll()
        fresh = list(_candidates(source, answers=asked))
        candidates.extend(fresh)
        asked = bool(fresh) and is_question(fresh[-1][0].text)
    return _spread(candidates, frozenset(words_of(guidance)) - _STOP_WORDS)


def _spread(candidates: Sequence[_Candidate], wished: frozenset[str]) -> list[KeySentence]:
    frequency = Counter(word for _, words, _ in candidates for word in words)
    total = len(candidates) + 1
    buckets: dict[int, list[tuple[float, KeySentence]]] = {}
    place = last = -1
    for sentence, words, form in candidates:
        place += sentence.index != last
        last = sentence.index
        rare = nlargest(8, (math.log(total / (1 + frequency[word])) for word in words))
        worth = form + sum(rare) / (4.0 + 0.5 * len(rare)) + _WISHED * bool(wished & words)
        buckets.setdefault(place // _PER_BUCKET, []).append((worth, sentence))
    scores = sorted(score for bucket in buckets.values() for score, _ in bucket)
    median = scores[len(scores) // 2] if scores else 0.0
    ranked: list[tuple[int, float, KeySentence]] = []
    for bucket in buckets.values():
        for rank, (score, sentence) in enumerate(sorted(bucket, key=lambda pair: -pair[0])):
            if score >= _LEAST:
                tier = 0 if score >= _WISHED else 1 if rank < _FIRST_ROUND and score >= median else 2
                ranked.append((tier, -score, sentence))
    ranked.sort(key=lambda entry: entry[:2])
    return list({sentence.text: sentence for *_, sentence in reversed(ranked)}.values())[::-1]


def _candidates(source: FactSource, *, answers: bool) -> Iterator[_Candidate]:
    speaker = source.content.role
    order = 0
    acting = has_call(source.content)
    for part in source.content.parts:
        text = text_of(part)
        if not text or is_thought(part):
            continue
        text = next(pieces(condensed(text[:_MOST_CHARACTERS], notes=False), _LONGEST_TEXT), "")
        name, begin = speaker_of(text)
        speaker = name or speaker
        for low, high in prose_lines(text):
            if is_code(text, low, high):
                continue
            listed = _LISTED().match(text, low) is not None
            for start, end in sentence_spans(text, low, high):
                sentence = text[max(start, begin) if begin < end else start : end]
                order += 1
                by_model = source.content.role == "model" and not name
                if not _SHORTEST <= len(sentence) <= _LONGEST or ((acting or by_model) and is_announcement(sentence)):
                    continue
                words = frozenset(words_of(sentence)) - _STOP_WORDS
                if len(words) > 1:
                    worth = _worth(sentence, words, answer=answers and order == 1, listed=listed)
                    yield KeySentence(source.index, order, speaker, sentence), words, worth


def _worth(sentence: str, words: frozenset[str], *, answer: bool, listed: bool) -> float:
    """What the form of a sentence says for it, whatever its words."""
    worth = 0.9 * min(3, len(_TELLING().findall(sentence))) + 0.5 * min(3, len(_NAME().findall(sentence)))
    worth += 0.8 * (bool(_OWN().search(sentence)) + bool(_REASON().search(sentence)) + answer) - 1.2 * listed
    worth -= {"?": 1.2, "？": 1.2, "!": 0.3, "！": 0.3, ":": 6.0, "：": 6.0}.get(sentence[-1], 0.0)
    return worth - 1.5 * (GREETING().match(sentence) is not None) + min(len(words), 14) * 0.12
