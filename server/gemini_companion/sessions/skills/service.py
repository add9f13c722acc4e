"""The skills of one process: read when they are needed, watched from then on, and turned on and off."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.skills.telling import skills_section
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.commands.files import FileWish
from gemini_companion.sessions.commands.live import Live, WatchFolders
from gemini_companion.sessions.skills.files import Resources, SkillFile, SkillFiles, SkillsRead
from gemini_companion.sessions.skills.results import SkillInfo, SkillList
from gemini_companion.settings.effective import Settings

logger = logging.getLogger(__name__)


class SkillSwitch(Protocol):
    """The user's own settings."""

    def enable_skill(self, name: str, *, on: bool) -> None:
        """Turn a skill on or off. Raises `InvalidSettings`, `StorageFault`."""
        ...


class SkillService:
    """Which skills there are. Nothing is read before it is asked for."""

    def __init__(
        self,
        files: SkillFiles,
        wish: Callable[[], FileWish],
        *,
        settings: Callable[[], Settings],
        switch: SkillSwitch | None = None,
        on_changed: Callable[[], None] = lambda: None,
        watch_folders: WatchFolders | None = None,
    ) -> None:
        self._files = files
        self._settings = settings
        self._switch = switch
        self._on_changed = on_changed
        self._live: Live[SkillsRead] = Live(
            lambda: files.read(wish()),
            watched=lambda read: read.watched,
            on_changed=on_changed,
            watch_folders=watch_folders,
            name="skills",
        )

    async def enabled(self) -> tuple[SkillFile, ...]:
        """Those that models are told of, by name in order, as they are now. Raises nothing."""
        if not self._settings().skills_enabled:
            return ()
        try:
            read = await self._live.current()
        except Exception:  # a disk that fails costs what is new of skills, not the turn
            logger.exception("Skills could not be read")
            read = self._live.latest or SkillsRead()
        off = self._settings().skills_disabled
        return tuple(skill for skill in read.skills if skill.name not in off)

    async def section(self) -> str:
        """What the system prompt says of them; empty where there are none."""
        return skills_section([(skill.name, skill.description) for skill in await self.enabled()])

    async def find(self, name: str) -> SkillFile | None:
        """One of those that models are told of."""
        return next((skill for skill in await self.enabled() if skill.name == name), None)

    async def resources(self, skill: SkillFile) -> Resources:
        """What else is in its folder."""
        return await self._files.resources(skill)

    async def resource(self, skill: SkillFile, path: str) -> str:
        """The text of a file of its folder. Raises `ToolRefusal`."""
        return await self._files.resource(skill, path)

    async def listed(self) -> SkillList:
        """All of them, those that are turned off too."""
        read, settings = await self._live.current(), self._settings()
        off = settings.skills_disabled
        infos = tuple(
            SkillInfo(
                name=skill.name,
                description=skill.description,
                scope=skill.scope,
                owner=skill.owner,
                path=skill.path,
                is_enabled=settings.skills_enabled and skill.name not in off,
            )
            for skill in read.skills
        )
        section = skills_section([(info.name, info.description) for info in infos if info.is_enabled])
        tokens = await asyncio.to_thread(LexicalTokenCounter().count_text, section) if section else 0
        return SkillList(
            skills=infos, problems=read.problems, is_enabled=settings.skills_enabled, token_count=round(tokens)
        )

    async def enable(self, name: str, *, on: bool) -> SkillList:
        """Turn one on or off for the user. Raises `InvalidInput`, `InvalidSettings`, `StorageFault`."""
        read = await self._live.current()
        if all(skill.name != name for skill in read.skills):
            raise InvalidInput(f"There is no skill {name[:80]!r}.", path="$.name", hint="Name one of those listed.")
        if self._switch is None:
            raise InvalidInput("There are no settings of the user's here, so nothing can be turned on or off.")
        self._switch.enable_skill(name, on=on)
        if on and name in self._settings().skills_disabled:
            raise InvalidInput(
                f"{name} stays off: skills.disabled names it in settings other than your own.",
                hint="Take it out there: of this project, or of whoever keeps this machine.",
            )
        if on and not self._settings().skills_enabled:
            raise InvalidInput("Skills are off: skills.enabled is false.", hint="Set it to true first.")
        self._on_changed()
        return await self.listed()

    def look_again(self) -> None:
        """Folders, trust or settings may have changed."""
        self._live.look_again()

    def close(self) -> None:
        """Stop watching, for good."""
        self._live.close()
