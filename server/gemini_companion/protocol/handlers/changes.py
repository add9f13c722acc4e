"""Handlers of `gemini/changes*`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.tool_types import KeepParams, RevertParams
from gemini_companion.protocol.types import SessionParams
from gemini_companion.sessions.tool_results import ChangeList, RevertResult
from gemini_companion.sessions.tools import changes_chosen, changes_reverted
from gemini_companion.sessions.tools.changes_shown import change_list


async def list_(host: Host, params: SessionParams) -> ChangeList:
    session = await host.load(params.session_id)
    await changes_reverted.settle_all(session, host.hold, host.client, host.app.tooling)
    return await change_list(session)


async def revert(host: Host, params: RevertParams) -> RevertResult:
    wish = changes_chosen.RevertWish(
        turn_id=params.turn_id,
        path=params.path,
        since=params.since,
        hunks=params.hunks,
        change_id=params.change_id,
        dry_run=params.dry_run,
    )
    session = await host.hold(params.session_id)
    with host.client.following(session.session_id):
        await changes_reverted.settle_all(session, host.hold, host.client, host.app.tooling)
        return await changes_reverted.revert(session, host.client, host.app.tooling, wish, loaded=host.app.loaded)


async def keep(host: Host, params: KeepParams) -> ChangeList:
    session = await host.hold(params.session_id)
    await changes_reverted.keep(session, params.path)
    return await change_list(session)
