"""Skills in a session's requests: what of them stands in every request, and what stays of those that were activated.

A skill that was activated holds until its session ends. As long as the view has the result word for word, nothing else
is said. Once a compression hides it, the skill stands in the environment, as its file says then: what was taken out of
the folder, or turned off, is gone.
"""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.skills.telling import activated_skill
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.skills.activations import activations, activations_in

MAX_CHARACTERS: Final = 60_000
"""Of all activated skills in the environment; what has no room is activated again when it is needed."""
_NAME: Final = re.compile(r'<activated_skill name="([^"\n]*)">')


async def skills_section_of(session: Session) -> str:
    """What the system prompt is to say of skills now."""
    skills = session.services.skills
    return await skills.section() if skills is not None and session.services.with_environment else ""


async def skills_in_force(session: Session) -> tuple[str, ...]:
    """What activated skills say whose results the view does not have whole, as their files are now."""
    service = session.services.skills
    if service is None:
        return ()
    said = list(dict.fromkeys(activations(session.history.entries)))
    if not said:
        return ()
    shown = {text for item in session.history.items for text in activations_in(item.content)}
    named = {_name_in(text) for text in shown}
    hidden = [name for name in dict.fromkeys(map(_name_in, reversed(said))) if name not in named]
    texts: list[str] = []
    left = MAX_CHARACTERS
    for skill in await service.enabled() if hidden else ():
        if _quoted(skill.name) in hidden:
            found = await service.resources(skill)
            text = activated_skill(skill.name, skill.body, found.paths, more=found.more)
            left -= len(text)
            if left >= 0:
                texts.append(text)
    return tuple(texts)


def _name_in(text: str) -> str:
    match = _NAME.match(text)
    return match[1] if match else ""


def _quoted(name: str) -> str:
    return _name_in(activated_skill(name, "", ()))
