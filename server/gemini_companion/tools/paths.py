"""Absolute paths and the folders that they are in, by their names alone."""

from __future__ import annotations

import os
from collections.abc import Sequence

from gemini_companion.engine.escapes import one_line


def parts_below(path: str, root: str) -> tuple[str, ...]:
    """The names that lead from a root to a path in it."""
    rest = path[len(root.rstrip(os.sep)) :].strip(os.sep)
    return tuple(rest.split(os.sep)) if rest else ()


def innermost(path: str, folders: Sequence[str]) -> str | None:
    """The longest of the folders that has the path in it, or is it."""
    inside = [folder for folder in folders if path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)]
    return max(inside, key=len, default=None)


def shown_path(path: str, folders: Sequence[str]) -> str:
    """A path as people and models read it; of several folders, it begins with the name of the one that it is in.

    Where two folders have the same name it stays absolute, for it leads back to its file.
    """
    root = innermost(path, folders)
    if root is None:
        return path
    names = [os.path.basename(folder.rstrip(os.sep)) for folder in set(folders)]
    if names.count(os.path.basename(root)) > 1:
        return path
    below = "/".join(parts_below(path, root)) or "."
    return below if len(folders) == 1 else f"{os.path.basename(root)}/{below}".removesuffix("/.")


def gone(root: str) -> str:
    """What a model is told where a workspace folder is not there any more."""
    return f"The workspace folder {one_line(root)} is gone. Ask the user to bring it back, or to open another."
