"""What a subagent does, told to those who follow the chat that it works for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gemini_companion.sessions.agent_events import ActivityKind, AgentActivity
from gemini_companion.sessions.compression_events import CompressionCompleted
from gemini_companion.sessions.events import (
    BudgetUsed,
    Event,
    LoopDetected,
    MessageDelta,
    MessageDiscarded,
    SlotKind,
    ToolCallCompleted,
    ToolCallStarted,
    ToolQuestionAnswered,
    ToolQuestionAsked,
    UsageUpdated,
    WaitingForSlot,
)
from gemini_companion.sessions.session import Session

MAX_TEXT: Final = 200
"""Characters of a line."""


class Activity:
    """Hears the events of an agent's session, and tells the chat in lines what they come to.

    Questions go on as they are, so that everybody who follows the chat sees them. `waits` is told when the agent begins
    to wait for a person, or for a slot, and when it goes on.
    """

    def __init__(self, chat: Session, turn_id: str, call_id: str, agent: Session, title: str) -> None:
        self.calls = 0
        """Calls that ended."""
        self.waits: Callable[[bool], None] = lambda is_waiting: None
        self._chat = chat
        self._turn_id = turn_id
        self._call_id = call_id
        self._agent = agent
        self._title = title
        self._tokens = 0
        self._titles: dict[str, str] = {}
        self._said: list[str] = []
        self._asked: set[str] = set()
        self._slots: set[SlotKind] = set()
        self._shown: set[str] = set()
        """Calls that were asked about: the chat shows them, and is told how they end."""

    def hear(self, event: Event, turn_id: str | None) -> None:
        """An event of the agent's session."""
        match event:
            case UsageUpdated():
                self._tokens = event.token_count
            case MessageDelta():
                self._said.append(event.text)
            case MessageDiscarded():
                self._said.clear()
            case ToolCallStarted(state="running"):
                self.tell_said()
                self._titles[event.tool_call_id] = event.title or event.name
                self.tell("tool", event.title or event.name)
            case ToolCallCompleted():
                self.calls += 1
                if event.tool_call_id in self._shown:
                    self._chat.emit(event, self._turn_id)
                title = self._titles.pop(event.tool_call_id, "")
                self.tell("toolEnded", ": ".join(filter(None, (title, event.summary or event.outcome))))
            case CompressionCompleted() if event.result.status in ("COMPRESSED", "CONTENT_TRUNCATED"):
                self.tell("compressed", event.result.message)
            case BudgetUsed() | LoopDetected():
                self._chat.emit(event, self._turn_id)
            case ToolQuestionAsked():
                self._asked.add(event.question.tool_call_id)
                self._shown.add(event.question.tool_call_id)
                self._tell_waits()
                self._chat.emit(event, self._turn_id)
            case ToolQuestionAnswered():
                self._asked.discard(event.tool_call_id)
                self._chat.emit(event, self._turn_id)
                self._tell_waits()
            case WaitingForSlot():
                (self._slots.discard if event.is_over else self._slots.add)(event.kind)
                self._chat.services.slots.note(self._chat, event.kind, self._turn_id, waits=not event.is_over)
                self._tell_waits()
            case _:
                pass

    def leave_slots(self) -> None:
        """It waits for none any more: it was stopped, and may not say so itself."""
        for kind in self._slots:
            self._chat.services.slots.note(self._chat, kind, self._turn_id, waits=False)
        self._slots.clear()

    def _tell_waits(self) -> None:
        self.waits(bool(self._asked or self._slots))

    def tell_said(self) -> None:
        """What it said since the last call, if anything: its first line."""
        said, self._said = " ".join("".join(self._said).split()), []
        if said:
            self.tell("said", said)

    def tell(self, kind: ActivityKind, text: str) -> None:
        """A line for the chat."""
        self._chat.emit(
            AgentActivity(
                tool_call_id=self._call_id,
                agent=self._title,
                agent_session_id=self._agent.session_id,
                kind=kind,
                text=text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…",
                tokens=self._tokens,
            ),
            self._turn_id,
        )
