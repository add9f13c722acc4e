"""Handlers of `gemini/session/mode`, `gemini/tools*` and `gemini/rules*`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.tool_types import ModeParams, RevokeRuleParams, ShownCallParams
from gemini_companion.protocol.types import SessionParams
from gemini_companion.sessions.tool_results import ModeResult, RuleList, ShownCall, ToolList
from gemini_companion.sessions.tools.call_shown import call_shown
from gemini_companion.sessions.tools.consent_service import ConsentService
from gemini_companion.sessions.tools.listing import listed_tools
from gemini_companion.sessions.tools.modes import mode_of, set_mode
from gemini_companion.sessions.tools.rules import listed_rules, listed_rules_of_settings
from gemini_companion.sessions.tools.rules import revoke as revoke_rule


async def mode(host: Host, params: ModeParams) -> ModeResult:
    session = await host.hold(params.session_id)
    await set_mode(session, params.mode)
    host.app.tooling.consent.reconsider(session.session_id)
    return ModeResult(session_id=session.session_id, mode=mode_of(session))


async def list_(host: Host, params: SessionParams) -> ToolList:
    session, consent = await host.load(params.session_id), _consent(host)
    return listed_tools(session, consent.questions(session.session_id) if consent else ())


async def shown(host: Host, params: ShownCallParams) -> ShownCall:
    return await call_shown(await host.load(params.session_id), params.tool_call_id)


async def rules(host: Host, params: SessionParams) -> RuleList:
    if params.session_id is None and host.client.current is None:
        return listed_rules_of_settings(host.app.services)
    return listed_rules(await host.load(params.session_id))


async def revoke(host: Host, params: RevokeRuleParams) -> RuleList:
    is_of_none = params.session_id is None and host.client.current is None  # none is made to take a rule back
    session, consent = None if is_of_none else await host.hold(params.session_id), _consent(host)
    await revoke_rule(session, params.rule_id, consent.own if consent else None)
    host.app.tooling.consent.reconsider()
    return listed_rules(session) if session is not None else listed_rules_of_settings(host.app.services)


def _consent(host: Host) -> ConsentService | None:
    consent = host.app.tooling.consent
    return consent if isinstance(consent, ConsentService) else None
