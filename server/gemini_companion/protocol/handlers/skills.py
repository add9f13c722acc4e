"""Handlers of `gemini/skills/*`."""

from __future__ import annotations

from gemini_companion.protocol.host import Host
from gemini_companion.protocol.methods import Empty
from gemini_companion.protocol.skill_types import EnableSkillParams
from gemini_companion.sessions.skills.results import SkillList
from gemini_companion.sessions.skills.service import SkillService


async def list_(host: Host, params: Empty) -> SkillList:
    return await _skills(host).listed()


async def enable(host: Host, params: EnableSkillParams) -> SkillList:
    return await _skills(host).enable(params.name, on=params.enabled)


def _skills(host: Host) -> SkillService:
    skills = host.app.services.skills
    assert skills is not None  # the daemon always has them
    return skills
