"""Stores that are closed at the end of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage import SqliteStore, open_store
from tests.adapters.storage.stores import FakeProcesses, MakeStore, ManualClock
from tests.support.patience import PATIENCE


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def make_store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[MakeStore]:
    """Opens stores on one file, as one process or as several."""
    stores: list[SqliteStore] = []

    def make(*, processes: FakeProcesses | None = None, data_dir: Path = tmp_path, **options: Any) -> SqliteStore:
        fakes = processes or FakeProcesses()
        options.setdefault("heartbeat_seconds", 3600.0)
        store = open_store(data_dir, "default", clock=clock, processes=fakes, **options)
        stores.append(store)
        return store

    yield make
    async with asyncio.timeout(PATIENCE):
        for store in stores:
            await store.close()


@pytest.fixture
def store(make_store: MakeStore) -> SqliteStore:
    return make_store()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the file is, once there is one."""
    return tmp_path / "projects" / "default" / "sessions.db"
