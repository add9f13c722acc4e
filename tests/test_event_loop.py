"""One module says how much work the event loop does at once: `sessions.threads`."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gemini_companion.sessions.threads import IN_THREAD_FROM, off_loop

PACKAGE = Path(__file__).parents[1] / "server" / "gemini_companion"
DECIDES = PACKAGE / "sessions" / "threads.py"
THREADS = {"to_thread", "run_in_executor"}


def is_length(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def compares_length(test: ast.expr) -> bool:
    """Whether a condition compares how long something is."""
    comparisons = (node for node in ast.walk(test) if isinstance(node, ast.Compare))
    return any(is_length(inner) for comparison in comparisons for inner in ast.walk(comparison))


def begins_thread(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Attribute) and inner.attr in THREADS for inner in ast.walk(node))


def own_thresholds(tree: ast.AST) -> Iterator[int]:
    """The lines on which a condition on a length decides about a thread, within it or by an early return, and those that
    fetch the number to compare it for themselves.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and node.name == "IN_THREAD_FROM":  # to be asked by `is_much` and `off_loop`
            yield node.lineno
        if isinstance(node, ast.If | ast.IfExp | ast.While) and compares_length(node.test) and begins_thread(node):
            yield node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and begins_thread(node):
            returns = (one for one in node.body if isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return))
            yield from (one.lineno for one in returns if compares_length(one.test))


def test_only_one_module_says_from_which_size_on_work_leaves_the_event_loop():
    found = {
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in PACKAGE.rglob("*.py")
        if path != DECIDES
        for line in own_thresholds(ast.parse(path.read_text("utf-8")))
    }
    assert found == set()


@pytest.mark.parametrize(
    "body",
    [
        "return await asyncio.to_thread(work) if len(text) > 10 else work()",
        "if len(text) > 10: await asyncio.to_thread(work)",
        "if 10 > len(text):\n  return work()\n return await loop.run_in_executor(None, work)",
        "from gemini_companion.sessions.threads import IN_THREAD_FROM",
    ],
)
def test_a_threshold_of_its_own_is_found(body: str):
    assert list(own_thresholds(ast.parse(f"async def f():\n {body}")))


@pytest.mark.parametrize(("units", "leaves"), [(IN_THREAD_FROM - 1, False), (IN_THREAD_FROM, True)])
async def test_much_work_leaves_the_thread_of_the_event_loop(units: int, leaves: bool):
    worker = await off_loop(units, threading.current_thread)
    assert (worker is not threading.current_thread()) is leaves
