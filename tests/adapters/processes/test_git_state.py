"""What git says of a folder is read without running anything that the repository brings along."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.processes.git_state import GitReader
from gemini_companion.adapters.processes.sandbox import Sandboxes
from gemini_companion.engine.prompts.git_state import GitState
from gemini_companion.tools.ports import SandboxWish

pytestmark = pytest.mark.process

BWRAP = (
    sys.platform == "linux"
    and Sandboxes(home="/nonexistent", private=(), environment=dict(os.environ), platform=sys.platform)
    .choose(SandboxWish(), ())
    .arguments
)
IDENTITY = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")


def git(folder: Path, *arguments: str) -> str:
    run = subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("one\n", "utf-8")
    (folder / "kept.txt").write_text("kept\n", "utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "The beginning\n\nBody.")
    return folder


async def state_of(folder: Path) -> GitState | None:
    found = await GitReader(os.environ).read([str(folder)])
    return found[0] if found else None


async def test_branch_changed_files_and_last_commits_are_read(work: Path):
    (work / "src" / "a.py").write_text("two\n", "utf-8")
    (work / "new file.txt").write_text("new\n", "utf-8")
    (work / "kept.txt").unlink()
    state = await state_of(work)
    assert state is not None
    assert (state.branch, state.is_partial) == ("main", False)
    assert {path: letters for letters, path in state.changed} == {
        str(work / "src" / "a.py"): " M",
        str(work / "kept.txt"): " D",
        str(work / "new file.txt"): "??",
    }
    assert [subject for _, subject in state.commits] == ["The beginning"]


async def test_of_a_folder_below_the_top_only_its_own_files_count(work: Path):
    (work / "src" / "a.py").write_text("two\n", "utf-8")
    (work / "other.txt").write_text("x", "utf-8")
    state = await state_of(work / "src")
    assert state is not None
    assert state.changed == ((" M", str(work / "src" / "a.py")),)


async def test_what_is_ahead_of_its_upstream_is_counted(work: Path, tmp_path: Path):
    git(tmp_path, "clone", "-q", "work", "copy")
    copy = tmp_path / "copy"
    git(copy, "commit", "-q", "--allow-empty", "-m", "More")
    state = await state_of(copy)
    assert state is not None
    assert (state.upstream, state.ahead, state.behind) == ("origin/main", 1, 0)


async def test_a_repository_without_commits_and_one_on_no_branch_are_read(work: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    fresh = await state_of(tmp_path / "empty")
    assert fresh is not None
    assert (fresh.branch, fresh.commits, fresh.is_partial) == ("main", (), False)
    commit = git(work, "rev-parse", "HEAD")
    git(work, "checkout", "-q", "--detach")
    detached = await state_of(work)
    assert detached is not None
    assert detached.branch == f"detached at {commit[:7]}"


async def test_outside_of_a_repository_there_is_nothing(tmp_path: Path):
    assert await state_of(tmp_path) is None
    assert await state_of(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    "settings",
    [
        "[core]\n\tfsmonitor = {program}",
        "[core]\n\tpager = {program}",
        "[core]\n\thooksPath = {hooks}",
        '[filter "trap"]\n\tclean = {program}\n\tsmudge = {program}\n\tprocess = {program}',
        "[diff]\n\texternal = {program}",
        '[diff "trap"]\n\ttextconv = {program}',
        "[gpg]\n\tprogram = {program}\n[log]\n\tshowSignature = true",
        "[include]\n\tpath = {included}",
        "[alias]\n\tstatus = !{program}\n\tlog = !{program}",
    ],
)
async def test_nothing_of_a_repositorys_own_runs(work: Path, tmp_path: Path, settings: str):
    canary = tmp_path / "canary"
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {canary}\ncat\n", "utf-8")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / name).symlink_to(program)
    included = tmp_path / "included"
    included.write_text(f"[core]\n\tfsmonitor = {program}\n", "utf-8")
    with (work / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write(settings.format(program=program, hooks=hooks, included=included) + "\n")
    (work / ".gitattributes").write_text("*.py filter=trap diff=trap\n", "utf-8")
    (work / "src" / "a.py").write_text("six\n", "utf-8")  # as long as before: git has to look into it
    state = await state_of(work)
    assert not canary.exists()
    assert state is not None
    assert state.branch == "main"


@pytest.mark.parametrize("spelled", ["gitdir: g ", "gitdir:  g", "gitdir: g\t", "gitdir: g\u00a0", "gitdir: g\f"])
async def test_however_a_file_spells_where_the_repository_is_nothing_of_it_runs(
    work: Path, tmp_path: Path, spelled: str
):
    canary = tmp_path / "canary"
    (work / ".gitattributes").write_text("* filter=x\n", "utf-8")
    shutil.copytree(work / ".git", work / "g")
    (work / ".git").rename(work / spelled.removeprefix("gitdir: "))
    with (work / spelled.removeprefix("gitdir: ") / "config").open("a", encoding="utf-8") as file:
        file.write(f'[filter "x"]\n\tclean = "touch {canary}; cat"\n')
    (work / ".git").write_text(spelled, "utf-8")
    (work / "src" / "a.py").write_text("six\n", "utf-8")
    state = await state_of(work)
    assert not canary.exists()
    assert state is not None
    assert state.is_partial


async def test_a_hook_in_its_place_does_not_run(work: Path, tmp_path: Path):
    canary = tmp_path / "canary"
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        hook = work / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho ran >> {canary}\n", "utf-8")
        hook.chmod(0o755)
    assert await state_of(work) is not None
    assert not canary.exists()


@pytest.mark.skipif(not BWRAP, reason="there is no bubblewrap that works")
async def test_git_looks_in_a_sandbox_where_there_is_one(work: Path, tmp_path: Path):
    spied, seen = tmp_path / "bin", tmp_path / "seen"
    spied.mkdir()
    (spied / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *" status "*|*" log "*) touch "{work}/written" "{seen}"; ls "{tmp_path}" ;; esac\n'
        f'exec {shutil.which("git")} "$@"\n',
        "utf-8",
    )
    (spied / "git").chmod(0o755)
    (tmp_path / "own").mkdir()
    environment = {**os.environ, "PATH": f"{spied}:{os.environ['PATH']}", "HOME": str(tmp_path / "own")}
    reader = GitReader(environment)
    await reader.read([str(work)])
    assert not (work / "written").exists()
    assert not seen.exists()
    assert (await reader.read([str(work)]))[0].branch == "main"


async def test_a_repository_of_another_owner_is_left_alone(work: Path, monkeypatch: pytest.MonkeyPatch):
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert await state_of(work) is None


@pytest.mark.parametrize("head", ["", "ref: refs/heads/a b\nc", "nonsense", "ref: ../../etc/passwd", "\0" * 40])
async def test_a_broken_head_is_no_branch(work: Path, head: str):
    (work / ".git" / "HEAD").write_text(head, "utf-8")
    assert await state_of(work) is None
