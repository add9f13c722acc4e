"""The contents that a snapshot replaces, with what was found in them once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Final

from gemini_companion.engine.facts.actions import Action, Outcome, Touch, head, outcome_of, read_actions, touches
from gemini_companion.engine.facts.extract import condensed, facts_of
from gemini_companion.engine.facts.fact import Fact, FactKind, FactSource
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import GREETING, is_request
from gemini_companion.engine.history.content import Content, visible_text_of
from gemini_companion.engine.history.part import is_plain_user, text_of, visible_text

RECENT: Final = 20
"""Contents at the end of the span whose paths, commands and rules come before all else."""

_OLD_CONTENTS: Final = 4_000
"""Contents, or calls, that are searched for older facts, newest first."""
_LONGEST_LINE: Final = 240
"""Characters of a line that is quoted whole for one rule in it, which may say what `only` and `it` mean."""
_GREETING_CHARACTERS: Final = 40
_TIME: Final = lazy(r"\s*(?P<time>\[[^\]\n]{0,40}\d[^\]\n]{0,40}\])[ \t]")


class Span:
    """What is hidden, in order, and the snapshot of what came before it. A *place* is an index into `sources`."""

    def __init__(self, sources: Sequence[FactSource], previous: str | None, poll: Callable[[], None]) -> None:
        self.sources = sources
        self.earlier = read_earlier(previous)
        """The entries of the earlier snapshot by section."""
        self.poll = poll
        own = [place for place, source in enumerate(sources) if not source.ide_context]
        self.recent_from = own[-RECENT] if len(own) > RECENT else 0
        """The place of the first recent content; the editor's state does not count as one."""
        self._facts: dict[int, list[Fact]] = {}
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

    def facts(self, place: int) -> list[Fact]:
        """The facts of a content."""
        if place not in self._facts:
            self.poll()
            self._facts[place] = facts_of(self.sources[place])
        return self._facts[place]

    def rules(self, place: int) -> Iterator[str]:
        """The rules of a content; those of one line together, a short line with a single one whole."""
        directives = (fact for fact in self.facts(place) if fact.kind == "directive")
        for line, facts in groupby(directives, key=lambda fact: fact.line):
            rules = [fact.text for fact in facts]
            whole = len(rules) == 1 and len(line) <= _LONGEST_LINE and not is_request(line)
            yield line if whole else " ".join(rules)

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

    def goal(self, limit: int) -> str:
        """The goal of the earlier snapshot, else the first request that is more than a greeting; empty if neither."""
        if earlier := "\n".join(self.earlier["overall_goal"]):
            return head(earlier, 2 * limit)
        said = (condensed(_request(source.content)) for source in self.requests())
        first = next((text for text in said if len(text) > _GREETING_CHARACTERS or not GREETING().match(text)), "")
        first = first or next((condensed(_request(source.content)) for source in self.requests()), "")
        return f"First request, word for word: {head(first, limit)}" if first else ""

    def last_words(self, limit: int) -> Iterator[str]:
        """The newest request, unless it is the first, and the model's newest words."""
        latest, answer = next(self.requests(newest_first=True), None), self.last_answer
        if latest is not None and (latest is not next(self.requests()) or self.earlier["overall_goal"]):
            pending = "" if answer is not None and answer.index > latest.index else " (not answered yet)"
            yield f"- Latest request{pending}: {head(condensed(_request(latest.content)), limit)}"
        if answer is not None:
            text = visible_text(answer.content).strip()
            shown = text if len(text) <= limit else f"(+{len(text) - limit:,} characters) … {text[-limit:].lstrip()}"
            yield f"- Last word of the model: {shown}"

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


def _request(content: Content) -> str:
    """The text of a request: its parts stand apart, as what is looked for was found in each by itself."""
    return "\n".join(filter(None, (visible_text_of((part,)) for part in content.parts)))
