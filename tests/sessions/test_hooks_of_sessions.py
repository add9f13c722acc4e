"""Hooks in a session: at its beginning, its end and its compressions."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import user_text
from gemini_companion.sessions.compression.service import compress_at_safe_point
from gemini_companion.sessions.compression_events import CompressionProgress
from gemini_companion.sessions.registry import IDLE_SECONDS
from tests.support.conversations import dialogue
from tests.support.sample_tools import SampleTool
from tests.support.scripted_hooks import ScriptedHooks, context, hook, request, use
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


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


@pytest.mark.parametrize("trigger", ["manual", "auto"])
async def test_where_there_is_nothing_to_hide_no_hook_is_asked(studio: Studio, trigger: str) -> None:
    runner = use(studio, hook("PreCompress"))
    session = await studio.load([user_text("Read this. " + "word " * 400)])
    if trigger == "manual":
        assert (await studio.compress()).status == "NOOP"
    else:
        studio.set(compression_threshold=0.0001)
        assert await compress_at_safe_point(session, session.choice()) is not None
    assert runner.told == []


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


async def test_a_session_that_is_left_for_a_new_one_ends_and_the_new_one_begins_behind_that(studio: Studio) -> None:
    runner = use(studio, hook("SessionStart"), hook("SessionEnd"))
    await studio.chat("Hi")
    await studio.app.new_session(studio.client)
    await studio.chat("Hi")
    assert told_of_sessions(runner) == [("SessionStart", "startup"), ("SessionEnd", "clear"), ("SessionStart", "clear")]
    assert len({one["session_id"] for one in runner.told}) == 2


async def test_a_session_that_is_deleted_ends_before_its_files_are_gone(studio: Studio) -> None:
    runner = use(studio, hook("SessionEnd"))
    await studio.chat("Hi")
    session = await studio.session()
    await studio.app.delete(session.session_id)
    assert told_of_sessions(runner) == [("SessionEnd", "other")]


async def test_what_hooks_left_for_the_next_prompt_goes_with_a_deleted_session(studio: Studio) -> None:
    use(studio, hook("PostCompress")).answers = {"c": context("Look at NOTES.md again.")}
    await studio.load(dialogue())
    await studio.compress()
    session, hooks = await studio.session(), studio.app.services.hooks
    await hooks.settled(session)
    await studio.app.delete(session.session_id)
    assert hooks.take_pending(session) == []


async def test_a_session_that_is_gone_back_to_begins_again_and_ends_when_it_is_let_go(studio: Studio) -> None:
    runner = use(studio, hook("SessionStart"), hook("SessionEnd"))
    await request(studio.chat("Hi"))
    first = studio.client.current or ""
    await request(studio.app.new_session(studio.client))
    await request(studio.app.open_session(studio.client, first))
    await request(studio.chat("Hi again"))
    studio.client.current = None
    studio.clock.time += round(IDLE_SECONDS * 1000)
    await request(studio.app.let_go_idle())
    assert told_of_sessions(runner) == [
        ("SessionStart", "startup"),
        ("SessionEnd", "clear"),
        ("SessionStart", "resume"),
        ("SessionEnd", "other"),
    ]


async def test_hooks_at_the_end_of_a_session_hold_nobody_up(studio: Studio) -> None:
    runner = use(studio, hook("SessionEnd"))
    await studio.chat("Hi")
    session = await studio.session()
    runner.gate.clear()
    await studio.app.delete(session.session_id)
    assert len(runner.told) == 1


async def test_a_turn_that_is_gone_on_with_is_not_asked_about_again_and_gets_what_the_session_begins_with(
    tmp_path: Path,
) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    runner = use(studio, hook("SessionStart", "start"), hook("BeforeAgent", "before"))
    studio.model.streams = [calls(("read_file", {})), ModelUnavailable("It is down.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Hi")
    fresh = use(studio, hook("SessionStart", "start"), hook("BeforeAgent", "before"))
    fresh.answers = {"start": context("It is Monday.")}
    await studio.app.resume(studio.client)
    assert [one["hook_event_name"] for one in runner.told] == ["SessionStart", "BeforeAgent"]
    assert [one["hook_event_name"] for one in fresh.told] == ["SessionStart"]
    assert "It is Monday." in str(studio.model.main()[-1].contents[-1])
    await studio.app.close()


def told_of_sessions(runner: ScriptedHooks) -> list[tuple[str, str]]:
    return [(one["hook_event_name"], one.get("source") or one["reason"]) for one in runner.told]
