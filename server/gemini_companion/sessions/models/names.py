"""Names of models as they come from outside."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import Entry, ModelChangeEntry
from gemini_companion.engine.tokens.limits import is_model_name, is_resource_name, named_model


def requested_model(text: str | None, *, path: str = "$.model") -> str | None:
    """The name that a client's request gives, trimmed; `None` where it names none.

    Raises `InvalidInput`, with the request's `path`, for what cannot be a model's name.
    """
    name = named_model(text or "")
    if name is not None and not is_model_name(name):
        raise InvalidInput(
            f"{name[:80]!r} is not the name of a model.",
            path=path,
            hint="`gemini/models` lists the usual names, such as gemini-2.5-pro.",
        )
    return name


def imported_model(text: str | None) -> str:
    """The name that a session file gives, `""` for none that may be taken from a file.

    A file may come from anywhere: it must not choose the endpoint that gets the conversation.
    """
    name = named_model(text or "")
    return name if name is not None and is_model_name(name) and not is_resource_name(name) else ""


def with_imported_models(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """A session file's log in which every change of the model is one to a name that may be taken from a file."""
    return tuple(
        msgspec.structs.replace(entry, model=imported_model(entry.model))
        if isinstance(entry, ModelChangeEntry)
        else entry
        for entry in entries
    )
