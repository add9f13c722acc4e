"""The parameters of `gemini/mcp/*`."""

from __future__ import annotations

from typing import Annotated

import msgspec

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class McpServerParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One server, by the name that the settings give it."""

    server: _Name


class McpEnableParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Use a server, or do not; that holds in every workspace."""

    server: _Name
    enabled: bool


class McpAgreeParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Agree to what a workspace wants to start or reach, as it was shown."""

    server: _Name
    digest: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    """Of the server's entry in `gemini/mcp/list`."""


class McpCompleteParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a person has typed behind an `@`."""

    query: Annotated[str, msgspec.Meta(max_length=500)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50
