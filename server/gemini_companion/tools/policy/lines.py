"""What is needed of whoever judges shell lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias

from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.tools.tool import Touched

LineDecision: TypeAlias = Literal["allow", "ask", "deny", "refuse"]
"""`refuse`: not even a person's yes lets it run."""


class JudgedPart(Protocol):
    """A command of a line."""

    @property
    def text(self) -> str:
        """As it stands in the line."""
        ...

    @property
    def decision(self) -> LineDecision:
        """Of this part alone."""
        ...

    @property
    def reason(self) -> str:
        """For people."""
        ...


class JudgedLine(Protocol):
    """A shell line, judged by its parts: it is as good as its worst."""

    @property
    def decision(self) -> LineDecision:
        """Of its worst part."""
        ...

    @property
    def parts(self) -> Sequence[JudgedPart]:
        """In the order of the line."""
        ...

    @property
    def reason(self) -> str:
        """For people."""
        ...

    @property
    def by_rules(self) -> bool:
        """Rules that allow name each of its parts: not its harmlessness alone lets it through."""
        ...

    @property
    def looks_in(self) -> str:
        """The folder in whose repository `git` looks, where the line does nothing but look; empty otherwise."""
        ...

    @property
    def suggested(self) -> ToolRule | None:
        """A rule that would let this line through, if there may be one."""
        ...


class LineJudge(Protocol):
    """Judges shell lines by the rules for `run_shell_command`. Never raises."""

    def __call__(
        self,
        line: str,
        *,
        cwd: str,
        roots: Sequence[str],
        rules: Sequence[ToolRule],
        of_file: Callable[[Touched], Decision],
        fresh: frozenset[str] = frozenset(),
    ) -> JudgedLine:
        """The verdict. `of_file` says what the rules say of reading or writing a file that the line names, `fresh` are
        the real paths of files that were written in this turn. Looks at the disk; blocks for some milliseconds at most.
        """
        ...
