"""The staged states of the panel, which its pictures and its checks show, have the daemon's own texts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.policy.rules import text_of

ROOT = Path(__file__).parent.parent
STAGED: dict[str, str] = json.loads((ROOT / "client-vscode/test/panel/daemonTexts.json").read_text("utf-8"))
MADE = {
    text_of(ToolRule(tool="run_shell_command", decision="allow", command=("pytest", "-q"))),
    text_of(ToolRule(tool="replace", decision="allow", path="/tests/**")),
}
"""What the daemon puts together of small pieces."""
PARTS = ("Worth it: ", "Not worth it yet: ")
OWN = 0.4
"""As much of a text with values in it is the daemon's own."""


@cache
def templates() -> tuple[tuple[int, re.Pattern[str]], ...]:
    """Every text of the daemon's source: how long it is without its values, and what it matches."""
    files = sorted((ROOT / "server/gemini_companion").rglob("*.py"))
    found = {pattern: own for file in files for pattern, own in _texts(ast.parse(file.read_text("utf-8")))}
    return tuple((own, re.compile(pattern, re.DOTALL)) for pattern, own in found.items())


def _texts(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value), len(node.value)
        elif isinstance(node, ast.JoinedStr):
            own = [part.value for part in node.values if isinstance(part, ast.Constant)]
            pieces = (re.escape(str(one.value)) if isinstance(one, ast.Constant) else ".*" for one in node.values)
            yield "".join(pieces), sum(map(len, map(str, own)))


def is_said(text: str) -> bool:
    if text in MADE:
        return True
    if begins := next((part for part in PARTS if text.startswith(part)), ""):
        numbers, _, end = text.removeprefix(begins).partition(". ")
        return is_said(numbers) and end.startswith("Net ")
    name, colon, rest = text.partition(": ")
    if colon and "/" in name and is_said(rest):  # a file, and what is wrong with it
        return True
    return any(own >= OWN * len(text) and pattern.fullmatch(text) for own, pattern in templates())


@pytest.mark.parametrize("name", STAGED)
def test_a_staged_text_is_one_that_the_daemon_says(name: str) -> None:
    assert is_said(STAGED[name])


def test_another_text_is_none() -> None:
    assert not is_said("The offline model answers: from your files, without a network.")
    assert not is_said(STAGED["noKey"].replace("talk", "speak"))
