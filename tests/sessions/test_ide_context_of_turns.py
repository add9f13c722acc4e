"""What the model knows of the editor is what the editor shows, whatever happened to the history in between."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.message import read_message
from gemini_companion.engine.ide_context.replay import replay
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.context.ide import preview_context
from gemini_companion.sessions.context.open_files import look
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.events import IdeContextSent
from gemini_companion.sessions.models.port import ModelRequest, OpenDocument
from tests.support.examples import examples
from tests.support.patience import PATIENCE
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import Studio

PATHS = [f"/project/{name}.py" for name in ("a", "b", "c", "d")]


def ide_texts(request: ModelRequest) -> list[str]:
    """The IDE messages in a request, in order."""
    found: list[str] = []
    for content in request.contents:
        for part in content.parts:
            text = part.get("text", "")
            try:
                read_message(text)
            except InvalidInput:
                continue
            found.append(text)
    return found


def is_full(text: str) -> bool:
    return read_message(text).changes is None


def show(client: Client, *files: tuple[str, int | None, str], excluded: Sequence[str] = ()) -> None:
    """Report open files, the first one active: path, line of the cursor, selected text; and those that were taken
    out.
    """
    client.editor.report(
        [
            ReportedFile(
                path=path,
                last_focused_at=100 - index,
                is_active=index == 0 and line is not None,
                cursor=(line, 0) if line is not None else None,
                selected_text=selected or None,
            )
            for index, (path, line, selected) in enumerate(files)
        ],
        excluded,
    )


async def truth(studio: Studio, client: Client) -> KnownState:
    """What the model must know of a client's editor."""
    return KnownState.of((await look(studio.services, client, client.folders)).state)


def replayed(texts: list[str]) -> KnownState:
    """What a model knows after these messages of the editor as it is now."""
    return (replay(texts) or KnownState()).without_memory()


async def test_the_first_turn_sends_everything_and_the_next_one_only_what_changed(studio: Studio) -> None:
    show(studio.client, (PATHS[0], 3, "x = 1"), (PATHS[1], None, ""))
    await studio.chat("one")
    show(studio.client, (PATHS[0], 7, ""), (PATHS[2], None, ""))
    await studio.chat("two")
    await studio.chat("three")
    texts = ide_texts(studio.model.main()[-1])
    assert [is_full(text) for text in texts] == [True, False]
    assert replayed(texts) == await truth(studio, studio.client)
    receipts = studio.heard.of(IdeContextSent)
    assert [receipt.kind for receipt in receipts] == ["full", "delta"]
    assert receipts[0].selection_chars == 5


async def test_a_withheld_file_is_in_no_request_and_the_receipt_says_why(studio: Studio) -> None:
    show(studio.client, ("/project/secret.env", 1, "KEY=hunter2"), (PATHS[0], None, ""))
    await studio.chat("one")
    assert "secret" not in str(studio.model.main()[-1].contents)
    assert "hunter2" not in str(studio.model.main()[-1].contents)
    assert [item.name for item in studio.heard.of(IdeContextSent)[0].withheld] == ["secret.env"]


async def test_a_cancelled_turn_takes_its_ide_context_back(studio: Studio) -> None:
    show(studio.client, (PATHS[0], 1, ""))
    await studio.chat("one")
    show(studio.client, (PATHS[1], 1, ""))
    studio.model.called.clear()
    studio.model.gate.clear()
    task = asyncio.create_task(studio.chat("two"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    studio.model.gate.set()
    await studio.chat("three")
    texts = ide_texts(studio.model.main()[-1])
    assert replayed(texts) == await truth(studio, studio.client)
    assert [is_full(text) for text in texts] == [True, False]


async def test_another_clients_turn_makes_the_next_one_full(studio: Studio) -> None:
    other, _ = studio.connect("other")
    session = await studio.session()
    other.current = session.session_id
    show(studio.client, (PATHS[0], 1, ""))
    show(other, (PATHS[3], 2, ""))
    await studio.chat("one")
    await studio.chat("two", other)
    await studio.chat("three")
    texts = ide_texts(studio.model.main()[-1])
    assert [is_full(text) for text in texts] == [True, True, True]
    assert replayed(texts) == await truth(studio, studio.client)


@pytest.mark.parametrize("change", ["compress", "truncate", "undo", "apply", "resume"])
async def test_after_every_change_of_the_view_everything_is_sent_exactly_once(studio: Studio, change: str) -> None:
    show(studio.client, (PATHS[0], 1, ""))
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    session = await studio.session()
    if change in ("compress", "undo"):
        await studio.compress()
    if change == "undo":
        await studio.chat("between")
        await undo(session, client="c")
    elif change == "apply":
        preview = await studio.compress(preview=True)
        assert preview.compression_id is not None
        await apply_preview(session, client="c", compression_id=preview.compression_id)
    elif change == "truncate":
        from gemini_companion.engine.history.log import CompressionEntry, CompressionResult

        stamp = session.stamp()
        result = CompressionResult(
            status="CONTENT_TRUNCATED",
            trigger="auto",
            original_token_count=2,
            new_token_count=1,
            token_count_source="estimate",
            model_calls=0,
            duration_ms=0,
            message="",
        )
        await session.append(lambda seq: CompressionEntry(**stamp, seq=seq, compression_id="cut", result=result))
    elif change == "resume":
        from gemini_companion.engine.history.log import ResumeEntry

        stamp = session.stamp()
        await session.append(lambda seq: ResumeEntry(**stamp, seq=seq))
    assert session.status(studio.client).force_full_ide_context
    await studio.chat("after")
    texts = ide_texts(studio.model.main()[-1])
    assert [is_full(text) for text in texts] == [True]
    assert not session.status(studio.client).force_full_ide_context
    show(studio.client, (PATHS[0], 9, ""))
    await studio.chat("later")
    assert [is_full(text) for text in ide_texts(studio.model.main()[-1])] == [True, False]


FILES = st.lists(
    st.tuples(
        st.sampled_from(PATHS),
        st.one_of(st.none(), st.integers(0, 20)),
        st.sampled_from(["", "def f():", "日本語\n```"]),
    ),
    max_size=4,
    unique_by=lambda file: file[0],
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("show"), st.integers(0, 1), FILES),
        st.tuples(st.just("chat"), st.integers(0, 1), st.none()),
        st.tuples(st.sampled_from(["compress", "undo", "cancel", "resume"]), st.integers(0, 1), st.none()),
    ),
    min_size=4,
    max_size=14,
)


@settings(max_examples=examples(60), deadline=None)
@given(STEPS)
def test_the_editors_state_can_be_rebuilt_from_every_request(steps: list[tuple[str, int, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder), steps))


async def _play(folder: Path, steps: list[tuple[str, int, Any]]) -> None:
    studio = Studio(folder)
    session = await studio.session()
    other, _ = studio.connect("other")
    other.current = session.session_id
    clients = [studio.client, other]
    epoch = 0
    for number, (step, who, files) in enumerate(steps):
        client = clients[who]
        if step == "show":
            show(client, *files)
        elif step == "chat":
            await studio.chat(f"{number} " + "word " * 120, client)
            request = studio.model.main()[-1]
            texts = ide_texts(request)
            assert replayed(texts) == await truth(studio, client)
            if session.history.epoch != epoch:
                assert sum(map(is_full, texts)) <= 1
                epoch = session.history.epoch
        elif step == "compress":
            await studio.compress()
        elif step == "undo" and session.history.in_force:
            await undo(session, client=client.client_id)
        elif step == "cancel":
            await _cancelled_chat(studio, client)
        elif step == "resume":
            from gemini_companion.engine.history.log import ResumeEntry

            stamp = session.stamp()
            await session.append(lambda seq, stamp=stamp: ResumeEntry(**stamp, seq=seq))
    await studio.app.close()


async def _cancelled_chat(studio: Studio, client: Client) -> None:
    studio.model.called.clear()
    studio.model.gate.clear()
    task = asyncio.create_task(studio.chat("never mind", client))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    session = await studio.session()
    async with asyncio.timeout(PATIENCE):
        while not session.lane.is_idle:
            await asyncio.sleep(0)
    studio.model.gate.set()


async def test_the_meter_agrees_with_the_result_of_a_compression_and_of_its_undo(studio: Studio) -> None:
    studio.take_key_away()
    show(studio.client, (PATHS[0], 3, "x = 1\n" * 50))
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    session = await studio.session()
    before = session.status(studio.client).token_count
    result = await studio.compress()
    assert (result.original_token_count, result.new_token_count) == (before, session.status(studio.client).token_count)
    undone = await undo(session, client="c")
    assert (undone.original_token_count, undone.new_token_count) == (result.new_token_count, before)
    assert session.status(studio.client).token_count == before


async def test_a_turn_that_only_withholds_something_says_so(studio: Studio) -> None:
    show(studio.client, ("/project/secret.env", 1, "KEY=hunter2"))
    await studio.chat("one")
    receipt = studio.heard.of(IdeContextSent)[0]
    assert (receipt.kind, receipt.files, [item.name for item in receipt.withheld]) == ("full", (), ["secret.env"])
    assert ide_texts(studio.model.main()[-1]) == []


async def test_a_file_that_was_taken_out_is_withheld_like_an_ignored_one(studio: Studio) -> None:
    show(studio.client, (PATHS[0], 3, "x = 1"), (PATHS[1], None, ""), excluded=[PATHS[0]])
    session = await studio.session()
    preview = await preview_context(studio.services, studio.client, session)
    await studio.chat("one")
    receipt = studio.heard.of(IdeContextSent)[0]
    assert (receipt.files, receipt.selection_chars) == ((PATHS[1],), 0)
    assert [(item.name, item.reason) for item in receipt.withheld] == [("a.py", "taken out by you")]
    assert preview.withheld == receipt.withheld
    assert PATHS[0] not in str(studio.model.main()[-1].contents)
    assert "x = 1" not in str(studio.model.main()[-1].contents)


def documents_of(model: ScriptedModel) -> Sequence[OpenDocument]:
    local = model.locals[-1]
    return local.documents() if local else ()


async def test_the_offline_model_reads_no_file_that_was_taken_out(studio: Studio) -> None:
    studio.take_key_away()
    studio.workspace.texts = dict.fromkeys(PATHS, "text")
    show(studio.client, (PATHS[0], 3, ""), (PATHS[1], None, ""), excluded=[PATHS[0]])
    await studio.chat("one")
    assert [document.path for document in documents_of(studio.offline)] == [PATHS[1]]


async def test_a_file_that_was_sent_before_is_told_to_be_closed_when_it_is_taken_out_and_opened_when_it_is_back(
    studio: Studio,
) -> None:
    files = ((PATHS[0], 3, "x = 1"), (PATHS[1], None, ""))
    show(studio.client, *files)
    await studio.chat("one")
    show(studio.client, *files, excluded=[PATHS[0]])
    await studio.chat("two")
    known = replay(ide_texts(studio.model.main()[-1]))
    assert known is not None
    assert known.open == {PATHS[1]}
    show(studio.client, *files)
    await studio.chat("three")
    assert replayed(ide_texts(studio.model.main()[-1])) == await truth(studio, studio.client)


async def test_a_file_taken_out_that_is_no_more_open_is_in_the_receipt_only_when_that_is_news(studio: Studio) -> None:
    show(studio.client, (PATHS[0], 3, ""), (PATHS[1], None, ""))
    await studio.chat("one")
    show(studio.client, (PATHS[1], 1, ""), excluded=[PATHS[0], PATHS[2]])
    await studio.chat("two")
    show(studio.client, (PATHS[1], 2, ""), excluded=[PATHS[0], PATHS[2]])
    await studio.chat("three")
    receipts = studio.heard.of(IdeContextSent)
    assert [[item.name for item in receipt.withheld] for receipt in receipts] == [[], ["a.py"], []]
