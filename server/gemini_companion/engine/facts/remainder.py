"""What a snapshot holds beside what it must: outcomes, tasks, rules, changed files, errors, telling sentences, older calls.

Each kind is a pool of lines, the most valuable first, and gets a share of what is left of the budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final, TypeAlias

from gemini_companion.engine.facts.actions import call_name, cleaned_output, working_directory
from gemini_companion.engine.facts.earlier import shortened
from gemini_companion.engine.facts.key_sentences import key_sentences, words_of
from gemini_companion.engine.facts.outcomes import Outcome
from gemini_companion.engine.facts.page import Page, Place, bulleted, head, tail
from gemini_companion.engine.facts.patterns import binding_rule
from gemini_companion.engine.facts.recent import RecentFacts, action_place, outcome_place
from gemini_companion.engine.facts.sentences import sentences
from gemini_companion.engine.facts.span import Span
from gemini_companion.engine.history.part import visible_text

Line: TypeAlias = tuple[str, Place, str]
"""Section, place, text."""

_OLD_CONTENTS: Final = 4_000
"""Contents, or calls, that are searched for older facts, newest first."""
_OVERHEAD: Final = 0.08
"""Share of the budget that is added for outcomes, without which the commands are of little use."""
_ROUNDS: Final = 4
_LEAST: Final = 4.0
"""Tokens with which no line begins any more."""
_PATIENCE: Final = 8
"""Lines of a pool that may turn out too long before it is left for this round."""
_MOST_FILES: Final = 200
_MOST_ERRORS: Final = 100
_MOST_NUMBERS: Final = 16
"""Of one content: a log may hold thousands."""
_LONGEST_OUTPUT: Final = 700
"""Characters of a result that is quoted at length."""
_LAST_WORDS: Final = 700
_EARLIER_CALLS: Final = 12
"""Calls of the earlier snapshot that are carried over."""


class Remainder:
    """Fills a page with what the budget still allows."""

    def __init__(self, span: Span, page: Page, recent: RecentFacts, guidance: str, budget: float) -> None:
        self._span = span
        self._page = page
        self._recent = recent
        self._guidance = guidance
        self._wished = frozenset(words_of(guidance))
        self._budget = budget
        self._held: dict[int, Line] = {}

    def carry_over(self) -> None:
        """Rules of the earlier snapshot, word for word, then its knowledge, as far as half of what is left goes."""
        earlier = self._span.earlier
        for number, entry in enumerate(earlier["active_constraints"]):
            self._page.put("active_constraints", Place(0, number), entry)
        half = self._page.left / 2
        for section, place, entry in self._earlier("key_knowledge"):
            self._page.put(section, place, entry, at_most=self._page.left - half)

    def share_out(self) -> None:
        """Give each pool its share, in some rounds, then what remains to all of them in order."""
        outcomes = self._outcomes()
        before = self._page.left
        self._page.left += _OVERHEAD * self._budget
        self._draw(0, outcomes, _OVERHEAD * self._budget)
        self._page.left = min(self._page.left, before)
        pools: tuple[tuple[float, Iterator[Line]], ...] = (
            (0.16, outcomes),
            (0.16, self._whole_lines()),
            (0.10, self._tasks()),
            (0.12, self._wished_first(self._older_directives(binding=True))),
            (0.10, self._wished_first(chain(self._changes(), self._earlier("artifact_trail")))),
            (0.08, self._wished_first(self._errors())),
            (0.06, self._outputs()),
            (0.14, chain(self._knowledge(), self._numbers())),
            (0.06, self._wished_first(chain(self._older_actions(), self._earlier_actions(), self._exchanges()))),
            (0.06, self._whole_goal()),
            (0.02, chain(self._files(), self._earlier("file_system_state"), self._older_paths())),
            (0.00, self._earlier("key_knowledge")),
            (0.00, self._wished_first(self._older_directives(binding=False))),
        )
        for _ in range(_ROUNDS):
            whole = self._page.left
            for number, (share, lines) in enumerate(pools):
                self._draw(number, lines, share * whole)
        for number, (_, lines) in enumerate(pools):
            self._draw(number, lines, self._page.left)

    def _draw(self, number: int, lines: Iterator[Line], allowance: float) -> None:
        """Write lines of a pool until its allowance is spent; a line that is too long for it waits for the next round."""
        page = self._page
        floor = page.left - allowance
        refused = 0
        while page.left > max(floor, _LEAST) and refused < _PATIENCE:
            self._span.checkpoint()
            line = self._held.pop(number, None) or next(lines, None)
            if line is None:
                return
            section, place, text = line
            if page.put(section, place, text, at_most=page.left - floor):
                refused = 0
            elif (cost := page.cost(text)) > page.left - floor:
                refused += 1
                if cost <= page.left:
                    self._held[number] = line
                    return

    def _wished_first(self, lines: Iterator[Line]) -> Iterator[Line]:
        """Lines that speak of what the guidance asks for before the others."""
        if not self._wished:
            return lines
        return iter(sorted(lines, key=lambda line: not self._wished.intersection(words_of(line[2]))))

    def _earlier(self, section: str) -> Iterator[Line]:
        """The entries of a section of the earlier snapshot."""
        yield from ((section, Place(0, number), entry) for number, entry in enumerate(self._span.earlier[section]))

    # --- Rules and tasks ---------------------------------------------------------------------------------------------------------

    def _whole_lines(self) -> Iterator[Line]:
        """The lines that the recent directives stand in, which say what `only` and `it` mean in them."""
        for place in self._span.recent:
            for number, directive in enumerate(self._span.directives(place)):
                if directive.line != directive.text:
                    yield "active_constraints", Place(1, place, number), bulleted(directive.line)

    def _older_directives(self, *, binding: bool) -> Iterator[Line]:
        """Rules before the recent contents, newest first: those that bid or forbid, or what merely sounds like it."""
        for place in range(self._span.recent_from - 1, -1, -1):
            for number, directive in enumerate(self._span.directives(place)):
                if (directive.certain and binding_rule().search(directive.text) is not None) is binding:
                    yield "active_constraints", Place(1, place, number), bulleted(directive.text)

    def _tasks(self) -> Iterator[Line]:
        yield from last_words(self._span, _LAST_WORDS)
        for number, entry in enumerate(self._span.earlier["task_state"]):
            if any(mark in entry for mark in ("[TODO]", "[ ]", "IN PROGRESS")):
                yield "task_state", Place(1, number), entry
        for place in self._span.newest_first(_OLD_CONTENTS):
            for number, fact in enumerate(self._span.facts(place)):
                if fact.kind == "task":
                    yield "task_state", Place(2, fact.index, number), f"- {fact.text}"

    def _whole_goal(self) -> Iterator[Line]:
        shown = ""
        for limit in (600, 1_200, 2_400, 4_800):
            if (text := goal(self._span, limit)) != shown:
                shown = text
                yield "overall_goal", Place(0, 0), text

    # --- Calls -------------------------------------------------------------------------------------------------------------------

    def _outcomes(self) -> Iterator[Line]:
        limit = int(min(300, max(100, self._page.left * 1.2 / max(1, len(self._span.recent_actions)))))
        for number, action in self._span.recent_actions:
            if self._page.has("recent_actions", action_place(action.index, number)):
                yield "recent_actions", outcome_place(action.index, number), _said(self._span.outcome(number), limit)

    def _outputs(self) -> Iterator[Line]:
        """The newest results at more length."""
        for number, action in self._span.recent_actions:
            output = cleaned_output(action)
            if output and self._page.has("recent_actions", action_place(action.index, number)) and self._span.outcome(number).status == "ok":
                if len(output) > _LONGEST_OUTPUT:
                    cut = len(output) - _LONGEST_OUTPUT
                    output = f"{output[: _LONGEST_OUTPUT - 200]}\n… (+{cut:,} characters) …\n{output[-200:]}"
                yield "recent_actions", outcome_place(action.index, number), f"→ {output}"

    def _older_actions(self) -> Iterator[Line]:
        actions = self._span.actions
        recent = {number for number, _ in self._span.recent_actions}
        for number in range(len(actions) - 1, max(-1, len(actions) - 1 - _OLD_CONTENTS), -1):
            if number not in recent:
                text = f"- {head(call_name(actions[number]), 120)} {_said(self._span.outcome(number), 100)}"
                yield "recent_actions", Place(0, actions[number].index, number), text

    def _earlier_actions(self) -> Iterator[Line]:
        for number, entry in enumerate(reversed(self._span.earlier["recent_actions"][-_EARLIER_CALLS:])):
            yield "recent_actions", Place(0, -1 - number), shortened(entry, 160)

    def _exchanges(self) -> Iterator[Line]:
        """The last things said, where nothing was called."""
        if not self._span.actions:
            for source in self._span.sources[-6:]:
                said = visible_text(source.content).strip()
                if said and not source.ide_context:
                    yield "recent_actions", Place(1, source.index), f"- {source.content.role}: {head(' '.join(said[:2_000].split()), 160)}"

    # --- Files -------------------------------------------------------------------------------------------------------------------

    def _changes(self) -> Iterator[Line]:
        """Files that were created, changed or deleted, newest first, with the calls that did it and why."""
        deeds: dict[str, list[str]] = {}
        reasons: dict[str, str] = {}
        actions = self._span.actions
        for number in range(len(actions) - 1, max(-1, len(actions) - 1 - _OLD_CONTENTS), -1):
            if len(deeds) > _MOST_FILES:
                break
            for touch in self._span.touches(number):
                if touch.verb in ("created", "changed", "deleted"):
                    path = next((known for known in deeds if known == touch.path or known.endswith(f"/{touch.path}")), touch.path)
                    deeds.setdefault(path, []).append(f"{touch.verb} by {head(call_name(actions[number]), 80)}")
                    reasons.setdefault(path, next(iter(sentences(actions[number].why[:2_000])), ""))
        for number, (path, done) in enumerate(deeds.items()):
            done.reverse()
            before = f"; and {len(done) - 4} times before" if len(done) > 4 else ""
            reason = f" ({head(reasons[path], 160)})" if reasons[path] else ""
            yield "artifact_trail", Place(1, -number), f"- {path}: {'; '.join(done[-4:])}{before}{reason}"

    def _files(self) -> Iterator[Line]:
        """The working directory, and the files that were read, run or deleted, newest first."""
        actions = self._span.actions
        if directory := working_directory(actions):
            yield "file_system_state", Place(0, -1), f"- CWD: {directory}"
        seen: set[str] = set()
        for number in range(len(actions) - 1, max(-1, len(actions) - 1 - _OLD_CONTENTS), -1):
            for touch in self._span.touches(number):
                if touch.path not in seen and touch.verb in ("read", "deleted", "ran"):
                    seen.add(touch.path)
                    call = head(call_name(actions[number]), 60)
                    yield "file_system_state", Place(1, actions[number].index, len(seen)), f"- {touch.verb.upper()}: {touch.path} ({call})"

    def _older_paths(self) -> Iterator[Line]:
        seen: set[str] = set()
        for place in range(self._span.recent_from - 1, max(-1, self._span.recent_from - 1 - _OLD_CONTENTS), -1):
            for number, fact in enumerate(self._span.facts(place)):
                if fact.kind == "path" and fact.certain and fact.text not in seen and not self._recent.knows(fact.text):
                    seen.add(fact.text)
                    yield "file_system_state", Place(2, fact.index, number), fact.text

    # --- Knowledge ---------------------------------------------------------------------------------------------------------------

    def _errors(self) -> Iterator[Line]:
        seen = {self._span.outcome(number).line for number, _ in self._span.recent_actions}
        for place in self._span.newest_first(_OLD_CONTENTS):
            if len(seen) > _MOST_ERRORS:
                return
            for number, fact in enumerate(self._span.facts(place)):
                if fact.kind == "error" and fact.text not in seen:
                    seen.add(fact.text)
                    yield "key_knowledge", Place(2, fact.index, number), f"- error met: {head(fact.text, 300)}"

    def _knowledge(self) -> Iterator[Line]:
        """Telling sentences, under the time that they were said where the contents give it."""
        times = self._span.times()
        quoted = "\n".join(text for _, text in self._page.lines("active_constraints"))
        for sentence in key_sentences(self._span.sources, guidance=self._guidance, checkpoint=self._span.checkpoint):
            if sentence.text in quoted:
                continue
            if sentence.index in times:
                when, since = times[sentence.index]
                yield "key_knowledge", Place(1, since, -1), f"- {when}"
            yield "key_knowledge", Place(1, sentence.index, sentence.order), f"- {sentence.speaker}: {sentence.text}"

    def _numbers(self) -> Iterator[Line]:
        for place in self._span.newest_first(_OLD_CONTENTS):
            named = [(number, fact) for number, fact in enumerate(self._span.facts(place)) if fact.kind in ("number", "url")]
            for number, fact in named[:_MOST_NUMBERS]:
                yield "key_knowledge", Place(3, fact.index, number), fact.text


def goal(span: Span, limit: int) -> str:
    """What the earlier snapshot says of the goal, else the first request; empty if there is neither."""
    if earlier := "\n".join(span.earlier["overall_goal"]):
        return head(earlier, 2 * limit)
    first = next(span.requests(), None)
    return f"First request, word for word: {head(visible_text(first.content).strip(), limit)}" if first else ""


def last_words(span: Span, limit: int) -> Iterator[Line]:
    """The newest request, unless it is the first, and the model's newest words."""
    latest = next(span.requests(newest_first=True), None)
    answer = span.last_answer
    if latest is not None and (latest is not next(span.requests()) or span.earlier["overall_goal"]):
        waiting = " (not answered yet)" if answer is None or answer.index < latest.index else ""
        yield "task_state", Place(0, 0), f"- Latest request{waiting}: {head(visible_text(latest.content).strip(), limit)}"
    if answer is not None:
        yield "task_state", Place(0, 1), f"- Last word of the model: {tail(visible_text(answer.content).strip(), limit)}"


def _said(outcome: Outcome, limit: int) -> str:
    """`→ 12 passed`, `→ failed: …`, `→ ok`, `→ no result yet`."""
    line = head(outcome.line, limit)
    return {"ok": f"→ {line or 'ok'}", "failed": f"→ failed: {line}", "open": "→ no result yet"}[outcome.status]
