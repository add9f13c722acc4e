from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser


@pytest.fixture
async def slow() -> SlowSummariser:
    return SlowSummariser()


@pytest.fixture
async def desk(tmp_path: Path, slow: SlowSummariser) -> AsyncIterator[Studio]:
    """Compressions are prepared here, by a model that waits until the test lets it."""
    studio = Studio(tmp_path, model=slow, compression_background="auto")
    yield studio
    await studio.app.close()
