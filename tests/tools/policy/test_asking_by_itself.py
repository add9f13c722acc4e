"""What a call itself says: that a person is asked unless a rule allows it."""

import msgspec
import pytest

from gemini_companion.tools.policy.decide import Asked, decide, would_allow
from gemini_companion.tools.tool import Proposal
from tests.support.policy import Line, rule, situation

ASKING = Proposal(title="Do it", asks="a file of the project runs it")
SKILL = Asked(names=("activate_skill",), risk="read", proposal=ASKING)


def test_a_read_that_says_so_is_asked_about_and_a_rule_lets_it_through():
    assert (decide(SKILL, situation()).decision, decide(SKILL, situation()).reason) == ("ask", ASKING.asks)
    assert decide(SKILL, situation(rule("allow", "activate_skill"))).decision == "allow"
    assert would_allow(rule("allow", "activate_skill").rule, SKILL, situation())
    assert decide(SKILL, situation(rule("deny", "activate_skill"))).decision == "deny"


@pytest.mark.parametrize(("by_rules", "decision"), [(False, "ask"), (True, "allow")])
def test_a_harmless_line_that_nobody_allowed_is_asked_about(by_rules: bool, decision: str):
    line = Line(decision="allow", by_rules=by_rules)
    asked = Asked(names=("run_shell_command",), risk="command", proposal=ASKING, line=line)
    assert decide(asked, situation()).decision == decision
    assert decide(asked, situation(trusted=False)).decision == "deny"
    own = msgspec.structs.replace(asked, proposal=Proposal(title="Do it"))
    assert decide(own, situation()).decision == "allow"


def test_what_is_denied_or_asked_anyway_stays_so():
    for given, decided in (("ask", "ask"), ("deny", "deny"), ("refuse", "deny")):
        asked = Asked(names=("run_shell_command",), risk="command", proposal=ASKING, line=Line(decision=given))
        assert decide(asked, situation()).decision == decided
