"""What persons, projects and extensions add: slash commands and skills, read from the disk and watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_companion.wiring.late import late, nothing

if TYPE_CHECKING:
    from gemini_companion.sessions.commands.files import CommandFiles
    from gemini_companion.sessions.commands.registry import SlashCommands
    from gemini_companion.sessions.events import Event
    from gemini_companion.sessions.skills.service import SkillService
    from gemini_companion.settings.service import SettingsService
    from gemini_companion.wiring.watches import Watches


def build_extending(
    home: Path,
    settings: SettingsService,
    watches: Watches,
    *,
    folders: Callable[[], Sequence[str]],
    tell: Callable[[Event], None],
) -> tuple[SlashCommands, SkillService]:
    """Slash commands and skills of a home folder and the open workspace `folders`; `tell` gets what changed."""
    from gemini_companion.sessions.commands.custom import CustomCommands
    from gemini_companion.sessions.commands.files import FileWish
    from gemini_companion.sessions.commands.registry import SlashCommands
    from gemini_companion.sessions.surrounding_events import SlashCommandsChanged

    def wish() -> FileWish:
        return FileWish(folders=tuple(folders()), trusted=settings.is_trusted())

    custom = CustomCommands(
        late(lambda: _command_files(home)),
        wish,
        on_changed=lambda: tell(SlashCommandsChanged()),
        watch_folders=watches.folders,
    )

    def make_skills() -> SkillService:
        from gemini_companion.adapters.extending.skill_files import DiskSkillFiles
        from gemini_companion.sessions.skills.service import SkillService
        from gemini_companion.sessions.surrounding_events import SkillsChanged

        return SkillService(
            DiskSkillFiles(str(home)),
            wish,
            settings=lambda: settings.current,
            switch=settings,
            on_changed=lambda: tell(SkillsChanged()),
            watch_folders=watches.folders,
        )

    return SlashCommands(custom), late(make_skills, look_again=nothing, close=nothing)


def _command_files(home: Path) -> CommandFiles:
    from gemini_companion.adapters.extending.command_files import DiskCommandFiles

    return DiskCommandFiles(str(home))
