"""Ctrl+C ends a command, whenever it is pressed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.__main__ import main
from tests.support.emulator import Emulator, Gate, answer
from tests.support.patience import PATIENCE
from tests.support.processes import running

SERVER = str(Path(__file__).resolve().parents[2] / "server")
WAITING_FOR_EVER = """
import asyncio, signal, threading
from gemini_companion.cli.interruptible import run_interruptibly

def interrupt():
    threading.Event().wait(0.1)  # by now the loop waits; if it does not yet, nothing is tested, and nothing fails
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

async def wait():
    threading.Thread(target=interrupt).start()
    await asyncio.get_running_loop().create_future()

try:
    run_interruptibly(wait())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def chat(tmp_path: Path) -> str:
    file = tmp_path / "chat.json"
    contents: list[dict[str, Any]] = []
    for number in range(8):
        contents += [
            {"role": "user", "parts": [{"text": f"{number} " + "word " * 200}]},
            {"role": "model", "parts": [{"text": "text " * 200}]},
        ]
    file.write_text(json.dumps(contents), "utf-8")
    return str(file)


def test_an_interrupted_command_exits_with_130_and_one_sentence(tmp_path: Path, chat: str, emulator: Emulator) -> None:
    emulator.script(answer(Gate(), "late"), method="generateContent")
    environment = {
        "HOME": str(tmp_path / "home"),
        "COMPANION_DATA_DIR": str(tmp_path / "data"),
        "PATH": os.environ["PATH"],
        "GEMINI_API_KEY": "key",
        "GOOGLE_GEMINI_BASE_URL": emulator.base_url,
        "PYTHONPATH": SERVER,
    }
    arguments = [sys.executable, "-m", "gemini_companion", "compress", chat, "--json"]
    with running(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        emulator.wait_for_request_blocking(method="generateContent")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert err == "gemini-companion: Interrupted.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals between threads")
def test_an_interrupt_that_does_not_itself_wake_the_loop_is_not_missed() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WAITING_FOR_EVER],
        env={"PYTHONPATH": SERVER},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (run.stdout, run.stderr) == ("interrupted\n", "")


def test_an_interrupt_while_modules_are_loaded_exits_with_130_and_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "gemini_companion.cli.main":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "gemini_companion.cli.main", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    monkeypatch.setattr(sys, "argv", ["gemini-companion", "doctor"])
    assert main() == 130
    assert capsys.readouterr().err == "gemini-companion: Interrupted.\n"
