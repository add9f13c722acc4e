"""What is kept of a conversation's last request, and that nothing stale of it is ever sent."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini.encoding import Bodies, Encoding, Segment
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.sessions.models.port import Conversation, ModelRequest
from tests.adapters.gemini.plain_bodies import LONG, OPTIONS, alternating, whole
from tests.support.examples import examples


def encoded(contents: list[Content], kept: tuple[Segment, ...] = ()) -> tuple[Segment, ...]:
    encoding = Encoding(contents, kept, vertex=False)
    assert encoding.run()
    assert (
        json.loads(b"[%s]" % b"".join(encoding.data()))
        == whole(ModelRequest(model="m", contents=tuple(contents)), "generate", vertex=False)["contents"]
    )
    return encoding.segments


def test_what_was_encoded_for_a_turn_is_taken_as_it_is_by_the_next():
    contents = alternating(60)
    first = encoded(contents)
    assert len(first) > 10
    grown = encoded([*contents, *alternating(6)], first)
    assert all(one is other for one, other in zip(first, grown, strict=False))
    assert sum(len(segment.contents) for segment in grown) > len(contents)


def test_a_content_that_was_merged_anew_of_the_same_parts_counts_as_the_same():
    contents = alternating(60)
    first = encoded(contents)
    again = encoded([Content(role=content.role, parts=(*content.parts,)) for content in contents], first)
    assert again == first
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_what_only_equals_a_content_is_encoded_anew():
    one: Part = {"functionCall": {"name": "f", "args": {"deep": 1}}}
    other: Part = {"functionCall": {"name": "f", "args": {"deep": True}}}
    contents = alternating(40)
    first = encoded([Content(role="user", parts=(one,)), *contents])
    changed = Encoding([Content(role="user", parts=(other,)), *contents], first, vertex=False)
    changed.run()
    assert b'"deep":true' in b"".join(changed.data())


changes = st.lists(
    st.tuples(st.sampled_from(["append", "empty", "copy", "replace", "merge", "cut", "drop"]), st.integers(0, 99)),
    max_size=30,
)


@given(changes)
@settings(deadline=None, max_examples=examples(150))
def test_whatever_becomes_of_a_conversation_nothing_stale_is_sent(steps: list[tuple[str, int]]):
    contents, kept = alternating(8), tuple[Segment, ...]()
    for step, (kind, at) in enumerate(steps):
        role: Any = "model" if len(contents) % 2 else "user"
        place = at % len(contents) if contents else 0
        match kind:
            case "append":
                contents.append(Content(role=role, parts=({"text": f"{step} {LONG}"},)))
            case "empty":
                contents.append(Content(role=role, parts=({"ourOwn": step},)))
            case "copy" if contents:
                contents[place] = deepcopy(contents[place])
            case "replace" if contents:
                contents[place] = Content(role=contents[place].role, parts=({"text": f"masked {step}"},))
            case "merge" if contents:
                old = contents[place]
                contents[place] = Content(role=old.role, parts=(*old.parts, {"text": f"more {step}"}))
            case "cut":
                del contents[len(contents) - at % 4 :]
            case "drop" if contents:
                del contents[place]
            case _:
                pass
        kept = encoded(contents, kept)


def growing(request: ModelRequest, conversation: Conversation) -> ModelRequest:
    return msgspec.structs.replace(request, conversation=conversation)


async def test_what_is_kept_is_let_go_with_the_conversation():
    bodies, conversation = Bodies(OPTIONS), Conversation()
    request = ModelRequest(model="m", contents=tuple(alternating(60)))
    await bodies.generate(request)
    assert bodies.kept_bytes == 0, "nobody asked for it"
    await bodies.generate(growing(request, conversation))
    assert bodies.kept_bytes > 500_000
    del conversation
    gc.collect()
    assert bodies.kept_bytes == 0


async def test_what_is_kept_of_all_conversations_has_a_bound_and_the_one_in_use_stays():
    bodies = Bodies(OPTIONS, most_bytes=1_000_000)
    conversations = [Conversation() for _ in range(4)]
    request = ModelRequest(model="m", contents=tuple(alternating(40)))
    for conversation in conversations:
        body = await bodies.generate(growing(request, conversation))
        assert 400_000 < bodies.kept_bytes <= 1_000_000
        assert body.json()["contents"] == whole(request, "count", vertex=False)["contents"]
    large = ModelRequest(model="m", contents=tuple(alternating(300)), conversation=conversations[0])
    assert (await bodies.generate(large)).json()["contents"] == whole(large, "count", vertex=False)["contents"]
    assert 900_000 < bodies.kept_bytes <= 1_000_000


class Recording(ThreadPoolExecutor):
    """Counts what is handed to it."""

    handed = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.handed += 1
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize(
    ("contents", "handed"),
    [(alternating(3, text="hi"), 0), (alternating(3), 0), (alternating(60), 1), (alternating(5_000, text=""), 1)],
    ids=["small", "some", "large", "many"],
)
async def test_large_requests_are_encoded_in_a_thread_and_small_ones_at_once(contents: list[Content], handed: int):
    executor = Recording(1)
    asyncio.get_running_loop().set_default_executor(executor)
    bodies, request = Bodies(OPTIONS), ModelRequest(model="m", contents=tuple(contents), conversation=Conversation())
    await bodies.generate(request)
    assert executor.handed == handed
    if len(contents) < 1_000:
        await bodies.generate(request)
        assert executor.handed == handed, "what is left to do is little"
