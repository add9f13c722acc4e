"""A home and a workspace with settings files, and a loader over both."""

import json
from collections.abc import Mapping
from pathlib import Path

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.load import SETTINGS_FILE, LoadedSettings, SettingsLoader


class Desk:
    """A home, a workspace and a loader over both."""

    def __init__(self, root: Path, env: Mapping[str, str] | None = None, remote: float | None = None) -> None:
        self.home, self.workspace = root / "home", root / "work"
        self.user_file, self.workspace_file = self.home / SETTINGS_FILE, self.workspace / SETTINGS_FILE
        for file in (self.user_file, self.workspace_file):
            file.parent.mkdir(parents=True, exist_ok=True)
        self.loader = SettingsLoader(self.home, [str(self.workspace)], env or {}, remote_compression_threshold=remote)

    def user(self, value: object) -> None:
        write(self.user_file, value)

    def work(self, value: object) -> None:
        write(self.workspace_file, value)

    def load(self, editor: object = None, *, trusted: bool = True) -> LoadedSettings:
        return self.loader.reload(trusted, editor)


def write(file: Path, value: object) -> None:
    file.write_bytes(
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )


def only_problem(loaded: LoadedSettings) -> InvalidSettings:
    (problem,) = loaded.problems
    return problem
