"""Every Struct that a set of types leads to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import inspect as mi


def structs(roots: Iterable[Any]) -> list[mi.StructType]:
    """The Structs in `roots` and all that their fields lead to, in the order in which they are met.

    Raises `ValueError` if two of them have one name, for they would be one type on the other side.
    """
    found: dict[str, mi.StructType] = {}
    waiting = [mi.type_info(root) for root in roots if root is not None]
    while waiting:
        kind = waiting.pop(0)
        if isinstance(kind, mi.StructType):
            if other := found.get(kind.cls.__name__):
                if other.cls is not kind.cls:
                    raise ValueError(f"{kind.cls.__name__} is declared in {kind.cls.__module__} and in {other.cls.__module__}")
                continue
            found[kind.cls.__name__] = kind
        waiting = [*_inner(kind), *waiting]
    return list(found.values())


def names(roots: Iterable[Any]) -> set[str]:
    """Their names."""
    return {kind.cls.__name__ for kind in structs(roots)}


def by_name(roots: Iterable[Any]) -> dict[str, type[msgspec.Struct]]:
    """Their classes."""
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
