"""How a model is told of skills: which there are, in every request, and what one says once it is activated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

MAX_LISTED: Final = 12_000
"""Characters that the names and descriptions of all skills may have in every request."""
MAX_EACH: Final = 300
"""Characters of one description there; the rest comes with the skill."""
MAX_BODY: Final = 30_000
"""Characters of a skill's instructions that come with its activation."""

_HEAD: Final = """\
# Skills
Instructions for kinds of work, which are not in front of you yet. Where a request is of a kind that one of them \
describes, call `activate_skill` with its name first, and then work by what it says. Do not guess what a skill says. \
The descriptions are those of whoever wrote the skills:"""

_CUT: Final = "\n[cut here: activate_skill with the file SKILL.md has the rest]"
_TAGS: Final = re.compile(r"<(?=\s*+/?\s*+(?:activated_skill|instructions|available_resources)\b)", re.IGNORECASE)


def skills_section(skills: Sequence[tuple[str, str]]) -> str:
    """The section of the system prompt, of names and descriptions in order; empty where there are none.

    Bounded: what has no room is counted.
    """
    lines: list[str] = []
    left = MAX_LISTED
    for name, description in skills:
        shown = description if len(description) <= MAX_EACH else f"{description[: MAX_EACH - 1]}…"
        line = f"- {name}: {_safe(shown)}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    if not lines:
        return ""
    more = len(skills) - len(lines)
    if more:
        lines.append(f"- and {more} more, for which there is no room here: the user knows their names")
    return "\n".join((_HEAD, *lines))


def activated_skill(name: str, body: str, resources: Sequence[str], *, more: int = 0) -> str:
    """What an activated skill says. `resources` are the files of its folder, relative to it; `more` have no room."""
    shown = body if len(body) <= MAX_BODY else body[:MAX_BODY] + _CUT
    lines = [f'<activated_skill name="{_quoted(name)}">', "<instructions>", _safe(shown), "</instructions>"]
    if resources:
        lines += ["<available_resources>", *(f"- {_safe(path)}" for path in resources)]
        lines += [f"- and {more} more"] if more else []
        lines += [
            "Read one, when the instructions send you there, by `activate_skill` with this name and its path as file.",
            "</available_resources>",
        ]
    return "\n".join((*lines, "</activated_skill>"))


def is_whole_in(text: str, name: str) -> bool:
    """Whether a text holds what `activated_skill` gave for a name, from its first line to its last."""
    return f'<activated_skill name="{_quoted(name)}">' in text and "</activated_skill>" in text


def _safe(text: str) -> str:
    return _TAGS.sub("&lt;", text)


def _quoted(name: str) -> str:
    return name.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
