"""The slash commands of a process: all sources under one roof, and who gets which name."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from gemini_companion.engine.commands.arguments import Typed, escaped_name, typed
from gemini_companion.engine.commands.naming import Named, resolved
from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.commands.built_in import BuiltInCommands
from gemini_companion.sessions.commands.custom import CustomCommands
from gemini_companion.sessions.commands.port import Command, CommandSource
from gemini_companion.sessions.commands.results import SlashCommandInfo, SlashCommandList

logger = logging.getLogger(__name__)


class TypedCommand(NamedTuple):
    """A prompt that is a slash command."""

    command: Command
    source: CommandSource
    typed: Typed


class _Answering(NamedTuple):
    command: Command
    source: CommandSource
    names: tuple[str, ...]


class SlashCommands:
    """What can be typed behind a slash. Sources may be added at any time."""

    def __init__(self, custom: CustomCommands | None = None, *more: CommandSource) -> None:
        self._custom = custom
        self._names: frozenset[str] | None = None
        """As they were read last."""
        self._sources: list[CommandSource] = [BuiltInCommands(), *([custom] if custom else ()), *more]

    def add(self, source: CommandSource) -> None:
        """One more source; its commands get the names that are left."""
        self._sources.append(source)

    async def listed(self) -> SlashCommandList:
        """Those that there are now, and the files that are skipped."""
        answering = await self._answering()
        infos = [_info(one) for one in answering if one.names]
        return SlashCommandList(
            commands=tuple(sorted(infos, key=lambda info: (info.scope != "builtIn", info.name))),
            problems=await self._custom.problems() if self._custom else (),
        )

    async def typed(self, prompt: tuple[Part, ...]) -> TypedCommand | None:
        """The command that a prompt is; `None` for any other, and for the daemon's own ones."""
        said = typed(text) if (text := _text_of(prompt)) is not None and "/" in text[:1_000] else None
        if said is None:
            return None
        for one in await self._answering():
            if said.name in one.names and one.command.scope != "builtIn":
                return TypedCommand(one.command, one.source, said)
        return None

    def may_be_one(self, prompt: tuple[Part, ...]) -> bool:
        """Whether a prompt may be a command, by its look and by the names that were known last. Waits for nothing."""
        text = _text_of(prompt)
        said = typed(text) if text is not None and "/" in text[:1_000] else None
        return said is not None and (self._names is None or said.name in self._names)

    async def is_escaped(self, prompt: tuple[Part, ...]) -> bool:
        """Whether a prompt begins with two slashes before the name of a command, of which one is to go."""
        text = prompt[0].get("text") if prompt else None
        name = escaped_name(text[:1_000]) if isinstance(text, str) else None
        return name is not None and any(name in one.names for one in await self._answering())

    def look_again(self) -> None:
        """Folders or trust have changed."""
        if self._custom is not None:
            self._custom.look_again()

    def close(self) -> None:
        """Stop watching."""
        if self._custom is not None:
            self._custom.close()

    async def _answering(self) -> list[_Answering]:
        found = [(command, source) for source in self._sources for command in await _commands_of(source)]
        names = resolved([Named(command.name, command.scope, command.owner) for command, _ in found])
        self._names = frozenset(name for own in names for name in own)
        return [_Answering(command, source, own) for (command, source), own in zip(found, names, strict=True)]


async def _commands_of(source: CommandSource) -> Sequence[Command]:
    try:
        return await source.commands()
    except Exception:  # one that fails costs its own commands, not the turn and not the others
        logger.exception("Slash commands could not be listed")
        return ()


def _text_of(prompt: tuple[Part, ...]) -> str | None:
    if len(prompt) != 1 or set(prompt[0]) != {"text"}:
        return None
    text = prompt[0]["text"]
    return text if isinstance(text, str) else None


def _info(one: _Answering) -> SlashCommandInfo:
    command = one.command
    return SlashCommandInfo(
        name=one.names[0],
        aliases=one.names[1:],
        description=command.description,
        scope=command.scope,
        owner=command.owner,
        hint=command.hint,
        arguments=command.arguments,
        path=command.path,
        runs_commands=bool(command.runs),
    )
