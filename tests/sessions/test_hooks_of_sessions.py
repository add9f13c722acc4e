"""Hooks in a session, with commands that a test stands in for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from gemini_companion.engine.hooks.answers import HookEnd
from gemini_companion.engine.hooks.config import Hook, HookOptions
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.events import CompressionProgress, HookRan
from gemini_companion.sessions.hooks.service import HooksOfSessions
from gemini_companion.sessions.tool_events import ToolCallCompleted
from tests.support.consenting import ConsentStudio
from tests.support.conversations import dialogue
from tests.support.sessions import Studio


class ScriptedHooks:
    """Runs no process: each command has its answers, and what it was told is remembered."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.told: list[dict[str, Any]] = []
        self.places: list[tuple[str, Mapping[str, str]]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(
        self, command: str, *, cwd: str, stdin: bytes, env: Mapping[str, str], limit_seconds: float
    ) -> HookEnd:
        self.told.append(json.loads(stdin))
        self.places.append((cwd, env))
        await self.gate.wait()
        answer = self.answers.get(command, {})
        return answer if isinstance(answer, HookEnd) else HookEnd(stdout=json.dumps(answer), duration_ms=7)


def use(studio: Studio, *hooks: Hook, **options: Any) -> ScriptedHooks:
    runner = ScriptedHooks()
    studio.services.hooks = HooksOfSessions(runner, home="/home/me")
    studio.set(hooks=HookOptions(hooks=hooks, **options))
    return runner


def hook(event: Any, command: str = "c", **more: Any) -> Hook:
    return Hook(event=event, command=command, **more)


def context(text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"additionalContext": text}}


async def test_a_hook_guides_a_compression_and_one_behind_it_adds_to_the_next_prompt(studio: Studio) -> None:
    runner = use(studio, hook("PreCompress", "pre", matcher="manual"), hook("PostCompress", "post"))
    runner.answers = {"pre": context("Keep the ports."), "post": context("Look at NOTES.md again.")}
    await studio.load(dialogue())
    result = await studio.compress()
    await studio.chat("Go on")
    pre, post = runner.told
    assert (pre["hook_event_name"], pre["trigger"]) == ("PreCompress", "manual")
    assert (post["compression_status"], post["tokens_after"]) == ("COMPRESSED", result.new_token_count)
    assert studio.heard.of(CompressionProgress)[0].phase == "hook"
    assert "Keep the ports." in str(studio.model.requests[0].contents)
    assert studio.model.main()[-1].contents[-1].parts[-1] == {
        "text": "<hook_context>Look at NOTES.md again.</hook_context>"
    }


async def test_a_hook_refuses_an_automatic_compression_once_and_a_manual_one_never(studio: Studio) -> None:
    runner = use(studio, hook("PreCompress"))
    runner.answers = {"c": {"decision": "deny", "reason": "not now"}}
    await studio.load(dialogue())
    studio.set(compression_threshold=0.0001)
    first = await studio.chat("Hi")
    asked = len(runner.told)
    await studio.chat("Hi again")
    assert first.compression is not None
    assert (first.compression.status, "not now" in first.compression.message) == ("NOOP", True)
    assert len(runner.told) == asked == 1
    assert (await studio.compress()).status == "COMPRESSED"


async def test_hooks_in_order_are_told_what_those_before_changed_and_others_are_not(studio: Studio) -> None:
    for sequential, told in ((True, ["Hi", "Hi\n\none"]), (False, ["Hi", "Hi"])):
        runner = use(
            studio, hook("BeforeAgent", "a", sequential=sequential), hook("BeforeAgent", "b"), hook("BeforeAgent", "a")
        )
        runner.answers = {"a": context("one")}
        await studio.chat("Hi")
        assert [one["prompt"] for one in runner.told] == told


async def test_hooks_that_are_disabled_do_not_run_and_what_is_dull_is_not_to_be_shown(studio: Studio) -> None:
    runner = use(studio, hook("BeforeAgent", "a", name="off"), hook("BeforeAgent", "b"), disabled=frozenset({"off"}))
    await studio.chat("Hi")
    studio.set(hooks=msgspec.structs.replace(studio.settings.hooks, enabled=False))
    await studio.chat("Hi")
    (ran,) = studio.heard.of(HookRan)
    assert (ran.name, ran.outcome, ran.duration_ms, ran.is_notable) == ("b", "ok", 7, False)
    assert runner.places[0][1]["GEMINI_PROJECT_DIR"] == runner.places[0][0]


async def test_a_session_begins_once_and_ends_with_the_daemon(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    runner = use(studio, hook("SessionStart"), hook("SessionEnd"))
    await studio.chat("Hi")
    await studio.chat("Hi")
    await studio.app.close()
    assert [(one["hook_event_name"], one.get("source") or one.get("reason")) for one in runner.told] == [
        ("SessionStart", "startup"),
        ("SessionEnd", "exit"),
    ]


async def test_a_hook_changes_arguments_and_has_the_person_asked_about_what_rules_allow(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path)
    asks = {"decision": "ask", "reason": "look", "hookSpecificOutput": {"tool_input": {"content": "y"}}}
    runner = use(studio, hook("BeforeTool", matcher="^write_"), hook("Notification", "n"))
    runner.answers = {"c": asks}
    studio.person.answers = [ConsentAnswer(outcome="once")]
    await studio.write("a.py", "x")
    assert studio.tool.written == {"/project/a.py": "y"}
    assert len(studio.person.asked) == 1
    told = [one for one in runner.told if one["hook_event_name"] == "Notification"]
    assert [(one["notification_type"], one["details"]["type"]) for one in told] == [("ToolPermission", "edit")]
    await studio.app.close()


async def test_a_hook_that_stops_at_a_call_ends_the_turn_and_nothing_is_done(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path)
    runner = use(studio, hook("BeforeTool"))
    runner.answers = {"c": {"continue": False, "stopReason": "enough for today"}}
    result = await studio.write("a.py", "x")
    assert (result.stopped, result.text) == ("blocked", "enough for today")
    assert studio.tool.written == {}
    assert [event.outcome for event in studio.heard.of(ToolCallCompleted)] == ["declined"]
    await studio.app.close()


async def test_a_turn_is_cancelled_while_a_hook_hangs(studio: Studio) -> None:
    runner = use(studio, hook("BeforeAgent"))
    runner.gate.clear()
    session = await studio.session()
    turn = asyncio.create_task(studio.chat("Hi"))
    while not runner.told:
        await asyncio.sleep(0)
    await studio.app.cancel(studio.client, session.session_id)
    await asyncio.wait({turn})
    assert turn.exception() is not None
    assert studio.model.main() == []
