"""The open files of a client's editor: which of them may be shown, with their texts as far as these may go along."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from gemini_companion.engine.history.log import Withheld
from gemini_companion.engine.ide_context.normalise import normalise
from gemini_companion.engine.ide_context.receipt import base_name, extent_of, masked_secrets
from gemini_companion.engine.ide_context.state import EditorState, OpenFile
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.reports import ContextFile
from gemini_companion.sessions.ports import WorkspaceFiles
from gemini_companion.sessions.services import Services

MAX_TEXT: Final = 2_000_000
"""Characters of the active file's text that are looked at; of a longer one only the path goes along."""

TAKEN_OUT: Final = "taken out by you"
"""Why a file is withheld that the user excluded."""
NOT_TRUSTED: Final = "the workspace is not trusted"
NOT_TEXT: Final = "not a text file"
_TOO_LONG: Final = f"longer than {MAX_TEXT:,} characters"
_NOTEBOOK: Final = "a notebook"  # one of whose cells none is worked in
_NOTEBOOK_ENDING: Final = ".ipynb"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFiles:
    """What a client has open."""

    state: EditorState
    """What may be shown."""
    withheld: tuple[Withheld, ...]
    listed: tuple[ContextFile, ...]
    """Everything, the last focused first."""
    more: int
    """How many files may be shown and are left out, because only so many go along."""


async def look(services: Services, client: Client, folders: Sequence[str]) -> OpenFiles:
    """The client's open files, checked against the workspace `folders`, the newest ones with their texts."""
    settings = services.settings()
    editor = client.editor
    files = sorted(editor.files(), key=lambda file: file.last_focused_at, reverse=True)
    refused = await _refused(services.workspace, client, files, folders)
    admitted = [file for file in files if refused.get(file.path) is None]
    newest = [
        await _with_text(services, client, file, is_first=index == 0)
        for index, file in enumerate(admitted[: settings.ide_max_open_files])
    ]
    state = await asyncio.to_thread(
        normalise,
        newest,
        is_trusted=client.trusted,
        max_files=settings.ide_max_open_files,
        max_active_text=settings.ide_active_file_characters,
    )
    placeless = [Withheld(name=file.name, reason=file.reason) for file in editor.placeless]
    return OpenFiles(
        state=state,
        withheld=(*(reason for reason in refused.values() if reason is not None), *placeless),
        listed=tuple(_listed(client, files, refused, state, settings.ide_max_open_files)),
        more=len({file.path for file in admitted}) - len(state.files),
    )


async def withheld_reason(workspace: WorkspaceFiles, client: Client, path: str) -> Withheld | None:
    """Why a file of the client's editor is withheld, `None` if it may be shown. `path` is absolute."""
    if path in client.editor.excluded:
        return Withheld(name=base_name(path), reason=TAKEN_OUT)
    return (await workspace.admit([path], client.folders))[path]


async def _refused(
    workspace: WorkspaceFiles, client: Client, files: Sequence[OpenFile], folders: Sequence[str]
) -> dict[str, Withheld | None]:
    """For each path why it is withheld, `None` if it may be shown."""
    excluded = client.editor.excluded
    paths = [file.on_disk for file in files if file.on_disk and file.on_disk not in excluded]
    verdicts = await workspace.admit(paths, folders)
    return {
        file.path: Withheld(name=base_name(file.on_disk), reason=TAKEN_OUT)
        if file.on_disk in excluded
        else verdicts.get(file.on_disk)
        for file in files
    }


async def _with_text(services: Services, client: Client, file: OpenFile, *, is_first: bool) -> OpenFile:
    """The file with its text if it is the active one or unsaved, or with the reason why that does not go along."""
    is_active = is_first and file.is_active
    if file.text is not None:  # no file holds it
        reason = NOT_TRUSTED if not services.trusted() else _TOO_LONG if len(file.text) > MAX_TEXT else ""
        return msgspec.structs.replace(
            file, text=None if reason else file.text, path_only=reason if is_active else "", diagnostics=()
        )
    if not is_active and not file.is_unsaved:
        return file
    buffer = client.editor.buffer(file.path)
    text = buffer.text if buffer is not None else None
    is_unsaved = file.is_unsaved and text is not None and not await _equals_disk(services.workspace, file.path, text)
    if text is None and services.trusted():
        text = await services.workspace.read_text(file.path, limit=MAX_TEXT + 1)
    reason = _path_only(services, file.path, text)
    if reason == NOT_TRUSTED:
        file = msgspec.structs.replace(file, diagnostics=())  # they quote the text
    return msgspec.structs.replace(
        file, text=None if reason else text, is_unsaved=is_unsaved, path_only=reason if is_active else ""
    )


def _path_only(services: Services, path: str, text: str | None) -> str:
    """Why a text does not go along, empty if it does."""
    if not services.trusted():
        return NOT_TRUSTED
    if path.lower().endswith(_NOTEBOOK_ENDING):
        return _NOTEBOOK
    if text is None or "\0" in text:
        return NOT_TEXT
    return _TOO_LONG if len(text) > MAX_TEXT else ""


async def _equals_disk(workspace: WorkspaceFiles, path: str, text: str) -> bool:
    on_disk = await workspace.read_text(path, limit=len(text) + 1 + text.count("\n"))  # which may have \r\n
    return on_disk is not None and on_disk.replace("\r\n", "\n") == text.replace("\r\n", "\n")


def _listed(
    client: Client,
    files: Sequence[OpenFile],
    refused: dict[str, Withheld | None],
    state: EditorState,
    max_files: int,
) -> Iterator[ContextFile]:
    sent = {file.path: file for file in state.files}
    for path in dict.fromkeys(file.path for file in files):
        named = ContextFile(uri=client.editor.uri(path), name=base_name(path), extent="none")
        withheld, file = refused[path], sent.get(path)
        if withheld is not None:
            yield msgspec.structs.replace(named, reason=withheld.reason)
        elif file is None:
            yield msgspec.structs.replace(named, reason=f"only {max_files} open files go along")
        else:
            yield _sent(named, file)
    for placeless in client.editor.placeless:
        yield ContextFile(uri=placeless.uri, name=placeless.name, extent="none", reason=placeless.reason)


def _sent(named: ContextFile, file: OpenFile) -> ContextFile:
    """A file that goes along."""
    extent = extent_of(file.path, file.shown, is_unsaved=file.is_unsaved, reason=file.path_only)
    reasons = [extent.reason, masked_secrets(file.path, file.masked).reason if file.masked else ""]
    return msgspec.structs.replace(
        named,
        extent=extent.extent,
        is_active=file.is_active,
        lines=extent.lines,
        line_count=extent.line_count,
        unsaved=file.is_unsaved,
        selection_cut=file.selection_cut,
        reason=", ".join(filter(None, reasons)),
    )
