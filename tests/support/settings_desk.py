"""A home, a workspace and a system with settings files, and a loader over both."""

import json
from collections.abc import Mapping
from pathlib import Path

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.experiments import FixedExperiments
from gemini_companion.settings.load import LoadedSettings, SettingsLoader
from gemini_companion.settings.objects import JsonObject
from gemini_companion.settings.places import SETTINGS_FILE


class Desk:
    """A home, a workspace and a loader over both."""

    def __init__(
        self,
        root: Path,
        env: Mapping[str, str] | None = None,
        remote: float | None = None,
        command_line: JsonObject | None = None,
    ) -> None:
        self.home, self.workspace = root / "home", root / "work"
        self.user_file, self.workspace_file = self.home / SETTINGS_FILE, self.workspace / SETTINGS_FILE
        self.system_file, self.system_defaults_file = root / "etc/settings.json", root / "etc/system-defaults.json"
        for file in (self.user_file, self.workspace_file, self.system_file):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.env = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(self.system_file), **(env or {})}
        self.loader = SettingsLoader(
            self.home, [str(self.workspace)], self.env, experiments=FixedExperiments(remote), command_line=command_line
        )

    def user(self, value: object) -> None:
        write(self.user_file, value)

    def work(self, value: object) -> None:
        write(self.workspace_file, value)

    def system(self, value: object) -> None:
        write(self.system_file, value)

    def system_defaults(self, value: object) -> None:
        write(self.system_defaults_file, value)

    def load(self, editor: object = None, *, trusted: bool = True) -> LoadedSettings:
        return self.loader.reload(trusted, editor)


def write(file: Path, value: object) -> None:
    file.touch(mode=0o600)
    file.chmod(0o600)
    file.write_bytes(
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )


def only_problem(loaded: LoadedSettings) -> InvalidSettings:
    (problem,) = loaded.problems
    return problem
