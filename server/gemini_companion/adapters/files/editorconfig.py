"""The encoding that `.editorconfig` files of the workspace name for a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final

from gemini_companion.adapters.files.folder import held
from gemini_companion.adapters.workspace.path_globs import Glob
from gemini_companion.tools.tool import ToolRefusal

NAME: Final = ".editorconfig"
_MOST_BYTES: Final = 65_536
_MOST_SECTIONS: Final = 50


def charset_of(root: str, parts: Sequence[str], *, by_descriptor: bool) -> str:
    """What `charset` is for a file that is `parts` below its root; empty if nothing says so. Blocks.

    Nearer files win, later sections within one. Python's names of encodings count as well as those of EditorConfig.
    """
    for depth in range(len(parts) - 1, -1, -1):
        text = _text(root, parts[:depth], by_descriptor)
        if text is None:
            continue
        charset, is_root = "", False
        below = "/".join(parts[depth:])
        for number, (glob, fields) in enumerate(_sections(text)):
            if glob is None:
                is_root = fields.get("root", "").lower() == "true"
            elif number <= _MOST_SECTIONS and "charset" in fields and _is_about(glob, below):
                charset = fields["charset"]
        if charset:
            return charset
        if is_root:
            break
    return ""


def _text(root: str, folders: Sequence[str], by_descriptor: bool) -> str | None:
    with suppress(OSError, ToolRefusal), held(root, folders, by_descriptor=by_descriptor) as folder:
        descriptor = folder.open_file(NAME)
        try:
            return os.read(descriptor, _MOST_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
        finally:
            os.close(descriptor)
    return None


def _sections(text: str) -> Iterator[tuple[str | None, dict[str, str]]]:
    """The glob and the fields of each section, as they stand; `None` for what comes before the first."""
    glob: str | None = None
    fields: dict[str, str] = {}
    for line in map(str.strip, text.split("\n")):
        if line.startswith("[") and line.endswith("]"):
            yield glob, fields
            glob, fields = line[1:-1], {}
        elif line[:1] not in ("#", ";") and "=" in line:
            name, _, value = line.partition("=")
            fields[name.strip().lower()] = value.partition(" ;")[0].partition(" #")[0].strip()
    yield glob, fields


def _is_about(pattern: str, path: str) -> bool:
    glob = _glob(pattern)
    return glob is not None and glob.matches(path)


@lru_cache(_MOST_SECTIONS)
def _glob(pattern: str) -> Glob | None:
    try:
        return Glob(pattern, is_anchored=False, is_case_sensitive=True)
    except ToolRefusal:  # it is too large
        return None
