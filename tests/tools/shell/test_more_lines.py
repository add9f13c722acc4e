from __future__ import annotations

import pytest

from tests.support.shell_lines import HOME, ROOT, ToldFacts, judged, rule
from tests.tools.shell.allowed_lines import ALLOWED
from tests.tools.shell.asked_lines import ASKED


def test_there_are_many_lines() -> None:
    assert len(ALLOWED) + len(ASKED) >= 240


@pytest.mark.parametrize("line", ALLOWED)
def test_it_runs_unasked(line: str) -> None:
    verdict = judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.parametrize("line", ASKED)
def test_it_is_asked_about_and_says_why(line: str) -> None:
    verdict = judged(line)
    assert verdict.decision == "ask"
    assert verdict.reason


@pytest.mark.parametrize(
    "line",
    [
        "rm x",
        "ls; rm x",
        "ls | rm x",
        "echo $(rm x)",
        'echo "$(rm x)"',
        "echo `rm x`",
        "/bin/rm x",
        "\\rm x",
        'r"m" x',
        "$'\\x72m' x",
        "sudo rm x",
        "timeout 5 rm x",
        "env X=1 rm x",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "bash -c 'rm x'",
        'sh -c "ls; rm x"',
        "bash -c \"bash -c 'rm x'\"",
        "eval rm x",
        "eval 'rm x'",
        "trap 'rm x' EXIT",
        "cat <<E\n$(rm x)\nE",
        "cat <<E\n`rm x`\nE",
        'echo "${x:-`rm x`}"',
        "f() { rm x; }",
        "if true; then rm x; fi",
        "ls <(rm x)",
        "exec rm x",
        "X=1 rm x",
        "rm x &",
        'echo "not closed; rm x',
        "ls " + "a" * 10_000 + "; rm x",
        "; ".join(["ls"] * 300) + "; rm x",
    ],
)
def test_what_a_rule_forbids_is_found_however_it_is_written(line: str) -> None:
    assert judged(line, rule("rm"), rule("rm", decision="deny")).decision == "deny"


@pytest.mark.parametrize("line", ["echo rm x", "grep rm a.py", "ls rm", "cat 'rm x'"])
def test_a_word_that_is_no_command_is_not_forbidden(line: str) -> None:
    assert judged(line, rule("rm", decision="deny")).decision == "allow"


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf /*",
        "rm -r -f //",
        "rm -fR /.",
        "rm --recursive /",
        "rm --recurs ~/",
        "rm -rf $HOME",
        'rm -rf "$HOME"',
        'rm -rf "${HOME}/"',
        "rm -rf ~/*",
        f"rm -rf {HOME}",
        "rm -rf /home",
        "rm -rf ../..",
        "rm -rf x /",
        "sudo rm -rf /",
        "ls; rm -rf /",
        "echo $(rm -rf /)",
        "bash -c 'rm -rf ~'",
        "timeout 5 rm -rf -- /",
        "find / -delete",
        "find ~ -exec rm {} +",
        "cat .gemini/settings.json",
        "echo x >~/.gemini/settings.json",
        'cat "$HOME/.gemini/settings.json"',
        "bash -c 'cat ~/.gemini/settings.json'",
        "dd of=.gemini/settings.json",
    ],
)
def test_no_rule_and_no_person_can_have_it_run(line: str) -> None:
    assert judged(line, rule("rm"), rule("rm", "-rf"), rule("cat")).decision == "refuse"


@pytest.mark.parametrize("line", ["rm -rf .", f"rm -rf {ROOT}", "rm -rf *", "rm -rf /etc", "rm -rf /tmp/x"])
def test_deleting_a_workspace_or_outside_of_it_is_asked_about_whatever_the_rules(line: str) -> None:
    assert judged(line, rule("rm", "-rf")).decision == "ask"


def test_a_rule_counts_whole_words_from_the_front() -> None:
    assert judged("make check", rule("make", "check")).decision == "allow"
    assert judged("make check VERBOSE=1", rule("make", "check")).decision == "allow"
    assert judged("make checks", rule("make", "check")).decision == "ask"
    assert judged("make all check", rule("make", "check")).decision == "ask"
    assert judged("make 'check all'", rule("make", "check")).decision == "ask"


@pytest.mark.parametrize("program", ["bash", "sh", "python3", "node", "env", "xargs", "sudo", "ssh", "git", "rm"])
def test_one_word_is_too_wide_a_rule_for_what_runs_anything(program: str) -> None:
    assert judged(f"{program} x", rule(program)).decision == "ask"


def test_a_rule_does_not_cover_code_in_the_line() -> None:
    allowed = rule("python3", "-m", "pytest")
    assert judged("python3 -m pytest -q", allowed).decision == "allow"
    assert judged("python3 -m http.server", allowed).decision == "ask"
    assert judged("python3 a.py -c x", rule("python3", "a.py")).decision == "ask"


def test_a_rule_does_not_reach_out_of_the_workspace() -> None:
    allowed = rule("pytest")
    assert judged("pytest tests", allowed).decision == "allow"
    for word in ("/etc/x", "../x", "--rootdir=/etc", "--rootdir=../x", ".env", "-c/etc/x"):
        assert judged(f"pytest {word}", allowed).decision == "ask", word


def test_a_rule_may_name_an_option_that_is_not_known_to_be_harmless() -> None:
    assert judged("git log --textconv", rule("git", "log", "--textconv")).decision == "allow"
    assert judged("git log --textconv --output=f", rule("git", "log", "--textconv")).decision == "ask"


def test_asking_beats_allowing() -> None:
    assert judged("npm test", rule("npm", decision="ask")).decision == "ask"
    assert judged("ls", rule("ls", decision="ask")).decision == "ask"


def test_rules_of_other_tools_are_not_about_commands() -> None:
    from gemini_companion.engine.history.tool_entries import ToolRule

    other = ToolRule(tool="write_file", decision="deny", path="**")
    assert judged("ls", other).decision == "allow"
    assert judged("ls", ToolRule(tool="*", decision="deny")).decision == "deny"
    assert judged("make", ToolRule(tool="run_shell_command", decision="allow")).decision == "allow"


def test_what_files_may_be_written_decides_about_redirections() -> None:
    files = ToldFacts(writable=frozenset((f"{ROOT}/build/log", f"{ROOT}/package.json")))
    assert judged("ls > build/log", files=files).decision == "allow"
    assert judged("cd src && ls > build/log", files=files).decision == "ask"
    assert judged("ls > package.json", files=files).decision == "ask"


def test_a_rule_against_reading_a_file_holds_for_commands() -> None:
    files = ToldFacts(unreadable=frozenset((f"{ROOT}/src/hidden.txt",)))
    for line in (
        "cat src/hidden.txt",
        "cd src && cat hidden.txt",
        "grep x < src/hidden.txt",
        "ls; sort src/hidden.txt",
    ):
        assert judged(line, files=files).decision == "deny", line


def test_always_offers_the_exact_words_and_only_what_would_help() -> None:
    assert judged("npm run build --watch").suggested == rule("npm", "run", "build", "--watch", exact=True)
    assert judged("make").suggested == rule("make", exact=True)
    assert judged("git push origin").suggested == rule("git", "push", "origin", exact=True)
    assert judged("ls && npm run build").suggested == rule("npm", "run", "build", exact=True)
    assert judged("timeout 60 make all").suggested == rule("make", "all", exact=True)
    for line in (
        "rm build/a.txt",
        "bash run.sh",
        "python3 a.py",
        "sudo make",
        "env X=1 make",
        "xargs rm",
        "find . -delete",
        "ssh host",
        "make > /etc/x",
        "make; cargo build",
        "make $X",
        "./run.sh",
        "tool",
        "cat /etc/passwd",
    ):
        assert judged(line).suggested is None, line


def test_every_part_has_its_own_verdict() -> None:
    verdict = judged("ls -l src && npm run build; git status")
    assert [(part.text, part.argv, part.decision) for part in verdict.parts] == [
        ("ls -l src", ("ls", "-l", "src"), "allow"),
        ("npm run build", ("npm", "run", "build"), "ask"),
        ("git status", ("git", "status"), "allow"),
    ]


def test_a_variable_is_asked_about_in_its_own_part() -> None:
    verdict = judged('ls && echo "$HOME" $1 && pwd')
    assert [part.decision for part in verdict.parts] == ["allow", "ask", "allow"]
    assert "variable" in verdict.reason


def test_hidden_signs_are_written_out() -> None:
    verdict = judged("ls\u00a0-l \u202ex")
    assert verdict.shown == "ls\\u{00A0}-l \\u{202E}x"
    assert "U+00A0" in verdict.reason


def test_what_was_written_in_this_turn_voids_the_rule_of_what_runs_it() -> None:
    for name, line in (("src/package.json", "cd src && npm test"), ("package.json", "cd src && npm test")):
        assert judged(line, files=ToldFacts(fresh=frozenset((f"{ROOT}/{name}",)))).decision == "ask"
    fresh = ToldFacts(fresh=frozenset((f"{ROOT}/a.py",)))
    assert judged("python3 a.py", rule("python3", "a.py"), files=fresh).decision == "ask"
    assert judged("npm test", files=fresh).decision == "allow"


@pytest.mark.parametrize(
    "line",
    ["eval " * 1_900, "watch " * 1_500, "sh -c " * 1_600, "echo " + "$(" * 3_000, "bash -c 'eval eval ls' " * 400],
)
def test_lines_within_lines_have_a_bound(line: str) -> None:
    assert judged(line, rule("rm", decision="deny")).decision == "ask"
    assert judged(f"{line} rm", rule("rm", decision="deny")).decision in {"ask", "deny"}
    assert judged(f"rm x; {line}", rule("rm", decision="deny")).decision == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "npm exec tool",
        "npm run",
        "cargo run",
        "cargo install tool",
        "make run",
        "go run src/a.go",
    ],
)
def test_always_offers_nothing_where_the_second_word_does_not_say_what_runs(line: str) -> None:
    assert judged(line).suggested is None
