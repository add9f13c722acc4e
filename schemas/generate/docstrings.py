"""The docstrings of a Struct and its fields, read from the source."""

from __future__ import annotations

import ast
import functools
import inspect
import sys

import msgspec


def of_struct(cls: type[msgspec.Struct]) -> str:
    """The class's own docstring, its paragraphs unwrapped; empty if it has none."""
    return unwrapped(cls.__dict__.get("__doc__") or "")


def of_fields(cls: type[msgspec.Struct]) -> dict[str, str]:
    """The string under each attribute that has one, inherited ones included, by the attribute's Python name."""
    found: dict[str, str] = {}
    for ancestor in reversed(cls.__mro__):
        found |= _by_class(ancestor.__module__).get(ancestor.__qualname__, {})
    return found


@functools.cache
def _by_class(module: str) -> dict[str, dict[str, str]]:
    loaded = sys.modules.get(module)
    try:
        tree = ast.parse(inspect.getsource(loaded)) if loaded else None
    except (OSError, TypeError):  # a module without source, such as `builtins`
        tree = None
    return {name: _attribute_docstrings(node) for name, node in _classes(tree, "")} if tree else {}


def _classes(scope: ast.AST, prefix: str) -> list[tuple[str, ast.ClassDef]]:
    found: list[tuple[str, ast.ClassDef]] = []
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.ClassDef):
            name = f"{prefix}{node.name}"
            found += [(name, node), *_classes(node, f"{name}.")]
    return found


def _attribute_docstrings(cls: ast.ClassDef) -> dict[str, str]:
    return {
        attribute.target.id: unwrapped(text.value.value)
        for attribute, text in zip(cls.body, cls.body[1:], strict=False)
        if isinstance(attribute, ast.AnnAssign)
        and isinstance(attribute.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def unwrapped(text: str) -> str:
    """A docstring with each paragraph on one line."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(line.strip() for line in paragraph.splitlines()) for paragraph in paragraphs)
