"""Handler of `gemini/settings`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.settings.in_force import SettingList, settings_in_force


async def list_(host: Host, params: Empty) -> SettingList:
    service = host.settings
    service.reload()  # a change that is not noticed yet counts: whoever asks has seen it
    return SettingList(
        settings=settings_in_force(service.loaded),
        trusted=service.is_trusted(),
        problems=[problem.message for problem in service.loaded.problems],
    )
