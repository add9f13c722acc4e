"""What a folder has, without what is ignored or secret."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Literal

from gemini_companion.adapters.files.folder import Folder
from gemini_companion.adapters.workspace.ignore import IgnoreFiles
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.tools.ports import Listed, Names

_MOST = 100_000
"""Names of one folder that are read."""
_ignore_files = IgnoreFiles()


def listed(folder: Folder, root: str, parts: Sequence[str], limit: int) -> Names:
    """The names in a folder that is `parts` below its root. Blocks."""
    scope = _ignore_files.scope(root)
    for part in parts:
        scope = _ignore_files.enter(scope, part)
    shown: list[Listed] = []
    hidden = read = 0
    for entry in islice(folder.scan(), _MOST):
        read += 1
        is_folder = entry.is_dir(follow_symlinks=False)
        kind: Literal["file", "folder", "link", "other"] = (
            "folder"
            if is_folder
            else "link"
            if entry.is_symlink()
            else "file"
            if entry.is_file(follow_symlinks=False)
            else "other"
        )
        name = entry.name
        secret = is_secret_name(f"{name}/-" if is_folder else f"{parts[-1] if parts else ''}/{name}")
        if name == ".git" or secret or scope.hidden_by(name, is_folder=is_folder):
            hidden += 1
            continue
        size = entry.stat(follow_symlinks=False).st_size if kind == "file" else 0
        shown.append(Listed(name=name, kind=kind, size=size))
    shown.sort(key=lambda each: (each.kind != "folder", each.name.casefold(), each.name))
    return Names(entries=tuple(shown[:limit]), hidden=hidden, is_truncated=len(shown) > limit or read == _MOST)
