"""The front matter of a skill's file: its name, its description, and the body below.

Read line by line, as much of YAML as such files use: plain and quoted values, values that go on in indented lines, and
blocks (`|`, `>`). A colon in a plain value is text. What else stands there is passed over.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

MAX_NAME: Final = 64
MAX_DESCRIPTION: Final = 1_024
_FOREIGN: Final = re.compile(r'[:\\/<>*?"|\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]')
_KEY: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*+)[ \t]*+:(?:[ \t]++(.*+)|[ \t]*+)")
_ESCAPE: Final = re.compile(r"\\([\"\\/nt])")
_MEANT: Final = {"n": "\n", "t": "\t"}


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """What a skill's file says."""

    name: str
    description: str
    """One line."""
    body: str


def skill_of(text: str) -> Skill:
    """The skill that a file with line feeds describes. Raises `ValueError` that says what is wrong with it."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise ValueError("it does not begin with a line ---")
    end = next((number for number in range(1, len(lines)) if lines[number].rstrip() == "---"), None)
    if end is None:
        raise ValueError("its front matter has no end: a second line --- is missing")
    fields = _fields(lines[1:end])
    name = _FOREIGN.sub("-", fields.get("name", "").strip())
    description = " ".join(fields.get("description", "").split())
    if not name:
        raise ValueError("its front matter has no name")
    if not description:
        raise ValueError("its front matter has no description")
    if len(name) > MAX_NAME:
        raise ValueError(f"its name has more than {MAX_NAME} characters")
    shown = description if len(description) <= MAX_DESCRIPTION else f"{description[: MAX_DESCRIPTION - 1]}…"
    return Skill(name=name, description=shown, body="\n".join(lines[end + 1 :]).strip())


def _fields(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    key = ""
    for line in lines:
        found = _KEY.fullmatch(line.rstrip())
        if found is not None:
            key, value = found[1], (found[2] or "").strip()
            fields[key] = "" if re.fullmatch(r"[|>][+-]?", value) else _plain(value)
        elif key and line[:1] in (" ", "\t") and line.strip():
            fields[key] = f"{fields[key]} {line.strip()}".strip()
    return fields


def _plain(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return _ESCAPE.sub(lambda match: _MEANT.get(match[1], match[1]), value[1:-1])
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value.split(" #")[0].rstrip()
