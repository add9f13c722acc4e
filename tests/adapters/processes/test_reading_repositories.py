"""Git merely looks, and what a repository of somebody else has it run then is seen."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gemini_companion.adapters.processes import repositories
from tests.support.patience import PATIENCE
from tests.support.reading_desk import ReadingDesk


@pytest.fixture
def desk(tmp_path: Path) -> ReadingDesk:
    return ReadingDesk(tmp_path)


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
def test_a_repository_that_has_git_run_something_is_asked_about(desk: ReadingDesk, name: str) -> None:
    settings, why = HOSTILE[name]
    repository(desk.work, settings)
    for line in ("git status", "git diff", "git log -p", "cd src && git show"):
        verdict = desk.judged(line)
        assert verdict.decision == "ask", line
        assert why in verdict.reason
        assert verdict.suggested is None or desk.judged(line, verdict.suggested).decision == "allow"


@pytest.mark.process
def test_the_hook_that_git_diff_runs_is_seen_and_submodules_are_looked_into(desk: ReadingDesk) -> None:
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
    desk: ReadingDesk, index: list[str], is_elsewhere: bool
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
def test_hooks_of_a_worktree_are_those_of_its_repository(desk: ReadingDesk, settings: str) -> None:
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
def test_an_ordinary_repository_runs_nothing(desk: ReadingDesk) -> None:
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
def test_a_worktree_is_judged_by_the_repository_it_belongs_to(desk: ReadingDesk, tmp_path: Path) -> None:
    main, linked = tmp_path / "main", desk.work / "linked"
    repository(main)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main)]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, timeout=PATIENCE)
    subprocess.run([*git, "worktree", "add", "-q", str(linked)], check=True, timeout=PATIENCE, capture_output=True)
    assert repositories.runs(str(linked)) == ""
    with (main / ".git" / "config").open("a") as file:
        file.write("[diff]\n\texternal = ./x\n")
    assert repositories.runs(str(linked)) == "diff.external"
