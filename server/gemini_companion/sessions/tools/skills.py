"""The skills of one session: which it has, and which were activated in it."""

from __future__ import annotations

from gemini_companion.engine.skills.telling import activated_skill, is_whole_in
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.skills.activations import activations
from gemini_companion.sessions.skills.files import SkillFile
from gemini_companion.tools.skills import SkillText
from gemini_companion.tools.tool import ToolRefusal


class SkillsOfSession:
    """The port `SkillShelf` of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def skill(self, name: str) -> SkillText:
        """A skill with its instructions, as they are now. Raises `ToolRefusal`."""
        skill = await self._found(name)
        assert self._session.services.skills is not None
        found = await self._session.services.skills.resources(skill)
        now = activated_skill(skill.name, skill.body, found.paths, more=found.more)
        return SkillText(
            name=skill.name,
            description=skill.description,
            path=skill.path,
            whose=_whose(skill),
            text=skill.body,
            resources=found.paths,
            more=found.more,
            is_active=any(text == now for text in activations(self._session.history.entries)),
        )

    async def file(self, name: str, path: str) -> SkillText:
        """A text file of a skill's folder. Raises `ToolRefusal`."""
        skill = await self._found(name)
        assert self._session.services.skills is not None
        return SkillText(
            name=skill.name,
            description=skill.description,
            path=f"{skill.folder}/{path}",
            whose=_whose(skill),
            text=await self._session.services.skills.resource(skill, path),
            is_active=any(is_whole_in(text, skill.name) for text in activations(self._session.history.entries)),
        )

    async def _found(self, name: str) -> SkillFile:
        skills = self._session.services.skills
        known = await skills.enabled() if skills is not None else ()
        found = next((skill for skill in known if skill.name == name), None)
        if found is None:
            listed = ", ".join(skill.name for skill in known[:50]) or "none"
            raise ToolRefusal(f"There is no skill {name[:80]!r}. The skills are: {listed}.")
        return found


def _whose(skill: SkillFile) -> str:
    match skill.scope:
        case "user":
            return "yours"
        case "workspace":
            return "of this project"
        case "extension":
            return f"of the extension {skill.owner}"
