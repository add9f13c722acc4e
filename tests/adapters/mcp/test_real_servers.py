"""Servers that others wrote, from the registries. `COMPANION_MCP_SERVERS` names a folder that has them:

python -m venv F/python && F/python/bin/pip install mcp-server-time mcp-server-git mcp-server-fetch
npm install --prefix F/node @modelcontextprotocol/server-filesystem @modelcontextprotocol/server-everything
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from gemini_companion.adapters.mcp.connector import McpConnector
from gemini_companion.engine.mcp.config import settled_servers
from gemini_companion.engine.mcp.listed import listed_tools
from gemini_companion.engine.mcp.results import prompt_of, resource_of, result_of
from gemini_companion.sessions.mcp.port import Link, McpFault, Surroundings
from tests.support.patience import PATIENCE

FOLDER = Path(os.environ.get("COMPANION_MCP_SERVERS", "/nonexistent"))
PYTHON, NODE = FOLDER / "python" / "bin", FOLDER / "node" / "node_modules" / ".bin"

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="COMPANION_MCP_SERVERS names no folder with servers"),
]


@asynccontextmanager
async def connected(tmp_path: Path, **fields: Any) -> AsyncGenerator[Link]:
    (server,) = settled_servers([("user", True, {"real": fields})]).servers
    around = Surroundings(cwd=str(tmp_path), on_log=lambda _: None, on_changed=lambda _: None)
    link = await McpConnector(dict(os.environ), folder=tmp_path / "data").connect(server, around)
    try:
        tools, problems = listed_tools(server, await link.list("tools"))
        assert tools
        assert problems == ()
        yield link
    finally:
        await link.close()
    children = psutil.Process().children(recursive=True)
    assert "url" in fields or not [child for child in children if str(FOLDER) in " ".join(child.cmdline())]


async def said(link: Link, tool: str, **args: Any) -> str:
    return result_of(await link.call(tool, args, seconds=PATIENCE, progress=lambda _: None)).text


async def test_the_time_server_tells_the_time(tmp_path: Path) -> None:
    async with connected(tmp_path, command=str(PYTHON / "mcp-server-time")) as link:
        assert '"timezone": "UTC"' in await said(link, "get_current_time", timezone="UTC")


async def test_the_git_server_reads_a_repository(tmp_path: Path) -> None:
    made = await asyncio.create_subprocess_exec("git", "init", "-q", str(tmp_path / "repo"))
    assert await made.wait() == 0
    (tmp_path / "repo" / "new.txt").write_text("x", "utf-8")
    async with connected(tmp_path, command=str(PYTHON / "mcp-server-git")) as link:
        assert "new.txt" in await said(link, "git_status", repo_path=str(tmp_path / "repo"))


async def test_the_fetch_server_answers_and_its_faults_are_told(tmp_path: Path) -> None:
    async with connected(tmp_path, command=str(PYTHON / "mcp-server-fetch")) as link:
        try:
            told = await said(link, "fetch", url="http://127.0.0.1:9/nothing")
        except McpFault as fault:
            told = fault.message
        assert told


async def test_the_filesystem_server_reads_below_its_folder_only(tmp_path: Path) -> None:
    (tmp_path / "inside.txt").write_text("found me", "utf-8")
    server = str(NODE / "mcp-server-filesystem")
    async with connected(tmp_path, command=server, args=[str(tmp_path)]) as link:
        assert "found me" in await said(link, "read_text_file", path=str(tmp_path / "inside.txt"))
        assert "denied" in (await said(link, "read_text_file", path="/etc/hostname")).lower()


async def everything(link: Link) -> None:
    """What the server that shows everything shows."""
    assert await said(link, "echo", message="hello") == "Echo: hello"
    image = result_of(await link.call("get-tiny-image", {}, seconds=PATIENCE, progress=lambda _: None))
    assert image.media[0]["inlineData"]["mimeType"] == "image/png"
    prompts = [prompt["name"] for prompt in await link.list("prompts")]
    assert "Paris" in prompt_of(await link.prompt("args-prompt", {"city": "Paris"})).text
    assert "simple-prompt" in prompts
    resources = await link.list("resources")
    assert resource_of(await link.read(resources[0]["uri"])).text
    progress: list[str] = []
    await link.call(
        "trigger-long-running-operation", {"duration": 1, "steps": 2}, seconds=PATIENCE, progress=progress.append
    )
    assert progress


async def test_the_server_of_everything_over_stdio(tmp_path: Path) -> None:
    async with connected(tmp_path, command=str(NODE / "mcp-server-everything")) as link:
        await everything(link)


async def test_the_server_of_everything_over_http(tmp_path: Path) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        str(NODE / "mcp-server-everything"),
        "streamableHttp",
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        async with connected(tmp_path, url=f"http://127.0.0.1:{port}/mcp") as link:
            await everything(link)
    finally:
        process.kill()
        await process.wait()
