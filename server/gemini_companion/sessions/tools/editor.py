"""The editor and the person behind a client, as one call of a tool sees them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.editor import Buffer as OpenBuffer
from gemini_companion.sessions.session import Session
from gemini_companion.tools.documents import Buffer, EditAnswer, FileDiagnostics, Saved
from gemini_companion.tools.ports import PersonsAnswer

WAIT_MS: Final = 2_000
"""How long the editor may take to look at a text that has just changed."""


class ClientEditor:
    """A client's open documents, and whoever sits before them."""

    def __init__(self, session: Session, client: Client, call_id: str) -> None:
        self._session = session
        self._client = client
        self._call_id = call_id

    def buffer(self, path: str) -> Buffer | None:
        """The open document of an absolute path; the editor may know it by a path with links."""
        opened = self._opened(path)
        return None if opened is None else Buffer(path=path, text=opened[1].text, is_dirty=opened[1].maybe_dirty)

    def unsaved(self) -> tuple[Buffer, ...]:
        """The open documents that may differ from the disk, by their real paths."""
        return tuple(
            Buffer(path=os.path.realpath(path), text=buffer.text, is_dirty=True)
            for path, buffer in self._client.editor.buffers()
            if buffer.maybe_dirty
        )

    def saved(self) -> Mapping[str, Saved]:
        """The documents that were saved last, by their real paths."""
        return {os.path.realpath(path): saved for path, saved in self._client.editor.saved().items()}

    async def diagnostics(self, paths: Sequence[str], *, wait: bool) -> tuple[FileDiagnostics, ...] | None:
        """What it reports for files; `None` if it cannot say."""
        asker = self._client.asker
        return None if asker is None else await asker.diagnostics(paths, wait_ms=WAIT_MS if wait else 0)

    async def apply_edit(self, path: str, text: str, label: str) -> EditAnswer:
        """Give an open document a new text."""
        asker, opened = self._client.asker, self._opened(path)
        if asker is None or opened is None:
            return "unable"
        return await asker.apply_edit(opened[0], opened[1].text, text, label)

    async def save(self, path: str) -> bool:
        """Have it write an open document to the disk; false if it is not open, or if the editor cannot or did not."""
        asker, opened = self._client.asker, self._opened(path)
        return asker is not None and opened is not None and await asker.save(opened[0])

    def _opened(self, path: str) -> tuple[str, OpenBuffer] | None:
        """The document and the path that the editor knows it by."""
        editor = self._client.editor
        found = editor.buffer(path)
        if found is not None:
            return path, found
        return next((one for one in editor.buffers() if os.path.realpath(one[0]) == path), None)

    async def ask(self, question: str, options: Sequence[str], *, allows_text: bool) -> PersonsAnswer | None:
        """Ask the person; `None` if there is no answer in time."""
        asker = self._client.asker
        if asker is None:
            return None
        session, agent = self._session, self._session.meta.agent
        if session.caller is not None and agent is not None:
            question = f"{agent.definition.title}: {question}"
        answer = await asker.ask(
            session.principal.session_id,
            self._call_id,
            question,
            options,
            allows_text=allows_text,
            seconds=session.services.settings().tools.question_seconds,
        )
        return None if answer is None else PersonsAnswer(text=answer)


def can_ask(client: Client) -> bool:
    """Whether there is somebody to be asked."""
    return client.asker is not None
