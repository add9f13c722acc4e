"""What a prompt names, looked up while it is being written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.media_types import media_type
from gemini_companion.engine.prompts.mentions import MAX_MENTIONS, Mention, places_in, without_code
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.mentions import (
    BEGINNING,
    HUGE_BYTES,
    MAX_FILES,
    MAX_MEDIA_BYTES,
    MEDIA_TOO_LARGE,
    TOO_LARGE,
    TOO_MANY,
)
from gemini_companion.sessions.context.open_files import NOT_TEXT, NOT_TRUSTED
from gemini_companion.sessions.context.reports import MentionCheck, PromptCheck
from gemini_companion.sessions.context.servers import names_resource
from gemini_companion.sessions.ports import Named
from gemini_companion.sessions.services import Services

MISSING: Final = "no such file or folder in the workspace"
OUTSIDE: Final = "outside the workspace folders"


async def check_prompt(services: Services, client: Client, prompt: str) -> PromptCheck:
    """What the prompt mentions, and whether it goes along. Fenced code mentions only what there is."""
    if "@" not in prompt:
        return PromptCheck(mentions=())
    places = places_in(prompt)[:MAX_MENTIONS]
    named = await services.workspace.find([place.paths for place in places], client.folders)
    outside_code = {place.paths for place in places_in(without_code(prompt))}
    checked: list[MentionCheck] = []
    for place, found in zip(places, named, strict=True):
        if found is not None:
            is_room = sum(check.found != "nothing" for check in checked) < MAX_FILES
            checked.append(await _found(services, client, place.written, found, is_room=is_room))
        elif names_resource(services, place.paths):
            checked.append(MentionCheck(written=place.written, found="resource"))
        elif place.paths in outside_code and place.looks_like_a_path:
            reason = OUTSIDE if _is_outside(place, client.folders) else MISSING
            checked.append(MentionCheck(written=place.written, found="nothing", reason=reason))
    return PromptCheck(mentions=tuple(checked))


async def _found(services: Services, client: Client, written: str, named: Named, *, is_room: bool) -> MentionCheck:
    reason = named.withheld.reason if named.withheld else "" if is_room else TOO_MANY
    if not reason and not named.is_folder:
        reason = await _hindrance(services, client, named)
    found = "nothing" if reason else "folder" if named.is_folder else "file"
    return MentionCheck(written=written, found=found, path=named.path, reason=reason)


async def _hindrance(services: Services, client: Client, named: Named) -> str:
    """Why a file that may be shown is not attached, as far as its beginning tells; empty if it is."""
    if not services.trusted():
        return NOT_TRUSTED
    if client.editor.buffer(named.path) is not None:
        return ""
    if named.size > HUGE_BYTES:
        return TOO_LARGE
    beginning = await services.workspace.read_bytes(named.path, limit=BEGINNING)
    if beginning and media_type(named.path, beginning) is not None:
        return MEDIA_TOO_LARGE if named.size > MAX_MEDIA_BYTES else ""
    return "" if await services.workspace.read_text(named.path, limit=BEGINNING) is not None else NOT_TEXT


def _is_outside(place: Mention, folders: Sequence[str]) -> bool:
    path = place.paths[-1]
    if not os.path.isabs(path):
        return path.startswith("..")
    return not any(_is_below(folder, path) for folder in folders)


def _is_below(folder: str, path: str) -> bool:
    try:
        return os.path.commonpath((folder, os.path.normpath(path))) == os.path.normpath(folder)
    except ValueError:  # on another drive
        return False
