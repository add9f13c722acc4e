"""The contents that a snapshot replaces, with what was found in them once."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from heapq import nlargest
from itertools import groupby, pairwise
from typing import Final, NamedTuple, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.facts.actions import Action, Outcome, Touch, outcome_of, read_actions, touches
from gemini_companion.engine.facts.extract import speaker_of
from gemini_companion.engine.facts.fact import Fact, FactKind, FactReader, FactSource
from gemini_companion.engine.facts.key_sentences import words_of
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.facts.rules import is_request
from gemini_companion.engine.facts.sentences import example_spans, sentence_spans
from gemini_companion.engine.facts.statements import Statement, same_as, tokens_in
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import has_call, is_plain_user, text_of, visible_text

RECENT: Final = 20
"""Contents at the end of the span whose paths, commands and rules come before all else."""

_OLD_CONTENTS: Final = 4_000
"""Contents, or calls, that are searched for older facts, newest first."""
_OWN_WORDS: Final = 2_000
"""Contents whose sentences are weighed, newest first: an earlier snapshot has the goal of those before them."""
_LONGEST_LINE: Final = 240
"""Characters of a line that is quoted whole for one rule in it, which may say what `only` and `it` mean."""
_MOST_JUDGED: Final = 40
"""Older contents in which rules are read; in those before them patterns find them."""
_PROMPTS: Final = 40_000
"""Characters of the newest prompts in which rules are read beside a record."""
_NEWEST_WISHES: Final = 3
_FIRST_WISHES: Final = 4
"""Sentences of the goal: what was said last, and what opened up a matter that stayed."""
_LEANS: Final = 16.0
"""Tokens up to which a sentence stands with the one before it."""
_COMMON: Final = 0.5
"""Share of the contents in which a word stands that tells nothing of a matter."""
_TIME: Final = lazy(r"\s*(?P<time>\[[^\]\n]{0,40}\d[^\]\n]{0,40}\])[ \t]")


class Said(NamedTuple):
    """A sentence of somebody's own words."""

    place: int
    """Of its content; from `len(sources)` on it stands behind what is hidden, at -1 in the earlier snapshot."""
    by_user: bool
    statement: Statement
    text: str
    speaker: str
    """The name that its content opens with (`Ann: …`); `""` for none: then it may be asked of the model."""


class Standing(Protocol):
    """A rule that holds."""

    @property
    def prompt(self) -> int:
        """The number of the prompt that lays it down, -1 for none."""
        ...

    @property
    def text(self) -> str:
        """Word for word."""
        ...


LeftStanding: TypeAlias = Callable[[Iterable[str], Iterable[str]], Sequence[Standing]]
"""What prompts leave standing of their rules, and of those before them."""


class Span:
    """What is hidden, in order, and the snapshot of what came before it. A *place* is an index into `sources`."""

    def __init__(
        self,
        sources: Sequence[FactSource],
        previous: str | None,
        poll: Callable[[], None],
        later: Sequence[Content] = (),
        reader: FactReader | None = None,
        rules_in: Callable[[str], Sequence[str]] | None = None,
        left_standing: LeftStanding | None = None,
    ) -> None:
        self._reader = reader or FactCache()
        self._rules_in = rules_in
        self._left_standing = left_standing
        self.in_force: set[int] = set()
        """Rules that stand beside the snapshot: see `same_as`."""
        self.released: set[int] = set()
        """Rules that hold no more."""
        self._judged = 0
        self.sources = sources
        self.later = later
        """What stands behind it."""
        self.earlier = read_earlier(previous)
        """The entries of the earlier snapshot by section."""
        self.poll = poll
        own = [place for place, source in enumerate(sources) if not source.ide_context]
        self.recent_from = own[-RECENT] if len(own) > RECENT else 0
        """The place of the first recent content; the editor's state does not count as one."""
        self._facts: dict[int, Sequence[Fact]] = {}
        self._outcomes: dict[int, Outcome] = {}

    @property
    def recent(self) -> range:
        """The places of the recent contents, newest first."""
        return range(len(self.sources) - 1, self.recent_from - 1, -1)

    def found(self, *kinds: FactKind, recent: bool = False) -> Iterator[tuple[FactSource, int, Fact]]:
        """Every fact of some kinds with its content and its number there, newest content first."""
        last = len(self.sources) - 1
        for place in self.recent if recent else range(last, max(-1, last - _OLD_CONTENTS), -1):
            for number, fact in enumerate(self.facts(place)):
                if fact.kind in kinds:
                    yield self.sources[place], number, fact

    @cached_property
    def actions(self) -> list[Action]:
        """Every call, in order."""
        return read_actions(self.sources)

    @property
    def newest_actions(self) -> list[tuple[int, Action]]:
        """The calls with their number among all, newest first, as far as they are searched."""
        return list(enumerate(self.actions))[: -_OLD_CONTENTS - 1 : -1]

    @cached_property
    def recent_actions(self) -> list[tuple[int, Action]]:
        """Those of the recent contents."""
        first = self.sources[self.recent_from].index if self.sources else 0
        return [(number, action) for number, action in self.newest_actions if action.index >= first]

    def outcome(self, number: int) -> Outcome:
        """What came of a call."""
        if number not in self._outcomes:
            self.poll()
            self._outcomes[number] = outcome_of(self.actions[number])
        return self._outcomes[number]

    def touches(self, number: int) -> list[Touch]:
        """The files that a call named, and what it did to them."""
        return list(touches(self.actions[number], self.outcome(number)))

    def facts(self, place: int) -> Sequence[Fact]:
        """The facts of a content."""
        if place not in self._facts:
            self.poll()
            source = self.sources[place]
            facts = self._reader.facts_of(source)
            if facts and facts[0].index != source.index:
                facts = [msgspec.structs.replace(fact, index=source.index) for fact in facts]
            self._facts[place] = facts
        return self._facts[place]

    def rules(self, place: int) -> Iterator[tuple[str, str]]:
        """The rules of a content; those of one line together, a short line with a single one whole. Behind each the
        same without the rest of its line.
        """
        if self._rules_in is not None and place >= self.recent_from:
            yield from self._read_rules(place, self._rules_in)
            return
        directives = [fact for fact in self.facts(place) if fact.kind == "directive"]
        if directives and self._rules_in is not None and self._judged < _MOST_JUDGED:
            self._judged += 1
            yield from self._read_rules(place, self._rules_in)
            return
        for line, facts in groupby(directives, key=lambda fact: fact.line):
            rules = [fact.text for fact in facts]
            whole = len(rules) == 1 and len(line) <= _LONGEST_LINE and not is_request(line)
            bare = " ".join(rules)
            yield line if whole else bare, bare

    def rules_left(self) -> Iterator[tuple[int, str]]:
        """The place of each rule that still holds and need not be told elsewhere, newest first; -1 for one of the
        earlier snapshot. Of long histories the newest prompts are read.
        """
        if self._left_standing is None:
            for place in range(len(self.sources) - 1, -1, -1):
                yield from ((place, rule) for rule, _ in self.rules(place))
            yield from ((-1, entry) for entry in self.earlier["active_constraints"])
            return
        told = self.in_force | self.released
        places, left = deque[tuple[int, str]](), _PROMPTS
        for place in range(len(self.sources) - 1, max(-1, len(self.sources) - 1 - _OWN_WORDS), -1):
            source = self.sources[place]
            if source.ide_context or not is_plain_user(source.content):
                continue
            self.poll()
            text = visible_text(source.content)[:left]
            places.appendleft((place, text))
            left -= len(text)
            if left <= 0:
                break
        behind = [visible_text(content) for content in self.later if is_plain_user(content)]
        before = [entry.removeprefix("- ") for entry in self.earlier["active_constraints"]]
        for rule in reversed(self._left_standing((*(text for _, text in places), *behind), before)):
            if rule.prompt < len(places) and same_as(rule.text) not in told:
                yield places[rule.prompt][0] if rule.prompt >= 0 else -1, rule.text

    def _read_rules(self, place: int, rules_in: Callable[[str], Sequence[str]]) -> Iterator[tuple[str, str]]:
        source = self.sources[place]
        if source.ide_context or not is_plain_user(source.content):
            return
        self.poll()
        text = visible_text(source.content)
        for line, rules in groupby(rules_in(text), key=partial(_line_of, text)):
            said = list(rules)
            bare = " ".join(said)
            if len(line) <= _LONGEST_LINE and not is_request(line):
                yield line, bare
                continue
            behind = line[line.find(said[-1]) + len(said[-1]) :] if said[-1] in line else ""
            low, high = next(sentence_spans(behind), (0, 0))
            leans = low < high and tokens_in(behind[low:high]) <= _LEANS
            yield f"{bare}{behind[:high]}" if leans else bare, bare

    def requests(self, *, newest_first: bool = False) -> Iterator[FactSource]:
        """What people said; tool results and the editor's state are left out."""
        for source in reversed(self.sources) if newest_first else self.sources:
            if not source.ide_context and is_plain_user(source.content) and visible_text(source.content).strip():
                yield source

    @cached_property
    def last_answer(self) -> FactSource | None:
        """The newest content in which the model said something."""
        said = (s for s in reversed(self.sources) if s.content.role == "model" and visible_text(s.content).strip())
        return next(said, None)

    @cached_property
    def said(self) -> list[Said]:
        """What people and the model said in their own words, in order; of the newest contents."""
        first, end = max(0, len(self.sources) - _OWN_WORDS), len(self.sources)
        said = [*self.sources[first:], *(FactSource(end + n, one, -1) for n, one in enumerate(self.later))]
        found: list[Said] = []
        for place, source in enumerate(said, first):
            self.poll()
            by_user = source.content.role == "user"
            if source.ide_context or (by_user and not is_plain_user(source.content)):
                continue
            statements = [one for one in self._reader.statements(source) if not one.is_material]
            for part, group in groupby(statements, key=lambda one: one.part):
                text = text_of(source.content.parts[part]) or ""
                speaker, begin = speaker_of(text) if by_user and self.is_talk else ("", 0)
                shown = example_spans(text)
                for one in group:
                    if not any(low <= one.start < high for low, high in shown):
                        words = text[max(begin, one.start) : one.end].strip()
                        found.append(Said(place, by_user, one, words, speaker))
        return found

    @property
    def talk_share(self) -> float:
        """How much of the recent contents is talk, neither calls nor results: 1 where a third of them is."""
        return max(0.0, min(1.0, 3 * (1 - 2 * len(self.recent_actions) / max(1, len(self.recent)))))

    @cached_property
    def is_talk(self) -> bool:
        """Whether people talk to each other: most of what they say opens with a name, not `New job: …` now and then."""
        texts = [visible_text(source.content) for source in self.requests()]
        return 2 * sum(bool(speaker_of(text)[0]) for text in texts) > len(texts)

    def goal(self) -> list[Said]:
        """Sentences of people that say what is wanted now, the most telling first: of the newest ones the long ones,
        and those that opened up a matter which was spoken of again and again: with words that were new and stayed.
        """
        earlier = [
            Said(-1, True, Statement(0, number, 0, tokens_in(entry), 0.0, False, same_as(entry)), entry, "")
            for number, entry in enumerate(self.earlier["overall_goal"])
        ]
        said = [*earlier, *self.said]
        spoken: dict[int, set[str]] = {}
        opened: list[set[str]] = []
        """Of each sentence the words that nobody had said before."""
        heard: set[str] = set()
        for one in said:
            words = {word for word in words_of(one.text) if len(word) > 1}
            spoken.setdefault(one.place, set()).update(words)
            opened.append(words - heard)
            heard |= words
        times = Counter(word for words in spoken.values() for word in words)
        common = max(3, _COMMON * len(spoken))
        wishes = [(one, new) for one, new in zip(said, opened, strict=True) if one.by_user]
        wishes = [wish for wish in wishes if not wish[0].speaker] or wishes[:1]
        prompts = {place: number for number, place in enumerate(dict.fromkeys(one.place for one, _ in wishes))}

        def newness(wish: tuple[Said, set[str]]) -> float:
            one, _ = wish
            return 4 * prompts[one.place] / max(1, len(prompts) - 1) + 0.5 * math.log1p(one.statement.tokens)

        def stayed(wish: tuple[Said, set[str]]) -> float:
            return sum(math.log(times[word]) for word in wish[1] if times[word] <= common)

        newest = nlargest(_NEWEST_WISHES, wishes, key=newness)
        rest = [wish for wish in wishes if wish not in newest]
        return [one for one, _ in (*newest, *nlargest(_FIRST_WISHES, rest, key=stayed))]

    def following(self, one: Said, longest: int) -> tuple[Said, str] | None:
        """The short sentence behind one on the same line, and both as they stand there: it may be half of what was
        meant. None where both are longer than so many characters.
        """
        after = self._after.get((one.place, one.statement.part, one.statement.start))
        if after is None or after.statement.tokens > _LEANS:
            return None
        text = text_of(self._content_at(one.place).parts[one.statement.part]) or ""
        between = text[one.statement.end : after.statement.start]
        both = f"{one.text}{between}{after.text}"
        return None if between.strip() or "\n" in between or len(both) > longest else (after, both)

    @cached_property
    def _after(self) -> dict[tuple[int, int, int], Said]:
        pairs = (pair for pair in pairwise(self.said) if pair[0].place == pair[1].place)
        return {
            (one.place, one.statement.part, one.statement.start): after
            for one, after in pairs
            if one.statement.part == after.statement.part
        }

    def _content_at(self, place: int) -> Content:
        hidden = len(self.sources)
        return self.sources[place].content if place < hidden else self.later[place - hidden]

    def last_word(self, limit: int) -> str:
        """How the model's newest words end, where nothing stands behind them: else they are out of date."""
        if self.later or self.last_answer is None:
            return ""
        text = visible_text(self.last_answer.content).strip()
        shown = text if len(text) <= limit else f"(+{len(text) - limit:,} characters) … {text[-limit:].lstrip()}"
        return f"- Last word of the model: {shown}"

    @cached_property
    def pending(self) -> FactSource | None:
        """The newest request, if nothing answered it: the model only called tools since."""
        latest = next(self.requests(newest_first=True), None)
        if latest is None:
            return None
        since = (*(source.content for source in self.sources if source.index > latest.index), *self.later)
        over = any(is_plain_user(one) if one.role == "user" else not has_call(one) for one in since)
        return None if over else latest

    def times(self) -> dict[int, tuple[str, int]]:
        """For each content of a transcript with times: the newest time, and the index of the content that gave it."""
        times: dict[int, tuple[str, int]] = {}
        last: tuple[str, int] | None = None
        for source in self.sources:
            text = next((text for part in source.content.parts if (text := text_of(part))), "")
            if text.startswith("[") and (match := _TIME().match(text)):
                last = match["time"], source.index
            if last:
                times[source.index] = last
        return times


def _line_of(text: str, sentence: str) -> str:
    """The line of a text that a sentence of it begins in."""
    at = max(0, text.find(sentence))
    end = text.find("\n", at + len(sentence))
    return text[text.rfind("\n", 0, at) + 1 : len(text) if end < 0 else end].strip()
