"""The IDE context of a turn: what of the client's editor may be shown and is not known to the model yet."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from gemini_companion.engine.escapes import for_model
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import IdeContextEntry, Withheld
from gemini_companion.engine.ide_context.policy import Baseline, Send, decide, is_full_due
from gemini_companion.engine.ide_context.receipt import base_name
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.open_files import TAKEN_OUT, OpenFiles, look
from gemini_companion.sessions.context.reports import ContextPreview
from gemini_companion.sessions.events import IdeContextSent
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.models.port import OpenDocument
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session

DOCUMENT_CHARACTERS: Final = 400_000
"""Characters of one open file that a model provider on this machine reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueContext:
    """The IDE context to send ahead of the next prompt."""

    send: Send
    client_id: str
    epoch: int
    is_full: bool
    """Whether the full context was due, even if there was nothing to send."""
    more_open_files: int = 0
    """Open files that are left out because only so many go along."""

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
        stamp, content = session.stamp(), user_text(for_model(self.text or ""))
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
            closed=receipt.closed,
            texts=receipt.texts,
            selection_chars=receipt.selection_chars,
            selection_cut=receipt.selection_cut,
            more_open_files=self.more_open_files,
            withheld=receipt.withheld,
        )

    def receipt(self) -> IdeContextSent:
        """The event that reports what was sent and what was withheld."""
        receipt = self.send.receipt
        return IdeContextSent(
            kind="full" if receipt.kind == "full" or (receipt.kind == "none" and self.is_full) else "delta",
            files=receipt.files,
            closed=receipt.closed,
            texts=receipt.texts,
            selection_chars=receipt.selection_chars,
            selection_cut=receipt.selection_cut,
            more_open_files=self.more_open_files,
            withheld=receipt.withheld,
        )

    def preview(self, opened: OpenFiles) -> ContextPreview:
        """The result of `gemini/context/preview`."""
        receipt = self.send.receipt
        return ContextPreview(
            kind=receipt.kind,
            files=receipt.files,
            closed=receipt.closed,
            texts=receipt.texts,
            withheld=receipt.withheld,
            selection_chars=receipt.selection_chars,
            selection_cut=receipt.selection_cut,
            more_open_files=self.more_open_files,
            open_files=opened.listed,
            text=self.send.text,
        )


async def prepare_context(session: Session, client: Client) -> DueContext:
    """Decide what is sent ahead of this client's next prompt. Changes nothing: what was sent is read from the view."""
    opened = await look(session.services, client, client.folders or session.meta.workspace_folders)
    await _show_documents(session, client, opened)
    return await _due(opened, client, session)


async def preview_context(services: Services, client: Client, session: Session | None = None) -> ContextPreview:
    """What would be sent ahead of this client's next prompt; without `session`, of the first one of a new session."""
    folders = client.folders or (session.meta.workspace_folders if session is not None else ())
    opened = await look(services, client, folders)
    return (await _due(opened, client, session)).preview(opened)


async def _due(opened: OpenFiles, client: Client, session: Session | None) -> DueContext:
    history = session.history if session is not None else None
    baseline = session.editor_knowledge.baseline() if session is not None else None
    previous = history.previous_client if history is not None else None
    epoch = history.epoch if history is not None else 0
    call_open = history is not None and history.has_open_call()
    withheld = (*opened.withheld, *_taken_back(client, baseline))
    send = await asyncio.to_thread(
        decide,
        baseline,
        opened.state,
        client=client.client_id,
        epoch=epoch,
        previous_turn_client=previous,
        call_open=call_open,
        withheld=withheld,
    )
    return DueContext(
        send=send,
        client_id=client.client_id,
        epoch=epoch,
        is_full=is_full_due(baseline, client=client.client_id, epoch=epoch, previous_turn_client=previous),
        more_open_files=opened.more,
    )


def _taken_back(client: Client, baseline: Baseline | None) -> list[Withheld]:
    """Excluded files that are closed and that the model still takes for open: it now gets their closing."""
    known = baseline.known.open if baseline is not None else frozenset[str]()
    gone = client.editor.excluded.intersection(known).difference(file.path for file in client.editor.files())
    return [Withheld(name=base_name(path), reason=TAKEN_OUT) for path in sorted(gone)]


async def _show_documents(session: Session, client: Client, opened: OpenFiles) -> None:
    """Give the files that may be shown to a provider that runs on this machine, and to no other one."""
    if not session.choice().provider.capabilities.reads_documents:
        client.editor.show_documents(())
        return
    documents: list[OpenDocument] = []
    own = {file.path: file.text for file in client.editor.files() if file.text is not None}
    for file in opened.state.files:
        buffer = client.editor.buffer(file.path)
        if file.path in own:
            text = own[file.path] if session.services.trusted() else None
        elif buffer:
            text = buffer.text
        else:
            text = await session.services.workspace.read_text(file.path, limit=DOCUMENT_CHARACTERS)
        if text is not None:
            selection = client.editor.selected_lines(file.path) if file.is_active else None
            documents.append(
                OpenDocument(
                    path=file.path, text=text[:DOCUMENT_CHARACTERS], is_active=file.is_active, selection=selection
                )
            )
    client.editor.show_documents(documents)
