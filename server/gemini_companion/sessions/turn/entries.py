"""The log entries of a turn."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.escapes import for_model, value_for_model
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import (
    ModelChangeEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    TurnEndEntry,
    TurnOutcome,
)
from gemini_companion.engine.history.shown import Shown
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.engine.history.usage import Usage, sum_of
from gemini_companion.engine.hooks.merging import hook_context
from gemini_companion.sessions.context.mentions import Attached
from gemini_companion.sessions.events import ModelChanged
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.turn.streaming import Answer

_SENT_BACK: Final = "A hook in the user's settings does not accept this answer yet. Go on by what it says:"


class TurnEntries:
    """Makes the entries of one turn, for `Session.append`."""

    def __init__(self, session: Session, turn_id: str) -> None:
        self._session = session
        self._turn_id = turn_id

    def prompt(self, content: Content, client_id: str, attached: Attached, model: str, hook_contexts: int = 0) -> Draft:
        """The prompt, with what it names; `model` is the one that was asked for, and the last `hook_contexts` parts are
        of hooks.
        """
        stamp, content = self._session.stamp(), Content(role=content.role, parts=value_for_model(content.parts))
        return lambda seq: PromptEntry(
            **stamp,
            seq=seq,
            turn_id=self._turn_id,
            content=content,
            client=client_id,
            attachments=tuple(attached.attachments),
            withheld=tuple(attached.withheld),
            model=model,
            hook_contexts=hook_contexts,
            command=attached.command,
        )

    def sent_back(self, reason: str) -> Draft:
        """What a hook says to a finished answer: the turn goes on with it."""
        stamp, content = (
            self._session.stamp(),
            Content(role="user", parts=({"text": _SENT_BACK}, {"text": for_model(hook_context(reason))})),
        )
        return lambda seq: SteerEntry(**stamp, seq=seq, turn_id=self._turn_id, content=content, hook_contexts=2)

    def contexts(self, parts: tuple[Part, ...]) -> Draft:
        """What hooks add to a turn that is gone on with."""
        stamp, content = self._session.stamp(), Content(role="user", parts=value_for_model(parts))
        return lambda seq: SteerEntry(
            **stamp, seq=seq, turn_id=self._turn_id, content=content, hook_contexts=len(parts)
        )

    def cleared(self) -> Draft:
        """From here on the view is empty: a hook has the model forget."""
        stamp = self._session.stamp()
        return lambda seq: ResumeEntry(**stamp, seq=seq, reason="clear")

    def reply(self, answer: Answer, model: str) -> Draft:
        """An answer of the model."""
        stamp, content = self._session.stamp(), Content(role="model", parts=answer.parts)
        return lambda seq: ReplyEntry(
            **stamp,
            seq=seq,
            turn_id=self._turn_id,
            content=content,
            model=model,
            finish_reason=answer.finish_reason,
            usage=answer.usage or Usage(),
        )

    def end(
        self,
        outcome: TurnOutcome,
        *,
        kept_to: int | None = 0,
        reason: str = "",
        by: str = "",
        duration_ms: int | None = None,
        shown: Shown | None = None,
    ) -> Draft:
        """The turn's end. `kept_to` is the last entry that stays; `None`: all before this one."""
        stamp = self._session.stamp()
        return lambda seq: TurnEndEntry(
            **stamp,
            seq=seq,
            turn_id=self._turn_id,
            outcome=outcome,
            kept_to=seq if kept_to is None else kept_to,
            reason=reason,
            by=by,
            duration_ms=duration_ms,
            shown=shown,
        )

    def replaced(self, turn_id: str | None) -> list[Draft]:
        """The end of the turn that this one replaces, to be written with the answer."""
        if turn_id is None:
            return []
        stamp = self._session.stamp()
        return [lambda seq: TurnEndEntry(**stamp, seq=seq, turn_id=turn_id, outcome="replaced", by=self._turn_id)]

    def model_change(self, asked: str | None) -> tuple[ModelChanged | None, list[Draft]]:
        """The change to the model that the request named; written with its first answer, so only once it has worked."""
        session = self._session
        if not asked or asked == session.meta.model:
            return None, []
        services, stamp, reason = session.services, session.stamp(), "named in the request"
        before = services.models.choose(services.settings(), session_model=session.meta.model).asked
        change = ModelChanged(from_=before, to=asked, reason=reason) if before != asked else None
        return change, [lambda seq: ModelChangeEntry(**stamp, seq=seq, model=asked, reason=reason)]

    def usage(self) -> Usage:
        """The sums over the turn's requests, as far as their answers are written."""
        if not self._session.transcript.has_prompt(self._turn_id):  # else the whole log would be looked through
            return Usage()
        usages: list[Usage] = []
        for entry in reversed(self._session.history.entries):
            if isinstance(entry, PromptEntry | ReplyEntry) and entry.turn_id == self._turn_id:
                if isinstance(entry, PromptEntry):
                    break
                usages.append(entry.usage or Usage())
        return sum_of(usages)


def prompt_content(prompt: tuple[Part, ...], attached: Attached, contexts: tuple[Part, ...] = ()) -> Content:
    """The prompt's own parts, what it stands for if it is a slash command, the attached files, and what hooks add."""
    return Content(role="user", parts=(*prompt, *attached.expansion, *attached.parts, *contexts))
