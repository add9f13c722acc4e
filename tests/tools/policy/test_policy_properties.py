"""What holds of every decision, whatever the rules."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.tool_entries import Decision, Mode, ToolRule
from gemini_companion.tools.policy.decide import Asked, Situation
from gemini_companion.tools.policy.rules import RuleSource, SourcedRule
from gemini_companion.tools.tool import Risk, Touched
from tests.support.policy import MODES, RISKS, asked, decision, rule, situation


def _rule(tool: str, decision: Decision, path: str | None, source: RuleSource) -> SourcedRule:
    return SourcedRule(rule=ToolRule(tool=tool, decision=decision, path=path), source=source)


def _file(path: str, how: Any, is_inside: bool, secret: str, is_guarded: bool) -> Touched:
    return Touched(path=path, how=how, is_inside=is_inside, secret=secret, is_guarded=is_guarded)


def _call(risk: Risk, touched: list[Touched], name: str) -> Asked:
    return asked(risk, *touched, name=name)


def _situation(rules: list[SourcedRule], mode: Mode, trusted: bool) -> Situation:
    return situation(*rules, mode=mode, trusted=trusted)


PATHS = st.sampled_from(["*", "src/", "/src/a.py", "*.py", "**/a.*", ".env", "docs/**"])
RULES = st.builds(
    _rule,
    st.sampled_from(["*", "write_file", "replace", "read_file"]),
    st.sampled_from(get_args(Decision)),
    st.none() | PATHS,
    st.sampled_from(get_args(RuleSource)),
)
FILES = st.builds(
    _file,
    st.sampled_from(["/project/app/src/a.py", "/project/app/.env", "/project/app/docs/x/y", "/etc/passwd"]),
    st.sampled_from(["read", "write", "delete"]),
    st.booleans(),
    st.sampled_from(["", "by name"]),
    st.booleans(),
)
CALLS = st.builds(
    _call,
    st.sampled_from(RISKS),
    st.lists(FILES, max_size=3),
    st.sampled_from(["write_file", "replace", "read_file"]),
)
SITUATIONS = st.builds(
    _situation,
    st.lists(RULES, max_size=6),
    st.sampled_from(MODES),
    st.booleans(),
)
RANK = {"allow": 0, "ask": 1, "deny": 2}


@given(CALLS, SITUATIONS)
def test_a_deny_about_the_tool_beats_everything(call: Asked, where: Situation):
    more = msgspec.structs.replace(where, rules=(*where.rules, rule("deny", call.names[0])))
    assert decision(call, more) == "deny"


@given(CALLS, SITUATIONS, RULES)
def test_a_rule_that_forbids_or_asks_never_widens(call: Asked, where: Situation, more: SourcedRule):
    if more.rule.decision == "allow":
        return
    after = msgspec.structs.replace(where, rules=(*where.rules, more))
    assert RANK[decision(call, after)] >= RANK[decision(call, where)]


@given(CALLS, SITUATIONS, st.lists(RULES, max_size=4))
def test_no_rule_allows_what_is_guarded(call: Asked, where: Situation, more: list[SourcedRule]):
    guarded = any(
        one.secret or not one.is_inside or (one.is_guarded and one.how != "read") for one in call.proposal.touched
    )
    after = msgspec.structs.replace(where, rules=(*where.rules, *more))
    assert not guarded or decision(call, after) != "allow"


@given(CALLS, SITUATIONS)
def test_losing_trust_never_widens(call: Asked, where: Situation):
    trusted = msgspec.structs.replace(where, trusted=True)
    untrusted = msgspec.structs.replace(where, trusted=False)
    assert RANK[decision(call, untrusted)] >= RANK[decision(call, trusted)]


@given(CALLS, SITUATIONS, st.randoms(use_true_random=False))
def test_the_order_of_rules_does_not_matter(call: Asked, where: Situation, chance: Any):
    mixed = list(where.rules)
    chance.shuffle(mixed)
    assert decision(call, msgspec.structs.replace(where, rules=tuple(mixed))) == decision(call, where)
