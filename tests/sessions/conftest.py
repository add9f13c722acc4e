from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from gemini_companion.adapters.storage.store import SqliteStore, open_store
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import ManualClock, Studio

Opener = Callable[..., Studio]


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Studio]:
    studio = Studio(tmp_path)
    yield studio
    await studio.app.close()


@pytest.fixture
def by_split(studio: Studio) -> None:
    """Compressions are made by `split`: its snapshot and appendix are all that is left of what is hidden."""
    studio.set(compression_strategy="split")


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opener]:
    """Makes studios over one store file, each as another process would have it."""
    studios: list[Studio] = []

    def make(model: ScriptedModel | None = None) -> Studio:
        store: SqliteStore = open_store(tmp_path / "data", "project", clock=ManualClock())
        studio = Studio(tmp_path, store=store, model=model)
        prefix = len(studios)
        inner = studio.services.new_id
        studio.services.new_id = lambda kind: f"{inner(kind)}-{prefix}"
        studios.append(studio)
        return studio

    yield make
    for studio in studios:
        await studio.app.close()
