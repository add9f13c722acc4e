"""What a file is now, on the disk and in the editor, as versions that can be kept and compared."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable, Sequence

import msgspec

from gemini_companion.engine.edits.encoding import Encoded, decoded, encode, that_gives
from gemini_companion.engine.history.tool_entries import MAX_VERSION, FileVersion
from gemini_companion.tools.documents import Buffer
from gemini_companion.tools.ports import EditorPort, FileBytes, FileSystem, Place
from gemini_companion.tools.tool import ToolRefusal


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes with what the log says of them."""

    data: bytes | None
    """`None` where they are too many to be held."""
    digest: str
    """SHA-256 in hexadecimal digits; empty where the bytes are too many."""
    size: int
    mode: int = 0o644
    link: str | None = None
    """The target of a symbolic link, of which the bytes are those."""
    is_folder: bool = False
    """A folder, which has permission bits alone."""

    @property
    def noted(self) -> FileVersion:
        """As the log has it."""
        return FileVersion(
            digest=self.digest,
            size=self.size,
            mode=self.mode,
            link=self.link,
            is_folder=self.is_folder,
            is_kept=self.data is not None,
        )


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it is now."""

    place: Place
    disk: Version | None
    """`None` where there is no file."""
    unsaved: Version | None = None
    """The editor's text as it would be on the disk, where it differs from that."""
    is_open: bool = False
    """An editor shows it."""

    @property
    def shown(self) -> Version | None:
        """What the person has: the editor's text, else the disk's."""
        return self.unsaved or self.disk

    @property
    def versions(self) -> list[Version]:
        """All there are."""
        return [each for each in (self.disk, self.unsaved) if each is not None]


def version_of(data: bytes, mode: int = 0o644) -> Version:
    """Bytes as a version."""
    size = len(data)
    if size > MAX_VERSION:
        return Version(data=None, digest="", size=size, mode=mode)
    return Version(data=data, digest=hashlib.sha256(data).hexdigest(), size=size, mode=mode)


def link_version(target: str) -> Version:
    """A symbolic link as a version."""
    data = os.fsencode(target)
    return Version(data=data, digest=hashlib.sha256(data).hexdigest(), size=len(data), mode=0o777, link=target)


def folder_version(mode: int) -> Version:
    """A folder as a version."""
    return Version(data=b"", digest="", size=0, mode=mode, is_folder=True)


async def look(path: str, files: FileSystem, roots: Sequence[str], editor: EditorPort | None) -> Look:
    """What has a name now; a link is not followed. Raises `ToolRefusal` for what cannot be read, is a device, or is
    outside the folders.
    """
    place = await files.spot(path, roots)
    match place.kind:
        case "link":
            return Look(place=place, disk=link_version(await files.read_link(place)))
        case "folder":
            return Look(place=place, disk=folder_version(await files.mode_of_folder(place)))
        case "file":
            disk = _of_disk(await files.read(place, limit=MAX_VERSION + 1))
        case "missing":
            disk = None
        case "other":
            raise ToolRefusal(f"{place.shown} is not a file.")
    buffer = None if editor is None else editor.buffer(place.path)
    if buffer is None:
        return Look(place=place, disk=disk)
    unsaved = await asyncio.to_thread(_of_buffer, buffer, disk)
    return Look(place=place, disk=disk, unsaved=unsaved, is_open=True)


def caught_up(before: Look, now: Look) -> Look:
    """A look behind a write beside an editor that still shows what was there before it: the disk counts."""
    is_behind = (
        now.unsaved is not None
        and before.unsaved is None
        and before.disk is not None
        and now.unsaved.digest == before.disk.digest
    )
    return msgspec.structs.replace(now, unsaved=None) if is_behind else now


def on_disk(text: str, like: Version | None) -> bytes:
    """The bytes of a text, in the encoding of a version of its file."""
    known = None if like is None or like.data is None else decoded(like.data)
    if like is not None and like.data is not None and (known is None or known.encoded.is_guessed):
        encoded = that_gives(like.data, text)
        if encoded is not None:
            return like.data  # whatever the editor read it as
    encoded = known.encoded if known is not None else Encoded()
    if encoded.has_strays and like is not None and like.data is not None and like.data.decode(errors="replace") == text:
        return like.data  # as an editor shows such bytes
    try:
        return encode(text, encoded)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def text_of(data: bytes) -> str | None:
    """The text of a file's bytes as an editor has it; `None` if it is none."""
    found = decoded(data)
    if found is None:
        return None
    return data.decode("utf-8", "replace") if found.encoded.has_strays else found.text


def can_be_in_editor(data: bytes) -> bool:
    """Whether an editor that has the text writes these bytes: it knows none that are no text."""
    found = decoded(data)
    return found is not None and not found.encoded.has_strays


def kept(versions: Iterable[Version | None]) -> list[bytes]:
    """The bytes that can be kept, each once."""
    return list(
        {
            each.digest: each.data for each in versions if each is not None and each.digest and each.data is not None
        }.values()
    )


def _of_disk(found: FileBytes) -> Version:
    if found.size > MAX_VERSION:
        return Version(data=None, digest="", size=found.size, mode=found.mode)
    return Version(data=found.data, digest=found.digest, size=found.size, mode=found.mode)


def _of_buffer(buffer: Buffer, disk: Version | None) -> Version | None:
    data = on_disk(buffer.text, disk)
    if disk is not None and disk.data == data:
        return None
    if disk is not None and not buffer.is_dirty and disk.data is None:
        return None  # too large to be compared
    return version_of(data, disk.mode if disk is not None else 0o644)
