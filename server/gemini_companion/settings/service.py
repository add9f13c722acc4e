"""The settings of one process, kept up to date: for which workspace, whether it is trusted, and what has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.environment import LiveEnvironment
from gemini_companion.settings.last_good import LastGood
from gemini_companion.settings.load import LoadedSettings, SettingsLoader
from gemini_companion.settings.objects import JsonObject
from gemini_companion.settings.reading import Aside, unnoted
from gemini_companion.settings.system_prompt import system_prompt_override, write_system_prompt
from gemini_companion.settings.trust import is_trusted, real_paths
from gemini_companion.settings.watching import SettingsWatch, WatchFiles

if TYPE_CHECKING:
    from gemini_companion.settings.own_file import OwnSettings


class SettingsService:
    """The settings in force, read again whenever a file, the workspace, its trust or the editor's section changes.

    `home` is the user's home folder, `env` the environment, `folders` the absolute paths of the workspace's folders.
    `on_changed` gets the keys whose values changed (`model.name`), `on_problem` each fault of a file or of the editor's
    section once, and again if it comes back after a correction, and what has no effect yet once. Both are called within
    the call that found it, or on the event loop after a file changed. `on_environment` is called when what `.env` files
    add has changed, after the first reading. `last_good` has private copies of the files, `aside` names
    and notes what is written aside. Reading blocks on small files.
    """

    def __init__(
        self,
        home: Path,
        env: Mapping[str, str],
        folders: Sequence[str] = (),
        *,
        on_changed: Callable[[tuple[str, ...]], None],
        on_problem: Callable[[CompanionError], None],
        watch_files: WatchFiles,
        command_line: JsonObject | None = None,
        last_good: LastGood | None = None,
        on_environment: Callable[[], None] = lambda: None,
        aside: Aside = unnoted,
    ) -> None:
        self._home = home
        self._aside = aside
        self._on_environment = on_environment
        self._folders = tuple(folders)
        self._explicit_trust: bool | None = False
        self._editor_section: JsonObject | None = None
        self._on_changed = on_changed
        self._on_problem = on_problem
        self._reported: set[str] = set()
        self._reported_prompt = ""
        self._remarked: set[str] = set()
        self._loader = SettingsLoader(
            home,
            folders,
            env,
            command_line=command_line,
            last_good=last_good,
            keeps=True,
        )
        self._loaded = self._loader.reload(trusted=False)
        self._environment = LiveEnvironment(lambda: self._loaded.environment)
        self._watch = SettingsWatch(watch_files, self.reload)

    @property
    def current(self) -> Settings:
        """The settings in force."""
        return self._loaded.settings

    @property
    def loaded(self) -> LoadedSettings:
        """The last reading, layer by layer."""
        return self._loaded

    @property
    def environment(self) -> Mapping[str, str]:
        """The process's environment with what `.env` files add to it, as it is whenever somebody looks."""
        return self._environment

    def is_trusted(self) -> bool:
        """Whether the workspace is trusted now."""
        return is_trusted(self._explicit_trust, real_paths(self.current.trusted_folders), real_paths(self._folders))

    def set_workspace(self, folders: Sequence[str], *, trusted: bool | None) -> None:
        """Use these folders and this trust (`None` if no client has stated any): reload, and watch their files.

        Needs a running event loop.
        """
        self._folders, self._explicit_trust = tuple(folders), trusted
        self._loader.move_to(self._folders)
        files = self._loader.files
        self._watch.watch(files)
        self.reload()
        if self._loader.files != files:  # a `.env` file was found above the folder
            self._watch.watch(self._loader.files)
            self.reload()

    def set_editor_section(self, section: JsonObject | None) -> None:
        """Take the editor's `geminiCompanion` section, `None` if it has none, and reload."""
        self._editor_section = section
        self.reload()

    def reload(self) -> None:
        """Read every layer again."""
        trusted, before = self.is_trusted(), self._loaded
        loaded = self._load(trusted)
        if self.is_trusted() != trusted:  # the user's file lists the trusted folders, and was read only now
            again = self._load(not trusted)
            keys = tuple(dict.fromkeys((*loaded.changed_keys, *again.changed_keys)))
            loaded = msgspec.structs.replace(again, changed_keys=keys)
        keys = loaded.changed_keys
        if loaded.settings.model_name != before.settings.model_name and "model.name" not in keys:
            keys = ("model.name", *keys)
        if loaded.environment.files != before.environment.files:
            self._on_environment()
        if loaded.settings.held != before.settings.held and "model.name" not in keys:
            keys = ("model.name", *keys)
        reported, self._reported = self._reported, {problem.message for problem in loaded.problems}
        if keys or loaded.settings.unread != before.settings.unread or self._reported != reported:
            self._on_changed(keys)
        for problem in loaded.problems:
            if problem.message not in reported:
                self._on_problem(problem)
        for keys, remark in loaded.remarks:
            if keys not in self._remarked:
                self._remarked.add(keys)
                self._on_problem(remark)

    def go_on(self, file: Path) -> None:
        """Go on without a file that cannot be read, and read every layer again."""
        self._loader.go_on(file)
        self.reload()

    def system_prompt(self) -> str | None:
        """The text of GEMINI_SYSTEM_MD's file; `None` for the built-in prompt.

        A file that cannot be used is reported, and gives `None` too.
        """
        try:
            text = system_prompt_override(
                self._environment, home=self._home, workspace_folders=self._folders, trusted=self.is_trusted()
            )
        except CompanionError as fault:
            if fault.message != self._reported_prompt:
                self._reported_prompt = fault.message
                self._on_problem(fault)
            return None
        self._reported_prompt = ""
        return text

    def write_system_prompt(self, text: Callable[[], str]) -> None:
        """Write the built-in prompt where GEMINI_WRITE_SYSTEM_MD says, if it says so. What goes wrong is reported."""
        try:
            write_system_prompt(
                text,
                self._environment,
                home=self._home,
                workspace_folders=self._folders,
                trusted=self.is_trusted(),
                aside=self._aside,
            )
        except CompanionError as fault:
            self._on_problem(fault)

    def add_rule(self, rule: ToolRule) -> None:
        """Add a rule of consent to the user's own file. Raises `InvalidSettings`, `StorageFault`."""
        self._own.add(rule)
        self.reload()

    def remove_rule(self, rule_id: str) -> bool:
        """Take a rule of consent out of the user's own file; false if there is none with this id. Raises the same."""
        removed = self._own.remove(rule_id)
        self.reload()
        return removed

    def set_hook(self, name: str, *, on: bool) -> None:
        """Have the hooks of a name run, or not, by the user's own file. Raises `InvalidSettings`, `StorageFault`."""
        self._list_own(("hooksConfig", "disabled"), name, on=not on)

    def enable_skill(self, name: str, *, on: bool) -> None:
        """Turn a skill on or off in the user's own file. Raises `InvalidSettings`, `StorageFault`."""
        self._list_own(("skills", "disabled"), name, on=not on)

    @cached_property
    def _own(self) -> OwnSettings:
        """The user's own file, as it is changed."""
        from gemini_companion.settings.own_file import OwnSettings

        return OwnSettings(self._loader.user_file, self._aside)

    def _list_own(self, path: tuple[str, ...], name: str, *, on: bool) -> None:
        """Have a list of the user's own file hold a name, or not, from now on."""
        change = self._own.put_in if on else self._own.take_out
        change(path, name)
        self.reload()

    def close(self) -> None:
        """Stop watching files."""
        self._watch.stop()

    def _load(self, trusted: bool) -> LoadedSettings:
        loaded = self._loader.reload(trusted, self._editor_section)
        self._loaded = loaded
        return loaded
