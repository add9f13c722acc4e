"""Names and descriptions of slash commands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

CommandScope: TypeAlias = Literal["builtIn", "workspace", "user", "extension", "server"]
"""Whose a command is. `server`: a prompt of an MCP server."""

RESERVED: Final = ("new", "undo", "context", "find", "model", "export", "help")
"""Names that editors carry out themselves: nothing else has them."""

NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_.:-]*"
"""What a name looks like where it is typed."""

MAX_DESCRIPTION: Final = 100
_MAX_SEGMENT: Final = 50
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_.-]")
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,16}[@-~]|[@-Z\\-_])")
# Control characters, separators, characters without width, marks of writing direction.
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


class Named(NamedTuple):
    """A command that wants a name."""

    name: str
    scope: CommandScope
    owner: str = ""
    """The extension or the server that it is of."""


def name_of_path(parts: Sequence[str]) -> str:
    """The name of the command in a file; `parts` lead to it from the folder of commands, without `.toml`."""
    return ":".join(_segment(part) for part in parts)


def name_of_prompt(name: str) -> str:
    """The name of the command that a server's prompt is: `-` for white space, `_` for what no name has."""
    return name_of_path("-".join(name.split()).split(":"))


def _segment(part: str) -> str:
    clean = _FOREIGN.sub("_", part)
    clean = clean if clean[:1].isalnum() else f"_{clean[1:]}"  # a dot or a dash begins no word
    return clean if len(clean) <= _MAX_SEGMENT else f"{clean[: _MAX_SEGMENT - 3]}..."


def flattened(text: str, limit: int = MAX_DESCRIPTION) -> str:
    """A text as one line that shows what it is: no control sequence, nothing invisible, at most `limit` characters."""
    line = " ".join(_UNSEEN.sub(" ", _ESCAPES.sub("", text[: 20 * limit])).split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def resolved(wanted: Sequence[Named]) -> list[tuple[str, ...]]:
    """The names that each command answers to, the first one shown; none where another has them all.

    Built-in commands keep theirs. Of the others a project's goes before the person's own, that before an extension's,
    and that before a server's; whichever does not get the plain name, or shares it with one of another scope, answers
    to one that says whose it is: `workspace.x`, `user.x`, `extension:x`, `server.x`. Among equals the first counts.
    """
    order = sorted(range(len(wanted)), key=lambda at: _ORDER[wanted[at].scope])
    sharers = Counter(one.name for one in wanted)
    taken: set[str] = {*RESERVED}
    names: dict[int, tuple[str, ...]] = {}
    for at in order:
        one = wanted[at]
        is_shared = sharers[one.name] > 1 or one.name in RESERVED
        wished = (one.name, _qualified(one)) if is_shared and one.scope != "builtIn" else (one.name,)
        got = tuple(name for name in dict.fromkeys(wished) if name not in taken)
        taken.update(got)
        names[at] = got
    return [names[at] for at in range(len(wanted))]


_ORDER: Final[Mapping[CommandScope, int]] = {"builtIn": 0, "workspace": 1, "user": 2, "extension": 3, "server": 4}


def _qualified(one: Named) -> str:
    match one.scope:
        case "workspace" | "user":
            return f"{one.scope}.{one.name}"
        case "extension":
            return f"{_segment(one.owner)}:{one.name}"
        case "server":
            return f"{_segment(one.owner)}.{one.name}"
        case "builtIn":
            return one.name
