"""What options, a rule's other names and folders as operands must not let through."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.tool_entries import ToolRule
from tests.support.shell_lines import HOME, judged, rule


@pytest.mark.parametrize(
    "line",
    [
        f"git diff -U {HOME}/.ssh/id_rsa a.py",
        "git diff -U .env a.py",
        "git log -U .env",
        "git show -U .env",
    ],
)
def test_what_follows_an_option_without_a_separate_value_is_looked_at_as_a_file(line: str) -> None:
    assert judged(line).decision == "ask"


def test_a_value_that_is_attached_is_no_file() -> None:
    assert judged("git diff -U5 a.py").decision == "allow"


@pytest.mark.parametrize(
    ("allowed", "line"),
    [
        (("sed", "-i"), "sed -i s/a/b/ package.json"),
        (("sed", "-i"), "sed -i s/a/b/ .git/config"),
        (("sort", "-o"), "sort -o Makefile a.py"),
    ],
)
def test_an_option_that_only_a_rule_lets_pass_writes_no_file_that_decides_what_runs(
    allowed: tuple[str, ...], line: str
) -> None:
    assert judged(line, rule(*allowed)).decision == "ask"


def test_the_rule_still_lets_it_write_ordinary_files() -> None:
    assert judged("sed -i s/a/b/ a.py", rule("sed", "-i")).decision == "allow"


@pytest.mark.parametrize("name", ["shell", "ShellTool", "run_shell_command", "*"])
def test_a_rule_that_forbids_a_command_holds_by_every_name_of_the_tool(name: str) -> None:
    forbidden = ToolRule(tool=name, decision="deny", command=("git", "push"))
    assert judged("git push", rule("git", "push"), forbidden).decision == "deny"


def test_a_comparison_of_folders_is_asked_about() -> None:
    assert judged("diff . docs").decision == "ask"
    assert judged("diff a.py b.py").decision == "allow"


@pytest.mark.parametrize("line", ["curl http://localhost:8080/health", "curl -s 'https://example.org/a?b=c'"])
def test_an_address_names_no_file(line: str) -> None:
    assert judged(line, rule("curl")).decision == "allow"


@pytest.mark.parametrize(
    "line",
    ["curl file:///etc/passwd", "curl http://x/../../../etc/passwd", "curl http:///etc/passwd", "curl x:/etc/passwd"],
)
def test_what_only_looks_like_an_address_is_looked_at_as_a_file(line: str) -> None:
    assert judged(line, rule("curl")).decision == "ask"
