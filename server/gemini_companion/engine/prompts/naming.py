"""Whether a person's words name a file or a folder: what is withheld is shown only to who asks for it by name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

MAX_READ: Final = 200_000
"""Characters of a text that are looked at, half of them at its end; a pasted log may hold millions."""

_MAX_NAMES: Final = 64
"""Names at the end of a path that are looked for."""
_QUOTES: Final = frozenset("\"'`@“”‘’「」『』«»")


def names_path(texts: Iterable[str], path: str) -> bool:
    """Whether one of the texts names an absolute path, or the end of it: `config/.env`, `.env`.

    Where it stands as a part of a longer name or path it is another file. A single word of letters alone names a file
    only in quotes, behind an `@`, or with a slash at its end.
    """
    names = [name for name in _plain(path).split("/") if name]
    ends = ["/".join(names[start:]) for start in range(max(0, len(names) - _MAX_NAMES), len(names))]
    return any(_stands_in(text, end) for text in map(_plain, map(_excerpt, texts)) for end in ends)


def _stands_in(text: str, name: str) -> bool:
    is_word = name.isalpha()
    at = text.find(name)
    while at >= 0:
        before, behind = _before(text, at), text[at + len(name) : at + len(name) + 6]
        is_whole = before != "/" and not _is_of_a_name(before) and not _goes_on(behind)
        if is_whole and (not is_word or before in _QUOTES or behind.startswith("/")):
            return True
        at = text.find(name, at + 1)
    return False


def _before(text: str, at: int) -> str:
    """The sign before a path, be it from the folder of now, from home or from the root; empty at the beginning."""
    while text[max(0, at - 2) : at] in ("./", "~/"):
        at -= 2
    if text[max(0, at - 1) : at] == "/" and not (at > 1 and _is_of_a_name(text[at - 2])):
        at -= 1
    return text[at - 1] if at else ""


def _goes_on(behind: str) -> bool:
    """Whether what is behind a name makes it longer; a slash alone ends a folder's name, dots end a sentence."""
    return _is_of_a_name(behind.removeprefix("/").lstrip(".")[:1])


def _is_of_a_name(sign: str) -> bool:
    """Letters of scripts that set no blanks between words are none of a name: `.envを読んで`."""
    return bool(sign) and (sign in "_-.~$" or (sign.isalnum() and sign < "\u2e80"))


def _plain(text: str) -> str:
    text = text.replace("\\ ", " ").replace("\\", "/")
    return unicodedata.normalize("NFC", text).casefold()


def _excerpt(text: str) -> str:
    return text if len(text) <= MAX_READ else f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
