"""Commands that delete whole folders."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final

from gemini_companion.tools.shell.rules import name_of
from gemini_companion.tools.shell.verdict import Facts, Finding

_HOMES: Final = ("~", "$HOME", "${HOME}")
_TAILS: Final = ("/*", "/.*", "/{*,.*}", "/.", "/..")


def destroying(argv: Sequence[str], cwd: str, roots: Sequence[str], files: Facts) -> Finding | None:
    """What is said of a recursive delete: never of `/` or the home folder, asked always outside of folders in a root.

    `None` if it is none. The words may come from a line that could not be read; every place in them is looked at, for a
    wrapper may stand before `rm`.
    """
    for at, word in enumerate(argv):
        name = name_of(word)
        if name == "rm" and (targets := _targets(argv[at + 1 :])) is not None:
            return _judged(targets, cwd, roots, files)
        if name == "find" and any(word in {"-delete", "-exec", "-execdir", "-ok", "-okdir"} for word in argv[at + 1 :]):
            starts: list[str] = []
            for start in argv[at + 1 :]:
                if start.startswith(("-", "(", "!")):
                    break
                starts.append(start)
            return _judged(starts, cwd, roots, files)
    return None


def _targets(words: Sequence[str]) -> list[str] | None:
    operands: list[str] = []
    is_recursive = False
    for word in words:
        if word.startswith("--"):
            is_recursive = is_recursive or (len(word) > 2 and "--recursive".startswith(word))
        elif word.startswith("-") and len(word) > 1:
            is_recursive = is_recursive or "r" in word or "R" in word
        else:
            operands.append(word)
    return operands if is_recursive else None


def _judged(targets: Sequence[str], cwd: str, roots: Sequence[str], files: Facts) -> Finding | None:
    found: Finding | None = None
    for target in targets:
        real = _place(target, cwd, files)
        if real == "/" or real == files.home or files.home.startswith(real + "/"):
            return Finding("refuse", f"it would delete {'everything' if real == '/' else 'the home folder'}")
        within = any(real.startswith(root.rstrip("/") + "/") for root in roots)
        if not within or any(root == real or root.startswith(real + "/") for root in roots):
            found = Finding(
                "ask", f"it deletes {target} with all that is in it, which is no folder inside the workspace"
            )
    return found


def _place(target: str, cwd: str, files: Facts) -> str:
    for home in _HOMES:
        if target == home or target.startswith(home + "/"):
            target = files.home + target[len(home) :]
    target = posixpath.normpath(posixpath.join(cwd, target))
    for tail in _TAILS:
        target = target.removesuffix(tail) or "/"
    if target.startswith("//"):
        target = target[1:]
    return files.path(target).real
