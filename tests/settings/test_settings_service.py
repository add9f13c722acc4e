"""The settings of a process: kept up to date, with each problem reported once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import CompanionError, InvalidSettings, UntrustedWorkspace
from gemini_companion.settings.load import HeldLayer
from gemini_companion.settings.places import SETTINGS_FILE
from gemini_companion.settings.service import SettingsService
from tests.support.patience import until

PATIENCE = 60.0
"""Seconds; only to bound a hang."""


class Watcher:
    """A watch that reports what the test says."""

    def __init__(self, files: Sequence[Path], fault: CompanionError | None) -> None:
        self.files = tuple(files)
        self.fault = fault
        self.changes: asyncio.Queue[Path] = asyncio.Queue()
        self.begun = asyncio.Event()
        self.idle = asyncio.Event()
        self.ended = asyncio.Event()

    async def run(self, on_change: Callable[[frozenset[Path]], Awaitable[None]]) -> None:
        self.begun.set()
        try:
            if self.fault is not None:
                raise self.fault
            while True:
                await on_change(frozenset([await self.changes.get()]))
                self.idle.set()
        finally:
            self.ended.set()


class House:
    """A home, a workspace, and a service over both that records what it reports."""

    def __init__(self, root: Path, env: dict[str, str] | None = None, fault: CompanionError | None = None) -> None:
        self.home, self.work = root / "home", root / "work"
        for folder in (self.home, self.work):
            (folder / ".gemini").mkdir(parents=True)
        self.changed: list[tuple[str, ...]] = []
        self.problems: list[CompanionError] = []
        self.watchers: list[Watcher] = []
        self.fault = fault
        self.service = self.start(env or {})

    def start(self, env: dict[str, str] | None = None) -> SettingsService:
        self.service = SettingsService(
            self.home,
            env or {},
            [str(self.work)],
            on_changed=self.changed.append,
            on_problem=self.problems.append,
            watch_files=self._watch,
        )
        return self.service

    def _watch(self, files: Sequence[Path]) -> Watcher:
        self.watchers.append(Watcher(files, self.fault))
        return self.watchers[-1]

    def user(self, value: Any) -> None:
        (self.home / SETTINGS_FILE).write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")

    def workspace(self, value: Any) -> None:
        (self.work / SETTINGS_FILE).write_text(json.dumps(value), "utf-8")

    def open(self, trusted: bool | None = None) -> None:
        self.service.set_workspace([str(self.work)], trusted=trusted)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def bounded(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await event.wait()


def test_the_users_settings_are_there_before_any_workspace_is_known(house: House):
    house.user({"model": {"name": "a"}})
    service = house.start()
    assert service.current.model_name == "a"
    assert not service.is_trusted()
    assert (house.changed, house.problems) == ([], [])


def test_a_reload_reports_the_keys_whose_values_changed(house: House):
    house.user({"model": {"name": "a"}})
    house.service.reload()
    house.service.reload()
    assert house.changed == [("model.name",)]
    assert house.service.current.model_name == "a"


def test_the_editors_section_counts_until_it_is_taken_away(house: House):
    house.service.set_editor_section({"model": {"name": "editor"}})
    assert house.service.current.model_name == "editor"
    house.service.set_editor_section(None)
    assert house.service.current.model_name is None
    assert house.changed == [("model.name",), ("model.name",)]


def test_what_has_no_effect_yet_is_told_once_however_often_the_file_is_saved(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gemini_companion.settings.load.WITHOUT_EFFECT", ("telemetry",))
    for blanks in ("", "\n", "\n\n"):
        house.user(f'{blanks}{{"telemetry": {{"enabled": true}}}}')
        house.service.reload()
    (remark,) = house.problems
    assert "telemetry.enabled (line 1)" in remark.message
    house.user({"telemetry": {"enabled": True, "target": "gcp"}})
    house.service.reload()
    assert len(house.problems) == 2


def test_a_problem_is_reported_once_and_again_after_it_was_mended_and_came_back(house: House):
    for text in ("{broken", "{broken", "{}", "{broken"):
        house.user(text)
        house.service.reload()
    assert [type(problem) for problem in house.problems] == [
        HeldLayer,
        InvalidSettings,
    ]  # the second time it is known what it held


async def test_a_workspace_that_the_users_file_trusts_is_trusted_at_once_and_its_settings_count(house: House):
    house.user({"companion": {"trustedFolders": [str(house.work)]}})
    house.workspace({"companion": {"compression": {"model": "w"}}})
    house.open()
    assert house.service.is_trusted()
    assert house.service.current.compression_model == "w"
    assert len(house.changed) == 1
    assert "companion.compression.model" in house.changed[0]
    house.service.close()


async def test_a_workspace_is_trusted_as_its_clients_say_in_either_direction(house: House):
    house.user({"companion": {"trustedFolders": [str(house.work)]}})
    house.open(trusted=False)
    assert not house.service.is_trusted()
    house.open(trusted=True)
    assert house.service.is_trusted()
    house.service.close()


async def test_a_change_of_a_watched_file_takes_effect(house: House):
    house.open()
    (watcher,) = house.watchers
    assert watcher.files[:2] == (house.home / SETTINGS_FILE, house.work / SETTINGS_FILE)
    house.user({"model": {"name": "later"}})
    watcher.changes.put_nowait(house.home / SETTINGS_FILE)
    await bounded(watcher.idle)
    assert house.service.current.model_name == "later"
    assert house.changed == [("model.name",)]
    house.service.close()


async def test_another_workspace_ends_the_watch_over_the_first_and_closing_the_last(house: House, tmp_path: Path):
    house.open()
    await bounded(house.watchers[0].begun)
    house.service.set_workspace([str(tmp_path / "other")], trusted=None)
    first, second = house.watchers
    assert second.files[1] == tmp_path / "other" / SETTINGS_FILE
    await bounded(first.ended)
    await bounded(second.begun)
    house.service.close()
    await bounded(second.ended)


async def test_where_the_system_refuses_to_watch_the_log_says_so_and_a_reload_still_works(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    house = House(tmp_path, fault=CompanionError("Too many watches."))
    house.open()
    await bounded(house.watchers[0].ended)
    await until(lambda: "Too many watches." in caplog.text)
    house.user({"model": {"name": "a"}})
    house.service.reload()
    assert house.service.current.model_name == "a"
    house.service.close()


async def test_a_system_prompt_that_cannot_be_used_is_reported_once_until_it_can(tmp_path: Path):
    house = House(tmp_path, env={"GEMINI_SYSTEM_MD": "prompt.md"})
    assert house.service.system_prompt() is None
    assert house.service.system_prompt() is None
    assert [type(problem) for problem in house.problems] == [UntrustedWorkspace]
    house.open(trusted=True)
    (house.work / "prompt.md").write_text("Be brief.", "utf-8")
    assert house.service.system_prompt() == "Be brief."
    (house.work / "prompt.md").unlink()
    assert house.service.system_prompt() is None
    assert len(house.problems) == 2
    house.service.close()
