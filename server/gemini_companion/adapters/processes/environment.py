"""The environment of commands: what programs need, and none of the daemon's keys."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from typing import Final

TOKEN: Final = "GEMINI_COMPANION_COMMAND"
"""The variable that every process of a command has, unless it was taken out on purpose."""

_NAMES: Final = """
    ANDROID_HOME APPDATA CARGO_HOME COMSPEC CONDA_DEFAULT_ENV CONDA_PREFIX DOTNET_ROOT GOBIN GOMODCACHE GOPATH
    GOROOT HOME HOMEDRIVE HOMEPATH JAVA_HOME LANG LANGUAGE LD_LIBRARY_PATH LOCALAPPDATA LOGNAME NVM_BIN NVM_DIR
    PATH PATHEXT PROGRAMDATA PROGRAMFILES PYENV_ROOT RBENV_ROOT RUSTUP_HOME SHELL SSL_CERT_DIR SSL_CERT_FILE
    SYSTEMDRIVE SYSTEMROOT TEMP TMP TMPDIR TZ USER USERNAME USERPROFILE VIRTUAL_ENV VOLTA_HOME WINDIR
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
"""
_KEPT: Final = frozenset(_NAMES.split())
"""What is passed on, with all of `LC_*`. A list of what is left out would miss the next secret's name."""

_SET: Final = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",  # an editor would wait for a person: better a fault that says so
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",  # what is missing would be fetched by what the repository names
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PYTHONUNBUFFERED": "1",
    "GEMINI_COMPANION": "1",
    # A repository within the workspace must not run its own programs when git merely looks.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
}


def program_finder(environment: Mapping[str, str]) -> Callable[[str], str | None]:
    """Finds the real path of what the shell of commands would start for a bare name; `None` if there is none."""
    path = clean(environment)["PATH"]

    def find(name: str) -> str | None:
        found = shutil.which(name, path=path)
        return os.path.realpath(found) if found and os.path.isabs(found) else None

    return find


def is_harmless(name: str) -> bool:
    """Whether a variable, by its name, is no secret."""
    return name.upper() in _KEPT or name.startswith("LC_")


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """What commands get of an environment. A relative folder of `PATH` would be whatever they run in: it goes."""
    kept = {name: text for name, text in environment.items() if is_harmless(name)}
    folders = (folder for folder in kept.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder))
    return {**kept, "PATH": os.pathsep.join(folders), **_SET}
