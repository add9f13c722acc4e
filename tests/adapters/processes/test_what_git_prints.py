"""What git prints of files obeys the rules by which files are read, in every commit that it goes to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gemini_companion.adapters.processes.repositories import Repositories
from gemini_companion.tools.shell.git import LOG_OPTIONS, TAKES_NEXT
from tests.support.patience import PATIENCE
from tests.support.reading_desk import ReadingDesk
from tests.support.shell_lines import rule

pytestmark = pytest.mark.process


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    run = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    return run.stdout.strip()


@pytest.fixture
def desk(tmp_path: Path) -> ReadingDesk:
    """A repository: the first commit has everything, the second `src` alone, the third a secret by another name."""
    desk = ReadingDesk(tmp_path)
    git(desk.work, "init", "-q")
    git(desk.work, "add", "-A")
    git(desk.work, "commit", "-qm", "all")
    (desk.work / "src" / "a.py").write_text("two\n")
    git(desk.work, "commit", "-qam", "code")
    return desk


@pytest.mark.parametrize(
    "line",
    [
        "git show",
        "git show HEAD",
        "git show --stat HEAD~1",
        "git log -p -1",
        "git log --oneline -5",
        "git log --stat",
        "git log -S two --oneline",
        "git log -p -- src",
        "git log -p -- . ':!web' ':!hidden'",
        "git log -p -- . ':(exclude)web/.env' ':^hidden'",
        "git show HEAD~1 -- docs",
        "git diff",
        "git diff HEAD~1",
        "git diff HEAD~1 HEAD",
        "git diff HEAD~1..HEAD -- src",
        "git diff --stat HEAD~1",
        "git diff -w -U5 --no-renames HEAD~1",
        "git show HEAD:src/a.py",
        "git show HEAD:web",
        "git show v1",
        "git blame src/a.py",
        "git grep -n two -- src",
        "git grep -c two HEAD -- src docs",
        "git log --name-only",
        "git show -s HEAD~1",
    ],
)
def test_what_may_be_read_is_shown_unasked(desk: ReadingDesk, line: str) -> None:
    git(desk.work, "tag", "-a", "v1", "-m", "x" * 300)
    verdict = desk.judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")
    assert verdict.looks_in == str(desk.work)


SECRET = "web/.env"
FORBIDDEN = "hidden/no.txt"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        *((f"git log -p{one}", FORBIDDEN) for one in ("", " --all", " -3", " --reverse", " -U9", " -- .")),
        ("git log -p -- web", SECRET),
        ("git log -p -- 'web/.en*'", SECRET),
        ("git log -p -- '*.env'", SECRET),
        ("git log -p -- ':(glob)**/.e*'", SECRET),
        ("git log -p -- ':(icase)WEB/.ENV'", SECRET),
        ("git log -p -- ':(top)web'", SECRET),
        ("git log -p -- ':/web'", SECRET),
        ("cd src && git log -p -- :/web", SECRET),
        ("cd src && git log -p", FORBIDDEN),
        ("git log --patch-with-stat -- web", SECRET),
        ("git log --unified=1 -- web", SECRET),
        ("git log --word-diff -- web", SECRET),
        ("git log --cc -p -- web", SECRET),
        ("git log -S x -p -- web", SECRET),
        ("git log -Gx -p -- web", SECRET),
        ("git log --graph --oneline -p -- web", SECRET),
        ("git log --stat -p -- web", SECRET),
        ("git log -p | head", FORBIDDEN),
        ("git show HEAD~1", FORBIDDEN),
        ("git show HEAD~1 --stat -p -- web", SECRET),
        ("git show HEAD~1 -- web/app.ts web/.env", SECRET),
        ("git show HEAD~1 -- 'w*'", SECRET),
        ("git show 'HEAD^{/all}' -- web", SECRET),
        ("git show HEAD:web/.env", SECRET),
        ("git show 'HEAD^{tree}:web/.env'", SECRET),
        ("git show ':/all:' HEAD:web/.env", SECRET),
        ("git show :web/.env", SECRET),
        ("git show -s HEAD:web/.env", SECRET),
        ("git show --stat HEAD:web/.env", SECRET),
        ("cd web && git show HEAD:./.env", ".env"),
        ("cd src && git show HEAD:hidden/no.txt", FORBIDDEN),
        ("git diff HEAD:web/.env HEAD:src/a.py", SECRET),
        ("git diff HEAD:web/.env..HEAD:src/a.py", SECRET),
        ("git diff HEAD:web HEAD:src", "HEAD:web"),
        ("git grep x HEAD", FORBIDDEN),
        ("git grep x HEAD~1 -- web", SECRET),
        ("git grep -e x -- ':(glob)**/.e*'", SECRET),
        ("cd src && git grep -h x HEAD -- :/web", SECRET),
        ("git grep --cached x -- web", SECRET),
        ("git blame web/.env", SECRET),
    ],
)
def test_what_may_not_be_read_is_not_shown_unasked(desk: ReadingDesk, line: str, why: str) -> None:
    verdict = desk.judged(line)
    assert verdict.decision == ("deny" if why == FORBIDDEN and "grep" not in line else verdict.decision)
    assert verdict.decision in ("ask", "deny")
    assert why in verdict.reason or SECRET in verdict.reason
    assert verdict.looks_in == ""


@pytest.mark.parametrize(
    "line",
    [
        "git stash list -p",
        "git stash show -p",
        "git cat-file -p HEAD:web/.env",
        "git cat-file blob 1234",
        "git archive HEAD",
        "git format-patch --stdout HEAD~1",
        "git range-diff HEAD~1 HEAD HEAD",
        "git difftool HEAD~1",
        "git diff --no-index web src",
        "git show {blob}",
        "git show tagged",
        "git diff {blob} HEAD:src/a.py",
        "git log -p --output=x",
    ],
)
def test_what_is_not_known_to_show_only_what_may_be_read_is_asked_about(desk: ReadingDesk, line: str) -> None:
    blob = git(desk.work, "rev-parse", "HEAD:web/.env")
    git(desk.work, "tag", "-a", "tagged", "-m", "x", blob)
    assert desk.judged(line.format(blob=blob)).decision == "ask"


def test_what_is_changed_and_what_is_staged_is_judged_too(desk: ReadingDesk) -> None:
    (desk.work / "web" / ".env").write_text("KEY=2\n")
    assert SECRET in desk.judged("git diff").reason
    assert desk.judged("git diff --cached").decision == "allow"
    git(desk.work, "add", "-A")
    assert desk.judged("git diff").decision == "allow"
    assert SECRET in desk.judged("git diff --staged").reason
    assert SECRET in desk.judged("git diff HEAD").reason
    assert desk.judged("git diff HEAD -- src").decision == "allow"


def test_the_old_name_of_a_file_counts_and_one_that_is_gone(desk: ReadingDesk) -> None:
    git(desk.work, "rm", "-rq", "--cached", "hidden")
    git(desk.work, "commit", "-qm", "less")
    git(desk.work, "mv", "web/.env", "web/plain.txt")
    git(desk.work, "commit", "-qm", "renamed")
    assert SECRET in desk.judged("git show").reason
    assert SECRET in desk.judged("git show -M HEAD").reason
    assert FORBIDDEN in desk.judged("git show HEAD~1").reason
    assert SECRET in desk.judged("git grep -h x HEAD~1 -- web").reason


def test_a_rule_for_git_does_not_open_secrets(desk: ReadingDesk) -> None:
    assert desk.judged("git log -p -- web", rule("git", "log")).decision == "ask"
    assert desk.judged("git log -p -- src", rule("git", "log")).decision == "allow"


def test_what_the_line_did_before_may_have_changed_what_git_shows(desk: ReadingDesk) -> None:
    add = rule("git", "add")
    assert desk.judged("git add -A && git diff --cached", add).decision == "ask"
    assert desk.judged("git add -A && git diff --cached --stat && git status", add).decision == "allow"


def test_outside_of_the_workspace_nothing_is_shown_unasked(desk: ReadingDesk) -> None:
    root = str(desk.work / "src")
    judged = lambda line: desk.judge(line, cwd=root, roots=(root,), rules=(), of_file=desk.of_file)  # noqa: E731
    assert judged("git show").decision == "allow"
    assert "outside the workspace" in judged("git show HEAD~1").reason
    assert judged("git show HEAD~1 -- .").decision == "allow"


def test_without_a_repository_git_compares_no_folders_unasked(tmp_path: Path) -> None:
    desk = ReadingDesk(tmp_path)
    for line in ("git diff web docs", "git diff -- web docs", "git diff web -- docs"):
        assert desk.judged(line).decision == "ask"
    assert desk.judged("git diff").decision == "allow"
    assert desk.judged("git diff HEAD").decision == "allow"


@pytest.mark.parametrize("option", ["--grep -w", "--grep --", "--author -w", "--since -w", "--before -p", "--skip -1"])
def test_the_value_of_an_option_is_no_option(desk: ReadingDesk, option: str) -> None:
    (desk.work / "web" / ".env").write_text("KEY=-w\n")
    git(desk.work, "-c", "user.name=-w", "commit", "-qam", "a -w b -- c")
    (desk.work / "src" / "a.py").write_text("three\n")
    git(desk.work, "commit", "-qam", "web -- three")
    shown = subprocess.run(
        ["git", "log", "-p", *option.split(), "--", "web"], cwd=desk.work, capture_output=True, timeout=PATIENCE
    )
    verdict = desk.judged(f"git log -p {option} -- web")
    assert verdict.decision == ("ask" if b"KEY" in shown.stdout else verdict.decision)


def test_options_that_take_the_next_word_are_known_to(desk: ReadingDesk) -> None:
    """Git itself says which: of others it names the next word, as an option that it does not know."""
    for option in (*(f"--{name}" for name in LOG_OPTIONS), *(f"-{letter}" for letter in "aAbBcgimpsuwzMUGLSn")):
        asked = subprocess.run(
            ["git", "log", option, "--zzz"], cwd=desk.work, capture_output=True, text=True, timeout=PATIENCE
        )
        takes = "--zzz" not in asked.stderr and "unrecognized" not in asked.stderr and option != "--follow"
        takes = takes or f"={'--zzz'}" in asked.stderr or "unknown date format" in asked.stderr
        assert takes <= (option.lstrip("-") in TAKES_NEXT), option


@pytest.mark.parametrize(
    "line", ["git diff src/a.py", "git diff HEAD src/a.py", "git log -p src/a.py", "git show HEAD src/a.py"]
)
def test_a_file_is_shown_that_is_named_without_dashes(desk: ReadingDesk, line: str) -> None:
    (desk.work / "src" / "a.py").write_text("three\n")
    verdict = desk.judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.parametrize(
    "line",
    [
        "git show HEAD:src/no.py",
        "git diff nope...HEAD",
        "git diff nope -- src",
        "git log -p nope",
        "git log -p --grep x nope..",
        "git show nope",
        "git grep x nope --",
    ],
)
def test_words_that_name_nothing_ask_nothing(desk: ReadingDesk, line: str) -> None:
    assert desk.judged(line).decision == "allow"


def test_a_search_that_finds_no_file_asks_nothing(desk: ReadingDesk) -> None:
    assert desk.judged("git grep two -- nowhere").decision == "allow"


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_repository_without_a_commit_asks_nothing(tmp_path: Path, is_staged: bool) -> None:
    desk = ReadingDesk(tmp_path)
    git(desk.work, "init", "-q")
    if is_staged:
        git(desk.work, "add", "src")
    lines = ("status", "log", "log -p -1", "log -p -- src", "show", "show HEAD", "diff", "diff HEAD", "grep two -- src")
    for line in (*lines, "diff src/a.py", "diff --cached", "show HEAD:src/a.py", "diff main -- src"):
        assert (line, desk.judged(f"git {line}").reason) == (line, "")


def test_without_a_commit_what_is_staged_and_what_another_branch_has_is_judged(desk: ReadingDesk) -> None:
    git(desk.work, "checkout", "-q", "--orphan", "new")
    assert SECRET in desk.judged("git log -p --all -- web").reason
    assert SECRET in desk.judged("git diff --cached -- web").reason
    assert SECRET in desk.judged("git grep --cached x -- web").reason
    assert desk.judged("git log -p").decision == "allow"


def test_where_git_takes_too_long_words_that_seem_to_name_nothing_are_no_reason_to_show(
    desk: ReadingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Repositories, "names", lambda *_arguments, **_more: None)
    for line in ("git log -p --author bob", "git log -p --all", "git log -p --grep nope src", "git diff HEAD~1"):
        assert desk.judged(line).decision == "ask"


@pytest.fixture
def renamed(desk: ReadingDesk) -> ReadingDesk:
    """In `main~1` a secret gets another name and more in it; `main` merges a branch that has one."""
    (desk.work / "web" / ".env").write_text("".join(f"LINE{at}=1\n" for at in range(20)) + "KEY=1\n")
    git(desk.work, "commit", "-qam", "more")
    git(desk.work, "checkout", "-qb", "side")
    git(desk.work, "mv", "web/.env", "docs/.env")
    git(desk.work, "commit", "-qam", "side")
    git(desk.work, "checkout", "-q", "main")
    plain = desk.work / "src" / "plain.txt"
    git(desk.work, "mv", "web/.env", "src/plain.txt")
    plain.write_text(plain.read_text().replace("KEY=1", "needle"))
    git(desk.work, "commit", "-qam", "renamed")
    git(desk.work, "rm", "-q", "src/plain.txt")
    git(desk.work, "commit", "-qm", "gone")
    git(desk.work, "merge", "-q", "--no-ff", "-s", "ours", "-m", "merged", "side")
    git(desk.work, "checkout", "side", "--", "docs/.env")
    git(desk.work, "commit", "-q", "--amend", "-m", "merged")
    return desk


@pytest.mark.parametrize(
    "line",
    [
        "git show --first-parent HEAD",
        "git show --first-parent -p HEAD -- docs",
        "git show -m",
        "git log -p --first-parent -1",
        "git log -p --diff-filter=R -- src web",
        "git log -p --diff-filter R -M -- src web",
        "git log -p -S needle -- src web",
        "git log -p -G needle --cc -- src web",
        "git log -p --follow -- src/plain.txt",
        "git show --diff-filter=R HEAD~2",
        "git show -S needle HEAD~2",
        "git diff --diff-filter=R HEAD~3 HEAD~2",
        "git diff -G needle HEAD~3..HEAD~2",
    ],
)
def test_what_is_shown_of_merges_and_with_renames_is_judged(renamed: ReadingDesk, line: str) -> None:
    shown = subprocess.run(line.split(), cwd=renamed.work, capture_output=True, text=True, timeout=PATIENCE).stdout
    assert "KEY=1" in shown
    assert renamed.judged(line).decision == "ask"


def test_what_is_chosen_by_content_is_judged_by_what_is_chosen(renamed: ReadingDesk) -> None:
    for line in ("git log -p -S two -- src", "git log -p --diff-filter=M -- src", "git show -S two HEAD~4"):
        assert renamed.judged(line).decision == "allow"
    assert renamed.judged("git log -p -S needle --no-renames -- src").decision == "allow"
