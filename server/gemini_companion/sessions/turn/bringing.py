"""What a prompt brings along: the files that it names, and what its slash command stands for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.mentions import Attached, attach
from gemini_companion.sessions.context.servers import attach_from_servers
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.calls import Setting
from gemini_companion.sessions.turn.commands import expand_into, read_command


async def brought_along(
    session: Session,
    client: Client,
    prompt: tuple[Part, ...],
    setting: Callable[[], Awaitable[Setting]],
    stopped_by: Callable[[], str],
) -> tuple[tuple[Part, ...], Attached]:
    """The prompt as it goes on, and what goes with it. A model wrote a subagent's task: nothing in it names or runs."""
    if session.caller is not None:
        return prompt, Attached()
    prompt, typed = await read_command(session, prompt)
    attached = await attach(session, client, prompt)
    await attach_from_servers(session, prompt, attached)
    if typed is not None:
        await expand_into(await setting(), typed, attached, stopped_by=stopped_by)
    return prompt, attached
