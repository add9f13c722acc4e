"""A snapshot written without a model: what the contents say, word for word, in the seven sections, within a budget.

First comes what must not be lost: the rules, calls and paths of the newest contents, newest first; what does not fit
is counted. The rest of the budget is shared out among pools of lines (`pools`). Beside a record
those alone are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from gemini_companion.engine.facts.actions import call_text, first_line, head
from gemini_companion.engine.facts.fact import FactReader, FactSource, SummaryTask
from gemini_companion.engine.facts.page import Page, Place, bulleted, read_earlier
from gemini_companion.engine.facts.paths import is_dependency
from gemini_companion.engine.facts.pools import PENDING, Pools, action_place, pending_text
from gemini_companion.engine.facts.sentences import opening, pieces
from gemini_companion.engine.facts.span import LeftStanding, Said, Span
from gemini_companion.engine.facts.statements import same_as
from gemini_companion.engine.history.content import Content

_HEAD: Final = 640
"""Characters of the goal that stand there whatever the budget."""
_SENTENCE: Final = 320
"""Characters of one sentence of it."""
_CARRIED: Final = 600
"""Characters of what an earlier snapshot says of it, which is not cut a second time."""
_GOAL: Final = 0.5
"""Share of the budget that the rest of it may have."""
_LAST_WORD: Final = 140
"""Characters of the model's newest words that stand there whatever the budget."""
_ASIDE: Final = 0.4
"""Share of the budget that rules, calls and paths leave for what was said, as far as the chat is talk: they would take
it all.
"""
_UNTOUCHED: Final = 0.7
"""Share of that which rules leave too."""
_GIANT: Final = 0.3
"""Share of the budget above which a command waits until everything smaller has found its place."""
_LONGEST_ARGUMENT: Final = 4_000
_FIRST_LINE: Final = 200
_OPENING: Final = 40
"""Characters of a wish that stands whole elsewhere."""
_BELOW: Final = "… (below)"
"""Behind the opening of a wish that stands in what follows."""
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
    later: Sequence[Content] = (),
    beside_record: bool = False,
    reader: FactReader | None = None,
    rules_in: Callable[[str], Sequence[str]] | None = None,
    left_standing: LeftStanding | None = None,
    in_force: Iterable[str] = (),
    released: Iterable[str] = (),
    poll: Callable[[], None] = lambda: None,
) -> str:
    """A `<state_snapshot>` of `sources` with its seven sections, from what stands in them alone.

    Deterministic and total.

    Args:
        sources: What the snapshot replaces, in order.
        previous: The snapshot of what came before; its rules and knowledge are carried over word for word.
        budget_tokens: Tokens for everything but the frame: tags, labels, the head of the goal and of the
            model's last word. Outcomes of calls may take 8 % more.
        count_text: Tokens of a text.
        guidance: What the user wants kept above all; what speaks of it comes first.
        cite: End lines with the `index` of the source that they come from, `[c12]`, where it is one.
        later: What stands behind them, and stays.
        beside_record: What was said and done is quoted beside the snapshot: it says the goal, the rules, what changed
            where and what is open, and tells nothing over again.
        reader: Saves reading the same contents again.
        rules_in: Gives the rules of a prompt; without it, patterns find them.
        left_standing: Gives the rules of prompts that no later one took back. Beside a record only these are written,
            a sentence each: what a snapshot calls a rule binds, and all that was said stands in the record.
        in_force: Rules that stand beside it: no constraints beside a record.
        released: Rules that hold no more: beside a record neither constraints nor a goal.
        poll: Called often; what it raises ends the work.
    """
    page = Page(float(max(0, budget_tokens)), count_text)
    span = Span(sources, previous, poll, later, reader, rules_in, left_standing)
    if beside_record:
        span.in_force.update(map(same_as, in_force))
        span.released.update(map(same_as, released))
    _write_goal(span, page, beside_record=beside_record)
    pools = Pools(span, page, guidance, beside_record=beside_record)
    if beside_record:
        pools.share_out()
        return page.render(cite=cite)
    if last := span.last_word(_LAST_WORD):
        page.put_free("task_state", Place(0, 0), last)
    recent = _Recent(span, page)
    recent.write()
    page.left += recent.aside
    pools.share_out(recent.aside)
    recent.count_missing()
    return page.render(cite=cite)


def _write_goal(span: Span, page: Page, *, beside_record: bool) -> None:
    """The sentences that say it, the most telling first, in the order in which they were said; and the request that
    waits for its answer. Beside a record what stands behind it word for word is only named.
    """
    pending = span.pending
    floor, free = (1 - _GOAL) * page.left, _HEAD
    if pending is not None:
        page.put_free("overall_goal", PENDING, pending_text(pending, _HEAD // 2))
        free //= 2
    wishes = [one for one in span.goal() if one.statement.same not in span.released]
    wishes = [one for one in wishes if one.place >= 0 or not one.text.endswith(_BELOW)]
    below = [one for one in wishes if beside_record and one.place >= len(span.sources)]
    wishes = [one for one in wishes if one not in below]
    for one in below:
        spot = Place(0, one.place + 1, one.statement.start)
        named = f"- {opening(one.text, _OPENING)} {_BELOW}"
        page.put_free("overall_goal", spot, named)
        page.left -= page.cost(named)
        free -= len(named)
    whole: dict[Said, str] = {}
    joined: set[Said] = set()
    for one in sorted(wishes, key=lambda one: (one.place, one.statement.part, one.statement.start)):
        found = span.following(one, _SENTENCE) if one not in joined else None
        if found is not None and found[0].statement.same not in span.released:
            joined.add(found[0])
            whole[one] = found[1]
    for one in wishes:
        if one in joined or (
            pending is not None and one.place < len(span.sources) and span.sources[one.place] is pending
        ):
            continue
        place = Place(0, one.place + 1, one.statement.start)
        text = bulleted(whole.get(one) or head(one.text, _CARRIED if one.place < 0 else _SENTENCE))
        if text in page.text("overall_goal").split("\n"):
            continue
        if len(text) <= free:
            page.put_free("overall_goal", place, text)
            free -= len(text)
        else:
            page.put("overall_goal", place, text, at_most=page.left - floor)
    if span.sources and not page.text("overall_goal"):
        page.put_free("overall_goal", PENDING, _NO_REQUEST)


class _Recent:
    """Writes the rules, calls and paths of the recent contents, newest first, and knows afterwards what is missing."""

    def __init__(self, span: Span, page: Page) -> None:
        self._span = span
        self._page = page
        self.aside = min(_ASIDE * page.budget * span.talk_share, page.left)
        """Tokens that are left for what was said."""
        self._untouched = _UNTOUCHED * self.aside
        page.left -= self.aside
        self._giant = _GIANT * page.left
        self._commands: set[str] = set()
        self._missed_paths: list[str] = []
        self._missed_rules: list[Place] = []
        self._shortened: list[tuple[Place, str]] = []

    def write(self) -> None:
        """The rules and calls, the commands that were only named, the paths, at last the commands that had to wait."""
        page, span = self._page, self._span
        for place in span.recent:
            for number, (rule, bare) in enumerate(span.rules(place)):
                spot = Place(1, place, number)
                if not page.put("active_constraints", spot, bulleted(rule), cover=True) and not self._put_all(
                    spot, bare
                ):
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

    def _put_all(self, spot: Place, rule: str) -> bool:
        """Write a rule with some of what was put aside too: it comes before what was said."""
        page, kept = self._page, min(self.aside, self._untouched)
        page.left += self.aside - kept
        is_written = page.put("active_constraints", spot, bulleted(rule), cover=True)
        self.aside = kept + min(self.aside - kept, page.left)
        page.left -= self.aside - kept
        return is_written

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
