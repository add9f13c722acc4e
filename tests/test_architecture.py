"""The directions of `server/ARCHITECTURE.md`, held."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gemini_companion.protocol import names
from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.protocol.table import NOTIFICATIONS, REQUESTS
from gemini_companion.sessions.events import EVENTS
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "server" / "gemini_companion"

PROCESSES_OF_THEIR_OWN = {"adapters/local/worker.py", "adapters/processes/reaper.py"}
"""What they write goes to a pipe."""


@pytest.mark.process
def test_every_import_goes_in_the_direction_drawn() -> None:
    program = (
        "import sys; from importlinter.cli import lint_imports_command; sys.argv = ['lint-imports', '--no-cache'];"
        " lint_imports_command()"
    )
    environment = {"PYTHONPATH": str(PACKAGE.parent)}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_only_the_transport_writes_to_the_wire() -> None:
    writers = [
        path
        for path in PACKAGE.rglob("*.py")
        if re.search(r"sys\.stdout|print\(|os\.dup2?\(", path.read_text("utf-8"))
        and "cli" not in path.parts
        and path.name != "transport.py"
        and path.relative_to(PACKAGE).as_posix() not in PROCESSES_OF_THEIR_OWN
    ]
    assert writers == []


def test_the_engine_has_no_await() -> None:
    awaiting = [
        path
        for path in (PACKAGE / "engine").rglob("*.py")
        if re.search(r"^\s*(async def|await )", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert awaiting == []


def test_the_names_that_initialize_answers_are_those_of_the_table() -> None:
    assert sorted(names.METHODS) == sorted(method.name for method in (*REQUESTS, *NOTIFICATIONS))
    assert sorted(names.COMMANDS) == sorted(COMMANDS)
    assert list(names.EVENTS) == [event.__struct_config__.tag for event in EVENTS]


@pytest.mark.process
def test_nothing_slow_is_loaded_before_initialize_is_answered() -> None:
    program = (
        "import asyncio, sys; from gemini_companion.wiring.daemon import Daemon\nasync def answer():\n"
        " daemon = Daemon({'HOME': '/nowhere'}).create_dispatcher()\n"
        ' daemon.receive(b\'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file:///","capabilities":{}}}\')\n'
        " assert daemon.documents.encoding\n"
        " print(sorted(name for name in sys.modules if name.split('.')[0] in ('attr', 'cattrs', 'cryptography',"
        " 'google', 'httpx2', 'lsprotocol', 'sqlite3', 'watchfiles', 'rich', 'platformdirs', 'psutil')"
        " or name.startswith(('gemini_companion.sessions', 'pygls.lsp', 'pygls.workspace'))))\n"
        "asyncio.run(answer())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert run.stdout.strip() == "[]", run.stderr


def test_nobody_outside_the_adapters_asks_for_a_provider_by_name() -> None:
    named = re.compile(r"provider(?:\.name)?\s*(?:==|!=)")
    outside = [path for path in PACKAGE.rglob("*.py") if "adapters" not in path.parts]
    assert {str(path) for path in outside if named.search(path.read_text("utf-8"))} == set()


OTHER_WORDS = re.compile(
    r"compaction|(?<!wal_)checkpoint|hearer|\bpeer\b|\bset_?aside\b|\bbring_?back\b|\bstands_?in\b|news_?desk",
    re.IGNORECASE,
)
SOURCES = {
    "server/gemini_companion": (".py",),
    "schemas/generate": (".py",),
    "client-vscode/src": (".ts", ".tsx", ".cts"),
    "client-vscode/webview": (".ts", ".tsx", ".css"),
}
"""Where the words count, and in which files."""
READS_OLD_DATA = {
    f"server/gemini_companion/{path}"
    for path in ("engine/history/version_0_1.py", "adapters/storage/schema.py", "sessions/interchange/companion.py")
}


@pytest.mark.parametrize("folder", SOURCES)
def test_each_concept_has_one_name(folder: str) -> None:
    """The words that ARCHITECTURE lists have taken the place of these, but where old data is read."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in SOURCES[folder]
    }
    found = {path: OTHER_WORDS.findall(text) for path, text in texts.items() if path not in READS_OLD_DATA}
    assert {path: words for path, words in found.items() if words} == {}
