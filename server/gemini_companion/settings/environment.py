"""The environment: the process's, and what `.env` files add to it for settings and the model's key.

Only what is handed one of these sees those files. What starts processes, finds folders or looks for programs has the
process's environment alone: a file of a folder decides none of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gemini_companion.settings.dotenv import Variable

_HARMLESS: Final = frozenset({
    "HOME", "USER", "LOGNAME", "USERNAME", "USERPROFILE", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "SHELL",
    "PATH", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV",
    "CONDA_PREFIX",
})  # fmt: skip
"""The variables of the person's that a workspace's settings may name: places and languages. A list of what is secret
would miss the next secret's name.
"""
_FOLDER: Final = "GEMINI_PROJECT_DIR"


class EnvFile(NamedTuple):
    """One `.env` file."""

    path: Path
    variables: Mapping[str, Variable]
    """What of it counts for us, by name."""
    defined: Mapping[str, Variable]
    """All that it defines."""
    is_own: bool
    """The person's, of their home; else the project's."""


class Environment(Mapping[str, str]):
    """The variables of the process, then of files: the first that has a name counts, also where it is empty."""

    def __init__(self, process: Mapping[str, str], files: Sequence[EnvFile] = (), folder: Path | None = None) -> None:
        self._process = process
        self._files = tuple(files)
        self._folder = folder
        self._added: dict[str, tuple[str, Path, int]] = {}
        for file in self._files:
            for name, variable in file.variables.items():
                if name not in process:
                    self._added.setdefault(name, (variable.value, file.path, variable.line))

    def __getitem__(self, name: str) -> str:
        return self._added[name][0] if name in self._added else self._process[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._process
        yield from self._added

    def __len__(self) -> int:
        return len(self._process) + len(self._added)

    @property
    def files(self) -> tuple[EnvFile, ...]:
        """The files, those that count first in front."""
        return self._files

    @property
    def own(self) -> Environment:
        """What is the person's: the process's, and their own file. Their settings refer to this alone, so that no
        project decides what they mean.
        """
        return Environment(self._process, [file for file in self._files if file.is_own])

    @property
    def of_workspace(self) -> dict[str, str]:
        """What a trusted workspace's settings may refer to: places, its folder, and what its own file defines. None of
        it is a secret of the person's.
        """
        found = {name: value for name, value in self._process.items() if name in _HARMLESS}
        if self._folder is not None:
            found[_FOLDER] = str(self._folder)
            for file in self._files:
                if not file.is_own and _is_below(file.path, self._folder):
                    found = {**{name: one.value for name, one in file.defined.items()}, **found}
        return found

    @property
    def everything(self) -> dict[str, str]:
        """Whatever any file defines, too: to know what is a secret, and what is set."""
        found: dict[str, str] = {}
        for file in reversed(self._files):
            found |= {name: variable.value for name, variable in file.defined.items()}
        return {**found, **self._process}

    def place(self, name: str) -> tuple[Path, int] | None:
        """The file and the line (from 1) that a variable comes from; `None` if it is the process's, or not set."""
        found = self._added.get(name)
        return found[1:] if found else None


class LiveEnvironment(Mapping[str, str]):
    """The environment as it is whenever somebody looks."""

    def __init__(self, now: Callable[[], Mapping[str, str]]) -> None:
        self._now = now

    def __getitem__(self, name: str) -> str:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


def _is_below(file: Path, folder: Path) -> bool:
    """Whether a file is really in a folder: a link to the person's own file is none of the workspace's."""
    try:
        return file.resolve(strict=True).is_relative_to(folder.resolve(strict=True))
    except (OSError, RuntimeError, ValueError):
        return False
