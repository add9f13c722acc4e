"""A sample server and a client that speaks to it in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.sample_server import SampleApp, create_sample_server
from tests.support.wire import InMemoryClient


@pytest.fixture
async def app() -> SampleApp:
    return SampleApp()


@pytest.fixture
async def raw_client(app: SampleApp) -> AsyncIterator[InMemoryClient]:
    """A client that has not sent `initialize`."""
    client = InMemoryClient(create_sample_server(app))
    yield client
    app.release.set()
    await client.server.dispatcher.close()


@pytest.fixture
async def client(raw_client: InMemoryClient) -> InMemoryClient:
    """A client in the middle of its session; what was received so far is forgotten."""
    await raw_client.initialize()
    raw_client.received.clear()
    return raw_client
