"""A connection's person and editor, asked: by our own requests where the client has them, else by LSP's.

Whatever goes wrong on the way is no answer, and no answer is no.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeVar

import msgspec

from gemini_companion.protocol.applying import workspace_edit
from gemini_companion.protocol.client_types import (
    AskUserParams,
    AskUserResult,
    ConfirmToolParams,
    ConfirmToolResult,
    DiagnosticsParams,
    DiagnosticsResult,
    SaveDocumentParams,
    SaveDocumentResult,
)
from gemini_companion.protocol.connection import ClientFault, Connection
from gemini_companion.protocol.messages import WARNING
from gemini_companion.protocol.question_text import text_of_question
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.tool_results import ToolQuestion
from gemini_companion.tools.consent_texts import visible_line, visible_prose
from gemini_companion.tools.documents import Diagnostic, EditAnswer, FileDiagnostics

R = TypeVar("R")

YES: Final = "Yes"
YES_FOR_THE_SESSION: Final = "Yes for this session"
NO: Final = "No"
NO_ANSWER: Final = "No answer"

_LONGEST_REASON: Final = 4_000
_LONGEST_CONTENT: Final = 10_000_000
_LONGEST_ANSWER: Final = 1_000_000
"""Characters; the result of a tool is cut to what fits anyway, with its whole kept."""
_MOST_DIAGNOSTICS: Final = 200
_MARGIN: Final = 2.0
"""Seconds for the way there and back."""
_SAVE_SECONDS: Final = 10.0
_EDIT_SECONDS: Final = 60.0
"""For an edit: some editors ask the person first."""
_NOTICE_SECONDS: Final = 0.02
_NOTICE_LOOKS: Final = 50
"""How often, and how many times, an open document is looked at after an edit, until it shows it."""


class _Choice(msgspec.Struct, frozen=True):
    """LSP's `MessageActionItem`."""

    title: str


class _Applied(msgspec.Struct, frozen=True):
    """LSP's `ApplyWorkspaceEditResult`."""

    applied: bool


class ConnectionAsker:
    """One connection as sessions ask it. `supports` are the requests that the client said it answers, `uri_of` gives
    the client's own URI of a path.
    """

    def __init__(
        self,
        connection: Connection,
        supports: Collection[str],
        uri_of: Callable[[str], str],
        *,
        edit_seconds: float = _EDIT_SECONDS,
    ) -> None:
        self._connection = connection
        self._supports = frozenset(supports)
        self._uri_of = uri_of
        self._edit_seconds = edit_seconds

    async def confirm(self, question: ToolQuestion, seconds: float) -> ConsentAnswer | None:
        """May this call go ahead? `None` without an answer in time."""
        if "confirmTool" not in self._supports:
            return await self._confirm_by_message(question, seconds)
        text = text_of_question(question) if "questionText" in self._supports else ""
        params = ConfirmToolParams(**{name: getattr(question, name) for name in question.__struct_fields__}, text=text)
        answer = await self._request("gemini/confirmTool", params, ConfirmToolResult, seconds)
        if answer is None or len(answer.edited_content or "") > _LONGEST_CONTENT:
            return None
        return ConsentAnswer(
            outcome=answer.outcome,
            edited_args=answer.edited_args,
            edited_content=answer.edited_content,
            reason=(answer.reason or "")[:_LONGEST_REASON],
            rule=answer.rule,
        )

    async def ask(
        self, session_id: str, call_id: str, question: str, options: Sequence[str], *, allows_text: bool, seconds: float
    ) -> str | None:
        """The person's answer: an option's text or, where that is welcome and the client can, their own words."""
        shown = {visible_line(option): option for option in options}
        question = visible_prose(question)
        if "askUser" in self._supports:
            params = AskUserParams(
                session_id=session_id,
                tool_call_id=call_id,
                question=question,
                options=tuple(shown),
                allows_text=allows_text,
            )
            given = await self._request("gemini/askUser", params, AskUserResult, seconds)
            answer = given.answer if given is not None else None
        else:
            answer = await self._choose(question, (NO_ANSWER, *shown), seconds) if shown else None
            answer = answer if answer in shown else None
        answer = shown.get(answer, answer) if answer is not None else None
        if answer is None or (not allows_text and answer not in options):
            return None
        left_out = len(answer) - _LONGEST_ANSWER
        return answer if left_out <= 0 else f"{answer[:_LONGEST_ANSWER]}\n[… {left_out:,} characters left out …]"

    async def diagnostics(self, paths: Sequence[str], *, wait_ms: int) -> tuple[FileDiagnostics, ...] | None:
        """What the editor reports for absolute paths; `None` if it cannot say."""
        if "diagnostics" not in self._supports:
            return None
        params = DiagnosticsParams(paths=tuple(paths), wait_ms=wait_ms)
        found = await self._request("gemini/diagnostics", params, DiagnosticsResult, wait_ms / 1000 + _MARGIN)
        if found is None:
            return None
        wanted = frozenset(paths)
        return tuple(
            FileDiagnostics(
                path=file.path,
                diagnostics=tuple(
                    Diagnostic(
                        line=max(1, one.line),
                        severity=one.severity,
                        message=one.message[:2_000],
                        source=one.source[:100],
                        code=one.code[:100],
                    )
                    for one in file.diagnostics[:_MOST_DIAGNOSTICS]
                ),
                is_current=file.is_current,
            )
            for file in found.files
            if file.path in wanted
        )

    async def apply_edit(self, path: str, before: str, after: str, label: str) -> EditAnswer:
        """Turn an open document's text from one into the other. The editor may ask the person first."""
        if not self._connection.is_open or not self._connection.supports("workspace.applyEdit"):
            return "unable"
        uri = self._uri_of(path)
        document = self._connection.documents.opened(uri)
        if document is None:
            return "unable"
        if document.source != before:
            return "refused"
        edit = workspace_edit(self._connection, uri, document.version, before, after, label)
        params = {"label": label, "edit": edit}
        try:
            answer = await self._connection.send_request(
                "workspace/applyEdit", params, _Applied, timeout=self._edit_seconds
            )
        except TimeoutError:
            # It may have made it without saying so: then its notice of the new text has come.
            document = self._connection.documents.opened(uri)
            return "made" if document is not None and document.source == after else "unanswered"
        except ClientFault:
            return "refused" if self._connection.is_open else "unanswered"
        if not answer.applied:
            return "refused"
        await self._until_told(uri, before)
        return "made"

    async def save(self, path: str) -> bool:
        """Have the editor write an open document; false if it does not know how, or did not."""
        if "saveDocument" not in self._supports:
            return False
        answer = await self._request(
            "gemini/saveDocument", SaveDocumentParams(path=path), SaveDocumentResult, _SAVE_SECONDS
        )
        return answer is not None and answer.saved

    async def _until_told(self, uri: str, before: str) -> None:
        """Wait, but not for long, for the notice of an edit: editors that gather changes send it after their answer."""
        for _ in range(_NOTICE_LOOKS):
            document = self._connection.documents.opened(uri)
            if document is None or document.source != before or not self._connection.is_open:
                return
            await asyncio.sleep(_NOTICE_SECONDS)

    async def _confirm_by_message(self, question: ToolQuestion, seconds: float) -> ConsentAnswer | None:
        # "No" comes first: eglot types the first one in already, and a bare RET takes it.
        offered = (NO, YES, YES_FOR_THE_SESSION) if question.rule is not None else (NO, YES)
        match await self._choose(text_of_question(question), offered, seconds):
            case "Yes":
                return ConsentAnswer(outcome="once")
            case "Yes for this session" if question.rule is not None:
                return ConsentAnswer(outcome="session")
            case "No":
                return ConsentAnswer(outcome="reject")
            case _:
                return None

    async def _choose(self, text: str, options: Sequence[str], seconds: float) -> str | None:
        params = {"type": WARNING, "message": text, "actions": [{"title": option} for option in options]}
        choice = await self._request("window/showMessageRequest", params, _Choice, seconds)
        return choice.title if choice is not None and choice.title in options else None

    async def _request(self, method: str, params: Any, result: type[R], seconds: float) -> R | None:
        try:
            return await self._connection.send_request(method, params, result, timeout=seconds)
        except (ClientFault, TimeoutError):
            return None
