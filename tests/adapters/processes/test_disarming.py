"""What a command in a sandbox made of git runs nothing when the person's own git comes by: real git, bash, bubblewrap."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from gemini_companion.adapters.files.folder import Folder
from gemini_companion.adapters.processes.disarming import Disarmer, Todo
from gemini_companion.adapters.processes.git_folders import MOST_HELD, Walks, is_in, meant_by, open_up, repositories_in
from gemini_companion.adapters.processes.repositories import Repositories, may_run
from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.adapters.processes.sandbox import Held, Sandboxes
from gemini_companion.adapters.processes.unfinished import Book, Unfinished, mark_of
from gemini_companion.tools.ports import CommandEnd, RunningCommand, SandboxWish
from gemini_companion.tools.shell.run_shell_command import output_of
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="needs bubblewrap"),
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]

DEMANDED = SandboxWish(use="required", chat="a chat")
FAKE = "mkdir -p {0}/objects {0}/refs; echo 'ref: refs/heads/main' > {0}/HEAD; "
MONITOR = "printf '[core]\\n\\tfsmonitor = {evil}\\n' >"
HOOK = "printf '#!/bin/sh\\n{evil}\\n' > {0}; chmod +x {0}; "


class Desk:
    """A repository that is the workspace, a program that nobody wants to run, and the person's own git."""

    def __init__(self, home: Path) -> None:
        self.home, self.work = home, home / "work"
        self.work.mkdir()
        self.ran, self.evil = home / "ran", self.work / "evil"
        (home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@b.c\n[init]\n\tdefaultBranch = main\n")
        self.evil.write_text(f"#!/bin/sh\necho x >> {self.ran}\n")
        self.evil.chmod(0o755)
        (self.work / ".gitignore").write_text("build/\n")
        self.git(self.work, "init", "-q")
        self.git(self.work, "add", ".gitignore")
        self.git(self.work, "commit", "-q", "-m", "first")
        self.sandboxes = Sandboxes.of({**os.environ, "HOME": str(home)})
        self.runner = Runner({**os.environ, "HOME": str(home)}, self.sandboxes, folder=None)

    def git(self, folder: Path, *words: str, is_checked: bool = True) -> str:
        environment = {**os.environ, "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=folder, env=environment, check=is_checked, capture_output=True, text=True
        )
        return done.stdout.strip()

    def shell(self, words: list[str]) -> None:
        subprocess.run(words, cwd=self.work, check=True)

    async def start(self, line: str, root: Path | None = None) -> RunningCommand:
        return await self.runner.start(
            line,
            cwd=str(root or self.work),
            roots=(str(root or self.work),),
            limit_seconds=PATIENCE,
            sandbox=DEMANDED,
            on_output=lambda _: None,
        )

    async def run(self, line: str, root: Path | None = None) -> CommandEnd:
        return await asyncio.wait_for((await self.start(line, root)).wait(), PATIENCE)

    def work_as_the_person_does(self) -> None:
        """What shells, editors and people ask git, in every folder."""
        for folder in (
            self.work,
            *(path for path in self.work.rglob("*") if path.is_dir() and ".git" not in path.parts),
        ):
            for words in (
                "status",
                "diff HEAD",
                "log -1",
                "add -A .",
                "commit -q --allow-empty -m x",
                "gc --auto",
                "st",
            ):
                self.git(folder, *words.split(), is_checked=False)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    desk = Desk(Path(mkdtemp(prefix="desk-", dir=os.path.expanduser("~"))).resolve())
    try:
        desk.runner.describe_sandbox(DEMANDED, (str(desk.work),))
    except ToolRefusal as none:
        shutil.rmtree(desk.home)
        pytest.skip(none.message)
    yield desk
    await desk.runner.close()
    desk.shell(["chmod", "-R", "u+rwx", str(desk.home)])  # nobody but root deletes what is in others
    shutil.rmtree(desk.home)


ATTACKS = {
    "git init and a setting": "git init -q sub; git -C sub config core.fsmonitor {evil}",
    "deep below": "mkdir -p a/b/c; git init -q a/b/c; git -C a/b/c config core.fsmonitor {evil}",
    "plain files": FAKE.format("a/b/.git") + MONITOR + " a/b/.git/config",
    "a folder that looks like a repository": FAKE.format("x") + "git config -f x/config alias.st '!{evil}'",
    "a pointer": FAKE.format("store") + MONITOR + " store/config; mkdir y; echo 'gitdir: ../store' > y/.git",
    "a pointer with a blank and a CR": FAKE.format("'st '")
    + MONITOR
    + " 'st /config'; mkdir y; printf 'gitdir: ../st \\r\\n' > y/.git",
    "a pointer into .git": FAKE.format(".git/evil")
    + MONITOR
    + " .git/evil/config; mkdir y; echo 'gitdir: ../.git/evil' > y/.git",
    "a new submodule": FAKE.format(".git/modules/m")
    + MONITOR
    + " .git/modules/m/config; mkdir m; echo 'gitdir: ../.git/modules/m' > m/.git",
    "a link": FAKE.format("store") + MONITOR + " store/config; mkdir y; ln -s ../store y/.git",
    "settings in a shared folder": FAKE.format("common")
    + MONITOR
    + " common/config; mkdir -p y/.git; cp common/HEAD y/.git; echo ../../common > y/.git/commondir",
    "a shared folder of one that looks like a repository": FAKE.format("common")
    + "git config -f common/config alias.st '!{evil}'; mkdir z; cp common/HEAD z; echo ../common > z/commondir",
    "settings that are a link": "git init -q sub; "
    + MONITOR
    + " settings; cat sub/.git/config >> settings; ln -sf ../../settings sub/.git/config",
    "settings with another name": "git init -q sub; ln sub/.git/config settings; "
    + "git config -f settings core.fsmonitor {evil}; ln -f settings sub/.git/config",
    "settings of a worktree": "git init -q sub; git -C sub config extensions.worktreeConfig true; "
    + MONITOR
    + " sub/.git/config.worktree",
    "included settings": "git init -q sub; " + MONITOR + " settings; git -C sub config include.path ../../settings",
    "settings with a condition": "git init -q sub; "
    + MONITOR
    + " settings; git -C sub config includeIf.gitdir:**.path ../../settings",
    "settings that cannot be read": "git init -q sub; git -C sub config core.fsmonitor {evil}; echo '[x' >> sub/.git/config",
    "a hook": "git init -q sub; " + HOOK.replace("{0}", "sub/.git/hooks/post-index-change"),
    "a hook before there is a repository": "mkdir -p sub/.git/hooks; "
    + HOOK.replace("{0}", "sub/.git/hooks/pre-commit")
    + "git init -q sub",
    "a hook that is a link": "git init -q sub; ln -s ../../../evil sub/.git/hooks/pre-commit",
    "hooks that are a link": "git init -q sub; mkdir h; cp evil h/pre-commit; rm -r sub/.git/hooks; ln -s ../../h sub/.git/hooks",
    "hooks elsewhere": "git init -q sub; mkdir h; cp evil h/pre-commit; git -C sub config core.hooksPath ../h",
    "a filter": "git init -q sub; echo '* filter=x' > sub/.gitattributes; git -C sub config filter.x.clean {evil}",
    "a name for a command": "git init -q sub; git -C sub config alias.st '!{evil}'",
    "a pager, a collector, a differ": "git init -q sub; touch sub/x; git -C sub add x;"
    " git -C sub -c user.name=A -c user.email=a@b.c commit -q -m x; echo x > sub/x; git -C sub config core.pager {evil};"
    " git -C sub config gc.recentObjectsHook {evil}; git -C sub config gc.auto 1; git -C sub config diff.external {evil}",
    "a folder that cannot be listed": "mkdir -p d; " + FAKE.format("d/.git") + MONITOR + " d/.git/config; chmod 111 d",
    "a repository that cannot be listed": FAKE.format("d/.git") + MONITOR + " d/.git/config; chmod 111 d/.git",
    "hooks that cannot be listed": "git init -q sub; "
    + HOOK.replace("{0}", "sub/.git/hooks/pre-commit")
    + "chmod 111 sub/.git/hooks",
    "a repository among the objects, and a link to it": "git init -q .git/objects/src; ln -s .git/objects/src src;"
    " git -C src config core.fsmonitor {evil}",
    "a repository kept among the objects": "git init -q --separate-git-dir .git/objects/x src;"
    " git -C src config core.fsmonitor {evil}",
    "a folder among the objects that looks like a repository": FAKE.format(".git/objects/x")
    + MONITOR
    + " .git/objects/x/config; ln -s .git/objects/x x",
    "a hook run by name of another": "git init -q sub; mkdir -p sub/h/_; printf '#!/bin/sh\\n. \"$(dirname $0)/../x\"\\n'"
    " > sub/h/_/pre-commit; chmod +x sub/h/_/pre-commit; cp evil sub/h/x; git -C sub config core.hooksPath h/_",
    "beside settings with a NUL": "git init -q sub; git -C sub config core.fsmonitor {evil}; git init -q x;"
    " printf '[core]\\n\\tworktree = a\\0b\\n[x]\\n\\tpath = ~a\\0b\\n' >> x/.git/config",
    "beside a thousand links that lead to each other": "git init -q sub; git -C sub config core.fsmonitor {evil};"
    " git init -q x; mkdir y; ln -s ../l1200 y/.git; echo ../../l1200 > x/.git/commondir;"
    f' {sys.executable} -c \'import os; [os.symlink(f"l{{n}}", f"l{{n + 1}}") for n in range(1200)]\'',
    "settings that cannot be read by us": FAKE.format("d/.git") + MONITOR + " d/.git/config; chmod 555 d/.git",
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_what_a_command_made_runs_nothing_when_the_persons_git_comes_by(desk: Desk, name: str) -> None:
    end = await desk.run(ATTACKS[name].replace("{evil}", str(desk.evil)))
    assert end.disarmed, end.output
    desk.work_as_the_person_does()
    assert not desk.ran.exists(), end.disarmed


@pytest.mark.parametrize("folder", ["build/x", "made"])
@pytest.mark.parametrize("what", ["config core.fsmonitor {evil}", "hook", "shared"])
async def test_a_repository_that_commands_may_delete_runs_nothing_that_a_command_changed(
    desk: Desk, folder: str, what: str
) -> None:
    """One in an ignored folder, and one that an earlier command made."""
    if folder == "made":
        await desk.run("git init -q made")
    else:
        desk.git(desk.work, "init", "-q", folder)
    line = {
        "hook": HOOK.replace("{0}", f"{folder}/.git/hooks/pre-commit"),
        "shared": FAKE.format("common")
        + MONITOR
        + f" common/config; echo {desk.work}/common > {folder}/.git/commondir",
    }.get(what, f"git -C {folder} {what}")
    end = await desk.run(line.replace("{evil}", str(desk.evil)))
    assert end.disarmed, end.output
    desk.work_as_the_person_does()
    assert not desk.ran.exists()
    assert (await desk.run(f"rm -rf {folder}")).exit_code == 0


@pytest.mark.parametrize("begins_before", [True, False])
async def test_a_worktree_that_the_person_takes_elsewhere_while_a_command_runs_stays_known(
    desk: Desk, begins_before: bool
) -> None:
    away, new = desk.home / "away", desk.home / "new"
    running = await desk.start("sleep 600") if begins_before else None
    desk.git(desk.work, "worktree", "add", "-q", str(away))
    running = running or await desk.start("sleep 600")
    assert (await desk.run("true")).disarmed == ()
    away.rename(new)
    assert ((await desk.run("true")).disarmed, (await running.stop()).disarmed) == ((), ())
    desk.git(new, "worktree", "repair")
    assert str(new) in desk.git(desk.work, "worktree", "list")


async def test_a_worktree_leads_nowhere_else_by_another_link_on_its_way(desk: Desk) -> None:
    for name in ("other", "away"):
        (desk.home / name).mkdir()
    await desk.run("git clone -q . sub")
    desk.git(desk.work / "sub", "worktree", "add", "-q", str(desk.home / "away"))
    lines = ("ln -s {0}/away d; echo $PWD/d/.git > sub/.git/worktrees/away/gitdir", "ln -sfn {0}/other d")
    told = [(await desk.run(line.format(desk.home))).disarmed for line in lines]
    assert [["gitdir is .gitdir.disarmed" in line for line in lines] for lines in told] == [[], [True]]


@pytest.mark.parametrize("tree", [".", "side", "m"])
async def test_git_copies_no_file_that_a_link_of_a_commands_leads_to(desk: Desk, tree: str) -> None:
    """It keeps, as resolved, what a list of files with conflicts names."""
    desk.git(desk.work, "worktree", "add", "-q", "side")
    desk.git(desk.work, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(desk.work), "m")
    desk.git(desk.work, "commit", "-q", "-m", "m")
    (desk.home / "key").write_text("mine")
    git = Path(desk.git(desk.work / tree, "rev-parse", "--absolute-git-dir"))
    shared = Path(desk.git(desk.work / tree, "rev-parse", "--path-format=absolute", "--git-common-dir"))
    line = f"n=$(printf %040d 1); mkdir -p {shared}/rr-cache/$n; echo x > {shared}/rr-cache/$n/preimage;"
    line += f' ln -s {desk.home} {tree}/d; printf "$n\\td/key\\0" > {git}/MERGE_RR'
    assert ["MERGE_RR is .MERGE_RR.disarmed" in one for one in (await desk.run(line)).disarmed] == [True]
    desk.git(desk.work / tree, "commit", "-q", "--allow-empty", "-m", "x")
    assert not list(shared.glob("rr-cache/*/postimage"))


async def test_a_list_of_conflicts_stays(desk: Desk) -> None:
    desk.git(desk.work, "config", "rerere.enabled", "true")
    line = "for b in x y; do git switch -q -c $b main; mkdir a; echo $b > a/f; git add a; git commit -q -m $b; done;"
    end = await desk.run(f"export GIT_AUTHOR_NAME=A EMAIL=a@b.c GIT_COMMITTER_NAME=A; {line} git merge -q x")
    assert ((desk.work / ".git" / "MERGE_RR").read_bytes()[40:], end.disarmed) == (b"\ta/f\0", ()), end.output


DIVERGED = (
    "git init -q sub; cd sub; export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a;"
    " for b in side main; do git switch -q --orphan $b; git commit -q --allow-empty -m 0; echo $b > $b; git add $b;"
    " git commit -q -m $b; done; mkdir git-merge-x; cp {evil} git-merge-x/evil; echo more >> main; "
)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("pull.twohead x/evil", "rebase --autostash side"),
        ("pull.twohead 'x/evil ort'", "cherry-pick side"),
        ("diff.tool {up}{evil}", "-c merge.tool=t -c difftool.t.cmd=true difftool -y"),
        ("diff.guitool {up}{evil}", "-c merge.tool=t -c difftool.t.cmd=true difftool --gui -y"),
    ],
)
async def test_no_tool_and_no_way_of_merging_is_a_file_of_a_commands(desk: Desk, setting: str, words: str) -> None:
    """Git takes the name of either for a part of a path."""
    line = f"{DIVERGED}git config {setting}".format(evil=desk.evil, up="../" * 20)
    end = await desk.run(line)
    assert [setting.split()[0] in line for line in end.disarmed] == [True], end.output
    desk.git(desk.work / "sub", *words.split(), is_checked=False)
    assert not desk.ran.exists()
    end = await desk.run("cd sub; git config pull.twohead 'recursive ort'; git config diff.tool vimdiff2")
    assert end.disarmed == ()


@pytest.mark.parametrize(
    ("key", "value", "is_taken"),
    [
        (b"extensions.refstorage", b"files:///home/a/x/.git", True),
        (b"extensions.refstorage", b"reftable", False),
        (b"gc.repackfilterto", b"/home/a/x", True),
        (b"gc.repackfilter", b"blob:none", False),
    ],
)
def test_no_setting_has_newer_versions_of_git_write_elsewhere(key: bytes, value: bytes, is_taken: bool) -> None:
    assert may_run(key, value) == is_taken


async def test_a_link_is_not_put_back_where_a_folder_of_its_path_leads_out_of_the_workspace_now(desk: Desk) -> None:
    theirs = desk.home / ".shellrc"
    theirs.write_text("# mine\n")
    (desk.work / "sub").mkdir()
    (desk.work / "sub" / ".shellrc").symlink_to(desk.work / "evil.sh")
    with (desk.work / ".git" / "config").open("a") as settings:
        settings.write('[submodule "sub"]\n\tpath = ../sub/.shellrc\n')
    await desk.run(f"echo 'echo evil' > evil.sh; mv sub moved; ln -s {desk.home} sub")
    assert (theirs.is_symlink(), theirs.read_text()) == (False, "# mine\n")
    assert not list(desk.home.glob("*.replaced-*"))


def test_a_folder_is_not_opened_up_where_something_else_stands_in_its_place(tmp_path: Path) -> None:
    key, folder = tmp_path / "key", tmp_path / "folder"
    key.write_text("k")
    key.chmod(0o400)
    folder.mkdir()
    folder.chmod(0o077)
    seen = folder.lstat()
    open_up(str(folder), seen)
    assert stat.S_IMODE(folder.lstat().st_mode) == 0o577, "it can be listed, which is all that is needed"
    open_up(str(folder), folder.lstat(), stat.S_IRWXU)
    assert stat.S_IMODE(folder.lstat().st_mode) == 0o777
    folder.rmdir()
    for other in (lambda: folder.symlink_to(key), lambda: (folder.unlink(), folder.symlink_to(tmp_path))):
        other()
        before = [path.stat().st_mode for path in (key, tmp_path)]
        open_up(str(folder), seen)
        assert [path.stat().st_mode for path in (key, tmp_path)] == before


@pytest.mark.parametrize("name", [".vscode", ".git", ".git/config", ".git/hooks"])
async def test_a_link_to_what_is_obeyed_stays_while_a_command_runs(desk: Desk, name: str) -> None:
    link, real = desk.work / name, desk.work / "kept"
    if link.exists():
        link.rename(real)
    else:
        real.mkdir()
    link.symlink_to(real)
    lines = [f"rm {name}", f"mv {name} away", f"ln -sfn evil {name}"]
    end = await desk.run(f"{'; '.join(lines)}; readlink {name}")
    assert end.output.splitlines()[-1] == str(real), end.output
    assert end.output.count("busy") == len(lines), end.output
    assert not list(desk.work.glob("*.replaced-*"))


async def test_what_the_person_set_stays_through_commands(desk: Desk) -> None:
    inner = desk.work / "build" / "x"
    desk.git(desk.work, "init", "-q", str(inner))
    desk.git(inner, "config", "core.fsmonitor", "/bin/true")
    hook = inner / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    end = await desk.run("git -C build/x config core.abbrev 12; git -C build/x config core.pager less")
    assert [("core.pager" in line, "fsmonitor" in line) for line in end.disarmed] == [(True, False)]
    assert desk.git(inner, "config", "core.fsmonitor") == "/bin/true"
    assert desk.git(inner, "config", "core.abbrev") == "12"
    assert hook.exists()


async def test_what_a_command_made_is_disarmed_whatever_names_it_took_and_on_a_full_disk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "the disk is full")

    monkeypatch.setattr(Folder, "open_new", full)
    line = "git init -q sub; git -C sub config core.fsmonitor {evil}; cd sub/.git; mkdir config.disarmed{{,{{1..200}}}}"
    assert (await desk.run(line.format(evil=desk.evil))).disarmed
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_the_result_says_how_the_person_has_it_as_it_was(desk: Desk) -> None:
    hook = HOOK.replace("{0}", "sub/.git/hooks/pre-commit").replace("{evil}", str(desk.evil))
    end = await desk.run(f"git init -q sub; git -C sub config alias.lg 'log --oneline'; {hook}")
    told = output_of(end, was_stopped=False)
    assert "disarmed" in told.summary
    assert told.output.endswith("[Exit code: 0]")
    for line in end.disarmed:
        assert line in told.output
        words = shlex.split(line.partition("in the workspace folder: ")[2])
        desk.shell(words)
    assert desk.git(desk.work / "sub", "config", "alias.lg") == "log --oneline"
    desk.git(desk.work / "sub", "commit", "-q", "--allow-empty", "-m", "x")
    assert desk.ran.exists(), "the hook is the person's now"
    desk.ran.unlink()
    assert (await desk.run("true")).disarmed == ()


async def test_the_line_by_which_the_person_has_it_again_takes_no_name_for_an_option(desk: Desk) -> None:
    theirs = desk.home / "theirs"
    theirs.mkdir()
    option = f"--target-directory={theirs}"
    line = f"mkdir -p ./--backup; git init -q ./--backup; ln -s evil ./--backup/.git/hooks/pre-push; ln -s -- {option} .git/x"
    end = await desk.run(line)
    assert len(end.disarmed) == 2, end.disarmed
    for one in end.disarmed:
        desk.shell(shlex.split(one.partition("in the workspace folder: ")[2]))
    assert os.readlink(desk.work / ".git" / "x") == option
    assert (desk.work / "--backup" / ".git" / "hooks" / "pre-push").is_symlink()
    assert list(theirs.iterdir()) == []


async def test_a_command_in_the_background_is_looked_at_when_it_ends(desk: Desk) -> None:
    running = await desk.start(f"git init -q sub; git -C sub config core.fsmonitor {desk.evil}; echo ready; sleep 600")
    async with asyncio.timeout(PATIENCE):
        while "ready" not in running.latest():
            await asyncio.sleep(0)
    end = await running.stop()
    assert end.disarmed
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_what_a_command_in_the_background_makes_is_looked_at_by_the_next_one(desk: Desk) -> None:
    """Before the next one begins, since its sandbox would hold fast what is there, and when it ends."""
    line = f"git init -q {{0}}; git -C {{0}} config core.fsmonitor {desk.evil}; touch {{0}}/done"
    running = await desk.start(
        f"{line.format('a')}; while [ ! -e go ]; do sleep 0.02; done; {line.format('b')}; sleep 600"
    )
    await _is_there(desk.work / "a" / "done")
    end = await desk.run("touch go; while [ ! -e b/done ]; do sleep 0.02; done")
    assert [["a/.git" in line, "b/.git" in line] for line in end.disarmed] == [[True, False], [False, True]]
    desk.work_as_the_person_does()
    assert not desk.ran.exists()
    assert (await running.stop()).disarmed == ()


async def test_what_a_command_in_the_background_makes_is_looked_at_while_it_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemini_companion.adapters.processes.running.LOOK_AGAIN", 0.05)
    running = await desk.start(f"git init -q a; git -C a config core.fsmonitor {desk.evil}; echo ready; sleep 600")
    async with asyncio.timeout(PATIENCE):
        while "ready" not in running.latest():
            await asyncio.sleep(0)
        while "evil" in (desk.work / "a" / ".git" / "config").read_text():
            await asyncio.sleep(0)
    assert "core.fsmonitor" in (await running.stop()).disarmed[0]


async def test_what_a_command_writes_again_while_it_is_disarmed_runs_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must not be taken for what was judged."""
    disarm, config = Disarmer.disarm, desk.work / "sub" / ".git" / "config"

    def disarmed(self: Disarmer, *arguments: Any) -> Any:
        done = disarm(self, *arguments)
        shutil.copy(desk.work / "bad", config)
        return done

    line = "git init -q sub; cp sub/.git/config bad; git config -f bad core.fsmonitor {evil}; cp bad sub/.git/config; "
    running = await desk.start(line.replace("{evil}", str(desk.evil)) + "touch ready; sleep 600")
    async with asyncio.timeout(PATIENCE):
        while not (desk.work / "ready").exists():
            await asyncio.sleep(0)
    with monkeypatch.context() as while_it_runs:
        while_it_runs.setattr(Disarmer, "disarm", disarmed)
        assert (await desk.run("true")).disarmed
    assert "fsmonitor" in config.read_text()
    assert (await running.stop()).disarmed
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_a_repository_that_no_command_could_change_is_not_disarmed_by_another_workspaces(desk: Desk) -> None:
    """One command holds it fast; the other one's workspace has too many for that."""
    for number in range(MOST_HELD + 1):
        desk.git(desk.work, "init", "-q", f"{number}/x")
        desk.git(desk.work / f"{number}/x", "config", "alias.st", "!true")
    probe = desk.sandboxes.choose(DEMANDED, (str(desk.work),))
    loose = next(path for path in desk.work.glob("*/x") if not (path / ".git" / "commondir").exists())
    probe.release()
    running = await desk.start("sleep 600", loose)
    assert [(await desk.run("true")).disarmed, (await running.stop()).disarmed] == [(), ()]


async def test_what_the_person_sets_stays_in_a_workspace_that_another_one_ignores(desk: Desk) -> None:
    desk.git(desk.work, "init", "-q", "build/x")
    await desk.run("true")
    running = await desk.start("sleep 600", desk.work / "build" / "x")
    desk.git(desk.work / "build" / "x", "config", "alias.st", "!true")
    await running.stop()
    assert desk.git(desk.work / "build" / "x", "config", "alias.st") == "!true"


async def test_hooks_that_a_command_makes_in_a_repository_without_settings_run_nothing(desk: Desk) -> None:
    (root := desk.home / "other").mkdir()
    await desk.run(FAKE.format(".git") + "echo . > .git/commondir", root)
    end = await desk.run("mkdir .git/hooks; " + HOOK.format(".git/hooks/pre-commit", evil=desk.evil), root)
    assert end.disarmed
    desk.git(root, "commit", "-q", "--allow-empty", "-m", "x")
    assert not desk.ran.exists()


def test_a_command_waits_until_what_a_killed_daemon_left_is_looked_at(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take what is there for what was there before."""
    root, notes = str(desk.work), desk.home / "notes"
    notes.mkdir()
    (notes / "a.running").write_text(json.dumps([{"roots": [root], "before": []}]))
    desk.git(desk.work, "init", "-q", "build/x")
    desk.git(desk.work / "build" / "x", "config", "core.fsmonitor", str(desk.evil))
    sandboxes = Sandboxes.of({**os.environ, "HOME": str(desk.home)}, notes=str(notes))
    other = threading.Thread(target=lambda: sandboxes.choose(DEMANDED, (root,)).release())
    left = Book.left

    def left_with_another(book: Book) -> Iterator[Unfinished]:
        for one in left(book):
            other.start()
            other.join(PATIENCE / 30)  # it would have begun by then
            yield one

    monkeypatch.setattr(Book, "left", left_with_another)
    sandboxes.choose(DEMANDED, (root,)).release()
    other.join(PATIENCE)
    sandboxes.spaces.close()
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


def test_what_a_killed_daemon_left_is_kept_until_it_has_been_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.running").write_text(json.dumps([{"roots": ["/a"], "before": []}]))
    (tmp_path / "b.running").write_text("no JSON")
    with closing(Book(str(tmp_path)).left()) as left:
        assert next(left).roots == ("/a",)
    assert [one.roots for one in Book(str(tmp_path)).left()] == [("/a",)]
    assert os.listdir(tmp_path) == []


async def test_what_was_made_before_a_daemon_was_killed_is_looked_at_by_the_next_one(desk: Desk) -> None:
    notes, environment = str(desk.home / "notes"), {**os.environ, "HOME": str(desk.home)}
    desk.git(desk.work, "init", "-q", "build/theirs")
    desk.git(desk.work / "build" / "theirs", "config", "core.pager", "less")
    desk.git(desk.work, "clone", "-q", ".", "build/other")
    line = f"git init -q sub; git -C sub config core.fsmonitor {desk.evil}; git -C build/other config core.editor {desk.evil}"
    script = (
        "import asyncio, os, sys\n"
        "from gemini_companion.adapters.processes.runner import Runner\n"
        "from gemini_companion.adapters.processes.sandbox import Sandboxes\n"
        "from gemini_companion.tools.ports import SandboxWish\n"
        "async def main():\n"
        "    runner = Runner(os.environ, Sandboxes.of(os.environ, notes=sys.argv[1]), folder=None)\n"
        "    wish = SandboxWish(use='required', chat='c')\n"
        "    await runner.start(sys.argv[3], cwd=sys.argv[2], roots=(sys.argv[2],), limit_seconds=None, sandbox=wish,"
        " on_output=lambda text: print(text, flush=True))\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    words = (sys.executable, "-c", script, notes, str(desk.work), f"{line}; echo ready; sleep 600")
    daemon = await asyncio.create_subprocess_exec(*words, env=environment, stdout=subprocess.PIPE)
    assert daemon.stdout is not None
    async with asyncio.timeout(PATIENCE):
        assert b"ready" in await daemon.stdout.readline()
        daemon.kill()
        await daemon.wait()
    assert len(os.listdir(notes)) == 1
    desk.runner = Runner(environment, Sandboxes.of(environment, notes=notes), folder=None)
    end = await desk.run("true")
    assert [("core.fsmonitor" in line, "core.editor" in line) for line in end.disarmed] == [
        (True, False),
        (False, True),
    ]
    assert desk.git(desk.work / "build" / "theirs", "config", "core.pager") == "less"
    desk.work_as_the_person_does()
    assert not desk.ran.exists()
    assert ((await desk.run("true")).disarmed, os.listdir(notes)) == ((), [])


async def test_repositories_that_were_held_when_a_daemon_was_killed_are_held_by_the_next_one(desk: Desk) -> None:
    notes, environment = str(desk.home / "notes"), {**os.environ, "HOME": str(desk.home)}
    desk.git(desk.work, "clone", "-q", ".", "sub")
    before = sorted(desk.work.rglob("*"))
    script = (
        "import os, sys\n"
        "from gemini_companion.adapters.processes.sandbox import Sandboxes\n"
        "from gemini_companion.tools.ports import SandboxWish\n"
        "held = Sandboxes.of(dict(os.environ), notes=sys.argv[1]).choose("
        "    SandboxWish(use='required', chat='a chat'), (sys.argv[2],))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script, notes, str(desk.work)], env=environment, check=False
    )
    assert (desk.work / "sub" / ".git" / "commondir").exists()
    desk.runner = Runner(environment, Sandboxes.of(environment, notes=notes), folder=None)
    assert "busy" in (await desk.run("git -C sub config a.b c")).output
    assert sorted(desk.work.rglob("*")) == before


async def test_what_the_person_makes_while_a_command_runs_stays(desk: Desk) -> None:
    running = await desk.start("sleep 600")
    desk.git(desk.work, "config", "branch.main.remote", ".")
    desk.git(desk.work, "clone", "-q", ".", "copy")
    desk.git(desk.work / "copy", "remote", "add", "other", "../x")
    assert (await desk.run("true")).disarmed == ()
    assert (await running.stop()).disarmed == ()
    assert desk.git(desk.work, "config", "branch.main.remote") == "."


async def test_settings_of_a_worktree_that_the_person_makes_while_a_command_runs_stay(desk: Desk) -> None:
    desk.git(desk.work, "config", "extensions.worktreeConfig", "true")
    running = await desk.start("sleep 600")
    desk.git(desk.work, "config", "--worktree", "user.name", "B")
    await running.stop()
    await desk.run("true")
    assert desk.git(desk.work, "config", "user.name") == "B"


async def test_what_a_command_writes_where_the_person_replaced_what_was_held_is_told(desk: Desk) -> None:
    """The system takes a mount away when somebody outside replaces what it is on."""
    (desk.work / ".vscode").mkdir()
    (desk.work / ".vscode" / "tasks.json").write_text("{}")
    desk.git(desk.work, "add", ".")
    desk.git(desk.work, "commit", "-q", "-m", "with")
    desk.git(desk.work, "branch", "without", "HEAD~1")
    running = await desk.start(
        f"touch ready; while [ ! -e go ]; do sleep 0.02; done; git config core.fsmonitor {desk.evil};"
        " echo x > .vscode/made; sleep 600"
    )
    await _is_there(desk.work / "ready")
    desk.git(desk.work, "config", "user.name", "x")
    desk.git(desk.work, "switch", "-q", "without")
    desk.git(desk.work, "switch", "-q", "main")
    (desk.work / "go").touch()
    await _is_there(desk.work / ".vscode" / "made")
    end = await running.stop()
    assert [("core.fsmonitor in .git/config" in line, ".vscode was replaced" in line) for line in end.disarmed] == [
        (True, False),
        (False, True),
    ]


async def _told_at_the_end(desk: Desk, line: str, person: Callable[[], object]) -> tuple[str, ...]:
    """What is told of a line that runs once the person has done something beside."""
    running = await desk.start(f"touch ready; while [ ! -e go ]; do sleep 0.02; done; {line}; touch made; sleep 600")
    await _is_there(desk.work / "ready")
    person()
    (desk.work / "go").touch()
    await _is_there(desk.work / "made")
    return (await running.stop()).disarmed


async def test_what_a_command_writes_where_the_person_replaced_a_placeholder_is_told(desk: Desk) -> None:
    desk.git(desk.work, "config", "extensions.worktreeConfig", "true")
    line = f"git config --worktree core.fsmonitor {desk.evil}"
    told = await _told_at_the_end(desk, line, lambda: desk.git(desk.work, "config", "--worktree", "user.name", "B"))
    assert ["core.fsmonitor in .git/config.worktree" in line for line in told] == [True]


async def test_what_a_command_writes_where_the_person_replaced_a_repository_is_told(desk: Desk) -> None:
    words = ("clone", "-q", "--template=", ".", "sub")
    desk.git(desk.work, *words)

    def clone_anew() -> None:
        shutil.rmtree(desk.work / "sub")
        desk.git(desk.work, *words)

    told = await _told_at_the_end(desk, "mkdir sub/.git/hooks; cp evil sub/.git/hooks/pre-commit", clone_anew)
    assert ["sub/.git/hooks/pre-commit" in line for line in told] == [True]


async def test_a_link_that_the_person_replaces_while_a_command_runs_stays_replaced(desk: Desk) -> None:
    link = desk.work / ".vscode"
    for name in ("old", "new"):
        (desk.work / name).mkdir()
    link.symlink_to("old")

    def replace() -> None:
        link.unlink()
        link.symlink_to("new")

    told = await _told_at_the_end(desk, "true", replace)
    assert [".vscode was replaced" in line for line in told] == [True]
    assert (link.readlink(), list(desk.work.glob(".vscode.*"))) == (Path("new"), [])


async def test_what_is_replaced_in_many_repositories_is_noticed(desk: Desk) -> None:
    many = [desk.work / f"r{at}" for at in range(80)]
    for folder in many:
        desk.git(desk.work, "init", "-q", folder.name)
    running = await desk.start("sleep 600")
    for folder in many:
        desk.git(folder, "config", "alias.st", "!git status")
    assert "60 more" in (await running.stop()).disarmed[-1]


async def test_commands_that_run_beside_each_other_share_descriptors(desk: Desk) -> None:
    for at in range(20):
        desk.git(desk.work, "init", "-q", f"r{at}")

    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = count()
    running = [await desk.start("sleep 600")]
    of_one = count() - before
    running += [await desk.start("sleep 600") for _ in range(3)]
    assert count() - before < 2 * of_one
    for one in running:
        await one.stop()
    assert count() - before <= 3, "what the chat's commands share stays"


async def test_a_rebase_that_would_run_something_is_told(desk: Desk) -> None:
    todo = desk.work / ".git" / "rebase-merge" / "git-rebase-todo"
    end = await desk.run(f"mkdir {todo.parent}; echo ' exec {desk.evil}' > {todo}")
    assert f"exec {desk.evil}" in end.disarmed[0]
    assert (await desk.run("true")).disarmed == ()


@pytest.mark.parametrize(
    "line",
    [
        "mkdir x; echo 'exec e' > x/git-rebase-todo; ln -s ../x .git/rebase-merge",
        "mkdir .git/rebase-merge; echo 'exec e' > x; ln -s ../../x .git/rebase-merge/git-rebase-todo",
        "mkdir .git/rebase-merge; (echo exec e; yes '#' | head -200000) > .git/rebase-merge/git-rebase-todo",
        "git init -q sub; mkdir sub/.git/rebase-merge; echo 'exec e' > sub/.git/rebase-merge/git-rebase-todo",
        "mkdir .git/rebase-merge; echo rebase-merge/x > .git/rebase-merge/strategy",
        "mkdir .git/sequencer; git config -f .git/sequencer/opts options.strategy rebase-merge/x",
        "mkdir .git/sequencer; printf '[options] Strategy = \\\n\"rebase-merge/x\"' > .git/sequencer/opts",
        "mkdir .git/sequencer; printf '[options]\n\rstrategy = rebase-merge/x' > .git/sequencer/opts",
        "mkdir .git/sequencer; printf '[options]\nstrategy = \rrebase-merge/x' > .git/sequencer/opts",
        "mkdir .git/rebase-merge; printf 'refs/heads/x\n0\n0\nhooks/x\n0\n0\n' > .git/rebase-merge/update-refs",
        "mkdir .git/rebase-merge; echo 'u hooks/x' > .git/rebase-merge/git-rebase-todo",
        "mkdir .git/rebase-apply; echo \" '--build-fake-ancestor=rebase-merge'\" > .git/rebase-apply/apply-opt",
    ],
)
async def test_a_rebase_that_would_run_something_is_told_wherever_its_list_is(desk: Desk, line: str) -> None:
    assert ["rebase-merge" in one for one in (await desk.run(line)).disarmed] == [True]
    assert (await desk.run("true")).disarmed == ()


async def test_what_is_seen_in_the_place_of_another_file_lies_nowhere_while_a_command_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert "/.vscode/" in (await desk.run(f"cat .git/info/exclude; ls {tmp_path}")).output
    running = await desk.start("touch ready; sleep 600")
    await _is_there(desk.work / "ready")
    assert list(tmp_path.iterdir()) == []
    await running.stop()


async def test_a_command_that_is_given_up_before_it_begins_leaves_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, given_up, choose = threading.Event(), threading.Event(), Sandboxes.choose

    def choose_slowly(self: Sandboxes, wish: SandboxWish, roots: tuple[str, ...]) -> Held:
        held = choose(self, wish, roots)
        made.set()
        given_up.wait(PATIENCE)
        return held

    monkeypatch.setattr(Sandboxes, "choose", choose_slowly)
    starting = asyncio.create_task(desk.start("sleep 600"))
    assert await asyncio.to_thread(made.wait, PATIENCE)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    given_up.set()
    await desk.runner.close()
    assert sorted(path.name for path in desk.work.iterdir()) == [".git", ".gitignore", "evil"]


async def _is_there(path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        while not path.exists():
            await asyncio.sleep(0)


@pytest.mark.parametrize("swapped", ["sub", "sub/.git", "sub/.git/hooks"])
async def test_a_folder_that_becomes_a_link_while_a_sandbox_is_made_opens_nothing_outside_of_the_workspace(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    theirs = desk.home / "theirs"
    (theirs / "hooks").mkdir(parents=True)
    (theirs / ".git" / "hooks").mkdir(parents=True)
    (theirs / "config").write_text("mine")
    desk.git(desk.work, "init", "-q", "sub")
    choose = Sandboxes.choose

    def swaps(*given: Any, **more: Any) -> Held:
        held = choose(*given, **more)
        if (desk.work / "sub").exists():
            (desk.work / swapped).rename(desk.home / "away")
            (desk.work / swapped).symlink_to(theirs)
        return held

    monkeypatch.setattr(Sandboxes, "choose", swaps)
    names = ["made", "config", ".git/made", "hooks/made"]
    await desk.run(
        "; ".join(f"echo x > sub/{name}; echo x > sub/.git/{name}; echo x > {theirs}/{name}" for name in names)
    )
    assert sorted(str(path.relative_to(theirs)) for path in theirs.rglob("*")) == [
        ".git",
        ".git/hooks",
        "config",
        "hooks",
    ]
    assert (theirs / "config").read_text() == "mine"


@pytest.mark.parametrize("outer", ["", "front"])
async def test_hooks_that_husky_runs_by_their_names_cannot_be_made_or_changed(desk: Desk, outer: str) -> None:
    folder = desk.work / outer / ".husky"
    (folder / "_").mkdir(parents=True)
    (folder / "pre-commit").write_text("true\n")
    desk.git(desk.work, "config", "core.hooksPath", str((folder / "_").relative_to(desk.work)))
    where = folder.relative_to(desk.work)
    await desk.run(f"echo x > {where}/pre-commit; echo x > {where}/post-commit; echo x > {where}/_/h; mv {where} away")
    assert (folder / "pre-commit").read_text() == "true\n"
    assert sorted(path.name for path in folder.rglob("*")) == ["_", "pre-commit"]


@pytest.mark.parametrize("named", ["hooksPath = h", "hooksPath = \\\n h"])
async def test_hooks_that_included_settings_name_cannot_be_made_or_changed(desk: Desk, named: str) -> None:
    desk.git(desk.work, "config", "include.path", "more")
    (desk.work / ".git" / "more").write_text(f"[core]\n\t{named}\n")
    (desk.work / "h").mkdir()
    (desk.work / "h" / "pre-commit").write_text("true\n")
    end = await desk.run("echo x > h/pre-commit; echo x > h/post-commit; mv h away; echo x > .git/more")
    assert end.output.count("\n") == 4, end.output
    assert [path.name for path in (desk.work / "h").iterdir()] == ["pre-commit"]


async def test_a_hook_whose_rights_or_times_alone_were_set_stays(desk: Desk) -> None:
    desk.git(desk.work, "init", "-q", "build/x")
    hook = desk.work / "build" / "x" / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    end = await desk.run("touch build/x/.git/hooks/pre-commit; chmod 775 build/x/.git/hooks/pre-commit")
    assert (end.disarmed, hook.exists()) == ((), True)


async def test_a_folder_that_a_command_made_read_only_stays_so(desk: Desk) -> None:
    end = await desk.run("git init -q sub; chmod 555 sub sub/.git")
    assert end.disarmed == ()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (desk.work / "sub", desk.work / "sub" / ".git")] == [
        0o555
    ] * 2


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tworktree = ../../tree",
        '[core]\n\tworktree = ../../tree\n[branch "x"]\n\tworktree = ../..',
        "[core]\r\tworktree = ../../tree",
        '[core]\n\tworktree = ../../t"re"e',
        '[core]\n\tworktree = ""../../tree',
    ],
)
async def test_a_work_tree_that_is_led_elsewhere_by_a_link_later_is_disarmed(desk: Desk, text: str) -> None:
    await desk.run(f"git init -q sub; mkdir tree; printf %s {shlex.quote(text)} >> sub/.git/config")
    await desk.run(f"rmdir tree; ln -s {desk.home} tree")
    assert desk.git(desk.work / "sub", "rev-parse", "--show-toplevel", is_checked=False) != str(desk.home)


async def test_a_work_tree_is_judged_again_where_a_command_changed_settings_and_the_link_to_it(desk: Desk) -> None:
    await desk.run("git init -q sub; mkdir tree; git -C sub config core.worktree ../../tree")
    await desk.run(f"rmdir tree; ln -s {desk.home} tree; git -C sub config color.ui auto")
    assert desk.git(desk.work / "sub", "rev-parse", "--show-toplevel", is_checked=False) != str(desk.home)


async def test_a_link_to_a_pointer_is_followed_from_where_it_stands(desk: Desk) -> None:
    """As git does: the person's other repository would run what is in this workspace."""
    (other := desk.home / "other").mkdir()
    desk.git(other, "init", "-q")
    desk.git(other, "config", "core.hooksPath", ".hooks")
    end = await desk.run(
        "mkdir -p y/.hooks a/b/c; cp evil y/.hooks/pre-commit; git init -q a/other;"
        " echo 'gitdir: ../../other/.git' > a/b/c/file; ln -s ../a/b/c/file y/.git"
    )
    assert "y/.git" in end.disarmed[0]
    desk.git(desk.work / "y", "commit", "-q", "--allow-empty", "-m", "x")
    assert not desk.ran.exists()


LINKS = {
    "the message": "ln -sf {rc} .git/COMMIT_EDITMSG; echo '{evil}' > .git/MERGE_MSG",
    "the message, over settings": "ln -sf config .git/COMMIT_EDITMSG; " + MONITOR + " .git/MERGE_MSG",
    "a log": "ln -sf {rc} .git/logs/HEAD",
    "logs": "mkdir l; ln -s {rc} l/HEAD; rm -r .git/logs; ln -s ../l .git/logs",
    "an index": "ln -sf {rc} .git/index",
    "a branch": "rm -r .git/refs/heads; ln -s {home} .git/refs/heads; echo 'ref: refs/heads/.shellrc' > .git/HEAD",
    "in a new one": "git init -q sub; ln -s {rc} sub/.git/COMMIT_EDITMSG",
    "in a folder with another name": "git init -q --separate-git-dir store sub; ln -s {rc} store/COMMIT_EDITMSG",
    "in a shared folder": FAKE.format("sub/.git")
    + "mkdir -p common/objects common/refs common/logs; ln -s {rc} common/logs/HEAD; git config -f common/config user.name A;"
    " ln -s {rc} common/COMMIT_EDITMSG; echo ../../common > sub/.git/commondir",
    "a message that is a branch": "ln -sf refs/heads/x .git/COMMIT_EDITMSG",
    "of a series": "ln -s {home}/theirs .git/sequencer",
}


@pytest.mark.parametrize("name", LINKS)
async def test_links_by_which_git_would_write_elsewhere_are_deleted(desk: Desk, name: str) -> None:
    theirs, kept = desk.home / ".shellrc", desk.home / "theirs" / "kept"
    theirs.write_text("# mine\n")
    kept.parent.mkdir()
    kept.touch()
    line = LINKS[name].replace("{rc}", str(theirs)).replace("{home}", str(desk.home)).replace("{evil}", str(desk.evil))
    end = await desk.run(line)
    assert end.disarmed, end.output
    desk.git(desk.work, "-c", "core.editor=true", "commit", "-q", "--allow-empty", is_checked=False)
    desk.work_as_the_person_does()
    desk.git(desk.work, "cherry-pick", "--quit", is_checked=False)
    assert (theirs.read_text(), kept.exists(), desk.ran.exists()) == ("# mine\n", True, False), end.disarmed
    assert (await desk.run("true")).disarmed == ()


async def test_a_link_that_git_would_write_by_is_deleted_whoever_looks_first(desk: Desk) -> None:
    running = await desk.start("ln -sf config .git/COMMIT_EDITMSG; touch ready; sleep 600")
    await _is_there(desk.work / "ready")
    assert "COMMIT_EDITMSG" in (await desk.run("true")).disarmed[0]
    await running.stop()
    assert not (desk.work / ".git" / "COMMIT_EDITMSG").is_symlink()


async def test_links_that_lead_through_each_other_are_deleted_whichever_goes_first(desk: Desk) -> None:
    line = "for i in {1..20}; do ln -s objects/info .git/b$i; ln -s b$i/../config .git/e$i; done"
    await desk.run(line)
    assert [path.name for path in (desk.work / ".git").iterdir() if path.is_symlink()] == []


async def test_a_link_is_deleted_however_many_folders_a_workspace_has(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemini_companion.adapters.processes.sandbox.Walks", partial(Walks, most=40))
    environment = {**os.environ, "HOME": str(desk.home)}
    desk.runner = Runner(environment, Sandboxes.of(environment), folder=None)
    for number in range(60):
        (desk.work / "build" / str(number)).mkdir(parents=True)
    await desk.run("true")
    links = ("COMMIT_EDITMSG", "logs/x", "objects/info/commit-graph")
    lines = [f"mkdir -p .git/{name}/{{1..600}}/.git" for name in ("x", "objects")]
    await desk.run("; ".join((*lines, *(f"ln -sf config .git/{link}" for link in links))))
    assert not any((desk.work / ".git" / name).is_symlink() for name in links)


@pytest.mark.parametrize("folder", ["refs", "x"])
async def test_what_many_folders_within_git_hide_is_told_also_in_a_workspace_with_many_others(
    desk: Desk, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemini_companion.adapters.processes.sandbox.Walks", partial(Walks, most=40))
    environment = {**os.environ, "HOME": str(desk.home)}
    desk.runner = Runner(environment, Sandboxes.of(environment), folder=None)
    for number in range(60):
        (desk.work / "build" / str(number)).mkdir(parents=True)
    lines = ("true", "true", "mkdir -p .git/{folder}/{{1..200}}/{{1..3}}", "true")
    told = [(await desk.run(line.format(folder=folder))).disarmed for line in lines]
    assert [["Not all folders" in line for line in lines] for lines in told] == [[True], [], [True], []]


def test_a_branch_that_is_written_elsewhere_is_found_behind_any_number_of_others(tmp_path: Path) -> None:
    branches = tmp_path / "refs" / "heads"
    branches.mkdir(parents=True)
    (branches / "main").write_text("ref: commondir\n")
    for some in (tmp_path / "a", tmp_path / "b"):
        some.write_text("0" * 40)
        for number in range(50_001):
            os.link(some, tmp_path / f"{some.name}{number}")
    disarmer = Disarmer(Repositories(os.environ, shutil.which))
    found = disarmer.look_written((str(tmp_path),), (str(tmp_path),), (), (str(branches),))
    assert list(found) == [("target", str(branches / "main"))]


@pytest.mark.parametrize("folder", ["refs", "logs/refs"])
async def test_a_folder_with_too_many_links_is_moved_aside(desk: Desk, folder: str) -> None:
    line = f"import os; [os.symlink('/x', f'.git/{folder}/{{n}}') for n in range(2_000)]"
    end = await desk.run(f"{sys.executable} -c {shlex.quote(line)}")
    assert [f".git/{folder} is {folder[-4:]}.disarmed" in one for one in end.disarmed] == [True]
    assert (await desk.run("true")).disarmed == ()


@pytest.mark.parametrize("store", [False, True])
async def test_the_persons_links_stay_in_a_folder_that_a_command_makes_look_like_a_repository(
    desk: Desk, store: bool
) -> None:
    if store:
        (desk.work / ".git").rename(desk.work / "store")
        (desk.work / ".git").symlink_to("store")
    links = [".vscode", "sub/latest", "sub/modules/m/logs"]
    (desk.work / "sub" / "modules" / "m").mkdir(parents=True)
    for name in links:
        (desk.work / name).symlink_to(desk.home)
    end = await desk.run("git init -q --bare sub; echo 'ref: refs/heads/x' > HEAD; mkdir objects refs")
    assert all((desk.work / name).is_symlink() for name in links), end.disarmed
    assert ["sub/HEAD is .HEAD.disarmed" in line for line in end.disarmed] == [True]
    assert desk.git(desk.work / "sub", "rev-parse", "--show-toplevel") == str(desk.work)


async def test_many_links_in_a_workspace_folder_that_is_a_repository_hide_nothing(desk: Desk) -> None:
    shutil.rmtree(desk.work / ".git")
    made = "import os; [os.symlink('/x', f'l{n}') for n in range(1_500)]"
    line = FAKE.format(".") + f"git init -q sub; git -C sub config core.fsmonitor {desk.evil}"
    end = await desk.run(f"{sys.executable} -c {shlex.quote(made)}; ln -s {desk.home} logs; {line}")
    assert ["core.fsmonitor is taken out" in one for one in end.disarmed].count(True) == 1, end.disarmed
    assert not (desk.work / "logs").is_symlink()


async def test_a_link_that_a_command_moves_to_where_git_writes_is_deleted(desk: Desk) -> None:
    await desk.run("mkdir x; ln -s ../evil x/HEAD")
    await desk.run("rm -r .git/logs; mv x .git/logs")
    assert not (desk.work / ".git" / "logs" / "HEAD").is_symlink()


async def test_links_that_lock_a_file_for_an_editor_stay(desk: Desk) -> None:
    running = await desk.start("sleep 600")
    (lock := desk.work / ".git" / ".#COMMIT_EDITMSG").symlink_to("me@here.1:2")
    await running.stop()
    assert lock.is_symlink()


BRANCHES = {
    "where it was": ".git/ORIG_HEAD",
    "of a remote": ".git/refs/remotes/origin/main",
    "HEAD": ".git/HEAD",
    "of a worktree": ".git/worktrees/side/ORIG_HEAD",
    "of no worktree": ".git/worktrees/x/refs/bisect/bad",
    "in a new one": "sub/.git/refs/heads/x",
}


@pytest.mark.parametrize("target", ["commondir", "\\r\\thooks/x", "refs/../hooks/x", "worktrees/x/HEAD"])
@pytest.mark.parametrize("name", BRANCHES)
async def test_a_branch_that_git_would_write_elsewhere_is_moved_aside(desk: Desk, name: str, target: str) -> None:
    desk.git(desk.work, "worktree", "add", "-q", "side")
    path = BRANCHES[name]
    end = await desk.run(f"git init -q sub; mkdir -p $(dirname {path}); printf 'ref: {target}\\n' > {path}")
    assert [f"{path} is ." in line for line in end.disarmed] == [True]
    assert not (desk.work / path).exists()
    assert (await desk.run("true")).disarmed == ()


async def test_a_message_is_written_into_no_branch(desk: Desk) -> None:
    line = "git commit -q --allow-empty -m 'ref: commondir'; git rev-parse HEAD > .git/COMMIT_EDITMSG;"
    line += " mkdir -p .git/refs/remotes/o; ln .git/COMMIT_EDITMSG .git/refs/remotes/o/main"
    end = await desk.run(f"export GIT_AUTHOR_NAME=A EMAIL=a@b.c GIT_COMMITTER_NAME=A; {line}")
    assert ["COMMIT_EDITMSG is .COMMIT_EDITMSG.disarmed" in one for one in end.disarmed] == [True], end.output
    desk.git(desk.work, "commit", "-q", "--amend", "--no-edit", "--allow-empty")
    assert (desk.work / ".git" / "COMMIT_EDITMSG").read_text() == "ref: commondir\n"
    assert not (desk.work / ".git" / "refs" / "remotes" / "o" / "main").read_text().startswith("ref:")


async def test_a_pull_does_not_say_where_settings_are(desk: Desk) -> None:
    desk.git(desk.home, "clone", "-q", "--bare", "work", "up.git")
    desk.git(desk.work, "remote", "add", "origin", str(desk.home / "up.git"))
    desk.git(desk.work, "fetch", "-q", "origin")
    desk.git(desk.work, "branch", "-q", "-u", "origin/main")
    desk.git(desk.home, "clone", "-q", "up.git", "other")
    desk.git(desk.home / "other", "commit", "-q", "--allow-empty", "-m", "2")
    desk.git(desk.home / "other", "push", "-q")
    line = "s=.git/$(git rev-parse HEAD); mkdir -p $s/objects/info $s/refs; echo ../../objects > $s/objects/info/alternates;"
    line += MONITOR.replace("[core]\\n", "[core]\\n\\trepositoryformatversion = 0\\n")
    await desk.run(f"{line} $s/config; echo 'ref: commondir' > .git/ORIG_HEAD".replace("{evil}", str(desk.evil)))
    desk.git(desk.work, "pull", "-q", is_checked=False)
    desk.work_as_the_person_does()
    assert (desk.ran.exists(), (desk.work / ".git" / "commondir").exists()) == (False, False)


@pytest.mark.parametrize(("said", "stays"), [("../..", True), (".", True), ("../../../x", False), ("..", False)])
async def test_a_shared_folder_is_accepted_as_a_worktree_has_it(desk: Desk, said: str, stays: bool) -> None:
    folder = "sub/.git/worktrees/x"
    line = f"git init -q sub; mkdir -p x/objects x/refs {folder}; cp sub/.git/HEAD {folder}; echo {said} > {folder}/commondir"
    end = await desk.run(line)
    assert ((desk.work / folder / "commondir").exists(), bool(end.disarmed)) == (stays, not stays), end.disarmed


STRAYS = {
    "conflicts": ("MERGE_RR", "printf '%040d\\t%s\\0' 1 {home}/.shellrc > .git/MERGE_RR"),
    "conflicts above": ("MERGE_RR", "printf '%040d\\t%s\\0' 1 a 1 b/../../x > .git/MERGE_RR"),
    "no list": ("MERGE_RR", "mkfifo .git/MERGE_RR"),
    "a link": ("worktrees/x/gitdir", "mkdir -p .git/worktrees/x; ln -s {home}/.shellrc .git/worktrees/x/gitdir"),
    "another link": ("gitdir", "ln -s {home}/.shellrc .git/gitdir"),
    "elsewhere": ("worktrees/x/gitdir", "mkdir -p .git/worktrees/x; echo {home}/other/.git > .git/worktrees/x/gitdir"),
    "by a link": (
        "worktrees/x/gitdir",
        "mkdir -p .git/worktrees/x; ln -s {home}/other y; echo $PWD/y/.git > .git/worktrees/x/gitdir",
    ),
    "above": ("worktrees/x/gitdir", "mkdir -p .git/worktrees/x; echo ../../../../other/.git > .git/worktrees/x/gitdir"),
    "solutions": ("rr-cache/x", "mkdir .git/rr-cache; ln -s {home} .git/rr-cache/x"),
}


@pytest.mark.parametrize("name", STRAYS)
async def test_a_file_by_which_git_would_write_elsewhere_goes(desk: Desk, name: str) -> None:
    (desk.home / "other").mkdir()
    (desk.home / "other" / ".git").write_text("gitdir: x")
    path, line = STRAYS[name]
    end = await desk.run(line.replace("{home}", str(desk.home)))
    assert [f".git/{path}" in one for one in end.disarmed] == [True], end.disarmed
    assert not os.path.lexists(desk.work / ".git" / path)
    desk.git(desk.work, "worktree", "repair", is_checked=False)
    assert (desk.home / "other" / ".git").read_text() == "gitdir: x"
    assert (await desk.run("true")).disarmed == ()


async def test_links_that_are_the_persons_or_no_matter_of_gits_stay(desk: Desk) -> None:
    links = {".git/rr-cache": desk.home, ".git/logs/x": "HEAD", ".git/config.old": "config"}
    for name, target in links.items():
        (desk.work / name).symlink_to(target)
    side = desk.home / "logs"
    desk.git(desk.work, "worktree", "add", "-q", str(side))
    line = "mkdir -p logs/x info .github; for n in a logs/a logs/x/b info/c .github/d; do ln -s ../evil $n; done"
    for root in (desk.work, side):
        end = await desk.run(f"{line}; git symbolic-ref refs/heads/other refs/heads/main", root)
        assert (end.exit_code, end.disarmed) == (0, ()), end.output
        assert all((root / name).is_symlink() for name in ("a", "logs/a", "logs/x/b", "info/c", ".github/d"))
    assert all((desk.work / name).is_symlink() for name in links)
    end = await desk.run("git clone -q . sub; ln -sfn refs/heads/main sub/.git/HEAD")
    assert (end.disarmed, (desk.work / "sub" / ".git" / "HEAD").is_symlink()) == ((), True)


INDEX = """
import hashlib, struct, subprocess, sys
folder, is_split, *names = sys.argv[1:]
git = ["git", "--git-dir", folder]
blob = subprocess.run([*git, "hash-object", "-w", "--stdin"], input=open("evil", "rb").read(), capture_output=True).stdout
data = b"DIRC" + struct.pack(">II", 2, len(names))
for name in sorted(names):
    entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100755, 0, 0, 0) + bytes.fromhex(blob.decode())
    entry += struct.pack(">H", len(name)) + name.encode()
    data += entry + bytes(8 - len(entry) % 8)
data += hashlib.sha1(data).digest()
if is_split == "split":
    open(f"{folder}/sharedindex.{data[-20:].hex()}", "wb").write(data)
    data = b"DIRC" + struct.pack(">II", 2, 0) + b"link" + struct.pack(">I", 60) + data[-20:] + 2 * struct.pack(">IIQI", 0, 1, 0, 0)
    data += hashlib.sha1(data).digest()
open(f"{folder}/index", "wb").write(data)
"""


@pytest.mark.parametrize(
    ("folder", "how", "name"),
    [
        (".git", "whole", ".git/hooks/post-checkout"),
        (".git", "whole", "../.shellrc"),
        (".git", "split", ".git/hooks/post-checkout"),
        ("sub/.git", "whole", "../../.shellrc"),
        ("sub/.git", "split", "a/.GIT/hooks/post-checkout"),
    ],
)
async def test_an_index_with_files_outside_of_the_work_tree_is_moved_aside(
    desk: Desk, how: str, folder: str, name: str
) -> None:
    await desk.run("git clone -q . sub")
    (desk.work / "made.py").write_text(INDEX)
    end = await desk.run(
        f"{sys.executable} made.py {folder} {how} {name} .gitignore && git --git-dir {folder} ls-files"
    )
    assert (name in end.output, [f"{folder}/index" in one for one in end.disarmed]) == (True, [True]), end.output
    for words in (("restore", "."), ("checkout", "-q", "-B", "other")):
        desk.git((desk.work / folder).parent, *words, is_checked=False)
    assert (desk.ran.exists(), (desk.home / ".shellrc").exists()) == (False, False)


async def test_an_index_that_is_no_file_is_moved_aside(desk: Desk) -> None:
    assert ".git/index" in (await desk.run("rm .git/index; mkfifo .git/index")).disarmed[0]


THROUGH_MEMORY = """
import mmap, os, signal, time
bad, good = open("bad", "rb").read(), open("good", "rb").read()
file = open(".git/new", "w+b")
file.truncate(len(good))
memory = mmap.mmap(file.fileno(), 0)
memory[:] = good
os.rename(".git/new", "PATH")
open("ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.02)
memory[:] = bad
open("done", "w").close()
signal.pause()
"""


@pytest.mark.parametrize("path", [".git/index", ".git/refs/heads/other"])
async def test_what_a_command_writes_through_memory_after_a_look_is_seen_by_the_next_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    if path == ".git/index":
        (desk.work / "made.py").write_text(INDEX)
        for kind, name in (("good", "agit/hooks/x"), ("bad", ".git/hooks/x")):
            desk.shell([sys.executable, "made.py", ".git", "whole", name])
            (desk.work / ".git" / "index").rename(desk.work / kind)
    else:
        (desk.work / "good").write_text("ref: refs/heads/main1\n")
        (desk.work / "bad").write_text("ref: hooks/post-merge\n")
    (desk.work / "memory.py").write_text(THROUGH_MEMORY.replace("PATH", path))
    running = await desk.start(f"{sys.executable} memory.py")
    await _is_there(desk.work / "ready")
    with monkeypatch.context() as long_since:
        long_since.setattr("gemini_companion.adapters.processes.git_folders.SETTLED_NS", -(10**12))
        assert (await desk.run("true")).disarmed == ()
    (desk.work / "go").touch()
    await _is_there(desk.work / "done")
    assert [path in line for line in (await running.stop()).disarmed] == [True]


@pytest.mark.parametrize("name", ["HEAD", "sharedindex.x", "SHAREDINDEX.x"])
async def test_an_index_beside_a_pipe_is_not_read(desk: Desk, name: str) -> None:
    end = await desk.run(f"git clone -q . sub; rm -f sub/.git/{name}; mkfifo sub/.git/{name}")
    assert ["sub/.git/index is index.disarmed" in one for one in end.disarmed] == [True]


async def test_an_index_that_was_not_looked_at_in_time_is_told_and_looked_at_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = await desk.start("sleep 600")
    with monkeypatch.context() as late:
        late.setattr("gemini_companion.adapters.processes.disarming.SECONDS_FOR_INDEXES", -1.0)
        told = (await desk.run("git clone -q . sub")).disarmed
    assert ["sub/.git/index was not looked at" in one for one in told] == [True]
    asked: list[str] = []
    names = Repositories.names_in_index
    monkeypatch.setattr(Repositories, "names_in_index", lambda self, git: asked.append(git) or names(self, git))
    assert (await running.stop()).disarmed == ()
    assert asked == [str(desk.work / "sub" / ".git")]


def test_git_is_not_asked_again_about_an_index_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked = tmp_path / "git", tmp_path / "asked"
    program.write_text(f"#!/bin/sh\necho x >> {asked}\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr("gemini_companion.adapters.processes.repositories.SECONDS", 0.5)
    assert Repositories({}, lambda name: str(program)).names_in_index(str(tmp_path)) is None
    assert asked.read_text() == "x\n"


async def test_an_index_that_leaves_folders_out_stays(desk: Desk) -> None:
    (desk.work / "a" / "b").mkdir(parents=True)
    (desk.work / "a" / "b" / "c").touch()
    desk.git(desk.work, "add", "a")
    desk.git(desk.work, "commit", "-q", "-m", "a")
    line = "git clone -q . sub; git -C sub sparse-checkout set --cone --sparse-index; git -C sub ls-files --sparse"
    end = await desk.run(line)
    assert ("a/" in end.output.split(), end.disarmed) == (True, ())


async def test_an_index_with_odd_names_stays(desk: Desk) -> None:
    line = (
        "mkdir ... .gitx; touch .../x .gitx/..y x.git '...' .git- $'a\\nb'; git add -A; git update-index --split-index"
    )
    assert (await desk.run(line)).disarmed == ()


async def test_a_work_tree_of_a_submodule_stays(desk: Desk) -> None:
    line = "git init -q sub; mkdir tree; git -C sub config core.worktree ../../tree"
    assert (await desk.run(line)).disarmed == ()


@pytest.mark.parametrize("attack", ["objects", "link"])
async def test_a_repository_kept_in_another_workspace_folder_runs_nothing(desk: Desk, attack: str) -> None:
    other = desk.home / "other"
    other.mkdir()
    desk.git(other, "init", "-q")
    line = {
        "objects": f"git init -q --separate-git-dir {other}/.git/objects/x src",
        "link": f"git init -q {other}/.git/refs/x; ln -s {other}/.git/refs/x src",
    }[attack]
    running = await desk.runner.start(
        f"{line} && git -C src config core.fsmonitor {desk.evil}",
        cwd=str(desk.work),
        roots=(str(desk.work), str(other)),
        limit_seconds=PATIENCE,
        sandbox=DEMANDED,
        on_output=lambda _: None,
    )
    end = await asyncio.wait_for(running.wait(), PATIENCE)
    assert "core.fsmonitor" in " ".join(end.disarmed), end.output
    for folder in (desk.work, desk.work / "src"):
        desk.git(folder, "status", is_checked=False)
    assert not desk.ran.exists()


@pytest.mark.parametrize("where", ["objects/x", "worktrees/side/x", "lfs/x"])
async def test_a_repository_kept_where_a_worktree_may_write_runs_nothing(desk: Desk, where: str) -> None:
    side, common = desk.home / "side", desk.work / ".git"
    (common / "lfs").mkdir()
    desk.git(desk.work, "worktree", "add", "-q", str(side))
    line = f"git init -q --separate-git-dir {common}/{where} src; git -C src config core.fsmonitor {desk.evil}"
    end = await desk.run(line, side)
    assert "core.fsmonitor" in " ".join(end.disarmed), end.output
    desk.git(side / "src", "status")
    assert not desk.ran.exists()


async def test_a_submodule_of_a_worktree_is_held_fast(desk: Desk) -> None:
    side = desk.home / "side"
    desk.git(desk.work, "worktree", "add", "-q", str(side))
    desk.git(side, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(desk.work), "deep/sub")
    module = desk.work / ".git" / "worktrees" / "side" / "modules" / "deep" / "sub"
    settings = (module / "config").read_bytes()
    lines = [
        f"echo x > {module}/config",
        f"echo x > {module}/hooks/made",
        f"mv {module} {module}.away",
        f"mv {module.parent.parent} {module}.away",
        "echo x > deep/sub/.git",
    ]
    end = await desk.run("; ".join(lines), side)
    assert end.output.count("\n") == len(lines), end.output
    assert ((module / "config").read_bytes(), (module / "hooks" / "made").exists()) == (settings, False)
    end = await desk.run("cd deep/sub && git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m x", side)
    assert (end.exit_code, end.disarmed) == (0, ()), end.output


async def test_a_workspace_folder_that_a_command_makes_a_repository_without_a_name_runs_nothing(desk: Desk) -> None:
    shutil.rmtree(desk.work / ".git")
    end = await desk.run(FAKE.format(".") + f"git config -f config alias.st '!{desk.evil}'")
    assert "alias.st" in end.disarmed[0]
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_a_pointer_to_where_nobody_looks_is_moved_aside(desk: Desk) -> None:
    stranger = desk.home / "downloads"
    desk.git(desk.home, "init", "-q", str(stranger))
    desk.git(stranger, "config", "core.fsmonitor", str(desk.evil))
    end = await desk.run(f"mkdir a b; echo 'gitdir: {stranger}/.git' > a/.git; ln -s {stranger}/.git b/.git")
    assert len(end.disarmed) == 2
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_a_repository_deep_below_is_held_fast_while_a_command_runs(desk: Desk) -> None:
    inner = desk.work / "a" / "b" / "c"
    desk.git(desk.work, "init", "-q", str(inner))
    settings = (inner / ".git" / "config").read_bytes()
    lines = [
        "echo x > a/b/c/.git/config",
        "echo x > a/b/c/.git/hooks/pre-commit",
        "mv a/b/c/.git a/b/c/g",
        "mv a/b a/d",
        "mv a d",
    ]
    end = await desk.run("; ".join(lines))
    assert end.output.count("\n") == len(lines), end.output
    assert ((inner / ".git" / "config").read_bytes(), end.disarmed) == (settings, ())
    end = await desk.run("cd a/b/c && git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m x")
    assert end.exit_code == 0, end.output


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("hook", "rm a/link; cp evil a/link"),
        ("hook", "mv a b; mkdir a; cp evil a/link"),
        ("hook folder", "rm folder; mkdir folder; cp evil folder/pre-commit"),
        ("hook folder", "rm -f way; mkdir way; cp evil way/pre-commit"),
        ("settings", "rm way; git config -f way core.fsmonitor {evil}"),
        ("pointer", "rm way; cp -r .git way; git config -f way/config core.fsmonitor {evil}"),
        ("pointer", "rm way; mkdir way; git init -q --bare way/r; git config -f way/r/config core.fsmonitor {evil}"),
    ],
)
async def test_a_link_on_the_way_to_what_git_obeys_cannot_be_replaced(desk: Desk, what: str, line: str) -> None:
    work = desk.work
    (work / "real").mkdir()
    match what:
        case "hook":
            (work / "a").mkdir()
            (work / "a" / "link").symlink_to("../real/script")
            (work / "real" / "script").touch(0o755)
            (work / ".git" / "hooks" / "pre-commit").symlink_to("../../a/link")
        case "hook folder":
            (work / "way").symlink_to("folder")
            (work / "folder").symlink_to("real")
            desk.git(work, "config", "core.hooksPath", "way")
        case "settings":
            (work / "way").symlink_to("real/settings")
            (work / "real" / "settings").touch()
            desk.git(work, "config", "include.path", "../way")
        case _:
            (work / "way").symlink_to("real")
            desk.git(work, "init", "-q", "--separate-git-dir", "real/r", "sub")
            (work / "sub" / ".git").write_text("gitdir: ../way/r\n")
    end = await desk.run(line.replace("{evil}", str(desk.evil)))
    assert "busy" in end.output
    desk.work_as_the_person_does()
    assert not desk.ran.exists(), end.disarmed


@pytest.mark.parametrize("hooks", [".git/hooks", "hooks/own", "hooks/_"])
async def test_a_script_that_a_hook_is_a_link_to_cannot_be_changed(desk: Desk, hooks: str) -> None:
    folder = desk.work / hooks
    folder.mkdir(parents=True, exist_ok=True)
    desk.git(desk.work, "config", "core.hooksPath", hooks)
    script = desk.work / "scripts" / "check"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    hook = (folder.parent if folder.name == "_" else folder) / "pre-commit"
    hook.symlink_to(script)
    await desk.run("echo x > scripts/check; mv scripts s")
    assert script.read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize("there", [False, True])
async def test_hooks_of_the_persons_settings_cannot_be_made_in_the_workspace(desk: Desk, there: bool) -> None:
    with (desk.home / ".gitconfig").open("a") as file:
        file.write("[core]\n\thooksPath = .myhooks\n")
    inner = desk.work / "a" / "b"
    desk.git(desk.work, "init", "-q", str(inner))
    folders = [desk.work / ".myhooks", inner / ".myhooks"]
    for folder in folders if there else ():
        folder.mkdir()
    hooks = [HOOK.replace("{0}", str(folder / "pre-commit")) for folder in folders]
    await desk.run("mkdir .myhooks a/b/.myhooks; " + "".join(hooks).replace("{evil}", str(desk.evil)))
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_hooks_of_the_persons_settings_run_nothing_in_a_new_repository(desk: Desk) -> None:
    desk.git(desk.work, "config", "--global", "core.hooksPath", ".myhooks")
    end = await desk.run("git init -q sub; mkdir sub/.myhooks; cp evil sub/.myhooks/pre-commit")
    assert "sub/.myhooks/pre-commit" in end.disarmed[0]
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


@pytest.mark.parametrize(
    "line",
    [
        "mkdir -p a/b h/.myhooks; git init -q a/b; git -C a/b config core.worktree ../../../h; cp evil h/.myhooks/pre-commit",
        FAKE.format("x") + "git config -f x/config core.bare true; mkdir x/.myhooks; cp evil x/.myhooks/pre-commit",
        "git init -q x; git -C x config core.bare true; mkdir x/.git/.myhooks; cp evil x/.git/.myhooks/pre-commit",
    ],
)
async def test_hooks_of_the_persons_settings_run_nothing_wherever_git_is_when_it_runs_them(
    desk: Desk, line: str
) -> None:
    desk.git(desk.work, "config", "--global", "core.hooksPath", ".myhooks")
    end = await desk.run(line)
    assert [".myhooks/pre-commit is pre-commit.disarmed" in one for one in end.disarmed] == [True], end.disarmed


@pytest.mark.parametrize("whose", ["the repository's", "the person's"])
async def test_settings_that_are_included_but_are_not_there_yet_run_nothing(desk: Desk, whose: str) -> None:
    if whose == "the person's":
        desk.git(desk.work, "config", "--global", "include.path", str(desk.work / "more"))
    else:
        desk.git(desk.work, "config", "include.path", "../more")
    end = await desk.run(f"git config -f more core.abbrev 9; git config -f more core.fsmonitor {desk.evil}")
    assert "core.fsmonitor" in " ".join(end.disarmed)
    desk.work_as_the_person_does()
    assert not desk.ran.exists()
    assert desk.git(desk.work, "config", "core.abbrev") == "9"


AUTHOR = "-c user.name=A -c user.email=a@b.c -c protocol.file.allow=always"
ORDINARY = {
    "init and commit": f"git init -q sub && cd sub && echo x > x && git add x && git {AUTHOR} commit -q -m x",
    "clone": "git clone -q . copy && git -C copy log -1 && git -C copy fetch -q",
    "a part of a clone": f"git {AUTHOR} clone -q --depth 1 --filter=blob:none --sparse file://$PWD copy",
    "a bare one": "git clone -q --mirror . mirror.git && git --git-dir mirror.git log -1",
    "a submodule": f"git init -q sub && cd sub && git {AUTHOR} submodule -q add {{work}} deep/inner",
    "a worktree": "git worktree add -q inner && cd inner && git status && cd .. && git worktree remove inner",
    "a worktree of a new one": f"git clone -q . sub && cd sub && git {AUTHOR} worktree add -q ../tree",
    "a branch with settings": "git clone -q . sub && cd sub && git switch -q -c x && git branch -q -u origin/main"
    " && git config user.name A && git config pull.rebase true && git remote add other ../x && git lfs version || true",
    "what is not tracked": "echo x > u && git stash -q -u && [ ! -e u ] && git stash pop -q && git clean -fdq && [ ! -e u ]"
    ' && echo z > z && git add -A && [ "$(git status --porcelain)" = "A  z" ]',
    "a build that is deleted": "git clone -q . build/_deps/x && rm -rf build",
}


@pytest.mark.parametrize("name", ORDINARY)
async def test_an_ordinary_day_with_git_is_as_it_was(desk: Desk, name: str) -> None:
    end = await desk.run(ORDINARY[name].replace("{work}", str(desk.work)))
    assert (end.exit_code, end.disarmed) == (0, ()), end.output


@pytest.mark.parametrize("line", ["git switch topic", "git branch -u origin/topic", "git remote add other x"])
async def test_a_setting_that_git_could_not_write_is_told_also_where_git_goes_on(desk: Desk, line: str) -> None:
    desk.git(desk.home, "clone", "-q", "--bare", "work", "origin.git")
    desk.git(desk.home / "origin.git", "branch", "topic")
    desk.git(desk.work, "remote", "add", "origin", str(desk.home / "origin.git"))
    desk.git(desk.work, "fetch", "-q")
    told = output_of(await desk.run(line), was_stopped=False).output
    assert "settings can only be read in the sandbox" in told
    told = output_of(await desk.run("git switch -q -c mine --no-track origin/topic"), was_stopped=False).output
    assert "settings can only be read" not in told


async def test_a_folder_that_is_ignored_can_be_deleted_with_the_repositories_in_it(desk: Desk) -> None:
    inner = desk.work / "build" / "_deps" / "x"
    desk.git(desk.work, "clone", "-q", str(desk.work), str(inner))
    desk.git(inner, "init", "-q", str(inner / "third" / "y"))
    end = await desk.run("rm -rf build")
    assert (end.exit_code, (desk.work / "build").exists()) == (0, False), end.output


@pytest.mark.skipif(shutil.which("git-lfs") is None, reason="needs git-lfs")
async def test_a_clone_with_large_files_keeps_the_hooks_that_git_lfs_made(desk: Desk) -> None:
    end = await desk.run("git init -q sub && cd sub && git lfs install --local && git lfs track '*.bin'")
    assert (end.exit_code, end.disarmed) == (0, ()), end.output
    hook = desk.work / "sub" / ".git" / "hooks" / "pre-push"
    assert "git lfs pre-push" in hook.read_text()
    end = await desk.run(f"echo {desk.evil} >> sub/.git/hooks/pre-push")
    assert "pre-push" in end.disarmed[0]


async def test_hooks_of_the_persons_own_template_stay_in_new_repositories(desk: Desk) -> None:
    template = desk.home / "template" / "hooks"
    template.mkdir(parents=True)
    (template / "pre-commit").write_text("#!/bin/sh\nexit 0\n")
    (template / "pre-commit").chmod(0o755)
    desk.git(desk.work, "config", "--global", "init.templateDir", str(template.parent))
    end = await desk.run("git init -q sub")
    assert end.disarmed == ()
    assert (desk.work / "sub" / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.parametrize("is_repository", [False, True])
async def test_the_persons_own_template_cannot_be_changed_in_the_workspace(desk: Desk, is_repository: bool) -> None:
    template = desk.work / "template"
    (template / "hooks").mkdir(parents=True)
    desk.git(desk.work, "config", "--global", "init.templateDir", str(template))
    if not is_repository:
        shutil.rmtree(desk.work / ".git")
    line = HOOK.replace("{0}", "template/hooks/pre-commit") + MONITOR + " template/config"
    await desk.run(line.replace("{evil}", str(desk.evil)))
    (new := desk.home / "new").mkdir()
    for words in (("init", "-q"), ("status",), ("commit", "-q", "--allow-empty", "-m", "x")):
        desk.git(new, *words)
    assert not desk.ran.exists()


async def test_the_workspaces_own_repository_is_held_fast_also_where_a_command_made_it(desk: Desk) -> None:
    shutil.rmtree(desk.work / ".git")
    assert (await desk.run("git init -q")).disarmed == ()
    end = await desk.run("echo x > .git/config; echo x > .git/hooks/pre-commit")
    assert end.output.count("Read-only") == 2, end.output


def test_a_look_that_leaves_folders_out_is_told(tmp_path: Path) -> None:
    walks = Walks(most=3)
    for name in "abc":
        (tmp_path / name).mkdir()
    assert walks.look((str(tmp_path),)).is_partial
    (tmp_path / "a").rmdir()
    assert not walks.look((str(tmp_path),)).is_partial


def test_a_repository_behind_many_folders_that_a_command_made_is_found(tmp_path: Path) -> None:
    walks = Walks(most=5)
    before = walks.look((str(tmp_path),))
    for number in range(20):
        (tmp_path / f"{number:02}").mkdir()
    inner = tmp_path / "19" / "x" / ".git"
    inner.mkdir(parents=True)
    after = walks.look((str(tmp_path),), after=before)
    assert (str(inner) in after.named, after.is_partial) == (True, False)


def test_all_repositories_that_were_found_are_looked_at(tmp_path: Path) -> None:
    gits = [str(tmp_path / str(number) / ".git") for number in range(MOST_HELD + 1)]
    for git in gits:
        os.makedirs(git)
    assert repositories_in((str(tmp_path),), gits, None, is_deep=False) == gits
    assert repositories_in((str(tmp_path),), gits) == gits[:-1]


def test_of_hooks_little_is_kept_however_long_they_are(tmp_path: Path) -> None:
    hook = tmp_path / "x.git" / "hooks" / "pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_bytes(bytes(200_000))
    hook.chmod(0o755)
    disarmer = Disarmer(Repositories({}, lambda name: None))
    (kept,) = disarmer.look((str(tmp_path),), [str(tmp_path / "x.git")], [], []).values()
    assert len(repr(kept)) < 1_000


class _Counting(bytes):
    compared = 0

    def __eq__(self, other: object) -> bool:
        _Counting.compared += 1
        return bytes(self) == other

    def __hash__(self) -> int:
        return bytes.__hash__(self)


def test_what_is_new_is_found_without_comparing_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def many(first: str) -> tuple[_Counting, ...]:
        return tuple(_Counting(f"{first}{number}".encode()) for number in range(300))

    disarmer = Disarmer(Repositories({}, lambda name: None))
    monkeypatch.setattr(
        Repositories, "settings_in", lambda self, data: [(line, b"x") for line in many(f"a.{data.decode()}")]
    )
    key = ("todo", "/w/todo")
    assert len(disarmer.noticed((), (), {key: Todo(many("x"))}, {key: Todo(many("y"))})) == 300
    assert len(disarmer.noticed((), (), {("settings", "/w/config"): b"x"}, {("settings", "/w/config"): b"y"})) == 300
    assert _Counting.compared < 3_000


def test_of_many_long_settings_only_some_are_kept(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "config").write_bytes(b"#" * 250_000)
    disarmer = Disarmer(Repositories({}, lambda name: None))
    kept = disarmer.look((str(tmp_path),), [str(tmp_path / str(number)) for number in range(100)], [], []).values()
    assert (len(kept), len({mark_of(one) for one in kept})) == (100, 1)
    assert sum(len(repr(one)) for one in kept) < 17_000_000


def test_a_path_that_is_too_long_is_not_followed_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").write_text("gitdir: " + "a/" * 500_000)
    asked: list[str] = []
    monkeypatch.setattr(os, "lstat", lambda path, **_: asked.append(str(path)) or os.stat(path, follow_symlinks=False))
    assert not is_in(meant_by(str(tmp_path / ".git")), [str(tmp_path)])
    assert len(asked) < 100


async def test_commands_run_on_where_one_made_submodules_deep_within_each_other(desk: Desk) -> None:
    line = "for i in {1..400}; do mkdir modules; cd modules; touch config; done"
    await desk.run(f"mkdir .git/modules; cd .git/modules; {line}")
    async with asyncio.timeout(PATIENCE):
        assert (await desk.run("echo here")).output.strip() == "here"


async def test_a_repository_without_settings_gets_none_that_run_something(desk: Desk) -> None:
    (desk.work / ".git" / "config").unlink()
    end = await desk.run(f"git config -f .git/config core.fsmonitor {desk.evil}")
    assert "core.fsmonitor" in " ".join(end.disarmed), end.output
    desk.work_as_the_person_does()
    assert not desk.ran.exists()


async def test_a_look_sees_what_came_about_since_the_one_before(desk: Desk) -> None:
    walks = Walks()
    inner = desk.work / "a" / "b"
    inner.mkdir(parents=True)
    assert walks.look((str(desk.work),)).named == (str(desk.work / ".git"),)
    (inner / ".git").write_text("gitdir: x")
    os.utime(inner, (0, 0))
    assert walks.look((str(desk.work),)).named[1:] == (str(inner / ".git"),)
    (inner / ".git").unlink()
    assert walks.look((str(desk.work),)).named[1:] == ()


@pytest.mark.parametrize("around", [False, True])
async def test_a_home_folder_as_a_workspace_keeps_what_shells_and_logins_obey(desk: Desk, around: bool) -> None:
    home, root = desk.home / "me" if around else desk.home, desk.home
    programs = home / "tools" / "bin"
    for folder in (programs, home / ".config" / "git", home / ".ssh", home / "project" / "src"):
        folder.mkdir(parents=True)
    (home / ".bashrc").write_text("")
    (home / "notes.txt").write_text("")
    desk.git(home, "init", "-q", "project")
    environment = {**os.environ, "HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}"}
    runner = Runner(environment, folder=None)
    names = (
        ".bashrc",
        ".profile",
        ".ssh/rc",
        ".config/git/config",
        ".local/bin/ls",
        ".vscode/x",
        "bin/ls",
        "tools/bin/ls",
    )
    lines = [f"mkdir -p $(dirname {home}/{name}); echo x >> {home}/{name}" for name in names]
    lines += [f"mv {home}/.bashrc {home}/.b", f"echo x >> {home}/notes.txt; echo x > {home}/project/src/made"]
    running = await runner.start(
        "; ".join(lines),
        cwd=str(root),
        roots=(str(root),),
        limit_seconds=PATIENCE,
        sandbox=DEMANDED,
        on_output=lambda _: None,
    )
    end = await asyncio.wait_for(running.wait(), PATIENCE)
    await runner.close()
    assert "home folder" in end.sandbox
    assert [name for name in names if (home / name).exists() and (home / name).read_text()] == []
    assert (home / "notes.txt").read_text() == (home / "project" / "src" / "made").read_text() == "x\n", end.output
    assert (home / ".bashrc").exists()
    assert not (home / ".vscode").exists()


async def test_a_home_folder_that_is_a_repository_can_be_committed_in(desk: Desk) -> None:
    desk.git(desk.home, "init", "-q")
    end = await desk.run("git add .gitconfig && git -c user.name=A -c user.email=a@b.c commit -q -m x", desk.home)
    assert end.exit_code == 0, end.output
    end = await desk.run("echo x >> .git/config; echo x > .git/hooks/pre-commit", desk.home)
    assert end.output.count("Read-only") == 2, end.output
