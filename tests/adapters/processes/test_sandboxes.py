from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from gemini_companion.adapters.processes import bubblewrap
from gemini_companion.adapters.processes.placeholders import FOLDERS
from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.adapters.processes.sandbox import Sandboxes
from gemini_companion.tools.ports import CommandEnd, RunningCommand, SandboxWish
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="needs bubblewrap")]

DEMANDED = SandboxWish(use="required")


class Cage:
    """A home folder with keys, a workspace in it, and what would be harmed outside."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.data = home / "data"
        for folder in (self.work, self.data, home / ".ssh", self.work / ".git" / "hooks"):
            folder.mkdir(parents=True)
        (home / ".ssh" / "id_rsa").write_text("a private key")
        (home / ".netrc").write_text("a password")
        (self.data / "log.db").write_text("what was said")
        (self.work / ".git" / "config").write_text("[core]\n")
        environment = {**os.environ, "HOME": str(home)}
        self.runner = Runner(environment, Sandboxes.of(environment, private=(str(self.data),)), folder=None)

    async def run(self, line: str, wish: SandboxWish = DEMANDED) -> CommandEnd:
        running = await self.runner.start(
            line,
            cwd=str(self.work),
            roots=(str(self.work),),
            limit_seconds=PATIENCE,
            sandbox=wish,
            on_output=lambda _: None,
        )
        return await asyncio.wait_for(running.wait(), PATIENCE)


@pytest.fixture
async def cage() -> AsyncIterator[Cage]:
    home = Path(mkdtemp(prefix="cage-", dir=os.path.expanduser("~"))).resolve()  # not below /tmp, which is covered
    cage = Cage(home)
    try:
        cage.runner.describe_sandbox(DEMANDED, (str(cage.work),))
    except ToolRefusal as none:
        shutil.rmtree(home)
        pytest.skip(none.message)
    yield cage
    await cage.runner.close()
    shutil.rmtree(home)


@pytest.fixture
def listener() -> Iterator[Callable[[str | None], str]]:
    opened: list[socket.socket] = []

    def listen(path: str | None) -> str:
        server = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
        opened.append(server)
        server.bind(path or ("127.0.0.1", 0))
        server.listen()
        return path or str(server.getsockname()[1])

    yield listen
    for server in opened:
        server.close()


async def test_the_workspace_can_be_written_and_nothing_else(cage: Cage) -> None:
    end = await cage.run(f"echo in > made.txt; echo out > {cage.home}/made.txt; echo out > /etc/made-by-a-test; ls ..")
    assert (cage.work / "made.txt").read_text() == "in\n"
    assert not (cage.home / "made.txt").exists()
    assert not Path("/etc/made-by-a-test").exists()
    assert end.output.count("Read-only file system") == 2
    assert "bubblewrap" in end.sandbox


async def test_a_link_does_not_lead_a_write_out(cage: Cage) -> None:
    (cage.work / "link").symlink_to(cage.home)
    await cage.run("echo out > link/made.txt")
    assert not (cage.home / "made.txt").exists()


async def test_keys_and_our_own_data_cannot_be_read(cage: Cage) -> None:
    end = await cage.run(f"cat ~/.ssh/id_rsa ~/.netrc {cage.data}/log.db; ls ~/.ssh {cage.data}")
    assert "private key" not in end.output
    assert "password" not in end.output
    assert "what was said" not in end.output
    assert "log.db" not in end.output.replace(f"{cage.data}/log.db", "")


async def test_what_runs_later_cannot_be_changed(cage: Cage) -> None:
    end = await cage.run(
        "echo x > .git/hooks/pre-commit; echo x >> .git/config; mkdir .gemini; echo x > .gemini/settings.json"
    )
    assert end.exit_code is not None
    assert list((cage.work / ".git" / "hooks").iterdir()) == []
    assert (cage.work / ".git" / "config").read_text() == "[core]\n"
    assert not (cage.work / ".gemini").exists()


async def test_there_is_no_network_unless_settings_give_it(cage: Cage, listener: Callable[[str | None], str]) -> None:
    port = listener(None)
    line = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
    assert "connected" not in (await cage.run(line)).output
    assert "connected" in (await cage.run(line, SandboxWish(use="required", network=True))).output


async def test_the_hosts_sockets_are_out_of_reach(cage: Cage, listener: Callable[[str | None], str]) -> None:
    folder = mkdtemp(prefix="sockets-", dir="/tmp")
    path = listener(f"{folder}/s")
    connect = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({path!r}); print('connected')"
    end = await cage.run(f'{sys.executable} -I -c "{connect}"', SandboxWish(use="required", network=True))
    shutil.rmtree(folder)
    assert "connected" not in end.output


async def test_exit_codes_pass_and_processes_outside_do_not_exist(cage: Cage) -> None:
    end = await cage.run(f"kill -0 {os.getpid()} || exit 9")
    assert end.exit_code == 9


async def test_a_daemon_ends_with_its_command(cage: Cage) -> None:
    await cage.run("setsid sh -c 'exec sleep 4242' & true")
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if line == b"sleep\x004242\x00"]


async def test_stopping_works_in_a_sandbox_too(cage: Cage) -> None:
    running = await cage.runner.start(
        "trap '' TERM; while :; do sleep 4343; done",
        cwd=str(cage.work),
        roots=(str(cage.work),),
        limit_seconds=None,
        sandbox=DEMANDED,
        on_output=lambda _: None,
    )
    end = await asyncio.wait_for(running.stop(), PATIENCE)
    assert end.survivors == ()
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if line == b"sleep\x004343\x00"]


async def test_stopping_ends_a_session_of_its_own_in_a_sandbox(cage: Cage) -> None:
    heard: list[str] = []
    running = await cage.runner.start(
        "(setsid sh -c 'trap \"\" TERM HUP; echo begun; while :; do sleep 4444; done' &); while :; do sleep 4445; done",
        cwd=str(cage.work),
        roots=(str(cage.work),),
        limit_seconds=None,
        sandbox=DEMANDED,
        on_output=heard.append,
    )
    await until(lambda: "begun" in "".join(heard))
    end = await asyncio.wait_for(running.stop(), PATIENCE)
    assert end.survivors == ()
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if line in (b"sleep\x004444\x00", b"sleep\x004445\x00")]


def broken(tmp_path: Path, says: str, monkeypatch: pytest.MonkeyPatch) -> Runner:
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "find", lambda path: (str(program),))
    return Runner(dict(os.environ), folder=None)


async def test_a_sandbox_that_is_demanded_and_does_not_work_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = broken(tmp_path, "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", monkeypatch)
    with pytest.raises(ToolRefusal, match="RTM_NEWADDR"):
        await runner.start(
            "touch ran",
            cwd=str(tmp_path),
            roots=(str(tmp_path),),
            limit_seconds=1,
            sandbox=DEMANDED,
            on_output=lambda _: None,
        )
    assert not (tmp_path / "ran").exists()
    with pytest.raises(ToolRefusal, match="AppArmor"):
        runner.describe_sandbox(DEMANDED, (str(tmp_path),))


async def test_without_a_working_sandbox_that_is_said_and_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = broken(tmp_path, "no namespaces here", monkeypatch)
    said = runner.describe_sandbox(SandboxWish(use="auto"), (str(tmp_path),))
    assert said.startswith("No sandbox")
    assert "no namespaces here" in said
    assert runner.describe_sandbox(SandboxWish(use="off"), ()) == "No sandbox: settings turn it off."


def test_a_workspace_in_a_covered_folder_stays_reachable(tmp_path: Path) -> None:
    root = tmp_path / "covered" / "work"
    root.mkdir(parents=True)
    words = bubblewrap.arguments("bwrap", (str(root),), (str(tmp_path / "covered"),), network=False)
    assert words.index("--bind") > words.index("--tmpfs")
    assert "--share-net" not in words
    assert "--share-net" in bubblewrap.arguments("bwrap", (), (), network=True)


async def test_our_settings_stay_covered_until_the_last_command_has_ended(cage: Cage) -> None:
    async def start(line: str) -> RunningCommand:
        roots = (str(cage.work),)
        return await cage.runner.start(
            line, cwd=roots[0], roots=roots, limit_seconds=PATIENCE, sandbox=DEMANDED, on_output=lambda _: None
        )

    first = await start("until [ -e go ]; do :; done")
    second = await start("until [ -e gone ]; do :; done; mkdir -p .gemini; echo {} > .gemini/settings.json")
    (cage.work / "go").touch()
    await asyncio.wait_for(first.wait(), PATIENCE)
    (cage.work / "gone").touch()
    end = await asyncio.wait_for(second.wait(), PATIENCE)
    assert end.exit_code != 0
    assert not (cage.work / ".gemini").exists()


def workspace_names(cage: Cage) -> set[str]:
    return {path.name for path in cage.work.iterdir()}


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


async def test_nothing_of_ours_stays_in_a_workspace_whose_daemon_is_killed(cage: Cage) -> None:
    program = (
        "import asyncio, os, sys\n"
        "from gemini_companion.adapters.processes.runner import Runner\n"
        "from gemini_companion.tools.ports import SandboxWish\n"
        "async def main():\n"
        "    runner = Runner(dict(os.environ), folder=None)\n"
        "    work = sys.argv[1]\n"
        "    for name in ('one', 'two'):\n"
        "        await runner.start(f'touch {name}; sleep 1000', cwd=work, roots=(work,), limit_seconds=None,\n"
        "            sandbox=SandboxWish(use='required'), on_output=print)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    daemon = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(cage.work), env={**os.environ, "HOME": str(cage.home)}
    )
    await until(lambda: {"one", "two", ".gemini"} <= workspace_names(cage))
    daemon.kill()
    await daemon.wait()
    await until(lambda: workspace_names(cage).isdisjoint(FOLDERS))


async def test_what_stays_where_the_watcher_was_killed_too_goes_with_the_next_command(cage: Cage) -> None:
    (cage.work / ".gemini").mkdir(0o1700)  # as it is while a command runs
    end = await cage.run("mkdir -p .gemini/x; echo {} > .gemini/settings.json")
    assert end.exit_code != 0
    assert ".gemini" not in workspace_names(cage)


async def test_a_folder_of_the_persons_own_is_left_as_it_is(cage: Cage) -> None:
    (cage.work / ".gemini").mkdir()
    await cage.run("echo x > .gemini/x")
    assert (cage.work / ".gemini").is_dir()
    assert list((cage.work / ".gemini").iterdir()) == []


async def test_a_second_daemon_in_the_same_workspace_keeps_what_it_needs(cage: Cage) -> None:
    other = Runner({**os.environ, "HOME": str(cage.home)}, folder=None)
    roots = (str(cage.work),)
    line = "until [ -e go ]; do :; done; mkdir -p .gemini; echo {} > .gemini/settings.json"
    waits = await other.start(
        line, cwd=roots[0], roots=roots, limit_seconds=PATIENCE, sandbox=DEMANDED, on_output=lambda _: None
    )
    await cage.run("true")
    assert ".gemini" in workspace_names(cage)
    (cage.work / "go").touch()
    assert (await asyncio.wait_for(waits.wait(), PATIENCE)).exit_code != 0
    assert ".gemini" not in workspace_names(cage)
