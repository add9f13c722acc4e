"""The contents that a snapshot replaces, with what was found in them once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from gemini_companion.engine.facts.actions import Action, read_actions
from gemini_companion.engine.facts.earlier import read_earlier
from gemini_companion.engine.facts.extract import directives_in, facts_of, is_code
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.facts.key_sentences import heading_time
from gemini_companion.engine.facts.outcomes import Outcome, Touch, outcome_of, touches
from gemini_companion.engine.facts.patterns import directive_cue
from gemini_companion.engine.facts.sentences import prose_lines
from gemini_companion.engine.history.part import is_plain_user, text_of, visible_text

RECENT: Final = 20
"""Contents at the end of the span whose paths, commands and directives come before all else."""

_CLOSE: Final = 120
"""Characters between two directives of a line that are quoted along with them."""
_LONGEST_LINE: Final = 600
"""Characters of a line that is quoted whole for one directive in it."""


class Directive(NamedTuple):
    """A stretch of one or more directives of a content."""

    text: str
    line: str
    """The line that it stands in, or the stretch again where that is too long."""
    certain: bool


class Span:
    """What is hidden, in order, and the snapshot of what came before it. A *place* is an index into `sources`."""

    def __init__(self, sources: Sequence[FactSource], previous: str | None, checkpoint: Callable[[], None]) -> None:
        self.sources = sources
        self.earlier = read_earlier(previous)
        """The entries of the earlier snapshot by section."""
        self.checkpoint = checkpoint
        own = [place for place, source in enumerate(sources) if not source.ide_context]
        self.recent_from = own[-RECENT] if len(own) > RECENT else 0
        """The place of the first recent content; the editor's state does not count as one."""
        self._facts: dict[int, list[Fact]] = {}
        self._outcomes: dict[int, Outcome] = {}

    @property
    def recent(self) -> range:
        """The places of the recent contents, newest first."""
        return range(len(self.sources) - 1, self.recent_from - 1, -1)

    def newest_first(self, most: int) -> Iterator[int]:
        """The places of all contents, newest first, at most so many."""
        yield from range(len(self.sources) - 1, max(-1, len(self.sources) - 1 - most), -1)

    @cached_property
    def actions(self) -> list[Action]:
        """Every call, in order."""
        return read_actions(self.sources)

    @cached_property
    def recent_actions(self) -> list[tuple[int, Action]]:
        """The calls of the recent contents with their number among all, newest first."""
        if not self.sources:
            return []
        first = self.sources[self.recent_from].index
        numbered = [(number, action) for number, action in enumerate(self.actions) if action.index >= first]
        return numbered[::-1]

    def outcome(self, number: int) -> Outcome:
        """What came of a call."""
        if number not in self._outcomes:
            self.checkpoint()
            self._outcomes[number] = outcome_of(self.actions[number])
        return self._outcomes[number]

    def touches(self, number: int) -> list[Touch]:
        """The files that a call named, and what it did to them."""
        return list(touches(self.actions[number], self.outcome(number)))

    def facts(self, place: int) -> list[Fact]:
        """The facts of a content."""
        if place not in self._facts:
            self.checkpoint()
            self._facts[place] = facts_of(self.sources[place])
        return self._facts[place]

    def directives(self, place: int) -> Iterator[Directive]:
        """The directives of a content; those that follow each other closely in a line are one stretch, with what stands between."""
        source = self.sources[place]
        if source.ide_context or not is_plain_user(source.content):
            return
        self.checkpoint()
        sure = directive_cue(certain=True)
        for part in source.content.parts:
            text = text_of(part) or ""
            spans = iter(directives_in(text))
            span = next(spans, None)
            for low, high in prose_lines(text) if span else ():
                stretches: list[tuple[int, int]] = []
                while span is not None and span[0] < high:
                    if stretches and span[0] - stretches[-1][1] <= _CLOSE:
                        stretches[-1] = (stretches[-1][0], span[1])
                    else:
                        stretches.append(span)
                    span = next(spans, None)
                line = text[low:high].strip() if len(stretches) == 1 and high - low <= _LONGEST_LINE else ""
                for start, end in stretches:
                    certain = sure.search(text, start, end) is not None and not is_code(text, start, end)
                    yield Directive(text[start:end], line or text[start:end], certain)

    def requests(self, *, newest_first: bool = False) -> Iterator[FactSource]:
        """What people said; tool results and the editor's state are left out."""
        for source in reversed(self.sources) if newest_first else self.sources:
            if not source.ide_context and is_plain_user(source.content) and visible_text(source.content).strip():
                yield source

    @cached_property
    def last_answer(self) -> FactSource | None:
        """The newest content in which the model said something."""
        said = (source for source in reversed(self.sources) if source.content.role == "model" and visible_text(source.content).strip())
        return next(said, None)

    def times(self) -> dict[int, tuple[str, int]]:
        """For each content of a transcript with times: the time that was given last, and the index of the content that gave it."""
        times: dict[int, tuple[str, int]] = {}
        last: tuple[str, int] | None = None
        for source in self.sources:
            text = next((text for part in source.content.parts if (text := text_of(part))), "")
            if text.startswith("[") and (match := heading_time().match(text)):
                last = match["time"], source.index
            if last:
                times[source.index] = last
        return times
