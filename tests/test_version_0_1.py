"""What version 0.1 wrote opens as it is: its store, its exports, the events that it kept for replay.

`tests/data/version_0_1` was written by that version: a conversation with compressions by hand, a preview that was edited
and applied, one that was not, an undo, a rating and pins; `expected.json` is what it answered about it over the wire.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.adapters.storage.event_log import EventKeeper
from gemini_companion.adapters.storage.schema import check_version, migrate
from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import PreviewEntry, PromptEntry, decode_entry, encode_entry
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.interchange.decode import decode_session_file
from gemini_companion.sessions.transcript.inspection import compression_list, event_page, pin_list
from gemini_companion.sessions.transcript.pages import history_page
from tests.support.sessions import ManualClock, Studio

DATA = Path(__file__).parent / "data" / "version_0_1"


def read(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.gz").read_bytes())


def renamed(text: str) -> Any:
    """The old version's answer with today's names; ids keep what they were made with."""
    text = re.sub(r'"compaction(?=[A-Z]|s?"\s*:)', '"compression', text)
    return json.loads(text)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return renamed(read("expected.json").decode())


@pytest.fixture
async def studio(tmp_path: Path) -> AsyncIterator[Studio]:
    folder = tmp_path / "projects" / "old"
    folder.mkdir(parents=True)
    (folder / "sessions.db").write_bytes(read("sessions.db"))
    studio = Studio(tmp_path, store=open_store(tmp_path, "old", clock=ManualClock()))
    yield studio
    await studio.app.close()


def wire(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


async def test_its_compressions_are_listed_as_they_were(studio: Studio, expected: dict[str, Any]) -> None:
    session = await studio.app.load(studio.client, expected["sessionId"])
    assert wire(compression_list(session)) == expected["list"]
    assert {item["state"] for item in expected["list"]["compressions"]} == {"preview", "undone", "inForce", "covered"}


@pytest.mark.parametrize("view", ["model", "transcript"])
async def test_its_history_reads_as_it_did(studio: Studio, expected: dict[str, Any], view: Any) -> None:
    session = await studio.app.load(studio.client, expected["sessionId"])
    page = wire(await history_page(session, view, cursor=None, limit=None))
    assert page["contents"] == expected[view]["contents"]


async def test_its_pins_and_sums_are_there(studio: Studio, expected: dict[str, Any]) -> None:
    session = await studio.app.load(studio.client, expected["sessionId"])
    assert wire(pin_list(session)) == expected["pins"]
    told = wire(await studio.app.statistics.of_session(session))
    previews = [
        entry.compression.result.model_calls for entry in session.history.entries if isinstance(entry, PreviewEntry)
    ]
    assert sum(previews) > 0  # 0.1 did not count what they asked of a model
    sums = {name: told[name] for name in expected["stats"]}
    assert sums | {"calls": sums["calls"] - sum(previews)} == expected["stats"]


async def test_its_events_are_replayed_under_todays_names(studio: Studio, expected: dict[str, Any]) -> None:
    session = await studio.app.load(studio.client, expected["sessionId"])
    events = wire(await event_page(session, 0))["events"]
    assert events == expected["replay"]["events"]
    assert "compressionUndone" in {event["event"]["type"] for event in events}


async def test_it_can_be_held_compressed_undone_and_its_preview_applied(
    studio: Studio, expected: dict[str, Any]
) -> None:
    session = await studio.app.hold(studio.client, expected["sessionId"])
    studio.client.current = expected["sessionId"]
    before = [item.content for item in session.history.items]
    undone = await undo(session, client=studio.client.client_id)
    assert undone.undone == (expected["list"]["compressions"][2]["compressionId"],)
    assert [item.content for item in session.history.items] != before
    assert (await studio.chat("and now?")).text.strip() == "Done."
    assert (await studio.compress(strategy="split")).status == "COMPRESSED"  # as then: it was the only one


@pytest.mark.parametrize("name", ["session.companion.json", "session.gemini-cli.json"])
async def test_its_exports_are_imported(studio: Studio, expected: dict[str, Any], name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(read(name))
    info = await studio.app.import_session(studio.client, str(tmp_path / name))
    session = await studio.app.load(studio.client, info.session_id)
    if name == "session.companion.json":
        assert [item["status"] for item in wire(compression_list(session))["compressions"]] == [
            item["status"] for item in expected["list"]["compressions"]
        ]
    ours = [content.parts for content in session.history.contents()]
    theirs = [tuple(item["parts"]) for item in expected["model"]["contents"]]
    assert len(ours) == len(theirs)


def test_what_people_wrote_about_a_compaction_is_not_renamed() -> None:
    text = '{"compactionId": "x", "type": "compaction"}'
    entry = PromptEntry(id="e", seq=1, time=1, turn_id="t", content=user_text(text))
    assert decode_entry(encode_entry(entry)) == entry


def test_an_older_program_refuses_the_store_instead_of_misreading_it() -> None:
    with sqlite3.connect(":memory:") as connection:
        migrate(connection)
        with pytest.raises(StorageFault, match="newer"):
            check_version(connection, "sessions.db", newest=1)


async def test_a_row_nested_without_end_costs_that_row_and_no_more(tmp_path: Path, expected: dict[str, Any]) -> None:
    folder = tmp_path / "projects" / "old"
    folder.mkdir(parents=True)
    (folder / "sessions.db").write_bytes(read("sessions.db"))
    with sqlite3.connect(folder / "sessions.db") as connection:
        nested = ('{"compaction":' * 2_000 + "1" + "}" * 2_000).encode()
        connection.execute("UPDATE entries SET json = ? WHERE seq = 3", (nested,))
    connection.close()
    studio = Studio(tmp_path, store=open_store(tmp_path, "old", clock=ManualClock()))
    session = await studio.app.load(studio.client, expected["sessionId"])
    assert len(session.history.entries) > 10
    await studio.app.close()


async def test_a_daemon_of_version_0_1_that_has_the_file_open_finds_no_table_to_write_to(studio: Studio) -> None:
    """It would drop a compression that it does not know as damaged, and write another entry in its place."""
    await studio.app.list_sessions()
    (file,) = (path for path in Path(studio.store.text_path("s", "x")).parents[2].glob("sessions.db"))
    with sqlite3.connect(file) as older, pytest.raises(sqlite3.OperationalError, match="no such table"):
        older.execute("SELECT json FROM entries")
    older.close()


def test_an_event_kept_as_text_reads_like_one_kept_as_bytes() -> None:
    connection = sqlite3.connect(":memory:")
    migrate(connection)
    stored = '{"sessionId":"s","seq":1,"time":1,"event":{"type":"compactionStarted","compactionId":"c"}}'
    connection.execute("INSERT INTO sessions (session_id, title, updated_at, meta) VALUES ('s', '', 0, '{}')")
    connection.execute("INSERT INTO events VALUES ('s', 1, ?)", (stored,))
    (event,) = EventKeeper().read(connection, "s", 0, 10).events
    assert event.event == {"type": "compressionStarted", "compressionId": "c"}
    connection.close()


@pytest.mark.parametrize("retention", [{"score": "high"}, {"missing": ["a"]}, 5])
def test_a_retention_that_version_0_1_never_measured_costs_no_export(retention: Any) -> None:
    document = json.loads(read("session.companion.json"))
    results = [entry["result"] for entry in document["entries"] if "result" in entry]
    results[0]["retention"] = retention
    assert decode_session_file(json.dumps(document).encode(), "session.json").entries
