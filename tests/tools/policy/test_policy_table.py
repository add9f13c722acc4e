"""What may go ahead: rules, guards, mode, trust and risk, each against each."""

from __future__ import annotations

from itertools import permutations
from typing import get_args

import pytest

from gemini_companion.engine.history.tool_entries import Decision, Mode, ToolRule
from gemini_companion.tools.policy.decide import HOW_TO_TRUST, PLAN_ONLY, Asked, decide, suggestion, would_allow
from gemini_companion.tools.policy.rules import in_order, is_sound, text_of
from gemini_companion.tools.tool import Proposal, Risk, Touched
from tests.support.policy import GUARDED, MODES, RISKS, ROOTS, Line, asked, decision, file, rule, situation

# --- without any rule


@pytest.mark.parametrize(
    ("risk", "expected"),
    [
        ("read", "allow"),
        ("note", "allow"),
        ("question", "allow"),
        ("edit", "ask"),
        ("command", "ask"),
        ("network", "ask"),
        ("server", "ask"),
    ],
)
def test_without_a_rule_the_risk_decides(risk: Risk, expected: Decision):
    assert decision(asked(risk, file()), situation()) == expected


@pytest.mark.parametrize("risk", RISKS)
def test_in_plan_mode_only_what_changes_nothing_runs_and_the_model_is_told_the_way_out(risk: Risk):
    found = decide(asked(risk, file()), situation(rule("allow"), mode="plan"))
    assert (found.decision == "deny") == (risk in ("edit", "command", "network", "server"))
    assert found.decision != "deny" or "exit_plan_mode" in found.refusal
    assert (found.refusal == PLAN_ONLY) == (risk in ("edit", "network", "server"))


@pytest.mark.parametrize("line", [None, "allow", "ask", "deny", "refuse"])
def test_in_plan_mode_a_command_runs_if_its_line_only_reads_and_is_never_asked_about(line: str | None):
    judged = Line(decision=line, reason="`make` is not known to only look") if line else None
    found = decide(asked("command", name="run_shell_command", line=judged), situation(mode="plan"))
    assert found.decision == ("allow" if line == "allow" else "deny")
    if line == "ask":
        assert "may do more than read: `make` is not known" in found.reason, "for the person"
        assert "`make` is not known" in found.refusal, "for the model"


def test_a_workspace_that_is_not_trusted_has_no_commands_in_plan_mode_either():
    one = asked("command", name="run_shell_command", line=Line(decision="allow"))
    assert decision(one, situation(mode="plan", trusted=False)) == "deny"


@pytest.mark.parametrize("risk", RISKS)
@pytest.mark.parametrize("mode", MODES)
def test_in_an_untrusted_workspace_nothing_acts_whatever_is_allowed(risk: Risk, mode: Mode):
    found = decide(asked(risk, file(), line=Line(decision="allow")), situation(rule("allow"), mode=mode, trusted=False))
    assert (found.decision == "deny") == (risk in ("edit", "command", "network", "server"))
    assert found.decision != "deny" or found.refusal == HOW_TO_TRUST


def test_accepting_edits_lets_edits_inside_through_and_nothing_else():
    accepting = situation(mode="acceptEdits")
    assert decision(asked("edit", file()), accepting) == "allow"
    assert decision(asked("edit", file("/elsewhere/a", is_inside=False)), accepting) == "ask"
    assert decision(asked("edit", file(is_guarded=True)), accepting) == "ask"
    assert decision(asked("edit", file(), file("/project/app/.env", secret="by name")), accepting) == "ask"
    assert decision(asked("edit"), accepting) == "ask"
    assert decision(asked("command", name="run_shell_command"), accepting) == "ask"


# --- the order


@pytest.mark.parametrize("touched", GUARDED)
@pytest.mark.parametrize("mode", ["ask", "acceptEdits"])
def test_no_stored_rule_lets_a_guarded_file_through(touched: Touched, mode: Mode):
    rules = [rule("allow"), rule("allow", "write_file"), rule("allow", path="*"), rule("allow", source="session")]
    risk: Risk = "read" if touched.how == "read" else "edit"
    found = decide(asked(risk, touched), situation(*rules, mode=mode))
    assert (found.decision, found.is_fixed) == ("ask", True)


def test_a_guarded_file_may_be_read():
    assert decision(asked("read", file("/project/app/Makefile", "read", is_guarded=True)), situation()) == "allow"


def test_one_guarded_file_among_several_is_enough():
    touched = (file(), file("/project/app/.git/config", is_guarded=True), file("/project/app/b.py"))
    assert decision(asked("edit", *touched), situation(rule("allow"))) == "ask"


@pytest.mark.parametrize("order", list(permutations(get_args(Decision))))
def test_deny_beats_ask_and_ask_beats_allow_in_whatever_order_they_stand(order: tuple[Decision, ...]):
    assert decision(asked("edit", file()), situation(*map(rule, order))) == "deny"
    kept: list[Decision] = [one for one in order if one != "deny"]
    assert decision(asked("edit", file()), situation(*map(rule, kept))) == "ask"
    assert decision(asked("edit", file()), situation(rule("allow"))) == "allow"


def test_a_denied_secret_is_not_even_asked_about():
    found = decide(asked("read", file("/project/app/.env", "read", secret="s")), situation(rule("deny", path=".env*")))
    assert found.decision == "deny"
    assert ".env*" in found.refusal


def test_a_rule_is_about_its_tool_alone():
    where = situation(rule("allow", "replace"), rule("deny", "glob"))
    assert decision(asked("edit", file(), name="write_file"), where) == "ask"
    assert decision(asked("edit", file(), name="replace"), where) == "allow"


def test_a_tool_is_meant_by_its_other_names_too():
    one = Asked(names=("grep_search", "search_file_content"), risk="read", proposal=Proposal(title="Search"))
    assert decision(one, situation(rule("deny", "search_file_content"))) == "deny"


def test_a_call_is_allowed_by_rules_only_if_each_of_its_files_is():
    where = situation(rule("allow", path="src/"), rule("allow", path="docs/"))
    assert decision(asked("edit", file("/project/app/src/a"), file("/project/app/docs/b")), where) == "allow"
    assert decision(asked("edit", file("/project/app/src/a"), file("/project/app/c")), where) == "ask"


def test_a_call_is_denied_if_one_of_its_files_is():
    where = situation(rule("allow"), rule("deny", path="docs/"))
    assert decision(asked("edit", file("/project/app/src/a"), file("/project/app/docs/b")), where) == "deny"


def test_what_forbids_does_not_care_for_case_and_what_allows_does():
    assert decision(asked("edit", file("/project/app/SRC/a.PY")), situation(rule("deny", path="src/*.py"))) == "deny"
    assert decision(asked("edit", file("/project/app/SRC/a.PY")), situation(rule("allow", path="src/*.py"))) == "ask"


def test_a_forbidden_name_is_forbidden_outside_too_and_allowed_nowhere():
    outside = file("/home/me/x.pem", "read", is_inside=False)
    assert decision(asked("read", outside), situation(rule("deny", path="*.pem"))) == "deny"
    assert decision(asked("read", outside), situation(rule("allow", path="*.pem"))) == "ask"


def test_tools_that_the_settings_leave_out_are_refused():
    where = situation(core=frozenset({"read_file"}))
    assert decision(asked("read", name="glob"), where) == "deny"
    assert decision(asked("read", name="read_file"), where) == "allow"
    assert decision(asked("note", name="write_todos"), where) == "allow"


# --- rules of one workspace folder


@pytest.mark.parametrize("folder", ["/project", "/project/app/src", "/project/ap", "/elsewhere"])
def test_a_rule_of_another_workspace_says_nothing(folder: str):
    where = situation(rule("allow", path="/a.py", workspace=folder), rule("deny", "glob", workspace=folder))
    assert decision(asked("edit", file("/project/app/a.py")), where) == "ask"
    assert decision(asked("read", name="glob"), where) == "allow"


def test_a_rule_of_one_of_several_folders_is_about_its_files_alone():
    both = ("/project/app", "/project/web")
    for kind, without in (("allow", "ask"), ("deny", "ask")):
        where = situation(rule(kind, workspace="/project/web"), roots=both)  # type: ignore[arg-type]
        assert decision(asked("edit", file("/project/web/a.py")), where) == kind
        assert decision(asked("edit", file("/project/app/a.py")), where) == without
        assert decision(asked("edit", file("/project/web/a.py"), file("/project/app/a.py")), where) == (
            "deny" if kind == "deny" else "ask"
        )


# --- commands


@pytest.mark.parametrize(
    ("line", "expected"), [("allow", "allow"), ("ask", "ask"), ("deny", "deny"), ("refuse", "deny"), (None, "ask")]
)
def test_a_command_is_decided_by_the_verdict_on_its_line(line: str | None, expected: Decision):
    one = asked("command", name="run_shell_command", line=Line(decision=line) if line else None)
    assert decision(one, situation()) == expected


def test_a_rule_about_every_tool_allows_no_command_and_one_that_denies_does():
    one = asked("command", name="run_shell_command", line=Line(decision="ask"))
    assert decision(one, situation(rule("allow"), rule("allow", "run_shell_command"))) == "ask"
    judged = asked("command", name="run_shell_command", line=Line(decision="allow"))
    assert decision(judged, situation(rule("deny", "run_shell_command"))) == "deny"
    assert decision(judged, situation(rule("ask", "run_shell_command"))) == "ask"


def test_a_rule_about_a_command_says_nothing_of_other_tools_or_other_commands():
    words = ("git", "push")
    assert decision(asked("edit", file()), situation(rule("deny", command=words))) == "ask"
    one = asked("command", name="run_shell_command", line=Line(decision="allow"))
    assert decision(one, situation(rule("deny", "run_shell_command", command=words))) == "allow"


# --- what "always" would store


def test_the_rule_that_is_offered_for_an_edit_is_about_this_file_and_lets_it_through():
    one = asked("edit", file("/project/app/src/[x] a.py"))
    offered = suggestion(one, ROOTS)
    assert offered == ToolRule(
        tool="write_file", decision="allow", path="/src/\\[x\\]\\ a.py", workspace="/project/app"
    )
    assert offered is not None
    assert would_allow(offered, one, situation())
    other = asked("edit", file("/project/app/src/x.py"))
    assert not would_allow(offered, other, situation())


@pytest.mark.parametrize("touched", GUARDED)
def test_no_rule_is_of_use_for_a_guarded_file(touched: Touched):
    assert not would_allow(ToolRule(tool="write_file", decision="allow"), asked("edit", touched), situation())


def test_a_rule_is_of_no_use_against_one_that_asks():
    assert not would_allow(ToolRule(tool="write_file", decision="allow"), asked("edit", file()), situation(rule("ask")))


@pytest.mark.parametrize(
    "kept",
    [
        ToolRule(tool="*", decision="allow"),
        ToolRule(tool="replace", decision="allow"),
        ToolRule(tool="write_file", decision="ask"),
        ToolRule(tool="write_file", decision="allow", command=("ls",)),
        ToolRule(tool="write_file", decision="allow", path="!x"),
    ],
)
def test_what_is_no_rule_about_the_call_is_not_kept(kept: ToolRule):
    assert not would_allow(kept, asked("edit", file()), situation())


def test_a_command_is_kept_only_with_words():
    one = asked("command", name="run_shell_command", line=Line(decision="allow"))
    assert not would_allow(ToolRule(tool="run_shell_command", decision="allow"), one, situation())
    assert would_allow(ToolRule(tool="run_shell_command", decision="allow", command=("ls",)), one, situation())


def test_a_rule_reads_as_a_sentence():
    assert text_of(ToolRule(tool="write_file", decision="allow", path="/src/")) == "Allow write_file on /src/"
    words = ("git", "commit -m")
    assert text_of(ToolRule(tool="run_shell_command", decision="deny", command=words)) == (
        "Never run_shell_command: git 'commit -m' …"
    )
    assert text_of(ToolRule(tool="*", decision="ask")) == "Ask before any tool"


def test_rules_are_listed_in_the_order_in_which_they_are_asked():
    rules = [rule("allow", source="session"), rule("deny"), rule("ask"), rule("deny", source="workspace")]
    assert [(one.rule.decision, one.source) for one in in_order(rules)] == [
        ("deny", "workspace"),
        ("deny", "user"),
        ("ask", "user"),
        ("allow", "session"),
    ]


@pytest.mark.parametrize(
    "unsound",
    [
        ToolRule(tool="", decision="allow"),
        ToolRule(tool="x", decision="allow", path=""),
        ToolRule(tool="x", decision="allow", path="/"),
        ToolRule(tool="x", decision="allow", path="a" * 2_000),
        ToolRule(tool="x", decision="allow", command=()),
        ToolRule(tool="x", decision="allow", command=("",)),
        ToolRule(tool="x", decision="allow", command=("a\nb",)),
        ToolRule(tool="x", decision="allow", command=("ls",), path="a"),
    ],
)
def test_a_rule_that_says_nothing_clear_is_not_sound(unsound: ToolRule):
    assert not is_sound(unsound)
