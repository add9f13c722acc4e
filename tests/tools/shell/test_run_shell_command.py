from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.sessions.tools.background import MOST_RUNNING, Commands
from gemini_companion.tools.ports import SandboxWish
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.shell.tools import shell_tools
from gemini_companion.tools.tool import Proposal, ToolContext, ToolOutput, ToolRefusal
from tests.support.commands import SlowCommand, SlowRunner
from tests.support.patience import PATIENCE
from tests.support.tool_contexts import Desk


class Shop:
    """The tools, over commands that end when the test says so."""

    def __init__(self, root: Path) -> None:
        self.book = Commands()
        self.registry = ToolRegistry(shell_tools(self.book))
        self.runner = SlowRunner()
        desk = Desk(root)
        self.said: list[str] = []
        self.context: ToolContext = replace(
            desk.context(), ports=replace(desk.ports, commands=self.runner), progress=self.said.append
        )

    async def propose(self, **args: Any) -> Proposal:
        tool = self.registry.find("run_shell_command")
        return await tool.propose(self.registry.decode(tool, args), self.context)

    async def call(self, name: str = "run_shell_command", **args: Any) -> ToolOutput:
        tool = self.registry.find(name)
        decoded = self.registry.decode(tool, args)
        return await tool.run(decoded, await tool.propose(decoded, self.context), self.context)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    root = tmp_path.resolve() / "work"
    (root / "src").mkdir(parents=True)
    return Shop(root)


def ends(**fields: Any) -> Any:
    def on_start(command: SlowCommand) -> None:
        command.output = fields.get("output", "")
        command.let_end(**fields)

    return on_start


async def test_the_question_shows_the_line_its_folder_and_what_holds_it_back(shop: Shop) -> None:
    proposal = await shop.propose(command="ls\u00a0-l\nrm x", dir_path="src")
    assert proposal.title == "Run ls\u00a0-l rm x"
    assert proposal.command == "ls\u00a0-l\nrm x"
    assert proposal.cwd == f"{shop.context.roots[0]}/src"
    assert proposal.sandbox == "Sandbox: auto, network: False."
    assert proposal.irreversible


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"command": "  "}, "empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "x" * 100_001}, "longer"),
        ({"command": "ls", "dir_path": ".."}, "outside"),
        ({"command": "ls", "dir_path": "nowhere"}, "no folder"),
    ],
)
async def test_what_cannot_be_run_is_refused_before_anybody_is_asked(
    shop: Shop, args: dict[str, str], says: str
) -> None:
    with pytest.raises(ToolRefusal, match=says):
        await shop.propose(**args)


async def test_output_and_exit_code_come_back_and_progress_before(shop: Shop) -> None:
    shop.runner.on_start = ends(output="one\ntwo\n")
    output = await shop.call(command="make")
    assert output.output == "one\ntwo\n[Exit code: 0]"
    assert (output.outcome, output.summary) == ("ok", "exit code 0")
    assert shop.said == ["one\ntwo\n"]


async def test_another_exit_code_is_an_output_not_a_fault(shop: Shop) -> None:
    shop.runner.on_start = ends(output="wrong", exit_code=2, spill_path="/x/whole.txt")
    output = await shop.call(command="make")
    assert output.output == "wrong\n[Exit code: 2]"
    assert output.error is None
    assert (output.outcome, output.summary, output.is_whole_file) == ("failed", "exit code 2", "/x/whole.txt")


async def test_limits_and_sandbox_are_those_of_the_settings(shop: Shop) -> None:
    shop.context.options = {"command_seconds": 5, "inactivity_seconds": None, "sandbox": "required", "network": True}
    shop.runner.on_start = ends()
    await shop.call(command="make")
    how = shop.runner.asked[0][1]
    assert (how["limit_seconds"], how["silence_seconds"]) == (5, None)
    assert how["sandbox"] == SandboxWish(use="required", network=True, chat=shop.context.session_id)


async def test_time_that_is_over_and_what_survives_are_told(shop: Shop) -> None:
    shop.runner.on_start = ends(exit_code=None, signal="SIGTERM", timed_out=True, survivors=("stuck (5)",))
    output = await shop.call(command="make")
    assert output.outcome == "timedOut"
    assert "took too long" in output.output
    assert "SIGTERM" in output.output
    assert "stuck (5)" in output.output


async def test_a_command_that_a_person_stops_hands_back_what_it_put_out(shop: Shop) -> None:
    call = asyncio.create_task(shop.call(command="make"))
    command = await asyncio.wait_for(shop.runner.started.get(), PATIENCE)
    command.output = "half\n"
    async with asyncio.timeout(PATIENCE):
        while not shop.book.list("s"):
            await asyncio.sleep(0)
    assert await shop.book.stop("s", "c")
    output = await asyncio.wait_for(call, PATIENCE)
    assert output.outcome == "interrupted"
    assert output.output.startswith("half\n[The user stopped it.")
    assert shop.book.list("s") == ()


async def test_a_background_command_runs_on_and_its_output_can_be_read(shop: Shop) -> None:
    shop.runner.on_start = lambda command: setattr(command, "output", "listening\n")
    output = await shop.call(command="serve", is_background=True)
    command = shop.runner.started.get_nowait()
    assert "listening" in output.output
    assert str(command.pid) in output.output
    assert shop.runner.asked[0][1]["limit_seconds"] is None
    command.output += "a\nb\nc\n"
    read = await shop.call("read_background_output", pid=command.pid, lines=2)
    assert read.output == "b\nc\n[still runs]"
    assert "serve (still runs)" in (await shop.call("read_background_output")).output
    command.let_end(exit_code=3)
    await asyncio.wait_for(shop.book.end("elsewhere"), PATIENCE)
    async with asyncio.timeout(PATIENCE):
        while shop.book.list("s")[0].state == "running":
            await asyncio.sleep(0)
    assert "exit code 3" in (await shop.call("read_background_output", pid=command.pid)).output


async def test_a_background_command_that_fails_at_once_is_reported_as_such(shop: Shop) -> None:
    shop.runner.on_start = ends(output="no such file\n", exit_code=1)
    output = await shop.call(command="serve", is_background=True)
    assert output.output == "no such file\n[Exit code: 1]"


async def test_one_background_command_too_many_is_refused_before_a_person_is_asked(shop: Shop) -> None:
    for number in range(MOST_RUNNING):
        shop.book.began("s", f"c{number}", "serve", "/w", SlowCommand(), is_background=True)
    with pytest.raises(ToolRefusal, match="foreground"):
        await shop.propose(command="serve", is_background=True)
    assert (await shop.propose(command="make")).command == "make"
    await shop.book.close()


async def test_what_runs_in_the_background_is_stopped_by_the_id_that_the_model_was_given(shop: Shop) -> None:
    output = await shop.call(command="serve", is_background=True)
    pid = shop.runner.started.get_nowait().pid
    assert "stop_background_process" in output.output
    assert "127.0.0.1" in output.output
    assert "companion.tools.network" in output.output
    assert (await shop.call("stop_background_process", pid=pid)).outcome == "ok"
    assert "was stopped" in (await shop.call("read_background_output")).output
    assert "did not run any more: it was stopped" in (await shop.call("stop_background_process", pid=pid)).output
    with pytest.raises(ToolRefusal, match="No background command"):
        await shop.call("stop_background_process", pid=pid + 1)


@pytest.mark.parametrize("line", ["kill {}", "kill -9 {}", "kill -s TERM {}"])
async def test_a_kill_of_what_runs_in_the_background_stops_it(shop: Shop, line: str) -> None:
    await shop.call(command="serve", is_background=True)
    pid = shop.runner.started.get_nowait().pid
    assert (await shop.call(command=line.format(pid))).outcome == "ok"
    assert shop.runner.started.empty()
    assert "still runs" not in (await shop.call("read_background_output")).output


@pytest.mark.parametrize("line", ["kill 1", "kill {} 1", "kill {}; rm x", "kill $(pgrep {})", "pkill {}"])
async def test_any_other_kill_is_run_as_it_stands(shop: Shop, line: str) -> None:
    await shop.call(command="serve", is_background=True)
    pid = shop.runner.started.get_nowait().pid
    shop.runner.on_start = ends()
    shop.context.call_id = "another"
    await shop.call(command=line.format(pid))
    assert shop.runner.asked[-1][0] == line.format(pid)
    assert "still runs" in (await shop.call("read_background_output")).output


async def test_the_question_about_a_server_says_who_reaches_it(shop: Shop) -> None:
    (*_, warning) = (await shop.propose(command="serve", is_background=True)).warnings
    assert "your browser does not" in warning
    shop.context.options = {"network": True}
    assert not any("browser" in one for one in (await shop.propose(command="serve", is_background=True)).warnings)


@pytest.mark.parametrize(
    ("output", "is_told"),
    [("touch: /x: Read-only file system", True), ("ECONNREFUSED 127.0.0.1", True), ("2 tests failed", False)],
)
async def test_the_sandbox_is_named_where_a_fault_may_come_from_it(shop: Shop, output: str, is_told: bool) -> None:
    shop.runner.on_start = ends(output=output, exit_code=1, sandbox="Sandbox (bubblewrap): x.")
    assert ("may come from that" in (await shop.call(command="make")).output) == is_told


async def test_an_unknown_background_command_is_refused_with_those_that_there_are(shop: Shop) -> None:
    with pytest.raises(ToolRefusal, match="There are: none"):
        await shop.call("read_background_output", pid=1)


async def test_an_end_that_nobody_saw_is_told_as_such(shop: Shop) -> None:
    shop.runner.on_start = ends(is_lost=True, exit_code=None)
    told = await shop.call(command="make")
    assert told.outcome == "failed"
    assert "what else it left running is not known" in told.output
    assert "signal" not in told.output


TOKEN = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"


async def test_secrets_in_the_output_are_masked_for_the_model(shop: Shop) -> None:
    shop.runner.on_start = ends(exit_code=0, output=f"one\ntoken = {TOKEN}\ntwo\n")
    result = await shop.call(command="env")
    assert TOKEN not in result.output
    assert "one\n" in result.output
    assert "[masked: " in result.output
    assert "One secret is masked" in result.output


async def test_secrets_of_what_runs_on_are_masked_too(shop: Shop) -> None:
    def starts(command: SlowCommand) -> None:
        command.output = f"ready\ntoken = {TOKEN}\n"

    shop.runner.on_start = starts
    begun = await shop.call(command="serve", is_background=True)
    shown = await shop.call("read_background_output", pid=101)
    for output in (begun.output, shown.output):
        assert TOKEN not in output
        assert "ready" in output
        assert "[masked: " in output


async def test_a_line_that_only_looks_says_in_which_repository(shop: Shop) -> None:
    shop.runner.on_start = ends(exit_code=0)
    await shop.call(command="git status")
    assert "looks_in" not in shop.runner.asked[-1][1]
    shop.context.looks_in = shop.context.roots[0]
    await shop.call(command="git status")
    assert shop.runner.asked[-1][1]["looks_in"] == shop.context.roots[0]
