"""What bash really runs of generated lines, word for word, against what the verdict says that would run.

Bash finds no program at all: a function that it calls then writes down what it was to run. So nothing of a line runs,
and what its wrappers would run is run by that function in their place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.patience import PATIENCE
from tests.support.shell_grammar import shell_lines
from tests.support.shell_lines import HOME, judged, rule

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]

SLOW: Final = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.function_scoped_fixture,
)
LINES: Final = 50
"""Of one example: a thousand examples of one would take as long for hypothesis as for bash."""
PRELUDE: Final = r"""
enable -n echo printf test pwd true false [
said() {
    local IFS=$'\1' words
    words="$*"
    builtin enable printf
    builtin printf '%s\2' "${words//$'\n'/$'\3'}" >&"$RAN"  # one write, which nothing comes between
    builtin enable -n printf
}
command_not_found_handle() {
    said "$@"
    case $1 in
        timeout | nice | nohup | env | xargs)
            shift
            while [[ $# -gt 0 ]]; do
                case $1 in
                    -n | -k) shift 2 ;;
                    -* | [0-9]* | *=*) shift ;;
                    *) break ;;
                esac
            done
            [[ $# -eq 0 ]] || "$@"
            ;;
    esac
}
"""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ground")
    (folder / "prelude").write_text(PRELUDE)
    (folder / "project" / "src").mkdir(parents=True)
    (folder / "project" / "a.py").write_text("id\n")
    return folder


def ran(line: str, ground: Path) -> set[tuple[str, ...]]:
    """The words of every program that bash would have run."""
    reads, writes = os.pipe()
    environment = {"PATH": "/nowhere", "BASH_ENV": str(ground / "prelude"), "RAN": str(writes), "HOME": HOME}
    try:
        process = subprocess.Popen(
            [shutil.which("bash") or "bash", "-c", line],
            cwd=ground / "project",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writes,),
            start_new_session=True,
        )
    finally:
        os.close(writes)
    with os.fdopen(reads, "rb") as pipe, process:
        data = pipe.read()  # until the last of its processes has ended
        process.wait(PATIENCE)
    commands = data.decode("utf-8", "replace").replace("\3", "\n").split("\2")
    return {tuple(command.split("\1")) for command in commands if command}


def named(line: str) -> set[tuple[str, ...]]:
    """What the verdict says that would run: each part, and what is left of it behind its wrappers."""
    return {part.argv[at:] for part in judged(line).parts for at in range(len(part.argv))}


@settings(max_examples=60, suppress_health_check=SLOW, deadline=None)
@given(st.lists(shell_lines(), min_size=LINES, max_size=LINES))
def test_what_bash_runs_of_an_allowed_line_is_what_was_judged_word_for_word(ground: Path, lines: list[str]) -> None:
    for line in lines:
        if judged(line).decision == "allow":
            assert ran(line, ground) <= named(line), line


@settings(max_examples=30, suppress_health_check=SLOW, deadline=None)
@given(st.lists(shell_lines(), min_size=LINES, max_size=LINES))
def test_what_a_rule_forbids_is_run_by_no_line_that_is_allowed_and_files_are_left_alone(
    ground: Path, lines: list[str]
) -> None:
    forbidden = rule("id", decision="deny")
    project = ground / "project"
    for line in lines:
        if judged(line, rule("id"), forbidden).decision == "allow":
            assert not any(argv[:1] == ("id",) for argv in ran(line, ground)), line
            assert sorted(path.name for path in project.rglob("*")) == ["a.py", "src"], line
