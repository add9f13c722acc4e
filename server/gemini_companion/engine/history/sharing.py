"""Equal values in neighbouring entries of a log, kept in memory once: ids of turns, names of models, counts.

Read from a store, each entry has strings of its own for them: an eighth of what a turn of a thousand characters takes.
"""

from __future__ import annotations

from typing import Final, TypeVar

from msgspec.structs import force_setattr

from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import Entry, ReplyEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.usage import Usage

E = TypeVar("E", bound=Entry)

KEPT: Final = 256
"""Texts that are known at once; what an entry names is named by those near to it."""
_NAMED: Final = ("turn_id", "subject", "model", "client", "finish_reason")
_fields: Final[dict[type, tuple[str, ...]]] = {}


class Shared(Fold):
    """What the newest entries of a log name. Give it each, in order, before others have it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._usage = Usage()

    def taken(self, entry: E) -> E:
        """The entry itself, equal to what it was; what it has in common with those before it is the same object."""
        kind = type(entry)
        fields = _fields.get(kind)
        if fields is None:
            fields = _fields[kind] = tuple(name for name in _NAMED if name in kind.__struct_fields__)
        texts = self._texts
        for name in fields:
            text = getattr(entry, name)
            known = texts.setdefault(text, text)
            if known is not text:
                force_setattr(entry, name, known)
        if len(texts) > KEPT:
            texts.clear()
        if isinstance(entry, ReplyEntry | ModelCallEntry) and entry.usage is not None:
            if entry.usage == self._usage:  # an answer is in the log behind its request, with the same count
                force_setattr(entry, "usage", self._usage)
            self._usage = entry.usage
        return entry
