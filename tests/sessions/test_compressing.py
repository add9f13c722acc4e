"""Compression as sessions run it: statuses, flag, preview, apply, undo, cancel, joining, faults."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_companion.engine.compression.conclude import ACKNOWLEDGEMENT
from gemini_companion.engine.compression.prompt import VERIFY_REQUEST
from gemini_companion.engine.errors import (
    Cancelled,
    CheckpointNotFound,
    ContextOverflow,
    InvalidInput,
    ModelUnavailable,
    StaleVersion,
    StorageFault,
    TokenCountFailed,
    Unauthenticated,
)
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import AttemptEntry
from gemini_companion.engine.history.part import visible_text
from gemini_companion.protocol.handlers.sessions import pin_text
from gemini_companion.sessions.checkpoints import apply_preview, undo
from gemini_companion.sessions.events import (
    ChatCompressed,
    CompactionCancelled,
    CompactionCompleted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    CompactionUndone,
    PromptQueued,
)
from gemini_companion.sessions.history_pages import history_page
from gemini_companion.sessions.inspection import compaction_list
from gemini_companion.sessions.session import Session
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio


def dialogue(rounds: int = 8, words: int = 200) -> list[Content]:
    contents: list[Content] = []
    for number in range(rounds):
        contents += [user_text(f"question {number} " + "word " * words), model_text(f"answer {number} " + "text " * words)]
    return contents


def agent_run(rounds: int = 12, words: int = 200) -> list[Content]:
    contents = [user_text("Mend src/parser.py; never touch legacy/.")]
    for number in range(rounds):
        call = {"functionCall": {"id": f"c{number}", "name": "run", "args": {"command": f"pytest tests/test_{number}.py"}}}
        result = {"functionResponse": {"id": f"c{number}", "name": "run", "response": {"output": f"{number} " + "line " * words}}}
        contents += [Content(role="model", parts=({"text": f"step {number}"}, call)), Content(role="user", parts=(result,))]
    return contents


async def test_compressing_hides_the_older_part_and_keeps_the_tail_word_for_word(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    assert result.new_token_count < result.original_token_count
    assert result.token_count_source == "api"
    assert result.model_calls == 2
    after = session.history.contents()
    assert result.split_at is not None
    assert after[:2] == [user_text(SNAPSHOT), model_text(ACKNOWLEDGEMENT)]
    assert after[2:] == before[result.split_at :]
    assert result.kept_contents == len(before) - result.split_at
    assert f"{result.original_token_count:,}" in result.message


async def test_the_phases_are_told_in_order_and_end_with_the_result(studio: Studio) -> None:
    await studio.load(dialogue())
    result = await studio.compress()
    assert [event.phase for event in studio.heard.of(CompactionProgress)] == ["truncating", "summarising", "verifying", "counting", "installing"]
    assert studio.heard.of(CompactionStarted)[0].compaction_id == result.compaction_id
    assert studio.heard.of(CompactionCompleted)[0].result == result
    assert studio.heard.of(ChatCompressed)[0].tokens_after == result.new_token_count


async def test_an_empty_history_is_a_noop_without_a_model_call(studio: Studio) -> None:
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("NOOP", 0)
    assert studio.model.requests == []


async def test_the_second_call_has_the_first_ones_contents_as_its_prefix(studio: Studio) -> None:
    await studio.load(dialogue())
    await studio.compress()
    first, second = [request for request in studio.model.requests if request.role == "utility_compressor"]
    assert second.contents[: len(first.contents)] == first.contents
    assert second.contents[-2] == model_text(SNAPSHOT)
    assert second.contents[-1] == user_text(VERIFY_REQUEST)
    assert (first.prompt_id + "-verify") == second.prompt_id
    assert first.model == "gemini-2.5-pro"


async def test_an_agents_run_of_one_prompt_keeps_the_prompt_beside_the_snapshot(studio: Studio) -> None:
    session = await studio.load(agent_run())
    before = session.history.contents()
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    after = session.history.contents()
    assert result.split_at is not None
    assert after[0] == before[0]
    assert visible_text(after[1]) == SNAPSHOT
    assert after[2:] == before[result.split_at :]
    assert after[2].role == "model"


async def test_a_run_compressed_twice_merges_the_earlier_snapshot_and_still_keeps_the_prompt(studio: Studio) -> None:
    session = await studio.load(agent_run())
    first = await studio.compress()
    more = agent_run()[1:]
    from gemini_companion.engine.history.log import ReplyEntry, ToolResultEntry

    for content in more:
        stamp = session.stamp()
        kind = ReplyEntry if content.role == "model" else ToolResultEntry
        await session.append(lambda seq, kind=kind, content=content, stamp=stamp: kind(**stamp, seq=seq, turn_id="t9", content=content))
    second = await studio.compress()
    assert second.status == "COMPRESSED"
    after = session.history.contents()
    assert after[0] == agent_run()[0]
    assert sum("<state_snapshot>" in visible_text(content) for content in after) == 1
    request = [request for request in studio.model.requests if request.role == "utility_compressor"][-2]
    assert "earlier snapshot" in request.contents[0].parts[0]["text"]
    listed = {item.compaction_id: item.state for item in compaction_list(session).compactions}
    assert listed == {second.compaction_id: "inForce", first.compaction_id: "covered"}
    undone = await undo(session, client="c", compaction_id=first.compaction_id)
    assert undone.undone == (second.compaction_id, first.compaction_id)
    assert session.history.contents() == [*agent_run(), *more]


async def test_inflated_is_refused_and_sets_the_flag_only_for_automatic_runs(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    studio.model.default_answer = f"<state_snapshot>{'long ' * 30_000}</state_snapshot>"
    before = session.history.contents()
    result = await studio.compress()
    assert result.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    assert session.history.contents() == before
    assert not session.status(studio.client).has_failed_compression_attempt
    studio.set(compression_token_cap=500)
    await studio.chat("go on")
    assert session.status(studio.client).has_failed_compression_attempt
    calls = studio.model.kinds().count("utility_compressor")
    await studio.chat("and on")
    assert studio.model.kinds().count("utility_compressor") == calls


async def test_after_a_failure_only_large_outputs_are_cut_and_that_can_be_undone(studio: Studio, tmp_path: Path) -> None:
    big = "line of output\n" * 30_000
    contents = agent_run(rounds=3)
    result = {"functionResponse": {"id": "c0", "name": "run", "response": {"output": big, "exit": 1}, "x-extra": True}}
    contents[2] = Content(role="user", parts=(result,))
    session = await studio.load(contents)
    before = session.history.contents()
    studio.model.default_answer = "nothing of use"
    studio.set(compression_token_cap=500)
    for _ in range(3):
        await studio.chat("go")
    assert session.status(studio.client).has_failed_compression_attempt
    final = await studio.chat("once more")
    assert final.compression is not None
    assert final.compression.status == "CONTENT_TRUNCATED"
    assert final.compression.model_calls == 0
    cut = session.history.contents()[2].parts[0]["functionResponse"]
    assert len(cut["response"]["output"]) < 42_000
    assert cut["x-extra"] is True
    path = next(iter(session.history.in_force.values())).cuts[0].path
    assert path in cut["response"]["output"]
    assert Path(path).read_text("utf-8") == big
    assert Path(path).stat().st_mode & 0o077 == 0
    undone = await undo(session, client="c")
    assert undone.undone == (final.compression.compaction_id,)
    assert session.history.contents()[: len(before)] == before


async def test_an_empty_summary_gets_one_repair_call_and_changes_nothing(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.default_answer = "I would rather write prose."
    before = session.history.contents()
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSION_FAILED_EMPTY_SUMMARY", 3)
    assert session.history.contents() == before
    assert studio.heard.of(CompactionFailed)[0].result == result


async def test_a_repaired_answer_is_taken(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.answers = ["prose", "more prose", SNAPSHOT]
    result = await studio.compress()
    assert (result.status, result.model_calls, result.snapshot) == ("COMPRESSED", 3, SNAPSHOT)


async def test_an_empty_second_answer_keeps_the_first(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.answers = [f"<scratchpad>hm</scratchpad>{SNAPSHOT}", ""]
    result = await studio.compress()
    assert result.snapshot == SNAPSHOT


async def test_counting_that_fails_changes_nothing(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    studio.model.counts = [TokenCountFailed("no")]
    result = await studio.compress()
    assert result.status == "COMPRESSION_FAILED_TOKEN_COUNT_ERROR"
    assert session.history.contents() == before


async def test_a_request_too_large_to_be_counted_is_estimated_on_both_sides(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.counts = [ContextOverflow("too large")]
    result = await studio.compress()
    assert (result.status, result.token_count_source) == ("COMPRESSED", "estimate")


async def test_a_history_larger_than_the_window_is_summarised_in_blocks(studio: Studio) -> None:
    studio.set(token_limit_override=6_000)
    session = await studio.load(dialogue(rounds=40, words=150))
    assert session.reading(session.choice()).tokens > 6_000
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    assert result.model_calls > 2
    blocks = [event for event in studio.heard.of(CompactionProgress) if event.block]
    assert blocks[-1].block == blocks[-1].blocks == result.model_calls - 1
    for request in studio.model.requests:
        assert studio.model.count(request) <= 6_000


async def test_a_manual_run_raises_what_the_model_raised_and_changes_nothing(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    studio.model.default_answer = Unauthenticated("refused", hint="Set GEMINI_API_KEY.")
    with pytest.raises(Unauthenticated):
        await studio.compress()
    assert session.history.contents() == before
    assert session.status(studio.client).state == "idle"


async def test_retries_of_one_compression_wait_at_most_twenty_seconds(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.default_answer = ModelUnavailable("busy", retry_after_ms=9_000)
    with pytest.raises(ModelUnavailable):
        await studio.compress()
    assert sum(studio.clock.slept) == 18.0


async def test_a_model_fault_in_an_automatic_run_never_loses_the_turn(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.default_answer = ModelUnavailable("down", retryable=False)
    result = await studio.chat("go on")
    assert result.text == "Done. "
    assert studio.heard.of(CompactionFailed)


async def test_three_automatic_failures_in_a_row_set_the_flag(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.default_answer = ModelUnavailable("down", retryable=False)
    for _ in range(3):
        assert not session.status(studio.client).has_failed_compression_attempt
        await studio.chat("go on")
    assert session.status(studio.client).has_failed_compression_attempt
    calls = studio.model.kinds().count("utility_compressor")
    await studio.chat("go on")
    assert studio.model.kinds().count("utility_compressor") == calls == 3


async def test_an_automatic_run_starts_where_the_count_equals_the_threshold_and_not_below(studio: Studio) -> None:
    session = await studio.load(dialogue())
    tokens = session.reading(session.choice()).tokens
    studio.set(compression_token_cap=tokens + 1)
    await studio.chat("below")
    assert not studio.heard.of(CompactionStarted)
    tokens = session.reading(session.choice()).tokens
    studio.set(compression_token_cap=tokens)
    result = await studio.chat("equal")
    assert result.compression is not None
    assert result.compression.trigger == "auto"


async def test_a_threshold_of_one_turns_automatic_compression_off(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_threshold=1.0, token_limit_override=session.reading(session.choice()).tokens + 200)
    result = await studio.chat("word " * 400)
    assert result.stopped == "contextWindowWillOverflow"
    assert not studio.heard.of(CompactionStarted)
    assert session.status(studio.client).tokens_until_compression is None


async def test_a_prompt_that_would_overflow_compresses_first_whatever_the_threshold_says(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_threshold=0.99, token_limit_override=session.reading(session.choice()).tokens + 150)
    result = await studio.chat("word " * 200)
    assert result.stopped is None
    assert result.compression is not None
    assert result.compression.status == "COMPRESSED"


async def test_a_cancelled_compression_leaves_no_trace_but_its_event(studio: Studio) -> None:
    session = await studio.load(dialogue())
    entries = list(session.history.entries)
    studio.model.gate.clear()
    task = asyncio.create_task(studio.compress())
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    assert session.status(studio.client).state == "running"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await studio.heard.wait_for(CompactionCancelled)
    assert session.history.entries == entries
    assert session.status(studio.client).state == "idle"


async def test_a_cancel_that_comes_after_the_install_returns_the_result(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await studio.load(dialogue())
    task: asyncio.Task[object]
    real = studio.store.append

    async def append_then_cancel(session_id: str, entries: list[object]) -> None:
        await real(session_id, entries)  # pyright: ignore[reportArgumentType]
        task.cancel()
        await asyncio.sleep(0)

    monkeypatch.setattr(studio.store, "append", append_then_cancel)
    task = asyncio.create_task(studio.compress())
    result = await task
    assert result.status == "COMPRESSED"  # pyright: ignore[reportAttributeAccessIssue]
    assert len(session.history.in_force) == 1


async def test_a_second_request_joins_the_first(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    tasks = [asyncio.create_task(studio.compress()) for _ in range(2)]
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    studio.model.gate.set()
    first, second = await asyncio.gather(*tasks)
    assert first == second
    assert studio.model.kinds().count("utility_compressor") == 2


async def test_one_of_two_who_wait_may_leave_without_ending_the_compression(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    stays, leaves = asyncio.create_task(studio.compress()), asyncio.create_task(studio.compress())
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    await asyncio.sleep(0)
    leaves.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaves
    studio.model.gate.set()
    assert (await stays).status == "COMPRESSED"


async def test_a_prompt_waits_for_the_compression_and_says_why(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    compressing = asyncio.create_task(studio.compress())
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    chatting = asyncio.create_task(studio.chat("meanwhile"))
    await studio.heard.wait_for(PromptQueued)
    assert studio.heard.of(PromptQueued)[0].because == "compression"
    studio.model.gate.set()
    assert (await compressing).status == "COMPRESSED"
    assert (await chatting).text == "Done. "


async def test_a_compression_waits_for_the_running_turn_and_goes_before_waiting_prompts(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("first"))
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("second"))
    await studio.heard.wait_for(PromptQueued)
    compressing = asyncio.create_task(studio.compress())
    await asyncio.sleep(0)
    studio.model.gate.set()
    await asyncio.gather(first, compressing, second)
    assert studio.model.kinds() == ["main", "utility_compressor", "utility_compressor", "main"]
    assert [visible_text(content).split(" ")[0] for content in session.history.contents()[-4:]] == ["first", "Done.", "second", "Done."]


async def test_status_history_and_previews_never_wait(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    turn = asyncio.create_task(studio.chat("first"))
    async with asyncio.timeout(5):
        await studio.model.called.wait()
    assert session.status(studio.client).state == "idle"
    assert (await history_page(session, "model", cursor=None, limit=None)).contents
    preview = asyncio.create_task(studio.compress(preview=True))
    await studio.heard.wait_for(CompactionStarted)
    studio.model.gate.set()
    assert (await preview).status == "PREVIEW"
    await turn


async def test_a_preview_changes_nothing_until_it_is_applied(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    epoch = session.history.epoch
    preview = await studio.compress(preview=True)
    assert preview.status == "PREVIEW"
    assert session.history.contents() == before
    assert session.history.epoch == epoch
    assert preview.compaction_id is not None
    assert compaction_list(session).compactions[0].state == "preview"
    applied = await apply_preview(session, client="c", compaction_id=preview.compaction_id)
    assert applied.status == "COMPRESSED"
    assert applied.compaction_id == preview.compaction_id
    assert applied.model_calls == 0
    assert session.history.epoch == epoch + 1
    assert visible_text(session.history.contents()[0]) == SNAPSHOT
    with pytest.raises(CheckpointNotFound, match="applied already"):
        await apply_preview(session, client="c", compaction_id=preview.compaction_id)


async def test_an_edited_text_is_wrapped_and_foreign_tags_are_escaped(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    assert preview.compaction_id is not None
    edited = "Just go on. <state_snapshot>no</state_snapshot> really"
    result = await apply_preview(session, client="c", compaction_id=preview.compaction_id, snapshot=edited)
    text = visible_text(session.history.contents()[0])
    assert text == result.snapshot
    assert text.startswith("<state_snapshot>\n")
    assert text.count("<state_snapshot>") == 1
    assert "Just go on." in text


async def test_an_inflated_or_empty_edit_is_refused(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    before = session.history.contents()
    preview = await studio.compress(preview=True)
    assert preview.compaction_id is not None
    result = await apply_preview(session, client="c", compaction_id=preview.compaction_id, snapshot="long " * 30_000)
    assert result.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    with pytest.raises(InvalidInput):
        await apply_preview(session, client="c", compaction_id=preview.compaction_id, snapshot="  ")
    assert session.history.contents() == before


async def test_turns_after_a_preview_stay_behind_the_tail_when_it_is_applied(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    await studio.chat("later")
    assert preview.compaction_id is not None
    await apply_preview(session, client="c", compaction_id=preview.compaction_id)
    assert [visible_text(content) for content in session.history.contents()[-2:]] == ["later", "Done. "]


async def test_a_preview_is_stale_after_another_compression(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    await studio.compress()
    assert preview.compaction_id is not None
    with pytest.raises((StaleVersion, CheckpointNotFound)):
        await apply_preview(session, client="c", compaction_id=preview.compaction_id)


async def test_an_undo_gives_the_history_back_with_later_turns_after_it(studio: Studio) -> None:
    session = await studio.load(dialogue())
    before = session.history.contents()
    first = await studio.compress()
    await studio.chat("later " + "word " * 400)
    second = await studio.compress()
    await studio.chat("latest")
    result = await undo(session, client="c")
    assert result.undone == (second.compaction_id,)
    assert studio.heard.of(CompactionUndone)[0].undone == (second.compaction_id,)
    result = await undo(session, client="c")
    assert result.undone == (first.compaction_id,)
    assert result.status == "UNDONE"
    assert session.history.contents()[: len(before)] == before
    assert [visible_text(content).split(" ")[0] for content in session.history.contents()[len(before) :]] == ["later", "Done.", "latest", "Done."]
    with pytest.raises(CheckpointNotFound):
        await undo(session, client="c")


async def test_after_an_undo_automatic_compression_waits_until_a_tenth_of_the_limit_was_added(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(token_limit_override=20_000, compression_token_cap=500)
    await studio.compress()
    await undo(session, client="c")
    await studio.chat("small")
    assert len(studio.heard.of(CompactionStarted)) == 1
    await studio.chat("word " * 2_500)
    await studio.chat("now")
    assert len(studio.heard.of(CompactionStarted)) == 2


async def test_a_pinned_text_stands_word_for_word_in_every_view_after_a_compression(studio: Studio) -> None:
    session = await studio.load(dialogue())
    rule = "Never retry a request that is not idempotent — 二度と。"
    await pin_text(session, rule)
    assert not any(rule in visible_text(content) for content in session.history.contents())
    await studio.compress()
    assert sum(rule in visible_text(content) for content in session.history.contents()) == 1
    await pin_text(session, "Second rule.")
    assert sum("Second rule." in visible_text(content) for content in session.history.contents()) == 1
    await studio.chat("more " + "word " * 600)
    await studio.compress()
    assert sum(rule in visible_text(content) for content in session.history.contents()) == 1


async def test_guidance_goes_to_the_summariser(studio: Studio) -> None:
    await studio.load(dialogue())
    await studio.compress(instructions="keep the port numbers")
    assert "keep the port numbers" in studio.model.requests[0].contents[0].parts[-1]["text"]


async def test_an_output_whose_file_cannot_be_written_stays_whole(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    big = "line of output\n" * 30_000
    contents = dialogue()
    call = {"functionCall": {"id": "c", "name": "run", "args": {}}}
    result = {"functionResponse": {"id": "c", "name": "run", "response": {"output": big}}}
    contents += [user_text("run it"), Content(role="model", parts=(call,)), Content(role="user", parts=(result,)), model_text("ran")]
    contents += dialogue(rounds=2, words=20)
    session = await studio.load([*contents[:16], *contents[16:]])

    async def refuse(session_id: str, name: str, text: str) -> str:
        raise StorageFault("no space")

    monkeypatch.setattr(studio.store, "save_text", refuse)
    studio.model.default_answer = "nothing"
    studio.set(compression_token_cap=500)
    for _ in range(4):
        await studio.chat("go")
    assert any(big in str(part) for content in session.history.contents() for part in content.parts) or any(
        part.get("functionResponse", {}).get("response", {}).get("output") == big for content in session.history.contents() for part in content.parts
    )


async def test_an_attempt_that_changed_nothing_is_kept_for_the_status(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.default_answer = "prose"
    result = await studio.compress()
    assert isinstance(session.history.entries[-1], AttemptEntry)
    assert session.status(studio.client).last == result


async def test_every_change_of_the_status_is_told(studio: Studio) -> None:
    await studio.load(dialogue())
    await studio.compress()
    states = [report.state for report in studio.heard.reports]
    assert "running" in states
    assert states[-1] == "idle"
    assert studio.heard.reports[-1].can_undo


async def test_cancelling_by_its_id_stops_a_compression_for_everybody(studio: Studio) -> None:
    session: Session = await studio.load(dialogue())
    studio.model.gate.clear()
    task = asyncio.create_task(studio.compress())
    await studio.heard.wait_for(CompactionStarted)
    compaction_id = studio.heard.of(CompactionStarted)[0].compaction_id
    assert (await studio.app.cancel(studio.client, session.session_id, compaction_id=compaction_id)).cancelled
    with pytest.raises(Cancelled):
        await task
