"""The real Gemini CLI, where its public package is installed, led to the emulator and to a home of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.performance.gemini_cli import CLI
from tests.performance.options import Options
from tests.support.emulator import Emulator
from tests.support.patience import PATIENCE

MODEL: Final = "gemini-2.5-pro"
_PROGRAM: Final = Path("@google/gemini-cli/bundle/gemini.js")
_SURROUNDINGS: Final = "<session_context>"

Said = list[tuple[str, list[dict[str, Any]]]]


def require_program() -> Path:
    """The program's file. Skips the test that asks for it where it is not installed, or Node is not.

    It is looked for in the folder `node_modules` that `PEER_NM` names, then where the benchmarks keep packages.
    """
    kept = Options(scratch=Path()).downloads / CLI.replace("/", "+")
    folders = [Path(named) for named in (os.environ.get("PEER_NM"),) if named] + [kept / "node_modules"]
    found = next((folder / _PROGRAM for folder in folders if (folder / _PROGRAM).is_file()), None)
    if found is None or shutil.which("node") is None:
        pytest.skip(
            f"Gemini CLI is not here: npm install --ignore-scripts --prefix {kept} {CLI}, or PEER_NM names a"
            " node_modules that has it; Node 20 or newer runs it"
        )
    return found


class GeminiCli:
    """A person who uses it in a folder, one prompt for each start. `home` is also where our server has its own."""

    def __init__(self, home: Path, folder: Path, emulator: Emulator, **model: Any) -> None:
        self._program = require_program()
        self._home, self._folder, self._emulator = home, folder, emulator
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": model}
        (home / ".gemini").mkdir(parents=True)
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings), "utf-8")

    async def ask(self, prompt: str, *, resume: str | None = None) -> str:
        """The session's id, once the prompt is answered; tools run unasked."""
        resumed = ("--resume", resume) if resume else ()
        options = ("-m", MODEL, *resumed, "--yolo", "--output-format", "json", "-p", prompt)
        process = await asyncio.create_subprocess_exec(
            "node",
            str(self._program),
            *options,
            cwd=self._folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "TMPDIR": str(self._home),
                "GEMINI_API_KEY": "key",
                "GOOGLE_GEMINI_BASE_URL": self._emulator.base_url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "GEMINI_CLI_NO_RELAUNCH": "true",
                "GEMINI_TELEMETRY_ENABLED": "false",
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            output, errors = await asyncio.wait_for(process.communicate(), PATIENCE)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        assert process.returncode == 0, (output + errors).decode("utf-8", "replace")
        return str(json.loads(output)["session_id"])

    @property
    def files(self) -> list[Path]:
        """The sessions that it lists for the folder."""
        return sorted((self._home / ".gemini" / "tmp").glob("*/chats/session-*"))

    @property
    def newest(self) -> Path:
        """The session that it wrote to most; a start in another minute leaves a file with its surroundings alone."""
        return max((file for file in self.files if file.suffix == ".jsonl"), key=lambda file: file.stat().st_size)


def said(contents: Iterable[dict[str, Any]]) -> Said:
    """A request's conversation: what each side said in a row, without the surroundings that each program has.

    A part that says that it is no thought is as one that does not say so.
    """
    spoken: Said = []
    for content in contents:
        parts = [part for part in content["parts"] if not part.get("text", "").startswith(_SURROUNDINGS)]
        parts = [{key: value for key, value in part.items() if (key, value) != ("thought", False)} for part in parts]
        if spoken and spoken[-1][0] == content["role"]:
            spoken[-1][1].extend(parts)
        elif parts:
            spoken.append((content["role"], parts))
    return spoken


def with_one_id(spoken: Said) -> Said:
    """The same with the ids of calls that stand in requests: a file has the tool's name before them."""

    def mended(part: dict[str, Any]) -> dict[str, Any]:
        for key in ("functionCall", "functionResponse"):
            if key in part:
                body = part[key]
                return {**part, key: {**body, "id": body["id"].removeprefix(f"{body['name']}__")}}
        return part

    return [(role, [mended(part) for part in parts]) for role, parts in spoken]


def texts(spoken: Said, role: str) -> Sequence[str]:
    """Every text of one side."""
    return [part["text"] for who, parts in spoken for part in parts if who == role and "text" in part]
