"""Streams and calls that are left, cancelled or closed, over HTTP."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.sessions.models.port import ModelChunk
from tests.adapters.gemini.calls import HI, collect, connected
from tests.support.emulator import (
    Emulator,
    Gate,
    answer,
    faults,
)
from tests.support.patience import PATIENCE, until

pytestmark = pytest.mark.usefixtures("bounded")


async def _leave(client: GeminiProvider) -> None:
    async for _ in client.stream(HI):
        break
    gc.collect()


async def _close(client: GeminiProvider) -> None:
    stream = client.stream(HI)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]


async def _cancel(client: GeminiProvider) -> None:
    first = asyncio.Event()

    async def read() -> None:
        async for _ in client.stream(HI):
            first.set()

    task = asyncio.create_task(read())
    await first.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _shut_down(client: GeminiProvider) -> None:
    stream = client.stream(HI)
    await anext(stream)
    await client.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await anext(stream)


class _Failing:
    """A connection whose stream fails behind its first piece."""

    async def stream(self, model: str, body: Body, emit: Callable[[ModelChunk], None]) -> None:
        emit(ModelChunk(parts=({"text": "Hel"},)))
        await asyncio.sleep(0)
        raise ModelUnavailable("Overloaded.")


class _Unlucky(GeminiProvider):
    async def _connection(self) -> Any:
        return _Failing()


async def test_whenever_a_caller_leaves_nothing_of_its_request_is_kept():
    client = _Unlucky(GeminiOptions(api_key="k"))
    for turns in range(20):
        reading = asyncio.create_task(collect(client))
        await until(lambda: any(_streams()))
        streams = [weakref.ref(one) for one in _streams()]
        for _ in range(turns):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait([reading])
        del reading
        await until(lambda: not any(_streams()))
        gc.collect()
        assert [one() for one in streams] == [None], turns


def _streams() -> Iterator[asyncio.Task[Any]]:
    return (task for task in asyncio.all_tasks() if task.get_name().startswith("gemini:"))


@pytest.mark.parametrize("end", [_leave, _close, _cancel, _shut_down])
async def test_ending_a_stream_early_closes_its_connection(emulator: Emulator, gemini: GeminiProvider, end: Any):
    gate = Gate()
    emulator.script(answer("Hel", gate, "lo"))
    await end(gemini)
    await emulator.wait_for_hang_up(await emulator.wait_for_request())


@pytest.mark.parametrize("end", [_leave, _close, _cancel])
async def test_after_a_stream_was_ended_early_the_client_goes_on(emulator: Emulator, gemini: GeminiProvider, end: Any):
    emulator.script(answer("Hel", Gate(), "lo"))
    await end(gemini)
    assert (await gemini.generate(HI)).finish_reason == "STOP"
    assert (await collect(gemini))[-1].finish_reason == "STOP"


@pytest.mark.parametrize("method", ["generate", "count_tokens"])
async def test_cancelling_a_call_closes_its_connection(emulator: Emulator, gemini: GeminiProvider, method: str):
    emulator.script(faults.hang_before_headers(), method="countTokens" if method == "count_tokens" else None)
    task = asyncio.create_task(getattr(gemini, method)(HI))
    request = await emulator.wait_for_request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await emulator.wait_for_hang_up(request)


async def test_a_stream_that_nobody_reads_is_ended_by_close(emulator: Emulator):
    async with connected(base_url=emulator.base_url) as client:
        emulator.script(faults.hang_before_headers())
        reading = asyncio.create_task(collect(client))
        request = await emulator.wait_for_request()
    with pytest.raises(ModelUnavailable, match="closed"):
        await reading
    await emulator.wait_for_hang_up(request)


async def test_a_closed_client_says_so_and_may_be_closed_again(emulator: Emulator, gemini: GeminiProvider):
    await gemini.generate(HI)
    await gemini.close()
    await gemini.close()
    for attempt in (gemini.generate(HI), gemini.count_tokens(HI), collect(gemini)):
        with pytest.raises(ModelUnavailable, match="closed"):
            await attempt
    await gemini.warm_up()
    assert len(emulator.requests) == 1


async def test_closing_a_client_that_was_never_used_is_nothing():
    await GeminiProvider(GeminiOptions(api_key="k")).close()


async def test_a_fault_after_the_reader_left_disturbs_nobody(
    emulator: Emulator, gemini: GeminiProvider, caplog: pytest.LogCaptureFixture
):
    emulator.script(faults.drop_mid_stream())
    stream = gemini.stream(HI)
    await anext(stream)
    (reading,) = (task for task in asyncio.all_tasks() if task.get_name().startswith("gemini:"))
    await asyncio.wait([reading], timeout=PATIENCE)
    await stream.aclose()  # type: ignore[attr-defined]
    assert reading.done()
    del reading, stream
    gc.collect()
    assert caplog.records == []


async def test_nothing_is_left_behind_by_clients_that_come_and_go(emulator: Emulator):
    before = asyncio.all_tasks()
    for _ in range(3):
        async with connected(base_url=emulator.base_url) as client:
            await client.warm_up()
            emulator.script(faults.drop_mid_stream(), faults.malformed_event())
            for _ in range(2):
                with pytest.raises(ModelUnavailable):
                    await collect(client)
            await client.generate(HI)
        del client
        gc.collect()
    if left := asyncio.all_tasks() - before:  # the SDK closes itself once more when it is collected
        await asyncio.wait(left, timeout=PATIENCE)
    assert asyncio.all_tasks() == before
