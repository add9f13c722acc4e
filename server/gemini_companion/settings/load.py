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
from gemini_companion.settings.authority import WITHOUT_EFFECT, LayerName, key_path
from gemini_companion.settings.effective import Settings, changed_keys, settle
from gemini_companion.settings.layers import (
    UnusableLayer,
    admit,
    expand,
    may_expand,
    overreach,
    tidy,
    unprintable,
    with_model_names,
    without_resource_names,
)
from gemini_companion.settings.objects import JsonObject, merge
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.sources import EditorSource, FileSource, Source
from gemini_companion.settings.validation import Misfit, misfits

SETTINGS_FILE: Final = Path(".gemini", "settings.json")
"""Below the user's home, and below the first workspace folder."""

_KEPT: Final = "Correct it and save; until then what it last held without a fault stays in force."
_IGNORED: Final = "Correct it and save; until then nothing of it is used."
_MOVE: Final = "Set it in .gemini/settings.json in your home folder."


class LoadedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading all layers once."""

    settings: Settings
    problems: tuple[InvalidSettings, ...]
    """What is broken, in the order of the layers. Each message names file, line, column and key as far as known."""
    remarks: tuple[tuple[str, InvalidSettings], ...]
    """What has no effect yet: a warning for each layer, with a text that stays the same while its keys do."""
    changed_keys: tuple[str, ...]
    """The keys whose values differ from the previous reading, as in `model.name`; empty the first time."""
    document: JsonObject
    """The merged layers as JSON, unknown keys included."""


class SettingsLoader:
    """Loads the settings of one server: the user's file, the first workspace folder's, the editor's section.

    Later layers override earlier ones. `home` is the user's home folder, `workspace_folders` are absolute paths, `env`
    is the environment; `remote_compression_threshold` is a remote experiment's flag, as in `effective.settle`. The
    loader blocks on small files and is for one thread at a time.
    """

    def __init__(
        self,
        home: Path,
        workspace_folders: Sequence[str],
        env: Mapping[str, str],
        *,
        remote_compression_threshold: float | None = None,
    ) -> None:
        self._home = home
        self._folders = tuple(workspace_folders)
        self._env = env
        self._remote_compression_threshold = remote_compression_threshold
        self._last_good: dict[LayerName, JsonObject] = {}
        self._merged: SettingsFile | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that `reload` reads, existing or not: those to watch."""
        return tuple(path for path in (self._home / SETTINGS_FILE, self._workspace_file()) if path)

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
        workspace = self._workspace_file()
        sources: list[tuple[LayerName, Source]] = [
            ("user", FileSource(self._home / SETTINGS_FILE)),
            ("editor", EditorSource(editor_section)),
        ]
        if workspace:
            sources.insert(1, ("workspace", FileSource(workspace)))
        document: JsonObject = {}
        problems: list[InvalidSettings] = []
        remarks: list[tuple[str, InvalidSettings]] = []
        layers: list[tuple[str, SettingsFile]] = []
        for name, source in sources:
            layer, found = self._layer(name, source, trusted)
            layers.append((name, msgspec.convert(layer, SettingsFile)))
            document = merge(document, layer)
            problems += found
            if keys := _without_effect(layer):
                remarks.append((" ".join((name, *keys)), source.remark(map(key_path, keys))))
        merged = msgspec.convert(document, SettingsFile)
        before, self._merged = self._merged, merged
        return LoadedSettings(
            settings=settle(
                merged,
                home=self._home,
                env=self._env,
                remote_compression_threshold=self._remote_compression_threshold,
                layers=layers,
            ),
            problems=tuple(problems),
            remarks=tuple(remarks),
            changed_keys=changed_keys(before, merged) if before else (),
            document=document,
        )

    def _workspace_file(self) -> Path | None:
        """The workspace's file, unless it is the user's own: a home folder opened as a workspace counts once."""
        if not self._folders:
            return None
        path = Path(self._folders[0]) / SETTINGS_FILE
        try:
            is_users = os.path.realpath(path.parent) == os.path.realpath((self._home / SETTINGS_FILE).parent)
        except (OSError, ValueError):
            is_users = False  # such a path cannot be read either, and `FileSource` reports that
        return None if is_users else path

    def _layer(self, name: LayerName, source: Source, trusted: bool) -> tuple[JsonObject, list[InvalidSettings]]:
        """The part of a source that applies now, and what is wrong with it."""
        problems: list[InvalidSettings] = []
        try:
            layer = tidy(source.read())
            admitted, found, taken = self._checked(layer, name, trusted)
            problems += source.problems(found)
        except InvalidSettings as fault:
            problems.append(fault)
        except UnusableLayer as fault:
            problems += source.problems([fault.misfit])
        else:
            if not problems:
                self._last_good[name] = layer
                return admitted, _hinted(source.problems([*overreach(layer, name), *taken]), _MOVE)
        kept = self._kept(name, trusted)
        return kept or {}, _hinted(problems, _KEPT if kept else _IGNORED)

    def _checked(
        self, layer: JsonObject, name: LayerName, trusted: bool
    ) -> tuple[JsonObject, list[Misfit], list[Misfit]]:
        """The part of a layer that applies, what is wrong with it, and what it may not say."""
        admitted = admit(layer, name, trusted=trusted)
        found = unprintable(admitted)
        if may_expand(name, trusted=trusted):
            admitted = expand(admitted, self._env)
        admitted, taken = without_resource_names(with_model_names(admitted), name, trusted=trusted)
        return admitted, found or misfits(admitted), taken

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
