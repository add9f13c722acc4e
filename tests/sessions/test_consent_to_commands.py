"""Consent to commands: what a judge says of the line, what is asked, what rule is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.tools.policy.lines import LineDecision
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, Touched
from tests.support.consenting import ConsentStudio, settings_with

NPM = ToolRule(tool="run_shell_command", decision="allow", command=("npm", "test"))


class CommandArgs(msgspec.Struct, frozen=True, kw_only=True):
    """A line."""

    command: str


class CommandTool:
    """Runs nothing, but remembers it."""

    name = "run_shell_command"
    aliases = ()
    description = "Run a command."
    arguments = CommandArgs
    risk: Risk = "command"
    shape: Shape = "command"

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.looked_in: list[str] = []

    async def propose(self, args: CommandArgs, context: ToolContext) -> Proposal:
        return Proposal(title=f"Run {args.command}", command=args.command, cwd="/project", sandbox="none")

    async def run(self, args: CommandArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        self.ran.append(args.command)
        self.looked_in.append(context.looks_in)
        return ToolOutput(output="")


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A command of a line."""

    text: str
    decision: LineDecision
    reason: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a line."""

    decision: LineDecision
    parts: tuple[Part, ...]
    reason: str
    suggested: ToolRule | None
    by_rules: bool = False
    looks_in: str = ""


class Judge:
    """Allows what a rule begins, denies `deny`, refuses `refuse`, and asks for the rest."""

    def __init__(self) -> None:
        self.files: list[Decision] = []

    def __call__(
        self,
        line: str,
        *,
        cwd: str,
        roots: Sequence[str],
        rules: Sequence[ToolRule],
        of_file: Callable[[Touched], Decision],
        fresh: frozenset[str] = frozenset(),
    ) -> Verdict:
        self.files = [of_file(Touched(path="/project/.env", how="read", secret="by name"))]
        words = tuple(line.split())
        decision: LineDecision = "ask"
        if words[0] in ("deny", "refuse"):
            decision = "deny" if words[0] == "deny" else "refuse"
        elif words[0] == "look" or any(rule.command and words[: len(rule.command)] == rule.command for rule in rules):
            decision = "allow"
        suggested = ToolRule(tool="run_shell_command", decision="allow", command=words[:2])
        part = Part(text=line, decision=decision)
        return Verdict(
            decision=decision,
            parts=(part,),
            reason=f"judged {decision}",
            suggested=suggested,
            looks_in="/project" if words[0] == "look" else "",
        )


class Runs(ConsentStudio):
    """A studio whose model runs commands."""

    def __init__(self, tmp_path: Path) -> None:
        self.commands, self.judge = CommandTool(), Judge()
        super().__init__(tmp_path, self.commands, judge=self.judge)

    async def run(self, line: str) -> None:
        await self.call("run_shell_command", {"command": line})


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Runs]:
    studio = Runs(tmp_path)
    yield studio
    await studio.app.close()


def response(studio: Runs) -> dict[str, Any]:
    part: Any = studio.model.main()[-1].contents[-1].parts[0]
    return part["functionResponse"]["response"]


async def test_the_question_shows_the_whole_line_its_parts_and_where_it_would_run(studio: Runs) -> None:
    studio.person.answers = [ConsentAnswer(outcome="once")]
    await studio.run("npm test --all")
    (question,) = studio.person.asked
    assert (question.command, question.cwd, question.sandbox) == ("npm test --all", "/project", "none")
    assert [(part.text, part.decision) for part in question.parts] == [("npm test --all", "ask")]
    assert (question.rule, question.rule_text) == (NPM, "Allow run_shell_command: npm test \u2026")
    assert studio.commands.ran == ["npm test --all"]


async def test_what_only_looks_and_is_not_asked_about_runs_as_that_and_nothing_else_does(studio: Runs) -> None:
    studio.person.answers = [ConsentAnswer(outcome="once"), ConsentAnswer(outcome="once")]
    await studio.run("look here")
    await studio.run("npm test")
    await studio.run("look there")
    assert studio.commands.looked_in == ["/project", "", "/project"]


async def test_always_keeps_words_and_lets_lines_through_that_begin_so(studio: Runs) -> None:
    studio.person.answers = [ConsentAnswer(outcome="session"), ConsentAnswer(outcome="reject")]
    await studio.run("npm test a")
    await studio.run("npm test b")
    await studio.run("npm publish")
    assert len(studio.person.asked) == 2
    assert studio.commands.ran == ["npm test a", "npm test b"]


@pytest.mark.parametrize("line", ["deny x", "refuse x"])
async def test_what_the_judge_forbids_is_not_even_asked_about(studio: Runs, line: str) -> None:
    await studio.run(line)
    assert (studio.person.asked, studio.commands.ran) == ([], [])
    assert "judged" in response(studio)["error"]


async def test_a_changed_line_that_is_forbidden_is_not_run(studio: Runs) -> None:
    studio.person.answers = [ConsentAnswer(outcome="once", edited_args={"command": "deny x"})]
    await studio.run("npm test")
    assert studio.commands.ran == []


async def test_a_rule_without_words_is_not_kept_for_commands(studio: Runs) -> None:
    every = ToolRule(tool="run_shell_command", decision="allow")
    studio.person.answers = [ConsentAnswer(outcome="always", rule=every)]
    await studio.run("npm test")
    assert (studio.own.rules, studio.commands.ran) == ([], ["npm test"])


async def test_words_that_do_not_let_the_line_through_are_not_kept(studio: Runs) -> None:
    other = ToolRule(tool="run_shell_command", decision="allow", command=("make",))
    studio.person.answers = [ConsentAnswer(outcome="always", rule=other)]
    await studio.run("npm test")
    assert studio.own.rules == []


async def test_a_word_that_the_settings_would_read_otherwise_is_kept_for_the_session_only(studio: Runs) -> None:
    studio.person.answers = [ConsentAnswer(outcome="always")]
    await studio.run("echo $HOME")
    assert studio.own.rules == []
    assert len((await studio.session()).tools_state.allowances) == 1


async def test_a_rule_that_is_revoked_while_the_line_waits_counts_no_more(studio: Runs) -> None:
    async def forbid() -> ConsentAnswer:
        studio.set(tools=settings_with(studio, ToolRule(tool="run_shell_command", decision="deny")))
        return ConsentAnswer(outcome="once")

    studio.person.answers = [forbid]
    await studio.run("npm test")
    assert studio.commands.ran == []


async def test_while_the_session_plans_no_rule_lets_a_line_run(studio: Runs) -> None:
    studio.set(tools=settings_with(studio, NPM))
    await studio.run("npm test")
    await set_mode(await studio.session(), "plan")
    await studio.run("npm test")
    assert (studio.person.asked, studio.commands.ran) == ([], ["npm test"])
    assert "plan mode" in response(studio)["error"]


@pytest.mark.parametrize(("folder", "ran"), [("/project", ["npm test"]), ("/elsewhere", [])])
async def test_a_rule_for_commands_of_another_workspace_lets_nothing_run(
    studio: Runs, folder: str, ran: list[str]
) -> None:
    studio.set(tools=settings_with(studio, msgspec.structs.replace(NPM, workspace=folder)))
    studio.person.answers = [ConsentAnswer(outcome="reject")]
    await studio.run("npm test")
    assert studio.commands.ran == ran


async def test_files_that_a_line_names_are_judged_as_the_tools_for_files_would_be(studio: Runs) -> None:
    studio.set(tools=settings_with(studio, ToolRule(tool="read_file", decision="deny", path=".env")))
    studio.person.answers = [ConsentAnswer(outcome="reject")]
    await studio.run("cat .env")
    assert studio.judge.files == ["deny"]
