"""Reading the layers of the settings, repeatedly, without ever failing.

A value that cannot be used costs its key (`strictness`). Of a layer that cannot be read at all what it last held stays
in force, also after a restart (`last_good`). Where nothing is known of it, everything is asked about and the built-in
model answers, until it is mended or the person says that it goes on without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast

import msgspec

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.mcp.config import HeldServers
from gemini_companion.settings.authority import PERSONAL, WITHOUT_EFFECT, LayerName, is_admitted, key_path
from gemini_companion.settings.effective import Settings, changed_keys, settle
from gemini_companion.settings.env_files import EnvFiles
from gemini_companion.settings.environment import Environment
from gemini_companion.settings.experiments import EXPERIMENTS_VARIABLE, Experiments, experiments_of
from gemini_companion.settings.last_good import LastGood, state_of
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
from gemini_companion.settings.reading import NotAgreed, shown
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.sources import BlankFile, EditorSource, FileSource, Source, SystemFileSource
from gemini_companion.settings.strictness import HELD, TooManyFaults, masked_texts, mended, miswritten
from gemini_companion.settings.telemetry import telemetry_of_environment
from gemini_companion.settings.tool_rules import names_of_others, unknown_names
from gemini_companion.settings.validation import MISFIT_LIMIT, Misfit, up_to_a_list

_KEPT: Final = "Correct it and save; until then what it last held stays in force."
_REST: Final = "Correct it and save; what else stands there is in force."
_HELD: Final = (
    "Correct it and save. Until then everything is asked about, and the built-in model answers, since nobody knows what"
    " it forbids."
)
_ASKS: Final = "Correct it and save. Until then what it may forbid is not known."
_WITHOUT: Final = "Correct it and save; until then it goes on without it, as you said."
_NAMES: Final = "Look whether they are spelled as in the list of tools; those of servers begin with mcp_."
_OTHERS: Final = "Such a name allows nothing."
_TWICE: Final = "Make it one."
_NOT_AGREED: Final = "Until then what it held before counts."
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
    held_servers: JsonObject = {}
    """Definitions of MCP servers, by name, that are off while the file cannot be read: its copy lacks their secrets."""


class HeldLayer(InvalidSettings):
    """A file that cannot be read, of which nobody knows what it forbids: `file` is held until somebody says go on."""

    def __init__(self, message: str, file: Path | None) -> None:
        super().__init__(message, hint=_HELD)
        self.file = file


class _Reading(NamedTuple):
    """What was read of one layer."""

    values: JsonObject
    faults: list[InvalidSettings]
    """Why it is not what stands there now."""
    is_copy: bool = False
    """It has marks in the place of secrets."""
    is_held: bool = False
    """It cannot be read, and nothing is known of it."""


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
    line as JSON. `last_good` has copies of the files, kept up to date if the loader
    `keeps` them. The loader blocks on small files and is for one thread at a time.
    """

    def __init__(
        self,
        home: Path,
        workspace_folders: Sequence[str],
        env: Mapping[str, str],
        *,
        experiments: Experiments | None = None,
        command_line: JsonObject | None = None,
        last_good: LastGood | None = None,
        keeps: bool = False,
    ) -> None:
        self._home = home
        self._copies, self._keeps = last_good, keeps
        self._places = places(home, env)
        self._folders = tuple(workspace_folders)
        self._env_files = EnvFiles(self._places.user.parent.parent, env)
        self._environment = Environment(env)
        self._experiments = experiments or experiments_of(env.get(EXPERIMENTS_VARIABLE))
        self._command_line = command_line or {}
        self._last_good: dict[LayerName, JsonObject] = {}
        """What each layer last held, as it stood there."""
        self._last_values: dict[LayerName, JsonObject] = {}
        """What of it applied."""
        self._gone_on: set[Path] = set()
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
            self._last_values.pop("workspace", None)

    def go_on(self, file: Path) -> None:
        """Go on without a file that cannot be read, as it is now: the person says so."""
        self._gone_on.add(file)
        if self._copies is not None:
            self._copies.go_on(file)

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
            admit(migrated(one.values), name, trusted=trusted) for (name, _), one in zip(sources, read, strict=True)
        ]
        self._environment, faults, known_of = self._env_files.load(self._folder, known, trusted=trusted)
        held: list[str] = []
        unread: list[str] = []
        for (name, source), reading in zip(sources, read, strict=True):
            layer, found = self._layer(name, source, reading, trusted)
            layers.append(layer)
            if any(isinstance(one, HeldLayer) for one in found):
                held.append(shown(source.path) if source.path else name)
            if layer.source is None and source.path and not any(isinstance(one, NotAgreed) for one in found):
                unread.append(shown(source.path))
            if name == "commandLine":
                from_environment, misread = telemetry_of_environment(self._environment)
                document = merge(document, from_environment)
                problems += misread
            document = merge(document, layer.values)
            problems += found
            if keys := _without_effect(layer.values):
                remarks.append((" ".join((name, *keys)), source.remark(map(key_path, keys))))
            where = shown(source.path) if source.path else name
            if others := names_of_others(msgspec.convert(layer.values, SettingsFile)):
                meant = ", ".join(f"{theirs} for {ours}" for theirs, ours in others.items())
                told = f"{where}: these names of other programs' tools are taken, to restrict ours: {meant}"
                remarks.append((" ".join((name, *others)), InvalidSettings(told, hint=_OTHERS)))
            if unknown := unknown_names(msgspec.convert(layer.values, SettingsFile)):
                remarks.append((" ".join((name, *unknown)), InvalidSettings(_unknown(where, unknown), hint=_NAMES)))
        merged = msgspec.convert(document, SettingsFile)
        before, self._merged = self._merged, merged
        flag = self._flag(problems)
        return LoadedSettings(
            settings=settle(
                merged,
                home=self._home,
                env=self._environment,
                remote_compression_threshold=flag,
                held=tuple(held),
                unread=tuple(unread),
                held_servers={
                    layer.name: HeldServers(layer.held_servers, _off_until(layer.path))
                    for layer in layers
                    if layer.held_servers
                },
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

    def _read(self, name: LayerName, source: Source) -> _Reading:
        """A source's layer as it stands there; or what it last held, and what is wrong now."""
        state = state_of(source.path) if source.path is not None and self._keeps else ""
        try:
            values = tidy(source.read())
        except NotAgreed as fault:
            return _Reading(self._last_good.get(name, {}), _hinted([fault], _NOT_AGREED))
        except InvalidSettings as fault:
            if not isinstance(fault, BlankFile) or self._held_something(name, source.path):
                return self._instead(name, source, fault)
            values = {}
        except UnusableLayer as fault:
            return self._instead(name, source, *source.problems([fault.misfit]))
        if source.is_there:
            self._last_good[name] = values
        else:
            self._last_good.pop(name, None)
        if self._copies is not None and self._keeps and source.path is not None:
            if source.is_there:
                self._copies.keep(source.path, values, state)
            else:
                self._copies.forget(source.path)
        return _Reading(values, [])

    def _held_something(self, name: LayerName, file: Path | None) -> bool:
        copy = self._copies.read(file) if self._copies is not None and file is not None else None
        return bool(self._last_good.get(name) or copy)

    def _instead(self, name: LayerName, source: Source, fault: InvalidSettings) -> _Reading:
        """What counts while a layer cannot be read."""
        if name in self._last_good:
            return _Reading(self._last_good[name], _hinted([fault], _KEPT))
        file = source.path
        if file is not None and (file in self._gone_on or (self._copies is not None and self._copies.goes_on(file))):
            return _Reading({}, _hinted([fault], _WITHOUT))
        copy = self._copies.read(file) if self._copies is not None and file is not None else None
        if copy is not None:
            return _Reading(copy, _hinted([fault], _KEPT), is_copy=True)
        return _Reading({}, [fault], is_held=True)

    def _layer(
        self, name: LayerName, source: Source, reading: _Reading, trusted: bool
    ) -> tuple[LoadedLayer, list[InvalidSettings]]:
        """The part of a layer that applies now, and what is wrong with it."""
        faults, is_held = reading.faults, reading.is_held
        values: JsonObject = {}
        found: list[InvalidSettings] = []
        if not is_held:
            try:
                values, wrong, taken = self._checked(reading, name, trusted)
            except (UnusableLayer, TooManyFaults) as fault:
                what = fault.misfit if isinstance(fault, UnusableLayer) else Misfit((), "hardly anything can be used")
                faults = source.problems([what])
                values = self._last_values.get(name, {})
                is_held = name not in self._last_values
                faults = faults if is_held else _hinted(faults, _KEPT)
            else:
                wrong = [_with_clash(one, source) for one in wrong[:MISFIT_LIMIT]]
                found = _hinted(source.problems(wrong), _REST)
                if not faults:
                    found += _hinted(source.problems(source.doubled[:MISFIT_LIMIT]), _TWICE)
                    found += _hinted(source.problems(miswritten(reading.values)[:MISFIT_LIMIT]), _REST)
                    self._last_values[name] = values
                    found += _hinted(source.problems([*overreach(reading.values, name), *taken]), _MOVE)
        if is_held:
            values, faults = self._held(name, source, faults, trusted)
        is_whole = not faults
        layer = LoadedLayer(
            name=name,
            values=values,
            source=source if is_whole else None,
            path=source.path,
            held_servers=_servers_without_secrets(reading, name, trusted) if reading.is_copy else {},
        )
        return layer, [*faults, *found]

    def _held(
        self, name: LayerName, source: Source, faults: list[InvalidSettings], trusted: bool
    ) -> tuple[JsonObject, list[InvalidSettings]]:
        """What applies in the place of a layer of which nothing is known.

        A workspace that is not trusted could not choose who answers, and so it does not by being broken.
        """
        if name == "workspace" and not trusted:
            return HELD, _hinted(faults, _ASKS)
        return HELD, [HeldLayer(fault.message, source.path) for fault in faults]

    def _checked(
        self, reading: _Reading, name: LayerName, trusted: bool
    ) -> tuple[JsonObject, list[Misfit], list[Misfit]]:
        """The part of a layer that applies, what is wrong with it, and what it may not say."""
        applies = admit(migrated(reading.values), name, trusted=trusted)
        refused: list[Misfit] = []
        bad = [*unprintable(applies), *(masked_texts(applies) if reading.is_copy else ())]
        if bad:
            applies, bad = mended(applies, bad, admits=lambda key: is_admitted(key, name, trusted=trusted))
        if name in PERSONAL:
            applies = expand(applies, self._environment.own)
        elif may_expand(name, trusted=trusted):
            allowed = self._environment.of_workspace
            beyond = self._environment.own.keys() - allowed.keys()
            refused = overreaching(applies, beyond)
            for misfit in refused:
                applies = without_setting(applies, misfit.path)
            applies = expand(applies, allowed, personal=False, beyond=beyond)
        applies, taken = without_resource_names(with_model_names(applies), name, trusted=trusted)
        applies, wrong = mended(
            applies,
            before=self._last_values.get(name),
            admits=lambda key: is_admitted(key, name, trusted=trusted),
        )
        return applies, [*bad, *wrong], [*refused, *taken]


def _servers_without_secrets(reading: _Reading, name: LayerName, trusted: bool) -> JsonObject:
    """The servers of a copy that need a secret of which it has only a mark: none of them applies."""
    servers = admit(migrated(reading.values), name, trusted=trusted).get("mcpServers")
    if not isinstance(servers, dict):
        return {}
    defined = cast("JsonObject", servers)
    return {one: fields for one, fields in defined.items() if isinstance(fields, dict) and masked_texts({one: fields})}


def _off_until(file: Path | None) -> str:
    where = shown(file) if file is not None else "the settings"
    return (
        f"It is off, since {where} cannot be read and the copy of what it last held has no secrets. Correct the file"
        " and save: then it starts again."
    )


def _unknown(where: str, names: Sequence[str]) -> str:
    told = ", ".join(map(one_line, names[:MISFIT_LIMIT]))
    return f"{where}: restricts tools that are not built in, and so nothing unless a server has them: {told}"


def _with_clash(fault: Misfit, source: Source) -> Misfit:
    """A fault, or that it comes of a key with two values."""
    if fault.path not in source.clashes and up_to_a_list(fault.path) not in source.clashes:
        return fault
    _, until, strict = fault.what.partition("; until it is mended, ")
    return fault._replace(what=f"stands there twice, with different values{until}{strict}")


def _without_effect(layer: JsonObject) -> list[str]:
    """The keys of a valid layer that ask for something that nothing does yet."""
    wished = changed_keys(SettingsFile(), msgspec.convert(layer, SettingsFile))
    return [key for key in wished if any(f"{key}.".startswith(f"{idle}.") for idle in WITHOUT_EFFECT)]


def _hinted(problems: list[InvalidSettings], hint: str) -> list[InvalidSettings]:
    for problem in problems:
        problem.hint = hint
    return problems
