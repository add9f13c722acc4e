from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.sessions import Studio


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Studio]:
    studio = Studio(tmp_path)
    yield studio
    await studio.app.close()
