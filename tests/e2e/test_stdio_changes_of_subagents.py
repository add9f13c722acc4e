"""What subagents change is listed, shown and taken back in the chat that they work for, over stdio."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call

SHARED = "one\ntwo\nthree\nfour\nfive\n"


class Office:
    """Starts daemons over one store, for a person who lets files be changed."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.workspace = workspace
        self._environment = server_environment(tmp_path, **gemini)
        self.shared = workspace / "shared.txt"
        self.shared.write_text(SHARED, "utf-8")
        self.made = workspace / "made.txt"

    @asynccontextmanager
    async def server(self) -> AsyncGenerator[Editor]:
        async with editor(self._environment, self.workspace, options={"trusted": True}) as spoken:
            yield spoken


@pytest.fixture
def office(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Office:
    return Office(tmp_path, workspace, gemini_environment)


def replaces(old: str, new: str) -> Any:
    args = {"file_path": "shared.txt", "instruction": "change it", "old_string": old, "new_string": new}
    return answer(call("replace", args, call_id=f"r-{new}"))


def handed() -> Any:
    return answer(call("invoke_agent", {"agent_name": "generalist", "prompt": "Write."}, call_id="hand"))


def makes() -> Any:
    return answer(call("write_file", {"file_path": "made.txt", "content": "made\n"}, call_id="make"))


async def a_turn(spoken: Editor) -> dict[str, Any]:
    await spoken.ask("gemini/session/mode", {"mode": "acceptEdits"})
    return await spoken.ask("gemini/chat", {"prompt": "Go."})


def told(changes: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (Path(one["path"]).name, ", ".join(one.get("agents", ())), one.get("state", "made"))
        for one in changes["changes"]
    }


async def test_a_subagents_changes_are_listed_in_the_chat_by_its_name_and_taken_back_there_after_a_restart(
    office: Office, emulator: Emulator
) -> None:
    emulator.script(
        replaces("one", "ONE"),
        handed(),
        makes(),
        replaces("ONE", "one by the agent"),
        "Written.",
        replaces("five", "FIVE"),
        "Done.",
    )
    async with office.server() as spoken:
        said = await a_turn(spoken)
        listed = await spoken.ask("gemini/changes", {})
        agent = spoken.of("agentActivity")[-1]["agentSessionId"]
        counted = spoken.of("changesChanged")[-1]
    assert office.shared.read_text("utf-8") == "one by the agent\ntwo\nthree\nfour\nFIVE\n"
    assert told(listed) == {("made.txt", "Generalist", "made"), ("shared.txt", "Generalist", "made")}
    assert {one["turnId"] for one in listed["changes"]} == {said["turnId"]}
    diff = next(one["diff"] for one in listed["changes"] if one["path"].endswith("shared.txt"))
    assert [line for line in diff.splitlines() if line.startswith(("+one", "+FIVE", "-one", "-five"))] == [
        "-one",
        "+one by the agent",
        "-five",
        "+FIVE",
    ]
    assert (counted["files"], counted["added"], counted["removed"]) == (2, 3, 2)
    there = {"sessionId": said["sessionId"]}
    async with office.server() as spoken:
        result = await spoken.ask("gemini/changes/revert", {**there, "turnId": said["turnId"]})
        assert office.shared.read_text("utf-8") == SHARED
        assert not office.made.exists()
        assert {Path(path).name for path in result["reverted"]} == {"made.txt", "shared.txt"}
        assert {state for *_, state in told(await spoken.ask("gemini/changes", there))} == {"reverted"}
        own = await spoken.ask("gemini/changes", {"sessionId": agent})
        assert {state for *_, state in told(own)} == {"reverted"}
        await spoken.ask("gemini/changes/revert", {**there, "changeId": result["changeId"]})
        assert office.shared.read_text("utf-8") == "one by the agent\ntwo\nthree\nfour\nFIVE\n"
        assert office.made.read_text("utf-8") == "made\n"
        kept = await spoken.ask("gemini/changes/keep", {**there, "path": str(office.made)})
        assert {name: state for name, _, state in told(kept)} == {"made.txt": "kept", "shared.txt": "made"}


async def test_what_a_person_wrote_over_a_subagents_change_stays_and_is_told_as_a_conflict(
    office: Office, emulator: Emulator
) -> None:
    emulator.script(handed(), replaces("two", "TWO"), "Written.", "Done.")
    async with office.server() as spoken:
        said = await a_turn(spoken)
        mine = SHARED.replace("two", "mine")
        office.shared.write_text(mine, "utf-8")
        result = await spoken.ask("gemini/changes/revert", {"turnId": said["turnId"]})
        assert [Path(one["path"]).name for one in result["conflicts"]] == ["shared.txt"]
        assert office.shared.read_text("utf-8") == mine
        office.shared.write_text(SHARED.replace("two", "TWO").replace("five", "mine"), "utf-8")
        result = await spoken.ask("gemini/changes/revert", {"turnId": said["turnId"]})
        assert result["conflicts"] == []
        assert office.shared.read_text("utf-8") == SHARED.replace("five", "mine")


async def test_a_change_that_was_taken_back_in_the_subagents_own_chat_is_taken_back_in_the_chat(
    office: Office, emulator: Emulator
) -> None:
    emulator.script(handed(), makes(), "Written.", "Done.")
    async with office.server() as spoken:
        said = await a_turn(spoken)
        agent = spoken.of("agentActivity")[-1]["agentSessionId"]
        await spoken.ask("gemini/changes/revert", {"sessionId": agent})
        assert not office.made.exists()
        listed = await spoken.ask("gemini/changes", {"sessionId": said["sessionId"]})
        assert told(listed) == {("made.txt", "Generalist", "reverted")}


async def test_what_a_subagent_changed_before_its_daemon_was_killed_is_listed_and_taken_back_by_the_next(
    office: Office, emulator: Emulator
) -> None:
    gate = Gate()
    emulator.script(handed(), makes(), answer("I am at it", gate, "."))
    async with office.server() as spoken:
        await spoken.ask("gemini/session/mode", {"mode": "acceptEdits"})
        chat = spoken.start("gemini/chat", {"prompt": "Go."})
        await gate.wait_reached()
        session = spoken.envelopes[0]["sessionId"]
        await spoken.kill()
        chat.cancel()
    gate.release()
    async with office.server() as spoken:
        there = {"sessionId": session}
        await spoken.ask("gemini/session/open", {**there, "takeOver": True})
        assert told(await spoken.ask("gemini/changes", there)) == {("made.txt", "Generalist", "made")}
        await spoken.ask("gemini/changes/revert", {**there, "path": str(office.made)})
        assert not office.made.exists()


async def test_nothing_is_taken_back_in_the_chat_while_a_person_has_its_subagent_go_on(
    office: Office, emulator: Emulator
) -> None:
    gate = Gate()
    emulator.script(handed(), makes(), "Written.", "Done.", answer("More", gate, "."))
    async with office.server() as spoken:
        said = await a_turn(spoken)
        agent = spoken.of("agentActivity")[-1]["agentSessionId"]
        more = spoken.start("gemini/chat", {"sessionId": agent, "prompt": "Go on."})
        await gate.wait_reached()
        refused = await spoken.fails("gemini/changes/revert", {"sessionId": said["sessionId"]})
        assert "The model is at work" in refused.message
        gate.release()
        await more
        await spoken.ask("gemini/changes/revert", {"sessionId": said["sessionId"]})
        assert not office.made.exists()


async def test_nothing_is_taken_back_in_the_chat_while_another_window_has_its_subagent_go_on(
    office: Office, emulator: Emulator
) -> None:
    gate = Gate()
    emulator.script(handed(), makes(), "Written.", "Done.")
    async with office.server() as spoken:
        said = await a_turn(spoken)
        agent = spoken.of("agentActivity")[-1]["agentSessionId"]
    there = {"sessionId": said["sessionId"]}
    emulator.script(answer("More", gate, "."))
    async with office.server() as spoken:
        await spoken.ask("gemini/session/open", there)
        async with office.server() as other:
            more = other.start("gemini/chat", {"sessionId": agent, "prompt": "Go on."})
            await gate.wait_reached()
            refused = await spoken.fails("gemini/changes/revert", there)
            assert (refused.code, office.made.exists()) == (1002, True)
            assert "the subagent Generalist" in refused.message
            gate.release()
            await more
        await spoken.ask("gemini/changes/revert", there)
        assert not office.made.exists()


async def forked(spoken: Editor, session_id: str, **at: Any) -> dict[str, Any]:
    made = await spoken.ask("gemini/session/fork", {"sessionId": session_id, **at})
    return {"sessionId": made["sessionId"]}


async def test_a_fork_lists_and_takes_back_what_subagents_did_for_the_turns_that_it_began_with(
    office: Office, emulator: Emulator
) -> None:
    emulator.script(
        replaces("one", "ONE"), handed(), makes(), replaces("ONE", "one by the agent"), "Written.", "Done.", "Hello."
    )
    emulator.script(handed(), replaces("five", "FIVE"), "Written.", "Done.")
    async with office.server() as spoken:
        first = await a_turn(spoken)
        await spoken.ask("gemini/chat", {"prompt": "Only talk."})
        await spoken.ask("gemini/chat", {"prompt": "More."})
        between = await forked(spoken, first["sessionId"], atTurn=2)
        there = await forked(spoken, between["sessionId"])
        listed = await spoken.ask("gemini/changes", there)
        assert told(listed) == {("made.txt", "Generalist", "made"), ("shared.txt", "Generalist", "made")}
        result = await spoken.ask("gemini/changes/revert", {**there, "turnId": first["turnId"]})
        assert result["conflicts"] == []
        assert office.shared.read_text("utf-8") == SHARED.replace("five", "FIVE")
        assert not office.made.exists()


async def test_nothing_is_taken_back_in_a_fork_while_a_subagent_of_its_source_is_at_work(
    office: Office, emulator: Emulator
) -> None:
    gate, elsewhere = Gate(), Gate()
    emulator.script(handed(), makes(), "Written.", "Done.", answer("More", gate, "."))
    async with office.server() as spoken:
        said = await a_turn(spoken)
        agent = spoken.of("agentActivity")[-1]["agentSessionId"]
        there = await forked(spoken, said["sessionId"])
        more = spoken.start("gemini/chat", {"sessionId": agent, "prompt": "Go on."})
        await gate.wait_reached()
        refused = await spoken.fails("gemini/changes/revert", there)
        assert "The model is at work" in refused.message
        gate.release()
        await more
    emulator.script(answer("Still more", elsewhere, "."))
    async with office.server() as spoken:
        await spoken.ask("gemini/session/open", there)
        async with office.server() as other:
            more = other.start("gemini/chat", {"sessionId": agent, "prompt": "Go on."})
            await elsewhere.wait_reached()
            refused = await spoken.fails("gemini/changes/revert", there)
            assert (refused.code, office.made.exists()) == (1002, True)
            elsewhere.release()
            await more
        await spoken.ask("gemini/changes/revert", there)
        assert not office.made.exists()
