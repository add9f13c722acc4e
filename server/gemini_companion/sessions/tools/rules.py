"""The rules of consent that hold for a session, and keeping one more, or taking one back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.tool_entries import AllowanceEntry, ToolRule
from gemini_companion.engine.ide_context.secrets import find_secrets
from gemini_companion.engine.mcp.names import every_tool_of
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import RuleList, StoredRule
from gemini_companion.settings.own_file import rule_id as id_of_own
from gemini_companion.tools.policy.rules import SourcedRule, in_order, text_of

MAX_ALLOWANCES: Final = 1_000
"""Rules that one session keeps."""


class OwnRules(Protocol):
    """The rules in the user's own settings file."""

    def add_rule(self, rule: ToolRule) -> None:
        """Add one. Raises `InvalidSettings`, `StorageFault`."""
        ...

    def remove_rule(self, rule_id: str) -> bool:
        """Take those with this id away; false if there are none. Raises the same."""
        ...


def rules_of(session: Session) -> tuple[SourcedRule, ...]:
    """The rules in force, those that are asked first at the front."""
    return in_order((*_of_session(session), *_of_settings(session.services)))


def listed_rules(session: Session) -> RuleList:
    """The same for a client."""
    return _listed(rules_of(session))


def listed_rules_of_settings(services: Services) -> RuleList:
    """Those that hold in every session."""
    return _listed(in_order(_of_settings(services)))


def _listed(rules: Iterable[SourcedRule]) -> RuleList:
    return RuleList(
        rules=tuple(
            StoredRule(rule=one.rule, source=one.source, rule_id=one.rule_id, text=text_of(one.rule)) for one in rules
        )
    )


def can_be_stored(rule: ToolRule) -> bool:
    """Whether the settings may have a rule, and would read it as it is: there a dollar sign begins a variable, and a
    secret in a command would stand in a plain file.
    """
    texts = (rule.tool, rule.path or "", rule.workspace or "", *(rule.command or ()))
    return not any("$" in text for text in texts) and not find_secrets(" ".join(texts))


async def allow_for_session(session: Session, rule: ToolRule) -> bool:
    """Keep a rule for the session; false if it has too many. Raises `StorageFault`."""
    if rule in session.tools_state.allowances.values():
        return True
    if len(session.tools_state.allowances) >= MAX_ALLOWANCES:
        return False
    stamp, rule_id = session.stamp(), session.services.new_id("rule")
    await session.append(lambda seq: AllowanceEntry(**stamp, seq=seq, rule_id=rule_id, rule=rule))
    return True


async def revoke(session: Session | None, rule_id: str, own: OwnRules | None) -> None:
    """Take a rule of the session's or of the user's back; without a session the user's only.

    Raises `InvalidInput` if there is none, `InvalidSettings`, `StorageFault`.
    """
    rule = session.tools_state.allowances.get(rule_id) if session is not None else None
    if session is not None and rule is not None:
        stamp = session.stamp()
        await session.append(lambda seq: AllowanceEntry(**stamp, seq=seq, rule_id=rule_id, rule=rule, revoked=True))
        return
    if own is None or not own.remove_rule(rule_id):
        raise InvalidInput(
            f"There is no rule {rule_id} that could be taken back.",
            path="$.ruleId",
            hint="gemini/rules lists them; those without an id stand in a file of settings.",
        )


def _of_session(session: Session) -> Iterator[SourcedRule]:
    for rule_id, rule in session.principal.tools_state.allowances.items():
        yield SourcedRule(rule=rule, source="session", rule_id=rule_id)


def _of_settings(services: Services) -> Iterator[SourcedRule]:
    for one in services.settings().tools.rules:
        own = one.is_own and one.source == "user"
        written = one.as_written or one.rule
        yield SourcedRule(rule=one.rule, source=one.source, rule_id=id_of_own(written) if own else None)
    for server in services.settings().mcp.servers:
        if server.is_trusted:  # the settings of the user's own say so
            yield SourcedRule(rule=ToolRule(tool=every_tool_of(server.name), decision="allow"), source="user")
