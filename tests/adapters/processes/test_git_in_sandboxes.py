"""What a command in a sandbox can do to a repository: commit in it, in a worktree too, and nothing that runs later."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from gemini_companion.adapters.processes.git_folders import worktree_of
from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.tools.ports import CommandEnd, SandboxWish
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="needs bubblewrap"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

DEMANDED = SandboxWish(use="required")
AUTHOR = "-c user.name=A -c user.email=a@b.c"


class Bench:
    """A repository with one commit, and a worktree of it beside, which is the workspace."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.main, self.work = home / "main", home / "side"
        git(home, "init", "-q", str(self.main))
        (self.main / "a.txt").write_text("a\n")
        git(self.main, "add", "a.txt")
        git(self.main, *AUTHOR.split(), "commit", "-q", "-m", "first")
        git(self.main, "worktree", "add", "-q", str(self.work))
        self.runner = Runner({**os.environ, "HOME": str(home)}, folder=None)

    async def run(self, line: str, root: Path) -> CommandEnd:
        running = await self.runner.start(
            line,
            cwd=str(root),
            roots=(str(root),),
            limit_seconds=PATIENCE,
            sandbox=DEMANDED,
            on_output=lambda _: None,
        )
        return await asyncio.wait_for(running.wait(), PATIENCE)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(params=["below the home folder", "below /tmp, which a sandbox covers"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    home = tmp_path / "home"
    if request.param.startswith("below the home"):
        home = Path(mkdtemp(prefix="bench-", dir=os.path.expanduser("~"))).resolve()
    home.mkdir(exist_ok=True)
    bench = Bench(home)
    try:
        bench.runner.describe_sandbox(DEMANDED, (str(bench.work),))
    except ToolRefusal as none:
        shutil.rmtree(home)
        pytest.skip(none.message)
    yield bench
    await bench.runner.close()
    shutil.rmtree(home)


async def test_a_worktree_can_be_committed_in(bench: Bench) -> None:
    end = await bench.run(f"echo b > b.txt && git add b.txt && git {AUTHOR} commit -q -m second", bench.work)
    assert (end.exit_code, end.output) == (0, "")
    assert git(bench.main, "log", "--format=%s", "side") == "second\nfirst"


async def test_from_a_worktree_nothing_is_written_that_is_not_its_own_or_that_runs_later(bench: Bench) -> None:
    git(bench.main, "config", "extensions.worktreeConfig", "true")
    shared, own = bench.main / ".git", bench.main / ".git" / "worktrees" / "side"
    before = {name: (shared / name).read_bytes() for name in ("config", "HEAD", "index")}
    forged = [shared / "hooks" / "pre-commit", shared / "config.worktree", shared / "commondir"]
    taken = [shared / "config", shared / "HEAD", shared / "index", own / "commondir", own / "gitdir"]
    hidden = [own / "config.worktree", bench.work / ".git"]
    lines = [f"echo x > {path}" for path in (*forged, *taken, *hidden)]
    lines += [f"mv {path} {path}.away" for path in (*taken, shared / "hooks", own, shared)]
    end = await bench.run("; ".join(lines), bench.work)
    assert end.output.count("\n") == len(lines), end.output
    assert [path for path in forged if path.exists()] == []
    assert {name: (shared / name).read_bytes() for name in before} == before
    assert git(bench.work, "status", "--porcelain") == ""


async def test_a_workspace_that_names_a_folder_which_does_not_name_it_opens_nothing(bench: Bench) -> None:
    stranger = bench.home / "stranger"
    stranger.mkdir()
    own = bench.main / ".git" / "worktrees" / "side"
    (stranger / ".git").write_text(f"gitdir: {own}\n")
    assert worktree_of(str(bench.work)) is not None
    assert worktree_of(str(stranger)) is None
    await bench.run(f"echo x > {own}/HEAD; echo x > {bench.main}/.git/objects/made", stranger)
    assert (own / "HEAD").read_text() == "ref: refs/heads/side\n"
    assert not (bench.main / ".git" / "objects" / "made").exists()


@pytest.mark.parametrize("common", ["../../../../keys", "{home}/keys", "../..", "link"])
async def test_a_workspace_that_brings_both_sides_opens_no_other_folder(bench: Bench, common: str) -> None:
    keys, forged = bench.home / "keys", bench.home / "forged"
    for folder in (keys, forged / "repo" / "worktrees" / "x"):
        for name in ("objects", "refs"):
            (folder / name).mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
    own = forged / "repo" / "worktrees" / "x"
    (own / "link").symlink_to(keys)
    (own / "commondir").write_text(common.format(home=bench.home) + "\n")
    (own / "gitdir").write_text(f"{forged}/.git\n")
    (forged / ".git").write_text(f"gitdir: {own}\n")
    await bench.run(f"echo x > {keys}/objects/made; echo x > {keys}/made", forged)
    assert not list(keys.glob("**/made"))


async def test_the_folder_of_a_repository_cannot_be_moved_away_with_what_protects_it(bench: Bench) -> None:
    git(bench.main, "config", "extensions.worktreeConfig", "true")
    shutil.rmtree(bench.main / ".git" / "hooks")
    lines = [
        "mv .git .away",
        "echo x > .git/config.worktree",
        "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
        "mv .git/worktrees/side .git/worktrees/away",
        "echo x > .git/worktrees/side/commondir",
    ]
    end = await bench.run("; ".join(lines), bench.main)
    assert end.output.count("\n") == len(lines), end.output
    assert git(bench.work, "status", "--porcelain") == ""
    assert not (bench.main / ".git" / "hooks" / "pre-commit").exists()
    end = await bench.run(f"git {AUTHOR} commit -q --allow-empty -m third && git gc -q && git branch x", bench.main)
    assert (end.exit_code, end.output) == (0, "")


async def test_what_a_killed_daemon_was_writing_in_a_repository_goes_with_the_next_command(bench: Bench) -> None:
    no_process = 2**22 + 1  # more than any system has
    left = bench.main / ".git" / f"commondir.{no_process}.lock"
    others = [
        bench.main / ".git" / name for name in (f"commondir.{os.getpid()}.lock", "commondir.lock", "index.1.lock")
    ]
    for path in (left, *others):
        path.touch()
    await bench.run("true", bench.main)
    assert not left.exists()
    assert [path for path in others if not path.exists()] == []


async def test_a_file_that_leads_git_to_other_settings_goes_with_the_command_that_made_it(bench: Bench) -> None:
    await bench.run("mkdir evil; echo ../evil > .git/commondir; cp .git/config evil", bench.main)
    assert not (bench.main / ".git" / "commondir").exists()
    assert git(bench.main, "log", "--format=%s") == "first"


async def test_a_submodules_hooks_and_settings_cannot_be_written(bench: Bench) -> None:
    git(bench.main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(bench.work), "sub")
    module = bench.main / ".git" / "modules" / "sub"
    settings = (module / "config").read_bytes()
    lines = [
        "echo x > .git/modules/sub/config",
        "echo x > .git/modules/sub/hooks/made",
        "mv .git/modules/sub .git/modules/a",
    ]
    end = await bench.run("; ".join(lines), bench.main)
    assert end.output.count("\n") == len(lines), end.output
    assert ((module / "config").read_bytes(), (module / "hooks" / "made").exists()) == (settings, False)
    end = await bench.run(f"cd sub && git {AUTHOR} commit -q --allow-empty -m within", bench.main)
    assert (end.exit_code, end.output) == (0, "")


async def test_the_folders_that_repositories_are_in_cannot_be_moved_away(bench: Bench) -> None:
    nested = bench.main / "nested"
    git(bench.home, "init", "-q", str(nested))
    git(bench.main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(bench.work), "deep/sub")
    lines = [
        "mv nested away && mkdir nested && cp -r away/.git nested/.git && echo x > nested/.git/config",
        "mv .git/modules .git/away && cp -r .git/away .git/modules && echo x > .git/modules/deep/sub/config",
        "mv .git/worktrees .git/gone && cp -r .git/gone .git/worktrees && echo x > .git/worktrees/side/commondir",
        "mv deep away && mkdir -p deep/sub && echo 'gitdir: ../../evil' > deep/sub/.git",
        "echo 'gitdir: ../../evil' > deep/sub/.git",
    ]
    end = await bench.run("; ".join(lines), bench.main)
    assert end.output.count("\n") == len(lines), end.output
    for folder in (nested, bench.main / "deep" / "sub", bench.work):
        git(folder, "status", "--porcelain")


async def test_hooks_and_settings_that_a_repository_has_among_its_files_cannot_be_changed(bench: Bench) -> None:
    git(bench.main, "config", "core.hooksPath", "tools/hooks")
    git(bench.main, "config", "include.path", "../tools/settings")
    git(bench.main, "config", "--add", "include.path", "../missing")
    hook, settings = bench.main / "tools" / "hooks" / "pre-commit", bench.main / "tools" / "settings"
    hook.parent.mkdir(parents=True)
    hook.write_text("true\n")
    settings.write_text("")
    lines = [
        "echo x > tools/hooks/pre-commit",
        "echo x > tools/hooks/made",
        "echo x > tools/settings",
        "mv tools away",
    ]
    end = await bench.run("; ".join(lines), bench.main)
    assert end.output.count("\n") == len(lines), end.output
    assert (hook.read_text(), settings.read_text(), (hook.parent / "made").exists()) == ("true\n", "", False)
    end = await bench.run(f"echo x > tools/other && git add tools && git {AUTHOR} commit -q -m x", bench.main)
    assert end.exit_code == 0, end.output


async def test_hooks_that_are_not_there_yet_cannot_be_made(bench: Bench) -> None:
    git(bench.main, "config", "core.hooksPath", ".githooks")
    await bench.run("mkdir .githooks; echo x > .githooks/pre-commit", bench.main)
    assert not (bench.main / ".githooks").exists()


@pytest.mark.parametrize("name", [".vscode", ".git", ".git/config", ".git/hooks"])
async def test_a_link_that_leads_to_what_is_obeyed_is_there_again_after_a_command_that_replaced_it(
    bench: Bench, name: str
) -> None:
    link, real = bench.main / name, bench.main / "kept"
    if link.exists():
        link.rename(real)
    else:
        real.mkdir()
    link.symlink_to(real)
    line = f"echo x > kept/made; echo x > kept; mv kept away; rm {name} && mkdir -p {name} && echo x > {name}/made"
    await bench.run(line, bench.main)
    assert (link.readlink(), real.is_dir() and (real / "made").exists()) == (real, name == ".git")
    assert name == ".git" or not (bench.main / "away").exists()
    git(bench.main, "status", "--porcelain")
