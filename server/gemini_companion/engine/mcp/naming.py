"""Arguments of servers' prompts as a person types them (`/poem --topic="tea"`), and resources that they mention."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gemini_companion.engine.mcp.listed import ListedPrompt

_OPTION: Final = re.compile(r"""--([\w.-]{1,100})=(?:"((?:[^"\\]|\\.)*+)"|'([^']*+)'|(\S*+))""", re.DOTALL)
_WORD: Final = re.compile(r"""\s*+(?:"((?:[^"\\]|\\.)*+)"|(\S++))""", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
MOST_TEXT: Final = 100_000
"""Characters of all arguments."""


class Mentioned(NamedTuple):
    """A resource, as it was mentioned."""

    server: str
    uri: str


def spoken_name(server: str) -> str:
    """A server's name as people type it: without white space."""
    return "-".join(server.split())


def mentioned_resource(path: str) -> Mentioned | None:
    """The resource that a mention may mean."""
    server, colon, uri = path.partition(":")
    return Mentioned(server, uri) if colon and server and uri else None


def arguments_of(prompt: ListedPrompt, rest: str) -> dict[str, str]:
    """The arguments as they were typed: `--name="text"`, or one behind the other, the last one with all that is left.

    Raises `ValueError` with a sentence that says what is missing, or unknown.
    """
    if len(rest) > MOST_TEXT:
        raise ValueError(f"Its arguments have more than {MOST_TEXT:,} characters.")
    names = [argument.name for argument in prompt.arguments]
    given: dict[str, str] = {}

    def take(option: re.Match[str]) -> str:
        name = option[1]
        if name not in names:
            return option[0]
        quoted = option[2]
        given[name] = _ESCAPED.sub(r"\1", quoted) if quoted is not None else option[3] or option[4] or ""
        return ""

    left = _OPTION.sub(take, rest).strip()
    open_ = [name for name in names if name not in given]
    for number, name in enumerate(open_):
        if not left:
            break
        word = _WORD.match(left)
        if number == len(open_) - 1 or word is None:
            given[name], left = left, ""
        else:
            given[name] = _ESCAPED.sub(r"\1", word[1]) if word[1] is not None else word[2]
            left = left[word.end() :].strip()
    missing = [argument.name for argument in prompt.arguments if argument.required and not given.get(argument.name)]
    if missing:
        raise ValueError(f"It needs {', '.join(missing)}.")
    if left:
        raise ValueError("It takes no arguments." if not names else f"It knows only {', '.join(names)}.")
    return given
