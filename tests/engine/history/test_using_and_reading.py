"""Which entries say that a session was used: what a person or a model did, not what opening it notes."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    ConstraintEntry,
    Entry,
    PreviewEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import CallRecord, ChangeEntry
from gemini_companion.engine.history.use import is_use, last_use
from gemini_companion.engine.statistics.tally import Tally

STAMP: dict[str, Any] = {"id": "e", "seq": 1, "time": 5}


def called(*outcomes: Any) -> ToolResultEntry:
    records = tuple(CallRecord(call_id=str(place), name="read_file", outcome=one) for place, one in enumerate(outcomes))
    return ToolResultEntry(**STAMP, turn_id="t", content=user_text("results"), calls=records)


def rule(scope: Any) -> ConstraintEntry:
    one = Constraint(constraint_id="c", text="Be brief.", scope=scope, state="inForce", created_at=1, source="client")
    return ConstraintEntry(**STAMP, constraint=one, digest="")


def asked(purpose: Any) -> ModelCallEntry:
    return ModelCallEntry(**STAMP, purpose=purpose, subject="c", model="m", outcome="ok", duration_ms=1)


def preview(trigger: Any) -> PreviewEntry:
    result = CompressionResult(
        compression_id="c",
        status="PREVIEW",
        trigger=trigger,
        original_token_count=2,
        new_token_count=1,
        token_count_source="estimate",
        model_calls=2,
        duration_ms=1,
        message="",
    )
    entry = CompressionEntry(**STAMP, compression_id="c", result=result)
    return PreviewEntry(**STAMP, compression_id="c", compression=entry, base_seq=0)


USES: list[Entry] = [
    PromptEntry(**STAMP, turn_id="t", content=user_text("go")),
    ReplyEntry(**STAMP, turn_id="t", content=model_text("gone")),
    TurnEndEntry(**STAMP, turn_id="t", outcome="completed"),
    TurnEndEntry(**STAMP, turn_id="t", outcome="cancelled"),
    ResumeEntry(**STAMP, reason="clear"),
    ChangeEntry(**STAMP, turn_id="t", change_id="c", changes=(), reverts=("b",)),
    called(),
    called("interrupted", "ok"),
    rule("session"),
    asked("compression"),
    preview("manual"),
]
NO_USES: list[Entry] = [
    ResumeEntry(**STAMP),
    ResumeEntry(**STAMP, reason="takeOver"),
    ResumeEntry(**STAMP, reason="import"),
    TurnEndEntry(**STAMP, turn_id="t", outcome="interrupted"),
    PromptEntry(**STAMP, turn_id="t", content=user_text("go"), steer_id="s"),
    ChangeEntry(**STAMP, turn_id="t", change_id="c", changes=(), call_id="x", is_done=True),
    called("interrupted", "interrupted"),
    rule("project"),
    asked("preparing"),
    preview("background"),
]


@pytest.mark.parametrize("entry", USES, ids=lambda entry: type(entry).__name__)
def test_what_a_person_or_a_model_did_is_a_use(entry: Entry) -> None:
    assert is_use(entry)
    assert Tally([entry]).ended_at == last_use([entry]) == 5


@pytest.mark.parametrize("entry", NO_USES, ids=lambda entry: type(entry).__name__)
def test_what_the_daemon_notes_by_itself_is_no_use(entry: Entry) -> None:
    assert not is_use(entry)
    assert Tally([entry]).ended_at is last_use([entry]) is None
