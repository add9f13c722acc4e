"""The offline model as a model client: streaming, usage, counts, titles, snapshots, cancelling."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.offline import provider as offline
from gemini_companion.adapters.offline.provider import OfflineProvider, title_of, word_groups
from gemini_companion.adapters.offline.wording import ENGLISH
from gemini_companion.engine.compression.answer import read_snapshot
from gemini_companion.engine.facts.fact import FactSource, SummaryTask
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.models.port import LocalContext, ModelProvider, OpenDocument
from tests.adapters.offline.offline_requests import DOCUMENTS, chunks_of, client, count_words, request, text_of
from tests.support.patience import PATIENCE


def task_of(*turns: str, **fields: object) -> SummaryTask:
    sources = tuple(
        FactSource(index, (user_text if index % 2 == 0 else model_text)(turn), index)
        for index, turn in enumerate(turns)
    )
    return SummaryTask(sources=sources, budget_tokens=400, hidden_tokens=2_000, **fields)  # pyright: ignore[reportArgumentType]


def test_it_is_a_model_client_that_needs_nothing():
    model: ModelProvider = client()
    assert model.name == "offline"


async def test_an_answer_streams_in_groups_of_words_and_ends_with_reason_and_usage():
    chunks = await chunks_of(request("Where is open_socket?"), documents=DOCUMENTS)
    *pieces, last = chunks
    assert len(pieces) > 5
    assert all(0 < len(chunk.parts[0]["text"].split()) <= 6 for chunk in pieces)
    assert all(chunk.finish_reason is None and chunk.usage is None for chunk in pieces)
    assert last.finish_reason == "STOP"
    assert last.usage is not None
    assert last.usage.prompt_tokens == round(count_words("Where is open_socket?"))
    assert last.usage.output_tokens == round(count_words(text_of(chunks)))
    assert last.usage.total_tokens == last.usage.prompt_tokens + last.usage.output_tokens


async def test_the_first_answer_says_who_answers_and_how_to_change_it_and_later_ones_say_so_in_brief():
    first = text_of(await chunks_of(request("Hello")))
    assert first.startswith(ENGLISH.first_note)
    assert "choose another model" in first
    assert "API key" not in first, "whoever chose this model needs no key"
    replacements = text_of(await chunks_of(request("Hello"), is_fallback=True))
    assert replacements.startswith(ENGLISH.first_note_fallback)
    assert replacements.count("key") == 1
    later = text_of(await chunks_of(request("Hello", first, "Hello")))
    assert later.startswith(ENGLISH.note)
    assert "API key" not in later


@pytest.mark.parametrize("asked", ["What does this do?", "Where is parse defined?", "Which files are open?"])
async def test_paths_are_told_within_the_workspace_folder_and_others_whole(asked: str):
    text = "def parse(text):\n    return text\n\nparse(1)\n"
    inside = OpenDocument(path="/home/ada/ws/src/parser.py", text=text, is_active=True)
    outside = OpenDocument(path="/home/ada/ws2/parser.py", text=text)
    folders = ("/home/ada/ws",)
    said = text_of(await chunks_of(request(asked), documents=[inside, outside], folders=folders))
    assert "`src/parser.py`" in said
    assert "/home/ada/ws/" not in said
    both = text_of(await chunks_of(request(asked), documents=[inside], folders=(*folders, "/other")))
    assert "`/home/ada/ws/src/parser.py`" in both


async def test_the_same_request_gets_the_same_answer_streamed_or_at_once():
    asked = request("What timeout do the sockets have?", "Two seconds.", "And what timeout do sockets have?")
    streamed = [text_of(await chunks_of(asked)) for _ in range(2)]
    assert streamed[0] == streamed[1] == text_of([await client().generate(asked)])


async def test_nothing_leaves_this_machine(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise AssertionError("the offline model opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    model = client()
    await model.warm_up()
    assert await chunks_of(request("Hello"), model, documents=DOCUMENTS)
    await model.close()


async def test_an_answer_is_cut_at_the_tokens_it_may_take():
    chunks = await chunks_of(request("Explain this", max_output_tokens=10), documents=DOCUMENTS)
    assert chunks[-1].finish_reason == "MAX_TOKENS"
    assert 0 < count_words(text_of(chunks)) <= 10


async def test_other_work_goes_on_between_two_chunks():
    others = 0
    async with (
        asyncio.timeout(PATIENCE),
        aclosing(client().stream(request("Explain this"), LocalContext(documents=lambda: DOCUMENTS))) as chunks,
    ):
        async for _ in chunks:

            async def other() -> None:
                nonlocal others
                others += 1

            background = asyncio.create_task(other())
            await chunks.__anext__()
            assert background.done()
            break
    assert others == 1


async def test_a_pace_is_kept_for_demonstrations(monkeypatch: pytest.MonkeyPatch):
    waited: list[float] = []
    sleep = asyncio.sleep

    async def remember(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    monkeypatch.setattr(offline.asyncio, "sleep", remember)
    chunks = await chunks_of(request("Hello"), client(pace_seconds=0.02))
    assert waited == [0.02] * (len(chunks) - 1)


async def test_cancelling_returns_at_once_whatever_the_snapshot_waits_for():
    begun, go_on = threading.Event(), threading.Event()

    def slow(text: str) -> float:
        begun.set()
        go_on.wait(PATIENCE)
        return len(text) / 4

    task = task_of(*[f"Never touch file_{number}.py." for number in range(200)])
    async with asyncio.timeout(PATIENCE):
        job = asyncio.create_task(OfflineProvider(count_text=slow).summarise(task))
        await asyncio.to_thread(begun.wait, PATIENCE)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    go_on.set()


async def test_a_whole_request_is_counted_with_its_system_instruction_and_tools():
    bare = await client().count_tokens(request("Hello there"))
    assert (bare.total, bare.source, bare.covers_system) == (round(count_words("Hello there")), "estimate", True)
    full = await client().count_tokens(
        request("Hello there", system_instruction="x" * 400, tools=({"name": "y" * 400},))
    )
    assert full.total > bare.total + 190


async def test_a_part_is_counted_once():
    counted: list[str] = []

    def count(text: str) -> float:
        counted.append(text)
        return 1.0

    model = OfflineProvider(count_text=count)
    asked = request("One", "Two", "Three")
    assert (await model.count_tokens(asked)).total == 4
    before = len(counted)
    longer = request(*asked.contents, model_text("Four"))
    assert (await model.count_tokens(longer)).total == 5
    assert counted[before:] == ["", "Four"]


async def test_media_are_not_counted_as_text():
    image = Content(role="user", parts=({"inlineData": {"mimeType": "image/png", "data": "A" * 400_000}},))
    assert (await client().count_tokens(request(image))).total == 3_000


async def test_a_compressor_gets_a_snapshot_of_the_contents_themselves():
    text = await client().summarise(task_of("Never push to main.", "I fixed src/parser.py."))
    assert read_snapshot(text) == text
    assert "- Never push to main." in text
    assert "src/parser.py" in text


async def test_the_note_of_who_answers_is_no_knowledge_for_a_snapshot():
    task = task_of(
        "Where is open_socket?",
        f"{ENGLISH.first_note}\n\nIt is in src/sockets.py.",
        "Thanks",
        f"{ENGLISH.note}\n\nYou are welcome.",
    )
    text = await client().summarise(task)
    assert "src/sockets.py" in text
    assert "offline model" not in text


async def test_an_earlier_snapshots_rules_are_paid_for_on_top_of_the_budget():
    rules = "\n".join(f"- Never touch module_{number}." for number in range(100))
    earlier = f"<state_snapshot>\n<active_constraints>\n{rules}\n</active_constraints>\n</state_snapshot>"
    task = task_of("Go on.", "Done.", previous_snapshot=earlier)
    text = await client().summarise(task)
    assert all(rule in text for rule in rules.split("\n"))


async def test_without_a_task_the_requests_own_contents_are_summarised():
    chunk = await client().generate(
        request("Never push to main. " * 40, "I fixed src/parser.py.", role="utility_compressor")
    )
    assert "Never push to main." in (read_snapshot(chunk.parts[0]["text"]) or "")


@pytest.mark.parametrize(
    ("contents", "title"),
    [
        (("Fix the parser",), "Fix the parser"),
        (("Name this.\n\nuser: Fix   the parser\nmodel: Done",), "Fix the parser"),
        (("# Fix the parser\n\nIt is slow.",), "Fix the parser"),
        (("word " * 40,), "word word word word word word word word word word word…"),
        (("長" * 100,), "長" * 59 + "…"),
        ((), ""),
    ],
)
async def test_a_title_is_the_beginning_of_the_first_request(contents: tuple[str, ...], title: str):
    chunk = await client().generate(request(*contents, role="utility_title"))
    assert chunk.parts[0]["text"] == title
    assert len(title) <= 60


@given(st.lists(st.text(), max_size=4))
def test_a_title_is_one_short_line(texts: list[str]):
    title = title_of([user_text(text) for text in texts])
    assert len(title) <= 60
    assert "\n" not in title


@given(st.text())
def test_the_groups_of_a_text_are_the_text(text: str):
    groups = list(word_groups(text))
    assert "".join(groups) == text
    assert all(groups)
