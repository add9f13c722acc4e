"""Runs shell lines: the port's other side."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from gemini_companion.adapters.processes.environment import TOKEN, clean, program_finder
from gemini_companion.adapters.processes.output import Output
from gemini_companion.adapters.processes.repositories import SHADOW, Repositories, Strange, shadow_of
from gemini_companion.adapters.processes.running import READ, ReapedCommand
from gemini_companion.adapters.processes.sandbox import REAPER, Held, Sandboxes
from gemini_companion.adapters.processes.spills import SpillFolder
from gemini_companion.tools.ports import SandboxWish
from gemini_companion.tools.tool import ToolRefusal


class Runner:
    """Runs commands.

    `environment` is the daemon's own; commands get little of it. `folder` is where outputs that are too long are put,
    in a folder of this runner's own that is made with the first command and goes with `close`. `closing` makes what
    closes the pieces of one output on their way there, `None` where that cannot be done: then it is not put there.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        sandboxes: Sandboxes | None = None,
        *,
        folder: str | None,
        platform: str = sys.platform,
        closing: Callable[[], Callable[[bytes], bytes] | None] = lambda: bytes,
    ) -> None:
        self._closing = closing
        self._find = program_finder(environment)
        self._repositories = Repositories(clean(environment), self._find)
        self._spills = SpillFolder(folder) if folder is not None else None
        self._platform = platform
        self._sandboxes = sandboxes or Sandboxes.of(environment, platform=platform)
        self._running: set[ReapedCommand] = set()
        self._taking_back: set[asyncio.Task[None]] = set()
        """What was made for commands that were given up before they began."""

    def find_program(self, name: str) -> str | None:
        """The real path of what the shell would start for a bare name; `None` if there is none."""
        return self._find(name)

    async def start(
        self,
        line: str,
        *,
        cwd: str,
        roots: Sequence[str],
        limit_seconds: float | None,
        silence_seconds: float | None = None,
        sandbox: SandboxWish,
        on_output: Callable[[str], None],
        looks_in: str = "",
    ) -> ReapedCommand:
        """Start a line in a session of its own.

        `limit_seconds` stop it, and so do `silence_seconds` without output; `None`: it may run for ever. With
        `looks_in` nothing of the line does more than look, and `git` looks into the repository of that folder: nothing
        of the repository's own runs then, whatever its settings say by now. Raises `ToolRefusal` where there is no
        shell, no such folder, or no sandbox though one is demanded.
        """
        if "\0" in line:
            raise ToolRefusal("The command has a NUL in it. Nothing was run.")
        preparing = asyncio.create_task(asyncio.to_thread(self._prepare, line, cwd, tuple(roots), sandbox, looks_in))
        try:
            shell, held, folder, more = await asyncio.shield(preparing)
        except asyncio.CancelledError:  # a thread cannot be: what it makes is taken back
            taking_back = asyncio.create_task(_taken_back(preparing))
            self._taking_back.add(taking_back)
            taking_back.add_done_callback(self._taking_back.discard)
            raise
        shadow = more.get("GIT_COMMON_DIR", "")

        def release() -> tuple[str, ...]:
            return _released(held, shadow)

        token = secrets.token_hex(16)
        status, says_status = os.pipe()
        kept = [(one.descriptor, one.path) for one in held.placeholders if one.descriptor >= 0]
        joined = held.namespaces
        try:
            with tempfile.TemporaryFile() as watched:
                said = {"kept": kept, "links": held.links, "staged": held.staged, "apart": held.is_apart}
                watched.write(json.dumps(said).encode())
                watched.flush()
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-I",
                    "-S",
                    REAPER,
                    f"{says_status}::{','.join(map(str, joined))}",
                    f"@{watched.fileno()}",
                    cwd,
                    *held.wrap(shell, cwd),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.STDOUT,
                    env={**held.environment, **more, TOKEN: token},
                    cwd="/",
                    pass_fds=(says_status, watched.fileno(), *joined, *(descriptor for descriptor, _ in kept)),
                    start_new_session=True,
                    limit=READ,
                )
        except BaseException as fault:
            os.close(status)
            release()
            if isinstance(fault, OSError):
                raise ToolRefusal(f"The command could not be started: {fault.strerror}.") from fault
            raise
        finally:
            os.close(says_status)
            held.let_go()
        running = ReapedCommand(
            process,
            status,
            Output(folder, closing=self._closing),
            limit_seconds=limit_seconds,
            silence_seconds=silence_seconds,
            sandbox=held.description,
            token=token,
            on_output=on_output,
            on_look=held.on_look,
            on_end=release,
        )
        self._running = {command for command in self._running if not command.has_ended}
        self._running.add(running)
        return running

    def describe_sandbox(self, wish: SandboxWish, roots: Sequence[str]) -> str:
        """What would hold a command back, for people. Raises `ToolRefusal` where one is demanded and there is none.

        The first call tries the sandbox out, a few milliseconds.
        """
        return self._sandboxes.choose(wish, tuple(roots), is_used=False).description

    def forget(self, chat: str) -> None:
        """A chat is gone, and with it what its commands shared."""
        self._sandboxes.spaces.give_up(chat)

    async def close(self) -> None:
        """End every command that still runs, and delete the outputs that nobody took."""
        ending = (*(running.stop() for running in tuple(self._running)), *self._taking_back)
        await asyncio.gather(*ending, return_exceptions=True)
        self._sandboxes.spaces.close()
        if self._spills is not None:
            await asyncio.to_thread(self._spills.remove)

    def _prepare(self, line: str, cwd: str, roots: tuple[str, ...], sandbox: SandboxWish, looks_in: str) -> _Prepared:
        if not os.path.isdir(cwd):
            raise ToolRefusal(f"There is no folder {cwd}. Nothing was run.")
        shell = self._shell(line)
        shadow, more = self._shadow(looks_in)
        try:
            held = self._sandboxes.choose(sandbox, roots)
        except BaseException:
            _remove(shadow)
            raise
        if shadow and held.arguments[:1] and held.arguments[0].endswith("bwrap"):
            held.arguments += ("--ro-bind", shadow, shadow)  # other folders for what passes are empty in there
        return shell, held, self._spill_folder(), more

    def _shadow(self, looks_in: str) -> tuple[str, dict[str, str]]:
        """A folder with what `git` reads in place of a repository's settings, and the variables that have it do so."""
        try:
            repository = self._repositories.around(os.path.realpath(looks_in)) if looks_in else None
        except Strange as strange:
            raise ToolRefusal(
                f"Nothing was run, for what was there a moment ago has changed: {strange.reason}."
                " Call it again, and the user is asked."
            ) from strange
        if repository is None:
            return "", {}
        folder = tempfile.mkdtemp(prefix=SHADOW)
        try:
            return folder, shadow_of(repository, folder)
        except OSError as fault:
            _remove(folder)
            raise ToolRefusal(f"The command could not be started: {fault.strerror}.") from fault

    def _shell(self, line: str) -> tuple[str, ...]:
        if self._platform == "win32":
            raise ToolRefusal("Commands cannot be run on Windows yet.")
        for name in ("bash", "sh"):
            if found := self.find_program(name):
                return (found, *(("--noprofile", "--norc") if name == "bash" else ()), "-c", line)
        raise ToolRefusal("There is neither bash nor sh on this machine, so commands cannot be run.")

    def _spill_folder(self) -> str | None:
        return self._spills.made() if self._spills is not None else None


_Prepared = tuple[tuple[str, ...], Held, str | None, dict[str, str]]
"""The shell's words, the sandbox, the folder for a long output, and more variables."""


async def _taken_back(preparing: asyncio.Task[_Prepared]) -> None:
    with suppress(ToolRefusal):
        _, held, _, more = await preparing
        await asyncio.to_thread(_released, held, more.get("GIT_COMMON_DIR", ""))


def _released(held: Held, shadow: str) -> tuple[str, ...]:
    try:
        return held.release()
    finally:
        _remove(shadow)


def _remove(folder: str) -> None:
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
