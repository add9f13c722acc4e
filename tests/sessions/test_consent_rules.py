"""Rules of consent that a person makes with an answer: how long they hold, where, and what they are not about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.engine.history.tool_entries import AllowanceEntry, ToolRule
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tool_events import ToolQuestionAnswered
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.sessions.tools.rules import can_be_stored, listed_rules, revoke
from tests.support.consenting import ConsentStudio, settings_with

YES = ConsentAnswer(outcome="once")
HERE = ToolRule(tool="write_file", decision="allow", path="/a.py", workspace="/project")
NO = ConsentAnswer(outcome="reject", reason="Use the parser.")


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[ConsentStudio]:
    studio = ConsentStudio(tmp_path)
    yield studio
    await studio.app.close()


def response(studio: ConsentStudio) -> dict[str, Any]:
    """What the model got for its call."""
    part: Any = studio.model.main()[-1].contents[-1].parts[0]
    return part["functionResponse"]["response"]


async def record(studio: ConsentStudio) -> Any:
    """Of the newest call."""
    session = await studio.session()
    return next(entry.calls[0] for entry in session.history.entries if isinstance(entry, ToolResultEntry))


def settled(studio: ConsentStudio) -> list[str]:
    return [event.outcome for event in studio.heard.of(ToolQuestionAnswered)]


async def test_for_this_session_is_kept_in_the_log_and_asks_no_more(studio: ConsentStudio) -> None:
    studio.person.answers = [ConsentAnswer(outcome="session")]
    await studio.write("a.py", "x")
    await studio.write("a.py", "y")
    assert len(studio.person.asked) == 1
    session = await studio.session()
    (kept,) = [entry for entry in session.history.entries if isinstance(entry, AllowanceEntry)]
    assert kept.rule == HERE
    assert [(one.source, one.text, one.rule_id) for one in listed_rules(session).rules] == [
        ("session", "Allow write_file on /a.py in /project", kept.rule_id)
    ]


async def test_a_rule_that_is_taken_back_asks_again(studio: ConsentStudio) -> None:
    studio.person.answers = [ConsentAnswer(outcome="session"), NO]
    await studio.write("a.py", "x")
    session = await studio.session()
    await revoke(session, listed_rules(session).rules[0].rule_id or "", studio.own)
    await studio.write("a.py", "y")
    assert len(studio.person.asked) == 2
    assert listed_rules(session).rules == ()


async def test_always_is_kept_in_the_users_own_settings(studio: ConsentStudio) -> None:
    studio.person.answers = [ConsentAnswer(outcome="always")]
    await studio.write("a.py", "x")
    assert studio.own.rules == [HERE]
    assert (await record(studio)).consent == "yes, always: Allow write_file on /a.py in /project"


@pytest.mark.parametrize("outcome", ["session", "always"])
async def test_a_yes_keeps_no_rule_where_that_is_forbidden(studio: ConsentStudio, outcome: Any) -> None:
    studio.set(tools=msgspec.structs.replace(studio.settings.tools, keeps_rules=False))
    studio.person.answers = [ConsentAnswer(outcome=outcome, rule=HERE), YES]
    await studio.write("a.py", "x")
    await studio.write("a.py", "y")
    assert [question.rule for question in studio.person.asked] == [None, None]
    assert (studio.own.rules, listed_rules(await studio.session()).rules) == ([], ())
    assert (await record(studio)).consent.startswith("yes, once; security.disableAlwaysAllow")


async def test_always_counts_for_the_session_where_the_settings_cannot_keep_it(studio: ConsentStudio) -> None:
    studio.own.is_broken = True
    studio.person.answers = [ConsentAnswer(outcome="always")]
    await studio.write("a.py", "x")
    assert list((await studio.session()).tools_state.allowances.values()) == [HERE]


def test_a_rule_with_a_secret_in_its_command_does_not_go_into_a_plain_file() -> None:
    line = ("curl", "-H", "Authorization: Bearer " + "Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1")
    assert can_be_stored(ToolRule(tool="run_shell_command", decision="allow", command=line[:1]))
    assert not can_be_stored(ToolRule(tool="run_shell_command", decision="allow", command=line))


@pytest.mark.parametrize("folder", [None, "/project"])
async def test_the_person_may_make_the_rule_wider_for_the_same_tool_in_this_workspace(
    studio: ConsentStudio, folder: str | None
) -> None:
    wider = ToolRule(tool="write_file", decision="allow", path="/src/", workspace=folder)
    studio.person.answers = [ConsentAnswer(outcome="always", rule=wider)]
    await studio.write("src/a.py", "x")
    assert studio.own.rules == [msgspec.structs.replace(wider, workspace="/project")]


async def test_what_was_always_allowed_in_one_workspace_is_asked_about_in_another(studio: ConsentStudio) -> None:
    elsewhere = msgspec.structs.replace(HERE, workspace="/elsewhere")
    studio.set(tools=settings_with(studio, elsewhere))
    studio.person.answers = [NO]
    await studio.write("a.py", "x")
    assert len(studio.person.asked) == 1
    studio.set(tools=settings_with(studio, HERE))
    await studio.write("a.py", "y")
    assert (len(studio.person.asked), studio.tool.written) == (1, {"/project/a.py": "y"})


@pytest.mark.parametrize(
    "rule",
    [
        ToolRule(tool="*", decision="allow"),
        ToolRule(tool="run_shell_command", decision="allow", command=("ls",)),
        ToolRule(tool="write_file", decision="deny"),
        ToolRule(tool="write_file", decision="allow", path="/other/"),
    ],
)
async def test_a_rule_about_something_else_is_not_kept(studio: ConsentStudio, rule: ToolRule) -> None:
    studio.person.answers = [ConsentAnswer(outcome="always", rule=rule)]
    await studio.write("a.py", "x")
    assert studio.own.rules == []
    assert (await studio.session()).tools_state.allowances == {}
    assert studio.tool.written == {"/project/a.py": "x"}


async def test_no_rule_is_offered_or_kept_for_what_is_guarded(studio: ConsentStudio) -> None:
    studio.tool.guarded = {"/project/Makefile"}
    studio.person.answers = [ConsentAnswer(outcome="always"), YES]
    await studio.write("Makefile", "x")
    await studio.write("Makefile", "y")
    assert [question.rule for question in studio.person.asked] == [None, None]
    assert studio.own.rules == []


async def test_no_rule_is_offered_where_another_asks(studio: ConsentStudio) -> None:
    studio.set(tools=settings_with(studio, ToolRule(tool="write_file", decision="ask")))
    studio.person.answers = [YES]
    await studio.write("a.py", "x")
    assert studio.person.asked[0].rule is None
    assert studio.person.asked[0].reason == "a rule: Ask before write_file (user)"


async def test_the_mode_of_the_settings_holds_until_somebody_chooses_one(studio: ConsentStudio) -> None:
    studio.set(tools=settings_with(studio, mode="acceptEdits"))
    await studio.write("a.py", "x")
    assert studio.person.asked == []
    await set_mode(await studio.session(), "ask")
    studio.person.answers = [NO]
    await studio.write("a.py", "y")
    assert len(studio.person.asked) == 1
