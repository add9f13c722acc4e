"""The environment content ahead of every request: built at the start and where the view begins anew, never between."""

from __future__ import annotations

import asyncio
from typing import Final

from gemini_companion.engine.prompts.environment import environment_content, memory_block
from gemini_companion.sessions.context.memory import memory_for
from gemini_companion.sessions.context.skills import skills_in_force
from gemini_companion.sessions.context.system_prompt import settle_system_prompt, subagents_of, take_basis
from gemini_companion.sessions.session import Session

TREE_NAMES: Final = 200
"""Names that the folder tree shows."""


async def refresh_environment(session: Session) -> None:
    """Build the environment and the system instruction if a compression or an undo changed where the view begins.

    Otherwise they stay as they are, so that the provider's prefix cache holds: masks and pins raise the epoch, but
    change what stands further back. What a person has set meanwhile (the prompt's sections, the model, the mode) takes
    effect.
    """
    services = session.services
    if not services.with_environment:
        return
    if session.environment_of != tuple(session.history.in_force):
        await _take(session)
    else:
        session.prompt_basis.subagents = await subagents_of(services)
    session.prompt_basis.wanted = services.settings().prompt_sections
    settle_system_prompt(session, session.choice())


async def _take(session: Session) -> None:
    services = session.services
    begins = tuple(session.history.in_force)
    folders = session.meta.workspace_folders
    tree, basis, memory = await asyncio.gather(_tree(session), take_basis(session), memory_for(session, anew=True))
    session.environment = environment_content(
        date=services.today(),
        platform=services.platform,
        folders=folders,
        tree=tree,
        todos=_open_list(session),
        project_memory=memory.project,
        extension_memory=memory.extension,
        memory_below=memory.below,
        skills=await skills_in_force(session),
    )
    basis.memory = memory_block(memory.system)
    session.prompt_basis = basis
    session.surroundings.use_memory(memory, in_system=session.meta.system_instruction is None)
    session.environment_of = begins


async def _tree(session: Session) -> str:
    services = session.services
    if not services.settings().context_directory_tree:
        return ""
    return await services.workspace.tree(session.meta.workspace_folders, limit=TREE_NAMES)


def _open_list(session: Session) -> list[tuple[str, str]]:
    """State and description of each of the model's tasks, while any of them is open."""
    todos = session.tools_state.todos
    is_open = any(todo.status in ("pending", "in_progress") for todo in todos)
    return [(todo.status, todo.description) for todo in todos] if is_open else []
