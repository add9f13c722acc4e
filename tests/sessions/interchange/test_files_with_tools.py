"""Sessions with tools as files: what happened comes along, consent does not."""

from __future__ import annotations

from pathlib import Path

from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.tool_entries import (
    AllowanceEntry,
    ChangeEntry,
    ModeEntry,
    SteerEntry,
    ToolCallEntry,
    ToolRule,
)
from tests.support.logs import Book, call, result
from tests.support.sessions import Studio


def log() -> list[Entry]:
    book = Book()
    book.add(ModeEntry, mode="acceptEdits")
    rule = ToolRule(tool="run_shell_command", decision="allow")
    book.add(AllowanceEntry, rule_id="r", rule=rule)
    book.prompt("Go.")
    book.reply(call("run", "a"))
    book.add(ToolCallEntry, turn_id=book.turn, call_id="c", name="run", args={}, state="asked")
    book.add(ChangeEntry, turn_id=book.turn, change_id="x", changes=())
    book.results(result("run", "a"))
    book.steer("Only the tests.")
    book.reply("Done.")
    book.end()
    return list(book.entries)


async def test_an_imported_session_has_its_rounds_and_gives_no_consent(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.app.create(studio.client, entries=tuple(log()))
    assert (session.tools_state.mode, list(session.tools_state.allowances)) == ("acceptEdits", ["r"])
    file = tmp_path / "session.json"
    file.write_text("".join(await studio.app.export(studio.client, session.session_id, "companion")), "utf-8")

    info = await studio.app.import_session(studio.client, str(file))

    taken = await studio.app.hold(studio.client, info.session_id)
    assert (info.mode, taken.tools_state.mode, taken.tools_state.allowances) == ("ask", "ask", {})
    kinds = [type(entry) for entry in taken.history.entries]
    assert not {ModeEntry, AllowanceEntry, ToolCallEntry, ChangeEntry}.intersection(kinds)
    assert SteerEntry in kinds
    assert [item.kind for item in taken.history.items] == ["prompt", "reply", "toolResult", "steer", "reply"]


async def test_an_export_for_gemini_cli_has_the_steering_prompt_as_the_persons(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.app.create(studio.client, entries=tuple(log()))
    text = "".join(await studio.app.export(studio.client, session.session_id, "gemini-cli"))
    file = tmp_path / "cli.json"
    file.write_text(text, "utf-8")
    assert "Only the tests." in text
    info = await studio.app.import_session(studio.client, str(file))
    again = await studio.app.hold(studio.client, info.session_id)
    assert "Only the tests." in str(again.history.contents())


async def test_a_fork_keeps_the_mode_and_the_rules_that_the_person_gave(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    session = await studio.app.create(studio.client, entries=tuple(log()))
    info = await studio.app.fork(studio.client, session.session_id, None)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert (info.mode, list(fork.tools_state.allowances)) == ("acceptEdits", ["r"])
