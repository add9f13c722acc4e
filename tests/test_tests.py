"""What holds for every test: nothing private is touched, nothing waits by the clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).resolve().parent
MODULES: Final = [pytest.param(path, id=str(path.relative_to(TESTS))) for path in sorted(TESTS.rglob("*.py"))]

PUBLIC_IN_SPITE_OF_THEIR_NAME: Final = frozenset({"_asdict"})
"""Documented, of named tuples."""
ALLOWED: Final = {
    # pytest-lsp's: the process of the server, which has to be killed; pygls': what the server asked, which it cannot end then
    "support/editor_client.py": {"_server", "_request_futures"},
    "hostile/attacks.py": {"_constants", "_parser"},  # of `re`: how it reads a pattern is nowhere else to be had
    "support/random_edits.py": {"_replace"},  # a public method of every named tuple
}
"""Private names that a file touches, where there is no other way."""


@pytest.mark.parametrize("path", MODULES)
def test_no_private_name_of_another_module_is_touched_or_patched(path: Path) -> None:
    allowed = ALLOWED.get(path.relative_to(TESTS).as_posix(), set[str]())
    assert set(_private_names(_tree(path))) <= allowed


@pytest.mark.parametrize("path", MODULES)
def test_no_wait_is_measured_in_seconds_of_its_own(path: Path) -> None:
    """A bound is `tests.support.patience.PATIENCE`, which only ends what hangs, and there is no sleep but one that is
    a step of the event loop.
    """
    if path.is_relative_to(TESTS / "performance"):
        return
    found = [f"line {call.lineno}: {ast.unparse(call)}" for call in _calls(path) if _waits_by_the_clock(call)]
    assert found == []


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _private_names(tree: ast.Module) -> Iterator[str]:
    defined_here = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if _is_private(name) and name not in defined_here:
                yield name
            case ast.ImportFrom(names=names):
                yield from (each.name for each in names if _is_private(each.name))
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr") | ast.Attribute(attr="setattr" | "delattr" | "object")
            ):
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                pieces = [piece for text in texts if isinstance(text, str) for piece in text.split(".")]
                yield from filter(_is_private, pieces)
            case _:
                pass


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC_IN_SPITE_OF_THEIR_NAME


def _calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call)]


def _waits_by_the_clock(call: ast.Call) -> bool:
    name = ast.unparse(call.func).rpartition(".")[2]
    seconds = {
        keyword.value.value
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant) and keyword.arg == "timeout"
    }
    if name in ("timeout", "sleep", "wait", "join", "result") and call.args:
        seconds |= {argument.value for argument in call.args if isinstance(argument, ast.Constant)}
    return (
        any(isinstance(number, int | float) and number >= 1 for number in seconds)
        and ast.unparse(call.func) != "pytest.mark.timeout"
    )
