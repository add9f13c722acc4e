"""That nothing of an emulator stays open once it was stopped."""

from __future__ import annotations

import gc
import socket
from urllib.parse import urlsplit

import pytest

from tests.support.emulator import Emulator


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_a_connection_that_comes_as_it_stops_is_closed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    left_open: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda unraisable: left_open.append(str(unraisable.exc_value)))
    for connections in range(20):
        emulator = Emulator()
        emulator.start()
        port = urlsplit(emulator.base_url).port
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections % 4 + 1)]
        emulator.stop()
        for client in clients:
            client.close()
        del emulator
        gc.collect()
    assert left_open == []
