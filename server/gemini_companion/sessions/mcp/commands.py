"""Prompts of MCP servers as slash commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from gemini_companion.engine.commands.arguments import Typed
from gemini_companion.engine.commands.naming import flattened
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.mcp.listed import ListedPrompt, PromptArgument
from gemini_companion.engine.mcp.naming import arguments_of
from gemini_companion.engine.mcp.results import prompt_of
from gemini_companion.sessions.commands.custom import MAX_CHARACTERS
from gemini_companion.sessions.commands.port import Command, CommandArgument, Room
from gemini_companion.sessions.mcp.port import McpFault
from gemini_companion.sessions.mcp.server import McpServer
from gemini_companion.sessions.mcp.service import McpService

_LOOK: Final = "The list of MCP servers says where the server stands."
_MAX_ARGUMENT: Final = 300
"""Characters of an argument's description."""


class ServerCommands:
    """`CommandSource` of the servers that run. It starts none: a turn does, before its prompt is read."""

    def __init__(self, service: McpService) -> None:
        self._service = service
        self._made: WeakKeyDictionary[McpServer, _Made] = WeakKeyDictionary()

    async def commands(self) -> Sequence[Command]:
        """The prompts of those that answer, and of those that are being started again."""
        return [one for server in self._service.offering() for one in (await self._made_of(server)).commands]

    async def expanded(self, command: Command, typed: Typed, room: Room) -> tuple[Part, ...]:
        """What the server says that the prompt stands for: its text, then its media."""
        server, prompt = await self._found(command, typed)
        try:
            args = arguments_of(prompt, typed.arguments)
        except ValueError as wrong:
            written = " ".join(f'--{argument.name}="…"' for argument in command.arguments)
            raise InvalidInput(
                f"/{typed.name} cannot be called like this. {wrong}",
                path="$.prompt",
                hint=f"Write: /{typed.name} {written}".rstrip(),
            ) from None
        try:
            raw = await (await server.link()).prompt(prompt.wire_name, args)
        except McpFault as fault:
            raise InvalidInput(
                f"/{typed.name} could not be called. {fault.message}", path="$.prompt", hint=_LOOK
            ) from None
        said = await asyncio.to_thread(prompt_of, raw)
        if len(said.text) > MAX_CHARACTERS:
            raise InvalidInput(
                f"/{typed.name} stands for more than {MAX_CHARACTERS:,} characters.",
                path="$.prompt",
                hint=f"The MCP server {command.owner} sends them; see whether an argument makes them fewer.",
            )
        if not said.text.strip() and not said.media:
            raise InvalidInput(
                f"/{typed.name} stands for nothing: the MCP server {command.owner} sent no text.",
                path="$.prompt",
                hint="Write what you want in its place.",
            )
        text: tuple[Part, ...] = ({"text": said.text},) if said.text.strip() else ()
        return (*text, *said.media)

    async def _found(self, command: Command, typed: Typed) -> tuple[McpServer, ListedPrompt]:
        for server in self._service.offering():
            made = await self._made_of(server)
            for prompt, one in zip(made.prompts, made.commands, strict=True):
                if one == command:
                    return server, prompt
        raise InvalidInput(
            f"The MCP server {command.owner} does not offer /{typed.name} any more.", path="$.prompt", hint=_LOOK
        )

    async def _made_of(self, server: McpServer) -> _Made:
        """A server's commands, made once of each list: a thousand prompts with fifty arguments each take a second."""
        prompts = server.prompts
        made = self._made.get(server)
        if made is None or made.prompts is not prompts:
            made = await asyncio.to_thread(lambda: _Made(prompts, tuple(_command(server, one) for one in prompts)))
            self._made[server] = made
        return made


class _Made(NamedTuple):
    prompts: Sequence[ListedPrompt]
    commands: Sequence[Command]


def _command(server: McpServer, prompt: ListedPrompt) -> Command:
    return Command(
        name=prompt.name,
        scope="server",
        owner=server.definition.name,
        description=flattened(prompt.description),
        hint="arguments" if prompt.arguments else "",
        arguments=tuple(map(_argument, prompt.arguments)),
    )


def _argument(one: PromptArgument) -> CommandArgument:
    return CommandArgument(
        name=flattened(one.name), description=flattened(one.description, _MAX_ARGUMENT), is_required=one.required
    )
