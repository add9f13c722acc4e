"""The system instruction: named sections, each of which can be left out, worded for the model and for what it can do.

The same facts give the same bytes, so that the provider's prefix cache holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from gemini_companion.engine.prompts import wording, working
from gemini_companion.engine.prompts.wording import SHORT, Family, family_of

_CHANGING: Final = frozenset({"replace", "write_file", "run_shell_command"})


class PromptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the wording depends on."""

    model: str = ""
    is_local: bool = False
    """It runs on this machine: it gets the short wording."""
    tools: tuple[str, ...] = ()
    """Names of what the model can call."""
    subagents: tuple[tuple[str, str], ...] = ()
    """Name and purpose of each."""
    is_planning: bool = False
    is_trusted: bool = True
    skills: str = ""
    """The section about them, see `engine.skills.telling`; empty where there are none."""
    memory: str = ""
    """The person's own memory, framed; empty where there is none."""
    git_state: str = ""
    """See `git_state.git_section`; empty where there is none."""

    @property
    def family(self) -> Family:
        """Which wording it gets."""
        return family_of(self.model, is_local=self.is_local)


def _preamble(facts: PromptFacts) -> str:
    return wording.PREAMBLE


def _core_mandates(facts: PromptFacts) -> str:
    know = working.KNOW_WITH_TOOLS if facts.tools else working.KNOW_WITHOUT_TOOLS
    return "\n".join((wording.MANDATES_FIRST, know, wording.MANDATES_LAST))


def _tools(facts: PromptFacts) -> str:
    return working.tools_section(facts.family, facts.tools, is_planning=facts.is_planning)


def _subagents(facts: PromptFacts) -> str:
    return working.subagents_section(facts.subagents) if "invoke_agent" in facts.tools else ""


def _skills(facts: PromptFacts) -> str:
    return facts.skills if "activate_skill" in facts.tools else ""


def _workflows(facts: PromptFacts) -> str:
    return working.workflows_section(facts.family, facts.tools, can_change=_can_change(facts))


def _editor_context(facts: PromptFacts) -> str:
    return wording.EDITOR_CONTEXT


def _compression_notice(facts: PromptFacts) -> str:
    recovery = wording.RECOVER_BY_TOOL if "recall" in facts.tools else wording.RECOVER_BY_ASKING
    return wording.COMPRESSION_NOTICE.format(recovery=recovery)


def _operational_guidelines(facts: PromptFacts) -> str:
    return wording.GUIDELINES.format(code=wording.CODE_CHANGED if _can_change(facts) else wording.CODE_TO_SHOW)


def _trust(facts: PromptFacts) -> str:
    return wording.TRUST if facts.is_trusted else wording.TRUST + wording.UNTRUSTED


def _memory(facts: PromptFacts) -> str:
    if not facts.memory.strip():
        return ""
    return (
        "# What the person wants remembered\nTheir own notes for every project. They bind as if the person had said them"
        f" here; what the project or the person says in this conversation goes over them.\n{facts.memory.strip()}"
    )


def _git_state(facts: PromptFacts) -> str:
    return facts.git_state


def _final_reminder(facts: PromptFacts) -> str:
    return working.final_reminder(facts.family, facts.tools)


SECTIONS: Final[Mapping[str, Callable[[PromptFacts], str]]] = {
    "preamble": _preamble,
    "core_mandates": _core_mandates,
    "tools": _tools,
    "subagents": _subagents,
    "skills": _skills,
    "workflows": _workflows,
    "editor_context": _editor_context,
    "compression_notice": _compression_notice,
    "operational_guidelines": _operational_guidelines,
    "trust": _trust,
    "memory": _memory,
    "git_state": _git_state,
    "final_reminder": _final_reminder,
}
"""What makes each section, in their order. `GEMINI_PROMPT_<NAME>` is a section's variable in the environment."""

OF_THE_MOMENT: Final = ("skills", "memory", "git_state")
"""Sections that are facts about a person and a place, and no part of a prompt to start one's own from."""

OLDER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "preamble": ("identity",),
    "core_mandates": ("mandates", "coremandates"),
    "subagents": ("sub_agents",),
    "workflows": ("primaryworkflows",),
    "operational_guidelines": ("style", "operationalguidelines"),
    "trust": ("safety",),
    "git_state": ("git",),
    "final_reminder": ("finalreminder",),
}
"""Names by which sections were switched before, and those of Gemini CLI's variables; they mean the same."""


def prompt_sections(facts: PromptFacts, wanted: Mapping[str, bool], env: Mapping[str, str]) -> dict[str, str]:
    """The texts of the sections that stand in the prompt, by name, in their order.

    `wanted` has the settings' choices by name; a section that is not in it is included. `GEMINI_PROMPT_<SECTION>` in
    `env` overrides it: `0` or `false` leaves the section out, any other text but the empty one includes it. A section
    that has nothing to say here is not in the result.
    """
    found: dict[str, str] = {}
    is_short = facts.family == "short"
    for name, make in SECTIONS.items():
        if not _is_wanted(name, wanted, env):
            continue
        if text := SHORT[name] if is_short and name in SHORT else make(facts):
            found[name] = text
    return found


def system_instruction(facts: PromptFacts, wanted: Mapping[str, bool], env: Mapping[str, str]) -> str:
    """The built-in system instruction; empty where every section is turned off. See `prompt_sections`."""
    return "\n\n".join(prompt_sections(facts, wanted, env).values())


def _can_change(facts: PromptFacts) -> bool:
    return not _CHANGING.isdisjoint(facts.tools)


def _is_wanted(name: str, wanted: Mapping[str, bool], env: Mapping[str, str]) -> bool:
    for known in (name, *OLDER_NAMES.get(name, ())):
        if choice := env.get(f"GEMINI_PROMPT_{known.upper()}", "").strip().lower():
            return choice not in ("0", "false")
    return wanted.get(name, True) and all(wanted.get(older, True) for older in OLDER_NAMES.get(name, ()))
