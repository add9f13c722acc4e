"""What commands write, or copy, is judged by the rules for paths, whatever allows the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.adapters.processes.judging import DiskJudge
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.tools.judging import files_by_rules
from gemini_companion.tools.policy.decide import Situation
from gemini_companion.tools.policy.rules import SourcedRule, in_order
from gemini_companion.tools.shell.verdict import LineVerdict
from tests.support.shell_lines import rule

PROGRAMS = (
    "install", "ln", "touch", "tee", "dd", "rsync", "split", "patch", "unzip", "truncate", "cp", "mv", "rm", "mkdir",
    "chmod", "tar", "zip", "gzip", "shred", "scp",
)  # fmt: skip
RULES = (
    *(rule(name) for name in PROGRAMS),
    rule("sort", "-o"),
    rule("sed", "-i"),
    rule("rm", "-r"),
    rule("mytool"),
    rule("dd", "if=a.py"),
)
FORBIDDEN = (
    ToolRule(tool="write_file", decision="deny", path="vendor/"),
    ToolRule(tool="read_file", decision="deny", path="hidden/"),
)


class Bench:
    """A workspace with a folder that must not be written and one that must not be read."""

    def __init__(self, home: Path) -> None:
        self.work = home.resolve() / "work"
        for name in ("a.py", "out/b.py", "vendor/v.py", "hidden/h.py", "mixed/vendor/v.py", "mixed/hidden/h.py"):
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text("x\n")
        (self.work / "way").symlink_to(self.work / "vendor")
        self.judge = DiskJudge(home=str(home), find_program=lambda name: f"/usr/bin/{name}")

    def judged(self, line: str, *rules: ToolRule) -> LineVerdict:
        sourced = in_order(SourcedRule(rule=one, source="user") for one in (*rules, *FORBIDDEN))
        root = str(self.work)
        situation = Situation(rules=sourced, mode="ask", trusted=True, roots=(root,))
        of_file = files_by_rules(situation)
        return self.judge(line, cwd=root, roots=(root,), rules=[one.rule for one in sourced], of_file=of_file)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


WRITES = [
    "sort -o vendor/x a.py",
    "sed -i s/a/b/ vendor/v.py",
    "install a.py vendor/x",
    "install -t vendor a.py",
    "install --target-directory=vendor a.py",
    "ln a.py vendor/x",
    "ln -s ../a.py vendor/x",
    "touch vendor/x",
    "touch out/../vendor/x",
    "touch way/x",
    "touch ./vendor//x",
    "cd out && touch ../vendor/x",
    "tee vendor/x",
    "cat a.py | tee -a vendor/x",
    "dd if=a.py of=vendor/x",
    "dd of=vendor/x if=a.py",
    "rsync a.py vendor/",
    "rsync -a out/ vendor/",
    "split a.py vendor/part",
    "split -l 5 a.py vendor/part",
    "patch vendor/v.py a.diff",
    "patch -o vendor/x a.py a.diff",
    "patch --output=vendor/x a.py a.diff",
    "unzip -d vendor a.zip",
    "unzip -o -dvendor a.zip",
    "truncate -s 0 vendor/v.py",
    "truncate --size=0 vendor/v.py",
    "cp a.py vendor/x",
    "cp -t vendor a.py",
    "mv a.py vendor/x",
    "mv vendor/v.py out/x",
    "rm vendor/v.py",
    "mkdir -p vendor/x/y",
    "chmod +x vendor/v.py",
    "tar xf a.tar -C vendor",
    "zip vendor/x.zip a.py",
    "gzip vendor/v.py",
    "shred vendor/v.py",
    "scp a.py vendor/x",
    "echo x > vendor/x",
    "echo x >> way/x",
]


@pytest.mark.parametrize("line", WRITES)
def test_what_a_rule_forbids_to_write_no_command_writes_with_or_without_a_rule_of_its_own(
    bench: Bench, line: str
) -> None:
    assert bench.judged(line, *RULES).decision == "deny"
    if not line.startswith(("sort", "sed")):
        assert bench.judged(line).decision == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "sort -o out/x a.py",
        "touch out/x",
        "cp a.py out/x",
        "dd if=a.py of=out/x",
        "tee out/x",
        "rsync a.py out/",
        "cp a.py out",
        "cp a.py .",
    ],
)
def test_what_no_rule_forbids_is_written_by_the_rule_of_the_command(bench: Bench, line: str) -> None:
    assert bench.judged(line, *RULES).decision == "allow"
    assert bench.judged(line).decision == "ask"


@pytest.mark.parametrize(
    "line",
    ["cp hidden/h.py out/x", "ln hidden/h.py out/x", "dd if=hidden/h.py of=out/x", "mv hidden/h.py out/x", "gzip hidden/h.py"],
)  # fmt: skip
def test_what_a_rule_forbids_to_read_is_not_copied_away(bench: Bench, line: str) -> None:
    assert bench.judged(line, *RULES).decision == "deny"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("cp -r mixed out/x", "mixed/"),
        ("rsync -a mixed/ out/", "mixed/"),
        ("tar cf out/x.tar mixed", "forbids"),
        ("zip -r out/x.zip mixed", "mixed/"),
        ("unzip a.zip", "forbids to write"),
        ("patch -p1 < a.py", "forbids to write"),
        ("tar xf a.tar", "forbids to write"),
        ("mytool vendor/v.py", "a rule forbids"),
        ("mytool --out=vendor/x", "a rule forbids"),
    ],
)
def test_a_folder_counts_with_all_that_is_in_it(bench: Bench, line: str, why: str) -> None:
    verdict = bench.judged(line, *RULES)
    assert verdict.decision == "ask"
    assert why in verdict.reason


def test_deleting_or_moving_a_folder_with_what_is_forbidden_is_forbidden(bench: Bench) -> None:
    assert bench.judged("rm -r mixed", *RULES).decision == "deny"
    assert bench.judged("mv mixed out/x", *RULES).decision == "deny"
    assert bench.judged("rm -r out", *RULES).decision == "allow"
