"""The environment of commands: what programs need, and none of the daemon's keys."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

TOKEN: Final = "GEMINI_COMPANION_COMMAND"
"""The variable that every process of a command has, unless it was taken out on purpose."""

_NAMES: Final = """
    ANDROID_HOME APPDATA CARGO_HOME COMSPEC CONDA_DEFAULT_ENV CONDA_PREFIX DOTNET_ROOT GOBIN GOMODCACHE GOPATH
    GOROOT HOME HOMEDRIVE HOMEPATH JAVA_HOME LANG LANGUAGE LD_LIBRARY_PATH LOCALAPPDATA LOGNAME NVM_BIN NVM_DIR
    PATH PATHEXT PROGRAMDATA PROGRAMFILES PYENV_ROOT RBENV_ROOT RUSTUP_HOME SHELL SSL_CERT_DIR SSL_CERT_FILE
    SYSTEMDRIVE SYSTEMROOT TEMP TMP TMPDIR TZ USER USERNAME USERPROFILE VIRTUAL_ENV VOLTA_HOME WINDIR
    XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
    AWS_CA_BUNDLE CARGO_HTTP_CAINFO CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_ENV NODE_EXTRA_CA_CERTS NO_PROXY PIP_CERT
    REQUESTS_CA_BUNDLE
"""
_KEPT: Final = frozenset(_NAMES.split())
"""What is passed on, with all of `LC_*`. A list of what is left out would miss the next secret's name. Proxies and
registries are not among it, since their addresses may have passwords in them.
"""
_OWN_KEYS: Final = frozenset(("GEMINI_API_KEY", "GOOGLE_API_KEY"))
"""What no command gets, whoever names it, under whatever name."""

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


@dataclass(frozen=True, slots=True)
class Given:
    """What a command gets of the daemon's environment, and with it."""

    variables: Mapping[str, str]
    said: str = ""
    """What the person named and what came of that, for the question; begins with a blank."""
    sockets: tuple[str, ...] = ()
    """Real paths of sockets that it may reach."""
    folders: tuple[str, ...] = ()
    """Folders that are to be there, if empty."""


def given(
    environment: Mapping[str, str],
    names: Sequence[str] = (),
    without: Sequence[str] = (),
    *,
    sockets: Sequence[str] = (),
) -> Given:
    """What commands get where the person's own settings name variables, and sockets, that they get or do not get.

    A variable that says where a socket is lets that through, too. Names are compared in capitals: programs read
    `https_proxy` and `HTTPS_PROXY`.
    """
    wished, unwished = ({name.upper() for name in some} for some in (names, without))
    keys = {text for name, text in environment.items() if name.upper() in _OWN_KEYS and text}
    told: dict[str, str] = {}
    refused: list[str] = []
    for name, text in environment.items():
        if name.upper() not in wished or name.upper() in unwished or name in _SET or name == "PATH":
            continue
        if name.upper() in _OWN_KEYS or any(key in text for key in keys):
            refused.append(name)
        else:
            told[name] = text
    let_through = [path for path in map(_socket_at, sockets) if path]
    folders: list[str] = []
    for name, text in told.items():
        if path := _socket_at(_path_in(text)):
            let_through.append(path)
            told[name] = text.replace(_path_in(text), path)
        elif name == "XDG_RUNTIME_DIR" and os.path.isabs(text):
            folders.append(os.path.realpath(text))
    kept = {name: text for name, text in clean(environment).items() if name.upper() not in unwished or name == "PATH"}
    said = f" It gets from your environment: {', '.join(sorted(told))}." if told else ""
    said += f" It may use the sockets {', '.join(dict.fromkeys(let_through))}." if let_through else ""
    said += (
        f" It does not get {', '.join(sorted(refused))}: no command gets the key of Gemini Companion."
        if refused
        else ""
    )
    return Given({**told, **kept}, said, tuple(dict.fromkeys(let_through)), tuple(folders))


def _path_in(text: str) -> str:
    """The path of a socket in a variable: `/x`, `unix:///x`, or the bus's `unix:path=/x,guid=…`."""
    for before in ("unix://", "unix:path=", "unix:"):
        if text.startswith(before):
            return text.removeprefix(before).partition(",")[0]
    return text


def _socket_at(path: str) -> str:
    """The real path of a socket; empty if there is none."""
    real = os.path.realpath(os.path.expanduser(path)) if path.startswith(("/", "~")) else ""
    with suppress(OSError, ValueError):
        if real and stat.S_ISSOCK(os.stat(real).st_mode):
            return real
    return ""
