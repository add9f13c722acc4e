"""A snapshot written without a model: what the contents say, word for word, in the seven sections, within a budget.

First comes what must not be lost: every path, command and directive of the last `RECENT` contents, newest first, the rest counted.
What is left of the budget is shared out among the rest: outcomes, tasks, rules, changed files, errors, telling sentences, older calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, TypeAlias

import msgspec

from gemini_companion.engine.facts.actions import (
    Action,
    Outcome,
    Touch,
    call_name,
    call_text,
    cleaned_output,
    counted_lines,
    outcome_of,
    read_actions,
    touches,
    working_directory,
)
from gemini_companion.engine.facts.earlier import read_earlier, shortened
from gemini_companion.engine.facts.extract import Fact, FactSource, directives_in, facts_of
from gemini_companion.engine.facts.key_sentences import heading_time, key_sentences, words_of
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.facts.page import Page, PathCover, Place
from gemini_companion.engine.facts.patterns import binding_rule, directive_cue
from gemini_companion.engine.facts.sentences import pieces, prose_lines, sentences
from gemini_companion.engine.history.part import is_plain_user, text_of, visible_text

RECENT: Final = 20
"""Contents at the end of the span whose paths, commands and directives come before all else."""

_GOAL_CHARACTERS: Final = 280
"""Of the first request, whatever the budget."""
_LAST_CHARACTERS: Final = 140
"""Of the newest request and of the model's newest words, whatever the budget."""
_OVERHEAD: Final = 0.08
"""Share of the budget that is added for outcomes, which the commands need to be of use."""
_CLOSE: Final = 120
"""Characters between two directives of a line that are quoted along with them."""
_LONGEST_LINE: Final = 600
"""Characters of a line that is quoted whole for one directive in it."""
_OLD_CONTENTS: Final = 4_000
"""Contents before the recent ones that are searched for older facts, newest first."""
_MOST_FILES: Final = 200
"""Changed files that are told apart."""
_LONGEST_OUTPUT: Final = 700
"""Characters of a result that is quoted at length."""
_GIANT: Final = 0.3
"""Share of the budget above which a command waits until everything smaller has found its place."""

_Line: TypeAlias = tuple[str, Place, str]


class SummaryTask(msgspec.Struct, frozen=True, kw_only=True):
    """What a summariser that runs on this machine gets instead of a prompt to be parsed."""

    sources: tuple[FactSource, ...]
    """The contents to be hidden, in order, without snapshots and acknowledgements of earlier compactions."""
    previous_snapshot: str | None = None
    guidance: str = ""
    budget_tokens: int
    """Tokens that the snapshot may have, its tags not counted."""
    hidden_tokens: int
    """Tokens of what it replaces."""


def carried_tokens(task: SummaryTask, count_text: Callable[[str], float]) -> int:
    """Tokens to add to a task's budget for the rules and the knowledge of the earlier snapshot, at most twice the budget."""
    earlier = read_earlier(task.previous_snapshot)
    text = "\n".join((*earlier["active_constraints"], *earlier["key_knowledge"]))
    return int(min(sum(map(count_text, pieces(text))), 2 * task.budget_tokens))


def _no_checkpoint() -> None:
    """Go on."""


def extractive_snapshot(
    sources: Sequence[FactSource],
    *,
    previous: str | None,
    budget_tokens: int,
    count_text: Callable[[str], float],
    guidance: str = "",
    checkpoint: Callable[[], None] = _no_checkpoint,
) -> str:
    """A `<state_snapshot>` of `sources` with its seven sections, from what stands in them alone.

    Args:
        sources: What the snapshot replaces, in order.
        previous: The snapshot of what came before; its rules and knowledge are carried over word for word.
        budget_tokens: Tokens for everything but tags, labels and the head of the first request.
        count_text: Tokens of a text.
        guidance: What the user wants kept above all; sentences with its words come first.
        checkpoint: Called often; what it raises ends the work.
    """
    writer = _Writer(sources, previous, budget_tokens, count_text, guidance, checkpoint)
    writer.write_frame()
    writer.write_recent()
    writer.carry_over()
    writer.share_out()
    writer.count_the_rest()
    return writer.page.render()


_LISTS: Final = {("file_system_state", 2): "NAMED", ("file_system_state", 3): "NAMED, perhaps no files", ("key_knowledge", 3): "NUMBERS AND ADDRESSES"}


class _Writer:
    def __init__(
        self,
        sources: Sequence[FactSource],
        previous: str | None,
        budget: int,
        count_text: Callable[[str], float],
        guidance: str,
        checkpoint: Callable[[], None],
    ) -> None:
        self.page = Page(max(0, budget), count_text, _LISTS)
        self._budget = float(max(0, budget))
        self._sources = sources
        self._earlier = read_earlier(previous)
        self._guidance = guidance
        self._wished = frozenset(words_of(guidance))
        self._checkpoint = checkpoint
        self._cover = PathCover()
        self._facts: dict[int, list[Fact]] = {}
        own = [place for place, source in enumerate(sources) if not source.ide_context]
        self._recent_from = own[-RECENT] if len(own) > RECENT else 0
        self._missed: dict[str, int] = {"path": 0, "command": 0, "directive": 0}
        self._written_commands: set[str] = set()
        self._shown_actions: set[int] = set()

    # --- What the sources hold ---------------------------------------------------------------------------------------------------

    @cached_property
    def _actions(self) -> list[Action]:
        return read_actions(self._sources)

    @cached_property
    def _recent_actions(self) -> list[tuple[int, Action]]:
        """The calls of the recent contents with their number, newest first."""
        if not self._sources:
            return []
        first = self._sources[self._recent_from].index
        return [(number, action) for number, action in reversed(list(enumerate(self._actions))) if action.index >= first]

    def _outcome(self, action: Action) -> Outcome:
        self._checkpoint()
        return outcome_of(action)

    def _facts_at(self, place: int) -> list[Fact]:
        if place not in self._facts:
            self._checkpoint()
            self._facts[place] = facts_of(self._sources[place])
        return self._facts[place]

    def _requests(self, newest_first: bool = False) -> Iterator[FactSource]:
        """What people said, tool results and the editor's state left out."""
        for source in reversed(self._sources) if newest_first else self._sources:
            if not source.ide_context and is_plain_user(source.content) and visible_text(source.content).strip():
                yield source

    def _wished_first(self, lines: Iterable[_Line]) -> list[_Line]:
        """`lines` in order, those that speak of what the guidance asks for before the others."""
        ordered = list(lines)
        if self._wished:
            ordered.sort(key=lambda line: not self._wished.intersection(words_of(line[2])))
        return ordered

    # --- The frame ---------------------------------------------------------------------------------------------------------------

    def write_frame(self) -> None:
        """The goal and where things stand, in short: what stands here whatever the budget."""
        if goal := self._goal(_GOAL_CHARACTERS):
            self.page.put_free("overall_goal", Place(0, 0), goal)
        elif self._sources:
            self.page.put_free("overall_goal", Place(0, 0), "(No request stands in what this replaces; the one being worked on is kept beside it.)")
        for section, place, text in self._last_words(_LAST_CHARACTERS):
            self.page.put_free(section, place, text)

    def _goal(self, limit: int) -> str:
        """What the earlier snapshot says of it, else the first request; empty if there is neither."""
        if goal := "\n".join(self._earlier["overall_goal"]):
            return _head(goal, 2 * limit)
        first = next(self._requests(), None)
        return f"First request, word for word: {_head(visible_text(first.content).strip(), limit)}" if first else ""

    def _whole_goal(self) -> Iterator[_Line]:
        for limit in (600, 1_200, 2_400, 4_800):
            if (goal := self._goal(limit)) != self._goal(limit // 2):
                yield "overall_goal", Place(0, 0), goal

    def _last_words(self, limit: int) -> Iterator[_Line]:
        """The newest request and the model's newest words."""
        latest = next(self._requests(newest_first=True), None)
        answer = next((source for source in reversed(self._sources) if source.content.role == "model" and visible_text(source.content).strip()), None)
        if latest is not None and (latest is not next(self._requests()) or self._earlier["overall_goal"]):
            waiting = " (not answered yet)" if answer is None or answer.index < latest.index else ""
            yield "task_state", Place(0, 0), f"- Latest request{waiting}: {_head(visible_text(latest.content).strip(), limit)}"
        if answer is not None:
            yield "task_state", Place(0, 1), f"- Last word of the model: {_tail(visible_text(answer.content).strip(), limit)}"

    # --- What must not be lost ---------------------------------------------------------------------------------------------------

    def write_recent(self) -> None:
        """Paths, commands and directives of the last contents, newest first: first those that surely are some, then the others."""
        places = range(len(self._sources) - 1, self._recent_from - 1, -1)
        giants: list[tuple[Place, str]] = []
        for certain in (True, False):
            for place in places:
                for number, (text, _, sure) in enumerate(self._directives_at(place)):
                    if sure is certain:
                        self._write_directive(place, number, text)
                giants.extend(self._write_commands(place, certain))
                for number, fact in enumerate(self._facts_at(place)):
                    if fact.kind == "path" and fact.certain is certain:
                        self._write_path(fact, number)
        for spot, text in giants:
            if text in self._written_commands or self.page.put("recent_actions", spot, text):
                self._written_commands.add(text)
                self._cover.add_text(text)
                self._missed["command"] -= 1
        self._drop_covered_paths()

    def _directives_at(self, place: int) -> Iterator[tuple[str, str, bool]]:
        """Each stretch of directives of a content, the line that it stands in, and whether it surely holds one.

        Directives that follow each other closely in a line are one stretch, with what stands between them.
        """
        source = self._sources[place]
        if source.ide_context or not is_plain_user(source.content):
            return
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
                    yield text[start:end], line or text[start:end], sure.search(text, start, end) is not None

    def _write_directive(self, place: int, number: int, text: str) -> None:
        if self.page.put("active_constraints", Place(1, place, number), _bulleted(text)):
            self._cover.add_text(text)
        else:
            self._missed["directive"] += 1

    def _write_commands(self, place: int, certain: bool) -> Iterator[tuple[Place, str]]:
        """Write the commands of a content; yields those that have to wait because of their size."""
        index = self._sources[place].index
        calls = [(number, action) for number, action in self._recent_actions if action.index == index]
        for number, action in calls:
            if (action.command is not None) is not certain:
                continue
            whole = f"$ {action.command}" if action.command is not None else f"- {call_text(action, 4_000)}"
            yield from self._write_command(Place(1, index, 2 * number), whole)
            self._shown_actions.add(number)
        if certain:
            said = {action.command for _, action in calls}
            for number, fact in enumerate(self._facts_at(place)):
                if fact.kind == "command" and fact.text not in said:
                    yield from self._write_command(Place(1, index, -2 - number), f"- named, not run: {fact.text}")

    def _write_command(self, spot: Place, whole: str) -> Iterator[tuple[Place, str]]:
        first, _, rest = whole.partition("\n")
        if whole in self._written_commands:
            if rest:  # word for word once is enough
                self.page.put("recent_actions", spot, f"{_head(first, 200)} … (the same {counted_lines(rest)} as in a later call)")
            elif whole.startswith("$"):
                self.page.put("recent_actions", spot, whole)
            return
        if self.page.cost(whole) <= _GIANT * self._budget and self.page.put("recent_actions", spot, whole):
            self._written_commands.add(whole)
            self._cover.add_text(whole)
            return
        self._missed["command"] += 1
        if self.page.put("recent_actions", spot, f"{_head(first, 200)} … (+{counted_lines(rest)})" if rest else _head(first, 200)):
            self._cover.add_text(first)
        yield spot, whole

    def _write_path(self, fact: Fact, number: int) -> None:
        if fact.text in self._cover:
            return
        if self.page.put("file_system_state", Place(2 if fact.certain else 3, fact.index, number), fact.text):
            self._cover.add(fact.text)
        else:
            self._missed["path"] += 1

    def _drop_covered_paths(self) -> None:
        """Take paths off that stand in an older command or directive too, or in a longer path that came later."""
        standing = PathCover()
        for section in ("active_constraints", "recent_actions"):
            standing.add_texts(text for _, text in self.page.lines(section))
        paths = sorted(((text, place) for place, text in self.page.lines("file_system_state")), key=lambda pair: -len(pair[0]))
        for text, place in paths:
            if text in standing:
                self.page.remove("file_system_state", place)
            standing.add(text)
        self._cover = standing

    # --- What is left of the budget ----------------------------------------------------------------------------------------------

    def carry_over(self) -> None:
        """Rules of the earlier snapshot, word for word, then its knowledge, as far as half of what is left goes."""
        for number, entry in enumerate(self._earlier["active_constraints"]):
            self.page.put("active_constraints", Place(0, number), entry)
        half = self.page.left / 2
        for place, entry in enumerate(self._earlier["key_knowledge"]):
            self.page.put("key_knowledge", Place(0, place), entry, at_most=self.page.left - half)

    def share_out(self) -> None:
        """Give each kind of line its share, twice, then what remains to all of them in order of worth."""
        outcomes = self._outcomes()
        held: dict[int, _Line] = {}
        before = self.page.left
        self.page.left += _OVERHEAD * self._budget
        self._draw(0, outcomes, _OVERHEAD * self._budget, held)
        self.page.left = min(self.page.left, before)
        pools: list[tuple[float, Iterator[_Line]]] = [
            (0.16, outcomes),
            (0.16, self._whole_lines()),
            (0.10, self._tasks()),
            (0.12, iter(self._wished_first(self._older_directives(binding=True)))),
            (0.10, iter(self._wished_first(self._changes()))),
            (0.08, iter(self._wished_first(self._errors()))),
            (0.06, self._outputs()),
            (0.14, self._knowledge()),
            (0.06, iter(self._wished_first(self._older_actions()))),
            (0.06, self._whole_goal()),
            (0.02, self._more_files()),
            (0.00, self._earlier_knowledge()),
            (0.00, iter(self._wished_first(self._older_directives(binding=False)))),
        ]
        for _ in range(4):
            whole = self.page.left
            for number, (share, lines) in enumerate(pools):
                self._draw(number, lines, share * whole, held)
        for number, (_, lines) in enumerate(pools):
            self._draw(number, lines, self.page.left, held)

    def _draw(self, number: int, lines: Iterator[_Line], allowance: float, held: dict[int, _Line]) -> None:
        """Write lines of a pool until its allowance is spent; the line that was too long waits for the next round."""
        floor = self.page.left - allowance
        refused = 0
        while self.page.left > max(floor, 4.0) and refused < 8:
            self._checkpoint()
            line = held.pop(number, None) or next(lines, None)
            if line is None:
                return
            section, place, text = line
            if neutralise(text) and self.page.put(section, place, text, at_most=max(0.0, self.page.left - floor)):
                refused = 0
            elif self.page.cost(text) > self.page.left - floor:
                refused += 1
                if self.page.cost(text) <= self.page.left:
                    held[number] = line
                    return

    def _whole_lines(self) -> Iterator[_Line]:
        """The lines that the recent directives stand in, which say what `only` and `it` mean in them."""
        for place in range(len(self._sources) - 1, self._recent_from - 1, -1):
            for number, (text, line, _) in enumerate(self._directives_at(place)):
                if line != text:
                    yield "active_constraints", Place(1, place, number), _bulleted(line)

    def _outcomes(self) -> Iterator[_Line]:
        limit = int(min(300, max(100, self.page.left * 1.2 / max(1, len(self._recent_actions)))))
        for number, action in self._recent_actions:
            if self.page.has("recent_actions", Place(1, action.index, 2 * number)):
                yield "recent_actions", Place(1, action.index, 2 * number + 1), _said(self._outcome(action), limit)

    def _outputs(self) -> Iterator[_Line]:
        """The newest results at more length."""
        for number, action in self._recent_actions:
            output = cleaned_output(action)
            place = Place(1, action.index, 2 * number + 1)
            if output and self.page.has("recent_actions", place) and self._outcome(action).status == "ok":
                text = output if len(output) <= _LONGEST_OUTPUT else f"{output[:_LONGEST_OUTPUT - 200]}\n… (+{len(output) - _LONGEST_OUTPUT:,} characters) …\n{output[-200:]}"
                yield "recent_actions", place, f"→ {text}"

    def _tasks(self) -> Iterator[_Line]:
        sources = self._sources
        yield from self._last_words(700)
        for entry in self._earlier["task_state"]:
            if "[TODO]" in entry or "[ ]" in entry or "IN PROGRESS" in entry:
                yield "task_state", Place(1, len(entry)), entry
        for place in range(len(sources) - 1, max(-1, len(sources) - 1 - _OLD_CONTENTS), -1):
            if len(sources) - place > 3 * RECENT and self.page.left < 0.02 * self._budget:
                return
            for number, fact in enumerate(self._facts_at(place)):
                if fact.kind == "task":
                    yield "task_state", Place(2, fact.index, number), f"- {fact.text}"

    def _older_directives(self, *, binding: bool) -> Iterator[_Line]:
        """Rules before the recent contents, newest first: those that bid or forbid, or what merely sounds like it."""
        for place in range(self._recent_from - 1, -1, -1):
            source = self._sources[place]
            if source.ide_context or not is_plain_user(source.content):
                continue
            self._checkpoint()
            for number, (text, _, sure) in enumerate(self._directives_at(place)):
                if (sure and binding_rule().search(text) is not None) is binding:
                    yield "active_constraints", Place(1, place, number), _bulleted(text)

    def _changes(self) -> Iterator[_Line]:
        """Files that were created, changed or deleted, newest first, with the calls that did it and why."""
        deeds: dict[str, list[str]] = {}
        reasons: dict[str, str] = {}
        for action in reversed(self._actions[-_OLD_CONTENTS:]):
            if len(deeds) > _MOST_FILES:
                break
            for touch in self._touches(action):
                if touch.verb in ("created", "changed", "deleted"):
                    path = next((known for known in deeds if known == touch.path or known.endswith("/" + touch.path)), touch.path)
                    deeds.setdefault(path, []).append(f"{touch.verb} by {_head(call_name(action), 80)}")
                    reasons.setdefault(path, next(iter(sentences(action.why[:2_000])), ""))
        for number, (path, done) in enumerate(deeds.items()):
            done.reverse()
            history = "; ".join(done[-4:]) + (f"; and {len(done) - 4} times before" if len(done) > 4 else "")
            reason = f" ({_head(reasons[path], 160)})" if reasons[path] else ""
            yield "artifact_trail", Place(1, -number), f"- {path}: {history}{reason}"
        for number, entry in enumerate(self._earlier["artifact_trail"]):
            yield "artifact_trail", Place(0, number), entry

    def _touches(self, action: Action) -> list[Touch]:
        return list(touches(action, self._outcome(action)))

    def _errors(self) -> Iterator[_Line]:
        seen: set[str] = set()
        shown = {self._outcome(action).line for _, action in self._recent_actions}
        for place in range(len(self._sources) - 1, max(-1, len(self._sources) - 1 - _OLD_CONTENTS), -1):
            if len(seen) > 100:
                return
            for number, fact in enumerate(self._facts_at(place)):
                if fact.kind == "error" and fact.text not in seen and fact.text not in shown:
                    seen.add(fact.text)
                    yield "key_knowledge", Place(2, fact.index, number), f"- error met: {_head(fact.text, 300)}"

    def _earlier_knowledge(self) -> Iterator[_Line]:
        yield from (("key_knowledge", Place(0, number), entry) for number, entry in enumerate(self._earlier["key_knowledge"]))

    def _knowledge(self) -> Iterator[_Line]:
        times = self._times()
        quoted = "\n".join(text for _, text in self.page.lines("active_constraints"))
        for sentence in key_sentences(self._sources, guidance=self._guidance, checkpoint=self._checkpoint):
            if sentence.text in quoted:
                continue
            if sentence.index in times:
                when, since = times[sentence.index]
                yield "key_knowledge", Place(1, since, -1), f"- {when}"
            yield "key_knowledge", Place(1, sentence.index, sentence.order), f"- {sentence.speaker}: {sentence.text}"
        for place in range(len(self._sources) - 1, max(-1, len(self._sources) - 1 - _OLD_CONTENTS), -1):
            for number, fact in enumerate(self._facts_at(place)):
                if fact.kind in ("number", "url"):
                    yield "key_knowledge", Place(3, fact.index, number), fact.text

    def _times(self) -> dict[int, tuple[str, int]]:
        """For each content of a transcript with times: the time that was given last, and where."""
        times: dict[int, tuple[str, int]] = {}
        last: tuple[str, int] | None = None
        for source in self._sources:
            text = next((text for part in source.content.parts if (text := text_of(part))), "")
            if text.startswith("[") and (match := heading_time().match(text)):
                last = match["time"], source.index
            if last:
                times[source.index] = last
        return times

    def _older_actions(self) -> Iterator[_Line]:
        for number in range(len(self._actions) - 1, max(-1, len(self._actions) - _OLD_CONTENTS), -1):
            action = self._actions[number]
            if number not in self._shown_actions:
                outcome = self._outcome(action)
                yield "recent_actions", Place(0, action.index, number), f"- {_head(call_name(action), 120)} {_said(outcome, 100)}"
        for number, entry in enumerate(reversed(self._earlier["recent_actions"][-12:])):
            yield "recent_actions", Place(0, -1 - number), shortened(entry, 160)
        if not self._actions:
            for source in self._sources[-6:]:
                said = visible_text(source.content).strip()
                if said and not source.ide_context:
                    yield "recent_actions", Place(1, source.index), f"- {source.content.role}: {_head(said, 160)}"

    def _more_files(self) -> Iterator[_Line]:
        directory = working_directory(self._actions)
        if directory:
            yield "file_system_state", Place(0, 0), f"- CWD: {directory}"
        seen: set[str] = set()
        for action in reversed(self._actions[-_OLD_CONTENTS:]):
            for touch in self._touches(action):
                if touch.path not in seen and touch.verb in ("read", "deleted", "ran"):
                    seen.add(touch.path)
                    yield "file_system_state", Place(1, action.index, len(seen)), f"- {touch.verb.upper()}: {touch.path} ({_head(call_name(action), 60)})"
        for number, entry in enumerate(self._earlier["file_system_state"]):
            yield "file_system_state", Place(0, 1 + number), entry
        for place in range(self._recent_from - 1, max(-1, self._recent_from - 1 - _OLD_CONTENTS), -1):
            for number, fact in enumerate(self._facts_at(place)):
                if fact.kind == "path" and fact.certain and fact.text not in self._cover:
                    self._cover.add(fact.text)
                    yield "file_system_state", Place(2, fact.index, number), fact.text

    # --- What did not fit --------------------------------------------------------------------------------------------------------

    def count_the_rest(self) -> None:
        """Say how much is missing of what should stand here."""
        for kind, section in (("directive", "active_constraints"), ("path", "file_system_state"), ("command", "recent_actions")):
            if (missed := self._missed[kind]) > 0:
                self.page.put_free(section, Place(9, 0), f"… and {missed:,} more {kind}{'s' if missed > 1 else ''}")


def _said(outcome: Outcome, limit: int) -> str:
    """`→ 12 passed`, `→ failed: …`, `→ ok`."""
    line = _head(outcome.line, limit)
    return {"ok": f"→ {line or 'ok'}", "failed": f"→ failed: {line}", "open": "→ no result yet"}[outcome.status]


def _bulleted(text: str) -> str:
    return text if text.startswith(("- ", "* ")) else f"- {text}"


def _head(text: str, limit: int) -> str:
    """The first `limit` characters, and how many were left out."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … (+{len(text) - limit:,} characters)"


def _tail(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"(+{len(text) - limit:,} characters) … {text[-limit:].lstrip()}"
