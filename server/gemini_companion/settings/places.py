"""Where settings files are, by platform and environment, as Gemini CLI has it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

SETTINGS_FILE: Final = Path(".gemini", "settings.json")
"""Below the user's home, and below the first workspace folder."""

_SYSTEM_FOLDERS: Final = {"darwin": "/Library/Application Support/GeminiCli", "win32": r"C:\ProgramData\gemini-cli"}
_ELSEWHERE: Final = "/etc/gemini-cli"
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Places(NamedTuple):
    """The files that do not depend on a workspace, existing or not."""

    system_defaults: Path
    user: Path
    system: Path


def places(home: Path, env: Mapping[str, str], platform: str = sys.platform) -> Places:
    """Where the files are. A path of the environment that is not absolute counts as not set.

    `GEMINI_CLI_HOME` stands for `home`, `GEMINI_CLI_SYSTEM_SETTINGS_PATH` and `GEMINI_CLI_SYSTEM_DEFAULTS_PATH` for the
    files of the system. `platform` is as in `sys.platform`.
    """
    system = _named(env, "GEMINI_CLI_SYSTEM_SETTINGS_PATH") or Path(
        _SYSTEM_FOLDERS.get(platform, _ELSEWHERE), "settings.json"
    )
    return Places(
        system_defaults=_named(env, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH") or system.with_name("system-defaults.json"),
        user=(_named(env, "GEMINI_CLI_HOME") or home) / SETTINGS_FILE,
        system=system,
    )


def why_unsafe(file: os.stat_result, folder: Path) -> str | None:
    """Why a system's file must not be believed: somebody else may write it. `None` if nobody may.

    Its owner must be root or this user, and neither the group nor others may write to it, or to its folder unless that
    keeps them from replacing what is not theirs. Windows has no such bits: there the folder's rights are trusted.
    """
    if os.name != "posix":
        return None
    if file.st_uid not in (0, os.getuid()):
        return "it belongs to another user"
    if file.st_mode & _OTHERS_MAY_WRITE:
        return "others may write to it"
    try:
        above = folder.stat()
    except OSError:
        return "its folder cannot be examined"
    if above.st_uid not in (0, os.getuid()):
        return "its folder belongs to another user"
    if above.st_mode & _OTHERS_MAY_WRITE and not above.st_mode & stat.S_ISVTX:
        return "others may write to its folder"
    return None


def _named(env: Mapping[str, str], name: str) -> Path | None:
    text = env.get(name, "").strip()
    return Path(text) if text and "\0" not in text and os.path.isabs(text) else None
