"""The text of a file as it is now: an unsaved buffer's, else the disk's."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import OrderedDict
from typing import Final

import msgspec

from gemini_companion.engine.edits.encoding import Encoded, Text, decoded, that_gives
from gemini_companion.tools.documents import Buffer
from gemini_companion.tools.ports import FileBytes, Place
from gemini_companion.tools.tool import ToolContext, ToolRefusal
from gemini_companion.tools.workspace.places import unsaved

MAX_BYTES: Final = 20 * 1024 * 1024
"""A larger file is neither read nor changed as a text."""


_VOUCHED: Final = 100


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A text file. `text` has its own line endings."""

    text: str
    encoded: Encoded
    """How the disk has it."""
    disk: FileBytes | None
    """`None` where there is only an open document."""
    is_unsaved: bool = False
    """The text is the editor's, with edits that the disk does not have."""

    @property
    def digest(self) -> str:
        """Of the text: SHA-256 in hexadecimal digits."""
        return digest_of(self.text)


class Seen:
    """What the model was shown of files, so that it can be told what has changed since; and in which folders the person
    agreed to write files in which guessed encoding. In memory only, bounded.
    """

    def __init__(self, most: int = 8_000_000) -> None:
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._vouched: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._agreed: set[tuple[str, str]] = set()
        self._most = most
        self._size = 0

    def note(self, context: ToolContext, place: Place, text: str) -> None:
        """Remember a text, its line ends made line feeds."""
        key = (context.session_id, place.path)
        self._size -= len(self._texts.pop(key, ""))
        self._texts[key] = text
        self._size += len(text)
        while self._size > self._most:
            self._size -= len(self._texts.popitem(last=False)[1])

    def vouch(self, context: ToolContext, place: Place, text: str) -> None:
        """A change of this text is shown to the person: with this call, a correction of theirs is of this text."""
        self._vouched[context.session_id, context.call_id] = (place.path, digest_of(text))
        if len(self._vouched) > _VOUCHED:
            self._vouched.popitem(last=False)

    def is_vouched(self, context: ToolContext, place: Place, text: str) -> bool:
        """True if the person was shown a change of exactly this text with this call."""
        return self._vouched.get((context.session_id, context.call_id)) == (place.path, digest_of(text))

    def agree(self, place: Place, encoded: Encoded) -> None:
        """The person let a file of this folder be written in an encoding that was guessed."""
        self._agreed.add((os.path.dirname(place.path), encoded.encoding))

    def is_agreed(self, place: Place, encoded: Encoded) -> bool:
        """Whether they did."""
        return (os.path.dirname(place.path), encoded.encoding) in self._agreed

    def last(self, context: ToolContext, place: Place) -> str | None:
        """The text as it was last shown or written; `None` if that is not known."""
        return self._texts.get((context.session_id, place.path))


def digest_of(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def load(place: Place, context: ToolContext) -> Loaded:
    """The text of a file. Raises `ToolRefusal` if it is too large or no text."""
    buffer = unsaved(place, context)
    disk = await context.ports.files.read(place, limit=MAX_BYTES)
    return await loaded(place, disk, buffer, context)


async def loaded(place: Place, disk: FileBytes, buffer: Buffer | None, context: ToolContext) -> Loaded:
    """The text of bytes that were read, or of the buffer before them."""
    if disk.size > MAX_BYTES:
        raise ToolRefusal(
            f"{place.shown} has {disk.size / 1024**2:.1f} MB, over the {MAX_BYTES // 1024**2} MB that are read."
            " grep_search finds lines in it."
        )
    text = await asyncio.to_thread(decoded, disk.data, disk.charset)
    opened = context.ports.editor.buffer(place.path)
    if (text is None or text.encoded.is_guessed) and opened is not None and not opened.is_dirty:
        encoded = await asyncio.to_thread(that_gives, disk.data, opened.text)  # the editor knows how to read it
        text = text if encoded is None else Text(text=disk.data.decode(encoded.encoding), encoded=encoded)
    if buffer is not None:
        encoded = text.encoded if text is not None else Encoded()
        is_unsaved = text is None or text.text != buffer.text  # an editor that just opened it may count as unsaved
        return Loaded(text=buffer.text, encoded=encoded, disk=disk, is_unsaved=is_unsaved)
    if text is None:
        raise ToolRefusal(f"{place.shown} is no text but binary, {disk.size:,} bytes. It cannot be shown or edited.")
    return _of(text, disk)


def _of(text: Text, disk: FileBytes) -> Loaded:
    return Loaded(text=text.text, encoded=text.encoded, disk=disk)
