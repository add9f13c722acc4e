"""Loops, models that cannot answer, and budgets, as a user meets them: the real server over stdio, the real SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call, faults

TRUSTED = {"trusted": True}
SENTENCE = "Let me look at the test once more, for it still fails in the same way. "


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


def set_up(tmp_path: Path, **settings: Any) -> None:
    """The user's own settings."""
    folder = tmp_path / "home" / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"model": {"name": "gemini-2.5-pro"}} | settings), "utf-8")


def asked(emulator: Emulator) -> list[str]:
    return [request.model for request in emulator.asked("streamGenerateContent")]


def loops(spoken: Editor) -> list[tuple[str, str]]:
    return [(event["kind"], event["outcome"]) for event in spoken.of("loopDetected")]


async def test_a_model_that_reads_one_file_for_ever_is_told_stopped_and_let_go_on(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    set_up(tmp_path)
    reads = answer(call("read_file", {"file_path": str(workspace / "parser.py")}))
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        emulator.script(*[reads] * 10, method="streamGenerateContent")
        result = await spoken.ask("gemini/chat", {"prompt": "Read it."})
        assert result["stopped"] == "loopDetected"
        assert "read_file" in result["text"]
        assert loops(spoken) == [("repeatedCalls", "told"), ("repeatedCalls", "stopped")]
        assert "system_reminder" in json.dumps(emulator.asked("streamGenerateContent")[-1].body)
        emulator.script(answer("It is read."), method="streamGenerateContent")
        assert (await spoken.ask("gemini/chat/resume", {}))["text"] == "It is read."
        stats = await spoken.ask("gemini/stats", {})
        assert stats["loops"] == 2
        history = await spoken.ask("gemini/session/history", {"view": "transcript"})
        assert [item["kind"] for item in history["contents"]].count("reminder") == 1


async def test_an_answer_that_repeats_itself_in_single_characters_is_cut_and_the_rest_not_waited_for(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    set_up(tmp_path)
    gate = Gate()
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        emulator.script(answer(*SENTENCE * 12, gate, "late"), answer("I see."), method="streamGenerateContent")
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        assert (result.get("stopped"), result["text"]) == (None, "I see.")
        assert loops(spoken) == [("repeatedText", "told")]
        told = json.dumps(emulator.asked("streamGenerateContent")[-1].body)
        assert told.count("once more") == 1
    emulator.defects.clear()


async def test_another_model_answers_while_the_quota_is_used_up_and_the_first_again_after_a_kill(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    set_up(tmp_path)
    day = faults.rate_limited(quota="GenerateRequestsPerDayPerProjectPerModel", retry_delay="600s")
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        emulator.script(day, answer("Hello."), answer("Again."), method="streamGenerateContent")
        first = await spoken.ask("gemini/chat", {"prompt": "Hi"})
        assert (first["text"], first["model"]) == ("Hello.", "gemini-2.5-flash")
        (change,) = spoken.of("modelChanged")
        assert change["to"] == "gemini-2.5-flash"
        assert "gemini-2.5-pro cannot answer now" in change["reason"]
        models = await spoken.ask("gemini/models")
        assert (models["default"], models["current"]) == ("gemini-2.5-pro", "gemini-2.5-flash")
        assert (await spoken.ask("gemini/chat", {"prompt": "And?"}))["model"] == "gemini-2.5-flash"
        assert asked(emulator) == ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash"]
        await spoken.kill()
    async with editor(environment, workspace, options=TRUSTED) as again:
        emulator.script(answer("Back."), method="streamGenerateContent")
        back = await again.ask("gemini/chat", {"prompt": "Once more", "sessionId": first["sessionId"]})
        assert (back["text"], back["model"]) == ("Back.", "gemini-2.5-pro")


async def test_where_no_model_answers_the_prompt_is_kept_and_nothing_is_asked_twice(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    set_up(tmp_path)
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        emulator.script(*[faults.rate_limited(retry_delay="3000s")] * 3, method="streamGenerateContent")
        error = await spoken.fails("gemini/chat", {"prompt": "Do not lose me."})
        assert error.code == 1003
        assert asked(emulator) == ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"]
        history = await spoken.ask("gemini/session/history", {"view": "transcript"})
        assert history["contents"][0]["parts"] == [{"text": "Do not lose me."}]


async def test_a_budget_that_ends_in_the_middle_of_a_turn_stops_it_and_holds_for_the_next_daemon(
    tmp_path: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    set_up(tmp_path, companion={"budget": {"dayTokens": 2_000}})
    (workspace / ".gemini").mkdir()
    (workspace / ".gemini" / "settings.json").write_text('{"companion": {"budget": {"dayTokens": 9000000}}}', "utf-8")
    reads = [answer(call("read_file", {"file_path": str(workspace / "parser.py"), "offset": n})) for n in range(4)]
    async with editor(environment, workspace, options=TRUSTED) as spoken:
        emulator.script(*reads, method="streamGenerateContent")
        result = await spoken.ask("gemini/chat", {"prompt": "Read it."})
        assert result["stopped"] == "budget"
        assert "companion.budget.dayTokens" in result["message"]
        assert spoken.of("budgetUsed")[-1]["outcome"] == "stopped"
        sent = len(asked(emulator))
        assert sent < 4
        await spoken.kill()
    async with editor(environment, workspace, options=TRUSTED) as again:
        refused = await again.ask("gemini/chat", {"prompt": "And now?"})
        assert (refused["stopped"], refused["prompt"]) == ("budget", [{"text": "And now?"}])
        assert len(asked(emulator)) == sent
