"""Subagents over stdio: the real SDK, the emulated service, a real store."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import psutil
import pytest

from tests.support.agent_office import Office, handed
from tests.support.emulator import Emulator, Gate, answer, call, parallel
from tests.support.patience import PATIENCE


@pytest.fixture
def office(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Office:
    return Office(tmp_path, workspace, gemini_environment)


async def test_a_subagent_works_in_a_window_of_its_own_and_hands_back_one_result(
    office: Office, emulator: Emulator
) -> None:
    emulator.script(
        answer(handed("Where is the parser?")),
        answer(call("read_file", {"file_path": "parser.py"}, call_id="r1")),
        "It is in parser.py, line 1.",
        "The parser is in parser.py.",
    )
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Find the parser. Never touch setup.py."})
        assert result["text"] == "The parser is in parser.py."
        first, child, again, last = emulator.asked("streamGenerateContent")
        assert "codebase_investigator" in first.system
        assert "Where is the parser?" in child.prompt
        assert "Find the parser" not in str(child.contents)
        assert "invoke_agent" not in str(child.declarations)
        assert "def parse" in again.responses[0]["response"]["output"]
        assert last.responses[0]["response"]["output"] == "It is in parser.py, line 1."
        lines = [event for event in spoken.events if event["type"] == "agentActivity"]
        assert [event["kind"] for event in lines] == ["started", "tool", "toolEnded", "said", "ended"]
        listed = await spoken.ask("gemini/session/list", {})
        assert [one["sessionId"] for one in listed["sessions"]] == [result["sessionId"]]
        child_id = lines[0]["agentSessionId"]
        opened = await spoken.ask("gemini/session/history", {"sessionId": child_id, "view": "transcript"})
        assert "It is in parser.py" in str(opened["contents"])
    assert emulator.malformed == []


async def test_rules_that_the_person_laid_down_in_the_chat_bind_the_subagent_word_for_word(
    office: Office, emulator: Emulator
) -> None:
    emulator.script("Yes.", answer(handed("Look.")), "Seen.", "Done.")
    async with office.server() as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Never touch the file setup.py."})
        await spoken.ask("gemini/chat", {"prompt": "Look around."})
        child = emulator.asked("streamGenerateContent")[2]
        assert "Never touch the file setup.py" in str(child.contents)


async def test_two_of_one_answer_run_side_by_side_and_each_has_its_result(office: Office, emulator: Emulator) -> None:
    one, two = Gate(), Gate()
    tasks = [{"agent_name": "codebase_investigator", "prompt": f"{which} task"} for which in ("First", "Second")]
    emulator.script(answer(*parallel(*(("invoke_agent", task) for task in tasks))))
    emulator.script(answer(one, "First result."), when=lambda request: "First task" in request.text)
    emulator.script(answer(two, "Second result."), when=lambda request: "Second task" in request.text)
    emulator.script("Both are done.")
    async with office.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Do both."})
        await two.wait_reached()
        await one.wait_reached()
        two.release()
        one.release()
        assert (await chat)["text"] == "Both are done."
    results = {part["id"]: part["response"]["output"] for part in emulator.asked("streamGenerateContent")[-1].responses}
    assert results == {"call-0": "First result.", "call-1": "Second result."}
    assert emulator.malformed == []


async def test_stopping_the_turn_stops_its_subagent(office: Office, emulator: Emulator) -> None:
    gate = Gate()
    emulator.script(answer(handed("Look.")), answer("I begin", gate, " to look."))
    async with office.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Go."})
        await gate.wait_reached()
        assert (await spoken.ask("gemini/cancel", {}))["cancelled"]
        with pytest.raises(Exception, match="cancelled"):
            await chat
        await spoken.wait_for("agentActivity", 2)
        assert [event["kind"] for event in spoken.events if event["type"] == "agentActivity"][-1] == "ended"
        gate.release()
        emulator.script("All right.")
        assert (await spoken.ask("gemini/chat", {"prompt": "Leave it."}))["text"] == "All right."
        assert "nterrupted" in str(emulator.asked("streamGenerateContent")[-1].responses)


async def test_the_chat_of_a_subagent_that_was_stopped_is_named_in_the_log(office: Office, emulator: Emulator) -> None:
    gate = Gate()
    emulator.script(answer(handed("Look.")), answer("I begin", gate, " to look."))
    async with office.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Go."})
        await gate.wait_reached()
        child = (await spoken.wait_for("agentActivity"))["agentSessionId"]
        await spoken.ask("gemini/cancel", {})
        with pytest.raises(Exception, match="cancelled"):
            await chat
        gate.release()
        logged = await spoken.ask("gemini/session/history", {"view": "transcript"})
    assert [
        (record["outcome"], record.get("agentSessionId"))
        for content in logged["contents"]
        for record in content.get("calls", [])
    ] == [("interrupted", child)]


def notes_of(part: int, lines: int) -> str:
    """What an agent says of a file; unlike an output it is not shortened as it grows old."""
    return "".join(f"Function part{part}_{line} returns {line}, and nothing else calls it.\n" for line in range(lines))


def reads_with_notes(office: Office, emulator: Emulator, *, notes: int, gate: Gate | None = None) -> None:
    """The agent reads seven files, one after another, and says much of each; the last call waits for `gate`."""
    emulator.script(answer(handed("Read all parts.")), method="streamGenerateContent")
    for number in range(7):
        (office.workspace / f"part{number}.py").write_text(f"def part{number}_0(): return 0\n", "utf-8")
        read = call("read_file", {"file_path": f"part{number}.py"}, call_id=f"r{number}")
        waits = [gate] if gate is not None and number == 6 else []
        emulator.script(answer(*waits, notes_of(number, notes), read), method="streamGenerateContent")
    emulator.script("There are seven functions.", "The subagent counted seven.", method="streamGenerateContent")


def settle(office: Office, background: str) -> None:
    settings = office.tmp_path / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    model, ahead = {"compressionThreshold": 0.2, "tokenLimit": 60_000}, {"compression": {"background": background}}
    settings.write_text(json.dumps({"model": model, "companion": ahead}), "utf-8")


async def test_its_window_is_compressed_by_itself_and_the_chat_grows_by_the_result_alone(
    office: Office, emulator: Emulator
) -> None:
    settle(office, "off")
    reads_with_notes(office, emulator, notes=300)
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Count the functions."})
        assert result["text"] == "The subagent counted seven."
        kinds = [event["kind"] for event in spoken.events if event["type"] == "agentActivity"]
        assert kinds.count("compressed") >= 2
        assert not [event for event in spoken.events if event["type"].startswith("compression")]
        parts = (await spoken.ask("gemini/context", {}))["byPart"]
        assert parts["toolOutputs"] < 200
    assert emulator.malformed == []


async def test_its_compression_is_prepared_while_it_works_and_installed_between_its_rounds(
    office: Office, emulator: Emulator
) -> None:
    settle(office, "auto")
    gate = Gate()
    reads_with_notes(office, emulator, notes=105, gate=gate)
    async with office.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Count the functions."})
        await gate.wait_reached()
        agent = next(event["agentSessionId"] for event in spoken.events if event["type"] == "agentActivity")
        async with asyncio.timeout(PATIENCE):
            while (await spoken.ask("gemini/compressionStatus", {"sessionId": agent}))["state"] != "prepared":
                await asyncio.sleep(0)
        gate.release()
        assert (await chat)["text"] == "The subagent counted seven."
        kinds = [event["kind"] for event in spoken.events if event["type"] == "agentActivity"]
        assert "compressed" in kinds
        asked = [request for request in emulator.asked("streamGenerateContent") if "state_snapshot" in request.text]
        assert asked
    assert emulator.malformed == []


async def test_an_agent_at_its_limit_reports_without_tools_what_it_has_and_the_chat_is_told_that_it_is_not_all(
    office: Office, emulator: Emulator
) -> None:
    office.own.mkdir(parents=True)
    (office.own / "reader.md").write_text(
        "---\nname: reader\ndescription: Reads.\ntools: [read_file]\nmax_turns: 1\n---\nYou read.\n", "utf-8"
    )
    emulator.script(
        answer(handed("Read.", "reader")),
        answer(call("read_file", {"file_path": "parser.py"}, call_id="r1")),
        "So far: one function.",
        "All right.",
    )
    async with office.server() as spoken:
        assert (await spoken.ask("gemini/chat", {"prompt": "Go."}))["text"] == "All right."
        _, first, last_words, parent = emulator.asked("streamGenerateContent")
        assert [declared["name"] for declared in first.declarations] == ["read_file"]
        assert last_words.declarations == []
        told, _, report = parent.responses[0]["response"]["output"].partition("\n")
        assert "stopped before it was done: its rounds were used up" in told
        assert report == "So far: one function."


async def test_own_agents_can_be_listed_and_files_that_define_none_are_told_with_their_line(office: Office) -> None:
    office.own.mkdir(parents=True)
    (office.own / "good.md").write_text("---\nname: good\ndescription: Does good.\n---\nYou do good.\n", "utf-8")
    (office.own / "bad.md").write_text("---\nname: bad\ndescription: x\ntools: [fly]\n---\nYou fly.\n", "utf-8")
    theirs = office.workspace / ".gemini" / "agents"
    theirs.mkdir(parents=True)
    (theirs / "ours.md").write_text("---\nname: ours\ndescription: Of the project.\n---\nYou work.\n", "utf-8")
    async with office.server() as spoken:
        listed = {one["name"]: one for one in (await spoken.ask("gemini/agents/list", {}))["agents"]}
        assert set(listed) == {"codebase_investigator", "generalist", "good", "bad", "ours"}
        assert (listed["bad"]["line"], listed["bad"]["enabled"]) == (4, False)
        assert "fly" in listed["bad"]["problem"]
        assert "invoke_agent" not in listed["good"]["tools"]
        (office.own / "good.md").unlink()
        again = (await spoken.ask("gemini/agents/list", {}))["agents"]
        assert "good" not in {one["name"] for one in again}
    async with office.server(trusted=False) as spoken:
        untrusted = (await spoken.ask("gemini/agents/list", {}))["agents"]
        assert "ours" not in {one["name"] for one in untrusted}


async def test_a_deleted_chat_takes_the_sessions_of_its_subagents_along(office: Office, emulator: Emulator) -> None:
    emulator.script(answer(handed("Look.")), "Seen.", "Done.")
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        child = next(event["agentSessionId"] for event in spoken.events if event["type"] == "agentActivity")
        await spoken.ask("gemini/session/delete", {"sessionId": result["sessionId"]})
        with pytest.raises(Exception, match=r"(?i)no session|not found|no chat"):
            await spoken.ask("gemini/session/history", {"sessionId": child, "view": "transcript"})


async def test_a_deleted_chat_ends_what_its_subagents_left_running_in_the_background(
    office: Office, emulator: Emulator
) -> None:
    serve = call("run_shell_command", {"command": "exec sleep 600", "is_background": True}, call_id="s1")
    emulator.script(answer(handed("Serve.", "generalist")), answer(serve), "It runs.", "Done.")
    async with office.server(answers="once") as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        started = [one for one in psutil.Process(spoken.pid).children(recursive=True) if one.name() == "sleep"]
        assert len(started) == 1
        await spoken.ask("gemini/session/delete", {"sessionId": result["sessionId"]})
        _, left = await asyncio.to_thread(psutil.wait_procs, started, PATIENCE)
        assert left == []
