"""Every Struct that a set of types refers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import inspect as mi


def structs(roots: Iterable[Any]) -> list[mi.StructType]:
    """The Structs in `roots` and all that their fields refer to, in the order in which they are met.

    Raises `ValueError` if two of them have one name, since they would be one type in a schema.
    """
    found: dict[str, mi.StructType] = {}
    waiting = [mi.type_info(root) for root in roots if root is not None]
    while waiting:
        kind = waiting.pop(0)
        if isinstance(kind, mi.StructType):
            if other := found.get(kind.cls.__name__):
                if other.cls is not kind.cls:
                    raise ValueError(
                        f"{kind.cls.__name__} is declared in {kind.cls.__module__} and in {other.cls.__module__}"
                    )
                continue
            found[kind.cls.__name__] = kind
        waiting = [*_inner(kind), *waiting]
    return list(found.values())


def dependencies_first(roots: Iterable[Any]) -> list[mi.StructType]:
    """The same Structs, each behind those that its fields lead to. Raises `ValueError` for one that leads to itself."""
    ordered: dict[str, mi.StructType] = {}

    def visit(kind: mi.Type, above: tuple[str, ...]) -> None:
        name = kind.cls.__name__ if isinstance(kind, mi.StructType) else ""
        if name in ordered:
            return
        if name and name in above:
            raise ValueError(f"{name} leads to itself")
        for inner in _inner(kind):
            visit(inner, (*above, name))
        if isinstance(kind, mi.StructType):
            ordered[name] = kind

    for kind in structs(roots):
        visit(kind, ())
    return list(ordered.values())


def names(roots: Iterable[Any]) -> set[str]:
    """The names of the Structs that `roots` refer to."""
    return {kind.cls.__name__ for kind in structs(roots)}


def by_name(roots: Iterable[Any]) -> dict[str, type[msgspec.Struct]]:
    """The classes of the Structs that `roots` refer to, by name."""
    return {kind.cls.__name__: kind.cls for kind in structs(roots)}


def _inner(kind: mi.Type) -> Iterator[mi.Type]:
    match kind:
        case mi.Metadata(type=inner):
            yield inner
        case mi.StructType(fields=fields):
            for field in fields:
                yield field.type
        case mi.UnionType(types=members) | mi.TupleType(item_types=members):
            yield from members
        case mi.DictType(key_type=key, value_type=value):
            yield from (key, value)
        case mi.CollectionType(item_type=item):
            yield item
        case _:
            return
