"""What commands of one chat share, which sockets they reach, what they cannot make, and what they get to know."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

import gemini_companion
from gemini_companion.adapters.files.stamps import StampScan
from gemini_companion.adapters.processes import bubblewrap, git_folders, reaper
from gemini_companion.adapters.processes.placeholders import FOLDERS
from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.adapters.processes.sandbox import Sandboxes
from gemini_companion.tools.ports import CommandEnd, RunningCommand, SandboxWish
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="needs bubblewrap")]

AUTHOR = "-c user.name=A -c user.email=a@b.c"
CONNECT = """\
import socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("connected to", path)
    except OSError:
        print("refused by", path)
"""
SERVE = """\
import socket, sys, time
kept = []
for path in sys.argv[1:]:
    one = socket.socket(socket.AF_UNIX)
    one.bind(path)
    one.listen()
    kept.append(one)
print("serving", flush=True)
time.sleep(1000)
"""


class Desk:
    """A home folder with a workspace in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir()
        (self.work / "connect.py").write_text(CONNECT)
        (self.work / "serve.py").write_text(SERVE)
        self.environment = {**os.environ, "HOME": str(home)}
        self.runner = Runner(self.environment, folder=None)

    async def start(self, line: str, on_output: Callable[[str], None] = lambda _: None, **wish: Any) -> RunningCommand:
        given: dict[str, Any] = {"use": "required", "chat": "one", **wish}
        return await self.runner.start(
            line,
            cwd=str(self.work),
            roots=(str(self.work),),
            limit_seconds=PATIENCE,
            sandbox=SandboxWish(**given),
            on_output=on_output,
        )

    async def run(self, line: str, **wish: Any) -> CommandEnd:
        return await asyncio.wait_for((await self.start(line, **wish)).wait(), PATIENCE)

    async def left_running(self, line: str, until: str, **wish: Any) -> RunningCommand:
        """A command that has put out what says that it is ready."""
        heard: list[str] = []
        running = await self.start(line, heard.append, **wish)
        async with asyncio.timeout(PATIENCE):
            while until not in "".join(heard):
                await asyncio.sleep(0.01)
        return running

    async def connected(self, *paths: str, **wish: Any) -> list[str]:
        """The sockets that a command reaches."""
        words = " ".join(f"'{path}'" for path in paths)
        said = ["bwrap: "]
        while said[0].startswith("bwrap: "):  # a socket of another test went while it was to be covered
            said = (await self.run(f"python3 connect.py {words}", **wish)).output.splitlines()
        assert len(said) == len(paths), said
        return [line.removeprefix("connected to ") for line in said if line.startswith("connected")]


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    home = Path(mkdtemp(prefix="chats-", dir=os.path.expanduser("~"))).resolve()
    desk = Desk(home)
    try:
        said = desk.runner.describe_sandbox(SandboxWish(use="required", chat="one"), (str(desk.work),))
    except ToolRefusal as none:
        said = none.message
    if "a /tmp of this chat" not in said:
        shutil.rmtree(home)
        pytest.skip(said)
    yield desk
    await desk.runner.close()
    shutil.rmtree(home)


@pytest.fixture
def listen() -> Iterator[Callable[..., str]]:
    opened: list[socket.socket] = []

    def one(path: Path, *, is_relative: bool = False) -> str:
        server = socket.socket(socket.AF_UNIX)
        opened.append(server)
        if is_relative:
            before = os.getcwd()
            os.chdir(path.parent)
            server.bind(path.name)
            os.chdir(before)
        else:
            server.bind(str(path))
        server.listen()
        return str(path)

    yield one
    for server in opened:
        server.close()


# --- sockets


@pytest.mark.parametrize("network", [False, True])
async def test_no_socket_of_this_machine_is_reached_wherever_it_is(
    desk: Desk, listen: Callable[..., str], network: bool
) -> None:
    (desk.home / ".config" / "Code").mkdir(parents=True)
    paths = [
        listen(desk.home / "agent.sock"),
        listen(desk.home / ".config" / "Code" / "1.sock"),
        listen(desk.home / "relative.sock", is_relative=True),
        listen(desk.work / "in the workspace.sock"),
    ]
    assert await desk.connected(*paths, network=network) == []


async def test_a_socket_that_is_made_while_a_command_runs_is_not_reached(
    desk: Desk, listen: Callable[..., str]
) -> None:
    path = desk.home / "later.sock"
    running = await desk.start(f"until [ -e go ]; do :; done; python3 connect.py {path}")
    listen(path)
    (desk.work / "go").touch()
    end = await asyncio.wait_for(running.wait(), PATIENCE)
    assert end.output == f"refused by {path}\n"


WITHOUT_A_FILE = """\
import socket, sys
own = socket.socket(socket.AF_UNIX)
own.bind("\\0own" + sys.argv[1])
own.listen()
for name in ("own" + sys.argv[1], sys.argv[1]):
    try:
        socket.socket(socket.AF_UNIX).connect("\\0" + name)
        print("connected")
    except OSError:
        print("refused")
socket.create_connection(("127.0.0.1", int(sys.argv[2]))).close()
"""


@pytest.mark.skipif(not reaper.can_set_apart(), reason="needs Linux 6.12")
async def test_a_command_with_network_reaches_no_socket_of_this_machine_that_has_no_file(desk: Desk) -> None:
    """X11 and D-Bus have some; they are there wherever the network is."""
    (desk.work / "try.py").write_text(WITHOUT_A_FILE)
    name = f"companion-{desk.home.name}"
    with socket.socket(socket.AF_UNIX) as theirs, socket.create_server(("127.0.0.1", 0)) as server:
        theirs.bind(f"\0{name}")
        theirs.listen()
        end = await desk.run(f"python3 try.py {name} {server.getsockname()[1]}", network=True)
    assert (end.output.split(), end.exit_code) == (["connected", "refused"], 0)


@pytest.mark.parametrize("can", [True, False])
async def test_that_sockets_without_a_file_are_reached_is_said_where_it_is_so(
    desk: Desk, can: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "can_set_apart", lambda: can)
    said = [
        desk.runner.describe_sandbox(SandboxWish(chat=chat, network=network), (str(desk.work),))
        for chat, network in (("one", True), ("", True), ("one", False))
    ]
    assert ["Sockets without a file" in line for line in said] == [not can, True, False]


async def test_commands_of_a_chat_reach_each_others_sockets(desk: Desk) -> None:
    running = await desk.left_running("python3 serve.py mine.sock /tmp/mine.sock", "serving")
    assert await desk.connected("mine.sock", "/tmp/mine.sock") == ["mine.sock", "/tmp/mine.sock"]
    assert await desk.connected("/tmp/mine.sock", chat="two") == []
    await running.stop()


async def test_a_socket_that_the_person_names_is_reached_and_no_other(desk: Desk, listen: Callable[..., str]) -> None:
    named, other = listen(desk.home / "named.sock"), listen(desk.home / "other.sock")
    wish = SandboxWish(chat="one", sockets=(named,))
    assert named in desk.runner.describe_sandbox(wish, (str(desk.work),))
    assert await desk.connected(named, other, sockets=(named,)) == [named]


def failing(folder: Path, word: str) -> tuple[str]:
    """A bubblewrap that does not know an option."""
    program = folder / "bwrap"
    real = bubblewrap.find(os.environ["PATH"])[-1]
    program.write_text(f'#!/bin/sh\nfor one; do [ "$one" = {word} ] && exit 1; done\nexec {real} "$@"\n')
    program.chmod(0o755)
    return (str(program),)


async def test_without_layers_the_sockets_that_are_there_are_covered_and_that_is_said(
    desk: Desk, listen: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = failing(tmp_path, "--ro-overlay")
    monkeypatch.setattr(bubblewrap, "find", lambda path: programs)
    desk.runner = Runner(desk.environment, folder=None)
    paths = [listen(desk.home / "a.sock"), listen(desk.work / "b.sock")]
    said = desk.runner.describe_sandbox(SandboxWish(chat="one"), (str(desk.work),))
    assert "Sockets that other programs open later can be reached." in said
    assert await desk.connected(*paths) == []


async def test_a_command_that_joins_no_chat_reaches_no_socket_that_is_there(
    desk: Desk, listen: Callable[..., str]
) -> None:
    assert await desk.connected(listen(desk.home / "a.sock"), listen(desk.work / "b.sock"), chat="") == []


def test_what_is_held_for_no_command_is_a_sandbox_all_the_same(desk: Desk) -> None:
    sandboxes = Sandboxes(home=str(desk.home), private=(), environment=desk.environment, platform="linux")
    held = sandboxes.choose(SandboxWish(use="required"), (str(desk.work),), is_used=False)
    assert held.arguments[-1:] == ("ALL",)
    assert (held.namespaces, held.placeholders) == ((), ())
    assert not (desk.work / ".vscode").exists()
    tried = [*held.arguments, "--", "touch", str(desk.home / "made")]
    assert subprocess.run(tried, check=False, capture_output=True).returncode == 1


# --- what commands of a chat share


async def test_a_server_is_tried_by_the_chats_next_command_and_by_no_other_chat(desk: Desk) -> None:
    (desk.work / "index.html").write_text("HELLO\n")
    serve = "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler);"
    line = f"python3 -u -c \"{serve} print('port', s.server_port, 'ready'); s.serve_forever()\""
    running = await desk.left_running(line, "ready")
    port = running.latest().split()[1]
    get = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}/index.html').read())"
    assert "HELLO" in (await desk.run(f'python3 -c "{get}"')).output
    assert "HELLO" not in (await desk.run(f'python3 -c "{get}"', chat="two")).output
    with socket.socket() as here:
        assert here.connect_ex(("127.0.0.1", int(port))) != 0
    await running.stop()
    assert "HELLO" not in (await desk.run(f'python3 -c "{get}"')).output


async def test_a_file_in_tmp_is_there_for_the_chats_next_command_and_nowhere_else(desk: Desk) -> None:
    await desk.run("echo kept | tee /tmp/of-a-chat > /var/tmp/of-a-chat")
    assert (await desk.run("cat /tmp/of-a-chat /var/tmp/of-a-chat")).output == "kept\nkept\n"
    assert (await desk.run("cat /tmp/of-a-chat", network=True)).output == "kept\n"
    assert (await desk.run("cat /tmp/of-a-chat", chat="two")).exit_code == 1
    assert not Path("/tmp/of-a-chat").exists()
    desk.runner.forget("one")
    assert (await desk.run("cat /tmp/of-a-chat")).exit_code == 1


async def test_where_namespaces_cannot_be_joined_each_command_has_its_own_and_that_is_said(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = failing(tmp_path, "--dev-bind")
    monkeypatch.setattr(bubblewrap, "find", lambda path: programs)
    desk.runner = Runner(desk.environment, folder=None)
    end = await desk.run("echo x > /tmp/x && cat /tmp/x")
    assert (end.exit_code, end.output) == (0, "x\n")
    assert "a /tmp of its own, without network." in end.sandbox
    assert (await desk.run("cat /tmp/x")).exit_code == 1


async def test_nothing_runs_on_after_a_daemon_that_is_killed(desk: Desk) -> None:
    program = (
        "import asyncio, os, sys\n"
        "from gemini_companion.adapters.processes.runner import Runner\n"
        "from gemini_companion.tools.ports import SandboxWish\n"
        "async def main():\n"
        "    runner, work = Runner(dict(os.environ), folder=None), sys.argv[1]\n"
        "    await runner.start('touch begun; exec sleep 4747', cwd=work, roots=(work,), limit_seconds=None,\n"
        "        sandbox=SandboxWish(use='required', chat='one'), on_output=print)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    daemon = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(desk.work), env=desk.environment)
    there = {*FOLDERS, "begun"}
    async with asyncio.timeout(PATIENCE):
        while not there <= set(os.listdir(desk.work)):
            await asyncio.sleep(0.01)
    daemon.send_signal(signal.SIGKILL)
    await daemon.wait()
    async with asyncio.timeout(PATIENCE):
        while set(os.listdir(desk.work)) & set(FOLDERS) or b"sleep\x004747\x00" in running_lines():
            await asyncio.sleep(0.01)


def running_lines() -> set[bytes]:
    found: set[bytes] = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.add(path.read_bytes())
        except OSError:
            continue
    return found


def test_it_works_for_who_is_not_root(desk: Desk) -> None:
    setpriv, python = shutil.which("setpriv"), f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    if os.getuid() != 0 or setpriv is None:
        pytest.skip("the other tests are run by somebody who is not root, or there is no setpriv")
    packages = [
        Path(gemini_companion.__file__).parent.parent,
        *(Path(one) for one in sys.path if "site-packages" in one),
    ]
    home = Path(mkdtemp(prefix="nobody-", dir="/var/tmp"))
    work = home / "work"
    work.mkdir()
    for folder in (home, work):
        os.chown(folder, 65534, 65534)
    become = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", "--", python]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, packages))}
    program = (
        "import asyncio, os, sys\n"
        "from gemini_companion.adapters.processes.runner import Runner\n"
        "from gemini_companion.tools.ports import SandboxWish\n"
        "async def main():\n"
        "    runner, work = Runner(dict(os.environ), folder=None), sys.argv[1]\n"
        "    for line in ('echo shared > /tmp/x; mkdir .vscode/x; touch made ~/out', 'cat /tmp/x; id -u'):\n"
        "        running = await runner.start(line, cwd=work, roots=(work,), limit_seconds=60,\n"
        "            sandbox=SandboxWish(use='auto', chat='one'), on_output=lambda _: None)\n"
        "        end = await running.wait()\n"
        "    print(end.sandbox, end.output, sorted(os.listdir(work)), sorted(os.listdir(os.path.expanduser('~'))))\n"
        "asyncio.run(main())\n"
    )
    try:
        tried = subprocess.run(
            [*become, "-c", "import gemini_companion, msgspec"], env=environment, capture_output=True
        )
        if tried.returncode != 0:
            pytest.skip("nobody has no Python here with what is needed")
        done = subprocess.run(
            [*become, "-c", program, str(work)], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        if "No sandbox" in done.stdout:
            pytest.skip(done.stdout)
        assert "a /tmp of this chat" in done.stdout, done.stderr
        assert done.stdout.endswith("shared\n65534\n ['made'] ['work']\n")
    finally:
        shutil.rmtree(home)


# --- what cannot be made


def outside(folder: Path, *words: str) -> str:
    """What a command of the person's own says that is a fault."""
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stderr


async def test_no_folder_that_editors_and_agents_obey_can_be_made_or_changed(desk: Desk) -> None:
    (desk.work / ".vscode").mkdir()
    lines = [f"mkdir -p {name}/x; echo x > {name}/tasks.json; mv {name} {name}.away" for name in FOLDERS]
    await desk.run("; ".join([*lines, "rm -rf .vscode .idea; mkdir .idea"]))
    assert sorted(path.name for path in desk.work.iterdir()) == [".vscode", "connect.py", "serve.py"]
    assert list((desk.work / ".vscode").iterdir()) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_git_is_led_to_no_other_settings_while_a_command_runs_and_works_meanwhile(desk: Desk) -> None:
    nested = desk.work / "nested"
    for folder in (desk.work, nested):
        outside(folder.parent, "git", "init", "-q", str(folder))
    tries = "for in in . nested; do rm -f $in/.git/commondir; echo ../evil > $in/.git/commondir; done"
    hooks = "echo x > nested/.git/hooks/pre-commit; echo x >> nested/.git/config; echo x > .git/config.worktree; echo x > nested/.git/config.worktree"
    line = f"mkdir evil; {tries}; {hooks}; echo tried; until [ -e go ]; do :; done"
    running = await desk.left_running(line, "tried")
    for folder in (desk.work, nested):
        assert (folder / ".git" / "commondir").read_bytes() == b".\n"
        assert not (folder / ".git" / "hooks" / "pre-commit").exists()
        assert outside(folder, "git", "status", "--porcelain") == ""
    (desk.work / "go").touch()
    await asyncio.wait_for(running.wait(), PATIENCE)
    for folder in (desk.work, nested):
        assert not (folder / ".git" / "commondir").exists()
        assert "x" not in (folder / ".git" / "config").read_text().splitlines()
        assert not (folder / ".git" / "config.worktree").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_what_a_command_cloned_the_next_one_can_delete(desk: Desk) -> None:
    outside(desk.work, "git", "init", "-q", str(desk.work / "theirs"))
    end = await desk.run("git init -q made; cp -r theirs copied")
    assert end.exit_code == 0
    assert len(git_folders.Walks().look((str(desk.work),)).named) == 3
    assert (await desk.run("rm -rf made copied")).exit_code == 0
    assert (await desk.run("rm -rf theirs")).exit_code != 0


async def test_what_stands_there_while_a_command_runs_is_no_change_of_another_one(desk: Desk) -> None:
    scan = StampScan()
    before = await scan((str(desk.work),))
    running = await desk.left_running("echo begun; sleep 1000", "begun")
    assert (desk.work / ".vscode").is_dir()
    during = await scan((str(desk.work),))
    await running.stop()
    assert (during.files, during.folders) == (before.files, before.folders)


async def test_the_person_can_write_there_while_a_command_runs_and_keeps_it(desk: Desk) -> None:
    running = await desk.left_running("echo begun; sleep 1000", "begun")
    (desk.work / ".vscode" / "settings.json").write_text("{}")
    assert (desk.work / ".vscode").stat().st_mode & 0o300 == 0o300  # not only root
    await running.stop()
    assert (desk.work / ".vscode" / "settings.json").read_text() == "{}"
    assert (desk.work / ".vscode").stat().st_mode & 0o7777 == 0o755


# --- what works all the same

NPM = '{"name": "a", "version": "1.0.0", "dependencies": {"dep": "file:dep"}}'
LOCK = (
    '{"name": "a", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "a",'
    ' "version": "1.0.0", "dependencies": {"dep": "file:dep"}}, "dep": {"version": "1.0.0"},'
    ' "node_modules/dep": {"resolved": "dep", "link": true}}}'
)
BACKEND = """\
import zipfile, os
def build_editable(folder, config_settings=None, metadata_directory=None):
    name, info = "pkg-1-py3-none-any.whl", "pkg-1.dist-info"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as file:
        file.writestr("pkg.pth", os.getcwd())
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: pkg\\nVersion: 1\\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        file.writestr(f"{info}/RECORD", "")
    return name
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "pkg"\nversion = "1"\n'
FILES = {
    "js/package.json": NPM,
    "js/package-lock.json": LOCK,
    "js/dep/package.json": '{"name": "dep", "version": "1.0.0"}',
    "py/pyproject.toml": PROJECT,
    "py/backend.py": BACKEND,
    "py/pkg_code.py": "",
    "c/CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x x.c)\n",
    "c/x.c": "int main(void) { return 0; }\n",
    "rs/Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n',
    "rs/src/main.rs": "fn main() {}\n",
    ".vscode/settings.json": "{}\n",
    ".husky/pre-commit": "true\n",
}


@pytest.mark.parametrize(
    ("needs", "line"),
    [
        ("npm", "cd js && npm ci --offline --no-audit --no-fund && test -e node_modules/dep/package.json"),
        (
            "python3",
            f"{os.path.realpath(sys.executable)} -m venv .venv && .venv/bin/python -m pip install -q --no-index -e ./py"
            " && .venv/bin/python -c 'import pkg_code'",
        ),
        ("cmake", "cmake -S c -B build && cmake --build build && build/x"),
        ("cargo", "cd rs && cargo build --offline && target/debug/x"),
        ("git", f"echo b > b && git add b && git {AUTHOR} commit -qm second && git log --oneline"),
        ("git", f"git checkout -q other && echo c >> a && git {AUTHOR} stash -q && git stash pop -q"),
        ("git", "git worktree add -q side other && git -C side status && git worktree remove --force side"),
        ("git", "git gc -q && git fsck"),
    ],
)
async def test_building_and_committing_work(desk: Desk, needs: str, line: str) -> None:
    if shutil.which(needs) is None or (needs == "cmake" and shutil.which("cc") is None):
        pytest.skip(f"needs {needs}")
    for name, text in FILES.items():
        path = desk.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (desk.work / "a").touch()
    if needs == "git":
        for words in ("init -q", "add -A", f"{AUTHOR} commit -qm first", "branch other"):
            outside(desk.work, "git", *words.split())
    desk.runner = Runner(dict(os.environ), folder=None)  # with the toolchains of the real home folder
    end = await desk.run(line)
    assert end.exit_code == 0, end.output


# --- what commands get to know

KEY = "AIza-not-a-real-key"


def own(desk: Desk, **variables: str) -> Runner:
    return Runner({**desk.environment, "GEMINI_API_KEY": KEY, **variables}, folder=None)


@pytest.mark.parametrize("use", ["required", "off"])
async def test_commands_get_what_the_persons_own_settings_name(desk: Desk, use: str) -> None:
    wanted = {"HTTPS_PROXY": "http://p:1", "https_proxy": "http://p:1", "PIP_INDEX_URL": "u", "GNUPGHOME": "/g"}
    desk.runner = own(desk, **wanted, OTHER="o")
    wish: dict[str, Any] = {"use": use, "environment": ("HTTPS_PROXY", "PIP_INDEX_URL", "GNUPGHOME", "NOT_SET")}
    said = desk.runner.describe_sandbox(SandboxWish(**wish, chat="one"), (str(desk.work),))
    assert "It gets from your environment: GNUPGHOME, HTTPS_PROXY, PIP_INDEX_URL, https_proxy." in said
    got = dict(line.split("=", 1) for line in (await desk.run("env", **wish)).output.splitlines() if "=" in line)
    assert {name: got.get(name) for name in wanted} == wanted
    assert "OTHER" not in got


async def test_what_is_blocked_is_given_to_no_command(desk: Desk) -> None:
    desk.runner = own(desk, HTTPS_PROXY="p", NODE_ENV="test")
    names = (await desk.run("env", environment=("HTTPS_PROXY",), without=("https_proxy", "NODE_ENV"))).output
    assert "HTTPS_PROXY" not in names
    assert "NODE_ENV" not in names


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "MY_KEY"])
async def test_the_key_of_the_daemon_is_given_to_no_command_whoever_names_it(desk: Desk, name: str) -> None:
    desk.runner = own(desk, MY_KEY=f"Bearer {KEY}")
    wish: dict[str, Any] = {"use": "off", "environment": (name,)}
    assert f"It does not get {name}" in desk.runner.describe_sandbox(SandboxWish(**wish), ())
    assert KEY not in (await desk.run("env", **wish)).output


@pytest.mark.parametrize("spelling", ["{}", "unix://{}", "unix:path={},guid=1"])
async def test_a_variable_that_says_where_a_socket_is_lets_it_through(
    desk: Desk, listen: Callable[..., str], spelling: str
) -> None:
    folder = Path(mkdtemp(prefix="agent-", dir="/tmp"))
    path = listen(folder / "agent.1")
    desk.runner = own(desk, SSH_AUTH_SOCK=spelling.format(path))
    assert await desk.connected(path) == []
    assert await desk.connected(path, environment=("SSH_AUTH_SOCK",)) == [path]
    shutil.rmtree(folder)


async def test_the_folder_for_run_time_files_is_there_where_it_is_named(desk: Desk) -> None:
    desk.runner = own(desk, XDG_RUNTIME_DIR="/run/user/4242", TMPDIR="/run/user/4242/x")
    end = await desk.run('ls -d "$XDG_RUNTIME_DIR" && mktemp', environment=("XDG_RUNTIME_DIR",))
    assert end.output.startswith("/run/user/4242\n/tmp/tmp.")
