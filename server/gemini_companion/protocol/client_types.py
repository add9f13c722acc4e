"""What the daemon asks of a client."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class _Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class ConfirmToolParams(_Params, frozen=True, kw_only=True):
    """A tool asks before it acts."""

    session_id: str
    tool_call_id: str
    name: str
    args: dict[str, Any]
    title: str
    risk: str
    diff: str | None = None


class ConfirmToolResult(_Params, frozen=True, kw_only=True):
    """The person's answer."""

    outcome: Literal["once", "session", "always", "reject"]
    edited_args: dict[str, Any] | None = None


class OpenDiffParams(_Params, frozen=True, kw_only=True):
    """A proposed content of a file, to be looked at."""

    path: str
    new_content: str


class OpenDiffResult(_Params, frozen=True, kw_only=True):
    """What became of it; `content` if the person edited it."""

    outcome: Literal["accepted", "rejected"]
    content: str | None = None
