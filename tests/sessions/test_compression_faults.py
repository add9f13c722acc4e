"""What a compression does when the model, the counting or the disk fails, or nothing would be won."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gemini_companion.engine.errors import (
    ContextOverflow,
    ModelUnavailable,
    StorageFault,
    TokenCountFailed,
    Unauthenticated,
)
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import AttemptEntry
from gemini_companion.sessions.compression.gating import BUILT_IN
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionFailed, CompressionStarted
from tests.support.conversations import agent_run, dialogue
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio


async def test_inflated_is_refused_and_sets_the_flag_only_for_automatic_runs(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    studio.model.default_answer = SNAPSHOT.replace("none", " ".join(f"long {n}" for n in range(6_000)))
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


async def test_after_a_failure_only_large_outputs_are_cut_and_that_can_be_undone(
    studio: Studio, tmp_path: Path
) -> None:
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
    assert undone.undone == (final.compression.compression_id,)
    assert session.history.contents()[: len(before)] == before


async def test_an_empty_summary_gets_one_repair_call_and_changes_nothing(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.default_answer = "I would rather write prose."
    before = session.history.contents()
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSION_FAILED_EMPTY_SUMMARY", 3)
    assert session.history.contents() == before
    assert studio.heard.of(CompressionFailed)[0].result == result


async def test_what_a_model_on_this_machine_cannot_write_the_built_in_summariser_does_after_one_call(
    studio: Studio,
) -> None:
    studio.model.capabilities = msgspec.structs.replace(studio.model.capabilities, runs_here=True)
    session = await studio.load([user_text("Never touch legacy/."), model_text("OK."), *dialogue()])
    studio.model.default_answer = "I would rather write prose."
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSED", 1)
    assert result.message.endswith(BUILT_IN)
    assert result.built_in
    assert result.snapshot is not None
    assert "- Never touch legacy/." in result.snapshot
    assert session.history.in_force


async def test_what_a_model_on_this_machine_can_write_is_taken_and_so_is_a_preview_of_the_built_in_summariser(
    studio: Studio,
) -> None:
    studio.model.capabilities = msgspec.structs.replace(studio.model.capabilities, runs_here=True)
    await studio.load(dialogue())
    studio.model.answers = ["prose"]
    preview = await studio.compress(preview=True)
    assert preview.status == "PREVIEW"
    assert preview.message.endswith(BUILT_IN)
    assert preview.built_in
    result = await studio.compress()
    assert (result.status, result.snapshot, result.model_calls) == ("COMPRESSED", SNAPSHOT, 2)
    assert BUILT_IN not in result.message
    assert not result.built_in


@pytest.mark.parametrize("is_edited", [False, True])
async def test_a_preview_of_the_built_in_summariser_says_so_when_it_is_applied_unless_a_person_changed_it(
    studio: Studio, is_edited: bool
) -> None:
    studio.model.capabilities = msgspec.structs.replace(studio.model.capabilities, runs_here=True)
    session = await studio.load(dialogue())
    studio.model.answers = ["prose"]
    preview = await studio.compress(preview=True)
    edited = (preview.snapshot or "").replace("<task_state>", "<task_state>\n- Mend the lexer next.")
    result = await apply_preview(
        session, client="c", compression_id=preview.compression_id or "", snapshot=edited if is_edited else None
    )
    assert result.status == "COMPRESSED"
    assert result.built_in is not is_edited
    assert (BUILT_IN in result.message) is not is_edited


@pytest.mark.usefixtures("by_split")
async def test_a_snapshot_that_the_gate_refuses_is_written_by_the_built_in_summariser_where_that_is_wished_for(
    studio: Studio,
) -> None:
    named = "\n".join(f"See module{number}/core{number}.py for that." for number in range(40))
    contents = [user_text("Where is it?"), model_text(named), *dialogue()]
    await studio.load(contents)
    assert (await studio.compress()).status == "COMPRESSION_FAILED_LOW_RETENTION"
    studio.set(built_in_fallback=True)
    await studio.load(contents)
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    assert result.message.endswith(BUILT_IN)
    assert "module7/core7.py" in f"{result.snapshot}{result.appendix}"


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


async def test_counting_has_no_budget_of_its_own_beside_summarising(studio: Studio) -> None:
    await studio.load(dialogue())
    busy = ModelUnavailable("busy", retry_after_ms=6_000)
    studio.model.answers = [busy, busy, SNAPSHOT, busy, SNAPSHOT]
    studio.model.counts = [TokenCountFailed("busy", retryable=True, retry_after_ms=6_000)] * 4
    result = await studio.compress()
    assert result.status == "COMPRESSION_FAILED_TOKEN_COUNT_ERROR"
    assert sum(studio.clock.slept) == 18.0


async def test_a_model_fault_in_an_automatic_run_never_loses_the_turn(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.default_answer = ModelUnavailable("down", retryable=False)
    result = await studio.chat("go on")
    assert result.text == "Done. "
    assert studio.heard.of(CompressionFailed)


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


async def test_an_output_whose_file_cannot_be_written_stays_whole(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = "line of output\n" * 30_000
    contents = dialogue()
    call = {"functionCall": {"id": "c", "name": "run", "args": {}}}
    result = {"functionResponse": {"id": "c", "name": "run", "response": {"output": big}}}
    contents += [
        user_text("run it"),
        Content(role="model", parts=(call,)),
        Content(role="user", parts=(result,)),
        model_text("ran"),
    ]
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
        part.get("functionResponse", {}).get("response", {}).get("output") == big
        for content in session.history.contents()
        for part in content.parts
    )


async def test_an_attempt_that_changed_nothing_is_kept_for_the_status(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.default_answer = "prose"
    result = await studio.compress()
    assert isinstance(session.history.entries[-1], AttemptEntry)
    assert session.status(studio.client).last == result


@pytest.mark.parametrize("answer", [ModelUnavailable("down", retryable=False), "nothing of use"])
async def test_a_full_window_asks_no_model_again_for_the_prompt_for_which_one_has_just_failed(
    studio: Studio, answer: ModelUnavailable | str
) -> None:
    session = await studio.load(dialogue(10))
    tokens = session.token_count(session.choice()).tokens
    studio.set(compression_token_cap=tokens, token_limit_override=tokens + 50)
    studio.model.default_answer = answer
    for sent in (1, 2):  # a prompt that is sent again may try
        answered = await studio.chat("word " * 600)
        assert answered.stopped == "contextWindowWillOverflow"
        assert "tried just now and did not make enough room: go on in a new chat" in answered.message
        assert len(studio.heard.of(CompressionStarted)) == len(studio.heard.of(CompressionFailed)) == sent
        attempts = [entry for entry in session.history.entries if isinstance(entry, AttemptEntry)]
        assert [attempt.result.trigger for attempt in attempts] == ["auto"] * sent
    assert not session.status(studio.client).has_failed_compression_attempt


async def test_a_full_window_shortens_outputs_where_a_model_has_just_failed_for_the_prompt(studio: Studio) -> None:
    session = await studio.load([*agent_run(3, 20_000), model_text("All green."), *dialogue(2)])
    tokens = session.token_count(session.choice()).tokens
    studio.set(compression_token_cap=500, token_limit_override=round(tokens / 1.1))
    studio.model.default_answer = "nothing of use"
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert answered.compression.status == "CONTENT_TRUNCATED"
    assert answered.text == "Done. "
    assert studio.model.kinds().count("utility_compressor") == 3
    assert session.token_count(session.choice()).tokens < tokens / 2
