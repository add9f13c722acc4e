"""The results of `gemini/models`."""

from __future__ import annotations

import msgspec


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A model that can be chosen."""

    name: str
    token_limit: int
    description: str


class ModelReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The models, which one is in use, and why."""

    models: tuple[ModelInfo, ...]
    current: str
    """The name that was asked for."""
    default: str
    """The model that the settings choose, for a chat that asks for no other; also while another one answers for it."""
    provider: str
    """The model provider that answers: `gemini`, `offline`, or another adapter's name."""
    is_local: bool
    """It runs on this machine: nothing of the conversation leaves it."""
    reason: str
    """Why this provider answers, a sentence for people."""
    hint: str
    unread: tuple[str, ...] | None = None
    """Settings files that cannot be read now: what each last held stays in force, or everything is asked about."""
