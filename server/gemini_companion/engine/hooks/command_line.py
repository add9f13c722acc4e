"""The line that a hook's shell is given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final

_NAME: Final = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def filled_in(command: str, values: Mapping[str, str]) -> str:
    """The command with `$NAME` of `values` as quoted text, so that a path with blanks is one word.

    Inside quotes, in a comment or a here-document's text the shell itself fills it in, from the environment.
    """
    if "<<" in command:  # what is a here-document's text, only the shell knows
        return command
    pieces: list[str] = []
    quote, at = "", 0
    while at < len(command):
        one = command[at]
        if one == "\\" and quote != "'":
            pieces.append(command[at : at + 2])
            at += 2
            continue
        if one in "'\"" and quote in ("", one):
            quote = "" if quote else one
        elif one == "$" and not quote and (found := _NAME.match(command, at)) and found[1] in values:
            pieces.append(shlex.quote(values[found[1]]))
            at = found.end()
            continue
        pieces.append(one)
        at += 1
    return "".join(pieces)
