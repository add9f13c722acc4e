"""Commands that persons, projects and extensions define by files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gemini_companion.engine.commands.arguments import Typed
from gemini_companion.engine.commands.expansion import (
    FileOf,
    Piece,
    Shell,
    Text,
    pieces_of,
    takes_arguments,
    with_arguments,
)
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.commands.files import CommandFile, CommandFiles, CommandsRead, FileProblem, FileWish
from gemini_companion.sessions.commands.live import Live, WatchFolders
from gemini_companion.sessions.commands.port import Command, Room

MAX_CHARACTERS: Final = 1_000_000
"""Of all that one command stands for."""
_WHY: Final = "a command file of the {whose} runs it, not the model"


class CustomCommands:
    """`CommandSource` of command files. Nothing is read before it is asked for."""

    def __init__(
        self,
        files: CommandFiles,
        wish: Callable[[], FileWish],
        *,
        on_changed: Callable[[], None] = lambda: None,
        watch_folders: WatchFolders | None = None,
    ) -> None:
        self._live: Live[CommandsRead] = Live(
            lambda: files.read(wish()),
            watched=lambda read: read.watched,
            on_changed=on_changed,
            watch_folders=watch_folders,
            name="command files",
        )

    async def commands(self) -> Sequence[Command]:
        """Those whose files can be used."""
        return [_command(file) for file in (await self._live.current()).files]

    async def problems(self) -> tuple[FileProblem, ...]:
        """The files that are skipped."""
        read = self._live.latest or await self._live.current()
        return read.problems

    def look_again(self) -> None:
        """Folders or trust have changed."""
        self._live.look_again()

    def close(self) -> None:
        """Stop watching."""
        self._live.close()

    async def expanded(self, command: Command, typed: Typed, room: Room) -> tuple[Part, ...]:
        """One part: the file's prompt with its pieces filled in, none of which is read again."""
        read = self._live.latest or await self._live.current()
        file = next((one for one in read.files if _command(one) == command), None)
        if file is None:
            raise InvalidInput(
                f"The file of /{typed.name} has just changed.", hint="Look at it, then send the command again."
            )
        pieces = with_arguments(pieces_of(file.prompt), typed.arguments)
        lines = [piece.command for piece in pieces if isinstance(piece, Shell)]
        asks = "" if file.scope == "user" else _WHY.format(whose=_whose(file))
        outputs = iter(await room.run(lines, asks=asks) if lines else ())
        texts = [await _text(piece, room, outputs.__next__) for piece in pieces]
        text = "".join(texts).strip("\n")
        if len(text) > MAX_CHARACTERS:
            raise InvalidInput(
                f"/{typed.name} stands for more than {MAX_CHARACTERS:,} characters.",
                hint="Have its file bring in less.",
            )
        if not text.strip():
            raise InvalidInput(f"/{typed.name} stands for nothing: what its file brings in is empty.")
        return ({"text": text},)


async def _text(piece: Piece, room: Room, output: Callable[[], str]) -> str:
    match piece:
        case Text():
            return piece.text
        case FileOf():
            return await room.text_of_file(piece.path)
        case Shell():
            return output()


def _command(file: CommandFile) -> Command:
    pieces = pieces_of(file.prompt)
    return Command(
        name=file.name,
        scope=file.scope,
        owner=file.owner,
        description=file.description,
        hint="arguments" if takes_arguments(file.prompt) else "",
        path=file.path,
        runs=tuple(piece.command for piece in pieces if isinstance(piece, Shell)),
    )


def _whose(file: CommandFile) -> str:
    return f"extension {file.owner}" if file.scope == "extension" else "project"
