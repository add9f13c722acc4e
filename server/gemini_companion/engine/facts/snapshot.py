"""A snapshot written without a model: what the contents say, word for word, in the seven sections, within a budget.

First comes what must not be lost (`recent`): every path, command and directive of the last contents, newest first, the rest counted.
What is left of the budget is shared out among everything else (`remainder`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gemini_companion.engine.facts.earlier import read_earlier
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.fact import SummaryTask as SummaryTask
from gemini_companion.engine.facts.page import Page, Place
from gemini_companion.engine.facts.recent import RecentFacts
from gemini_companion.engine.facts.remainder import Remainder, goal, last_words
from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.facts.span import Span

_GOAL_CHARACTERS: Final = 280
"""Of the first request, whatever the budget."""
_LAST_CHARACTERS: Final = 140
"""Of the newest request and of the model's newest words, whatever the budget."""
_LISTS: Final = {
    ("file_system_state", 2): "NAMED",
    ("file_system_state", 3): "NAMED, perhaps no files",
    ("key_knowledge", 3): "NUMBERS AND ADDRESSES",
}
"""Groups of lines that are written in one line."""


def carried_tokens(task: SummaryTask, count_text: Callable[[str], float]) -> int:
    """Tokens to add to a task's budget for the rules and the knowledge of the earlier snapshot, at most twice the budget."""
    earlier = read_earlier(task.previous_snapshot)
    text = "\n".join((*earlier["active_constraints"], *earlier["key_knowledge"]))
    return int(min(sum(map(count_text, pieces(text))), 2 * task.budget_tokens))


def _go_on() -> None:
    """The default of `checkpoint`."""


def extractive_snapshot(
    sources: Sequence[FactSource],
    *,
    previous: str | None,
    budget_tokens: int,
    count_text: Callable[[str], float],
    guidance: str = "",
    checkpoint: Callable[[], None] = _go_on,
) -> str:
    """A `<state_snapshot>` of `sources` with its seven sections, from what stands in them alone. Deterministic and total.

    Args:
        sources: What the snapshot replaces, in order.
        previous: The snapshot of what came before; its rules and knowledge are carried over word for word.
        budget_tokens: Tokens for everything but the frame: tags, labels, the head of the goal, of the last request and answer. Outcomes
            of calls may take 8 % more.
        count_text: Tokens of a text.
        guidance: What the user wants kept above all; what speaks of it comes first.
        checkpoint: Called often; what it raises ends the work.
    """
    budget = float(max(0, budget_tokens))
    span = Span(sources, previous, checkpoint)
    page = Page(budget, count_text, _LISTS)
    _write_frame(span, page)
    recent = RecentFacts(span, page)
    recent.write()
    remainder = Remainder(span, page, recent, guidance, budget)
    remainder.carry_over()
    remainder.share_out()
    recent.count_missing()
    return page.render()


def _write_frame(span: Span, page: Page) -> None:
    """The goal and where things stand, in short."""
    if text := goal(span, _GOAL_CHARACTERS):
        page.put_free("overall_goal", Place(0, 0), text)
    elif span.sources:
        page.put_free("overall_goal", Place(0, 0), "(No request stands in what this replaces; the one being worked on is kept beside it.)")
    for section, place, text in last_words(span, _LAST_CHARACTERS):
        page.put_free(section, place, text)
