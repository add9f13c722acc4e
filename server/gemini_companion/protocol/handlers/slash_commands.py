"""Handlers of `gemini/commands/list` and `gemini/commands/sent`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.protocol.skill_types import SentTextParams
from gemini_companion.sessions.commands.results import SentText, SlashCommandList
from gemini_companion.sessions.transcript.commands import sent_text


async def list_(host: Host, params: Empty) -> SlashCommandList:
    host.app.expect_prompt()
    return await host.app.services.slash_commands.listed()


async def sent(host: Host, params: SentTextParams) -> SentText:
    return sent_text(await host.load(params.session_id), params.turn_id)
