"""`write_todos`: the model's task list, for itself and for the person who watches."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from gemini_companion.engine.history.tool_entries import Todo, TodoState
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal


class TodoArgs(msgspec.Struct, frozen=True, kw_only=True):
    """One task."""

    description: Annotated[str, Meta(min_length=1, max_length=1_000, description="What is to be done.")]
    status: Annotated[TodoState, Meta(description="Where it stands; at most one task is in_progress.")]


class WriteTodosArgs(msgspec.Struct, frozen=True, kw_only=True):
    """The whole list."""

    todos: Annotated[list[TodoArgs], Meta(max_length=100, description="All tasks; they replace the list before.")]


class WriteTodos:
    """Replaces the list. Of several tasks in progress the first stays so, and the model is told."""

    name = "write_todos"
    aliases = ()
    description = (
        "Keep a list of tasks for work with several steps, so that the person sees where you stand. Give the whole list"
        " each time; set a task to in_progress when you begin it and to completed as soon as it is done. Do without"
        " where one step is all."
    )
    arguments = WriteTodosArgs
    risk: Risk = "note"
    shape: Shape = "text"

    async def propose(self, args: WriteTodosArgs, context: ToolContext) -> Proposal:
        """Nothing is touched."""
        return Proposal(title="Update the tasks")

    async def run(self, args: WriteTodosArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Keep the list. Raises `ToolRefusal` outside of a session."""
        if context.ports.notes is None:
            raise ToolRefusal("There is no session that could keep tasks.")
        todos, mended = _mended(args.todos)
        await context.ports.notes.set_todos(todos)
        done = sum(todo.status == "completed" for todo in todos)
        output = "The list is cleared." if not todos else "The list is kept."
        if mended:
            output += " Only one task can be in progress; set back to pending: " + "; ".join(mended) + "."
        return ToolOutput(output=output, summary=f"{done} of {len(todos)} done")


def _mended(todos: list[TodoArgs]) -> tuple[list[Todo], list[str]]:
    """The tasks with one in progress at most, and which were set back."""
    kept: list[Todo] = []
    mended: list[str] = []
    for todo in todos:
        status = todo.status
        if status == "in_progress" and any(other.status == "in_progress" for other in kept):
            status = "pending"
            mended.append(todo.description)
        kept.append(Todo(description=todo.description, status=status))
    return kept, mended
