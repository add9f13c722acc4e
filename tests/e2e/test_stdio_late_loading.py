"""What a daemon that nobody asks for anything has loaded: nothing that waits for a need."""

from __future__ import annotations

from pathlib import Path

from tests.support.lsp_types import daemon_paths
from tests.support.wire import ProcessClient

SERVER = Path(__file__).resolve().parents[2] / "server"
TELLS_ITS_MODULES = """import atexit, runpy, sys
def write():
    with open({file!r}, "w") as file:
        file.write("\\n".join(sys.modules))
atexit.register(write)
sys.argv = ["gemini-companion", "serve"]
runpy.run_module("gemini_companion", run_name="__main__")
"""
WAIT_FOR_A_NEED = (
    *("betterleaks", "cryptography", "google.genai", "grpc", "keyring", "mcp", "opentelemetry", "psutil", "pygls.lsp"),
    *("gemini_companion.cli", "gemini_companion.evaluation", "gemini_companion.protocol.server", "tree_sitter_bash"),
)


async def test_finders_keys_sdks_and_pygls_server_wait_for_a_need(tmp_path: Path) -> None:
    file = tmp_path / "modules"
    environment = {
        "HOME": str(tmp_path),
        "COMPANION_DATA_DIR": str(tmp_path / "data"),
        "GEMINI_API_KEY": "",
        "PYTHONPATH": daemon_paths(SERVER),
    }
    client = await ProcessClient.start("-c", TELLS_ITS_MODULES.format(file=str(file)), env=environment)
    await client.initialize()
    for method in ("gemini/models", "gemini/session/list"):
        assert "result" in await client.request(method, {})
    await client.request("shutdown")
    client.send({"jsonrpc": "2.0", "method": "exit"})
    assert await client.ended() == 0
    loaded = file.read_text("utf-8").split()
    assert "gemini_companion.sessions.application" in loaded
    assert [name for name in WAIT_FOR_A_NEED if name in loaded] == []
    assert not (tmp_path / "data" / "vault").exists()
