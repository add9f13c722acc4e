"""The system instruction: its facts are taken where the view begins anew, its words follow what can be called."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from gemini_companion.engine.escapes import for_model
from gemini_companion.engine.history.log import Withheld
from gemini_companion.engine.prompts.git_state import MOST_CHANGED, GitState, git_section
from gemini_companion.engine.prompts.replacement import filled_in
from gemini_companion.engine.prompts.system import OF_THE_MOMENT, PromptFacts, prompt_sections, system_instruction
from gemini_companion.sessions.channel import EventChannel
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.skills import skills_section_of
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.system_prompt import PromptBasis, PromptSection, SystemPromptReport

_LOOKED_AT = 3 * MOST_CHANGED
"""Changed files of one repository whose names are looked up in the ignore files."""
_NAMED_ALL_THE_SAME = frozenset({"not on disk", "not a regular file"})
"""Deleted files, and folders that git has not seen before."""


async def take_basis(session: Session) -> PromptBasis:
    """The facts of the system prompt as they are now. Reads files and asks git; bounded in time."""
    services = session.services
    states = await _git_states(services, session.meta.workspace_folders)
    return PromptBasis(
        replacement=services.system_prompt_override(),
        git_state=git_section(states),
        skills=await skills_section_of(session),
        wanted=services.settings().prompt_sections,
        is_written=session.prompt_basis.is_written,
        subagents=await subagents_of(services),
    )


async def subagents_of(services: Services) -> tuple[tuple[str, str], ...]:
    """Name and purpose of each subagent that can be called."""
    return (
        () if services.agents is None else tuple((one.name, one.description) for one in await services.agents.known())
    )


def settle_system_prompt(session: Session, choice: ModelChoice) -> None:
    """Word the system instruction for what the next request can call; the same facts leave it as it is.

    It changes only where the declarations of the tools change too, so no prefix is lost to it that was not lost anyway.
    """
    if session.meta.system_instruction is not None:
        return
    basis = session.prompt_basis
    facts = facts_of(session, choice, basis)
    if (facts, basis.wanted) == basis.made_for:
        return
    text = _text_of(session.services, basis, facts)
    basis.made_for = (facts, basis.wanted)
    if text != session.system_instruction:
        session.system_instruction = text
    if not basis.is_written:
        basis.is_written = True
        session.services.write_system_prompt(lambda: _to_start_from(session.services, facts))


def facts_of(session: Session, choice: ModelChoice, basis: PromptBasis) -> PromptFacts:
    """What the wording depends on, for a request to this model."""
    return PromptFacts(
        model=choice.name,
        is_local=choice.provider.capabilities.runs_here,
        tools=tuple(declaration["name"] for declaration in session.declarations(choice, basis)),
        is_planning=session.mode == "plan",
        is_trusted=session.services.trusted(),
        subagents=basis.subagents,
        skills=basis.skills,
        memory=basis.memory,
        git_state=basis.git_state,
    )


async def report_for(services: Services, client: Client, *, model: str = "") -> SystemPromptReport:
    """The system prompt that the first request of a new session of this client would have.

    `model` is empty for the one that the settings choose.
    """
    meta = SessionMeta(
        session_id="", title="", model=model, created_at=0, updated_at=0, workspace_folders=client.folders
    )
    channel = EventChannel("", services.store, services.clock, lambda _: (), 0)
    return await report_of(Session(meta, (), services, channel))


async def report_of(session: Session) -> SystemPromptReport:
    """The system prompt of the session's next request, with the tokens of its sections."""
    count = session.ledger.count_text
    if (own := session.meta.system_instruction) is not None:
        return SystemPromptReport(text=own, tokens=round(count(own)), source="session")
    is_current = session.environment_of == tuple(session.history.in_force)
    basis = session.prompt_basis if is_current else await take_basis(session)
    basis = replace(basis, wanted=session.services.settings().prompt_sections)
    facts = facts_of(session, session.choice(), basis)
    text = _text_of(session.services, basis, facts) or ""
    if basis.replacement is not None:
        return SystemPromptReport(text=text, tokens=round(count(text)), source="GEMINI_SYSTEM_MD")
    sections = prompt_sections(facts, basis.wanted, session.services.environment)
    return SystemPromptReport(
        text=text,
        tokens=round(count(text)),
        source="builtIn",
        sections=tuple(PromptSection(name=name, tokens=round(count(words))) for name, words in sections.items()),
    )


def _text_of(services: Services, basis: PromptBasis, facts: PromptFacts) -> str | None:
    """The instruction; `None` where it would be empty. Memory stands behind a replacement too, as Gemini CLI has it."""
    if basis.replacement is None:
        return for_model(system_instruction(facts, basis.wanted, services.environment)) or None
    text = filled_in(basis.replacement, facts.tools, facts.subagents, facts.skills)
    only_memory = dict.fromkeys(basis.wanted, False) | {"memory": basis.wanted.get("memory", True)}
    remembered = prompt_sections(facts, only_memory, services.environment).get("memory", "")
    return for_model("\n\n".join(filter(None, (text, remembered)))) or None


def _to_start_from(services: Services, facts: PromptFacts) -> str:
    """The built-in prompt as a file to write one's own from: without what is true of a person or a moment."""
    bare = msgspec.structs.replace(facts, **dict.fromkeys(OF_THE_MOMENT, ""))
    return system_instruction(bare, services.settings().prompt_sections, services.environment)


async def _git_states(services: Services, folders: Sequence[str]) -> list[GitState]:
    """Of the folders' repositories; nothing of a workspace that is not trusted, whose names and subjects are told."""
    if not services.trusted():
        return []
    states = await services.git.read(folders)
    return list(await asyncio.gather(*(_without_withheld(services, state, folders) for state in states)))


async def _without_withheld(services: Services, state: GitState, folders: Sequence[str]) -> GitState:
    """The state without the names of files that may not be shown; they are not counted either."""
    looked_at = state.changed[:_LOOKED_AT]
    verdicts = await services.workspace.admit([path for _, path in looked_at], folders)
    changed = tuple((letters, path) for letters, path in looked_at if _may_be_named(verdicts.get(path)))
    return msgspec.structs.replace(
        state, changed=changed, uncounted=state.uncounted + len(state.changed) - len(looked_at)
    )


def _may_be_named(withheld: Withheld | None) -> bool:
    return withheld is None or withheld.reason in _NAMED_ALL_THE_SAME
