"""What git says of a workspace folder, asked without running anything that a repository brings along.

A repository of another owner is left alone. Where the repository's own settings would have git run a program (see
`repositories`), git does not look: only the branch is read, from the disk. Where it looks, it has settings of ours in
place of the repository's, and it is in a sandbox where there is one: read-only, without network and logins.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from gemini_companion.adapters.processes.environment import clean, program_finder
from gemini_companion.adapters.processes.repositories import SHADOW, Repositories, Repository, Strange, shadow_of
from gemini_companion.adapters.processes.sandbox import Held, Sandboxes
from gemini_companion.engine.prompts.git_state import MOST_COMMITS, MOST_REPOSITORIES, GitState
from gemini_companion.tools.ports import SandboxWish

SECONDS: Final = 2.0
"""Longest wait for one repository."""
_MOST: Final = 1_000_000
"""Bytes of output that are read."""
_BRANCH: Final = re.compile(r"ref: refs/heads/([^\x00-\x20\x7f~^:?*\[\\]{1,250})\s*\Z")
_COMMIT: Final = re.compile(r"[0-9a-f]{40,64}\s*\Z")

_QUIET: Final = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "diff.external="),
    *("-c", "submodule.recurse=false"),
)
"""Options ahead of each command; they go over every file of settings."""
_STATUS: Final = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all"),
    *("--no-renames", "--", "."),
)
_LOG: Final = (
    *("log", f"--max-count={MOST_COMMITS}", "-z", "--format=%h%x09%s", "--no-color", "--no-decorate"),
    *("--no-show-signature", "--no-notes", "--no-ext-diff", "--no-textconv", "--no-patch"),
)


class GitReader:
    """`GitStates` of this machine's disk. `environment` is the daemon's; git gets little of it."""

    def __init__(self, environment: Mapping[str, str], sandboxes: Sandboxes | None = None) -> None:
        kept = clean(environment)
        self._environment = {**kept, "GIT_ASKPASS": "", "LC_ALL": "C.UTF-8"}
        self._git = shutil.which("git", path=kept["PATH"])
        self._repositories = Repositories(kept, program_finder(environment))
        self._sandboxes = sandboxes or Sandboxes.of(environment)

    async def read(self, folders: Sequence[str]) -> list[GitState]:
        """The state of each repository that the first few folders are in; see `GitStates`."""
        found = await asyncio.gather(*(self._read(folder) for folder in folders[:MOST_REPOSITORIES]))
        return [state for state in found if state is not None]

    async def _read(self, folder: str) -> GitState | None:
        try:
            real = await asyncio.to_thread(os.path.realpath, folder)
            found = await asyncio.to_thread(self._around, real)
            if found is None or not found.git or not await asyncio.to_thread(_is_own, found.top, found.git):
                return None
            branch = await asyncio.to_thread(_branch_on_disk, found.git)
        except (OSError, ValueError):
            return None
        if branch is None:
            return None
        known = GitState(folder=folder, branch=branch, is_partial=True)
        if isinstance(found, Strange):
            return known
        try:
            said = await self._looked(found, real)
        except (TimeoutError, OSError):
            return known
        if said is None:
            return known
        status, log = said
        return _state_of(folder, found.top, branch, status, log or b"")

    def _around(self, folder: str) -> Repository | Strange | None:
        try:
            return self._repositories.around(folder)
        except Strange as strange:
            return strange

    async def _looked(self, repository: Repository, folder: str) -> tuple[bytes, bytes | None] | None:
        """What git says of the work tree and of the last commits; `None` if it fails."""
        held = await asyncio.to_thread(self._sandboxes.choose, SandboxWish(), ())
        shadow = await asyncio.to_thread(tempfile.mkdtemp, prefix=SHADOW)
        try:
            environment = {**self._environment, **await asyncio.to_thread(shadow_of, repository, shadow)}
            if held.arguments[:1] and held.arguments[0].endswith("bwrap"):
                # What lies in a folder that is empty in there comes back.
                shown = (
                    word for path in (repository.common, repository.top, shadow) for word in ("--ro-bind", path, path)
                )
                held.arguments += tuple(shown)
            async with asyncio.timeout(SECONDS):
                status, log = await asyncio.gather(
                    *(self._run(folder, words, environment, held) for words in (_STATUS, _LOG))
                )
            return None if status is None else (status, log)
        finally:
            held.release()
            await asyncio.to_thread(shutil.rmtree, shadow, ignore_errors=True)

    async def _run(
        self, folder: str, arguments: Sequence[str], environment: Mapping[str, str], held: Held
    ) -> bytes | None:
        """The output of git, its last incomplete record left out if it is too long; `None` if it failed."""
        assert self._git is not None
        process = await asyncio.create_subprocess_exec(
            *held.wrap((self._git, *_QUIET, *arguments), folder),
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            output = bytearray()
            while piece := await process.stdout.read(1 << 16):
                output += piece
                if len(output) > _MOST:
                    return bytes(output[: output.rfind(b"\0", 0, _MOST) + 1])
            return bytes(output) if await process.wait() == 0 else None
        finally:
            await asyncio.shield(_end(process))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it, with all that it started."""
    assert process.stdout is not None
    if process.returncode is None:
        with suppress(OSError):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        while await process.stdout.read(1 << 16):  # with output unread, its end is never noticed
            pass
    await process.wait()


def _is_own(top: str, git: str) -> bool:
    """Whether a repository is this person's."""
    if not hasattr(os, "geteuid"):
        return True
    return {os.lstat(path).st_uid for path in (top, git, os.path.join(top, ".git"))} == {os.geteuid()}


def _branch_on_disk(git: str) -> str | None:
    try:
        with open(os.path.join(git, "HEAD"), encoding="utf-8", errors="replace") as file:
            head = file.read(1_000)
    except OSError:
        return None
    if found := _BRANCH.match(head):
        return found[1]
    return f"detached at {head[:7]}" if _COMMIT.match(head) else None


def _state_of(folder: str, top: str, branch: str, status: bytes, log: bytes) -> GitState:
    upstream, ahead, behind = "", 0, 0
    changed: list[tuple[str, str]] = []
    for record in status.decode("utf-8", "replace").split("\0"):
        kind, _, rest = record.partition(" ")
        match kind:
            case "#":
                name, _, value = rest.partition(" ")
                if name == "branch.upstream":
                    upstream = value
                elif name == "branch.ab" and (counts := re.match(r"\+(\d{1,9}) -(\d{1,9})\Z", value)):
                    ahead, behind = int(counts[1]), int(counts[2])
            case "1" | "u":
                fields = rest.split(" ", 7 if kind == "1" else 9)
                changed.append((fields[0].replace(".", " "), os.path.join(top, fields[-1])))
            case "?":
                changed.append(("??", os.path.join(top, rest)))
            case _:
                pass
    commits = tuple(
        (name, subject)
        for name, tab, subject in (line.partition("\t") for line in log.decode("utf-8", "replace").split("\0"))
        if tab
    )
    return GitState(
        folder=folder,
        branch=branch,
        upstream=upstream,
        ahead=ahead,
        behind=behind,
        changed=tuple(changed),
        commits=commits,
    )
