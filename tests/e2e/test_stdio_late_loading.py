"""What a daemon that nobody asks for anything has loaded, and what that takes: nothing that waits for a need."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.lsp_types import daemon_paths
from tests.support.patience import PATIENCE
from tests.support.wire import ProcessClient

SERVER = Path(__file__).resolve().parents[2] / "server"
TELLS_ITS_MODULES = """import atexit, json, runpy, sys
def write():
    pages = open("/proc/self/statm").read().split()[1] if sys.platform == "linux" else 0
    with open({file!r}, "w") as file:
        json.dump([list(sys.modules), int(pages)], file)
atexit.register(write)
sys.argv = ["gemini-companion", "serve"]
runpy.run_module("gemini_companion", run_name="__main__")
"""
WAIT_FOR_A_NEED = (
    *("anyio", "attr", "betterleaks", "cattrs", "cryptography", "google", "grpc", "httpx", "httpx2", "keyring"),
    *(
        "_hashlib",
        "_ssl",
        "lsprotocol",
        "mcp",
        "multiprocessing",
        "opentelemetry",
        "psutil",
        "pygls.lsp",
        "pygls.workspace",
        "sysconfig",
    ),
    *("tree_sitter", "tree_sitter_bash", "watchfiles.main"),
    *(
        f"gemini_companion.{package}"
        for package in (
            *("cli", "evaluation", "protocol.documents", "protocol.server", "protocol.to_client"),
            *("engine.compression.strategies", "engine.compression.gate", "engine.loops"),
            *(
                "sessions.compression.run",
                "sessions.compression.preview",
                "sessions.interchange.importing",
                "sessions.recovery",
            ),
            *("sessions.turn.turn", "sessions.turn.starting", "sessions.turn.rehearsal", "adapters.offline.answer"),
            *("adapters.files.disk", "adapters.gemini.provider", "adapters.hooks.process", "adapters.mcp.connector"),
            *(
                "adapters.storage.recall_search",
                "adapters.storage.salvage",
                "sessions.mcp.service",
                "sessions.mcp.server",
            ),
            *("sessions.memory.service", "sessions.skills.service", "sessions.hooks.firing", "settings.own_file"),
            *("adapters.memory.files", "adapters.processes.runner", "adapters.search", "adapters.workspace"),
            *("engine.compression.appendix", "engine.constraints.detect", "engine.facts.retention"),
            *("sessions.context.environment", "sessions.interchange", "sessions.statistics.service"),
            *("sessions.tools.changes", "sessions.tools.consent_service", "sessions.tools.outputs"),
            *("tools.policy.decide", "tools.shell.judge", "tools.shell.script"),
            *("tools.web.tools", "tools.web.web_fetch", "tools.workspace.tools", "tools.workspace.replace"),
            *(f"protocol.handlers.{noun}" for noun in ("chat", "changes", "compression", "mcp", "recall", "settings")),
        )
    ),
)
"""Modules and packages, with all that is in them."""

BARE = """import asyncio, sys
import asyncio.subprocess, ctypes, difflib, ipaddress, json, msgspec, platform, shutil, sqlite3, ssl, tempfile, urllib.request
print(open("/proc/self/statm").read().split()[1])
"""
MOST_BESIDE_BARE = 1.5
"""Resident memory of an idle daemon by that of an interpreter that has only loaded libraries that it uses; 1.95 before
turns, tools and handlers waited for a need, 1.67 before adapters did, 1.4 since.
"""


async def idle(tmp_path: Path, *methods: str) -> tuple[list[str], int]:
    """The modules of a daemon that was asked these and nothing else, and its resident pages at its end."""
    file = tmp_path / "modules"
    client = await ProcessClient.start("-c", TELLS_ITS_MODULES.format(file=str(file)), env=environment(tmp_path))
    await client.initialize()
    for method in methods:
        assert "result" in await client.request(method, {})
    await client.request("shutdown")
    client.send({"jsonrpc": "2.0", "method": "exit"})
    assert await client.ended() == 0
    modules, pages = json.loads(file.read_text("utf-8"))
    return modules, pages


def environment(home: Path) -> Mapping[str, str]:
    return {
        "HOME": str(home),
        "COMPANION_DATA_DIR": str(home / "data"),
        "GEMINI_API_KEY": "",
        "PYTHONPATH": daemon_paths(SERVER),
    }


def waiting(modules: list[str]) -> list[str]:
    """Those that should not be there."""
    return [name for name in modules if any((name + ".").startswith(prefix + ".") for prefix in WAIT_FOR_A_NEED)]


@pytest.mark.parametrize(
    "methods", [(), ("gemini/models", "gemini/session/list")], ids=["nothing", "what a panel asks"]
)
async def test_what_is_heavy_waits_for_a_need(tmp_path: Path, methods: tuple[str, ...]) -> None:
    loaded, _ = await idle(tmp_path, *methods)
    assert "gemini_companion.protocol.table" in loaded
    assert not methods or "gemini_companion.sessions.application" in loaded
    assert waiting(loaded) == []
    assert not (tmp_path / "data" / "vault").exists()


async def test_a_prompt_loads_turns_and_no_compression(tmp_path: Path) -> None:
    file = tmp_path / "modules"
    client = await ProcessClient.start("-c", TELLS_ITS_MODULES.format(file=str(file)), env=environment(tmp_path))
    await client.initialize()
    answer: dict[str, Any] = await client.request("gemini/chat", {"prompt": "What is this?"})
    assert answer["result"]["finishReason"] == "STOP"
    await client.request("shutdown")
    client.send({"jsonrpc": "2.0", "method": "exit"})
    assert await client.ended() == 0
    loaded, _ = json.loads(file.read_text("utf-8"))
    assert "gemini_companion.sessions.turn.turn" in loaded
    late = ("sessions.compression.run", "sessions.compression.preview", "protocol.documents", "protocol.to_client")
    assert [name for name in late if f"gemini_companion.{name}" in loaded] == []
    assert "pygls.workspace" not in loaded


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read there")
async def test_an_idle_daemon_takes_little_more_than_its_libraries(tmp_path: Path) -> None:
    bare = await asyncio.create_subprocess_exec(sys.executable, "-c", BARE, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(PATIENCE):
        told, _ = await bare.communicate()
    _, pages = await idle(tmp_path, "gemini/models")
    assert pages / int(told) <= MOST_BESIDE_BARE
