"""URIs and paths."""

from __future__ import annotations

from pygls.uris import to_fs_path


def path_of(uri: str) -> str | None:
    """The absolute path of a `file:` URI; `None` for any other URI."""
    if not uri.startswith("file:"):
        return None
    try:
        path = to_fs_path(uri)
    except ValueError:
        return None
    return path or None
