"""The settings of subagents, as Gemini CLI names them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class RunConfigSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The limits of a subagent."""

    max_turns: Annotated[int, Meta(ge=1, le=200)] | None = None
    """Rounds of tool calls."""
    max_time_minutes: Annotated[float, Meta(gt=0, le=120)] | None = None
    """Minutes, without the time that a question waits."""


class ModelConfigSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The model of a subagent."""

    model: str | None = None
    """Its name; unset for the one that its file names."""


class AgentOverrideSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is different of a subagent, as Gemini CLI has it."""

    enabled: bool | None = None
    """False turns it off."""
    run_config: RunConfigSettings = RunConfigSettings()
    """Its limits."""
    llm_config: ModelConfigSettings = msgspec.field(name="modelConfig", default=ModelConfigSettings())
    """Its model."""


class AgentsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Subagents: models that work for a chat in a window of their own."""

    overrides: dict[str, AgentOverrideSettings] = {}
    """By name. Not read from an untrusted workspace."""


class ExperimentalSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What Gemini CLI calls experimental, as far as it is read here."""

    enable_agents: bool = True
    """Whether the model may call subagents."""
