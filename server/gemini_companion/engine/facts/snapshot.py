"""A snapshot written without a model: what the contents say, word for word, in the seven sections, within a budget.

First comes what must not be lost: the rules, calls and paths of the newest contents, newest first; what does not fit
is counted. The rest of the budget is shared out among pools of lines (`pools`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

from gemini_companion.engine.facts.actions import call_text, first_line, head
from gemini_companion.engine.facts.fact import FactSource, SummaryTask
from gemini_companion.engine.facts.page import Page, Place, bulleted, read_earlier
from gemini_companion.engine.facts.paths import is_dependency
from gemini_companion.engine.facts.pools import Pools, action_place
from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.facts.span import Span

_GOAL_CHARACTERS: Final = 280
_LAST_CHARACTERS: Final = 140
"""Of the first request, and of the newest and the model's newest words, whatever the budget."""
_GIANT: Final = 0.3
"""Share of the budget above which a command waits until everything smaller has found its place."""
_LONGEST_ARGUMENT: Final = 4_000
_FIRST_LINE: Final = 200
_NO_REQUEST: Final = "(No request stands in what this replaces; the one being worked on is kept beside it.)"


def carried_tokens(task: SummaryTask, count_text: Callable[[str], float]) -> int:
    """Tokens to add to a task's budget for the earlier snapshot's rules and knowledge, at most twice the budget."""
    earlier = read_earlier(task.previous_snapshot)
    text = "\n".join((*earlier["active_constraints"], *earlier["key_knowledge"]))
    return int(min(sum(map(count_text, pieces(text))), 2 * task.budget_tokens))


def extractive_snapshot(
    sources: Sequence[FactSource],
    *,
    previous: str | None,
    budget_tokens: int,
    count_text: Callable[[str], float],
    guidance: str = "",
    cite: bool = False,
    poll: Callable[[], None] = lambda: None,
) -> str:
    """A `<state_snapshot>` of `sources` with its seven sections, from what stands in them alone.

    Deterministic and total.

    Args:
        sources: What the snapshot replaces, in order.
        previous: The snapshot of what came before; its rules and knowledge are carried over word for word.
        budget_tokens: Tokens for everything but the frame: tags, labels, the head of the goal, of the last request
            and answer.
            Outcomes of calls may take 8 % more.
        count_text: Tokens of a text.
        guidance: What the user wants kept above all; what speaks of it comes first.
        cite: End lines with the `index` of the source that they come from, `[c12]`, where it is one.
        poll: Called often; what it raises ends the work.
    """
    page = Page(float(max(0, budget_tokens)), count_text)
    span = Span(sources, previous, poll)
    if goal := span.goal(_GOAL_CHARACTERS) or (_NO_REQUEST if sources else ""):
        page.put_free("overall_goal", Place(0, 0), goal)
    for number, text in enumerate(span.last_words(_LAST_CHARACTERS)):
        page.put_free("task_state", Place(0, number), text)
    recent = _Recent(span, page)
    recent.write()
    Pools(span, page, guidance).share_out()
    recent.count_missing()
    return page.render(cite=cite)


class _Recent:
    """Writes the rules, calls and paths of the recent contents, newest first, and knows afterwards what is missing."""

    def __init__(self, span: Span, page: Page) -> None:
        self._span = span
        self._page = page
        self._giant = _GIANT * page.left
        self._commands: set[str] = set()
        self._missed_paths: list[str] = []
        self._missed_rules: list[Place] = []
        self._shortened: list[tuple[Place, str]] = []

    def write(self) -> None:
        """The rules and calls, the commands that were only named, the paths, at last the commands that had to wait."""
        page, span = self._page, self._span
        for place in span.recent:
            for number, rule in enumerate(span.rules(place)):
                spot = Place(1, place, number)
                if not page.put("active_constraints", spot, bulleted(rule), cover=True):
                    self._missed_rules.append(spot)
            index = span.sources[place].index
            for number, action in span.recent_actions:
                if action.index == index:
                    other = f"- {call_text(action, _LONGEST_ARGUMENT)}"
                    self._write_call(action_place(index, number), f"$ {action.command}" if action.command else other)
        standing = page.text("recent_actions", "active_constraints", "task_state", "overall_goal")
        for _, number, fact in span.found("command", recent=True):
            if not fact.listed and fact.text not in standing:
                spot = Place(1, fact.index, number - 1_000_000)
                page.put("recent_actions", spot, f"- named, not run: {fact.text}", cover=True)
                standing += f"\n{fact.text}"
        for listed in (False, True):
            named = (found for found in span.found("path", recent=True) if found[2].listed is listed)
            for _, group in groupby(named, key=lambda found: found[2].index):  # longer paths cover their parts
                for _, number, fact in sorted(group, key=lambda found: -len(found[2].text)):
                    if page.covers(fact.text) or (listed and is_dependency(fact.text)):
                        continue
                    if not page.put("file_system_state", Place(2, fact.index, number), fact.text, cover=True):
                        self._missed_paths.append(fact.text)
        waiting, self._shortened = self._shortened, []
        for spot, text in waiting:
            if text not in self._commands and not page.put("recent_actions", spot, text, cover=True):
                self._shortened.append((spot, text))

    def count_missing(self) -> None:
        """Say on the page how many are missing."""
        self._page.cover(self._page.text("active_constraints", "file_system_state", "recent_actions", "artifact_trail"))
        paths = len({path for path in self._missed_paths if not self._page.covers(path)})
        rules = sum(not self._page.has("active_constraints", place) for place in self._missed_rules)
        for kind, missing, section in (
            ("directive", rules, "active_constraints"),
            ("path", paths, "file_system_state"),
            ("command", len(self._shortened), "recent_actions"),
        ):
            if missing:
                self._page.put_free(section, Place(9, 0), f"… and {missing:,} more {kind}{'s' if missing > 1 else ''}")

    def _write_call(self, spot: Place, text: str) -> None:
        first, _, rest = text.partition("\n")
        if text in self._commands:  # word for word once is enough
            same = f"{head(first, _FIRST_LINE)} … (the same {rest.count(chr(10)) + 1} lines as later)"
            self._page.put("recent_actions", spot, same if rest else text)
        elif self._page.cost(text) <= self._giant and self._page.put("recent_actions", spot, text, cover=True):
            self._commands.add(text)
        else:
            self._shortened.append((spot, text))
            short = first_line(text) if len(first) <= _FIRST_LINE else head(text, _FIRST_LINE)
            self._page.put("recent_actions", spot, short, cover=True)
