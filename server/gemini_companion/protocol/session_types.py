"""The parameters of `gemini/session/newest`, `gemini/session/keep` and `gemini/session/export`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from gemini_companion.sessions.results import ExportFormat


class NewestParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whole turns, of at most `limit` contents in all."""

    session_id: str
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 200


class KeepSessionParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`on` keeps the session, whatever the settings for keeping sessions say."""

    session_id: str
    on: bool = True


class ExportParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`companion` loses nothing; `gemini-cli` is what Gemini CLI loads, `gemini-cli-jsonl` what it writes."""

    session_id: str
    format: ExportFormat
