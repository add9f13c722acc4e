"""Compression as sessions run it: statuses, flag, preview, apply, undo, cancel, joining, faults."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from gemini_companion.engine.compression.instructions import VERIFY_REQUEST
from gemini_companion.engine.compression.types import snapshot_text
from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from gemini_companion.sessions.compression.preview import apply_preview, install_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import (
    ChatCompressed,
    CompressionCompleted,
    CompressionProgress,
    CompressionStarted,
)
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.transcript.inspection import compression_list, context_report
from tests.support.conversations import agent_run, dialogue
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio


@pytest.mark.usefixtures("by_split")
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


async def test_the_phases_are_emitted_in_order_and_end_with_the_result(studio: Studio) -> None:
    await studio.load(dialogue())
    result = await studio.compress()
    assert [event.phase for event in studio.heard.of(CompressionProgress)] == [
        "truncating",
        "summarising",
        "verifying",
        "counting",
        "installing",
    ]
    assert studio.heard.of(CompressionStarted)[0].compression_id == result.compression_id
    assert studio.heard.of(CompressionCompleted)[0].result == result
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
    assert snapshot_text(after[1]) == SNAPSHOT
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
        await session.append(
            lambda seq, kind=kind, content=content, stamp=stamp: kind(**stamp, seq=seq, turn_id="t9", content=content)
        )
    second = await studio.compress()
    assert second.status == "COMPRESSED"
    after = session.history.contents()
    assert after[0] == agent_run()[0]
    assert sum("<state_snapshot>" in visible_text(content) for content in after) == 1
    request = [request for request in studio.model.requests if request.role == "utility_compressor"][-2]
    assert "earlier snapshot" in request.contents[0].parts[0]["text"]
    listed = {item.compression_id: item.state for item in compression_list(session).compressions}
    assert listed == {second.compression_id: "inForce", first.compression_id: "covered"}
    undone = await undo(session, client="c", compression_id=first.compression_id)
    assert undone.undone == (second.compression_id, first.compression_id)
    assert session.history.contents() == [*agent_run(), *more]


async def test_a_history_larger_than_the_window_is_summarised_in_blocks(studio: Studio) -> None:
    studio.set(token_limit_override=6_000)
    session = await studio.load(dialogue(rounds=40, words=150))
    assert session.token_count(session.choice()).tokens > 6_000
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    assert result.model_calls > 2
    blocks = [event for event in studio.heard.of(CompressionProgress) if event.block]
    assert blocks[-1].block == blocks[-1].blocks == result.model_calls - 1
    for request in studio.model.requests:
        assert studio.model.count(request) <= 6_000


async def test_an_automatic_run_starts_where_the_count_equals_the_threshold_and_not_below(studio: Studio) -> None:
    session = await studio.load(dialogue())
    tokens = session.token_count(session.choice()).tokens
    studio.set(compression_token_cap=tokens + 1)
    await studio.chat("below")
    assert not studio.heard.of(CompressionStarted)
    tokens = session.token_count(session.choice()).tokens
    studio.set(compression_token_cap=tokens)
    result = await studio.chat("equal")
    assert result.compression is not None
    assert result.compression.trigger == "auto"


async def test_the_status_and_the_parts_say_at_which_count_compression_starts(studio: Studio) -> None:
    session = await studio.load(dialogue())
    limit = session.limit(session.choice())
    told = [context_report(session).compression_at, session.status(None).compression_at]
    assert told == [round(session.status(None).threshold * limit)] * 2
    studio.set(compression_token_cap=100)
    report = session.status(None)
    assert (report.compression_at, report.is_due, report.token_count > 100) == (100, True, True)
    assert context_report(session).compression_at == 100
    studio.set(compression_token_cap=None, compression_mode="off")
    assert session.status(None).compression_at is UNSET


async def test_a_threshold_of_one_turns_automatic_compression_off(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_threshold=1.0, token_limit_override=session.token_count(session.choice()).tokens + 200)
    result = await studio.chat("word " * 400)
    assert result.stopped == "contextWindowWillOverflow"
    assert "Compress the chat, go on in a new chat" in result.message
    assert not studio.heard.of(CompressionStarted)
    assert session.status(studio.client).tokens_until_compression is None


async def test_a_prompt_that_would_overflow_compresses_first_whatever_the_threshold_says(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_threshold=0.99, token_limit_override=session.token_count(session.choice()).tokens + 150)
    result = await studio.chat("word " * 200)
    assert result.stopped is None
    assert result.compression is not None
    assert result.compression.status == "COMPRESSED"


async def test_a_pinned_text_stands_word_for_word_in_every_view(studio: Studio) -> None:
    session = await studio.load(dialogue())
    rule = "Never retry a request that is not idempotent — 二度と。"
    await pin(session, text=rule)
    assert sum(rule in visible_text(content) for content in session.history.contents()) == 1
    await studio.compress()
    assert sum(rule in visible_text(content) for content in session.history.contents()) == 1
    await pin(session, text="Second rule.")
    assert sum("Second rule." in visible_text(content) for content in session.history.contents()) == 1
    await studio.chat("more " + "word " * 600)
    await studio.compress()
    assert sum(rule in visible_text(content) for content in session.history.contents()) == 1


async def test_guidance_goes_to_the_summariser(studio: Studio) -> None:
    await studio.load(dialogue())
    await studio.compress(instructions="keep the port numbers")
    assert "keep the port numbers" in studio.model.requests[0].contents[0].parts[-1]["text"]


async def test_every_change_of_the_status_is_emitted(studio: Studio) -> None:
    await studio.load(dialogue())
    await studio.compress()
    states = [report.state for report in studio.heard.reports]
    assert "running" in states
    assert states[-1] == "idle"
    assert studio.heard.reports[-1].can_undo


# --- what survives


@pytest.mark.usefixtures("by_split")
async def test_a_result_says_how_much_of_what_was_hidden_survived_and_what_did_not(studio: Studio) -> None:
    studio.set(compression_gate=False)
    rule = "Never touch legacy/."
    lost = "Always run make lint before a commit."
    await studio.load([user_text(f"{rule} {lost}"), model_text("Understood."), *dialogue()])
    result = await studio.compress()
    assert result.retention is not None
    assert result.retention.facts > result.retention.kept > 0
    assert 0 < result.retention.score < 1
    missing = [fact.text for fact in result.retention.missing]
    assert any(lost.rstrip(".") in text for text in missing)
    assert not any(rule in text for text in missing)


async def test_pins_count_as_kept(studio: Studio) -> None:
    lost = "Always run make lint before a commit."
    session = await studio.load([user_text(lost), model_text("Understood."), *dialogue()])
    await pin(session, text=lost)
    result = await studio.compress()
    assert result.retention is not None
    assert lost not in [fact.text for fact in result.retention.missing]


@pytest.mark.usefixtures("by_split")
async def test_what_is_missing_is_named_by_its_first_line_however_long_it_is(studio: Studio) -> None:
    studio.set(compression_gate=False)
    script = "cat > run.sh <<'EOF'\n" + "echo line\n" * 20_000 + "EOF"
    call = {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": script}}}
    answer = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": "ok"}}}
    await studio.load(
        [
            user_text("Write run.sh."),
            Content(role="model", parts=(call,)),
            Content(role="user", parts=(answer,)),
            model_text("Written."),
            *dialogue(),
        ]
    )
    result = await studio.compress()
    assert result.retention is not None
    commands = [fact.text for fact in result.retention.missing if fact.kind == "command"]
    assert commands == ["cat > run.sh <<'EOF'"]


async def test_a_preview_that_was_applied_and_undone_is_not_said_to_be_applied(studio: Studio) -> None:
    session = await studio.load(dialogue())
    compression_id = (await studio.compress(preview=True)).compression_id or ""
    await apply_preview(session, client="c", compression_id=compression_id)
    with pytest.raises(CompressionNotFound, match="applied already"):
        await apply_preview(session, client="c", compression_id=compression_id)
    await undo(session, client="c")
    with pytest.raises(CompressionNotFound, match="not in force any more"):
        await apply_preview(session, client="c", compression_id=compression_id)
    with pytest.raises(CompressionNotFound):
        await install_preview(session, compression_id, "c")


# --- the listing


@pytest.mark.parametrize("change", ["undo", "apply", "slash"])
async def test_the_listing_has_the_numbers_that_the_session_has(studio: Studio, change: str) -> None:
    session = await studio.load(dialogue())
    if change == "undo":
        await studio.compress()
        await undo(session, client="c")
    elif change == "apply":
        preview = await studio.compress(preview=True)
        await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    else:
        await studio.chat("/compress")
    stored = await studio.store.meta(session.session_id)
    assert stored.token_count == session.token_count(session.choice()).tokens


# --- several at once
