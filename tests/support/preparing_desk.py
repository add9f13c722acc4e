"""What tests of compressions that are prepared beside the chat have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from gemini_companion.engine.history.log import Entry, PreviewEntry
from gemini_companion.sessions.compression_events import CompressionPrepared
from gemini_companion.sessions.session import Session
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser

T = TypeVar("T")

BOTH_CALLS = 2
"""Summarising and verifying."""


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    return asyncio.create_task(work)


async def within(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await event.wait()


def hold_writes(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, kind: type[Entry]
) -> tuple[asyncio.Event, asyncio.Event]:
    """Entries of this kind reach the store when the second event is set; the first one tells that one waits."""
    reached, release = asyncio.Event(), asyncio.Event()
    write = studio.store.append

    async def append(session_id: str, entries: Sequence[Entry]) -> None:
        if any(isinstance(entry, kind) for entry in entries):
            reached.set()
            await release.wait()
        await write(session_id, entries)

    monkeypatch.setattr(studio.store, "append", append)
    return reached, release


async def preview_held(
    studio: Studio, slow: SlowSummariser, monkeypatch: pytest.MonkeyPatch, asking: Coroutine[Any, Any, T]
) -> tuple[Session, asyncio.Task[T], asyncio.Event]:
    """A session whose preview is made, what asks for that, and the event that lets its entry be written."""
    session = await chat_at(studio, 0.85)
    reached, release = hold_writes(studio, monkeypatch, PreviewEntry)
    slow.may_summarise.set()
    asked = begin(asking)
    await within(reached)
    return session, asked, release


def hold_before_safe_point(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """A turn whose prompt names @a.py goes on to its safe point when the second event is set; the first one tells that
    it waits.
    """
    reached, release, read_text = asyncio.Event(), asyncio.Event(), studio.workspace.read_text

    async def slowly(path: str, *, limit: int = 1_000_000) -> str | None:
        reached.set()
        await release.wait()
        return await read_text(path, limit=limit)

    studio.workspace.texts["/project/a.py"] = "a\n"
    monkeypatch.setattr(studio.workspace, "read_text", slowly)
    return reached, release


async def chat_at(studio: Studio, share: float, **more: Any) -> Session:
    """A session whose next safe point is at this share of the trigger."""
    session = await studio.load(dialogue(10), **more)
    tokens = session.token_count(session.choice()).tokens
    studio.set(compression_token_cap=round(tokens / share))
    return session


async def prepared(studio: Studio, slow: SlowSummariser, share: float = 0.85) -> Session:
    """A session with a compression that was prepared during a turn, below the trigger."""
    session = await chat_at(studio, share)
    slow.may_summarise.set()
    await studio.chat("go on")
    await studio.heard.wait_for(CompressionPrepared)
    return session


def reach_trigger(studio: Studio, session: Session) -> None:
    """The next safe point is at the trigger."""
    studio.set(compression_token_cap=session.token_count(session.choice()).tokens)


async def settled(session: Session) -> None:
    """Wait until nothing is being prepared."""
    for compression in session.compressions.previews():
        await compression.job.settled()


def state(studio: Studio, session: Session) -> str:
    return session.status(studio.client).state
