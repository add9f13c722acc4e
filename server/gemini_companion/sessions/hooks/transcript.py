"""The chat as a file that hooks may read: Gemini CLI's JSON lines, kept up to date by what is new.

It is written when a hook is about to run and the view has changed since, never else. What was appended is appended to
the file; what left the view (a compression, an undo, a turn that failed) is taken back with `$rewindTo`, as Gemini CLI
does, and what stands in its place follows. So a hook costs what is new, whatever the length of the chat.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.ports import SessionMeta

logger = logging.getLogger(__name__)

_FOLDER: Final = "hooks"
_FILE: Final = "transcript.jsonl"
_PLANS: Final = "plans"
_NOTHING: Final = (-1, -1, None)


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What is new in a chat."""

    meta: SessionMeta
    contents: tuple[Content, ...]
    ids: tuple[str, ...]
    """One for each content. One that is known already replaces that content."""
    entries: tuple[Entry, ...]
    """Of the contents, where they have one: times and models."""
    back_to: str | None = None
    """This content, and all behind it, is no longer in the chat."""
    is_whole: bool = False
    """It is all of the chat: the file is written anew."""


class TranscriptFiles(Protocol):
    """Where transcripts are written."""

    def write(self, path: str, news: News) -> bool:
        """Bring a private file up to date; false, with nothing done, if it is to be added to and is not there.

        Raises `OSError`.
        """
        ...

    def make_folder(self, path: str) -> None:
        """Make a private folder, if it is not there. Raises `OSError`."""
        ...


class _Line(msgspec.Struct, frozen=True):
    """One content as it is, or is to be, in the file."""

    id: str
    entry_id: str
    seq: int
    is_joined: bool
    """It may stand in the line before it: results of that one's calls."""


@dataclass(slots=True)
class Transcript:
    """The file of one session."""

    folder: str
    """Of the session's hooks, private."""
    files: TranscriptFiles
    plans: str = field(init=False, default="")
    """A private folder for `GEMINI_PLANS_DIR`; empty if it cannot be made."""
    _lock: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _state: tuple[int, int, Content | None] = field(init=False, default=_NOTHING)
    """Version and epoch of the history that is written, and the answer behind it."""
    _written: list[_Line] | None = field(init=False, default=None)

    async def update(self, meta: SessionMeta, history: History, answer: Content | None = None) -> str:
        """Its path, with the view as it is now in it, and an `answer` that is not in the log yet; empty if it cannot be
        written. Raises nothing.
        """
        path = os.path.join(self.folder, _FILE)
        async with self._lock:
            state = (history.version, history.epoch, answer)
            if state == self._state:
                return path
            wanted = _lines_of(history)
            contents = [item.content for item in history.items]
            if answer is not None:
                wanted.append(_Line(f"answer-{history.version}", "", history.version + 1, is_joined=False))
                contents.append(answer)
            try:
                if not self.plans:
                    plans = os.path.join(self.folder, _PLANS)
                    await asyncio.to_thread(self.files.make_folder, plans)
                    self.plans = plans
                told = partial(_news, meta, history.entries, contents)
                is_written = self._written is not None and await asyncio.to_thread(
                    self._write, path, partial(told, self._written, wanted)
                )
                if not is_written:  # the first time, or somebody deleted it
                    await asyncio.to_thread(self._write, path, partial(told, [], wanted, is_whole=True))
            except OSError as fault:
                logger.warning("The transcript for hooks could not be written: %s", fault.strerror)
                self._state, self._written = _NOTHING, None
                return ""
            self._state, self._written = state, wanted
            return path

    def _write(self, path: str, news: Callable[[], News]) -> bool:
        """In a thread, since entries that are put away are unpacked for it."""
        return self.files.write(path, news())


def folder_beside(text_path: str) -> str:
    """The folder of a session's hooks, from the path of one of the session's private files."""
    return os.path.join(os.path.dirname(text_path), _FOLDER)


def _lines_of(history: History) -> list[_Line]:
    lines: list[_Line] = []
    seen: dict[str, int] = {}
    for item in history.items:
        number = seen[item.entry_id] = seen.get(item.entry_id, -1) + 1
        line_id = f"{item.entry_id}-{number}" if number else item.entry_id
        lines.append(_Line(line_id, item.entry_id, item.seq, item.kind == "toolResult"))
    return lines


def _news(
    meta: SessionMeta,
    log: Entries[Entry],
    contents: Sequence[Content],
    written: Sequence[_Line],
    wanted: Sequence[_Line],
    *,
    is_whole: bool = False,
) -> News:
    kept = _common(written, wanted)
    fresh = wanted[kept:]
    entries = (_entry_of(log, line) for line in fresh)
    return News(
        meta=meta,
        contents=tuple(contents[kept:]),
        ids=tuple(line.id for line in fresh),
        entries=tuple(entry for entry in entries if entry is not None),
        back_to=next((line.id for line in written[kept:] if not line.is_joined), None),
        is_whole=is_whole,
    )


def _common(written: Sequence[_Line], wanted: Sequence[_Line]) -> int:
    """How many lines can stay. Results are written with the answer before them, so that one is written again."""
    same = next((n for n, (one, other) in enumerate(zip(written, wanted, strict=False)) if one.id != other.id), None)
    kept = min(len(written), len(wanted)) if same is None else same
    is_joined = any(kept < len(lines) and lines[kept].is_joined for lines in (written, wanted))
    return max(0, kept - 1) if is_joined else kept


def _entry_of(log: Entries[Entry], line: _Line) -> Entry | None:
    entry = log.at(line.seq)
    return entry if entry is not None and entry.id == line.entry_id else None
