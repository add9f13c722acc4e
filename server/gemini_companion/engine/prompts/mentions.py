"""`@path` in a prompt: which places of a text may name a file or a folder. Only the workspace knows whether they do."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final, NamedTuple

MAX_MENTIONS: Final = 200
"""Places of one prompt that are looked up; a pasted log may hold thousands."""

MAX_READ: Final = 200_000
"""Characters of a text that are searched, half of them at its end."""

_OPENING: Final = r"(\[{<（［｛「『【〔《〈"
_TRAILING: Final = ".,;:!?…'\"`*_)]}>。，、！？：；）］｝」』】〕》〉"
_MAX_STRIPPED: Final = 8

_UNSPACED: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
"""Letters and signs of scripts that put no blanks between words: Chinese, Japanese, and Korean with them."""
_LOOSELY: Final = ':*"'
"""What may stand before a mention in prose, and stands before other things in code."""
_ENDS: Final = re.compile(
    "(?=[\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65])"
    r"|\.[A-Za-z0-9]{1,10}(?=[^\x00-\x7f])|(?<=[\x21-\x7e])(?=[^\x00-\x7f])"
)
"""Where a path may end in such a script: at a sign that parts words, behind an ending, at a letter of it."""
_MOST_ENDS: Final = 4

# A backslash takes the character after it along, so that a path may contain spaces.
_MENTION: Final = re.compile(
    rf'(?<![^\s{_OPENING}{_UNSPACED}{_LOOSELY}])@(?:"(?P<quoted>[^"\n]{{1,4096}})"|(?P<plain>(?!")(?:\\[^\n]|[^\s\\]){{1,4096}}))'
)
_ESCAPED: Final = re.compile(r"\\([^\w./\\])")
"""A backslash before anything else is a path separator, or part of a name."""


_FENCE: Final = re.compile(r"[ \t]{0,3}(`{3,}+|~{3,}+)")
_CALL: Final = re.compile(r"\([\"']")
_ENDING: Final = re.compile(
    r"(?:bash|bat|c|cc|cfg|cjs|clj|cmake|conf|cpp|cs|css|csv|dart|dockerfile|el|env|erl|exs?|gd|go|gradle|graphql|h|hpp|hs"
    r"|html?|ini|ipynb|java|jl|jsx?|json[cl]?|kts?|less|lock|log|lua|mdx?|mjs|mts|nix|patch|php|pl|po|proto|ps1|pyi?|r|rb"
    r"|rs|rst|sass|scala|scss|sh|sql|svelte|svg|swift|tex|tf|toml|tsv|tsx?|txt|vim|vue|xml|ya?ml|zig|zsh)",
    re.IGNORECASE,
)
"""What a name of a text file ends with, of which no handle and no decorator is made."""


class Mention(NamedTuple):
    """A place of a text that may name a file or a folder."""

    written: str
    """As it stands in the text, from the `@` on, without what ends a sentence."""
    paths: tuple[str, ...]
    """What it may mean, the likeliest first."""
    is_loose: bool = False
    """Its beginning is one of code too, such as `"@types/node"`: it is a mention only if there is such a file."""

    @property
    def looks_like_a_path(self) -> bool:
        """True if it can hardly be anything else: a handle, a decorator or a call is written without all of this."""
        path = self.paths[-1]
        if self.is_loose or _CALL.search(self.written):
            return False
        is_named = "." in path and _ENDING.fullmatch(path.rpartition(".")[2]) is not None
        return self.written.startswith('@"') or "/" in path or "\\" in path or is_named


def mentions_in(text: str) -> list[tuple[str, ...]]:
    """What `places_in` finds, as paths alone."""
    return list(dict.fromkeys(mention.paths for mention in places_in(text)))


def without_code(text: str) -> str:
    """The text without its fenced code; a fence that is never closed reaches to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if not fence and found is None:
            kept.append(line)
        elif not fence and found is not None:
            fence = found[1]
        elif found is not None and found[1].startswith(fence):
            fence = ""
    return "\n".join(kept)


def places_in(text: str) -> list[Mention]:
    """What the text may mention, in order, each once: for each place the possible paths, the likeliest first.

    A mention is an `@` at the beginning, after white space, an opening bracket, a colon, an asterisk, a quote, or a
    letter of a script without blanks, and a path behind it: in double quotes, or up to the next white space that no
    backslash escapes. What ends a sentence or closes a bracket, and letters of such a script, may or may not belong to
    the path, so each reading is given.
    """
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
    found: dict[tuple[str, ...], Mention] = {}
    for match in _MENTION.finditer(text):
        quoted = match["quoted"]
        meant = (
            _meant(match["plain"]) if quoted is None else (quoted,) if quoted.strip(". ") else ()
        )  # dots alone name no file
        if meant:
            written = (
                match[0] if quoted is not None else f"@{_pieces(match['plain'])[-1]}".rstrip(_TRAILING) or match[0]
            )
            is_loose = text[match.start() - 1 : match.start()] in tuple(_LOOSELY)
            found.setdefault(meant, Mention(written, meant, is_loose))
        if len(found) >= MAX_MENTIONS:
            break
    return list(found.values())


def _pieces(written: str) -> list[str]:
    """What stands there, and what is left of it where its path ends at a letter or a sign of a script without blanks;
    the longest first.
    """
    if written.isascii():
        return [written]
    ends = {found.end() for found in islice(_ENDS.finditer(written), _MOST_ENDS) if found.end()}
    return [written[:end] for end in sorted({len(written), *ends}, reverse=True)]


def _meant(written: str) -> tuple[str, ...]:
    paths: dict[str, None] = {}
    for piece in _pieces(written):
        for _ in range(_MAX_STRIPPED):
            path = _ESCAPED.sub(r"\1", piece)
            if path.strip("."):  # dots alone are punctuation
                paths[path] = None
            if not piece or piece[-1] not in _TRAILING:
                break
            piece = piece[:-1].removesuffix("\\")
    return tuple(paths)
