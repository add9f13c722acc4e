"""Gemini CLI's golden vectors of sessions and of what it records, against what we read and write.

Where we differ:
- its history begins with its surroundings, which each program makes for itself: they are no part of what is taken over;
- it merges neighbours of one role when it sends them, as we do: compared is what is sent;
- our file has one field more, `companion`, for what its format has no field for, and says the title and the folders
  where we know them, which it adds later as `$set`;
- it sends a result that answers no call, which the API refuses; here it is in no view;
- it keeps thoughts beside the content where they came alone, we in the content, which it reads first;
- it writes `tokens` anew as they arrive, we write each message once; a `lastUpdated` after each message says nothing
  that the first line does not;
- our name ends with `.json` where we put a file beside its own: it writes its `.jsonl` anew of that, and an export that
  is made again never takes away what was said there meanwhile.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.gemini_cli_folder import file_name
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.interchange import decode_session_file, encode_session, text_of
from gemini_companion.sessions.interchange.importing import log_of
from gemini_companion.sessions.ports import SessionMeta
from tests.support.logs import LEDGER

FOLDER = Path(os.environ.get("COMPANION_GOLDEN", Path(__file__).parents[3].parent / "shared" / "golden"))
HEAD = {"sessionId": "abcdefgh-1234", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z", "kind": "main"}
SNAPSHOT = "<state_snapshot>\n<overall_goal>To see it.</overall_goal>\n</state_snapshot>"
ACKNOWLEDGEMENT = "Got it. Thanks for the additional context!"


def cases(name: str, *functions: str) -> list[Any]:
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"{path} is not there (COMPANION_GOLDEN)"))]
    found = json.loads(path.read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in found if case["fn"] in functions]


def spoken(shape: str, number: int) -> dict[str, Any]:
    """A content of the kinds that the vectors name, as `user:text` or `model:CALL`, the one with this number."""
    role, _, kinds = shape.partition(":")
    parts: dict[str, dict[str, Any]] = {
        "ENV": {"text": "<session_context>here</session_context>"},
        "SNAPSHOT": {"text": SNAPSHOT},
        "ACK": {"text": ACKNOWLEDGEMENT},
        "CALL": {"functionCall": {"id": f"c{number}", "name": "read_file", "args": {}}},
        "RESP": {"functionResponse": {"id": f"c{number - 1}", "name": "read_file", "response": {"output": "x"}}},
    }
    return {"role": role, "parts": [parts.get(kind, {"text": f"{kind} {number}"}) for kind in kinds.split("+")]}


def merged(contents: list[dict[str, Any]]) -> list[tuple[str, list[Any]]]:
    rows: list[tuple[str, list[Any]]] = []
    for content in contents:
        if rows and rows[-1][0] == content["role"]:
            rows[-1][1].extend(content["parts"])
        else:
            rows.append((content["role"], list(content["parts"])))
    return rows


@pytest.mark.parametrize("case", cases("session", "session"))
def test_a_history_that_gemini_cli_records_at_any_step_is_here_what_it_sends_there(case: dict[str, Any]) -> None:
    for step in case["expected"]["result"]["steps"]:
        shapes = [shape.replace("user:ENV+", "user:") for shape in step["rawHistory"]]
        if shapes == step["rawHistory"]:
            assert shapes[0] == "user:ENV"
            del shapes[0]
        sent = [shape.replace("user:ENV+", "user:") for shape in step["history"] if shape != "user:ENV"]
        contents = [spoken(shape, number) for number, shape in enumerate(shapes)]
        messages = [
            {
                "id": f"m{number}",
                "timestamp": HEAD["startTime"],
                "type": "user" if content["role"] == "user" else "gemini",
                "content": content["parts"],
            }
            for number, content in enumerate([spoken("user:ENV", 0), *contents])
        ]
        lines = [HEAD, {"$set": {"messages": messages}}]
        session = decode_session_file("\n".join(map(json.dumps, lines)).encode(), "s.jsonl")
        history = History(LEDGER.measure, log_of(session, now=1))
        view = [{"role": item.content.role, "parts": list(item.content.parts)} for item in history.curated()]
        if shapes[-2:] == ["model:text", "user:RESP"]:
            contents, sent = contents[:-1], sent[:-1]
        assert merged(view) == merged(contents)
        assert [role for role, _ in merged(view)] == [shape.partition(":")[0] for shape in sent]
        if "user:SNAPSHOT" in shapes:
            assert [item.kind for item in history.curated()][:2] == ["snapshot", "acknowledgement"]


META = SessionMeta(session_id="abcdefgh-1234", title="", model="m", created_at=0, updated_at=0)


def contents_of(records: list[dict[str, Any]]) -> list[Content]:
    data = "\n".join(map(json.dumps, records)).encode()
    return decode_session_file(data, "s.jsonl").contents


@pytest.mark.parametrize("case", cases("models_recording", "recording"))
def test_what_we_write_has_the_fields_of_what_gemini_cli_records_of_the_same(case: dict[str, Any]) -> None:
    expected = case["expected"]["result"]
    records = expected["records"]
    contents = contents_of(records)
    written = [
        json.loads(line)
        for line in "".join(text_of(encode_session(META, (), contents, "gemini-cli-jsonl"))).splitlines()
        if line
    ]
    assert contents_of(written) == contents
    assert records[0].keys() - {"directories"} <= written[0].keys()
    assert written[0].keys() - records[0].keys() == {"companion"}
    theirs = {record["type"]: record.keys() for record in records if "type" in record}
    for record in written[1:]:
        assert {"id", "timestamp", "type", "content"} <= record.keys()
        if record["type"] in theirs and "$set" not in str(records):
            assert record.keys() - {"displayContent", "toolCalls"} == theirs[record["type"]] - {
                "displayContent",
                "toolCalls",
            }
    if records[0]["kind"] == "main":
        ours = file_name(case["input"]["sessionId"], 0)
        short = expected["file"].rpartition("-")[2].removesuffix(".jsonl")
        assert ours == f"session-1970-01-01T00-00-{short}.json"


def test_the_vectors_hold_sessions_of_every_kind() -> None:
    found = cases("session", "session")
    if len(found) == 1 and found[0].values == (None,):
        pytest.skip("there are no vectors")
    shapes = {
        shape
        for case in found
        for step in case.values[0]["expected"]["result"]["steps"]
        for shape in step["rawHistory"]
    }
    assert {"user:ENV", "user:text", "model:text", "model:CALL", "user:RESP"} <= shapes
    assert decode_contents([spoken(shape, 0) for shape in sorted(shapes)])
