"""What each key of the settings is for, in the words that stand under it in `schema`."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from gemini_companion.settings import agents, schema, schema_companion, schema_sessions, spending

_MODULES: Final = (schema, schema_companion, schema_sessions, agents, spending)
"""Where the keys stand."""


@functools.cache
def descriptions() -> Mapping[str, str]:
    """The description of each key, on one line; nothing for a key where the source is not at hand."""
    try:
        trees = [ast.parse(inspect.getsource(module)) for module in _MODULES]
    except (OSError, TypeError):
        return {}
    nodes = [node for tree in trees for node in tree.body]
    texts = {node.name: _under_fields(node) for node in nodes if isinstance(node, ast.ClassDef)}
    return dict(_of(schema.SettingsFile, "", texts))


def _of(struct: type[msgspec.Struct], prefix: str, texts: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for field in msgspec.structs.fields(struct):
        key = prefix + field.encode_name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _of(field.type, f"{key}.", texts)
        elif text := texts.get(struct.__name__, {}).get(field.name):
            yield key, text


def _under_fields(node: ast.ClassDef) -> dict[str, str]:
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
