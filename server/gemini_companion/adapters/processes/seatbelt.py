"""The profile of macOS's sandbox-exec. It is compared with a stored one; nothing here has run it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from gemini_companion.adapters.processes.git_folders import DECIDING, worktree_of
from gemini_companion.adapters.processes.placeholders import FOLDERS

PROGRAM: Final = "/usr/bin/sandbox-exec"
_NAMES: Final = ("/private/var/run/mDNSResponder",)
"""By which names of hosts are looked up."""
_READ_ONLY: Final = (*(f".git/{name}" for name in DECIDING), *FOLDERS)


def profile(
    roots: Sequence[str], covered: Sequence[str], *, network: bool, sockets: Sequence[str] = (), home: str = ""
) -> str:
    """Everything readable but what is covered; only the workspace and temporary folders writable. Of the sockets of the
    disk there are those that are named, and those in the workspace.
    """
    lines = [
        "(version 1)",
        "(deny default)",
        '(import "system.sb")',
        "(allow process-exec process-fork signal sysctl-read mach-lookup)",
        "(allow file-read*)",
        *(f"(deny file-read* (subpath {_quoted(path)}))" for path in covered),
        '(allow file-write* (literal "/dev/null") (literal "/dev/tty"))',
        '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders"))',
        *(f"(allow file-write* file-read* (subpath {_quoted(root)}))" for root in roots),
        *(line for root in roots for line in _home(home, root)),
        *(f"(deny file-write* (subpath {_quoted(os.path.join(root, name))}))" for root in roots for name in _READ_ONLY),
        *(f"(deny file-write-unlink (literal {_quoted(os.path.join(root, '.git'))}))" for root in roots),
        *(line for root in roots for line in _worktree(root)),
        *(f"(deny file-write* (subpath {_quoted(path)}))" for path in covered),
        "(allow network*)" if network else "(deny network*)",
        *(('(deny network-outbound (subpath "/"))',) if network else ()),  # of paths: sockets of the disk
        *(f"(allow network-outbound (literal {_quoted(path)}))" for path in (*(_NAMES if network else ()), *sockets)),
        *(f"(allow network-outbound (subpath {_quoted(root)}))" for root in roots),
    ]
    return "\n".join(lines)


def _home(home: str, root: str) -> Iterator[str]:
    """A home folder within a workspace folder: shells, editors and logins obey what begins with a dot in it."""
    if home and (home + "/").startswith(root.rstrip("/") + "/"):
        yield f"(deny file-write* (regex {_quoted('^' + re.escape(home) + '/[.]')}))"
        yield f"(allow file-write* (subpath {_quoted(home + '/.git')}))"


def _worktree(root: str) -> Iterator[str]:
    """What `git` writes outside of a workspace folder that is a worktree."""
    if (found := worktree_of(root)) is None:
        return
    yield from (f"(allow file-write* file-read* (subpath {_quoted(path)}))" for path in found.writable)
    yield from (f"(deny file-write* (subpath {_quoted(os.path.join(found.own, name))}))" for name in DECIDING)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
