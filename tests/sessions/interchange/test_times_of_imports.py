"""When the messages of a Gemini CLI session were said: an import keeps it, as far as it can be believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.sessions.interchange import ImportedSession, decode_session_file
from gemini_companion.sessions.interchange.importing import entries_of


def whole(*messages: object) -> ImportedSession:
    return decode_session_file(
        json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}).encode(), "s.json"
    )


def at(time: object, identity: str, kind: str = "user", **fields: object) -> dict[str, Any]:
    return {"id": identity, "timestamp": time, "type": kind, "content": identity, **fields}


def test_each_message_keeps_its_time_and_a_turn_ends_when_its_last_one_was_said() -> None:
    call = {"id": "c1", "name": "read_file", "args": {}, "result": "x"}
    answer = at("2026-01-01T01:00:02+01:00", "b", "gemini", toolCalls=[call])
    session = whole(at("2026-01-01T00:00:01.500Z", "a"), answer, at("2026-01-01T03:00:00Z", "c"))
    start = 1_767_225_600_000
    assert session.times == (start + 1_500, start + 2_000, start + 2_000, start + 10_800_000)
    entries = entries_of(session.contents, now=start * 2, times=session.times)
    assert [(entry.__struct_config__.tag, entry.time - start) for entry in entries] == [
        ("prompt", 1_500),
        ("reply", 2_000),
        ("toolResult", 2_000),
        ("turnEnd", 2_000),
        ("prompt", 10_800_000),
        ("turnEnd", 10_800_000),
    ]


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        (["2026-01-01T00:00:05Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:07Z"], [5, 5, 7]),
        (["2026-01-01T00:00:05Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:07Z"], [5, 5, 7]),
        (["9999-12-31T23:59:59Z", "2026-01-01T00:00:05Z", None], [5, 5, 5]),
        (["2026-01-01T00:00:05", 17, {"at": []}], [90, 90, 90]),
        ([True, "0001-01-01T00:00:00Z", "2026-01-01T00:00:08Z"], [8, 8, 8]),
        (["2026-01-01T05:30:05+05:30", "\ud800", "2025-12-31T19:00:06-05:00"], [5, 5, 6]),
        (["x" * 10_000, "-1", "2026-01-01T00:02:00Z"], [90, 90, 90]),
    ],
    ids=["back", "ahead", "first ahead", "without a zone", "before 1970", "zones", "nothing believable"],
)
def test_times_of_a_file_never_go_back_nor_lie_in_the_future(said: list[object], taken: list[int]) -> None:
    start = 1_767_225_600_000
    session = whole(*(at(time, str(place)) for place, time in enumerate(said)))
    entries = entries_of(session.contents, now=start + 90_000, times=session.times)
    assert [(entry.time - start) // 1000 for entry in entries if isinstance(entry, PromptEntry)] == taken
    assert [entry.time for entry in entries] == sorted(entry.time for entry in entries)
