"""Putting back what the model of a `ChangesDesk` changed."""

from __future__ import annotations

import asyncio
from typing import Any

from gemini_companion.sessions.tool_results import ChangeList, RevertResult
from gemini_companion.sessions.tools import changes_reverted
from gemini_companion.sessions.tools.changes_chosen import RevertWish
from gemini_companion.sessions.tools.changes_shown import change_list
from tests.support.changes_desk import ChangesDesk
from tests.support.patience import PATIENCE


async def revert(desk: ChangesDesk, **wish: Any) -> RevertResult:
    if "path" in wish:
        wish["path"] = str(desk.path(wish["path"]))
    async with asyncio.timeout(PATIENCE):
        return await changes_reverted.revert(
            await desk.session(), desk.studio.client, desk.studio.app.tooling, RevertWish(**wish)
        )


async def listed(desk: ChangesDesk) -> ChangeList:
    return await change_list(await desk.session())
