"""Whatever of the package can write a file is named in ARCHITECTURE, with what it does about secrets."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "server" / "gemini_companion"
ARCHITECTURE = ROOT / "server" / "ARCHITECTURE.md"

WRITES = re.compile(
    r"O_CREAT|O_WRONLY|O_RDWR|write_text\(|write_bytes\(|mkstemp\(|TemporaryFile\(|put_in_place\(|sqlite3\.connect\(|shutil\.copy"
    r"|open\([^\n]*?[\"'](?:[wax]b?\+?|[rwax]b?\+)[\"']"
)


def writers() -> set[str]:
    """The modules in whose source something opens a file to write, or a database."""
    return {
        path.relative_to(PACKAGE).with_suffix("").as_posix()
        for path in PACKAGE.rglob("*.py")
        if WRITES.search(path.read_text("utf-8"))
    }


def named_in_the_table() -> set[str]:
    """The modules of the first column of the table of writers."""
    table = ARCHITECTURE.read_text("utf-8").partition("| what writes | what |")[2].partition("\n\n")[0]
    return {name for row in table.splitlines()[2:] for name in re.findall(r"`([\w/]+)`", row.split("|")[1])}


def test_every_module_that_writes_stands_in_the_table_of_writers() -> None:
    assert named_in_the_table() == writers()
