"""Where the daemon keeps what is its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def data_directory(env: Mapping[str, str]) -> Path:
    """Where sessions and private files live: `COMPANION_DATA_DIR`, else the platform's user data directory."""
    named = env.get("COMPANION_DATA_DIR", "").strip()
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("gemini-companion", appauthor=False)


def home_directory(env: Mapping[str, str]) -> Path:
    """The user's home."""
    return Path(env.get("HOME") or os.path.expanduser("~"))


def spills_directory(env: Mapping[str, str]) -> str:
    """Where commands put outputs that are too long to be held."""
    return str(data_directory(env) / "commands")


def asides_directory(env: Mapping[str, str]) -> str:
    """Where it is noted what is written aside in workspaces."""
    return str(data_directory(env) / "asides")


def recent_directory(env: Mapping[str, str]) -> Path:
    """Where each daemon keeps its last events, for reports of bugs."""
    return data_directory(env) / "recent"
