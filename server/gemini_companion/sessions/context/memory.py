"""Memory files in a session: what stands in every request, and what goes along with the files that are touched.

What a model was told of folders below is read from the view itself: a result or a prompt that a compression hid, or
that was rolled back, tells nothing any more, and the file goes along with the next thing that touches its folder.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast
from weakref import WeakKeyDictionary

import msgspec

from gemini_companion.engine.history.log import Attachment, ResumeEntry
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.memory.tiers import MemoryFile, Tiers
from gemini_companion.engine.prompts.attachments import memory_part, read_attachment
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.mentions import MAX_CHARACTERS, Attached
from gemini_companion.sessions.context.skills import skills_section_of
from gemini_companion.sessions.session import Session
from gemini_companion.tools.tool import Proposal

logger = logging.getLogger(__name__)

RESPONSE_KEY: Final = "memory"
"""Of a function response: the memory files of the folders that the call touched."""

MAX_TEXT: Final = 40_000
"""Characters of one file that go along with what touches its folder."""
MAX_OPEN: Final = 100
"""Open files whose folders are looked at."""
MAX_AT_ONCE: Final = 3 * MAX_TEXT
"""Characters of all that go along at once; the others wait for the next touch."""

Told: TypeAlias = set[tuple[str, str]]
"""Path and text of each file."""

_told: WeakKeyDictionary[Session, tuple[str, int, Told]] = WeakKeyDictionary()
"""By session: the turn and the epoch in which it was read from the view, and what the model was told then and since."""


async def memory_for(session: Session, *, anew: bool = False) -> Tiers:
    """What the memory files have to say in the next request of a session."""
    memory = session.services.memory
    if memory is None or not session.services.with_environment:
        return Tiers()
    try:
        return await memory.tiers(all_at_once=not session.declarations(session.choice()), anew=anew)
    except Exception:  # a disk that fails costs what is new in memory, not the turn
        logger.exception("Memory files could not be read")
        return session.surroundings.memory


async def take_in_memory(session: Session) -> None:
    """At the beginning of a turn: raise the epoch, once, if memory or the list of skills, which stand in every request,
    is another by now.

    Then the environment is built anew. Raises `StorageFault`, `SessionBusy`.
    """
    if session.environment_of != tuple(session.history.in_force):  # it is built anew as it is
        return
    memory, skills = await memory_for(session), await skills_section_of(session)
    reason = "memory" if memory.standing != session.surroundings.memory.standing else ""
    reason = reason or ("skills" if skills != session.prompt_basis.skills else "")
    if reason:
        stamp = session.stamp()
        await session.append(lambda seq: ResumeEntry(**stamp, seq=seq, reason=reason))


async def with_memory(
    session: Session, turn_id: str, proposal: Proposal, response: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A call's response, with the memory files of the folders that it touched and that the model was not told of."""
    paths = [touched.path for touched in proposal.touched if touched.is_inside]
    files = await _news(session, turn_id, [*paths, proposal.cwd] if proposal.cwd else paths)
    if not files:
        return response
    return {**response, RESPONSE_KEY: [{"file": file.path, "text": file.text} for file in files]}


async def attach_memory(session: Session, client: Client, turn_id: str, attached: Attached) -> None:
    """The same for the files that the editor has open: they go along with the prompt."""
    left = MAX_CHARACTERS - sum(len(str(part.get("text"))) for part in attached.parts)
    paths = [file.on_disk for file in client.editor.files()]
    opened = [path for path in paths if path and path not in client.editor.excluded]
    for file in await _news(session, turn_id, opened[:MAX_OPEN]):
        left -= len(file.text)
        if left < 0:
            attached.withhold(file.path, "there is no room for it")
            continue
        attached.parts.append(memory_part(file.path, file.text))
        attached.attachments.append(Attachment(path=file.path))


async def _news(session: Session, turn_id: str, paths: Iterable[str]) -> list[MemoryFile]:
    """The files around the paths that the model was not told of; from now on they count as told."""
    memory = session.services.memory
    wanted = list(dict.fromkeys(paths))
    if memory is None or not wanted or not session.services.with_environment:
        return []
    standing = session.surroundings.memory
    try:
        files = [_bounded(file) for file in await memory.around(wanted)]
    except Exception:  # a call that was made has its result, and a prompt its answer, whatever goes wrong here
        logger.exception("Memory files around what is touched could not be read")
        return []
    told, left = _told_in(session, turn_id), MAX_AT_ONCE
    fresh: list[MemoryFile] = []
    for file in files:
        if (file.path, file.text) not in told and not _stands(file, standing) and len(file.text) <= left:
            left -= len(file.text)
            fresh.append(file)
    told.update((file.path, file.text) for file in fresh)  # nothing is awaited since it was looked at
    return fresh


def _bounded(file: MemoryFile) -> MemoryFile:
    """The file with as much of its text as goes along with something else."""
    if len(file.text) <= MAX_TEXT:
        return file
    return msgspec.structs.replace(file, text=f"{file.text[:MAX_TEXT]}\n[cut here: read the file for the rest]")


def _stands(file: MemoryFile, standing: Tiers) -> bool:
    """Whether every request has the file's text already."""
    return bool(file.text) and file.path not in standing.below and f"{file.path} ---\n{file.text}\n" in standing.project


def _told_in(session: Session, turn_id: str) -> Told:
    history, known = session.history, _told.get(session)
    if known is None or known[:2] != (turn_id, history.epoch):
        known = (turn_id, history.epoch, set(_told_by(session)))
        _told[session] = known
    return known[2]


def _told_by(session: Session) -> Iterable[tuple[str, str]]:
    for item in session.history.items:
        for part in item.content.parts:
            if (response := response_of(part)) is not None:
                yield from _of_response(response)
            elif item.kind == "prompt" and (attached := read_attachment(part)) is not None:
                yield attached.path, attached.text


def _of_response(response: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    inner = response.get("response")
    listed: object = cast("dict[str, object]", inner).get(RESPONSE_KEY) if isinstance(inner, dict) else None
    for each in cast("list[object]", listed) if isinstance(listed, list) else ():
        match each:
            case {"file": str(path), "text": str(text)}:
                yield path, text
            case _:
                pass
