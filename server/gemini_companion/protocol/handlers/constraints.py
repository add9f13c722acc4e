"""Handlers of `gemini/constraints*`."""

from __future__ import annotations

from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.types import SessionParams, SetConstraintParams
from gemini_companion.sessions.constraints import setting
from gemini_companion.sessions.results import ConstraintList


async def list_(host: Host, params: SessionParams) -> ConstraintList:
    return ConstraintList(constraints=(await host.load(params.session_id)).history.constraints.all())


async def set_(host: Host, params: SetConstraintParams) -> Constraint:
    setting.check_wish(params.constraint_id, params.text)  # before a session is made for it
    session = await host.hold(params.session_id)
    return await setting.set_constraint(
        session,
        constraint_id=params.constraint_id,
        state=params.state,
        scope=params.scope,
        text=params.text,
    )
