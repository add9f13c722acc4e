"""A chat's requests over HTTP, with what is kept of the ones before: each is what a chat without a past would send."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.adapters.gemini.encoding import Bodies
from gemini_companion.engine.history.content import Content
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.registry import IDLE_SECONDS, KEPT_IDLE
from gemini_companion.sessions.session import Session
from tests.support.emulator import Emulator, faults
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

LONG = "and the parser too " * 1_000


class Watched(GeminiProvider):
    """Remembers what it is asked to send in turns."""

    def __init__(self, options: GeminiOptions) -> None:
        super().__init__(options)
        self.asked: list[ModelRequest] = []

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        self.asked.append(request)
        async for chunk in super().stream(request, local):
            yield chunk


class Desk:
    """A chat with the emulator."""

    def __init__(self, folder: Path, emulator: Emulator) -> None:
        self.emulator = emulator
        self.options = GeminiOptions(api_key="k", base_url=emulator.base_url)
        self.model = Watched(self.options)
        self.studio = Studio(folder, model=cast("Any", self.model), compression_threshold=1.0)

    async def say(self, text: str) -> None:
        """One turn, in a task that ends: what asks for a session uses it."""
        result = await asyncio.create_task(self.studio.chat(text))
        assert result.finish_reason == "STOP"

    async def check(self, turns: int) -> Session:
        """Everything that turns sent is what a provider without a past would have sent."""
        sent = [one.body for one in self.emulator.requests if one.path.endswith(":streamGenerateContent")]
        assert len(sent) == len(self.model.asked) == turns
        for body, request in zip(sent, self.model.asked, strict=True):
            alone = msgspec.structs.replace(request, conversation=None)
            expected = (await Bodies(self.options).generate(alone)).json()
            assert body["contents"] == expected["contents"]
            assert request.conversation is not None
        return await self.studio.session()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    with Emulator() as emulator:
        made = Desk(tmp_path, emulator)
        async with asyncio.timeout(PATIENCE):
            yield made
            await made.studio.app.close()
            await made.model.close()


async def test_turns_compressions_undo_retries_and_rules_send_nothing_stale(desk: Desk):
    for number in range(6):
        await desk.say(f"{number} {LONG}")
    await desk.studio.compress(strategy="split")
    await desk.say(f"after a compression {LONG}")
    session = await desk.studio.session()
    await undo(session, client=desk.studio.client.client_id)
    await desk.say(f"after an undo {LONG}")
    desk.emulator.script(faults.unavailable())
    await desk.say("a retry")
    assert (await desk.check(10)) is session
    texts = [text_of(one) for one in desk.model.asked]
    assert "0 and the parser" in texts[5]
    assert "0 and the parser too and the parser too" not in texts[6], "hidden behind the snapshot"
    assert "0 and the parser" in texts[7], "brought back"


async def test_a_hook_or_a_mask_that_changes_a_text_changes_what_is_sent(desk: Desk):
    for number in range(4):
        await desk.say(f"{number} {LONG}")
    session = await desk.studio.session()
    whole = session.history.request_contents

    def changed(*args: Any, **more: Any) -> tuple[Content, ...]:
        contents = whole(*args, **more)
        first = Content(role="user", parts=({"text": "[masked]"},))
        return (contents[0], contents[1], first, *contents[3:])

    session.history.request_contents = changed
    await desk.say("now")
    session.history.request_contents = whole
    await desk.say("and now")
    await desk.check(6)
    assert "[masked]" in text_of(desk.model.asked[4])
    assert "[masked]" not in text_of(desk.model.asked[5])


async def test_what_is_kept_goes_when_the_session_is_unloaded(desk: Desk):
    for number in range(4):
        await desk.say(f"{number} {LONG}")
    asked = desk.model.asked
    assert len({id(request.conversation) for request in asked}) == 1
    bodies = Bodies(desk.options)
    await bodies.generate(asked[-1])
    assert bodies.kept_bytes > 0
    asked.clear()
    for _ in range(KEPT_IDLE + 1):
        await asyncio.create_task(desk.studio.app.new_session(desk.studio.client))
    desk.studio.clock.time += round(IDLE_SECONDS * 1000)
    await asyncio.create_task(desk.studio.app.let_go_idle())
    gc.collect()
    assert bodies.kept_bytes == 0


def text_of(request: ModelRequest) -> str:
    return "".join(str(part.get("text", "")) for content in request.contents for part in content.parts)
