"""What a command wrote of the files that this program obeys: told, asked about, and of no effect until then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from gemini_companion.engine.edits.diffs import file_diff
from gemini_companion.engine.edits.encoding import decoded
from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.escapes import one_line, well_formed
from gemini_companion.settings.obeyed import MOST_BYTES, Made, Watch
from gemini_companion.tools.guarded import may_be_allowed
from gemini_companion.tools.paths import innermost, shown_path
from gemini_companion.tools.tool import ToolContext

_MOST_NAMED: Final = 20


class Obeyed(Protocol):
    """Looks at the files that this program obeys, around a command."""

    async def begin(self, roots: Sequence[str]) -> Watch:
        """Note what they are."""
        ...

    async def end(
        self,
        watch: Watch,
        roots: Sequence[str],
        changed: Iterable[str],
        *,
        is_persons: Callable[[str, bytes], bool],
        goes_on: bool = False,
    ) -> tuple[Made, ...]:
        """Those that came about since, which count for nothing until the person agrees.

        `changed` are files that the command is known to have changed; `is_persons` says of a path and a content whether
        the person wrote it; `goes_on`: what was started runs on.
        """
        ...


def named(made: Sequence[Made], roots: Sequence[str]) -> str:
    """The files, on one line."""
    shown = [one_line(shown_path(each.path, roots)) for each in made]
    more = len(shown) - _MOST_NAMED
    return ", ".join([*shown[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])


def deciding(paths: Iterable[str], context: ToolContext) -> str:
    """Those of the files that are known to decide what runs or what a model is told, on one line."""
    found: list[str] = []
    for path in dict.fromkeys(paths):
        root = innermost(path, context.roots)
        reason = context.ports.guard(path, root) if root is not None else ""
        if reason and not may_be_allowed(reason):
            found.append(f"{one_line(shown_path(path, context.roots))} ({reason})")
    more = len(found) - _MOST_NAMED
    return "; ".join([*found[:_MOST_NAMED], *([f"and {more:,} more"] if more > 0 else [])])


def diff_of(made: Sequence[Made], roots: Sequence[str]) -> str:
    """What is new of them, one behind the other, whole."""
    diffs: list[str] = []
    for each in made:
        old, new = (None if data is None else _text_of(data) for data in (each.old, each.new))
        shown = one_line(shown_path(each.path, roots))
        if not each.can_be_shown:
            diffs.append(f"{shown}: it is too large to be shown, and a yes is not for it; save it in your editor\n")
        elif new is None or len(each.new) >= MOST_BYTES:
            more = "more than " if len(each.new) >= MOST_BYTES else ""
            diffs.append(f"{shown}: it is no text ({more}{len(each.new):,} bytes)\n")
        else:
            diffs.append(file_diff(old, new, shown, lines=None).rstrip("\n") + "\n")
    return "".join(diffs)


def _text_of(data: bytes) -> str | None:
    """A file as text, also where it has signs that no text has: whoever reads a `.env` file goes by what is behind."""
    text = decoded(data)
    if text is not None:
        return with_line_feeds(well_formed(text.text))
    try:
        return with_line_feeds(data.decode("utf-8"))
    except UnicodeError:
        return None


def warning(made: Sequence[Made], roots: Sequence[str]) -> str:
    """What the person is told who did not agree."""
    them = "it" if len(made) == 1 else "them"
    return (
        f"A command wrote {named(made, roots)}. Nothing of that counts until you agree: look at {them}, then save"
        f" {them} in your editor, or delete what you do not want."
    )
