"""Git merely looks, and what a repository of somebody else has it run then is seen."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.processes.environment import clean, program_finder
from gemini_companion.adapters.processes.repositories import SHADOW, Repositories, Strange, shadow_of
from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.tools.ports import SandboxWish
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE
from tests.support.reading_desk import ReadingDesk
from tests.support.shell_lines import rule


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
    "other attributes": ("[core]\n\tattributesFile = ../evil\n", "core.attributesfile"),
    "fetching what is missing": ("[extensions]\n\tpartialClone = evil\n", "extensions.partialclone"),
    "a promise of that": ('[remote "evil"]\n\tpromisor = true\n', "promisor"),
    "hooks elsewhere": ("[core]\n\thooksPath = hooks\n", "hook"),
    "a line behind a section": ('[diff "evil"] textconv = ./x\n', "textconv"),
    "capitals": ("[DIFF]\n\tEXTERNAL = ./x\n", "diff.external"),
    "the old way of sub-sections": ("[diff.evil]\n\ttextconv = ./x\n", "textconv"),
    "a line that goes on": ('[diff "evil"]\n\ttext\\\nconv = ./x\n', "cannot read its settings"),
    "a remark that ends as if it went on": ('[user]\n# \\\n[diff "evil"]\n\ttextconv = ./x\n', "diff.evil.textconv"),
    "one behind a value": ('[user]\n\tname = a ; \\\n[diff "evil"]\n\ttextconv = ./x\n', "diff.evil.textconv"),
    "a line end that is none": ('[diff "evil"]\n; \r[user]\n\ttextconv = ./x\n', "diff.evil.textconv"),
    "hooks elsewhere, with a remark": ("[core]\n\thooksPath = hooks # none\n", "post-index-change"),
    "hooks elsewhere, with a quote within": ('[core]\n\thooksPath = ho"oks"\n', "post-index-change"),
    "diffs of submodules": ("[diff]\n\tsubmodule = diff\n", "submodule"),
    "what nobody knows": ("[newer]\n\truns = ./x\n", "newer"),
    "too much": ("[user]\n" + "\tname = a\n" * 30_000, "long"),
    "an extension of large files": (
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n[lfs "extension.x"]\n\tclean = ./x\n',
        "lfs.extension.x.clean",
    ),
    "a transfer of large files": ('[lfs "customtransfer.x"]\n\tpath = ./x\n', "lfs.customtransfer.x.path"),
    "an agent of large files": ("[lfs]\n\tstandalonetransferagent = x\n", "lfs.standalonetransferagent"),
    "a driver that merges": ('[merge "x"]\n\tdriver = ./x %A\n', "merge.x.driver"),
    "a monitor": ("[core]\n\tfsmonitor = ./x\n", "core.fsmonitor"),
    "an update of submodules": ('[submodule "x"]\n\tupdate = !./x\n', "submodule.x.update"),
}


UNHEEDED = """
[core]
	sshCommand = ./x
	editor = ./x
[pager]
	log = ./x
	status = true
[credential]
	helper = !./x
[credential "https://github.com"]
	helper = ./x
[merge]
	tool = x
[merge "ours"]
	driver = true
[mergetool "x"]
	cmd = ./x
[interactive]
	diffFilter = ./x
[sequence]
	editor = ./x
[sendemail]
	smtpServer = ./x
[http "https://github.com/"]
	extraheader = AUTHORIZATION: x
	proxy = http://127.0.0.1:1
[remote "origin"]
	uploadpack = ./x
[pretty]
	short = %h
[format]
	signoff = true
[difftool "x"]
	cmd = ./x
"""
"""What people have in a repository's settings, and no git that looks heeds."""


@pytest.mark.process
def test_settings_of_what_does_more_than_look_are_not_asked_about(desk: ReadingDesk) -> None:
    repository(desk.work, UNHEEDED.replace("./x", str(desk.work / "x")))
    (desk.work / "hooks" / "post-index-change").unlink()
    (desk.work / "x").write_text(f"#!/bin/sh\ntouch {desk.home}/ran\n")
    (desk.work / "x").chmod(0o755)
    commit(desk.work, "status")
    (desk.work / "src" / "a.py").write_text("more\n")
    for line in (
        "status",
        "diff",
        "log -p -- src",
        "show -- src",
        "log --format=short",
        "branch -a",
        "remote -v",
        "blame src/a.py",
    ):
        verdict = desk.judged(f"git {line}")
        assert (line, verdict.decision, verdict.reason) == (line, "allow", "")
        subprocess.run(["git", *line.split()], cwd=desk.work, check=True, capture_output=True, timeout=PATIENCE)
    assert not (desk.home / "ran").exists()
    found = Repositories(clean(os.environ), program_finder(os.environ)).around(os.path.realpath(desk.work))
    assert found is not None
    assert {key.partition(b".")[0] for key, _ in found.settings} <= {b"core", b"pretty", b"merge"}


def runs(folder: Path) -> str:
    """Why git must not look into the repository around a folder unasked."""
    try:
        assert Repositories(clean(os.environ), program_finder(os.environ)).around(os.path.realpath(folder)) is not None
    except Strange as strange:
        return strange.reason
    return ""


def repository(folder: Path, settings: str = "") -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True, timeout=PATIENCE)
    with (folder / ".git" / "config").open("a", newline="") as file:
        file.write(settings)
    (folder / "hooks").mkdir(exist_ok=True)
    (folder / "hooks" / "post-index-change").write_text("#!/bin/sh\nid\n")


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_list_of_files_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    git = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", str(tmp_path)], env=git, check=True)
    os.mkfifo(tmp_path / ".git" / "index")
    with pytest.raises(Strange):
        Repositories(clean(git), program_finder(git)).around(str(tmp_path.resolve()))


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
    other = desk.home / "deep"
    subprocess.run(["git", "init", "-q", str(other)], check=True, timeout=PATIENCE)
    (other / "a.txt").write_text("x\n")
    commit(other, "status")
    commit(desk.work, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "web/deep")
    assert desk.judged("git diff").decision == "allow"
    kept = desk.work / ".git" / "modules" / "web" / "deep" / "config"
    before = kept.read_text()
    kept.write_text(before + '[filter "evil"]\n\tclean = ./x\n')
    assert "filter.evil.clean" in desk.judged("git status").reason
    kept.write_text(before)
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
    kept = (desk.work / "web" / "kept" if is_elsewhere else inner / ".git") / "config"
    kept.write_text(kept.read_text() + '[filter "evil"]\n\tclean = ./x\n')
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
    assert runs(desk.work / "src") == ""
    assert desk.judged("git status && git diff && git log --oneline -3").decision == "allow"


@pytest.mark.process
def test_a_worktree_is_judged_by_the_repository_it_belongs_to(desk: ReadingDesk, tmp_path: Path) -> None:
    main, linked = tmp_path / "main", desk.work / "linked"
    repository(main)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main)]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, timeout=PATIENCE)
    subprocess.run([*git, "worktree", "add", "-q", str(linked)], check=True, timeout=PATIENCE, capture_output=True)
    assert runs(linked) == ""
    with (main / ".git" / "config").open("a") as file:
        file.write("[diff]\n\texternal = ./x\n")
    assert "diff.external" in runs(linked)


BLANKS = st.text(alphabet=" \t\f\v\r\u00a0\u2003\u3000\u200b\ufeff", min_size=0, max_size=3)
ODD = st.builds(
    lambda before, name, after, end: before.encode() + name + after.encode() + end,
    *(BLANKS, st.sampled_from([b"g", b"./g", b"a b", b"\xff", b"g\xe9", b"."]), BLANKS),
    st.sampled_from([b"", b"\n", b"\r\n", b"\n\n", b"\r", b"\n "]),
)


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose settings run something, and one whose settings do not."""
    folder = tmp_path_factory.mktemp("ground")
    for name in ("harmless", "hostile"):
        subprocess.run(["git", "init", "-q", name], cwd=folder, check=True, timeout=PATIENCE)
        (folder / name / "a.txt").write_text("1\n")
        (folder / name / ".gitattributes").write_text("* filter=x diff=x\n")
        commit(folder / name, "status")
    with (folder / "hostile" / ".git" / "config").open("a") as file:
        program = f"touch '{folder / 'canary'}'; cat"
        file.write(f'[filter "x"]\n\tclean = "{program}"\n[diff "x"]\n\ttextconv = "{program}"\n')
    return folder


def put(ground: Path, work: Path, named: bytes, *, is_hostile: bool) -> None:
    """Put one of the two repositories where a name leads, read as it stands."""
    place = os.path.join(os.fsencode(work), named)
    source = ground / ("hostile" if is_hostile else "harmless") / ".git"
    if not os.path.lexists(place):
        shutil.copytree(source, os.fsdecode(place))


@pytest.mark.process
@settings(max_examples=40, deadline=None, suppress_health_check=(HealthCheck.too_slow,))
@given(ODD, st.booleans())
def test_however_a_file_spells_where_the_repository_is_nothing_of_its_own_runs_unasked(
    ground: Path, spelled: bytes, in_common: bool
) -> None:
    work = ground / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    (work / "a.txt").write_text("two\n")
    (work / ".gitattributes").write_text("* filter=x diff=x\n")
    if in_common:
        put(ground, work, b".git", is_hostile=False)
        (work / ".git" / "config").unlink()
        (work / ".git" / "commondir").write_bytes(b"../" + spelled)
    else:
        (work / ".git").write_bytes(b"gitdir: " + spelled)
    name = spelled.rstrip(b"\r\n")
    for other in dict.fromkeys((name, name.strip(), spelled.decode("utf-8", "replace").strip().encode())):
        if other.strip(b"."):
            put(ground, work, other, is_hostile=other == name)
    desk = ReadingDesk.of(work)
    for line in ("git status", "git log -p", "git diff"):
        if desk.judged(line).decision == "allow":
            environment = clean(os.environ)
            subprocess.run(["bash", "-c", line], cwd=work, env=environment, capture_output=True, timeout=PATIENCE)
    assert not (ground / "canary").exists()


@pytest.mark.process
def test_a_folder_that_is_a_repository_by_itself_is_asked_about_whatever_git_knows(desk: ReadingDesk) -> None:
    repository(desk.work)
    commit(desk.work, "status")
    inner = desk.work / "docs" / "inner"
    shutil.copytree(desk.work / ".git", inner)
    assert desk.judged("cd docs && git log").decision == "allow"
    assert desk.judged("cd docs/inner && git log").decision == "ask"


@pytest.mark.process
def test_a_line_that_looks_into_two_repositories_is_asked_about(desk: ReadingDesk) -> None:
    repository(desk.work)
    repository(desk.work / "docs")
    assert desk.judged("git status").decision == "allow"
    assert desk.judged("cd docs && git status").decision == "allow"
    assert "more than one" in desk.judged("git status && cd docs && git status").reason


@pytest.mark.process
def test_no_rule_lets_a_repository_run_its_own(desk: ReadingDesk) -> None:
    repository(desk.work, "[diff]\n\texternal = ./x\n")
    verdict = desk.judged("git diff", rule("git", "diff"))
    assert (verdict.decision, verdict.suggested) == ("ask", None)


@pytest.mark.process
@pytest.mark.parametrize("line", ["git status", "git diff", "git log -p", "git blame a.txt", "git describe --dirty"])
def test_settings_that_come_after_the_judgement_do_not_count(tmp_path: Path, line: str) -> None:
    work, canary = tmp_path / "work", tmp_path / "canary"
    repository(work)
    (work / "hooks" / "post-index-change").unlink()
    (work / "a.txt").write_text("1\n")
    (work / ".gitattributes").write_text("* filter=x diff=x\n")
    commit(work, "tag", "-a", "v1", "-m", "x")
    environment = clean(os.environ)
    found = Repositories(environment, program_finder(os.environ)).around(os.path.realpath(work))
    assert found is not None
    variables = shadow_of(found, str(tmp_path / "shadow"))
    program = f"touch '{canary}'; cat"
    with (work / ".git" / "config").open("a") as file:
        file.write(
            f'[filter "x"]\n\tclean = "{program}"\n\tprocess = "{program}"\n[core]\n\tfsmonitor = "{program}"\n'
            f'[diff]\n\texternal = "{program}"\n[diff "x"]\n\ttextconv = "{program}"\n\tcommand = "{program}"\n'
        )
    hook = work / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{canary}'\n")
    hook.chmod(0o755)
    (work / "a.txt").write_text("2\n")
    how: dict[str, Any] = {"cwd": work, "capture_output": True, "timeout": PATIENCE, "text": True}
    ran = subprocess.run(["bash", "-c", line], env={**environment, **variables}, check=True, **how)
    assert ran.stdout
    assert not canary.exists()
    subprocess.run(["git", "status"], env=environment, check=False, **how)
    assert canary.exists()  # else nothing is said by its absence


@pytest.mark.process
def test_with_settings_of_ours_git_says_the_same(tmp_path: Path) -> None:
    work = tmp_path / "work"
    repository(
        work,
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[remote "origin"]\n'
        '\turl = "https://example.com/a \\"b\\" \\\\c.git"\n[core]\n\tquotepath\n[user]\n\tname = "Ä ; #"\n',
    )
    (work / "a.txt").write_text("1\n")
    commit(work, "tag", "v1")
    (work / "a.txt").write_text("2\n")
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "tree")], cwd=work, check=True, timeout=PATIENCE)
    for folder, number in ((work, 1), (tmp_path / "tree", 2)):
        found = Repositories(clean(os.environ), program_finder(os.environ)).around(os.path.realpath(folder))
        assert found is not None
        variables = shadow_of(found, str(tmp_path / f"shadow{number}"))
        lines = ("status -sb", "log --oneline --all --decorate", "diff", "rev-parse --absolute-git-dir --show-toplevel")
        for line in (*lines, "config user.name", "config remote.origin.url", "branch -a", "ls-files -s"):
            said = [
                subprocess.run(
                    ["git", *line.split()], cwd=folder, env=one, capture_output=True, check=True, timeout=PATIENCE
                ).stdout
                for one in (clean(os.environ), clean(os.environ) | variables)
            ]
            assert said[0] == said[1], line


@pytest.mark.process
@pytest.mark.parametrize("wish", [SandboxWish(use="off"), SandboxWish(), SandboxWish(chat="chat")])
async def test_the_runner_looks_with_settings_of_ours_and_leaves_nothing_behind(
    tmp_path: Path, wish: SandboxWish
) -> None:
    work = tmp_path / "work"
    repository(work)
    (work / "hooks" / "post-index-change").unlink()
    (work / "a.txt").write_text("1\n")
    commit(work, "status")
    (work / "a.txt").write_text("2\n")
    runner = Runner({**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}, folder=str(tmp_path / "outputs"))

    async def said(line: str) -> str:
        started = await runner.start(
            line,
            cwd=str(work),
            roots=(str(work),),
            limit_seconds=PATIENCE,
            sandbox=wish,
            on_output=lambda text: None,
            looks_in=str(work),
        )
        return (await started.wait()).output

    try:
        shadow = (await said("git rev-parse --git-common-dir")).strip()
        assert SHADOW in shadow
        assert not os.path.exists(shadow)
        assert "+2" in await said("timeout 60 git diff | cat")
        with (work / ".git" / "config").open("a") as file:
            file.write("[diff]\n\texternal = ./x\n")
        with pytest.raises(ToolRefusal, match=r"diff\.external"):
            await said("git diff")
    finally:
        await runner.close()


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_question_about_a_repository_of_another_owner_says_what_to_do(desk: ReadingDesk) -> None:
    repository(desk.work)
    for path in (desk.work, desk.work / ".git"):
        os.chown(path, 65534, -1)
    verdict = desk.judged("git status")
    assert verdict.decision == "ask"
    assert f"{desk.work} belongs to another user" in verdict.reason
    assert f"git config --global --add safe.directory {desk.work}" in verdict.reason


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "by_hand"),
    [
        ("git log -p -1", "git log"),
        ("git diff HEAD | head -5", "head"),
        ("ls -a; git status", "ls"),
        ("git show --stat", "git"),
        ("git diff && git log -1", "git diff"),
    ],
)
def test_a_line_that_only_looks_has_settings_of_ours_beside_a_rule_too(
    desk: ReadingDesk, line: str, by_hand: str
) -> None:
    committed(desk)
    assert desk.judged(line, rule(*by_hand.split())).looks_in == str(desk.work)


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "by_hand"),
    [
        ("git log -1 && npm test", "npm"),
        ("git diff | gadget", "gadget"),
        ("git log -1; git push", "git push"),
        ("git branch -D topic", "git branch -D"),
        ("git status && sed -i s/x/y/ src/a.py", "sed -i"),
    ],
)
def test_beside_what_may_do_more_no_program_has_settings_of_ours(desk: ReadingDesk, line: str, by_hand: str) -> None:
    committed(desk)
    assert desk.judged(line, rule(*by_hand.split())).looks_in == ""


def committed(desk: ReadingDesk) -> None:
    repository(desk.work)
    who = ("-c", "user.name=n", "-c", "user.email=a@b.c")
    for words in (("add", "src"), (*who, "commit", "-qm", "one")):
        subprocess.run(["git", "-C", str(desk.work), *words], check=True, timeout=PATIENCE)
