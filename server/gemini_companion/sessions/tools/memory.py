"""What the tool `recall` finds: the session's own log, its private texts, and the passages of the whole project."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar, cast

from gemini_companion.engine.compression.prompt import describe_media
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.appending import CONTENT_KINDS
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.log import ContentEntry, Entry, ToolResultEntry
from gemini_companion.engine.history.part import call_of, is_thought, media_of, response_of, text_of
from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tool_output.places import find_arguments, find_call
from gemini_companion.sessions.fitting import limit_of
from gemini_companion.sessions.recall.outputs import said_by, whole_output
from gemini_companion.sessions.recall.service import recall
from gemini_companion.sessions.recalled import RecallHit, RecallResult
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop
from gemini_companion.tools.memory import Remembered
from gemini_companion.tools.shell.commandbook import without_secrets
from gemini_companion.tools.shell.rules import ALIASES, TOOL
from gemini_companion.tools.tool import ToolRefusal

T = TypeVar("T")

PIECE_CHARACTERS: Final = 20_000
"""Characters of one answer at most."""


class MemoryOfSession:
    """The port `SessionMemory` of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def most_characters(self) -> int:
        """Characters that one answer may have."""
        return min(PIECE_CHARACTERS, limit_of(self._session))

    async def output(self, tool_call_id: str) -> Remembered | None:
        """What a call put out: from its private file, else from the log."""
        found = await self._found(lambda entries: find_call(entries, tool_call_id))
        if found is None:
            return None
        text = await whole_output(self._session.services.store, self._session.session_id, found)
        if found.name in {TOOL, *ALIASES}:  # its file has the output as it came
            text = await asyncio.to_thread(without_secrets, text)
        return Remembered(title=f"output of {found.name}", text=text, media=_media([found.part]))

    async def arguments(self, tool_call_id: str) -> Remembered | None:
        """What a call was made with, each argument under its name; texts as they are."""
        found = await self._found(lambda entries: find_arguments(entries, tool_call_id))
        if found is None:
            return None
        args = found.args
        lines = [f"{name}:\n{value if isinstance(value, str) else json_text(value)}" for name, value in args.items()]
        return Remembered(title=f"arguments of {found.name}", text="\n".join(lines))

    async def entry(self, entry_id: str) -> Remembered | None:
        """One entry, of this session or of another one of the project."""
        one = await self._found(lambda entries: next((one for one in _contents(entries) if one.id == entry_id), None))
        if one is not None:
            return Remembered(title=_title(one), text=_text(one), media=_media(one.content.parts))
        return _of_hits(await self._whole(entry_id=entry_id))

    async def turn(self, turn_id: str) -> Remembered | None:
        """A turn, of this session or of another one of the project."""
        own = await self._found(lambda entries: [one for one in _contents(entries) if one.turn_id == turn_id])
        if own:
            text = "\n\n".join(f"[{_title(entry)}, entry {entry.id}]\n{_text(entry)}" for entry in own)
            return Remembered(title=f"turn {turn_id}", text=text)
        return _of_hits(await self._whole(turn_id=turn_id))

    async def search(self, query: str, limit: int) -> str:
        """The passages that answer a question best, with the ids that give all of it."""
        try:
            result = await recall(self._session.services, query=query, limit=limit)
        except CompanionError as fault:
            raise ToolRefusal(f"It could not be looked for: {fault.message}") from fault
        return "\n\n".join(self._shown(hit) for hit in result.hits)

    def _shown(self, hit: RecallHit) -> str:
        when = datetime.datetime.fromtimestamp(hit.time / 1000, tz=datetime.UTC).strftime("%Y-%m-%d %H:%M")
        where = "" if hit.session_id == self._session.session_id else f", in the chat {hit.session_title[:80]!r}"
        ids = f'entry_id="{hit.entry_id}", turn_id="{hit.turn_id}"'
        return f"[{hit.role}, {when}{where}; all of it: {ids}]\n{hit.text}"

    async def _found(self, find: Callable[[Entries[Entry]], T]) -> T:
        """What `find` finds in the session's log."""
        entries = self._session.history.entries.copied()
        return await off_loop(entries.units, lambda: find(entries))

    async def _whole(self, *, turn_id: str | None = None, entry_id: str | None = None) -> RecallResult:
        try:
            return await recall(self._session.services, turn_id=turn_id, entry_id=entry_id)
        except CompanionError as fault:
            raise ToolRefusal(f"It could not be looked for: {fault.message}") from fault


def _contents(entries: Entries[Entry]) -> Iterator[ContentEntry]:
    return entries.of(*CONTENT_KINDS)


def _of_hits(result: RecallResult) -> Remembered | None:
    if not result.hits:
        return None
    text = "\n\n".join(f"[{hit.role}, entry {hit.entry_id}]\n{hit.text}" for hit in result.hits)
    return Remembered(title=f"from the chat {result.hits[0].session_title[:80]!r}", text=text)


def _title(entry: ContentEntry) -> str:
    return "output of tools" if isinstance(entry, ToolResultEntry) else f"said by the {entry.content.role}"


def _text(entry: ContentEntry) -> str:
    return "\n".join(text for part in entry.content.parts if not is_thought(part) and (text := _text_of(part)))


def _text_of(part: Part) -> str:
    call, response = call_of(part), response_of(part)
    if call is not None:
        return f"[call of {call.get('name')}: {json_text(call.get('args'))}]"
    if response is not None:
        return f"[result of {response.get('name')}]\n{said_by(response)}"
    if (media := media_of(part)) is not None:
        return describe_media(media)
    return text_of(part) or ""


def _media(parts: Iterable[Part]) -> tuple[Part, ...]:
    found: list[Part] = []
    for part in parts:
        nested = (response_of(part) or {}).get("parts")
        inner = cast("list[object]", nested) if isinstance(nested, list) else []
        candidates = [part, *(cast("Part", one) for one in inner if isinstance(one, dict))]
        found.extend(one for one in candidates if media_of(one) is not None)
    return tuple(found)
