"""The environment: the process's, and what `.env` files add to it for settings and the model's key.

Only what is handed one of these sees those files. What starts processes, finds folders or looks for programs has the
process's environment alone: a file of a folder decides none of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gemini_companion.settings.dotenv import Variable


class EnvFile(NamedTuple):
    """What counts of one `.env` file."""

    path: Path
    variables: Mapping[str, Variable]
    """By name."""


class Environment(Mapping[str, str]):
    """The variables of the process, then of files: the first that has a name counts, also where it is empty."""

    def __init__(self, process: Mapping[str, str], files: Sequence[EnvFile] = ()) -> None:
        self._process = process
        self._files = tuple(files)
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
