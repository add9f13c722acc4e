"""Fixtures for every test that needs a Gemini API: `pytest_plugins = ["tests.support.emulator.fixtures"]`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.emulator import Emulator

if TYPE_CHECKING:
    from gemini_companion.adapters.gemini import GeminiProvider


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    """A running emulator. The test fails if it was sent anything that the real API would call malformed
    (`emulator.malformed`).
    """
    with Emulator() as running:
        yield running
    assert not running.malformed, f"requests that the real API refuses: {running.malformed}"
    assert not running.defects


@pytest.fixture
def gemini_environment(emulator: Emulator) -> dict[str, str]:
    """The environment variables that lead a daemon to the emulator."""
    return {"GEMINI_API_KEY": "emulator-key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}


@pytest.fixture
async def gemini(gemini_environment: dict[str, str]) -> AsyncIterator[GeminiProvider]:
    """The real adapter, on the real SDK, speaking to the emulator."""
    from gemini_companion.adapters.gemini import GeminiProvider, from_environment

    options = from_environment(gemini_environment)
    assert options is not None
    client = GeminiProvider(options)
    yield client
    await client.close()
