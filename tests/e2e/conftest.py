"""The server over stdio, with the built-in model and with the real SDK against the emulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "parser.py").write_text("def parse(text):\n    return text.split()\n", "utf-8")
    (folder / ".env").write_text("TOKEN=hunter2\n", "utf-8")
    return folder


@pytest.fixture
async def offline(tmp_path: Path, workspace: Path) -> AsyncIterator[Editor]:
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        yield spoken


@pytest.fixture
async def online(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> AsyncIterator[Editor]:
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        yield spoken
