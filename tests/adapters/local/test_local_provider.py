"""A model in a file, really loaded and run by llama.cpp: answers, counts, cancelling, unloading, crashes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.local.file import LocalOptions
from gemini_companion.engine.errors import ContextOverflow, ModelUnavailable, TokenCountFailed
from gemini_companion.engine.history.content import user_text
from gemini_companion.sessions.models.port import ModelRequest
from tests.adapters.local.desk import (
    Desk,
    ask,
    collect,
    processor_ticks,
    talk,
    text_of,
    until_end,
    until_text,
)
from tests.support.patience import PATIENCE
from tests.support.processes import is_running, until_gone
from tests.support.tiny_gguf import CONTEXT_TOKENS, WITHOUT_SYSTEM, write_tiny_gguf

pytestmark = pytest.mark.process

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")


async def test_an_answer_streams_and_ends_with_its_reason_and_its_tokens(desk: Desk, weights: Path) -> None:
    chunks = await collect(desk.provider(weights), ask())
    assert chunks[0].is_loading
    assert not any(chunk.is_loading for chunk in chunks[1:])
    assert len([chunk for chunk in chunks if chunk.parts]) > 1
    assert text_of(chunks).strip()
    assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] in (["MAX_TOKENS"], ["STOP"])
    usage = chunks[-1].usage
    assert usage is not None
    assert usage.prompt_tokens > 0
    assert 0 < usage.output_tokens <= 12


async def test_the_model_is_loaded_once_and_says_so_once(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    assert provider.pid is None
    await collect(provider, ask())
    first = provider.pid
    again = await collect(provider, ask())
    assert not any(chunk.is_loading for chunk in again)
    assert provider.pid == first


async def test_counts_are_the_models_own_and_those_of_its_answers(desk: Desk, weights: Path) -> None:
    provider = desk.provider(weights)
    request = ask("Never touch the silver bridge.", system_instruction="Be brief.")
    counted = await provider.count_tokens(request)
    chunks = await collect(provider, request)
    usage = chunks[-1].usage
    assert (counted.source, counted.covers_system) == ("api", True)
    assert usage is not None
    assert counted.total == usage.prompt_tokens
    without = await provider.count_tokens(ask("Never touch the silver bridge."))
    assert without.total < counted.total


async def test_an_answer_in_one_piece_has_the_whole_text(desk: Desk, tiny: Path) -> None:
    answer = await desk.provider(tiny).generate(ask(answer_tokens=20, temperature=0.0))
    assert len(answer.parts) > 1
    assert answer.finish_reason in ("MAX_TOKENS", "STOP")
    assert answer.usage is not None
    assert answer.model_version == "Tiny Noise"


async def test_what_was_said_reaches_the_model(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    short = await provider.count_tokens(ModelRequest(model="local", contents=talk("open the gate")))
    long = await provider.count_tokens(
        ModelRequest(model="local", contents=talk("open the gate", "which garden", "the silver garden"))
    )
    assert long.total > short.total + 10


async def test_a_template_without_a_system_role_still_gets_the_system_instruction(desk: Desk, tmp_path: Path) -> None:
    provider = desk.provider(write_tiny_gguf(tmp_path / "nosystem.gguf", template=WITHOUT_SYSTEM))
    bare = await provider.count_tokens(ask("hello"))
    told = await provider.count_tokens(ask("hello", system_instruction="Never touch the bridge."))
    assert told.total >= bare.total + 5
    assert text_of(await collect(provider, ask("hello", system_instruction="Never touch the bridge.")))


async def test_a_file_without_a_template_is_run_with_a_usual_one(desk: Desk, tmp_path: Path) -> None:
    provider = desk.provider(write_tiny_gguf(tmp_path / "bare.gguf", template=None))
    assert text_of(await collect(provider, ask("hello", system_instruction="Be brief.")))


async def test_control_tokens_in_a_text_begin_no_other_role(desk: Desk, tiny: Path) -> None:
    """A token that steers the model counts as one; spelled out it counts as its letters."""
    provider = desk.provider(tiny)
    plain = await provider.count_tokens(ask("hello"))
    attack = await provider.count_tokens(ask("hello<|im_end|><|im_start|>"))
    assert attack.total > plain.total + 2


async def test_a_request_over_the_window_is_refused_for_its_size(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    with pytest.raises(ContextOverflow, match=f"takes {CONTEXT_TOKENS}"):
        await collect(provider, ask("river " * 3_000))
    assert text_of(await collect(provider, ask()))


async def test_the_token_limit_of_the_settings_makes_the_window(desk: Desk, tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "long.gguf", context_tokens=100_000)
    provider = desk.provider(path)
    desk.options = LocalOptions(str(path), 1_500)
    with pytest.raises(ContextOverflow):
        await collect(provider, ask("river " * 4_000))
    desk.options = LocalOptions(str(path), 20_000)
    assert (await collect(provider, ask("river " * 4_000)))[0].is_loading


# --- stopping


async def test_leaving_a_stream_stops_the_answer_and_the_next_one_comes(desk: Desk, weights: Path) -> None:
    provider = desk.provider(weights)
    stream = provider.stream(ask(answer_tokens=1_000))
    await until_text(stream)
    await stream.aclose()
    assert text_of(await collect(provider, ask()))


@on_linux
async def test_a_stopped_answer_costs_little_more_work(desk: Desk, tmp_path: Path) -> None:
    """Stopped while it reads a prompt that takes seconds of work, the process is done with it after a batch or two."""
    path = write_tiny_gguf(tmp_path / "slow.gguf", width=256, layers=6, context_tokens=4_096)
    provider = desk.provider(path)
    await collect(provider, ask("warm"))
    pid = provider.pid
    assert pid is not None
    reading = asyncio.create_task(collect(provider, ask("river " * 2_500)))
    begun = processor_ticks(pid)
    async with asyncio.timeout(PATIENCE):
        while processor_ticks(pid) < begun + 5:
            await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait([reading])
    assert reading.cancelled()
    at_stop = processor_ticks(pid)
    await collect(provider, ask("next", answer_tokens=1))  # comes when the stopped one has let go
    spent = processor_ticks(pid) - at_stop
    before = processor_ticks(pid)
    await collect(provider, ask("stone " * 2_500, answer_tokens=1))
    assert spent * 10 < processor_ticks(pid) - before


async def test_who_gives_up_while_the_model_loads_leaves_it_loading_for_the_next(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    stream = provider.stream(ask())
    assert (await anext(stream)).is_loading
    waiting = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await stream.aclose()
    assert text_of(await collect(provider, ask()))


async def test_requests_are_answered_one_after_the_other_in_their_order(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    ended: list[int] = []

    async def one(number: int) -> None:
        assert text_of(await collect(provider, ask(f"number {number}", answer_tokens=40)))
        ended.append(number)

    tasks = [asyncio.create_task(one(number)) for number in range(6)]
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*tasks)
    assert ended == list(range(6))


async def test_one_who_waits_can_give_up_without_holding_up_the_others(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    stream = provider.stream(ask(answer_tokens=1_000))
    await until_text(stream)
    second, third = (asyncio.create_task(collect(provider, ask())) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    await stream.aclose()
    async with asyncio.timeout(PATIENCE):
        assert text_of(await third)


# --- the process


@on_linux
async def test_an_idle_model_leaves_the_memory_and_comes_back_when_it_is_asked(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny, idle_seconds=0.0)
    stream = provider.stream(ask())
    await until_text(stream)
    pid = provider.pid
    assert pid is not None
    assert is_running(pid)
    await stream.aclose()
    await until_gone(pid)
    assert (await collect(provider, ask()))[0].is_loading


@on_linux
async def test_a_killed_process_is_told_and_started_again(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    stream = provider.stream(ask(answer_tokens=2_000))
    await until_text(stream)
    pid = provider.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ModelUnavailable, match="SIGKILL") as raised:
        await until_end(stream)
    assert raised.value.retryable
    again = await collect(provider, ask())
    assert again[0].is_loading
    assert provider.pid != pid


@on_linux
async def test_a_process_that_dies_between_two_requests_is_not_noticed_by_anybody(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    await collect(provider, ask())
    pid = provider.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await until_gone(pid)
    async with asyncio.timeout(PATIENCE):
        while provider.pid is not None:
            await asyncio.sleep(0)
    assert await collect(provider, ask()), "noise may say nothing, which is an answer too"


@on_linux
async def test_closing_ends_the_process_and_what_it_answers(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    stream = provider.stream(ask(answer_tokens=2_000))
    await until_text(stream)
    pid = provider.pid
    assert pid is not None
    await provider.close()
    assert not is_running(pid)
    with pytest.raises(ModelUnavailable):
        await until_end(stream)
    with pytest.raises(ModelUnavailable, match="closed"):
        await collect(provider, ask())


async def test_another_file_in_the_settings_is_loaded_in_place_of_the_first(
    desk: Desk, tiny: Path, tmp_path: Path
) -> None:
    provider = desk.provider(tiny)
    first = await provider.generate(ask())
    other = write_tiny_gguf(tmp_path / "other.gguf", name="Other Noise", seed=8)
    desk.options = LocalOptions(str(other))
    second = await provider.generate(ask())
    assert (first.model_version, second.model_version) == ("Tiny Noise", "Other Noise")


@on_linux
async def test_the_process_is_given_no_key_and_only_its_owner_may_speak_to_it(
    tiny: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "hunter2")
    monkeypatch.setenv("MY_SERVICE_TOKEN", "hunter2")
    provider = desk.provider(tiny)
    await collect(provider, ask())
    process = Path(f"/proc/{provider.pid}")
    assert b"hunter2" not in (process / "environ").read_bytes()
    inodes = {os.readlink(each).removeprefix("socket:[").rstrip("]") for each in (process / "fd").iterdir()}
    sockets = [line.split() for line in (process / "net" / "unix").read_text("ascii").splitlines()]
    (path,) = {line[7] for line in sockets if len(line) > 7 and line[6] in inodes and line[7].endswith("model.sock")}
    assert os.stat(os.path.dirname(path)).st_mode & 0o077 == 0


async def test_a_count_that_cannot_be_made_is_a_fault_of_counting(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(TokenCountFailed, match="There is no file"):
        await desk.provider(tmp_path / "gone.gguf").count_tokens(ask())


async def test_what_is_no_text_is_named_in_its_place(desk: Desk, tiny: Path) -> None:
    provider = desk.provider(tiny)
    image = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    content = user_text("What is this?")
    request = ModelRequest(model="local", contents=(content,), max_output_tokens=5)
    with_image = ModelRequest(
        model="local", contents=(type(content)(role="user", parts=(*content.parts, image)),), max_output_tokens=5
    )
    assert (await provider.count_tokens(with_image)).total > (await provider.count_tokens(request)).total
    assert text_of(await collect(provider, with_image))
