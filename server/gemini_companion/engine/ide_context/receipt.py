"""The receipt of a turn's IDE context: the event `ideContextSent`, and `gemini/context/preview`."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.log import Withheld

Kind: TypeAlias = Literal["full", "delta", "none"]


class Receipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What went to the model with this turn. The wire's `ideContextSent` has no kind `none`."""

    kind: Kind
    files: tuple[str, ...] = ()
    """Absolute paths that the message names."""
    selection_chars: int = 0
    """Characters of selected text in the message."""
    withheld: tuple[Withheld, ...] = ()


def masked_secrets(path: str, count: int) -> Withheld:
    """A report that a file was sent without the secrets in it."""
    return Withheld(name=base_name(path), reason="1 secret masked" if count == 1 else f"{count} secrets masked")


def base_name(path: str) -> str:
    """The last name of a path, with either kind of slash; a root comes back whole."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
