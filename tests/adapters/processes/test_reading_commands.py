"""Commands that only read run unasked on a real disk, and what would make them more than that is seen."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from gemini_companion.adapters.processes import folders, repositories
from gemini_companion.adapters.processes.judging import DiskJudge
from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.tools.shell.scan import scan
from gemini_companion.tools.shell.script import Command
from gemini_companion.tools.shell.verdict import LineVerdict, Sought
from gemini_companion.tools.tool import Touched
from tests.support.patience import PATIENCE
from tests.support.shell_lines import rule

FILES = ("src/a.py", "src/b.py", "src/deep/c.ts", "docs/x.md", "README.md", "web/.env", "web/app.ts", "hidden/no.txt")


class Desk:
    """A workspace without any rule, and a folder beside it."""

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.work = self.home / "work"
        for name in FILES:
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text("x\n")
        (self.home / "other").mkdir()
        (self.home / "other" / "key.txt").write_text("x\n")
        self.judge = DiskJudge(home=str(self.home), find_program=lambda name: f"/usr/bin/{name}")

    @staticmethod
    def of_file(touched: Touched) -> Decision:
        if "/hidden/" in touched.path:
            return "deny"
        return "allow" if touched.how == "read" and not touched.secret else "ask"

    def judged(self, line: str, *rules: ToolRule) -> LineVerdict:
        root = str(self.work)
        return self.judge(line, cwd=root, roots=(root,), rules=rules, of_file=self.of_file)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "grep -rn X src",
        "grep -rn X src docs README.md",
        "grep -r --include='*.py' X .",
        "grep -rn --include=*.py X",
        "grep -rn --include=*.py --include=*.md X .",
        "grep -rn --exclude-dir=web --exclude-dir=hidden X .",
        "cd src && grep -rn X .",
        "grep -rn X src | head -20 | wc -l",
        "grep -rlE 'a|b' src 2>/dev/null | sort",
        "rg X src",
        "rg -n X src",
        "rg -g '*.py' X",
        "rg --files src",
        "git grep -n X -- src",
        "find . -name '*.py' -printf '%p\\n'",
        "find src -newermt yesterday",
        "cat src/*.py",
        "wc -l src/*.py docs/*",
        "head -n 3 */*.md",
        "ls -la src/?.py *.md",
        "ls no*thing",
        "tree -L 2 src",
        "git status",
        "git diff --stat",
        "git log --oneline -5 -- src",
        "python3 --version",
        "git --version && node --version",
    ],
)
def test_a_command_that_only_reads_in_the_workspace_runs_unasked_without_any_rule(desk: Desk, line: str) -> None:
    verdict = desk.judged(line)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("grep -rn X .", "hidden/no.txt|web/.env"),
        ("grep -rn X web", "web/.env"),
        ("grep -rn X", "hidden/no.txt|web/.env"),
        ("grep X -rn -- web", "web/.env"),
        ("grep -rn -e --include=*.py web", "web/.env"),
        ("grep -rn --include=*.py --exclude=a.py X web", "web/.env"),
        ("grep -rn --include='.e*' X web", "web/.env"),
        ("grep -rn --include='[.]env' X web", "web/.env"),
        ("grep -rn X hidden", "hidden/no.txt"),
        ("grep -rn X hidden/../web", "web/.env"),
        ("grep -Rn X links", "link"),
        ("grep -rn X link", "outside"),
        ("grep -rn X ../other", "outside"),
        ("grep -f /etc/shadow src/a.py", "outside"),
        ("grep -rf /etc/shadow src", "outside"),
        ("rg X", "hidden/no.txt"),
        ("rg --sort path X", "hidden/no.txt"),
        ("rg X hidden", "hidden/no.txt"),
        ("rg -g '.env' X web", "web/.env"),
        ("rg --hidden X web", "--hidden"),
        ("rg -uuu X web", "-u"),
        ("rg -L X src", "-L"),
        ("rg -z X src", "-z"),
        ("rg --pre ./x X src", "--pre"),
        ("rg --pre=./x X src", "--pre"),
        ("rg --hostname-bin=./x X src", "--hostname-bin"),
        ("rg --search-zip X src", "--search-zip"),
        ("rg -f /etc/shadow src", "-f"),
        ("rg --files /etc", "outside"),
        ("rg --ignore-file=/etc/shadow X src", "--ignore-file"),
        ("git grep X", "hidden/no.txt|web/.env"),
        ("git grep -O./x X src", "-O"),
        ("git grep --no-index X /etc", "--no-index"),
        ("git -c core.pager=./x log", "git"),
        ("git diff --output=src/a.py", "--output"),
        ("git log --output src/a.py", "--output"),
        ("git log -L 1,5:web/.env", "web/.env"),
        ("git log -L1,5:web/.env", "web/.env"),
        ("git log -L :x:web/id_rsa", "web/id_rsa"),
        ("git show :0:web/id_rsa", "web/id_rsa"),
        ("ls -LR links", "links"),
        ("ls -L --recursive links", "links"),
        ("git diff --ext-diff", "--ext-diff"),
        ("git show --textconv", "--textconv"),
        ("find . -fprintf src/a.py x", "-fprintf"),
        ("find . -fprint src/a.py", "-fprint"),
        ("find src -delete", "-delete"),
        ("find src -exec cat {} +", "braces"),
        ("find src -execdir id ';'", "-execdir"),
        ("sort -o src/a.py src/b.py", "-o"),
        ("sort --output=src/a.py src/b.py", "--output"),
        ("sort --compress-program=./x src/a.py", "--compress-program"),
        ("sort -T /etc src/a.py", "-T"),
        ("tree -o src/a.py", "-o"),
        ("tree -R -H . src", "-R"),
        ("tree --fromfile /etc/passwd", "--fromfile"),
        ("uniq src/a.py src/b.py", "write"),
        ("cat .*", "pattern"),
        ("cat web/.e*", "pattern"),
        ("cat hidden/*", "forbids"),
        ("cat link/*", "outside"),
        ("cat ../*/key.txt", "outside"),
        ("cat /etc/pass*", "outside"),
        ("cat src/[ab].py", "pattern"),
        ("cd dashes && cat *", "pattern"),
        ("echo x >/dev/null; make; cat src/*.py", "pattern"),
        ("make | cat src/*.py", "pattern"),
        ("python3 --version x", "rule"),
        ("src/a.py --version", "name"),
        ("od /etc/shadow", "outside"),
        ("column -t /etc/passwd", "outside"),
        ("paste src/a.py ~/other/key.txt", "outside"),
    ],
)
def test_what_would_write_run_or_show_a_secret_is_still_asked_about(desk: Desk, line: str, why: str) -> None:
    (desk.work / "link").symlink_to(desk.home / "other")
    (desk.work / "links").mkdir()
    (desk.work / "links" / "out").symlink_to(desk.home / "other" / "key.txt")
    (desk.work / "dashes").mkdir()
    (desk.work / "dashes" / "--help").touch()
    verdict = desk.judged(line)
    assert verdict.decision in {"ask", "deny"}
    said = " ".join((verdict.reason, *(part.reason for part in verdict.parts)))
    assert any(word in said for word in why.split("|")), said


def test_a_rule_for_a_search_does_not_open_secrets_and_what_is_forbidden(desk: Desk) -> None:
    for line in ("grep -rn X web", "grep -rn X hidden", "grep -rn X ."):
        assert desk.judged(line, rule("grep"), rule("grep", "-rn")).decision != "allow", line


def test_a_folder_of_too_many_files_is_asked_about(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_BELOW", 2)
    assert "too many" in desk.judged("grep -rn X src").reason


def test_names_that_the_line_may_have_made_are_not_foreseen(desk: Desk) -> None:
    touch = rule("touch")
    assert desk.judged("touch src/new.py", touch).decision == "allow"
    assert desk.judged("touch src/new.py; cat src/*.py", touch).decision == "ask"
    assert desk.judged("cat src/*.py; touch src/new.py", touch).decision == "allow"


@pytest.mark.process
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_pattern_stands_for_the_same_names_as_in_bash(tmp_path: Path) -> None:
    chance = random.Random(11)
    signs = ["a", "b", ".", "*", "?", "/", "é", "'*'", "\\?", " ".join(("'a", "b'")), '"?"', "\\*", "c"]
    for name in ("a", "b", "ab", "a.b", ".a", "é", "a b", "*", "?", "a/b", "a/.b", "b/a/c", "b/ab", "c*/a", "ca"):
        path = tmp_path / name
        if path.is_file():
            path.unlink()
        for above in reversed(path.parents[: len(path.relative_to(tmp_path).parts) - 1]):
            if above.is_file():
                above.unlink()
            above.mkdir(exist_ok=True)
        if not path.exists():
            path.touch()
    lines: list[str] = []
    foreseen: list[tuple[str, ...]] = []
    while len(lines) < 1_500:
        word = "".join(chance.choices(signs, k=chance.randint(1, 5)))
        if word.startswith("/") or "//" in word:  # bash makes one of two, and means the same
            continue
        line = f"echo {word}"
        body = scan(line).body
        assert isinstance(body, Command)
        glob = body.words[1].glob
        names = folders.names_for(glob, str(tmp_path)) if glob else None
        if names is not None:
            lines.append(line)
            foreseen.append(names or (body.words[1].value,))
    script = "\n".join(line.replace("echo", "printf '%s\\1'", 1) + "; echo" for line in lines)
    run = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=True)
    got = [tuple(sorted(each.split("\1")[:-1])) for each in run.stdout.decode().split("\n")[:-1]]
    assert [(line, tuple(sorted(names))) for line, names in zip(lines, foreseen, strict=True)] == list(
        zip(lines, got, strict=True)
    )


# --- repositories of somebody else


HOSTILE = {
    "a diff driver": ("[diff]\n\texternal = ./x\n", "diff.external"),
    "a driver by name": ('[diff "evil"]\n\tcommand = ./x\n', "command"),
    "a text converter": ('[diff "evil"]\n\ttextconv = ./x\n', "textconv"),
    "a filter": ('[filter "evil"]\n\tclean = ./x\n', "clean"),
    "a filter that runs on": ('[filter "evil"]\n\tprocess = ./x\n', "process"),
    "a false filter of large files": ('[filter "lfs"]\n\tclean = ./x\n', "clean"),
    "signatures": ("[gpg]\n\tprogram = ./x\n[log]\n\tshowSignature = true\n", "gpg"),
    "another file of settings": ("[include]\n\tpath = ../evil\n", "include"),
    "one under a condition": ('[includeIf "gitdir:/"]\n\tpath = ../evil\n', "includeif"),
    "another folder": ("[core]\n\tworktree = /etc\n", "worktree"),
    "other attributes": ("[core]\n\tattributesFile = ../evil\n", "attributesFile"),
    "fetching what is missing": ("[extensions]\n\tpartialClone = evil\n", "partialClone"),
    "a promise of that": ('[remote "evil"]\n\tpromisor = true\n', "promisor"),
    "hooks elsewhere": ("[core]\n\thooksPath = hooks\n", "hook"),
    "a line behind a section": ('[diff "evil"] textconv = ./x\n', "textconv"),
    "capitals": ("[DIFF]\n\tEXTERNAL = ./x\n", "EXTERNAL"),
    "the old way of sub-sections": ("[diff.evil]\n\ttextconv = ./x\n", "textconv"),
    "a line that goes on": ('[diff "evil"]\n\ttext\\\nconv = ./x\n', "plain"),
    "a remark that ends as if it went on": ('[user]\n# \\\n[diff "evil"]\n\ttextconv = ./x\n', "plain"),
    "one behind a value": ('[user]\n\tname = a ; \\\n[diff "evil"]\n\ttextconv = ./x\n', "plain"),
    "a line end that is none": ('[diff "evil"]\n; \r[user]\n\ttextconv = ./x\n', "plain"),
    "hooks elsewhere, with a remark": ("[core]\n\thooksPath = hooks # none\n", "hooksPath"),
    "hooks elsewhere, with a quote within": ('[core]\n\thooksPath = ho"oks"\n', "hooksPath"),
    "diffs of submodules": ("[diff]\n\tsubmodule = diff\n", "submodule"),
    "what nobody knows": ("[newer]\n\truns = ./x\n", "newer"),
    "too much": ("#" * 300_000, "long"),
}


def repository(folder: Path, settings: str = "") -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=PATIENCE)
    with (folder / ".git" / "config").open("a", newline="") as file:
        file.write(settings)
    (folder / "hooks").mkdir(exist_ok=True)
    (folder / "hooks" / "post-index-change").write_text("#!/bin/sh\nid\n")


@pytest.mark.process
@pytest.mark.parametrize("name", HOSTILE)
def test_a_repository_that_has_git_run_something_is_asked_about(desk: Desk, name: str) -> None:
    settings, why = HOSTILE[name]
    repository(desk.work, settings)
    for line in ("git status", "git diff", "git log -p", "cd src && git show"):
        verdict = desk.judged(line)
        assert verdict.decision == "ask", line
        assert why in verdict.reason
        assert verdict.suggested is None or desk.judged(line, verdict.suggested).decision == "allow"


@pytest.mark.process
def test_the_hook_that_git_diff_runs_is_seen_and_submodules_are_looked_into(desk: Desk) -> None:
    repository(desk.work)
    assert desk.judged("git diff").decision == "allow"
    module = desk.work / ".git" / "modules" / "deep" / "module"
    module.mkdir(parents=True)
    (module / "config").write_text('[filter "evil"]\n\tclean = ./x\n')
    assert "clean" in desk.judged("git status").reason
    (module / "config").unlink()
    (desk.work / ".git" / "hooks" / "post-index-change").write_text("#!/bin/sh\nid\n")
    assert "post-index-change" in desk.judged("git diff").reason


def commit(folder: Path, *words: str) -> None:
    for line in (["add", "-A"], ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "x"], [*words]):
        subprocess.run(["git", *line], cwd=folder, check=True, capture_output=True, timeout=PATIENCE)


@pytest.mark.process
@pytest.mark.parametrize("index", [["--split-index"], ["--index-version", "4"], ["--refresh"]])
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_repository_within_that_no_one_declared_is_looked_into(
    desk: Desk, index: list[str], is_elsewhere: bool
) -> None:
    inner = desk.work / "docs" / "inner"
    for folder in (inner, desk.work):
        subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=PATIENCE)
    (inner / "a.txt").write_text("x\n")
    commit(inner, "status")
    assert desk.judged("git status").decision == "allow"
    commit(desk.work, "update-index", *index)
    assert desk.judged("git status").decision == "allow"
    if is_elsewhere:
        (inner / ".git").rename(desk.work / "web" / "kept")
        (inner / ".git").write_text("gitdir: ../../web/kept\n")
    settings = (desk.work / "web" / "kept" if is_elsewhere else inner / ".git") / "config"
    settings.write_text(settings.read_text() + '[filter "evil"]\n\tclean = ./x\n')
    assert "filter.evil.clean" in desk.judged("git status").reason


@pytest.mark.process
@pytest.mark.parametrize("settings", ["", "[core]\n\thooksPath = hooks\n"])
def test_hooks_of_a_worktree_are_those_of_its_repository(desk: Desk, settings: str) -> None:
    main = desk.home / "main"
    subprocess.run(["git", "init", "-q", str(main)], check=True, timeout=PATIENCE)
    (main / "a.txt").write_text("x\n")
    commit(main, "worktree", "add", "-q", str(desk.work / "tree"))
    assert desk.judged("cd tree && git diff").decision == "allow"
    with (main / ".git" / "config").open("a") as file:
        file.write(settings)
    hooks = desk.work / "tree" / "hooks" if settings else main / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text("#!/bin/sh\nid\n")
    assert "post-index-change" in desk.judged("cd tree && git diff").reason


@pytest.mark.process
def test_an_ordinary_repository_runs_nothing(desk: Desk) -> None:
    repository(
        desk.work,
        '[remote "origin"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tvscode-merge-base = origin/main\n'
        '[submodule "x"]\n\tactive = true\n\turl = ../x\n[user]\n\tname = A B\n\temail = a@b.example ; a note\n'
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\trequired = true\n'
        "[core]\n\thooksPath = .husky/_\n\tautocrlf = input\n[pull]\n\trebase\n# a note\n[alias]\n\tst = !id\n",
    )
    assert repositories.runs(str(desk.work / "src")) == ""
    assert desk.judged("git status && git diff && git log --oneline -3").decision == "allow"


@pytest.mark.process
def test_a_worktree_is_judged_by_the_repository_it_belongs_to(desk: Desk, tmp_path: Path) -> None:
    main, linked = tmp_path / "main", desk.work / "linked"
    repository(main)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main)]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, timeout=PATIENCE)
    subprocess.run([*git, "worktree", "add", "-q", str(linked)], check=True, timeout=PATIENCE, capture_output=True)
    assert repositories.runs(str(linked)) == ""
    with (main / ".git" / "config").open("a") as file:
        file.write("[diff]\n\texternal = ./x\n")
    assert repositories.runs(str(linked)) == "diff.external"


def test_what_is_sought_is_no_more_than_the_program_reads(tmp_path: Path) -> None:
    for name in ("a.py", "b.txt", ".c.py", "sub/d.py", "skip/e.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.py")
    found: list[str] = []

    def see(path: str) -> str:
        found.append(os.path.relpath(path, tmp_path))
        return ""

    sought = Sought(included=("*.py",), without_folders=("skip",), hidden=False)
    assert folders.trouble_below(str(tmp_path), sought, see) == ""
    assert sorted(found) == ["a.py", "sub/d.py"]
