"""What a session knows that its own log does not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from gemini_companion.engine.history.log import CompressionResult, Entry
from gemini_companion.engine.history.tool_entries import ChangeEntry
from gemini_companion.engine.statistics.spending import Spending
from gemini_companion.engine.tokens.ledger import TokenLedger


@dataclass(slots=True)
class Unlogged:
    """Handed on when a session is let go and comes back, so that nobody sees that it was gone."""

    budget_told: set[object] = field(default_factory=set[object])
    """Warnings of budgets that were told, each once."""
    spent_by_agents: Spending = field(default_factory=Spending)
    """What the chat's subagents have spent; it counts for the chat's budget."""
    changed_by_agents: set[str] = field(default_factory=set[str])
    """Real paths of files: what subagents of this chat wrote is not run unasked."""

    titled_by: tuple[int, frozenset[str]] | None = None
    """The turns there were when a title was given, and the words of the prompts before it: packed since, perhaps."""

    def know_agents(self, entries: Iterable[Entry]) -> None:
        """What the logs of all its subagents say, in the place of what was heard."""
        self.spent_by_agents, self.changed_by_agents = Spending(), set()
        for entry in entries:
            self.hear_agent(entry)

    def hear_agent(self, entry: Entry) -> None:
        """A subagent of this chat logged an entry."""
        self.spent_by_agents.apply(entry)
        if isinstance(entry, ChangeEntry):
            self.changed_by_agents.update(change.path for change in entry.changes)


class Remnant(NamedTuple):
    """What is remembered of a session that was let go."""

    version: int
    """Its newest entry. If that has changed, another process had the session meanwhile."""
    ledger: TokenLedger
    """What the API's counts taught."""
    last_result: CompressionResult | None
    """Of the newest compression; one that found nothing to do is in no log."""
    unlogged: Unlogged
    is_surrounded: bool
    """Its numbers had what stands ahead of the conversation."""
