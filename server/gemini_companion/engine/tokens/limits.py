"""What is known of each model: how many tokens it accepts, and which models write its snapshots and titles.

Sources: the limits and the compressors, the table from a chat's model to the one that writes its snapshots, are those
of Gemini CLI 0.61.0; the limit of `gemini-1.5-pro` and the small model for titles come from analyses of Gemini CLI.
A name may carry a path in front, as in `models/gemini-2.5-pro`, and behind it a version or a date, as in
`gemini-2.5-flash-preview-09-2025`; the latter counts as its family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

OFFLINE_MODEL: Final = "offline"
"""The built-in model, which needs no key and no network."""

DEFAULT_TOKEN_LIMIT: Final = 1_048_576
"""Tokens: Gemini 2.5 and 3, every unknown name, and the offline model, so that a conversation behaves without a key as
it will with one.
"""

_LIMITS_BY_FAMILY: Final[Mapping[str, int]] = {"gemini-1.5-pro": 2_097_152, "gemma-4": 256_000}

_PRO: Final = "gemini-3-pro-preview"
_FLASH: Final = "gemini-3-flash-preview"
_FLASH_LITE: Final = "gemini-3.1-flash-lite"
_COMPRESSORS: Final[Mapping[str, str]] = {
    "gemini-3-pro-preview": _PRO,
    "gemini-3.1-pro-preview": _PRO,
    "gemini-3-flash-preview": _FLASH,
    "gemini-3-flash": _FLASH,
    "gemini-3.5-flash": _FLASH,
    "gemini-3.8-flash": _FLASH,
    "gemini-3.1-flash-lite": _FLASH_LITE,
    "gemini-3.5-flash-lite": _FLASH_LITE,
    "none": _FLASH_LITE,
    "gemini-2.5-pro": "gemini-2.5-pro",
    "gemini-2.5-flash": "gemini-2.5-flash",
    "gemini-2.5-flash-lite": "gemini-2.5-flash-lite",
}
_DEFAULT_COMPRESSOR: Final = _PRO
_BY_KIND: Final[Mapping[tuple[bool, str], str]] = {
    (True, "pro"): "gemini-2.5-pro",
    (True, "flash"): "gemini-2.5-flash",
    (True, "flash-lite"): "gemini-2.5-flash-lite",
    (False, "pro"): _PRO,
    (False, "flash"): _FLASH,
    (False, "flash-lite"): _FLASH_LITE,
}
"""For models that the table lacks: by whether they are of generation 2.5 or before, and by their kind."""
_KIND: Final = re.compile(r"gemini-(?:(\d{1,3})(?:\.\d{1,3})?-)?(pro|flash-lite|flash)(?:-|$)")
_VERSION: Final = re.compile(r"-(?:\d{3,4}|\d{2}-(?:\d{4}|\d{2})|\d{4}-\d{2}-\d{2}|latest)$")
_TITLE_MODEL: Final = "gemini-2.5-flash-lite"

DEFAULT_MODEL: Final = "gemini-3.5-flash"
"""Answers where no model is named. It is Gemini CLI's default flash model, no preview that a key may lack, and quick
enough for a chat beside the code; a setting names a larger one.
"""

_ALIASES: Final[Mapping[str, str]] = {
    "auto": _PRO,
    "auto-gemini-3": _PRO,
    "pro": _PRO,
    "flash": DEFAULT_MODEL,
    "flash-lite": _FLASH_LITE,
    "auto-gemini-2.5": "gemini-2.5-pro",
}

_ROUTES: Final[Mapping[str, tuple[str, str]]] = {
    "auto": (_PRO, DEFAULT_MODEL),
    "auto-gemini-3": (_PRO, DEFAULT_MODEL),
    "auto-gemini-2.5": ("gemini-2.5-pro", "gemini-2.5-flash"),
}
_NEXT: Final[Mapping[str, str]] = {
    "gemini-3.1-pro-preview": DEFAULT_MODEL,
    "gemini-3-pro-preview": DEFAULT_MODEL,
    "gemini-3.8-flash": DEFAULT_MODEL,
    "gemini-3-flash-preview": DEFAULT_MODEL,
    "gemini-3.5-flash": "gemini-3.5-flash-lite",
    "gemini-3.5-flash-lite": "gemini-3.1-flash-lite",
    "gemini-2.5-pro": "gemini-2.5-flash",
    "gemini-2.5-flash": "gemini-2.5-flash-lite",
    "gemma-4-31b-it": "gemma-4-26b-a4b-it",
}


class KnownModel(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A model that people can choose, as `gemini/models` lists it."""

    name: str
    title: str
    """For people."""
    token_limit: int
    """Tokens that it accepts in one request."""
    compressor: str
    """The model that writes its snapshots."""
    preview: bool = False
    """Not every key may use it, and it may be withdrawn."""


MODEL_NAME: Final = r"^[A-Za-z0-9](?!.*\.\.)[A-Za-z0-9_.@/-]{0,200}$(?!\n)"
"""What a model's name looks like; it becomes part of a URL. The same in Python and ECMAScript."""

_NO_NAMES: Final = frozenset({"", "none"})


def named_model(text: str) -> str | None:
    """The name in a text that a person or a file gave, trimmed; `None` where it names none: a blank text, or `none`."""
    name = text.strip()
    return None if name.lower() in _NO_NAMES else name


def is_model_name(name: str) -> bool:
    """True for what can be a model's name, known or not."""
    return re.fullmatch(MODEL_NAME, name) is not None


def is_resource_name(name: str) -> bool:
    """True for a name with a path in it, such as `projects/…/endpoints/…`: it chooses who gets the conversation, and
    so only a person may give it, never a file that came with a project or a conversation.
    """
    return "/" in name


def resolve_model(name: str) -> str:
    """The full name of one of Gemini CLI's short ones (`pro`, `flash`, `flash-lite`, `auto`, …); others as they are."""
    name = name.strip()
    return _ALIASES.get(name, name)


def token_limit(model: str) -> int:
    """Tokens that a model accepts in one request. The setting `model.tokenLimit`, not read here, has precedence."""
    name = _bare(model)
    for family, limit in _LIMITS_BY_FAMILY.items():
        if name == family or name.startswith(f"{family}-"):
            return limit
    return DEFAULT_TOKEN_LIMIT


def compressor_for(model: str) -> str:
    """The model that summarises a conversation with `model`: one of its family, else the table's default."""
    name = _bare(resolve_model(model))
    return _of_family(_COMPRESSORS, name) or _of_kind(name) or _DEFAULT_COMPRESSOR


def next_model(model: str) -> str | None:
    """The model that answers where `model` cannot: a smaller one of its generation, whose thought signatures it
    accepts; `None` where there is none.
    """
    return _of_family(_NEXT, _bare(resolve_model(model)))


def routes_of(model: str) -> tuple[str, str] | None:
    """The large and the quick model that `auto` and its like choose between for each prompt; `None` for other names."""
    return _ROUTES.get(model.strip())


def title_model() -> str:
    """The small model that writes the titles of sessions."""
    return _TITLE_MODEL


def _bare(model: str) -> str:
    return model.strip().rsplit("/", 1)[-1]


def _of_family(table: Mapping[str, str], name: str) -> str | None:
    """What a table says of a model, or of the one that a name with a version or a date is of."""
    undated = _VERSION.sub("", name)
    for each in (name, undated, undated.removesuffix("-exp"), undated.removesuffix("-preview")):
        if each in table:
            return table[each]
    return None


def _of_kind(name: str) -> str | None:
    found = _KIND.match(name)
    return None if found is None else _BY_KIND[int(found[1] or 3) < 3, found[2]]


def _known(name: str, title: str, *, preview: bool = False) -> KnownModel:
    return KnownModel(
        name=name, title=title, token_limit=token_limit(name), compressor=compressor_for(name), preview=preview
    )


KNOWN_MODELS: Final[tuple[KnownModel, ...]] = (
    _known(DEFAULT_MODEL, "Gemini 3.5 Flash"),
    _known("gemini-3.8-flash", "Gemini 3.8 Flash"),
    _known("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite"),
    _known("gemini-3.1-pro-preview", "Gemini 3.1 Pro", preview=True),
    _known("gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite"),
    _known("gemini-3-pro-preview", "Gemini 3 Pro", preview=True),
    _known("gemini-3-flash-preview", "Gemini 3 Flash", preview=True),
    _known("gemini-2.5-pro", "Gemini 2.5 Pro"),
    _known("gemini-2.5-flash", "Gemini 2.5 Flash"),
    _known("gemini-2.5-flash-lite", "Gemini 2.5 Flash-Lite"),
    _known("gemini-1.5-pro", "Gemini 1.5 Pro"),
    _known("gemma-4-31b-it", "Gemma 4 31B"),
    _known("gemma-4-26b-a4b-it", "Gemma 4 26B A4B"),
)
"""Gemini's models, the default first, then newest first. A list to choose from, not a limit: other names work too."""

OFFLINE: Final = KnownModel(
    name=OFFLINE_MODEL, title="Offline (built in)", token_limit=DEFAULT_TOKEN_LIMIT, compressor=OFFLINE_MODEL
)
