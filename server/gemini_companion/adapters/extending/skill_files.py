"""Skills on disk: folders with a `SKILL.md`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from gemini_companion.adapters.extending.command_files import owner_of, real_folders
from gemini_companion.adapters.extending.walking import FoundFile, Root, Stamp, Walk, read_whole
from gemini_companion.adapters.memory.discovery import enabled_extensions
from gemini_companion.adapters.memory.opening import Unreadable, Withheld, read_below
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.engine.skills.front_matter import Skill, skill_of
from gemini_companion.sessions.commands.files import FileProblem, FileWish
from gemini_companion.sessions.skills.files import Resources, SkillFile, SkillScope, SkillsRead
from gemini_companion.tools.tool import ToolRefusal

FILE: Final = "SKILL.md"
MAX_SKILLS: Final = 500
MAX_RESOURCES: Final = 100
"""Files of a skill's folder that are named."""
_MAX_PROBLEMS: Final = 50
_RESOURCE_DEPTH: Final = 4


class _Place(NamedTuple):
    root: Root
    scope: SkillScope
    owner: str


class DiskSkillFiles:
    """`SkillFiles` of a home folder. A file is parsed once, until its stamp changes."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._parsed: dict[str, tuple[Stamp, Skill | str]] = {}

    async def read(self, wish: FileWish) -> SkillsRead:
        """Find all of them, and read those that have changed."""
        return await asyncio.to_thread(self._read, wish)

    async def resources(self, skill: SkillFile) -> Resources:
        """What else is in its folder."""
        return await asyncio.to_thread(_resources, skill)

    async def resource(self, skill: SkillFile, path: str) -> str:
        """The text of a file of its folder. Raises `ToolRefusal`."""
        return await asyncio.to_thread(_resource, skill, path)

    def _read(self, wish: FileWish) -> SkillsRead:
        skills: dict[str, SkillFile] = {}
        problems: list[FileProblem] = []
        watched: list[str] = []
        known = self._parsed
        self._parsed = {}
        for place in self._places(wish):
            walk = Walk()
            walk.through(place.root, FILE, depth=1)
            watched += walk.folders or [place.root.path]
            for found in walk.files:
                if found.parts[-1] != FILE:
                    continue
                parsed = self._parse(place.root, found, known)
                if isinstance(parsed, str):
                    problems.append(FileProblem(path=one_line(found.path), line=1, message=parsed))
                    continue
                if parsed.name not in skills and len(skills) >= MAX_SKILLS:
                    message = f"only {MAX_SKILLS} skills count, not this one"
                    problems.append(FileProblem(path=one_line(found.path), line=1, message=message))
                    break
                skills[parsed.name] = SkillFile(
                    name=parsed.name,
                    description=parsed.description,
                    scope=place.scope,
                    owner=place.owner,
                    path=one_line(found.path),
                    folder=os.path.dirname(followed(found.path)),
                    body=parsed.body,
                )
        return SkillsRead(
            skills=tuple(skills[name] for name in sorted(skills)),
            problems=tuple(problems[:_MAX_PROBLEMS]),
            watched=tuple(dict.fromkeys(watched)),
        )

    def _places(self, wish: FileWish) -> Iterator[_Place]:
        """The folders of skills, those first that others go before."""
        folders = real_folders(wish) if wish.trusted else []
        if folders:
            for extension, manifest in enabled_extensions(self._home, folders[0]):
                root = Root(os.path.join(extension, "skills"), extension)
                yield _Place(root, "extension", owner_of(extension, manifest))
        own = [os.path.join(self._home, name, "skills") for name in (".gemini", ".agents")]
        for path in own:
            yield _Place(Root(path, path, is_own=True), "user", "")
        for name in (".gemini", ".agents"):
            for folder in folders:
                path = os.path.join(folder, name, "skills")
                if path not in map(followed, own):
                    yield _Place(Root(path, folder), "workspace", "")

    def _parse(self, root: Root, found: FoundFile, known: dict[str, tuple[Stamp, Skill | str]]) -> Skill | str:
        before = known.get(found.path)
        if before is not None and before[0] == found.stamp:
            parsed = before[1]
        else:
            try:
                parsed = skill_of(read_whole(root, found.path, found.stamp[2]))
            except Withheld as fault:
                return str(fault)  # not for long, perhaps
            except (Unreadable, ValueError) as fault:
                parsed = str(fault)
        self._parsed[found.path] = (found.stamp, parsed)
        return parsed


def _resources(skill: SkillFile) -> Resources:
    walk = Walk()
    walk.through(Root(skill.folder, skill.folder), "", depth=_RESOURCE_DEPTH)
    names = sorted(
        "/".join(map(one_line, found.parts))
        for found in walk.files
        if found.parts != (FILE,) and not is_secret_name(found.path)
    )
    return Resources(paths=tuple(names[:MAX_RESOURCES]), more=max(0, len(names) - MAX_RESOURCES))


def _resource(skill: SkillFile, path: str) -> str:
    wanted = os.path.normpath(os.path.join(skill.folder, path)) if "\0" not in path else ""
    if not wanted.startswith(skill.folder.rstrip(os.sep) + os.sep) or is_secret_name(wanted):
        raise ToolRefusal(f"{path[:200]!r} is no file of the skill {skill.name}. Give a path of its folder.")
    try:
        text, is_cut = read_below(skill.folder, wanted)
    except Unreadable as fault:
        raise ToolRefusal(f"{path[:200]!r} of the skill {skill.name} cannot be read: {fault}.") from None
    return f"{text}\n[only the first part is shown: the file is too long]" if is_cut else text
