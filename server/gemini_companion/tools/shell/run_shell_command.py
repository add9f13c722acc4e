"""The tool `run_shell_command`."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Final

import msgspec

from gemini_companion.tools.paths import gone
from gemini_companion.tools.ports import CommandEnd, RunningCommand, SandboxWish
from gemini_companion.tools.shell.commandbook import CommandBook, without_secrets
from gemini_companion.tools.shell.rules import ALIASES, TOOL
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

MAX_CHARACTERS: Final = 100_000
"""Of a line: what is longer belongs into a file."""
EARLY_SECONDS: Final = 1.0
"""A background command that ends within these is reported like one of the foreground: it could not begin its work."""
COMMAND_SECONDS: Final = 600
INACTIVITY_SECONDS: Final = 300
_TITLE: Final = 120
_BLANKS: Final = re.compile("[ \t\n]+")
_NETWORK: Final = "for that, the user's settings need companion.tools.network"
_KILL: Final = re.compile(r"kill(?: -(?:s )?[A-Z0-9]+)?((?: \d+)+)")
_HELD_BACK: Final = re.compile(
    r"read-only|permission|denied|not permitted|busy|refused|unreachable|resolve|resolution|network|proxy|timed? ?out"
    r"|offline|connect|socket|no such (file|process)|not set|environment"
    r"|\b(EROFS|EACCES|EPERM|EBUSY|ENOENT|ESRCH|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH)\b",
    re.IGNORECASE,
)
"""What a command says that failed since something is not let through."""
_IN_BACKGROUND: Final = "It runs in the background with the id "
_SO_FAR: Final = " So far:\n"
_STOPPED: Final = "The user stopped it. What it had put out until then is above."
_TOO_LONG: Final = "It took too long, or was silent for too long, and was ended. Set is_background for what runs on."
_NOTES: Final = re.compile(r"^\[(?:Exit code: -?\d+|Ended by the signal [^\n]*|What watched over it [^\n]*)\]$", re.M)
"""Where the notes begin that stand behind an output, but for the two above."""
_SETTINGS_HELD: Final = re.compile(r"/config(?:\.worktree)?: ")
"""In a line of `git` with a path in `.git`, whichever its language, also where it goes on and ends well."""


class RunShellCommandArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `run_shell_command` is called with."""

    command: Annotated[str, msgspec.Meta(description="The line, as `bash -c` gets it.")]
    description: Annotated[str, msgspec.Meta(description="What it does, in a few words, for the user.")] = ""
    dir_path: Annotated[
        str | None,
        msgspec.Meta(description="The folder to run it in, in the workspace; the first workspace folder if left out."),
    ] = None
    is_background: Annotated[
        bool,
        msgspec.Meta(
            description=(
                "Leave it running and go on, for servers and watchers; stop_background_process ends it. A `&` at the"
                " end would be ended."
            )
        ),
    ] = False


class RunShellCommand:
    """Runs shell lines, and keeps those that run on in a book."""

    name: str = TOOL
    aliases: tuple[str, ...] = ALIASES
    description: str = (
        "Run a line of bash in the workspace. Plain lines of few commands are the likeliest to run without a question"
        " to the user; files are better read and edited with their own tools. There is no input and no terminal: give"
        " options that ask nothing and page nothing. Each call starts a new shell, so `cd` and variables do not last."
        " In plan mode only lines run that just read in the workspace (ls, cat, grep, git log, git diff); others are"
        " refused."
        " Everything that a line leaves running ends with it, unless is_background is set. The answer has the output"
        " of both streams in their order, and the exit code or the signal; one other than 0 is no fault of the tool."
        " Where there is a sandbox, only the workspace and /tmp can be written. Commands of this chat share /tmp and"
        " 127.0.0.1, which are not those of the user. Empty folders such as .vscode are there as long as a command"
        " runs, so that none makes them."
    )
    arguments: type[RunShellCommandArguments] = RunShellCommandArguments
    risk: Risk = "command"
    shape: Shape = "command"

    def __init__(self, book: CommandBook) -> None:
        self._book = book

    async def propose(self, args: RunShellCommandArguments, context: ToolContext) -> Proposal:
        """Find the folder, and what would hold the line back."""
        line = args.command
        if not line.strip():
            raise ToolRefusal("The command is empty.")
        if "\0" in line:
            raise ToolRefusal("The command has a NUL in it, at which programs stop reading.", outcome="declined")
        if len(line) > MAX_CHARACTERS:
            raise ToolRefusal(f"The command is longer than {MAX_CHARACTERS} characters. Write a script and run that.")
        self._check_background(args, context)
        cwd = await _folder(args.dir_path, context)
        wish = _wish(context)
        sandbox = await asyncio.to_thread(context.ports.commands.describe_sandbox, wish, context.roots)
        warnings: list[str] = []
        if context.asks:
            warnings.append(f"{context.asks[0].upper()}{context.asks[1:]}.")
        if args.is_background:
            warnings.append("It goes on running in the background.")
            if _is_held_back(sandbox) and not wish.network:
                warnings.append(f"Other commands of this chat reach a server in it; your browser does not: {_NETWORK}.")
        return Proposal(
            title=f"Run {_short(line)}",
            command=line,
            cwd=cwd,
            sandbox=sandbox,
            warnings=tuple(warnings),
            irreversible="What it does outside of files in the workspace cannot be taken back.",
            asks=context.asks,
        )

    async def run(self, args: RunShellCommandArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Run it. Cancelling ends the command and all that it started."""
        self._check_background(args, context)  # others may have begun some while a person was asked
        limits: dict[str, Any] = {"limit_seconds": None, "silence_seconds": None}
        if not args.is_background:
            limits["limit_seconds"] = context.options.get("command_seconds", COMMAND_SECONDS)
            limits["silence_seconds"] = context.options.get("inactivity_seconds", INACTIVITY_SECONDS)
        if context.looks_in:
            limits["looks_in"] = context.looks_in
        cwd = proposal.cwd or context.roots[0]
        if _is_held_back(proposal.sandbox) and (stopped := await self._stopped(args.command, context)):
            return stopped
        running = await context.ports.commands.start(
            args.command,
            cwd=cwd,
            roots=context.roots,
            sandbox=_wish(context),
            on_output=context.progress,
            **limits,
        )
        if args.is_background:
            return await self._background(args, cwd, running, proposal, context)
        self._book.began(context.session_id, context.call_id, args.command, cwd, running, is_background=False)
        context.so_far = lambda characters: without_secrets(running.latest(characters))
        was_stopped = False
        try:
            end = await running.wait()
        finally:
            was_stopped = self._book.ended(context.session_id, context.call_id)
        return await asyncio.to_thread(output_of, end, was_stopped=was_stopped)

    def _check_background(self, args: RunShellCommandArguments, context: ToolContext) -> None:
        if args.is_background and (refusal := self._book.refusal(context.session_id)):
            raise ToolRefusal(refusal, outcome="declined")

    async def _stopped(self, line: str, context: ToolContext) -> ToolOutput | None:
        """What the line `kill ID` of a background command means, which is not there in the sandbox of another."""
        kept = {str(one.pid): one for one in self._book.background(context.session_id) if one.state == "running"}
        words = _KILL.fullmatch(line.strip())
        ids = words[1].split() if words else []
        if not ids or not all(one in kept for one in ids):
            return None
        for one in ids:
            await self._book.stop(context.session_id, kept[one].call_id)
        return ToolOutput(output=f"{', '.join(ids)}: stopped.\n[Exit code: 0]", summary="exit code 0")

    async def _background(
        self,
        args: RunShellCommandArguments,
        cwd: str,
        running: RunningCommand,
        proposal: Proposal,
        context: ToolContext,
    ) -> ToolOutput:
        self._book.began(context.session_id, context.call_id, args.command, cwd, running, is_background=True)
        waiting = asyncio.ensure_future(running.wait())
        try:
            done, _ = await asyncio.wait((waiting,), timeout=EARLY_SECONDS)
        except asyncio.CancelledError:
            await running.stop()
            raise
        if done:
            return await asyncio.to_thread(output_of, waiting.result(), was_stopped=False)
        waiting.add_done_callback(_forget)
        begun = without_secrets(running.latest())
        return ToolOutput(
            output=(
                f"{_IN_BACKGROUND}{running.pid}. read_background_output shows what it puts out,"
                f" stop_background_process ends it.{_reached(proposal.sandbox, _wish(context))}"
                + (f"{_SO_FAR}{begun}" if begun else " It has put out nothing so far.")
            ),
            summary="runs in the background",
        )


def output_of(end: CommandEnd, *, was_stopped: bool) -> ToolOutput:
    """What the model and people are told of a command that ended, its secrets masked. Not for the event loop."""
    notes = [without_secrets(note) for note in end.disarmed]
    if end.guessed:
        notes.append(f"Lines that are no UTF-8 were read as {end.guessed}, which is a guess")
    if end.repaints:
        notes.append(
            f"{end.repaints:,} states of lines that were written over (\\r) are left out, for the next one has the same"
            r" words. To see all, add | tr '\r' '\n'"
        )
    if was_stopped:
        notes.append(_STOPPED)
    elif end.timed_out:
        notes.append(_TOO_LONG)
    if end.exit_code is not None:
        notes.append(f"Exit code: {end.exit_code}")
    elif end.signal:
        notes.append(f"Ended by the signal {end.signal}")
    if end.is_lost:
        notes.append(
            "What watched over it was ended before it, so how it ended is not known. All of it that could be found was"
            " ended; what else it left running is not known"
        )
    if end.survivors:
        notes.append(f"Could not be ended and still run: {', '.join(end.survivors)}")
    if _is_held_back(end.sandbox) and end.exit_code != 0 and _HELD_BACK.search(end.output):
        notes.append(f"{end.sandbox} The fault may come from that.")
    if _is_held_back(end.sandbox) and _says_settings_are_held(end.output):
        notes.append(
            "git's settings can only be read in the sandbox, so this one is not written, whatever git said next; the"
            " rest of the command was done. If it matters, tell the user the line to run"
        )
    text = without_secrets(end.output)
    text = text if not text or text.endswith("\n") else text + "\n"
    is_ok = end.exit_code == 0 and not was_stopped and not end.timed_out
    summary = f"exit code {end.exit_code}" if end.exit_code is not None else f"signal {end.signal}"
    if end.is_lost:
        summary = "its end is not known"
    summary = "stopped" if was_stopped else "timed out" if end.timed_out else summary
    if end.disarmed:
        summary += "; what it made for git to run is disarmed"
    return ToolOutput(
        output=(text or "(no output)\n") + "\n".join(f"[{note}]" for note in notes),
        summary=summary,
        outcome="interrupted" if was_stopped else "timedOut" if end.timed_out else "ok" if is_ok else "failed",
        is_whole_file=end.spill_path,
    )


def put_out(told: str) -> str:
    """What a command itself put out, of what the model was told of it."""
    if told.startswith(_IN_BACKGROUND):
        return told.partition(_SO_FAR)[2]
    notes = [found.start() for found in _NOTES.finditer(told)]
    if not notes:
        return told  # it was cut there, or another tool words it
    text = told[: notes[-1]]
    for note in (_TOO_LONG, _STOPPED):
        text = text.removesuffix(f"[{note}]\n")
    return "" if text == "(no output)\n" else text


def _says_settings_are_held(output: str) -> bool:
    return any(".git/" in line and _SETTINGS_HELD.search(line) for line in output.splitlines())


def _is_held_back(sandbox: str | None) -> bool:
    return bool(sandbox) and not str(sandbox).startswith("No sandbox")


def _reached(sandbox: str | None, wish: SandboxWish) -> str:
    """How a server in the background is reached, for the model."""
    if not _is_held_back(sandbox) or wish.network:
        return ""
    return f" The next commands of this chat reach its ports at 127.0.0.1; the user's browser does not: {_NETWORK}."


def bare(output: str) -> str:
    """The output alone of a command that ended well, as `output_of` tells of it; any other as it is told."""
    if not output.endswith("[Exit code: 0]"):
        return output
    return output.removesuffix("[Exit code: 0]").removesuffix("(no output)\n").rstrip("\n")


async def _folder(path: str | None, context: ToolContext) -> str:
    if not context.roots:
        raise ToolRefusal("No workspace folder is open, so there is no folder to run a command in.")
    place = await context.ports.files.place(path or context.roots[0], context.roots)
    if place.root is None:
        raise ToolRefusal(f"{place.shown} is outside the workspace folders. Commands start inside.", outcome="declined")
    if place.kind == "missing" and place.path == place.root:
        raise ToolRefusal(gone(place.root))
    if place.kind != "folder":
        raise ToolRefusal(f"{place.shown} is no folder.")
    return place.path


def _wish(context: ToolContext) -> SandboxWish:
    options = context.options
    return SandboxWish(
        use=options.get("sandbox", "auto"),
        network=options.get("network", False),
        chat=context.chat_id or context.session_id,
        environment=options.get("environment", ()),
        without=options.get("without_environment", ()),
        sockets=options.get("sockets", ()),
    )


def _short(line: str) -> str:
    shown = _BLANKS.sub(" ", line).strip()
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1] + "…"


def _forget(waiting: asyncio.Future[CommandEnd]) -> None:
    if not waiting.cancelled():
        waiting.exception()  # the book has it too
