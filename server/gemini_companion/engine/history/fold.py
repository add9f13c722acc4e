"""`Fold`: state that follows from the entries of a log, taken in one by one; a fork goes on with a copy of it."""

from __future__ import annotations

import copy
from array import array
from collections import deque
from typing import Any, ClassVar, Self, cast


class Fold:
    """Its attributes are values that never change, such as entries, contents and tuples, and containers of those."""

    ignored: ClassVar[frozenset[type]] = frozenset()
    """Kinds of entries that change nothing of it, whatever they say: most of a log, which it need not be fed."""

    def copied(self) -> Self:
        """One that says the same and goes on by itself. Costs a pointer for each entry; nothing is taken in again."""
        made = copy.copy(self)
        for name, value in vars(self).items():
            setattr(made, name, _own(value))
        return made


def _own(value: Any) -> Any:
    """The value, or a container of its own with the same ones. In a dict, all values are of one kind."""
    if isinstance(value, Fold):
        return value.copied()
    if isinstance(value, list | set | deque):
        return cast("Any", value).copy()
    if isinstance(value, array):
        return cast("array[int]", value)[:]
    if isinstance(value, dict):
        made = cast("dict[Any, Any]", value).copy()  # a defaultdict stays one
        if isinstance(next(iter(made.values()), None), Fold | list | set | dict):
            for key, one in made.items():
                made[key] = _own(one)
        return made
    return value
