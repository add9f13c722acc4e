"""A bound for tests that speak to the emulator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.patience import PATIENCE


@pytest.fixture
async def bounded() -> AsyncIterator[None]:
    async with asyncio.timeout(PATIENCE):
        yield
