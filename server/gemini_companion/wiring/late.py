"""Adapters that are loaded and made when somebody needs something of them: a daemon that nobody asks has none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

T = TypeVar("T")


class _Late:
    """Stands for an object until something of it is asked for, and hands everything on from then on."""

    def __init__(self, make: Callable[[], object], before: Mapping[str, Callable[..., Any]]) -> None:
        self._make: Callable[[], object] | None = make
        self._before = before
        self._made: object = None
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        """Called for what is not here, which is all that the other one has."""
        if self._make is not None and name in self._before:
            return self._before[name]
        return getattr(self._object(), name)

    @property
    def __class__(self) -> type[Any]:  # pyright: ignore[reportIncompatibleMethodOverride] (nobody sets it)
        """That of the object, so that `isinstance` says what it is."""
        return type(self._object())

    def _object(self) -> object:
        with self._lock:
            if self._make is not None:
                self._made = self._make()
                self._make = None
        return self._made


def nothing() -> None:
    """For `before`: there is nothing to be done."""


async def nothing_to_await() -> None:
    """The same for what is awaited."""


def late(make: Callable[[], T], **before: Callable[..., Any]) -> T:
    """What `make` returns. It is called with the first use; what it raises goes to whoever uses it, and the next use
    calls it again.

    `before` has the methods that need no object as long as there is none, to end it for example. Nothing tells the
    two apart but `type` and identity.
    """
    return cast("T", _Late(make, before))
