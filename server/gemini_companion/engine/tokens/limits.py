"""What is known of each model: how much it accepts, and which others work for it.

Sources: the limits are those of the seeds' analyses of Gemini CLI (`gemini-1.5-pro`) and of Gemini CLI 0.61.0 run (everything
else); the compressors are 0.61.0's table from a chat's model to the one that writes its snapshots; the small model for titles is
the one that the seeds name. A name may carry a path in front, as in `models/gemini-2.5-pro`. Names are compared exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

OFFLINE_MODEL: Final = "offline"
"""The built-in model, which needs no key and no network."""

DEFAULT_TOKEN_LIMIT: Final = 1_048_576
"""Tokens: Gemini 2.5 and 3, every name that we don't know, and the offline model, so that a conversation behaves without a key
as it will with one."""

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
    OFFLINE_MODEL: OFFLINE_MODEL,
}
_DEFAULT_COMPRESSOR: Final = _PRO
_TITLE_MODEL: Final = "gemini-2.5-flash-lite"

DEFAULT_MODEL: Final = "gemini-3.5-flash"
"""Answers where nobody names a model. It is Gemini CLI's default flash model, no preview that a key may lack, and quick enough for a
chat beside the code; a larger one is a setting away."""

_ALIASES: Final[Mapping[str, str]] = {
    "auto": _PRO,
    "auto-gemini-3": _PRO,
    "pro": _PRO,
    "flash": DEFAULT_MODEL,
    "flash-lite": _FLASH_LITE,
    "auto-gemini-2.5": "gemini-2.5-pro",
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
    """Not every key may use it, and it may go away."""


def resolve_model(name: str) -> str:
    """The model that a short name of Gemini CLI's means (`pro`, `flash`, `flash-lite`, `auto` and its like); other names as they are."""
    return _ALIASES.get(name, name)


def token_limit(model: str) -> int:
    """How many tokens a model accepts in one request. Settings may know better (`model.tokenLimit`); they go before this."""
    name = _bare(model)
    for family, limit in _LIMITS_BY_FAMILY.items():
        if name == family or name.startswith(f"{family}-"):
            return limit
    return DEFAULT_TOKEN_LIMIT


def compressor_for(model: str) -> str:
    """The model that summarises a conversation with `model`: one of its family, else the table's default; offline stays offline."""
    return _COMPRESSORS.get(_bare(resolve_model(model)), _DEFAULT_COMPRESSOR)


def title_model(model: str) -> str:
    """The small model that names a session that `model` answers; offline stays offline."""
    return OFFLINE_MODEL if model == OFFLINE_MODEL else _TITLE_MODEL


def _bare(model: str) -> str:
    return model.rsplit("/", 1)[-1]


def _known(name: str, title: str, *, preview: bool = False) -> KnownModel:
    return KnownModel(name=name, title=title, token_limit=token_limit(name), compressor=compressor_for(name), preview=preview)


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
    _known(OFFLINE_MODEL, "Offline (built in)"),
)
"""The default first, then newest first, the built-in one last. A list to choose from, not a limit: any other name is passed on."""
