"""The IDE context of a turn: what of the client's editor may be shown and is not known to the model yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import IdeContextEntry, Withheld
from gemini_companion.engine.ide_context.normalise import normalise
from gemini_companion.engine.ide_context.policy import Baseline, Send, baseline_of, decide
from gemini_companion.engine.ide_context.receipt import base_name
from gemini_companion.engine.ide_context.state import EditorState, OpenFile
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.events import IdeContextSent
from gemini_companion.sessions.models.port import OpenDocument
from gemini_companion.sessions.ports import WorkspaceFiles
from gemini_companion.sessions.results import ContextPreview
from gemini_companion.sessions.session import Draft, Session

DOCUMENT_CHARACTERS: Final = 400_000
"""Characters of one open file that a model provider on this machine reads."""

TAKEN_OUT: Final = "taken out by you"
"""Why a file is withheld that the user excluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueContext:
    """The IDE context to send ahead of the next prompt."""

    send: Send
    client_id: str
    epoch: int
    is_full: bool
    """Whether the full context was due, even if there was nothing to send."""

    @property
    def text(self) -> str | None:
        """The message, or `None` if nothing is to be sent."""
        return self.send.text

    @property
    def has_news(self) -> bool:
        """True if there is a message, or something was withheld from the model."""
        return self.send.text is not None or bool(self.send.receipt.withheld)

    def tokens(self, session: Session) -> int:
        """Estimated tokens of the message, 0 without one."""
        return session.ledger.measure(user_text(self.text)).tokens if self.text else 0

    def entry(self, session: Session, turn_id: str) -> Draft:
        """The log entry of the message."""
        stamp, content = session.stamp(), user_text(self.text or "")
        kind = "delta" if self.send.kind == "delta" else "full"
        receipt = self.send.receipt
        return lambda seq: IdeContextEntry(
            **stamp,
            seq=seq,
            turn_id=turn_id,
            content=content,
            kind=kind,
            client=self.client_id,
            epoch=self.epoch,
            paths=receipt.files,
            selection_chars=receipt.selection_chars,
            withheld=receipt.withheld,
        )

    def receipt(self) -> IdeContextSent:
        """The event that reports what was sent and what was withheld."""
        receipt = self.send.receipt
        return IdeContextSent(
            kind="full" if receipt.kind == "full" or (receipt.kind == "none" and self.is_full) else "delta",
            files=receipt.files,
            selection_chars=receipt.selection_chars,
            withheld=receipt.withheld,
        )

    def preview(self) -> ContextPreview:
        """The result of `gemini/context/preview`."""
        receipt = self.send.receipt
        return ContextPreview(
            kind=receipt.kind,
            files=receipt.files,
            withheld=receipt.withheld,
            selection_chars=receipt.selection_chars,
            text=self.send.text,
        )


async def prepare_context(session: Session, client: Client) -> DueContext:
    """Decide what is sent ahead of this client's next prompt. Changes nothing: what was sent is read from the view."""
    state, withheld = await _admitted(session, client)
    history = session.history
    baseline = baseline_of(history.ide_entries)
    send = decide(
        baseline,
        state,
        client=client.client_id,
        epoch=history.epoch,
        previous_turn_client=history.previous_client,
        call_open=history.has_open_call(),
        withheld=[*withheld, *_taken_back(client, baseline)],
    )
    return DueContext(
        send=send, client_id=client.client_id, epoch=history.epoch, is_full=client.editor.is_full_due(history)
    )


async def withheld_reason(workspace: WorkspaceFiles, client: Client, path: str) -> Withheld | None:
    """Why a file of the client's editor is withheld, `None` if it may be shown. `path` is absolute."""
    if path in client.editor.excluded:
        return Withheld(name=base_name(path), reason=TAKEN_OUT)
    return (await workspace.admit([path], client.folders))[path]


async def _admitted(session: Session, client: Client) -> tuple[EditorState, list[Withheld]]:
    """The editor's state without what may not be shown, and the list of that."""
    services = session.services
    settings = services.settings()
    folders = client.folders or session.meta.workspace_folders
    files = client.editor.files()
    excluded = client.editor.excluded
    verdicts = await services.workspace.admit([file.path for file in files if file.path not in excluded], folders)
    admitted: list[OpenFile] = []
    withheld: list[Withheld] = []
    for file in files:
        reason = (
            Withheld(name=base_name(file.path), reason=TAKEN_OUT) if file.path in excluded else verdicts.get(file.path)
        )
        if reason is None:
            admitted.append(file)
        else:
            withheld.append(reason)
    newest = sorted(admitted, key=lambda file: file.last_focused_at, reverse=True)[: settings.ide_max_open_files]
    settled = [await _settle_unsaved(session, file) for file in newest]
    await _show_documents(session, client, settled)
    return normalise(settled, is_trusted=client.trusted, max_files=settings.ide_max_open_files), withheld


def _taken_back(client: Client, baseline: Baseline | None) -> list[Withheld]:
    """Excluded files that are closed and that the model still takes for open: it now gets their closing."""
    known = baseline.known.open if baseline is not None else frozenset[str]()
    gone = client.editor.excluded.intersection(known).difference(file.path for file in client.editor.files())
    return [Withheld(name=base_name(path), reason=TAKEN_OUT) for path in sorted(gone)]


async def _settle_unsaved(session: Session, file: OpenFile) -> OpenFile:
    """The file without its unsaved text where the buffer equals the file on disk."""
    if file.unsaved_text is None:
        return file
    on_disk = await session.services.workspace.read_text(file.path, limit=len(file.unsaved_text) + 1)
    if on_disk is None or on_disk.replace("\r\n", "\n") != file.unsaved_text.replace("\r\n", "\n"):
        return file
    return msgspec.structs.replace(file, unsaved_text=None)


async def _show_documents(session: Session, client: Client, files: list[OpenFile]) -> None:
    """Give the admitted files to a provider that runs on this machine, and to no other one."""
    if not session.choice().provider.capabilities.reads_documents:
        client.editor.show_documents(())
        return
    documents: list[OpenDocument] = []
    for file in files:
        buffer = client.editor.buffer(file.path)
        text = (
            buffer.text if buffer else await session.services.workspace.read_text(file.path, limit=DOCUMENT_CHARACTERS)
        )
        if text is not None:
            selection = client.editor.selected_lines(file.path) if file.is_active else None
            documents.append(
                OpenDocument(
                    path=file.path, text=text[:DOCUMENT_CHARACTERS], is_active=file.is_active, selection=selection
                )
            )
    client.editor.show_documents(documents)
