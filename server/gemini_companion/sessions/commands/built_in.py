"""The daemon's own slash commands. They are recognised before all others; here they are listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.commands.arguments import Typed
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.commands.port import Command, Room

COMPRESSION_NAMES: Final = ("compress", "summarize", "compact")


class BuiltInCommands:
    """`CommandSource` of what is built in."""

    async def commands(self) -> Sequence[Command]:
        """All of them."""
        return [
            Command(name=name, scope="builtIn", description="Compress the chat", hint="guidance")
            for name in COMPRESSION_NAMES
        ]

    async def expanded(self, command: Command, typed: Typed, room: Room) -> tuple[Part, ...]:
        """None stands for a prompt."""
        raise InvalidInput(f"/{typed.name} stands alone.", hint="Type it as a prompt of its own.")
