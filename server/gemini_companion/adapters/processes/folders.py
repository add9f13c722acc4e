"""What is in folders, for judging shell lines: the names that fit a pattern, and whether all below may be read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from gemini_companion.tools.shell.verdict import Sought

MOST_NAMES: Final = 200
"""Names that a pattern stands for."""
MOST_LISTED: Final = 5_000
"""Names that are looked at for one pattern."""
MOST_BELOW: Final = 20_000
"""Files and folders that are looked at below a folder: a third of a second on a busy machine."""
_SIGN: Final = re.compile(r"\\(.)|([*?])", re.DOTALL)


def names_for(pattern: str, cwd: str) -> tuple[str, ...] | None:
    """What bash puts in place of a pattern, in no order to rely on; nothing if no name fits, `None` if it is not known.

    In the pattern `*` and `?` stand for other signs, and every plain sign has a backslash before it.
    """
    pieces: list[list[tuple[str, str]]] = [[]]
    for plain, wild in _SIGN.findall(pattern):
        if plain == "/":
            pieces.append([])
        else:
            pieces[-1].append((plain, wild))
    whole = [""]
    left = MOST_LISTED
    for at, piece in enumerate(pieces):
        if not any(wild for _, wild in piece):
            whole = [before + "".join(plain for plain, _ in piece) for before in whole]
        elif piece[0][0] == ".":
            return None  # whether `.` and `..` are among them is a matter of the shell's version
        else:
            signs = [
                one for plain, wild in piece for one in (((sign, "") for sign in plain) if plain else [("", wild)])
            ]
            listed = [(before, name) for before in whole for name in _listed(os.path.join(cwd, before), left)]
            left -= len(listed)
            if left < 0:
                return None
            whole = [before + name for before, name in listed if not name.startswith(".") and _is_about(signs, name)]
        if at < len(pieces) - 1:
            whole = [f"{before}/" for before in whole if at == 0 or os.path.isdir(os.path.join(cwd, before))]
    whole = [name for name in whole if os.path.lexists(os.path.join(cwd, name))]
    if len(whole) > MOST_NAMES or any(name.startswith("-") or not name.isprintable() for name in whole):
        return None
    return tuple(whole)


def _is_about(signs: Sequence[tuple[str, str]], name: str) -> bool:
    """Whether a pattern of `*`, `?` and plain letters is about a name.

    Time grows with the product of their lengths: of several stars only the last one is ever tried again.
    """
    sign = at = 0
    star, tried = -1, 0
    while at < len(name):
        plain, wild = signs[sign] if sign < len(signs) else ("", "end")
        if wild == "*":
            star, tried = sign, at
            sign += 1
        elif plain == name[at] or (not plain and wild != "end"):
            sign, at = sign + 1, at + 1
        elif star < 0:
            return False
        else:
            tried += 1
            sign, at = star + 1, tried
    return all(wild == "*" for _, wild in signs[sign:])


def _listed(folder: str, most: int) -> list[str]:
    """The names in a folder; one more than `most` at most."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(max(most, 0) + 1), strict=False)]
    except OSError:
        return []


def trouble_below(folder: str, sought: Sought, trouble_with: Callable[[str], str]) -> str:
    """Why not all of what is sought below a folder may be read; empty if it may be.

    `trouble_with` says of a file, by its path, why it must not be read. Links that are not followed are left out, and
    devices and pipes, which no program that goes through folders opens.
    """
    left = MOST_BELOW
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return (
                            f"more than {MOST_BELOW} files are below {folder}, too many to see whether a secret is"
                            " among them"
                        )
                    if not sought.hidden and entry.name.startswith("."):
                        continue
                    if entry.is_symlink():
                        if sought.follows:
                            return f"it follows the link {entry.path}"
                    elif entry.is_dir():
                        if not _fits(entry.name, sought.without_folders):
                            folders.append(entry.path)
                    elif _is_read(entry.name, sought) and entry.is_file() and (why := trouble_with(entry.path)):
                        return why
        except OSError:
            continue  # what cannot be listed cannot be read through either
    return ""


def _is_read(name: str, sought: Sought) -> bool:
    return (not sought.included or _fits(name, sought.included)) and not _fits(name, sought.excluded)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
