"""The parameters of `gemini/session/keep` and `gemini/session/export`."""

from __future__ import annotations

import msgspec

from gemini_companion.sessions.results import ExportFormat


class KeepSessionParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`on` keeps the session, whatever the settings for keeping sessions say."""

    session_id: str
    on: bool = True


class ExportParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`companion` loses nothing; `gemini-cli` is what Gemini CLI loads, `gemini-cli-jsonl` what it writes."""

    session_id: str
    format: ExportFormat
