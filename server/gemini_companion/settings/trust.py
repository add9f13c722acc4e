"""Whether a workspace may be trusted.

Trust is false until a client, the user's `companion.trustedFolders` or an IDE notice sets it; of several clients the
most careful one counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import PurePath


def is_trusted(explicit: bool | None, trusted_folders: Iterable[str], workspace_folders: Iterable[str]) -> bool:
    """Whether one client's workspace is trusted.

    `explicit` is what the client reported last (`initializationOptions.trusted`, then its IDE notices), `None` if
    nothing; it counts in both directions. Otherwise every workspace folder must be a trusted folder or lie in one.
    Folders are absolute real paths: resolve links first, or a link in an untrusted place gains the trust of its
    target's neighbours.
    """
    if explicit is not None:
        return explicit
    trusted = [PurePath(folder) for folder in trusted_folders]
    folders = [PurePath(folder) for folder in workspace_folders]
    return bool(folders) and all(any(_holds(parent, folder) for parent in trusted) for folder in folders)


def reported_trust(reports: Iterable[tuple[bool | None, Sequence[str]]]) -> bool | None:
    """What the reports of all clients come to, each with its folders: false if one is, `None` if they do not say.

    Who reports nothing gains no trust from others, unless its folders lie in theirs.
    """
    known = tuple(reports)
    if any(report is False for report, _ in known):
        return False
    trusted = [folder for report, folders in known if report for folder in folders]
    silent = [folder for report, folders in known if report is None for folder in folders]
    if silent and not is_trusted(None, real_paths(trusted), real_paths(silent)):
        return None
    return True if any(report for report, _ in known) else None


def real_paths(folders: Iterable[str]) -> list[str]:
    """The folders' real paths; one that is not valid (a NUL in it) stays as it is and is never trusted."""
    return [folder if "\0" in folder else os.path.realpath(folder) for folder in folders]


def _holds(parent: PurePath, folder: PurePath) -> bool:
    # A path with `..` in it is not a real path, whatever it seems to lie in.
    return (
        parent.is_absolute() and ".." not in folder.parts and ".." not in parent.parts and folder.is_relative_to(parent)
    )
