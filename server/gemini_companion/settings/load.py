"""Reading the layers of the settings, again and again, without ever failing.

A layer that is broken is reported, and what it last said well stays in force.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.effective import Settings, changed_keys, settle
from gemini_companion.settings.layers import Place, UnusableLayer, admit, expand, may_expand, overreach, tidy
from gemini_companion.settings.objects import JsonObject, merge
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.sources import EditorSource, FileSource, Source
from gemini_companion.settings.validation import Misfit, misfits

SETTINGS_FILE: Final = Path(".gemini", "settings.json")
"""Below the user's home, and below the first workspace folder."""

_KEPT: Final = "Correct it and save; until then what it last said without a fault stays in force."
_IGNORED: Final = "Correct it and save; until then nothing of it is used."
_MOVE: Final = "Set it in .gemini/settings.json in your home folder."


class LoadedSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What one reading of all layers brought."""

    settings: Settings
    problems: tuple[InvalidSettings, ...]
    """What is broken, in the order of the layers. Each message names file, line, column and key as far as there are any."""
    changed_keys: tuple[str, ...]
    """The keys whose values differ from those of the reading before, as in `model.name`; empty the first time."""
    document: JsonObject
    """The merged layers as JSON, keys that we do not know included."""


class SettingsLoader:
    """The settings of one server: the user's file, then the first workspace folder's, then the editor's section, later over earlier.

    `home` is the user's home folder, `workspace_folders` are absolute paths, `env` is the environment; `remote_compression_threshold`
    is a remote experiment's flag, as in `effective.settle`. The loader blocks on small files and is for one thread at a time.
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
        self._last_good: dict[Place, JsonObject] = {}
        self._merged: SettingsFile | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that `reload` reads, whether they are there or not: what to watch."""
        return tuple(path for path in (self._home / SETTINGS_FILE, self._workspace_file()) if path)

    def move_to(self, workspace_folders: Sequence[str]) -> None:
        """Work for other workspace folders from the next `reload` on."""
        if tuple(workspace_folders) != self._folders:
            self._folders = tuple(workspace_folders)
            self._last_good.pop("workspace", None)

    def reload(self, trusted: bool, editor_section: object = None) -> LoadedSettings:
        """Read every layer anew. Never raises: what is wrong stands in `problems`.

        `trusted` is the workspace's trust now; `editor_section` is the editor's `geminiCompanion` section as JSON, `None` if it has none.
        """
        workspace = self._workspace_file()
        sources: list[tuple[Place, Source]] = [("user", FileSource(self._home / SETTINGS_FILE)), ("editor", EditorSource(editor_section))]
        if workspace:
            sources.insert(1, ("workspace", FileSource(workspace)))
        document: JsonObject = {}
        problems: list[InvalidSettings] = []
        for place, source in sources:
            layer, found = self._layer(place, source, trusted)
            document = merge(document, layer)
            problems += found
        merged = msgspec.convert(document, SettingsFile)
        before, self._merged = self._merged, merged
        return LoadedSettings(
            settings=settle(merged, home=self._home, env=self._env, remote_compression_threshold=self._remote_compression_threshold),
            problems=tuple(problems),
            changed_keys=changed_keys(before, merged) if before else (),
            document=document,
        )

    def _workspace_file(self) -> Path | None:
        """The workspace's file, unless that is the user's own: opened as a workspace, the home folder has no second say."""
        if not self._folders:
            return None
        path = Path(self._folders[0]) / SETTINGS_FILE
        try:
            is_users = os.path.realpath(path.parent) == os.path.realpath((self._home / SETTINGS_FILE).parent)
        except (OSError, ValueError):
            is_users = False  # such a path cannot be read either, and `FileSource` says so
        return None if is_users else path

    def _layer(self, place: Place, source: Source, trusted: bool) -> tuple[JsonObject, list[InvalidSettings]]:
        """What counts of a source now, and what is wrong with it."""
        problems: list[InvalidSettings] = []
        try:
            layer = tidy(source.read())
            admitted, found = self._checked(layer, place, trusted)
            problems += source.problems(found)
        except InvalidSettings as fault:
            problems.append(fault)
        except UnusableLayer as fault:
            problems += source.problems([fault.misfit])
        else:
            if not problems:
                self._last_good[place] = layer
                return admitted, _hinted(source.problems(overreach(layer, place)), _MOVE)
        kept = self._kept(place, trusted)
        return kept or {}, _hinted(problems, _KEPT if kept else _IGNORED)

    def _checked(self, layer: JsonObject, place: Place, trusted: bool) -> tuple[JsonObject, list[Misfit]]:
        admitted = admit(layer, place, trusted=trusted)
        if may_expand(place, trusted=trusted):
            admitted = expand(admitted, self._env)
        return admitted, misfits(admitted)

    def _kept(self, place: Place, trusted: bool) -> JsonObject | None:
        """What a broken layer said last, under the trust of today; `None` if there is nothing to be used of it."""
        try:
            admitted, found = self._checked(self._last_good.get(place, {}), place, trusted)
        except UnusableLayer:
            return None
        return None if found else admitted


def _hinted(problems: list[InvalidSettings], hint: str) -> list[InvalidSettings]:
    for problem in problems:
        problem.hint = hint
    return problems
