"""Numbers and rules in a session file: whatever the types do not bound is bounded where the file is read."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from gemini_companion.engine.constraints.budget import BUDGET_CHARACTERS
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.interchange import decode_session_file, encode_session, text_of
from gemini_companion.sessions.ports import SessionMeta
from tests.sessions.interchange.session_strategies import logs

META = SessionMeta(session_id="s1", title="T", model="gemini-2.5-pro", created_at=0, updated_at=0)
RESULT: dict[str, Any] = {
    "status": "COMPRESSED",
    "trigger": "manual",
    "originalTokenCount": 100,
    "newTokenCount": 50,
    "tokenCountSource": "api",
    "modelCalls": 1,
    "durationMs": 1,
    "message": "",
}
RULE: dict[str, Any] = {
    "constraintId": "r",
    "text": "Never push.",
    "scope": "session",
    "state": "proposed",
    "createdAt": 0,
    "source": "client",
}
TOO_MUCH = 2**53


def entry(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "id": "e", "seq": 1, "time": 0, **fields}


def compression(result: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return entry("compression", compressionId="c", result={**RESULT, **(result or {})}, **fields)


def read(*entries: dict[str, Any]) -> None:
    document = json.loads("".join(text_of(encode_session(META, (), (), "companion"))))
    document["entries"] = list(entries)
    decode_session_file(json.dumps(document).encode(), "s.json")


@pytest.mark.parametrize(
    ("damaged", "path"),
    [
        (compression({"newTokenCount": -1}), "result.newTokenCount"),
        (compression({"durationMs": 2**64}), "result.durationMs"),
        (compression({"splitAt": TOO_MUCH}), "result.splitAt"),
        (compression({"verdict": {"netTokens": TOO_MUCH}}), "result.verdict.netTokens"),
        (compression({"verdict": {"expectedTurns": 1e300}}), "result.verdict.expectedTurns"),
        (compression({"retention": {"score": 1.5}}), "result.retention.score"),
        (compression({"retention": {"score": -0.5}}), "result.retention.score"),
        (compression({"retention": {"kept": -2}}), "result.retention.kept"),
        (compression(sources=[{"line": -1, "seqs": [1]}]), "sources[0].line"),
        (compression(sources=[{"line": 0, "seqs": [1, TOO_MUCH]}]), "sources[0].seqs[1]"),
        (compression(hides=[1, TOO_MUCH]), "hides[1]"),
        (compression(snapshotAt=-1), "snapshotAt"),
        (entry("preview", compressionId="c", compression=compression({"modelCalls": -1}), baseSeq=0),
         "compression.result.modelCalls"),
        (entry("undo", undone=["c"], result={**RESULT, "newTokenCount": -1}), "result.newTokenCount"),
        (entry("turnEnd", turnId="t", outcome="completed", keptTo=-1), "keptTo"),
        (entry("rating", compressionId="c", rating=TOO_MUCH), "rating"),
        (entry("constraint", constraint={**RULE, "createdAt": -1}), "constraint.createdAt"),
        (entry("constraint", constraint={**RULE, "text": "x" * (BUDGET_CHARACTERS + 1)}), "constraint.text"),
    ],
)  # fmt: skip
def test_a_number_or_a_rule_out_of_range_is_refused_with_its_place(damaged: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(damaged)
    assert refused.value.path == f"$.entries[0].{path}"


def test_what_may_be_below_zero_may_be() -> None:
    read(compression({"verdict": {"netTokens": -5, "savedPerTurn": -1, "expectedTurns": 2.5}}))


@pytest.mark.parametrize(("kind", "field"), [("constraint", "constraintId"), ("pin", "pinId")])
def test_more_rules_than_any_chat_has_are_refused(kind: str, field: str) -> None:
    def one(number: int) -> dict[str, Any]:
        own = {field: f"r{number}"}
        told = {"constraint": {**RULE, **own}} if kind == "constraint" else {**own, "text": "x"}
        return entry(kind, **told) | {"seq": number + 1}

    with pytest.raises(InvalidInput, match="at most"):
        read(*map(one, range(5_001)))


@given(logs())
def test_every_log_that_can_be_written_can_be_read_again(log: tuple[Entry, ...]) -> None:
    text = "".join(text_of(encode_session(META, log, (), "companion")))
    assert decode_session_file(text.encode(), "s.json").entries == msgspec.json.decode(
        msgspec.json.encode(log), type=tuple[Entry, ...]
    )
