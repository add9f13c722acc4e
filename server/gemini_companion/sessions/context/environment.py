"""The environment content ahead of every request: built at the start and after a change of epoch, at no other time."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.prompts.environment import environment_content, memory_section
from gemini_companion.engine.prompts.system import system_instruction
from gemini_companion.sessions.context.memory import memory_for
from gemini_companion.sessions.session import Session

TREE_NAMES: Final = 200
"""Names that the folder tree shows."""


async def refresh_environment(session: Session) -> None:
    """Build the environment and the system instruction if the view's epoch has changed.

    Otherwise they stay as they are, so that the provider's prefix cache holds.
    """
    services = session.services
    if not services.with_environment or session.environment_epoch == session.history.epoch:
        return
    epoch = session.history.epoch
    folders = session.meta.workspace_folders
    tree = await services.workspace.tree(folders, limit=TREE_NAMES)
    memory = await memory_for(session, anew=True)
    session.environment = environment_content(
        date=services.today(),
        platform=services.platform,
        folders=folders,
        tree=tree,
        todos=_open_list(session),
        project_memory=memory.project,
        extension_memory=memory.extension,
        memory_below=memory.below,
    )
    if session.meta.system_instruction is None:
        replacement = services.system_prompt_override()
        instruction = system_instruction(
            services.settings().prompt_sections, services.environment, replacement=replacement
        )
        session.system_instruction = "\n\n".join(filter(None, (instruction, memory_section(memory.system)))) or None
    session.surroundings.use_memory(memory, in_system=session.meta.system_instruction is None)
    session.environment_epoch = epoch


def _open_list(session: Session) -> list[tuple[str, str]]:
    """State and description of each of the model's tasks, while any of them is open."""
    todos = session.tools_state.todos
    is_open = any(todo.status in ("pending", "in_progress") for todo in todos)
    return [(todo.status, todo.description) for todo in todos] if is_open else []
