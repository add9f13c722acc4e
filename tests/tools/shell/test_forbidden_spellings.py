from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.settings.tool_rules import tool_rule
from tests.support.shell_lines import ToldFacts, judged, rule
from tests.tools.shell.forbidden_spellings import ASKED, OTHERS, REFUSED

PROGRAMS = tuple(dict.fromkeys(words.split()[0] for words in (*REFUSED, *ASKED, *OTHERS)))
ALLOWED: tuple[ToolRule, ...] = (
    *(
        rule(program)
        for program in (*PROGRAMS, "gmake", "tofu", "pip3", "cargo-publish", "tool-push", "docker-compose")
    ),
    *(
        rule("git", sub)
        for sub in [
            "add",
            "checkout",
            "chain",
            "commit",
            "lfs",
            "log",
            "pp",
            "push",
            "rebase",
            "reset",
            "rm",
            "stash",
            "submodule",
        ]
    ),
    rule("python3", "-m", "pip"),
)
"""Everything is allowed but for what is forbidden."""
FILES = ToldFacts(
    aliases={"pp": "push", "chain": "-c a.b=c pp --tags", "shell-alias": "!f() { git push; }; f"},
    in_project=frozenset(),
)


def forbidding(words: str, decision: str = "deny") -> ToolRule:
    return rule(*words.split(), decision=decision)


@pytest.mark.parametrize(("forbidden", "line"), [(words, line) for words, lines in REFUSED.items() for line in lines])
def test_a_forbidden_command_is_refused_however_it_is_spelled(forbidden: str, line: str) -> None:
    verdict = judged(line, *ALLOWED, forbidding(forbidden), files=FILES)
    assert (verdict.decision, verdict.reason) == ("deny", f"a rule forbids {forbidden}")


@pytest.mark.parametrize(("asked", "line"), [(words, line) for words, lines in REFUSED.items() for line in lines])
def test_what_is_asked_always_is_asked_about_however_it_is_spelled(asked: str, line: str) -> None:
    assert judged(line, *ALLOWED, forbidding(asked, "ask"), files=FILES).decision == "ask"


@pytest.mark.parametrize(("forbidden", "line"), [(words, line) for words, lines in ASKED.items() for line in lines])
def test_what_may_be_forbidden_is_asked_about_and_names_the_rule(forbidden: str, line: str) -> None:
    verdict = judged(line, *ALLOWED, forbidding(forbidden), files=FILES)
    assert verdict.decision == "ask"
    assert forbidden in verdict.reason


@pytest.mark.parametrize(("forbidden", "line"), [(words, line) for words, lines in OTHERS.items() for line in lines])
def test_words_of_a_rule_that_mean_something_else_are_let_through(forbidden: str, line: str) -> None:
    assert judged(line, *ALLOWED, forbidding(forbidden), files=FILES).decision == "allow"


def test_there_are_a_hundred_spellings_for_twelve_programs() -> None:
    assert sum(map(len, REFUSED.values())) >= 100
    assert len({words.split()[0] for words in REFUSED}) >= 12


def test_a_tool_excluded_by_gemini_clis_list_is_refused_too() -> None:
    excluded = tool_rule("run_shell_command(git push)", "deny")
    assert judged("git -C . push", *ALLOWED, excluded, files=FILES).decision == "deny"


def test_a_rule_may_name_a_command_by_any_of_its_names() -> None:
    assert judged("npm install x", *ALLOWED, forbidding("npm i")).decision == "deny"
    assert judged("docker rm x", *ALLOWED, forbidding("docker container rm")).decision == "deny"
    assert judged("docker compose down", *ALLOWED, forbidding("docker-compose down")).decision == "deny"


def test_a_program_behind_a_link_counts_by_both_names() -> None:
    class Linked(ToldFacts):
        def program(self, name: str) -> str | None:
            return "/usr/bin/kubectl" if name == "k" else super().program(name)

    assert judged("k -n prod delete pod x", rule("k"), forbidding("kubectl delete"), files=Linked()).decision == "deny"


def test_a_name_that_gits_settings_may_give_is_asked_about_where_they_are_not_known() -> None:
    verdict = judged("git unknown", rule("git", "unknown"), forbidding("git push"), files=ToldFacts(aliases=None))
    assert (verdict.decision, verdict.reason) == ("ask", "it may be what a rule forbids: git push")
    assert judged("git lfs ls-files", *ALLOWED, forbidding("git push"), files=FILES).decision == "allow"


NAMES = st.from_regex(r"[a-z][a-z0-9]{0,7}", fullmatch=True)
OPTIONS = st.one_of(
    st.from_regex(r"-[a-zA-Z]{1,3}", fullmatch=True),
    st.from_regex(r"--[a-z]{2,8}(-[a-z]{2,6})?(=[a-z0-9/]{1,6})?", fullmatch=True),
    st.tuples(st.from_regex(r"--[a-z]{2,8}", fullmatch=True), NAMES).map(" ".join),
)


@given(
    st.sampled_from([words for words in REFUSED if "-" not in words]),
    st.lists(st.lists(OPTIONS, max_size=4), min_size=4, max_size=4),
    st.lists(NAMES, max_size=3),
)
def test_no_options_between_its_words_hide_a_command_from_a_rule(
    words: str, between: list[list[str]], behind: list[str]
) -> None:
    pieces = words.split()
    line = [pieces[0]]
    for options, piece in zip(between, pieces[1:], strict=False):
        line += [word for option in options for word in option.split()] + [piece]
    verdict = judged(shlex.join([*line, *behind]), *ALLOWED, forbidding(words), files=FILES)
    assert verdict.decision in {"ask", "deny"}
    assert words in verdict.reason


@given(NAMES, st.lists(NAMES, min_size=1, max_size=3), st.data())
def test_of_a_program_that_is_not_known_the_words_in_their_order_are_enough(
    program: str, words: list[str], data: st.DataObject
) -> None:
    line = [f"zz{program}"]
    for word in words:
        line += [*data.draw(st.lists(st.one_of(NAMES, OPTIONS), max_size=3)), word]
    said = shlex.split(" ".join(line))
    verdict = judged(shlex.join(said), rule(said[0]), rule(said[0], *words, decision="deny"), files=FILES)
    assert verdict.decision in {"ask", "deny"}


@pytest.mark.parametrize("line", ["git " * 2_400, "tool push " * 900, "tool " + "-a push " * 1_200, "npm -x y " * 900])
def test_lines_of_a_rules_own_words_are_judged_within_bounds(line: str) -> None:
    assert judged(line, *ALLOWED, forbidding("git push"), forbidding("tool x x x"), forbidding("npm y y")).decision in {
        "ask",
        "deny",
    }
