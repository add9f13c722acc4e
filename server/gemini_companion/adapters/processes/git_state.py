"""What git says of a workspace folder, asked without running anything that a repository brings along.

A repository of another owner is left alone. Where the repository's own settings would have git run a program (see
`repositories`), git is not started: only the branch is read, from the disk.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from gemini_companion.adapters.processes.environment import clean
from gemini_companion.adapters.processes.repositories import repository_of, runs
from gemini_companion.engine.prompts.git_state import MOST_COMMITS, MOST_REPOSITORIES, GitState

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

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**clean(environment), "GIT_ASKPASS": "", "LC_ALL": "C.UTF-8"}
        self._git = shutil.which("git", path=self._environment["PATH"])

    async def read(self, folders: Sequence[str]) -> list[GitState]:
        """The state of each repository that the first few folders are in; see `GitStates`."""
        found = await asyncio.gather(*(self._read(folder) for folder in folders[:MOST_REPOSITORIES]))
        return [state for state in found if state is not None]

    async def _read(self, folder: str) -> GitState | None:
        try:
            real = await asyncio.to_thread(os.path.realpath, folder)
            place = await asyncio.to_thread(_own_repository, real)
        except (OSError, ValueError):
            return None
        if place is None:
            return None
        top, git = place
        branch = await asyncio.to_thread(_branch_on_disk, git)
        if branch is None:
            return None
        known = GitState(folder=folder, branch=branch, is_partial=True)
        if self._git is None or await asyncio.to_thread(runs, real):
            return known
        try:
            async with asyncio.timeout(SECONDS):
                status, log = await asyncio.gather(self._run(real, _STATUS), self._run(real, _LOG))
        except (TimeoutError, OSError):
            return known
        if status is None:
            return known
        return _state_of(folder, top, branch, status, log or b"")

    async def _run(self, folder: str, arguments: Sequence[str]) -> bytes | None:
        """The output of git, its last incomplete record left out if it is too long; `None` if it failed."""
        assert self._git is not None
        process = await asyncio.create_subprocess_exec(
            self._git,
            *_QUIET,
            *arguments,
            cwd=folder,
            env=self._environment,
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


def _own_repository(folder: str) -> tuple[str, str] | None:
    """Top and git folder of the repository that a folder is in, if both are this person's."""
    place = repository_of(folder)
    if place is None or not hasattr(os, "geteuid"):
        return place
    owners = {os.lstat(path).st_uid for path in (*place, os.path.join(place[0], ".git"))}
    return place if owners == {os.geteuid()} else None


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
