from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gemini_companion.adapters.processes.judging import DiskJudge
from gemini_companion.engine.history.tool_entries import Decision
from gemini_companion.tools.shell.verdict import LineVerdict
from gemini_companion.tools.tool import Touched
from tests.support.shell_lines import rule


class Disk:
    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.work = self.home / "work"
        (self.work / "src").mkdir(parents=True)
        (self.work / ".gemini").mkdir()
        for name in ("a.py", ".env", "package.json", "src/b.py", ".gemini/settings.json"):
            (self.work / name).write_text("x")
        (self.work / "out").symlink_to("/etc")
        (self.work / "in").symlink_to(self.work / "src")
        (self.work / "key").symlink_to(self.work / ".env")
        self.touched: list[Touched] = []
        self.judge = DiskJudge(home=str(self.home), find_program=self.find, private=(str(self.home / "data"),))

    def find(self, name: str) -> str | None:
        return f"{self.work}/bin/{name}" if name == "own" else os.path.realpath(shutil.which(name) or "") or None

    def of_file(self, touched: Touched) -> Decision:
        self.touched.append(touched)
        return "allow" if touched.how == "read" or touched.path.endswith(".log") else "ask"

    def judged(self, line: str, *, fresh: frozenset[str] = frozenset()) -> LineVerdict:
        rules = (rule("own"), rule("sh", "run.sh"))
        return self.judge(
            line, cwd=str(self.work), roots=(str(self.work),), rules=rules, of_file=self.of_file, fresh=fresh
        )


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("cat a.py", "allow"),
        ("cat in/b.py", "allow"),
        ("cd in && cat b.py", "allow"),
        ("ls > build.log", "allow"),
        ("cat out/passwd", "ask"),
        ("cd out && ls", "ask"),
        ("cat in/../../x", "ask"),
        ("cat .env", "ask"),
        ("cat key", "ask"),
        ("ls > a.py", "ask"),
        ("ls > package.json", "ask"),
        ("own x", "ask"),
        ("cat .gemini/settings.json", "refuse"),
        ("cat .GEMINI/Settings.json", "refuse"),
        ("cat ~/data/log.db", "refuse"),
        ("cat ../data/log.db", "refuse"),
        ("rm -rf ~", "refuse"),
        ("rm -rf ..", "refuse"),
        ("cat " + "x" * 5000, "ask"),
    ],
)
def test_a_line_is_judged_by_where_its_paths_lead(disk: Disk, line: str, decision: str) -> None:
    assert disk.judged(line).decision == decision


def test_the_rules_for_files_are_asked_about_real_paths(disk: Disk) -> None:
    disk.judged("cat in/b.py")
    assert Touched(path=str(disk.work / "src" / "b.py"), how="read") in disk.touched


def test_what_was_written_in_this_turn_is_known_by_its_real_path(disk: Disk) -> None:
    fresh = frozenset((str(disk.work / ".git" / "config"),))
    assert disk.judged("git status").decision == "allow"
    assert disk.judged("git status", fresh=fresh).decision == "ask"


@pytest.mark.process
def test_what_gits_settings_call_a_command_is_that_command(disk: Disk) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=disk.work, check=True, env={**os.environ, "HOME": str(disk.home)})

    git("init", "-q")
    git("config", "alias.Out", "-c a.b=c send")
    (disk.home / ".gitconfig").write_text("[include]\n\tpath = names\n")
    (disk.home / "names").write_text("[alias]\n\tsend = !git push\n\tlast = log -1\n")
    rules = (*(rule("git", name) for name in ("out", "send", "last", "unknown")), rule("git", "push", decision="deny"))

    def decision(line: str) -> str:
        return disk.judge(line, cwd=str(disk.work), roots=(str(disk.work),), rules=rules, of_file=disk.of_file).decision

    assert [decision(line) for line in ("git out", "git -p send x", "git last", "git unknown")] == [
        "deny",
        "deny",
        "allow",
        "allow",
    ]
    assert decision("git -C src unknown") == "ask"
    (disk.work / ".git" / "config").write_text("[broken")
    assert decision("git unknown") == "ask"


def test_a_file_that_is_there_is_found_behind_the_letters_of_options(disk: Disk) -> None:
    (disk.work / "plan").write_text("x")
    of_file = disk.of_file

    def denying(touched: Touched) -> Decision:
        return "deny" if touched.path.endswith("/plan") else of_file(touched)

    def decision(line: str) -> str:
        return disk.judge(
            line,
            cwd=str(disk.work),
            roots=(str(disk.work),),
            rules=(rule("sort"), rule("env"), rule("git", "commit")),
            of_file=denying,
        ).decision

    assert decision("git commit -qFplan") == "deny"
    assert decision("git commit -m plans") == "allow"
