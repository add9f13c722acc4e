"""The lines of one ignore file and their verdict on an entry, by git's rules.

Names and whole paths without wildcards are looked up. All other lines together are one automaton that reads a path
once, one bit for every place in every pattern: a character costs two shifts and masks of one integer, whatever the
patterns are. Regular expressions, pathspec's among them, take quadratic or exponential time on hostile patterns, and
hold the interpreter meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from gemini_companion.adapters.workspace.globs import Set, Token, Wild, tokens

MAX_LINES: Final = 20_000
MAX_WILD: Final = 1 << 16
"""Characters of all lines of a file that have wildcards."""
MAX_SETS: Final = 1_000
"""Different `[…]` in a file. Large ignore files have a tenth of each."""
_MAX_LINE: Final = 4_096
"""No path is longer."""
_MASK_BITS: Final = 1 << 24
"""Bits of all masks that one file keeps."""


class TooLarge(Exception):
    """An ignore file that has more than is read of one; the text says of what."""


class Place(NamedTuple):
    """A directory, as the rules of an ignore file in it or above it see it."""

    path: str
    """From the ignore file's directory, with a slash after every name."""
    active: int
    """The automaton's state after that path."""


class _Line(NamedTuple):
    hides: bool
    folders_only: bool
    anchored: bool
    """It stands for a path from the file's directory, not for a name at any depth."""
    tokens: Sequence[Token]


class Rules:
    """One ignore file. Lines that git ignores are ignored. Raises `TooLarge`, and nothing else, whatever is in it."""

    def __init__(self, text: str) -> None:
        if text.count("\n") >= MAX_LINES:
            raise TooLarge(f"over {MAX_LINES:,} lines")
        lines = list(_parse(text))
        self._hides = [line.hides for line in lines]
        # The last line that hides or re-includes a name, or a path, if it is a file, and if it is a folder.
        self._names: dict[str, tuple[int, int]] = {}
        self._paths: dict[str, tuple[int, int]] = {}
        wild: list[tuple[int, _Line]] = []
        for number, line in enumerate(lines):
            plain = [token for token in line.tokens if isinstance(token, str)]
            if len(plain) < len(line.tokens):
                wild.append((number, line))
                continue
            known = self._paths if line.anchored else self._names
            text = "".join(plain)
            known[text] = (known.get(text, _NONE)[0] if line.folders_only else number, number)
        if sum(len(line.tokens) for _, line in wild) > MAX_WILD:
            raise TooLarge(f"over {MAX_WILD:,} characters of patterns with wildcards")
        if len({token for _, line in wild for token in line.tokens if isinstance(token, Set)}) > MAX_SETS:
            raise TooLarge(f"over {MAX_SETS:,} different sets of characters")
        self._wild = _Automaton(wild)
        self.top = Place("", self._wild.start)
        """The directory of the ignore file itself."""

    def enter(self, place: Place, name: str) -> Place:
        """A directory in `place`."""
        return Place(f"{place.path}{name}/", self._wild.enter(place.active, name))

    def verdict(self, place: Place, name: str, *, is_folder: bool) -> bool | None:
        """True if the entry of `place` is hidden, False if it is re-included, `None` if no line matches it.

        The last line that matches decides. Entries of a hidden directory must not be asked for.
        """
        last = max(
            self._names.get(name, _NONE)[is_folder],
            self._paths.get(place.path + name, _NONE)[is_folder] if self._paths else -1,
            self._wild.last_match(place.active, name, is_folder=is_folder),
        )
        return self._hides[last] if last >= 0 else None


_NONE: Final = (-1, -1)


class _Automaton:
    """Patterns with wildcards, side by side in one integer.

    Bit n of a state stands for a place between two tokens of a pattern: it is 1 if what was read so far may end there.
    A token leads from its place to the next one; places after a star, and before a `**/`, also lead to themselves.
    """

    def __init__(self, lines: Iterable[tuple[int, _Line]]) -> None:
        self._signs: defaultdict[str, list[int]] = defaultdict(list)
        """For each character the places that it leads to."""
        self._sets: defaultdict[Set, list[int]] = defaultdict(list)
        self._masks: dict[str, int] = {}
        self._line_at: dict[int, int] = {}
        starts: list[int] = []
        anywhere: list[int] = []
        stays: list[int] = []
        folders: list[int] = []
        ends: list[int] = []
        place = -1
        for number, line in lines:
            place += 1
            starts.append(place)
            rest = line.tokens
            if not line.anchored or rest[0] is Wild.FOLDERS:
                anywhere.append(place)
                rest = rest[rest[0] is Wild.FOLDERS :]
            for token in rest:
                if token is Wild.STAR:
                    stays.append(place)
                    continue
                if token is Wild.FOLDERS:
                    stays.append(place)
                    folders.append(place)
                place += 1
                if isinstance(token, Set):
                    self._sets[token].append(place)
                else:
                    self._signs["/" if token is Wild.FOLDERS else token].append(place)
            self._line_at[place] = number
            if not line.folders_only:
                ends.append(place)
        self._size = place + 1
        self._max_masks = max(16, _MASK_BITS // (self._size + 1))
        self._anywhere = self._bits(anywhere)
        self._stays = self._bits(stays)
        self._folders = self._bits(folders)
        self._ends = self._bits(ends)
        self._folder_ends = self._bits(self._line_at)
        self.start = self._skip_none(self._bits(starts))

    def enter(self, active: int, name: str) -> int:
        """The state after a name and its slash."""
        return self._skip_none(self._read(active, name) << 1 & self._mask("/")) | self._anywhere

    def last_match(self, active: int, name: str, *, is_folder: bool) -> int:
        """The number of the last line that matches the name from this state; -1 if none does."""
        matched = self._read(active, name) & (self._folder_ends if is_folder else self._ends)
        return self._line_at[matched.bit_length() - 1] if matched else -1

    def _read(self, active: int, name: str) -> int:
        masks, stays = self._masks, self._stays
        for sign in name:
            if not active:
                break
            mask = masks.get(sign)
            active = active << 1 & (self._mask(sign) if mask is None else mask) | active & stays
        return active

    def _skip_none(self, active: int) -> int:
        """At the beginning of a name, before and after a `**/` is the same."""
        return active | (active & self._folders) << 1 | active >> 1 & self._folders if self._folders else active

    def _mask(self, sign: str) -> int:
        """The places that a character leads to."""
        mask = self._masks.get(sign)
        if mask is None:
            places = list(self._signs.get(sign, ()))
            if sign != "/":
                for signs, more in self._sets.items():
                    if signs.has(sign):
                        places += more
            if len(self._masks) >= self._max_masks:
                self._masks.clear()
            mask = self._masks[sign] = self._bits(places)
        return mask

    def _bits(self, places: Iterable[int]) -> int:
        bits = bytearray(self._size // 8 + 1)
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(bits, "little")


def _parse(text: str) -> Iterator[_Line]:
    for raw in text.removeprefix("\ufeff").split("\n"):
        pattern = _without_trailing_blanks(raw.removesuffix("\r"))
        if not pattern or len(pattern) > _MAX_LINE or pattern.startswith("#"):
            continue
        hides = not pattern.startswith("!")
        pattern = pattern if hides else pattern[1:]
        folders_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        anchored = "/" in pattern
        found = tokens(pattern.removeprefix("/"))
        if found:
            yield _Line(hides, folders_only, anchored, found)


def _without_trailing_blanks(pattern: str) -> str:
    """Without the blanks at its end, but for one that a backslash keeps."""
    bare = pattern.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return pattern[: len(bare) + 1] if slashes % 2 else bare
