"""The events that tools make."""

from __future__ import annotations

from typing import Any, Literal

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.tool_entries import Mode, Todo, ToolOutcome
from gemini_companion.sessions.event import SessionEvent
from gemini_companion.sessions.tool_results import BackgroundCommand, ToolQuestion


class ToolCallStarted(SessionEvent, tag="toolCallStarted", frozen=True, kw_only=True):
    """The model called a tool. `waiting` until it may run; then, once more, `running`."""

    tool_call_id: str
    name: str
    args: dict[str, Any]
    """Long texts and lists in it are cut; the transcript has them whole."""
    title: str = ""
    """What it does, for people: `Read src/a.py`. English."""
    state: Literal["waiting", "running"] = "running"


class ToolCallProgress(SessionEvent, tag="toolCallProgress", frozen=True, kw_only=True):
    """More output of a running tool."""

    tool_call_id: str
    output: str


class ToolCallCompleted(SessionEvent, tag="toolCallCompleted", frozen=True, kw_only=True):
    """A call has its result, whatever it is."""

    tool_call_id: str
    outcome: ToolOutcome
    summary: str
    duration_ms: int
    consent: str = ""
    """Why it could run or not: the rule, the mode, or the person's answer."""
    name: str = ""
    """The tool's, as the model wrote it: a call that is refused at once has no `toolCallStarted`."""


class ToolQuestionAsked(SessionEvent, tag="toolQuestionAsked", frozen=True, kw_only=True):
    """A call waits for a person. The client whose prompt it is gets `gemini/confirmTool` too."""

    question: ToolQuestion


class ToolQuestionAnswered(SessionEvent, tag="toolQuestionAnswered", frozen=True, kw_only=True):
    """The question is settled: answered by somebody, out of time, or its turn is over."""

    tool_call_id: str
    outcome: Literal["once", "session", "always", "reject", "timeout", "gone"]


class PromptSteered(SessionEvent, tag="promptSteered", frozen=True, kw_only=True):
    """A prompt that was sent to the running turn is stored; it goes along with the next round."""

    prompt: tuple[Part, ...]
    steer_id: str = ""


class MaxToolRoundsReached(SessionEvent, tag="maxToolRoundsReached", frozen=True, kw_only=True):
    """The turn used all its rounds; the person is asked whether it goes on."""

    limit: int


class ModeChanged(SessionEvent, tag="modeChanged", frozen=True, kw_only=True):
    """What tools may do unasked has changed."""

    mode: Mode


class TodosChanged(SessionEvent, tag="todosChanged", frozen=True, kw_only=True):
    """The model's task list, whole."""

    todos: tuple[Todo, ...]


class ChangesChanged(SessionEvent, tag="changesChanged", frozen=True, kw_only=True):
    """Files were changed, or put back. The numbers are those of the whole session."""

    files: int
    added: int
    """Lines."""
    removed: int
    """Lines."""
    paths: tuple[str, ...] = ()
    """Absolute paths of the files that this is about."""


class CommandsChanged(SessionEvent, tag="commandsChanged", frozen=True, kw_only=True):
    """Background commands began or ended: all that are known, oldest first."""

    commands: tuple[BackgroundCommand, ...]


class OutputsMasked(SessionEvent, tag="outputsMasked", frozen=True, kw_only=True):
    """Old outputs are shown to the model shortened from here on."""

    outputs: int
    tokens_saved: int
