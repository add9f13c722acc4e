"""Which files may be shown to a model, decided on real files."""

import errno
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.engine.history.log import Withheld


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


async def reason(path: Path | str, *folders: Path | str, workspace: DiskWorkspace | None = None) -> str | None:
    answer = (await (workspace or DiskWorkspace()).admit([str(path)], [str(folder) for folder in folders]))[str(path)]
    return answer.reason if answer else None


async def test_an_ordinary_file_in_a_folder_is_admitted(ws: Path):
    assert await reason(write(ws / "src" / "a.py"), ws) is None


async def test_every_path_gets_its_own_answer_and_a_refusal_names_the_base_name_only(ws: Path):
    good, secret = str(write(ws / "a.py")), str(write(ws / "deep" / ".env"))
    assert await DiskWorkspace().admit([good, secret], [str(ws)]) == {
        good: None,
        secret: Withheld(name=".env", reason="a secret by its name"),
    }
    assert await DiskWorkspace().admit([], [str(ws)]) == {}


@pytest.mark.parametrize("path", ["", "a.py", "./a.py", "~/a.py", "/ws/a\0.py"])
async def test_only_absolute_paths_are_looked_at(ws: Path, path: str):
    assert await reason(path, ws) == "not an absolute path"


async def test_what_is_no_regular_file_on_disk_is_refused(ws: Path):
    assert await reason(ws / "gone.py", ws) == "not on disk"
    assert await reason(write(ws / "a") / "b", ws) == "not on disk"
    assert await reason(str(ws) + "/" + "x" * 250 + "/" + "y" * 250, ws) == "not on disk"
    (ws / "folder").mkdir()
    assert await reason(ws / "folder", ws) == "not a regular file"
    assert await reason(ws, ws) == "not a regular file"
    os.mkfifo(ws / "pipe")
    assert await reason(ws / "pipe", ws) == "not a regular file"
    (ws / "loop").symlink_to(ws / "loop")
    assert await reason(ws / "loop", ws) == "not on disk"


async def test_files_outside_the_folders_are_refused(ws: Path, tmp_path: Path):
    outside = write(tmp_path / "ws-other" / "a.py")
    assert await reason(outside, ws) == "outside the workspace folders"
    assert await reason(f"{ws}/../ws-other/a.py", ws) == "outside the workspace folders"
    assert await reason(write(ws / "a.py")) == "outside the workspace folders"
    assert (
        await reason(write(ws / "a.py"), "ws", "", "/no\0where", tmp_path / "gone") == "outside the workspace folders"
    )


async def test_a_link_that_leads_out_is_refused_and_one_that_stays_inside_is_admitted(ws: Path, tmp_path: Path):
    (ws / "out.py").symlink_to(write(tmp_path / "secret.py"))
    (ws / "in.py").symlink_to(write(ws / "real.py"))
    (ws / "outdir").symlink_to(tmp_path)
    assert await reason(ws / "out.py", ws) == "outside the workspace folders"
    assert await reason(ws / "outdir" / "secret.py", ws) == "outside the workspace folders"
    assert await reason(ws / "in.py", ws) is None


async def test_a_folder_may_itself_be_a_link(ws: Path, tmp_path: Path):
    write(ws / ".gitignore", "b.py")
    alias = tmp_path / "alias"
    alias.symlink_to(ws)
    assert await reason(write(ws / "a.py"), alias) is None
    assert await reason(alias / "a.py", alias) is None
    assert await reason(alias / "a.py", ws) is None
    assert await reason(write(ws / "b.py"), alias) == "ignored by .gitignore"
    assert await reason(alias / "b.py", alias) == "ignored by .gitignore"


@pytest.mark.parametrize("name", [".env", ".env.local", "server.pem", "id_rsa", ".ssh/config", "tls/site.crt"])
async def test_secrets_are_refused_by_name(ws: Path, name: str):
    assert await reason(write(ws / name), ws) == "a secret by its name"


async def test_another_name_does_not_show_a_secret(ws: Path):
    (ws / "notes.txt").symlink_to(write(ws / ".env"))
    assert await reason(ws / "notes.txt", ws) == "a secret by its real name"


async def test_what_belongs_to_git_is_refused(ws: Path):
    assert await reason(write(ws / ".git" / "config"), ws) == "belongs to git"
    assert await reason(write(ws / "sub" / ".git" / "COMMIT_EDITMSG"), ws) == "belongs to git"


async def test_ignore_files_of_every_directory_on_the_way_count(ws: Path):
    write(ws / ".gitignore", "*.log\n!keep.log\n/build/\n")
    write(ws / "a" / ".gitignore", "hidden.txt\n!b.log\n")
    expected = {
        "x.log": "ignored by .gitignore",
        "keep.log": None,
        "build/out.js": "ignored by .gitignore",
        "a/build/out.js": None,
        "a/hidden.txt": "ignored by .gitignore",
        "a/deep/hidden.txt": "ignored by .gitignore",
        "hidden.txt": None,
        "a/b.log": None,
        "a/c.log": "ignored by .gitignore",
    }
    assert {name: await reason(write(ws / name), ws) for name in expected} == expected


async def test_nothing_in_an_ignored_directory_is_taken_back_in(ws: Path):
    write(ws / ".gitignore", "dir/\n!dir/file.txt\n")
    write(ws / "dir" / ".gitignore", "!file.txt\n")
    assert await reason(write(ws / "dir" / "file.txt"), ws) == "ignored by .gitignore"


async def test_the_two_kinds_of_ignore_files_are_judged_apart(ws: Path):
    write(ws / ".gitignore", "a.txt\n")
    write(ws / ".geminiignore", "!a.txt\nb.txt\nprivate/\n")
    assert await reason(write(ws / "a.txt"), ws) == "ignored by .gitignore"
    assert await reason(write(ws / "b.txt"), ws) == "ignored by .geminiignore"
    assert await reason(write(ws / "private" / "x"), ws) == "ignored by .geminiignore"


async def test_a_changed_ignore_file_counts_at_once(ws: Path):
    workspace = DiskWorkspace()
    path = write(ws / "a.txt")
    assert await reason(path, ws, workspace=workspace) is None
    write(ws / ".gitignore", "a.txt\n")
    assert await reason(path, ws, workspace=workspace) == "ignored by .gitignore"
    write(ws / ".gitignore", "other.txt\n")
    assert await reason(path, ws, workspace=workspace) is None
    (ws / ".gitignore").unlink()
    assert await reason(path, ws, workspace=workspace) is None


async def test_the_rules_of_the_repository_around_a_folder_count(tmp_path: Path):
    write(tmp_path / ".git" / "info" / "exclude", "excluded.txt\n")
    write(tmp_path / ".gitignore", "node_modules/\n/packages/app/gen.py\n")
    app = tmp_path / "packages" / "app"
    assert await reason(write(app / "node_modules" / "x.js"), app) == "ignored by .gitignore"
    assert await reason(write(app / "gen.py"), app) == "ignored by .gitignore"
    assert await reason(write(app / "excluded.txt"), app) == "ignored by .gitignore"
    assert await reason(write(app / "main.py"), app) is None


async def test_a_folder_that_is_itself_ignored_can_be_worked_in(tmp_path: Path):
    write(tmp_path / ".git" / "HEAD")
    write(tmp_path / ".gitignore", "scratch/\n")
    assert await reason(write(tmp_path / "scratch" / "a.py"), tmp_path / "scratch") is None
    assert await reason(tmp_path / "scratch" / "a.py", tmp_path) == "ignored by .gitignore"


async def test_of_nested_folders_the_innermost_ones_rules_hold(ws: Path):
    write(ws / ".gitignore", "sub/\n*.txt\n")
    write(ws / "sub" / ".gitignore", "*.md\n")
    assert await reason(write(ws / "sub" / "a.txt"), ws, ws / "sub") is None
    assert await reason(write(ws / "sub" / "a.md"), ws / "sub", ws) == "ignored by .gitignore"


async def test_a_worktrees_exclude_file_is_found(tmp_path: Path):
    tree = tmp_path / "tree"
    write(tmp_path / "main" / ".git" / "info" / "exclude", "local.txt\n")
    write(tmp_path / "main" / ".git" / "worktrees" / "tree" / "commondir", "../..\n")
    write(tree / ".git", "gitdir: ../main/.git/worktrees/tree\n")
    assert await reason(write(tree / "local.txt"), tree) == "ignored by .gitignore"
    assert await reason(write(tree / "other.txt"), tree) is None


async def test_a_link_in_an_ignored_place_does_not_show_its_target(ws: Path):
    write(ws / ".gitignore", "hidden\n")
    (ws / "hidden").symlink_to(write(ws / "real" / "a.txt").parent)
    assert await reason(ws / "hidden" / "a.txt", ws) == "ignored by .gitignore"
    assert await reason(ws / "real" / "a.txt", ws) is None


async def test_a_file_too_deep_is_refused(ws: Path):
    assert await reason(write(ws.joinpath(*["d"] * 70) / "a.txt"), ws) == "too deep below its folder"


async def test_names_that_are_no_text_are_refused_fit_for_json(ws: Path):
    answer = await DiskWorkspace().admit(["/x/a\udcff.py"], [str(ws)])
    (refusal,) = answer.values()
    assert refusal is not None
    assert refusal.name == "a?.py"


async def test_a_file_behind_a_closed_door_is_refused(ws: Path, monkeypatch: pytest.MonkeyPatch):
    def closed(path: str) -> os.stat_result:
        raise PermissionError(errno.EACCES, "closed", path)

    path = write(ws / "a.txt")
    monkeypatch.setattr("gemini_companion.adapters.workspace.disk.os.stat", closed)
    assert await reason(path, ws) == "no permission"


RULES = {
    ".gitignore": (
        "*\n!*/\n!*.py\n!/docs/**\nfoo/**\n!foo/keep.py\n[[:upper:]]*.py\n/top.py\n**/deep/**/x.py\n\\!odd.py\n\\#hash.py\nsp\\"
        " ace.py\ntrail.py   \n"
    ),
    "pkg/.gitignore": "*.py\r\n!a[0-9].py\r\nsub/*\r\n!sub/b.py\r\n",
    "pkg/sub/.gitignore": "!c.py\n/b.py/\n",
    "docs/.gitignore": "*~\n**/gen\n[z-a]\n[open\n//\n/\n!\n",
}
NAMES = [
    *(
        "a.py",
        "a.txt",
        "top.py",
        "Upper.py",
        "x/top.py",
        "foo/keep.py",
        "foo/bar/keep.py",
        "docs/a.txt",
        "docs/a.txt~",
        "docs/x/gen/y",
    ),
    *("docs/x/generated", "deep/x.py", "a/deep/b/x.py", "a/deep/x.py", "!odd.py", "#hash.py", "trail.py", "sp ace.py"),
    *("pkg/a1.py", "pkg/ab.py", "pkg/sub/b.py", "pkg/sub/c.py", "pkg/sub/d.py", "pkg/x/a2.py", "pkg/x/b.py"),
]


def ignored_by_git(ws: Path) -> set[str]:
    """What git says of `NAMES` under `RULES`, in a new repository."""
    subprocess.run(["git", "init", "-q", str(ws)], check=True)
    for name in NAMES:
        write(ws / name)
    for name, text in RULES.items():
        (ws / name).write_text(text, "utf-8", newline="")
    command = ["git", "-C", str(ws), "check-ignore", "-z", "--stdin", "--no-index"]
    asked = subprocess.run(command, input="\0".join(NAMES).encode(), capture_output=True, check=False)
    return set(asked.stdout.decode().split("\0")) - {""}


@pytest.mark.parametrize("name", [".gitignore", ".geminiignore"])
@pytest.mark.parametrize("text", ["a\n" * 20_000, "#" * (1 << 20) + "\n", "*.xyz\n" * 15_000])
async def test_an_ignore_file_that_is_too_large_hides_its_folder_and_says_so(
    ws: Path, caplog: pytest.LogCaptureFixture, name: str, text: str
):
    write(ws / "big" / name, text)
    write(ws / "small" / name, "b.py")
    expected = f"ignored by {name}, which is too large to be read"
    assert await reason(write(ws / "big" / "deep" / "b.py"), ws) == expected
    assert await reason(write(ws / "small" / "a.py"), ws) is None
    assert caplog.text.count("Everything in its folder is ignored until you shorten it") == 1
    write(ws / "big" / name, "*.x")
    assert await reason(ws / "big" / "deep" / "b.py", ws) is None


@pytest.mark.parametrize("name", [".gitignore", ".geminiignore"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_an_ignore_file_is_read_by_its_byte_order_mark(ws: Path, name: str, encoding: str):
    (ws / name).write_bytes("private/\r\nb.py\r\n".encode(encoding))  # as PowerShell's `>` writes it
    assert await reason(write(ws / "private" / "a.py"), ws) == f"ignored by {name}"
    assert await reason(write(ws / "b.py"), ws) == f"ignored by {name}"
    assert await reason(write(ws / "a.py"), ws) is None


@pytest.mark.parametrize("name", [".gitignore", ".geminiignore"])
@pytest.mark.parametrize("data", ["private/\n".encode("utf-16-le"), b"\xff\xfea", b"a\0b\n"])
async def test_an_ignore_file_that_is_no_text_hides_its_folder_and_says_so(
    ws: Path, caplog: pytest.LogCaptureFixture, name: str, data: bytes
):
    (ws / name).write_bytes(data)
    assert await reason(write(ws / "a.py"), ws) == f"ignored by {name}, which is no text that can be read"
    assert await reason(ws / "a.py", ws)
    assert caplog.text.count("Everything in its folder is ignored until you save it as UTF-8") == 1


def put_in_its_place(path: Path, strange: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match strange:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case _:
            path.symlink_to({"link to nothing": "gone", "unreadable": "/proc/self/mem"}.get(strange, strange))


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="no file here that nobody can read")
@pytest.mark.parametrize("name", [".geminiignore", ".gitignore", ".git/info/exclude"])
@pytest.mark.parametrize("strange", ["link to nothing", "loop", "unreadable"])
async def test_an_ignore_file_that_cannot_be_read_hides_its_folder_and_says_so(
    ws: Path, caplog: pytest.LogCaptureFixture, name: str, strange: str
):
    put_in_its_place(ws / "a" / name, strange)
    write(ws / "b.py")
    kind = "info/exclude of git" if "info" in name else name
    workspace = DiskWorkspace()
    assert await reason(write(ws / "a" / "deep" / "a.py"), ws, workspace=workspace) == (
        f"ignored by {kind}, which cannot be read"
    )
    assert await reason(ws / "a" / "deep" / "a.py", ws)
    assert await reason(ws / "b.py", ws, workspace=workspace) is None
    assert caplog.text.count("Everything in its folder is ignored until you mend it or take it away") == 1
    (ws / "a" / name).unlink()
    assert await reason(ws / "a" / "deep" / "a.py", ws, workspace=workspace) is None


@pytest.mark.skipif(os.name != "posix", reason="no such files here")
@pytest.mark.parametrize("strange", ["folder", "pipe", "/dev/zero"])
async def test_a_geminiignore_that_is_no_file_hides_its_folder_and_a_gitignore_hides_what_git_hides(
    ws: Path, caplog: pytest.LogCaptureFixture, strange: str
):
    put_in_its_place(ws / "git" / ".gitignore", strange)
    assert await reason(write(ws / "git" / "a.py"), ws) is None
    put_in_its_place(ws / "gemini" / ".geminiignore", strange)
    assert await reason(write(ws / "gemini" / "a.py"), ws) == "ignored by .geminiignore, which cannot be read"
    assert caplog.text.count(".geminiignore is no file. Everything in its folder is ignored") == 1


@pytest.mark.skipif(os.name != "posix", reason="no such device here")
@pytest.mark.parametrize("name", [".geminiignore", ".gitignore"])
async def test_an_ignore_file_that_is_linked_to_the_empty_device_has_no_rules(ws: Path, name: str):
    (ws / name).symlink_to(os.devnull)
    assert await reason(write(ws / "a.py"), ws) is None


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.process
async def test_git_itself_agrees(ws: Path):
    ignored = ignored_by_git(ws)
    assert ignored
    answers = await DiskWorkspace().admit([str(ws / name) for name in NAMES], [str(ws)])
    assert {name for name in NAMES if answers[str(ws / name)]} == ignored
