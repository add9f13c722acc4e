"""JSON as the ledger counts it: separated by `, ` and `: `, only necessary escapes, and for any value."""

from __future__ import annotations

import json
from typing import Final, TypeGuard

_DIGITS_PER_BIT: Final = 0.30103
_encode_plain: Final = json.JSONEncoder(ensure_ascii=False).encode


def json_text(value: object) -> str:
    """Return `value` as JSON text. Never raises.

    Values that the standard encoder refuses (nested too deep for its recursion, numbers too long to print, keys or
    leaves that are no JSON, a container inside itself) are written by a loop that needs no stack: such keys and leaves
    as their `str`, and the inner occurrence of a container that contains itself as `null`.
    """
    try:
        return _encode_plain(value)
    except (TypeError, ValueError, RecursionError):
        return _by_loop(value)


def _by_loop(value: object) -> str:
    written: list[str] = []
    open_containers: set[int] = set()
    pending: list[tuple[str, object]] = [("value", value)]  # ("text", str), ("value", anything) or ("close", container)
    while pending:
        kind, item = pending.pop()
        if kind == "text":
            written.append(str(item))
        elif kind == "close":
            open_containers.discard(id(item))
        elif not (_is_dict(item) or _is_list(item)):
            written.append(_leaf(item))
        elif id(item) in open_containers:
            written.append("null")
        else:
            open_containers.add(id(item))
            pending.append(("close", item))
            pending += reversed(_steps(item))
    return "".join(written)


def _steps(container: object) -> list[tuple[str, object]]:
    """The steps that write a container, in order."""
    steps: list[tuple[str, object]] = []
    if _is_dict(container):
        steps.append(("text", "{"))
        for key, value in container.items():
            comma = ", " if len(steps) > 1 else ""
            steps.append(("text", f"{comma}{_leaf(key if isinstance(key, str) else _plain(key))}: "))
            steps.append(("value", value))
        steps.append(("text", "}"))
    elif _is_list(container):
        steps.append(("text", "["))
        for value in container:
            if len(steps) > 1:
                steps.append(("text", ", "))
            steps.append(("value", value))
        steps.append(("text", "]"))
    return steps


def _leaf(value: object) -> str:
    try:
        return _encode_plain(value)
    except (TypeError, ValueError, RecursionError):
        return _encode_plain(_plain(value))


def _plain(value: object) -> str:
    """Some text for a value that is no JSON; an integer too long to print becomes as many nines."""
    try:
        return str(value)
    except Exception:
        return "9" * (int(value.bit_length() * _DIGITS_PER_BIT) + 1) if isinstance(value, int) else type(value).__name__


def _is_dict(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)
