"""Models to run: a tiny one that is made here, and real weights where `COMPANION_GGUF` names some."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.adapters.local.desk import Desk
from tests.support.tiny_gguf import write_tiny_gguf


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("weights") / "tiny.gguf")


@pytest.fixture(params=["tiny", "COMPANION_GGUF"])
def weights(request: pytest.FixtureRequest, tiny: Path) -> Path:
    """The tiny model, then the real one."""
    if request.param == "tiny":
        return tiny
    named = os.environ.get("COMPANION_GGUF", "")
    if not os.path.isfile(named):
        pytest.skip("no weights: COMPANION_GGUF names no GGUF file of a model tuned for chat")
    return Path(named)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    await made.close()
