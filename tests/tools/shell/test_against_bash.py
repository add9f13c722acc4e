from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.patience import PATIENCE
from tests.support.shell_lines import judged
from tests.tools.shell.allowed_lines import ALLOWED

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]

STUB = '#!/bin/sh\nprintf "%s\\n" "${0##*/}" >> "$STUBS_LOG"\ncase ${0##*/} in timeout|nice|nohup|env) ' + (
    'while [ $# -gt 0 ]; do case $1 in -k|-n) shift 2;; -*|[0-9]*|*=*) shift;; *) break;; esac; done; "$@";; esac\n'
)
NAMES = ["ls", "cat", "grep", "sort", "uniq", "head", "tail", "wc", "cut", "tr", "diff", "cmp", "basename", "dirname", "stat", "file", "du", "sha256sum", "find", "sed", "seq", "which", "uname", "git", "npm", "timeout", "nice", "nohup", "env", "id", "rm", "xargs", "sh", "bash", "python3", "curl", "make", "x", "a", "E"]  # fmt: skip


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stubs")
    for name in NAMES:
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    project = folder / "project"
    for inner in ("src", "docs"):
        (project / inner).mkdir(parents=True)
    for file in ("a.py", "b.py", "a.csv", "words.txt"):
        (project / file).write_text("x\n")
    return folder


def called(line: str, stubs: Path) -> set[str]:
    log = stubs / "log"
    log.write_text("")
    environment = {"PATH": str(stubs), "STUBS_LOG": str(log), "HOME": str(stubs)}
    subprocess.run(
        [shutil.which("bash") or "bash", "-c", line],
        cwd=stubs / "project",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return set(log.read_text().split())


def named(line: str) -> set[str]:
    """What the verdict says that runs; the words after a wrapper's name are among it."""
    return {os.path.basename(word) for part in judged(line).parts for word in part.argv}


@pytest.mark.parametrize("line", ALLOWED)
def test_bash_runs_no_program_but_those_that_the_verdict_names(line: str, stubs: Path) -> None:
    before = {path.name for path in (stubs / "project").rglob("*")}
    assert called(line, stubs) <= named(line)
    assert {path.name for path in (stubs / "project").rglob("*")} == before


WORDS = st.sampled_from(
    [
        "ls",
        "cat",
        "id",
        "echo",
        "'",
        '"',
        " ",
        "  ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "<<'E'\n",
        "\nE\n",
        "<<E\n",
        "$(id)",
        "`id`",
        "\\",
        "#",
        "(",
        ")",
        "x",
        ">/dev/null",
        "2>&1",
        "$",
        "{",
        "}",
        "!",
        "time ",
        "CI=1 ",
        "a.py",
        "<",
        "&",
        "-",
        "\t",
    ]
)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(WORDS, min_size=1, max_size=10).map("".join).filter(lambda line: judged(line).decision == "allow"))
def test_bash_runs_nothing_else_in_whatever_is_allowed(stubs: Path, line: str) -> None:
    assert called(line, stubs) <= named(line)
