"""A compression in a session passes the gate: appendix, repair, refusal, and what shows of them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from gemini_companion.engine.compression.appendix import APPENDIX_INTRODUCTION
from gemini_companion.engine.compression.gate import Evidence
from gemini_companion.engine.compression.types import snapshot_text
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import AttemptEntry
from gemini_companion.sessions.compression.gating import MADE_UP_FOR, UNCHECKED
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionFailed, CompressionProgress
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.tool_events import PromptSteered
from gemini_companion.sessions.transcript.inspection import compression_list
from tests.support.conversations import dialogue
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import Studio

pytestmark = pytest.mark.usefixtures("by_split")

RULE = "Always run make lint before a commit."
NAMES = ("alpha", "bravo", "delta", "gamma", "kappa", "lambda", "omega", "sigma", "theta", "zeta")


def rules(count: int = 10) -> list[str]:
    return [f"Never touch {name}/core.py in {name}land." for name in NAMES[:count]]


def ruled(*said: str) -> list[Content]:
    return [user_text("\n".join(said)), model_text("Understood."), *dialogue()]


def crowded() -> list[Content]:
    """Of so many paths that a model names, no record has room for half."""
    named = "\n".join(f"See src/m{number}/core{number}.py for that." for number in range(900))
    return [user_text("Where is it?"), model_text(named), *dialogue()]


def telling(*said: str) -> str:
    lines = "\n".join(f"- {line}" for line in said)
    return SNAPSHOT.replace("Never touch legacy/.", f"Never touch legacy/.\n{lines}\n")


def texts(content: Content) -> list[str]:
    return [part["text"] for part in content.parts]


async def test_what_the_snapshot_left_out_stands_behind_it_and_is_counted_and_listed(studio: Studio) -> None:
    session = await studio.load(ruled(RULE, "See src/a.py."))
    result = await studio.compress()
    assert result.snapshot == SNAPSHOT
    assert result.appendix is not None
    assert texts(session.history.contents()[0]) == [SNAPSHOT, result.appendix]
    assert f"- the user said: {RULE}" in result.appendix.split("\n")
    assert result.retention is not None
    assert result.retention.kept == result.retention.appended == result.retention.facts
    listed = compression_list(session).compressions[0]
    assert (listed.appendix, listed.retention) == (result.appendix, result.retention)
    counted = sum(item.measure.tokens for item in session.history.curated() if item.kind == "snapshot")
    assert counted >= session.ledger.count_text(SNAPSHOT) + session.ledger.count_text(result.appendix) - 2


async def test_an_appendix_is_made_anew_with_the_next_compression_and_the_model_is_not_shown_it(studio: Studio) -> None:
    session = await studio.load(ruled(RULE))
    await studio.compress()
    for number in range(6):
        await studio.chat(f"go on with {number} " + "word " * 400)
    result = await studio.compress()
    asked = "".join(part["text"] for part in studio.model.requests[-2].contents[0].parts)
    assert "Mend the parser." in asked
    assert APPENDIX_INTRODUCTION not in asked
    assert result.appendix is not None
    assert result.appendix.count(RULE) == 1
    assert sum(RULE in text for content in session.history.contents() for text in texts(content)) == 1


async def test_pins_and_what_stays_word_for_word_are_not_appended(studio: Studio) -> None:
    session = await studio.load([*ruled(RULE), user_text("Never use tabs."), model_text("Fine.")])
    await pin(session, text=RULE)
    result = await studio.compress()
    assert result.appendix is None


async def test_a_snapshot_below_the_floor_is_asked_for_once_more_with_what_it_lost(studio: Studio) -> None:
    await studio.load(ruled(*rules()))
    studio.model.answers = [SNAPSHOT, SNAPSHOT, telling(*rules())]
    result = await studio.compress()
    assert (result.status, result.model_calls, result.snapshot) == ("COMPRESSED", 3, telling(*rules()))
    request = texts(studio.model.requests[2].contents[-1])[0]
    assert all(f"- directive: {rule}" in request for rule in rules())
    assert result.retention is not None
    assert result.retention.repaired >= len(rules())
    assert result.appendix is None


async def test_a_snapshot_that_stays_below_the_floor_is_made_up_for_by_what_was_said(studio: Studio) -> None:
    session = await studio.load(ruled("We deploy with Ansible from the old box.", *rules()))
    result = await studio.compress()
    assert (result.status, result.model_calls, result.snapshot) == ("COMPRESSED", 3, SNAPSHOT)
    assert result.message.endswith(MADE_UP_FOR)
    shown = texts(session.history.contents()[0])[-1]
    assert all(said in shown for said in ("We deploy with Ansible from the old box.", *rules()))
    assert result.retention is not None
    assert result.retention.score > 0.5


async def test_a_poor_snapshot_of_a_short_chat_is_made_up_for_too(studio: Studio) -> None:
    await studio.load(ruled("We deploy with Ansible from the old box.", *rules(4)))
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSED", 2)
    assert result.message.endswith(MADE_UP_FOR)
    assert "We deploy with Ansible from the old box." in (result.appendix or "")


async def test_what_has_no_room_beside_a_poor_snapshot_installs_nothing_and_is_named(studio: Studio) -> None:
    session = await studio.load(crowded())
    before = session.history.contents()
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSION_FAILED_LOW_RETENTION", 3)
    assert session.history.contents() == before
    assert result.retention is not None
    assert result.retention.score < 0.5
    assert "src/m0/core0.py" in [fact.text for fact in result.retention.missing]
    assert studio.heard.of(CompressionFailed)[0].result == result
    assert isinstance(session.history.entries[-1], AttemptEntry)
    assert session.last_result == result


async def test_the_repair_is_the_only_one_in_all(studio: Studio) -> None:
    await studio.load(crowded())
    studio.model.answers = ["prose", "prose", SNAPSHOT, telling(*rules())]
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSION_FAILED_LOW_RETENTION", 3)


async def test_a_repair_that_is_worse_is_not_taken(studio: Studio) -> None:
    await studio.load(ruled(*rules()))
    studio.set(retention_floor=0.95)
    studio.model.answers = [telling(*rules(5)), "", SNAPSHOT]
    result = await studio.compress()
    assert (result.status, result.snapshot) == ("COMPRESSED", telling(*rules(5)))
    assert rules()[9] in (result.appendix or "")
    assert rules()[0] not in (result.appendix or "")


@pytest.mark.parametrize("setting", [{"retention_floor": 0.0}, {"compression_gate": False}])
async def test_the_settings_lower_the_floor_or_take_the_gate_away(studio: Studio, setting: dict[str, Any]) -> None:
    await studio.load(ruled(*rules()))
    studio.set(**setting)
    result = await studio.compress()
    assert (result.status, result.model_calls) == ("COMPRESSED", 2)
    assert (result.appendix is None) == ("compression_gate" in setting)
    assert result.retention is not None


async def test_three_automatic_refusals_in_a_row_set_the_failure_flag_and_lose_no_turn(studio: Studio) -> None:
    session = await studio.load(crowded())
    studio.set(compression_token_cap=500)
    for _ in range(3):
        assert (await studio.chat("go on")).text
    assert session.status(studio.client).has_failed_compression_attempt


async def test_an_automatic_run_that_is_refused_goes_on_by_shortening_outputs(studio: Studio) -> None:
    call = {"functionCall": {"id": "c", "name": "run", "args": {"command": "make"}}}
    big = {"functionResponse": {"id": "c", "name": "run", "response": {"output": "line of output\n" * 30_000}}}
    contents = [user_text("Make it."), Content(role="model", parts=(call,)), Content(role="user", parts=(big,))]
    session = await studio.load([*contents, *crowded()[1:]])
    studio.set(compression_token_cap=500)
    result = (await studio.chat("go on")).compression
    assert result is not None
    assert result.status == "CONTENT_TRUNCATED"
    statuses = [entry.result.status for entry in session.history.entries if isinstance(entry, AttemptEntry)]
    assert statuses == ["COMPRESSION_FAILED_LOW_RETENTION"]


async def test_a_refused_preview_is_not_kept(studio: Studio) -> None:
    session = await studio.load(crowded())
    result = await studio.compress(preview=True)
    assert result.status == "COMPRESSION_FAILED_LOW_RETENTION"
    assert session.history.preview is None


async def test_a_preview_is_applied_with_its_appendix(studio: Studio) -> None:
    session = await studio.load(ruled(RULE))
    preview = await studio.compress(preview=True)
    assert RULE in (preview.appendix or "")
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    assert applied.appendix == preview.appendix
    assert texts(session.history.contents()[0]) == [SNAPSHOT, preview.appendix]


async def test_an_edited_preview_passes_the_gate_again_and_a_persons_text_is_never_refused(studio: Studio) -> None:
    session = await studio.load(ruled(*rules()))
    studio.model.default_answer = telling(*rules())
    preview = await studio.compress(preview=True)
    assert (preview.status, preview.appendix) == ("PREVIEW", None)
    edited = telling(*rules(1))
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "", snapshot=edited)
    assert applied.status == "COMPRESSED"
    assert rules()[0] not in (applied.appendix or "")
    assert all(rule in (applied.appendix or "") for rule in rules()[1:])
    assert snapshot_text(session.history.contents()[0]) == edited
    assert applied.retention is not None
    assert applied.retention.kept == applied.retention.facts


async def test_what_the_snapshot_made_up_is_named_and_stays(studio: Studio) -> None:
    await studio.load(ruled(RULE))
    studio.model.default_answer = telling("Read src/never/was.py, version 9.8.7.")
    result = await studio.compress()
    assert result.retention is not None
    assert [fact.text for fact in result.retention.unsupported] == ["legacy/", "src/never/was.py", "version 9.8.7"]
    assert "src/never/was.py" in (result.snapshot or "")


async def test_an_undo_takes_the_appendix_away(studio: Studio) -> None:
    session = await studio.load(ruled(RULE))
    before = session.history.contents()
    await studio.compress()
    await undo(session, client="c")
    assert session.history.contents() == before


async def test_the_log_tells_numbers_and_no_text(studio: Studio, caplog: pytest.LogCaptureFixture) -> None:
    await studio.load(ruled(RULE))
    with caplog.at_level(logging.INFO, logger="gemini_companion"):
        await studio.compress()
    told = [record.getMessage() for record in caplog.records if "Gate" in record.getMessage()]
    assert len(told) == 1
    assert "1 put back" in told[0]
    assert "lint" not in told[0]


@pytest.mark.parametrize("edited", [None, SNAPSHOT.replace("Mend the parser.", "Mend the parser now.")])
async def test_a_rule_that_was_released_after_a_preview_does_not_come_back_with_it(
    studio: Studio, edited: str | None
) -> None:
    session = await studio.load(ruled(RULE, "See src/a.py."))
    rule = await set_constraint(session, state="proposed", text=RULE)
    preview = await studio.compress(preview=True)
    assert RULE in (preview.appendix or "")
    await set_constraint(session, constraint_id=rule.constraint_id, state="released")
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "", snapshot=edited)
    assert applied.status == "COMPRESSED"
    assert applied.snapshot == (edited or preview.snapshot)
    assert "src/a.py" in (applied.appendix or "")
    assert not any(RULE in text for content in session.history.contents() for text in texts(content))


async def test_a_preview_is_applied_as_it_was_seen_while_no_rule_changed(studio: Studio) -> None:
    session = await studio.load(ruled(RULE))
    preview = await studio.compress(preview=True)
    await studio.chat("later")
    applied = await apply_preview(session, client="c", compression_id=preview.compression_id or "")
    assert (applied.appendix, applied.retention) == (preview.appendix, preview.retention)


@pytest.mark.parametrize("is_preview", [True, False])
async def test_what_could_not_be_checked_is_told(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_preview: bool
) -> None:
    def broken(*args: Any, **more: Any) -> None:
        raise RuntimeError("a defect")

    session = await studio.load(ruled(RULE))
    monkeypatch.setattr(Evidence, "check", broken)
    result = await studio.compress(preview=is_preview)
    assert result.message.endswith(UNCHECKED)
    if is_preview:
        result = await apply_preview(
            session, client="c", compression_id=result.compression_id or "", snapshot=f"{SNAPSHOT} "
        )
    assert result.status == "COMPRESSED"
    assert result.message.count(UNCHECKED) == 1
    assert "was not checked" in caplog.text


async def test_a_task_that_a_steering_prompt_calls_done_is_not_put_back(studio: Studio) -> None:
    task = "Later, write the release notes for version 2.0."
    session = await studio.load([user_text(task), model_text("I will."), *dialogue()])
    studio.model.streams = [[ModelChunk(parts=({"functionCall": {"name": "gone", "args": {}}},), finish_reason="STOP")]]
    studio.model.gate.clear()
    chat = asyncio.create_task(studio.chat("Go on."))
    await studio.model.called.wait()
    steer = asyncio.create_task(studio.chat("The release notes for version 2.0 are written, that is done.", steer=True))
    await studio.heard.wait_for(PromptSteered)
    studio.model.gate.set()
    await asyncio.gather(chat, steer)
    await studio.compress()
    assert "release notes" not in texts(session.history.contents()[0])[-1]


async def test_what_is_hidden_is_looked_through_while_the_model_writes_and_not_while_its_request_is_made(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looks() -> bool:
        return any(task.get_name().startswith("gate:") for task in asyncio.all_tasks())

    seen: list[tuple[str, bool]] = []
    emit, generate = studio.heard.event, studio.model.generate

    def event(session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        if isinstance(event, CompressionProgress):
            seen.append((event.phase, looks()))
        emit(session_id, seq, time, turn_id, event)

    async def asked(request: ModelRequest) -> ModelChunk:
        seen.append(("asked", looks()))
        return await generate(request)

    monkeypatch.setattr(studio.heard, "event", event)
    monkeypatch.setattr(studio.model, "generate", asked)
    await studio.load(ruled(RULE))
    await studio.compress()
    assert seen[:3] == [("truncating", False), ("summarising", False), ("asked", True)]
