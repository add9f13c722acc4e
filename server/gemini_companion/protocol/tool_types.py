"""The parameters of the methods about tools."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.history.tool_entries import Mode


class _Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    session_id: str | None = None


class ModeParams(_Params, frozen=True, kw_only=True):
    """What the session's tools may do unasked, from now on."""

    mode: Mode


class RevokeRuleParams(_Params, frozen=True, kw_only=True):
    """Take a rule of consent back."""

    rule_id: str


class ShownCallParams(_Params, frozen=True, kw_only=True):
    """What a call that has ended did, as people read it."""

    tool_call_id: str


class StopCommandParams(_Params, frozen=True, kw_only=True):
    """End a command, in the background or not; the turn goes on with what it put out."""

    tool_call_id: str


class RevertParams(_Params, frozen=True, kw_only=True):
    """Put files back. Without anything: the newest change. What is named is combined."""

    turn_id: str | None = None
    """What this turn changed."""
    path: str | None = None
    """What was changed in this file."""
    since: str | None = None
    """What this turn and all later ones changed."""
    hunks: tuple[int, ...] | None = None
    """Only these places of the file's diff in that turn, from 0; with `turnId` and `path`."""
    change_id: str | None = None
    """A revert, to be taken back."""
    dry_run: bool = False
    """Say what would happen, and change nothing."""


class KeepParams(_Params, frozen=True, kw_only=True):
    """The changes are wanted: they are not counted any more. Without a path: all of them."""

    path: str | None = None
