"""Reading the layers of the settings, repeatedly, without ever failing.

A broken layer is reported, and its last valid content stays in force.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.authority import PERSONAL, WITHOUT_EFFECT, LayerName, key_path
from gemini_companion.settings.effective import Settings, changed_keys, settle
from gemini_companion.settings.env_files import EnvFiles
from gemini_companion.settings.environment import Environment
from gemini_companion.settings.experiments import EXPERIMENTS_VARIABLE, Experiments, experiments_of
from gemini_companion.settings.layers import (
    UnusableLayer,
    admit,
    expand,
    may_expand,
    overreach,
    overreaching,
    tidy,
    unprintable,
    with_model_names,
    without_resource_names,
    without_setting,
)
from gemini_companion.settings.migrations import migrated
from gemini_companion.settings.objects import JsonObject, merge
from gemini_companion.settings.places import SETTINGS_FILE, places
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.sources import EditorSource, FileSource, Source, SystemFileSource
from gemini_companion.settings.telemetry import telemetry_of_environment
from gemini_companion.settings.validation import Misfit, misfits

_KEPT: Final = "Correct it and save; until then what it last held without a fault stays in force."
_IGNORED: Final = "Correct it and save; until then nothing of it is used."
_NO_FLAGS: Final = "Correct the file that GEMINI_EXP names, or unset it; until then no experiment counts."
_MOVE: Final = "Set it in .gemini/settings.json in your home folder."


class LoadedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """One layer of a reading."""

    name: LayerName
    values: JsonObject
    """What of it applies, variables replaced and old keys renamed."""
    source: Source | None
    """Where its keys stand; `None` if the source is broken, so that `values` is what it last held."""
    path: Path | None
    """The file, if it is one."""


class LoadedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading all layers once."""

    settings: Settings
    problems: tuple[InvalidSettings, ...]
    """What is broken, in the order of the layers. Each message names file, line, column and key as far as known."""
    remarks: tuple[tuple[str, InvalidSettings], ...]
    """What is to be known once, such as what has no effect yet; each with a text that stays the same while it does."""
    changed_keys: tuple[str, ...]
    """The keys whose values differ from the previous reading, as in `model.name`; empty the first time."""
    document: JsonObject
    """The merged layers as JSON, unknown keys included."""
    layers: tuple[LoadedLayer, ...] = ()
    """Lowest first, empty ones too."""
    experiment_threshold: float | None = None
    """What a remote experiment says of `model.compressionThreshold`, as it came."""
    environment: Environment
    """The process's environment, and what `.env` files add."""


class SettingsLoader:
    """Loads the settings of one server.

    The system's defaults, the user's file, the first workspace folder's, the system's file, the editor's section, the
    command line: later layers override earlier ones. `home` is the user's home folder, `workspace_folders` are absolute
    paths, `env` is the environment, which says where the files are (see `places`); `experiments` has the flags of a
    remote experiment (by default those of the file that GEMINI_EXP names), `command_line` the values of the command
    line as JSON. The loader blocks on small files and is for one thread at a time.
    """

    def __init__(
        self,
        home: Path,
        workspace_folders: Sequence[str],
        env: Mapping[str, str],
        *,
        experiments: Experiments | None = None,
        command_line: JsonObject | None = None,
    ) -> None:
        self._home = home
        self._places = places(home, env)
        self._folders = tuple(workspace_folders)
        self._env_files = EnvFiles(self._places.user.parent.parent, env)
        self._environment = Environment(env)
        self._experiments = experiments or experiments_of(env.get(EXPERIMENTS_VARIABLE))
        self._command_line = command_line or {}
        self._last_good: dict[LayerName, JsonObject] = {}
        self._merged: SettingsFile | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that `reload` reads, existing or not: those to watch."""
        found = (self.user_file, self.workspace_file, self._places.system_defaults, self._places.system)
        read = (file.path for file in self._environment.files)
        return tuple(dict.fromkeys([*(path for path in found if path), *self._env_files.watched(self._folder), *read]))

    @property
    def user_file(self) -> Path:
        """The user's own file, existing or not."""
        return self._places.user

    @property
    def workspace_file(self) -> Path | None:
        """The workspace's file, unless it is the user's own: a home folder opened as a workspace counts once."""
        if not self._folders:
            return None
        path = Path(self._folders[0]) / SETTINGS_FILE
        try:
            is_users = os.path.realpath(path.parent) == os.path.realpath(self.user_file.parent)
        except (OSError, ValueError):
            is_users = False  # such a path cannot be read either, and `FileSource` reports that
        return None if is_users else path

    @property
    def _folder(self) -> Path | None:
        return Path(self._folders[0]) if self._folders else None

    def move_to(self, workspace_folders: Sequence[str]) -> None:
        """Use other workspace folders from the next `reload` on."""
        if tuple(workspace_folders) != self._folders:
            self._folders = tuple(workspace_folders)
            self._last_good.pop("workspace", None)

    def reload(self, trusted: bool, editor_section: object = None) -> LoadedSettings:
        """Read every layer again. Never raises: what is wrong is in `problems`.

        `trusted` is the workspace's trust now; `editor_section` is the editor's `geminiCompanion` section as JSON,
        `None` if it has none.
        """
        document: JsonObject = {}
        problems: list[InvalidSettings] = []
        remarks: list[tuple[str, InvalidSettings]] = []
        layers: list[LoadedLayer] = []
        sources = self._sources(editor_section)
        read = [self._read(name, source) for name, source in sources]
        known = [
            admit(migrated(held), name, trusted=trusted) for (name, _), (held, _) in zip(sources, read, strict=True)
        ]
        self._environment, faults, known_of = self._env_files.load(self._folder, known, trusted=trusted)
        for (name, source), (held, fault) in zip(sources, read, strict=True):
            layer, found = self._layer(name, source, held, fault, trusted)
            layers.append(layer)
            if name == "commandLine":
                from_environment, misread = telemetry_of_environment(self._environment)
                document = merge(document, from_environment)
                problems += misread
            document = merge(document, layer.values)
            problems += found
            if keys := _without_effect(layer.values):
                remarks.append((" ".join((name, *keys)), source.remark(map(key_path, keys))))
        merged = msgspec.convert(document, SettingsFile)
        before, self._merged = self._merged, merged
        flag = self._flag(problems)
        return LoadedSettings(
            settings=settle(
                merged,
                home=self._home,
                env=self._environment,
                remote_compression_threshold=flag,
                layers=[(layer.name, msgspec.convert(layer.values, SettingsFile)) for layer in layers],
            ),
            problems=(*problems, *faults),
            remarks=(*remarks, *known_of),
            changed_keys=changed_keys(before, merged) if before else (),
            document=document,
            layers=tuple(layers),
            experiment_threshold=flag,
            environment=self._environment,
        )

    def _sources(self, editor_section: object) -> list[tuple[LayerName, Source]]:
        """The layers, lowest first."""
        workspace = self.workspace_file
        return [
            ("systemDefaults", SystemFileSource(self._places.system_defaults)),
            ("user", FileSource(self.user_file)),
            *([("workspace", FileSource(workspace))] if workspace else []),
            ("system", SystemFileSource(self._places.system)),
            ("editor", EditorSource(editor_section)),
            ("commandLine", EditorSource(self._command_line, "the command line")),
        ]

    def _flag(self, problems: list[InvalidSettings]) -> float | None:
        """What the experiment says; a fault goes to the problems, and then it says nothing."""
        try:
            return self._experiments.compression_threshold()
        except InvalidSettings as fault:
            problems += _hinted([fault], _NO_FLAGS)
            return None

    def _read(self, name: LayerName, source: Source) -> tuple[JsonObject, list[InvalidSettings]]:
        """A source's layer as it stands there, and nothing; or what it last held, and what is wrong now."""
        try:
            return tidy(source.read()), []
        except InvalidSettings as fault:
            return self._last_good.get(name, {}), [fault]
        except UnusableLayer as fault:
            return self._last_good.get(name, {}), source.problems([fault.misfit])

    def _layer(
        self, name: LayerName, source: Source, layer: JsonObject, problems: list[InvalidSettings], trusted: bool
    ) -> tuple[LoadedLayer, list[InvalidSettings]]:
        """The part of a layer that applies now, and what is wrong with it; `problems` are those of its reading."""
        if not problems:
            try:
                admitted, found, taken = self._checked(layer, name, trusted)
                problems = source.problems(found)
            except UnusableLayer as fault:
                problems = source.problems([fault.misfit])
            else:
                if not problems:
                    self._last_good[name] = layer
                    read = LoadedLayer(name=name, values=admitted, source=source, path=source.path)
                    return read, _hinted(source.problems([*overreach(layer, name), *taken]), _MOVE)
        kept = self._kept(name, trusted)
        left = LoadedLayer(name=name, values=kept or {}, source=None, path=source.path)
        return left, _hinted(problems, _KEPT if kept else _IGNORED)

    def _checked(
        self, layer: JsonObject, name: LayerName, trusted: bool
    ) -> tuple[JsonObject, list[Misfit], list[Misfit]]:
        """The part of a layer that applies, what is wrong with it, and what it may not say."""
        admitted = admit(migrated(layer), name, trusted=trusted)
        found = unprintable(admitted)
        refused: list[Misfit] = []
        if name in PERSONAL:
            admitted = expand(admitted, self._environment.own)
        elif may_expand(name, trusted=trusted):
            allowed = self._environment.of_workspace
            beyond = self._environment.own.keys() - allowed.keys()
            refused = overreaching(admitted, beyond)
            for misfit in refused:
                admitted = without_setting(admitted, misfit.path)
            admitted = expand(admitted, allowed, personal=False, beyond=beyond)
        admitted, taken = without_resource_names(with_model_names(admitted), name, trusted=trusted)
        return admitted, found or misfits(admitted), [*refused, *taken]

    def _kept(self, name: LayerName, trusted: bool) -> JsonObject | None:
        """A broken layer's last valid content, under the present trust; `None` if there is none."""
        try:
            admitted, found, _ = self._checked(self._last_good.get(name, {}), name, trusted)
        except UnusableLayer:
            return None
        return None if found else admitted


def _without_effect(layer: JsonObject) -> list[str]:
    """The keys of a valid layer that ask for something that nothing does yet."""
    wished = changed_keys(SettingsFile(), msgspec.convert(layer, SettingsFile))
    return [key for key in wished if any(f"{key}.".startswith(f"{idle}.") for idle in WITHOUT_EFFECT)]


def _hinted(problems: list[InvalidSettings], hint: str) -> list[InvalidSettings]:
    for problem in problems:
        problem.hint = hint
    return problems
