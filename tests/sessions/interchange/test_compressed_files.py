"""A snapshot that arrives in a file becomes a compression: it is merged, and what it says goes on to hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT, PINS_INTRODUCTION
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.interchange import decode_session_file
from gemini_companion.sessions.interchange.importing import entries_of, log_of
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.transcript.inspection import compression_list
from gemini_companion.sessions.transcript.pages import history_page
from tests.support.conversations import agent_run, dialogue
from tests.support.scripted_model import SNAPSHOT, snapshot_with
from tests.support.sessions import Studio
from tests.support.strategy_rules import NAMES

ACKNOWLEDGED = model_text(ACKNOWLEDGEMENT)
HEAD = {"sessionId": "s1", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z"}


def message(number: int, content: Content) -> dict[str, Any]:
    kind = "user" if content.role == "user" else "gemini"
    return {"id": f"m{number}", "timestamp": HEAD["startTime"], "type": kind, "content": list(content.parts)}


def gemini_cli_checkpoint(*contents: Content) -> bytes:
    """What Gemini CLI's file ends with after a compression: all messages anew, its surroundings first."""
    surroundings = user_text("<session_context>today</session_context>")
    messages = [message(number, content) for number, content in enumerate((surroundings, *contents))]
    old = [message(100, user_text("Mend it.")), message(101, model_text("Done."))]
    return "\n".join(map(json.dumps, [HEAD, *old, {"$set": {"messages": messages}}])).encode()


async def imported(studio: Studio, tmp_path: Path, data: bytes | str, name: str = "s.jsonl") -> Session:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    info = await studio.app.import_session(studio.client, str(path))
    return await studio.app.load(studio.client, info.session_id)


@pytest.mark.parametrize("written", [SNAPSHOT, f"<scratchpad>\nI think.\n</scratchpad>\n\n{SNAPSHOT}\n"])
async def test_a_compressed_session_of_gemini_cli_goes_on_as_one(studio: Studio, tmp_path: Path, written: str) -> None:
    session = await imported(
        studio, tmp_path, gemini_cli_checkpoint(user_text(written), ACKNOWLEDGED, *dialogue(words=60))
    )
    assert session.history.contents() == [user_text(SNAPSHOT), ACKNOWLEDGED, *dialogue(words=60)]
    assert [item.kind for item in session.history.curated()][:3] == ["snapshot", "acknowledgement", "prompt"]
    result = await studio.compress()
    assert result.status == "COMPRESSED"
    asked = visible_text(studio.model.requests[0].contents[0])
    assert "<<<earlier snapshot" in asked
    assert "Never touch legacy/." in asked.partition("earlier snapshot nonce")[2].partition(">>>")[0]
    assert "‹state_snapshot" not in asked.partition(">>>")[2]


async def test_offline_its_goal_and_its_rules_survive_the_next_compression(studio: Studio, tmp_path: Path) -> None:
    session = await imported(studio, tmp_path, gemini_cli_checkpoint(user_text(SNAPSHOT), ACKNOWLEDGED, *dialogue()))
    studio.take_key_away()
    await studio.compress()
    (task,) = studio.offline.tasks
    assert task.previous_snapshot == SNAPSHOT
    assert not any("state_snapshot" in visible_text(source.content) for source in task.sources)
    assert [entry.from_file for entry in session.history.entries if isinstance(entry, CompressionEntry)] == [
        True,
        False,
    ]


async def test_our_export_for_gemini_cli_comes_back_as_what_it_was(studio: Studio, tmp_path: Path) -> None:
    session = await studio.load(dialogue())
    await pin(session, text="Tabs, not spaces.")
    await studio.compress()
    await studio.chat("go on")
    text = "".join(await studio.app.export(studio.client, session.session_id, "gemini-cli"))
    again = await imported(studio, tmp_path, text, "s.json")
    assert again.history.contents() == session.history.contents()
    assert [item.kind for item in again.history.curated()] == [item.kind for item in session.history.curated()]
    assert [pin.text for pin in again.history.pins.values()] == ["Tabs, not spaces."]
    await studio.app.compress(studio.client, again.session_id)
    assert visible_text(again.history.contents()[1]).endswith("Tabs, not spaces.")


async def test_an_agents_run_that_keeps_its_prompt_before_the_snapshot_comes_back_so(
    studio: Studio, tmp_path: Path
) -> None:
    session = await studio.load(agent_run(rounds=30))
    await studio.compress()
    kinds = [item.kind for item in session.history.curated()]
    assert kinds[:3] == ["prompt", "snapshot", "reply"]
    text = "".join(await studio.app.export(studio.client, session.session_id, "gemini-cli"))
    again = await imported(studio, tmp_path, text, "s.json")
    assert [item.kind for item in again.history.curated()] == kinds
    assert again.history.contents() == session.history.contents()


async def same_after_an_export(studio: Studio, tmp_path: Path, session: Session) -> Session:
    """The session that its export for Gemini CLI becomes, after seeing that its view is the same."""
    text = "".join(await studio.app.export(studio.client, session.session_id, "gemini-cli"))
    again = await imported(studio, tmp_path, text, "s.json")
    assert again.history.contents() == session.history.contents()
    assert [item.kind for item in again.history.curated()] == [item.kind for item in session.history.curated()]
    return again


@pytest.mark.parametrize("name", NAMES)
async def test_what_a_strategy_keeps_before_the_snapshot_comes_back_before_it(
    studio: Studio, tmp_path: Path, name: StrategyName
) -> None:
    studio.set(token_limit_override=12_000)
    session = await studio.load([*dialogue(4), *agent_run(8), model_text("All green."), *dialogue(4)])
    await studio.compress(strategy=name)
    again = await same_after_an_export(studio, tmp_path, session)
    result = await studio.app.compress(studio.client, again.session_id)
    assert result.status in ("COMPRESSED", "NOOP", "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT")


async def test_compressions_from_a_turn_on_and_several_of_them_come_back_as_what_they_were(
    studio: Studio, tmp_path: Path
) -> None:
    for number in range(6):
        await studio.chat(f"question {number} " + "word " * 400)
    session = await studio.session()
    turns = list(dict.fromkeys(item.turn_id for item in session.history.sources))
    await studio.compress(since=turns[3])
    kinds = [item.kind for item in (await same_after_an_export(studio, tmp_path, session)).history.curated()]
    assert kinds.index("snapshot") == 6
    await studio.compress(session_id=session.session_id, up_to=turns[1])
    again = await same_after_an_export(studio, tmp_path, session)
    assert [item.kind for item in again.history.curated()].count("snapshot") == 2
    assert len({entry.compression_id for entry in again.history.in_force.values()}) == 2
    await studio.chat("and now? " + "word " * 400, session_id=again.session_id)
    await studio.compress(session_id=again.session_id)
    asked = visible_text(studio.model.requests[-1].contents[0])
    assert "‹state_snapshot" not in asked.partition(">>>")[2], "no snapshot is a prompt"


def as_gemini_cli_goes_on_with(text: str) -> bytes:
    """The file that Gemini CLI makes of ours: its own fields and the messages' ids, its surroundings first."""
    document = json.loads(text)
    surroundings = message(99, user_text("<session_context>today</session_context>"))
    kept = ("id", "timestamp", "type", "content")
    messages = [{name: one[name] for name in kept} for one in document["messages"]]
    more = message(100, user_text("/etc/hosts again")), message(101, model_text("Yes."))
    return "\n".join(map(json.dumps, [HEAD, {"$set": {"messages": [surroundings, *messages]}}, *more])).encode()


@pytest.mark.parametrize("strategy", NAMES)
async def test_every_snapshot_is_known_again_after_gemini_cli_went_on_with_it(
    studio: Studio, tmp_path: Path, strategy: StrategyName
) -> None:
    for number in range(6):
        await studio.chat(f"? question {number} " + "word " * 400)
    session = await studio.session()
    turns = list(dict.fromkeys(item.turn_id for item in session.history.sources))
    await studio.compress(since=turns[3])
    await studio.compress(session_id=session.session_id, strategy=strategy)
    kinds = [item.kind for item in session.history.curated()]
    assert "snapshot" in kinds
    text = "".join(await studio.app.export(studio.client, session.session_id, "gemini-cli"))
    again = await imported(studio, tmp_path, as_gemini_cli_goes_on_with(text))
    assert [item.kind for item in again.history.curated()] == [*kinds, "prompt", "reply"]
    assert again.history.contents()[: len(session.history.contents())] == session.history.contents()


def test_an_export_of_an_earlier_version_with_results_beside_its_calls_is_read_as_before() -> None:
    call = {"functionCall": {"id": "c1", "name": "ls"}}
    result = {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "x"}}}
    answer = {**message(1, Content(role="model", parts=(call,)))}
    answer["toolCalls"] = [{"id": "c1", "name": "ls", "args": {}, "result": [result], "status": "success"}]
    messages = [message(0, user_text("/ls")), answer, message(2, user_text(""))]
    document = {**HEAD, "companion": {"model": "m"}, "messages": messages}
    session = decode_session_file(json.dumps(document).encode(), "s.json")
    assert session.contents == [
        user_text("/ls"),
        Content(role="model", parts=(call,)),
        Content(role="user", parts=(result,)),
        user_text(""),
    ]


@pytest.mark.parametrize(
    "contents",
    [
        [user_text(SNAPSHOT), model_text("I see."), *dialogue()],
        [user_text(f"Why is this wrong? {SNAPSHOT}"), ACKNOWLEDGED, *dialogue()],
        [user_text(f"{SNAPSHOT} Why is this wrong?"), ACKNOWLEDGED, *dialogue()],
        [*dialogue(2), user_text(SNAPSHOT), ACKNOWLEDGED, *dialogue()],
        [user_text("Mend it."), user_text(SNAPSHOT), ACKNOWLEDGED],
        [Content(role="user", parts=({"text": SNAPSHOT}, {"text": "And now?"})), ACKNOWLEDGED],
        [user_text("<state_snapshot>not closed"), ACKNOWLEDGED],
        [user_text("<state_snapshot></state_snapshot>"), ACKNOWLEDGED],
        [model_text(SNAPSHOT), ACKNOWLEDGED],
        [Content(role="user"), ACKNOWLEDGED],
        [],
    ],
)
def test_a_snapshot_in_any_other_place_or_company_is_a_text_like_others(contents: list[Content]) -> None:
    assert not any(isinstance(entry, CompressionEntry) for entry in entries_of(contents, now=1))


@pytest.mark.parametrize("place", [1, 2, -1, 10**9, True, "0", None, 0.0, [0], [1, "0", None, {}], [[0]], {}])
def test_a_file_that_gives_a_snapshot_a_place_where_none_stands_is_read_as_if_it_gave_none(place: object) -> None:
    document = {"history": [{"role": "user", "parts": [{"text": "hi"}]}], "snapshotAt": place}
    session = decode_session_file(json.dumps(document).encode(), "s.json")
    assert len(log_of(session, now=1)) == 2


async def test_pins_that_stand_in_one_content_with_the_snapshot_are_pins_again(studio: Studio) -> None:
    merged = Content(
        role="user", parts=({"text": SNAPSHOT}, {"text": PINS_INTRODUCTION}, {"text": "Tabs."}, {"text": "Ports."})
    )
    session = await studio.load([merged, ACKNOWLEDGED, *dialogue()])
    assert [pin.text for pin in session.history.pins.values()] == ["Tabs.", "Ports."]
    assert [item.kind for item in session.history.curated()][:3] == ["snapshot", "pin", "acknowledgement"]


@pytest.mark.parametrize("form", ["companion", "gemini-cli"])
async def test_an_appendix_goes_through_a_file_and_what_it_says_goes_on_to_be_kept(
    studio: Studio, tmp_path: Path, form: Literal["companion", "gemini-cli"]
) -> None:
    rule = "Always run make lint before a commit."
    session = await studio.load([user_text(rule), model_text("Understood."), *dialogue()])
    result = await studio.compress()
    assert rule in (result.appendix or "")
    text = "".join(await studio.app.export(studio.client, session.session_id, form))
    again = await imported(studio, tmp_path, text, "s.json")
    assert again.history.contents() == session.history.contents()
    assert compression_list(again).compressions[0].appendix == result.appendix
    for number in range(6):
        await studio.chat(f"go on with {number} " + "word " * 400)
    second = await studio.compress()
    assert second.status == "COMPRESSED"
    assert (second.appendix or "").count(rule) == 1
    assert sum(rule in part["text"] for content in again.history.contents() for part in content.parts) == 1


async def test_it_cannot_be_undone_and_what_is_compressed_on_top_of_it_can(studio: Studio) -> None:
    session = await studio.load([user_text(SNAPSHOT), ACKNOWLEDGED, *dialogue()])
    before = session.history.contents()
    assert not session.status(studio.client).can_undo
    with pytest.raises(CompressionNotFound, match="came with the file"):
        await undo(session, client="c")
    studio.model.default_answer = snapshot_with("Go on.")
    await studio.compress()
    assert session.status(studio.client).can_undo
    await undo(session, client="c")
    assert session.history.contents() == before
    assert not session.status(studio.client).can_undo


async def test_it_is_listed_as_one_that_came_with_the_file_and_is_no_prompt_of_the_transcript(studio: Studio) -> None:
    session = await studio.load([user_text(SNAPSHOT), ACKNOWLEDGED, *dialogue(3)])
    (listed,) = compression_list(session).compressions
    assert (listed.from_file, listed.state, listed.hidden_turns, listed.snapshot) == (True, "inForce", 0, SNAPSHOT)
    page = await history_page(session, "transcript", cursor=None, limit=None)
    assert [item.parts for item in page.contents] == [content.parts for content in dialogue(3)]
    assert session.turns == 3
