"""The handler of `gemini/hooks`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.types import SessionParams
from gemini_companion.sessions.hooks.listing import HookList, listed_hooks


async def list_(host: Host, params: SessionParams) -> HookList:
    services = host.app.services
    return listed_hooks(services.settings().hooks, is_trusted=services.trusted())
