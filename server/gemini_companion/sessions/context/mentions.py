"""The files and folders that a prompt mentions: looked up when its turn begins, checked, read, bounded, masked."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from gemini_companion.engine.history.command_use import CommandUse
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Attachment, Withheld
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.engine.ide_context.receipt import base_name, masked_secrets
from gemini_companion.engine.ide_context.secrets import mask_between
from gemini_companion.engine.media_types import media_type
from gemini_companion.engine.prompts.attachments import MAX_LINES, Excerpt, excerpt, file_part, folder_part
from gemini_companion.engine.prompts.mentions import MAX_MENTIONS, mentions_in
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.open_files import NOT_TEXT, NOT_TRUSTED
from gemini_companion.sessions.events import FilesAttached
from gemini_companion.sessions.ports import Named
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, off_loop

MAX_FILES: Final = 20
"""Files and folders that are attached to one prompt."""
MAX_CHARACTERS: Final = 400_000
"""Characters of all attachments of one prompt."""
HUGE_BYTES: Final = 20 * 1024 * 1024
"""A larger file is not opened."""
READ_CHARACTERS: Final = 1_000_000
"""Characters of one file that are read; fewer may be attached."""

MAX_MEDIA_BYTES: Final = 10 * 1024 * 1024
"""Bytes of all pictures and other media of one prompt: a request takes 20 MB, and they grow by a third in it."""

BEGINNING: Final = 4_096
"""Bytes, or characters, of a file that tell what it is."""

MEDIA_TOO_LARGE: Final = f"over {MAX_MEDIA_BYTES // 1024**2} MB of pictures in all"
TOO_LARGE: Final = f"larger than {HUGE_BYTES // 1024**2} MB"
TOO_MANY: Final = f"only {MAX_FILES} files go along"
_NO_ROOM: Final = f"over {MAX_CHARACTERS:,} characters in all"


class Frames(NamedTuple):
    """How texts stand in a prompt: the parts of a file's path and excerpt, and of a folder's path and names."""

    file: Callable[[str, Excerpt], Part]
    folder: Callable[[str, str], Part]


MENTIONED: Final = Frames(file_part, folder_part)


@dataclass(slots=True)
class Attached:
    """What is attached to a prompt: a part for each attachment, and what was named and is withheld."""

    parts: list[Part] = field(default_factory=list[Part])
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    withheld: list[Withheld] = field(default_factory=list[Withheld])
    command: CommandUse | None = None
    """The slash command that the prompt is."""
    media_bytes: int = 0
    """Bytes of the pictures and other media among them."""
    expansion: tuple[Part, ...] = ()
    """What it stands for, ahead of the attachments."""

    @property
    def has_news(self) -> bool:
        """True if the prompt named anything that exists, or its command did."""
        of_command = (*self.command.files, *self.command.withheld) if self.command else ()
        return bool(self.attachments or self.withheld or of_command)

    def receipt(self) -> FilesAttached:
        """The event that reports what was attached and what was withheld."""
        files, withheld = tuple(self.attachments), tuple(self.withheld)
        if self.command is not None:
            files, withheld = (*self.command.files, *files), (*self.command.withheld, *withheld)
        return FilesAttached(files=files, withheld=withheld)

    def withhold(self, path: str, reason: str) -> None:
        """Add a file to those withheld."""
        self.withheld.append(Withheld(name=base_name(path), reason=reason))


async def attach(session: Session, client: Client, prompt: tuple[Part, ...]) -> Attached:
    """Read what the prompt mentions. A mention of nothing in the workspace is plain text, not an error."""
    texts = [text for part in prompt if not is_thought(part) and (text := text_of(part))]
    mentions = list(dict.fromkeys(mention for text in texts if "@" in text for mention in mentions_in(text)))[
        :MAX_MENTIONS
    ]
    attached = Attached()
    if not mentions:
        return attached
    folders = client.folders or session.meta.workspace_folders
    found = {
        named.path: named for named in await session.services.workspace.find(mentions, folders) if named is not None
    }
    left = MAX_CHARACTERS
    for named in found.values():
        left -= await attach_one(session, client, named, attached, left)
    return attached


async def attach_one(
    session: Session, client: Client, named: Named, attached: Attached, budget: int, frames: Frames = MENTIONED
) -> int:
    """Add a file or a folder, or why it is withheld. Returns the characters of the budget that it took."""
    if named.withheld is not None:
        attached.withheld.append(named.withheld)
    elif len(attached.parts) >= MAX_FILES:
        attached.withhold(named.path, TOO_MANY)
    elif named.is_folder:
        return await _attach_folder(session, client, named.path, attached, budget, frames)
    else:
        return await _attach_file(session, client, named, attached, budget, frames)
    return 0


async def _attach_folder(
    session: Session, client: Client, path: str, attached: Attached, budget: int, frames: Frames
) -> int:
    folders = client.folders or session.meta.workspace_folders
    names = await session.services.workspace.names_below(path, folders)
    if len(names.text) > budget:
        attached.withhold(path, _NO_ROOM)
        return 0
    attached.parts.append(frames.folder(path, names.text))
    attached.attachments.append(Attachment(path=f"{path.rstrip('/')}/", truncated=names.truncated))
    return len(names.text)


async def _attach_media(session: Session, path: str, attached: Attached) -> bool:
    """Add a picture, or another medium that a model takes, as it is: the prompt names it. False if it is none."""
    workspace = session.services.workspace
    beginning = await workspace.read_bytes(path, limit=BEGINNING)
    kind = media_type(path, beginning) if beginning else None
    if kind is None:
        return False
    data = await workspace.read_bytes(path, limit=MAX_MEDIA_BYTES + 1) or b""
    if len(data) > MAX_MEDIA_BYTES - attached.media_bytes:
        attached.withhold(path, MEDIA_TOO_LARGE)
        return True
    attached.media_bytes += len(data)
    encoded = await off_loop(len(data) // CHARACTERS_A_UNIT, lambda: base64.b64encode(data))
    attached.parts.append({"inlineData": {"mimeType": kind, "data": encoded.decode()}})
    attached.attachments.append(Attachment(path=path))
    return True


async def _attach_file(
    session: Session, client: Client, named: Named, attached: Attached, budget: int, frames: Frames
) -> int:
    """Add a file's text, unsaved edits included."""
    path = named.path
    if not session.services.trusted():
        attached.withhold(path, NOT_TRUSTED)
        return 0
    buffer = client.editor.buffer(path)
    if buffer is None and named.size > HUGE_BYTES:
        attached.withhold(path, TOO_LARGE)
        return 0
    # What a command brings in stands within its text, which has no place for a picture.
    if buffer is None and frames is MENTIONED and await _attach_media(session, path, attached):
        return 0
    text = (
        buffer.text
        if buffer is not None
        else await session.services.workspace.read_text(path, limit=READ_CHARACTERS + 1)
    )
    if text is None:
        attached.withhold(path, NOT_TEXT)
        return 0
    shown, masked = await asyncio.to_thread(_shown, text, budget)
    if text and not shown.lines:
        attached.withhold(path, _NO_ROOM)
        return 0
    attached.parts.append(frames.file(path, shown))
    attached.attachments.append(
        Attachment(path=path, lines=(1, shown.lines) if shown.lines else None, truncated=shown.truncated)
    )
    if masked:
        attached.withheld.append(masked_secrets(path, masked))
    return len(shown.text)


def _shown(text: str, budget: int) -> tuple[Excerpt, int]:
    """The excerpt of a text that is attached, and the number of masked secrets.

    Masked before it is cut, so that no part of a secret stays.
    """
    end = min(_end_of_lines(text), READ_CHARACTERS)
    masked, count = mask_between(text, 0, end, keep_lines=True)
    shown = excerpt(masked.replace("\r\n", "\n"), budget)
    return (msgspec.structs.replace(shown, truncated=True) if end < len(text) else shown), count


def _end_of_lines(text: str) -> int:
    """Where the last line ends that may be attached."""
    end = 0
    for _ in range(MAX_LINES):
        end = text.find("\n", end) + 1
        if not end:
            return len(text)
    return end
