"""Gemini CLI's placeholders in a file that replaces the system prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.prompts.working import subagents_section

_PLACEHOLDER: Final = re.compile(r"\$\{(?:(AgentSkills|SubAgents|AvailableTools)|([A-Za-z0-9_.-]{1,128})_ToolName)\}")
_NO_TOOLS: Final = "There are no tools in this conversation."


def filled_in(text: str, tools: Sequence[str], subagents: Sequence[tuple[str, str]] = (), skills: str = "") -> str:
    """The text with its placeholders replaced; all else in it stays as it is, letter for letter.

    `${AvailableTools}` becomes the list of the tools, `${SubAgents}` that of the subagents, `${AgentSkills}` the
    section about the skills, and `${<tool>_ToolName}` the tool's name if it can be called. What is put in is not
    searched again.
    """
    if "${" not in text:
        return text
    names = frozenset(tools)

    def of(match: re.Match[str]) -> str:
        match match[1]:
            case "AvailableTools":
                return "\n".join(f"- {name}" for name in tools) or _NO_TOOLS
            case "SubAgents":
                return subagents_section(subagents)
            case "AgentSkills":
                return skills
            case _:
                return match[2] if match[2] in names else match[0]

    return _PLACEHOLDER.sub(of, text)
