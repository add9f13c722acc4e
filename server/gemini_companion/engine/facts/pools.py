"""What a snapshot holds beside what it must: outcomes, tasks, older rules, changed files, errors, telling sentences.

Each kind is a pool of lines, the most valuable first, and gets a share of what is left of the budget.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from gemini_companion.engine.facts.actions import (
    call_name,
    cleaned_output,
    excerpt,
    head,
    words_looked_for,
    working_directory,
)
from gemini_companion.engine.facts.extract import condensed, speaker_of
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.key_sentences import words_of
from gemini_companion.engine.facts.neutralise import SECTIONS
from gemini_companion.engine.facts.page import Page, Place, bulleted
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.rules import is_announcement, is_question, is_request, is_work
from gemini_companion.engine.facts.sentences import sentences
from gemini_companion.engine.facts.span import Said, Span
from gemini_companion.engine.facts.statements import likely
from gemini_companion.engine.history.part import visible_text

Line: TypeAlias = tuple[str, Place, str]
"""Section, place, text."""

_OVERHEAD: Final = 0.08
"""Share of the budget that is added for outcomes, without which the commands are of little use."""
PENDING: Final = Place(1, 0)
"""Where the request stands that waits for its answer: at the end of the goal."""
_LATELY: Final = 20
_TELLING: Final = 1.6
"""Worth from which a person's sentence is quoted among the calls: below it are greetings, thanks and small talk."""
_LEAST_WORTH: Final = 1.0
"""Worth from which anybody's sentence is knowledge."""
_THRIFT: Final = 0.3
"""How much the length of a sentence counts against it; 1 would choose scraps, 0 a few long ones."""
_TOLD: Final = 3
"""Sentences that are said last of a file, of which the most telling one stands for it."""
_ROUNDS: Final = 4
_LEAST: Final = 4.0
"""Tokens with which no line begins any more."""
_PATIENCE: Final = 8
"""Lines of a pool that may turn out too long before it is left for this round."""
_MOST_FILES: Final = 200
_MOST_ERRORS: Final = 100
_LONGEST_OUTPUT: Final = 700
"""Characters of a result that is quoted at length."""
_LAST_WORDS: Final = 700
_MET: Final = 20
"""Requests that are listed as met, the newest."""
_SAME_LINE: Final = 24
"""Characters from which a line of an output that stands there already is left out."""

_TICKED: Final = lazy(r"(?m)^[ \t]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]*+)?(?:\[[xX]\]|\[DONE\])[ \t]*(?P<text>[^\n]{1,400})")
_MARKS: Final = lazy(r"[-*+ \t\d:|.)]*+(?:\[(?: |x|X|TODO|DONE|IN PROGRESS)\])?\s*+")


class Pools:
    """Fills a page with what the budget still allows."""

    def __init__(self, span: Span, page: Page, guidance: str, *, beside_record: bool = False) -> None:
        self._span = span
        self._page = page
        self._guidance = guidance
        self._wished = frozenset(words_of(guidance))
        self._beside_record = beside_record
        self._held: dict[int, Line] = {}
        self._quoted: set[str] = set()

    def share_out(self, aside: float = 0.0) -> None:
        """Carry over the earlier snapshot's rules and knowledge, then give each pool its share.

        Args:
            aside: Tokens that were put aside for what was said: tasks, changes, and above all knowledge.
        """
        page = self._page
        if self._beside_record:
            self._share_out_beside_record()
            return
        for line in self._earlier("active_constraints"):
            page.put(*line)
        half = page.left / 2
        for line in self._earlier("key_knowledge"):
            page.put(*line, at_most=page.left - half)
        knowledge = chain(self._knowledge(), self._named())
        tasks = self._tasks()
        changes = self._wished_first(chain(self._changes(), self._told_of_files(), self._earlier("artifact_trail")))
        for number, lines, share in ((1, tasks, 0.1), (3, changes, 0.1), (6, knowledge, 0.8)):
            self._draw(number, lines, share * aside)
        outcomes = self._outcomes()
        self._draw(-1, self._statements(), 0.4 * page.left)
        before, overhead = page.left, _OVERHEAD * page.budget
        page.left += overhead
        self._draw(0, outcomes, overhead)
        page.left = min(page.left, before)
        pools: tuple[tuple[float, Iterator[Line]], ...] = (
            (0.16, outcomes),
            (0.14, tasks),
            (0.16, self._wished_first(self._older_rules(self._span.recent_from - 1))),
            (0.10, changes),
            (0.06, self._wished_first(self._errors())),
            (0.14, self._outputs()),
            (0.14, knowledge),
            (0.06, self._wished_first(self._earlier("recent_actions"))),
            (0.06, self._whole_request()),
            (0.02, chain(self._files(), self._earlier("file_system_state"))),
            (0.00, chain(self._earlier("key_knowledge"), self._met())),
        )
        for _ in range(_ROUNDS):
            whole = page.left
            for number, (share, lines) in enumerate(pools):
                self._draw(number, lines, share * whole)
        for number, (_, lines) in enumerate(pools):
            self._draw(number, lines, page.left)

    def _share_out_beside_record(self) -> None:
        """What a record does not say at a glance: the rules, what is open, what changed where, what came of it."""
        left = self._page.left
        pools = (
            (0.25, self._last_run()),
            (0.3, self._rules_left()),
            (0.3, chain(self._tasks(), self._lately())),
            (0.3, chain(self._changed(), self._told_of_files(), self._earlier("artifact_trail"))),
            (0.2, self._wished_knowledge()),
        )
        pools = tuple((share, self._wished_first(lines)) for share, lines in pools)
        for number, (share, lines) in enumerate(pools):
            self._draw(number, lines, share * left)
        for number, (_, lines) in enumerate(pools):
            self._draw(number, lines, self._page.left)

    def _draw(self, number: int, lines: Iterator[Line], allowance: float) -> None:
        """Write lines of a pool until its allowance is spent; a line that is too long waits for the next round."""
        page = self._page
        floor = page.left - allowance
        refused = 0
        while page.left > max(floor, _LEAST) and refused < _PATIENCE:
            self._span.poll()
            line = self._held.pop(number, None) or next(lines, None)
            if line is None:
                return
            if page.put(*line, at_most=page.left - floor):
                refused = 0
            elif (cost := page.cost(line[2])) > page.left - floor:
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

    # --- Rules and tasks ----------------------------------------------------------------------------------------------

    def _older_rules(self, newest: int) -> Iterator[Line]:
        for place in range(newest, -1, -1):
            for number, (rule, _) in enumerate(self._span.rules(place)):
                yield "active_constraints", Place(1, place, number), bulleted(rule)

    def _rules_left(self) -> Iterator[Line]:
        for number, (place, rule) in enumerate(self._span.rules_left()):
            spot = Place(0, -number) if place < 0 else Place(1, place, -number)
            yield "active_constraints", spot, bulleted(rule)

    def _tasks(self) -> Iterator[Line]:
        """What is open: no plan of old, nothing ticked off."""
        span = self._span
        last = () if self._beside_record else (span.last_word(_LAST_WORDS),)
        for number, text in enumerate(chain(last, self._unresolved())):
            yield "task_state", Place(0, number), text
        texts = (visible_text(source.content)[:16_384] for source in span.sources)
        done = {_bare(match["text"]) for text in texts if "[" in text for match in _TICKED().finditer(text)}
        for number, entry in enumerate(span.earlier["task_state"]):
            if any(mark in entry for mark in ("[TODO]", "[ ]", "IN PROGRESS")) and _bare(entry) not in done:
                yield "task_state", Place(2, number), entry
        standing = self._page.text("task_state")
        for source, number, fact in span.found("task"):
            marked = fact.text.startswith(("[", "TODO", "FIXME"))
            fresh = marked or source.content.role == "user" or source is span.last_answer
            if fresh and _bare(fact.text) not in done and fact.text not in standing:
                mark = "" if fact.text[0] == "[" else "[TODO] "
                yield "task_state", Place(3, fact.index, number), f"- {mark}{fact.text}"

    def _lately(self) -> Iterator[Line]:
        """What people said last and at length, which is most of what they left open."""
        rules = self._span.in_force | self._span.released
        said = [one for one in self._span.said if one.by_user and 0 <= one.place < len(self._span.sources)]
        said = [one for one in said if one.statement.same not in rules]
        last = max(1, len(self._span.sources) - 1)

        def worth(one: Said) -> float:
            return 3 * one.place / last + 0.5 * one.statement.worth

        for one in sorted(said, key=worth, reverse=True)[:_LATELY]:
            if one.text not in self._page.text("overall_goal") and not is_question(one.text):
                yield "task_state", Place(5, one.place, one.statement.start), f"- said lately: {one.text}"

    def _unresolved(self) -> Iterator[str]:
        """Calls without a result yet, and the newest failure, unless the same kind of call worked later."""
        worked: set[str] = set()
        for number, action in self._span.newest_actions:
            name, outcome = call_name(action), self._span.outcome(number)
            if outcome.status == "open":
                yield f"- [IN PROGRESS] {head(name, 160)} (no result yet)"
            elif outcome.status == "failed" and name.partition(" ")[0] not in worked:
                yield f"- [IN PROGRESS] {head(name, 160)} failed last: {head(outcome.line, 200)}"
                return
            worked.add(name.partition(" ")[0])

    def _met(self) -> Iterator[Line]:
        """Work asked for before the newest request, which was answered; in a talk between people there is none."""
        for source in list(self._span.requests())[-1 - _MET : -1][::-1]:
            text = visible_text(source.content)[:2_000]
            said = () if speaker_of(text)[0] else sentences(text)
            if request := next((sentence for sentence in said if is_work(sentence)), ""):
                yield "task_state", Place(4, source.index), f"- [DONE] {head(request, 160)}"

    def _whole_request(self) -> Iterator[Line]:
        if (pending := self._span.pending) is not None:
            for limit in (600, 1_200, 2_400, 4_800):
                yield "overall_goal", PENDING, pending_text(pending, limit)

    # --- Calls --------------------------------------------------------------------------------------------------------

    def _outcomes(self) -> Iterator[Line]:
        limit = int(min(300, max(100, self._page.left * 1.2 / max(1, len(self._span.recent_actions)))))
        for number, action in self._span.recent_actions:
            if self._page.has("recent_actions", action_place(action.index, number)):
                spot = outcome_place(action.index, number)
                self._page.comes_from("recent_actions", spot, action.result_index)
                yield "recent_actions", spot, self._came(number, limit)

    def _last_run(self) -> Iterator[Line]:
        """What came of the newest command that ended."""
        for number, action in self._span.newest_actions:
            if action.command and self._span.outcome(number).status != "open":
                text = f"- last run: {head(call_name(action), 80)} {self._came(number, 160)}"
                yield "key_knowledge", Place(2, action.index, number), text
                return

    def _outputs(self) -> Iterator[Line]:
        """The newest results at more length: the lines that the model spoke of afterwards, none twice."""
        actions, answer = self._span.actions, self._span.last_answer
        last = visible_text(answer.content) if answer else ""
        for number, action in self._span.recent_actions:
            spot = action_place(action.index, number)
            if self._span.outcome(number).status != "ok" or not self._page.has("recent_actions", spot):
                continue
            said = actions[number + 1].why if number + 1 < len(actions) else last
            lines = [line for line in cleaned_output(action).split("\n") if line.strip()]
            fresh = [line for line in lines if len(line) < _SAME_LINE or _bare(line) not in self._quoted]
            asked = words_looked_for(f"{call_name(action)} {said} {self._guidance}")
            if shown := excerpt("\n".join(fresh), _LONGEST_OUTPUT, asked):
                self._quoted.update(_bare(line) for line in shown.split("\n") if len(line) >= _SAME_LINE)
                below = f"\n… ({len(lines) - len(fresh)} lines as below)" if len(fresh) < len(lines) else ""
                yield "recent_actions", outcome_place(action.index, number), f"→ {shown}{below}"

    def _statements(self) -> Iterator[Line]:
        """What people said last, each in its place among the calls: statements before requests, no small talk."""
        span = self._span
        latest = next((one.place for one in reversed(span.said) if one.by_user), None)
        standing = self._page.text("active_constraints", "overall_goal")
        for asked in (False, True):
            for one in reversed(span.said):
                if not one.by_user or not span.recent_from <= one.place < len(span.sources) or one.place == latest:
                    continue
                idle = one.text in standing or one.statement.worth < _TELLING
                if not idle and (is_request(one.text) or is_announcement(one.text)) is asked:
                    spot = Place(1, span.sources[one.place].index, one.statement.start - 1_000_000)
                    yield "recent_actions", spot, f"- {one.speaker or 'user'}: {one.text}"

    def _came(self, number: int, limit: int) -> str:
        outcome = self._span.outcome(number)
        failed = "failed: " if outcome.status == "failed" else ""
        return "→ no result yet" if outcome.status == "open" else f"→ {failed}{head(outcome.line or 'ok', limit)}"

    # --- Files --------------------------------------------------------------------------------------------------------

    def _changes(self) -> Iterator[Line]:
        """Files that were created, changed or deleted, newest first, with the calls that did it and why."""
        deeds: dict[str, list[str]] = {}
        reasons: dict[str, str] = {}
        for number, action in self._span.newest_actions:
            for touch in self._span.touches(number) if len(deeds) < _MOST_FILES else ():
                if touch.verb in ("created", "changed", "deleted"):
                    known = (other for other in deeds if other == touch.path or other.endswith(f"/{touch.path}"))
                    path = next(known, touch.path)
                    deeds.setdefault(path, []).append(f"{touch.verb} by {head(call_name(action), 80)}")
                    reasons.setdefault(path, next(iter(sentences(action.why[:2_000])), ""))
        for number, (path, done) in enumerate(deeds.items()):
            before = f"; and {len(done) - 4} times before" if len(done) > 4 else ""
            reason = f" ({head(reasons[path], 160)})" if reasons[path] else ""
            yield "artifact_trail", Place(1, -number), f"- {path}: {'; '.join(done[:4][::-1])}{before}{reason}"

    def _changed(self) -> Iterator[Line]:
        """The same files, without the calls."""
        for number, _ in self._span.newest_actions:
            for touch in self._span.touches(number):
                if touch.verb in ("created", "changed", "deleted") and not self._page.covers(touch.path):
                    self._page.cover(touch.path)
                    yield "artifact_trail", Place(1, -number), f"- {touch.verb}: {touch.path}"

    def _told_of_files(self) -> Iterator[Line]:
        """What was said last of each file, for those that no call changed: words alone may say so."""
        told: dict[str, list[Said]] = {}
        for one in reversed(self._span.said):
            if one.place < len(self._span.sources) and not is_question(one.text):
                for path in paths_in(one.text):
                    told.setdefault(path, []).append(one)
        for number, (path, said) in enumerate(told.items()):
            best = max(said[:_TOLD], key=lambda one: one.statement.worth)
            if path not in self._page.text("artifact_trail"):
                yield "artifact_trail", Place(2, best.place, -number), f"- {best.text}"

    def _files(self) -> Iterator[Line]:
        """The working directory, and the files that were read, run or deleted, newest first."""
        if directory := working_directory(self._span.actions):
            yield "file_system_state", Place(0, -1), f"- CWD: {directory}"
        seen: set[str] = set()
        for number, action in self._span.newest_actions:
            for touch in self._span.touches(number):
                if touch.path not in seen and touch.verb in ("read", "deleted", "ran"):
                    seen.add(touch.path)
                    text = f"- {touch.verb.upper()}: {touch.path} ({head(call_name(action), 60)})"
                    yield "file_system_state", Place(1, action.index, len(seen)), text

    # --- Knowledge ----------------------------------------------------------------------------------------------------

    def _errors(self) -> Iterator[Line]:
        """Errors met, the newest first; those that outcomes say are left out."""
        seen = {_bare(self._span.outcome(number).line) for number, _ in self._span.recent_actions}
        for _, number, fact in self._span.found("error"):
            if (bare := _bare(fact.text)) not in seen and len(seen) <= _MOST_ERRORS:
                seen.add(bare)
                yield "key_knowledge", Place(2, fact.index, number), f"- error met: {head(fact.text, 300)}"

    def _knowledge(self) -> Iterator[Line]:
        """Decisions, then telling sentences, that stand nowhere else; under the time where the contents give it."""
        times = self._span.times()
        standing = self._page.text(*(section for section in SECTIONS if section != "key_knowledge"))
        for source, number, fact in self._span.found("decision"):
            is_narration = self._span.actions and source.content.role == "model" and is_announcement(fact.text)
            if fact.text not in standing and not is_narration:
                yield "key_knowledge", Place(0, fact.index, number), f"- decided: {fact.text}"
        standing += self._page.text("key_knowledge")
        said = [one for one in self._span.said if one.place < len(self._span.sources)]
        wished = self._wished_in(said)
        ranked = sorted(zip(said, wished, strict=True), key=lambda one: (-one[1], -self._per_token(one[0])))
        for one, is_wished in ranked:
            if one.statement.worth < _LEAST_WORTH and not is_wished:
                continue
            if " ".join(one.text.split()) in standing or (self._span.actions and is_announcement(one.text)):
                continue
            index = self._span.sources[one.place].index
            spot = Place(1, index, one.statement.start)
            yield "key_knowledge", spot, f"- {one.speaker or ('user' if one.by_user else 'model')}: {one.text}"
            if index in times and self._page.has("key_knowledge", spot):
                when, since = times[index]
                yield "key_knowledge", Place(1, since, -1), f"- {when}"

    def _per_token(self, one: Said) -> float:
        """How likely a sentence carries what matters, beside its length: of two that are as likely the shorter comes
        first, and leaves room for more.
        """
        by_person = one.by_user or self._span.is_talk
        return likely(one.statement.worth, by_user=by_person) / one.statement.tokens**_THRIFT

    def _wished_in(self, said: Sequence[Said]) -> list[float]:
        """How much each sentence speaks of what the guidance asks for: by its words that are rare among them all."""
        if not self._wished:
            return [0.0] * len(said)
        found = [self._wished.intersection(words_of(one.text)) for one in said]
        often = Counter(word for words in found for word in words)
        return [sum(math.log(len(said) / often[word]) for word in words) for words in found]

    def _wished_knowledge(self) -> Iterator[Line]:
        """What of it the guidance asks for."""
        if self._wished:
            yield from (line for line in self._knowledge() if self._wished.intersection(words_of(line[2])))

    def _named(self) -> Iterator[Line]:
        """Paths, numbers and addresses that stand nowhere yet, each text once."""
        standing = self._page.text(*SECTIONS)
        for _, number, fact in self._span.found("path", "number", "url"):
            if not fact.listed and fact.text not in standing and not self._page.covers(fact.text):
                section, group = ("file_system_state", 2) if fact.kind == "path" else ("key_knowledge", 3)
                yield section, Place(group, fact.index, number), fact.text


def pending_text(request: FactSource, limit: int) -> str:
    """The request that waits for its answer, as a line of the goal."""
    return f"- Not answered yet: {head(condensed(visible_text(request.content)), limit)}"


def action_place(index: int, number: int) -> Place:
    """Where the call with a number stands in `recent_actions`; its outcome stands in the next place."""
    return Place(1, index, 2 * number)


def outcome_place(index: int, number: int) -> Place:
    """Where the outcome of the call with a number stands."""
    return Place(1, index, 2 * number + 1)


def _bare(line: str) -> str:
    """A line without its number, its mark and its bullet, to be compared."""
    return _MARKS().sub("", line, count=1).strip()
