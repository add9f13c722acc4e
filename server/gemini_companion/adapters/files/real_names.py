"""The names that a path has on the disk: a file system may find `.env` for `.ENV`, or one form of `é` for the other."""

from __future__ import annotations

import os
import unicodedata

from gemini_companion.adapters.workspace.following import followed


def real_path(path: str) -> str:
    """The path with its links followed and each name spelt as the folder that has it spells it.

    What does not exist stays as it is written. Blocks.
    """
    real = followed(path)
    folder, name = os.path.split(real)
    pending: list[str] = []
    while name:
        pending.append(name)
        folder, name = os.path.split(folder)
    for name in reversed(pending):
        folder = os.path.join(folder, _spelt(folder, name))
    return folder


def _spelt(folder: str, name: str) -> str:
    try:
        known = os.lstat(os.path.join(folder, name))
    except (OSError, ValueError):
        return name
    others = {name.swapcase(), *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))} - {name}
    if not any(_is_same(os.path.join(folder, other), known) for other in others):
        return name
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in found]
    except OSError:
        return name
    if name in names:
        return name
    return next((each for each in names if _folded(each) == _folded(name)), name)


def _is_same(path: str, known: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), known)
    except (OSError, ValueError):
        return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
