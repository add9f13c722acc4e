"""Whether a workspace may be trusted.

Trust is false until a client, the user's `companion.trustedFolders` or an IDE notice sets it; of several clients the
most careful one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def _holds(parent: PurePath, folder: PurePath) -> bool:
    # A path with `..` in it is not a real path, whatever it seems to lie in.
    return (
        parent.is_absolute() and ".." not in folder.parts and ".." not in parent.parts and folder.is_relative_to(parent)
    )
