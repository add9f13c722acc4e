"""The directions of `server/ARCHITECTURE.md`, held."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from gemini_companion.protocol import names
from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.protocol.table import NOTIFICATIONS, REQUESTS
from gemini_companion.sessions.events import EVENTS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "server" / "gemini_companion"


def test_every_import_goes_in_the_direction_drawn() -> None:
    program = "import sys; from importlinter.cli import lint_imports_command; sys.argv = ['lint-imports', '--no-cache']; lint_imports_command()"
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=100, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr


def test_only_the_transport_writes_to_the_wire() -> None:
    writers = [
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"sys\.stdout|print\(|os\.dup2?\(", path.read_text("utf-8")) and "cli" not in path.parts and path.name != "transport.py"
    ]
    assert writers == []


def test_the_engine_has_no_await() -> None:
    awaiting = [path for path in (PACKAGE / "engine").rglob("*.py") if re.search(r"^\s*(async def|await )", path.read_text("utf-8"), re.MULTILINE)]
    assert awaiting == []


def test_the_names_that_initialize_answers_are_those_of_the_table() -> None:
    assert sorted(names.METHODS) == sorted(method.name for method in (*REQUESTS, *NOTIFICATIONS))
    assert sorted(names.COMMANDS) == sorted(COMMANDS)
    assert list(names.EVENTS) == [event.__struct_config__.tag for event in EVENTS]


def test_nothing_slow_is_loaded_before_initialize_is_answered() -> None:
    program = (
        "import sys; from gemini_companion.wiring import Daemon; Daemon({'HOME': '/nowhere'}).create_server(); "
        "print(sorted(name for name in sys.modules if name.split('.')[0] in "
        "('google', 'httpx2', 'sqlite3', 'pathspec', 'watchfiles', 'rich', 'platformdirs') or name.startswith('gemini_companion.sessions')))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(PACKAGE.parent)})
    assert run.stdout.strip() == "[]", run.stderr


def test_no_module_has_outgrown_a_reading() -> None:
    long = {str(path.relative_to(ROOT)): count for path in PACKAGE.rglob("*.py") if (count := path.read_text("utf-8").count("\n")) > 450}
    assert {name for name in long if not name.endswith("coefficients.py")} == set()
