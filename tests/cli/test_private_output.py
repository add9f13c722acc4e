"""What the command line writes is readable by its owner only."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gemini_companion.cli.main import run
from tests.support.patience import PATIENCE


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


def test_a_written_history_is_its_owners_alone_and_one_that_is_replaced_keeps_its_mode(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    file = tmp_path / "chat.json"
    contents = [{"role": role, "parts": [{"text": "word " * 200}]} for role in ("user", "model") * 8]
    file.write_text(json.dumps(contents), "utf-8")
    made, replaced = tmp_path / "made.json", tmp_path / "replaced.json"
    replaced.write_text("old", "utf-8")
    replaced.chmod(0o640)
    for output in (made, replaced):
        assert run(["compress", str(file), "--output", str(output)], environment) == 0
    assert [stat.S_IMODE(path.stat().st_mode) for path in (made, replaced)] == [0o600, 0o640]


@pytest.mark.process
@pytest.mark.parametrize("is_there", [False, True])
def test_the_log_is_its_owners_alone(tmp_path: Path, environment: dict[str, str], *, is_there: bool) -> None:
    log = tmp_path / "daemon.log"
    if is_there:
        log.write_text("before\n", "utf-8")
        log.chmod(0o644)
    command = [sys.executable, "-m", "gemini_companion", "serve", "--log-file", str(log), "--log-level", "debug"]
    variables = {**environment, "PYTHONPATH": str(Path(__file__).parents[2] / "server")}
    done = subprocess.run(
        command, env=variables, input=b"", capture_output=True, timeout=PATIENCE, check=False, umask=0o022
    )
    assert done.returncode == 0
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.read_text("utf-8").startswith("before\n" if is_there else "")


@pytest.mark.process
def test_what_is_logged_has_no_secrets_tracebacks_included(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    program = """
import logging, sys, threading
from gemini_companion.cli import serve

def work(env, command_line, log_file):
    token = "ghp_" + "Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1Pa5Ue0Xi"
    logging.getLogger("any").info("asked with %s", token)
    try:
        raise ValueError(f"the header was Bearer {token}")
    except ValueError:
        logging.getLogger("any").exception("failed")
    def end():
        raise ValueError(token)
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    return 0

serve.serve_stdio = work
sys.exit(serve.serve({}, log_file=sys.argv[1], log_level="debug"))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(log)], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    written = log.read_text("utf-8")
    assert written.count("[masked: GitHub token]") >= 3
    assert "Zx9Kq2Lm" not in written + done.stderr
