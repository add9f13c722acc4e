"""What tools keep in their session: the model's tasks, and the plan that a person approved."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.history.tool_entries import Mode, Todo, TodosEntry
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import TodosChanged
from gemini_companion.sessions.tools.modes import set_mode


class NotesOfSession:
    """The notes of one session, written in one turn."""

    def __init__(self, session: Session, turn_id: str) -> None:
        self._session = session
        self._turn_id = turn_id

    async def set_todos(self, todos: Sequence[Todo]) -> None:
        """The model's task list from now on. Raises `StorageFault`."""
        session, turn_id, kept = self._session, self._turn_id, tuple(todos)
        stamp = session.stamp()
        await session.append(lambda seq: TodosEntry(**stamp, seq=seq, turn_id=turn_id, todos=kept))
        session.emit(TodosChanged(todos=kept), turn_id)

    async def follow_plan(self, plan: str, mode: Mode) -> None:
        """Pin an approved plan, and go on in the mode that the person chose. Raises `StorageFault`."""
        await pin(self._session, text=f"The plan that the person approved:\n{plan}")
        await set_mode(self._session, mode)
