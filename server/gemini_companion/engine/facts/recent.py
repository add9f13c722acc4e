"""What must not be lost: paths, commands and directives of the newest contents, word for word, as far as the budget goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gemini_companion.engine.facts.actions import call_text, counted_lines
from gemini_companion.engine.facts.page import Page, PathCover, Place, bulleted, head
from gemini_companion.engine.facts.span import Span

GIANT: Final = 0.3
"""Share of the budget above which a command waits until everything smaller has found its place."""

_LONGEST_ARGUMENT: Final = 4_000
"""Characters of an argument of a call that is no command."""
_FIRST_LINE: Final = 200
"""Characters of a command that is shown in short."""


class RecentFacts:
    """Writes the recent contents' facts on a page, newest first, and knows afterwards what is missing."""

    def __init__(self, span: Span, page: Page) -> None:
        self._span = span
        self._page = page
        self._giant = GIANT * page.left
        self._cover = PathCover()
        self._commands: set[str] = set()
        self._missed_paths: list[str] = []
        self._missed_directives: list[Place] = []
        self._shortened: list[tuple[Place, str]] = []

    def write(self) -> None:
        """Everything that surely is a path, a command or a directive, then what may be one, then the commands that had to wait."""
        for certain in (True, False):
            for place in self._span.recent:
                if not certain:
                    self._write_paths(place, certain=False)
                for number, directive in enumerate(self._span.directives(place)):
                    if directive.certain is certain:
                        self._write_directive(Place(1, place, number), directive.text)
                for spot, text in self._commands_at(place, certain=certain):
                    self._write_command(spot, text)
                if certain:
                    self._write_paths(place, certain=True)
        waiting, self._shortened = self._shortened, []
        for spot, text in waiting:
            if text not in self._commands and not self._put_command(spot, text):
                self._shortened.append((spot, text))
        self._drop_covered_paths()

    def knows(self, path: str) -> bool:
        """True if a path stands on the page, also as a part of a longer one."""
        return path in self._cover

    def count_missing(self) -> None:
        """Say on the page how many are missing."""
        standing = PathCover()
        for section in ("active_constraints", "file_system_state", "recent_actions"):
            standing.add_texts(text for _, text in self._page.lines(section))
        paths = len({path for path in self._missed_paths if path not in standing})
        directives = sum(not self._page.has("active_constraints", place) for place in self._missed_directives)
        commands = len(self._shortened)
        for kind, missing, section in (
            ("directive", directives, "active_constraints"),
            ("path", paths, "file_system_state"),
            ("command", commands, "recent_actions"),
        ):
            if missing:
                self._page.put_free(section, Place(9, 0), f"… and {missing:,} more {kind}{'s' if missing > 1 else ''}")

    def _write_directive(self, place: Place, text: str) -> None:
        if self._page.put("active_constraints", place, bulleted(text)):
            self._cover.add_text(text)
        else:
            self._missed_directives.append(place)

    def _commands_at(self, place: int, *, certain: bool) -> Iterator[tuple[Place, str]]:
        """The calls of a content, commands first, then the others; and the commands that its text names."""
        index = self._span.sources[place].index
        calls = [(number, action) for number, action in self._span.recent_actions if action.index == index]
        for number, action in calls:
            if (action.command is not None) is certain:
                text = f"$ {action.command}" if action.command is not None else f"- {call_text(action, _LONGEST_ARGUMENT)}"
                yield action_place(index, number), text
        called = {action.command for _, action in calls}
        for number, fact in enumerate(self._span.facts(place)):
            if fact.kind == "command" and fact.certain is certain and fact.text not in called:
                yield Place(1, index, number - 1_000_000), f"- named, not run: {fact.text}"

    def _write_command(self, spot: Place, text: str) -> None:
        first, _, rest = text.partition("\n")
        if text in self._commands:  # word for word once is enough
            self._page.put("recent_actions", spot, f"{head(first, _FIRST_LINE)} … (the same {counted_lines(rest)} as later)" if rest else text)
        elif self._page.cost(text) > self._giant or not self._put_command(spot, text):
            self._shortened.append((spot, text))
            short = head(first, _FIRST_LINE)
            if self._page.put("recent_actions", spot, f"{short} … (+{counted_lines(rest)})" if rest else short):
                self._cover.add_text(first[:_FIRST_LINE])

    def _put_command(self, spot: Place, text: str) -> bool:
        if not self._page.put("recent_actions", spot, text):
            return False
        self._commands.add(text)
        self._cover.add_text(text)
        return True

    def _write_paths(self, place: int, *, certain: bool) -> None:
        for number, fact in enumerate(self._span.facts(place)):
            if fact.kind != "path" or fact.certain is not certain or fact.text in self._cover:
                continue
            if self._page.put("file_system_state", Place(2 if certain else 3, fact.index, number), fact.text):
                self._cover.add(fact.text)
            else:
                self._missed_paths.append(fact.text)

    def _drop_covered_paths(self) -> None:
        """Take paths off that stand in an older command or directive too, or in a longer path that came later."""
        standing = PathCover()
        for section in ("active_constraints", "recent_actions"):
            standing.add_texts(text for _, text in self._page.lines(section))
        paths = sorted(((text, place) for place, text in self._page.lines("file_system_state")), key=lambda pair: -len(pair[0]))
        for text, place in paths:
            if text in standing:
                self._page.remove("file_system_state", place)
            standing.add(text)
        self._cover = standing


def action_place(index: int, number: int) -> Place:
    """Where the call with a number stands in `recent_actions`; its outcome stands in the next place."""
    return Place(1, index, 2 * number)


def outcome_place(index: int, number: int) -> Place:
    """Where the outcome of the call with a number stands."""
    return Place(1, index, 2 * number + 1)
