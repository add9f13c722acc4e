"""What holds a command back: bubblewrap on Linux, seatbelt on macOS, or nothing, and that is said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gemini_companion.adapters.processes import bubblewrap, seatbelt
from gemini_companion.adapters.processes.git_folders import pointer_away
from gemini_companion.adapters.processes.placeholders import Placeholder, hold, remove_unused
from gemini_companion.tools.ports import SandboxWish
from gemini_companion.tools.tool import ToolRefusal

PROBE_SECONDS: Final = 5.0

CREDENTIALS: Final = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/op", ".gemini",
    ".config/github-copilot", ".codex", ".claude", ".netrc", ".npmrc", ".pypirc", ".git-credentials",
    ".cargo/credentials", ".cargo/credentials.toml", ".config/git/credentials", ".password-store",
    ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium", ".thunderbird", ".pgpass",
    ".my.cnf", ".vault-token", ".terraform.d", ".m2/settings.xml", ".gradle/gradle.properties", ".bash_history",
    ".zsh_history", ".python_history", "Library/Keychains", "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
)  # fmt: skip
"""What nobody's tests need and everybody's keys are in, below the home folder."""


@dataclass(slots=True)
class Held:
    """One command's sandbox. `release` takes back what it needed on the disk."""

    description: str
    arguments: tuple[str, ...] = ()
    placeholders: tuple[Placeholder, ...] = ()
    """Whoever watches over the command is given their descriptors, and takes the folders away after it."""
    unwanted: tuple[str, ...] = ()
    """Files that were not there and that no command is to make: what it makes of them goes when it ends."""

    def wrap(self, command: Sequence[str], cwd: str) -> tuple[str, ...]:
        """The command with its sandbox in front."""
        if not self.arguments:
            return tuple(command)
        chdir = ("--chdir", cwd, "--") if self.arguments[0].endswith("bwrap") else ()
        return (*self.arguments, *chdir, *command)

    def let_go(self) -> None:
        """The command's watcher has been started: it holds now what must be there."""
        for one in self.placeholders:
            one.close()

    def release(self) -> None:
        """The command has ended, or was never started."""
        self.let_go()
        for one in self.placeholders:
            remove_unused(one.path)
        for path in self.unwanted:
            with suppress(OSError):
                os.unlink(path)


class Sandboxes:
    """Chooses sandboxes. Whether one works is tried out once for each kind of network."""

    def __init__(self, *, home: str, private: Sequence[str], environment: Mapping[str, str], platform: str) -> None:
        self._covered = (*(os.path.join(home, name) for name in CREDENTIALS), *private)
        self._environment = dict(environment)
        self._platform = platform
        self._causes: dict[tuple[str, bool], str] = {}

    def choose(self, wish: SandboxWish, roots: tuple[str, ...], *, is_used: bool = True) -> Held:
        """The sandbox for a wish. Raises `ToolRefusal` where one is demanded and there is none."""
        if wish.use == "off":
            return Held("No sandbox: settings turn it off.")
        if self._platform == "darwin":
            program, cause = seatbelt.PROGRAM, "" if os.path.exists(seatbelt.PROGRAM) else "there is no sandbox-exec"
        else:
            program = bubblewrap.find(self._environment.get("PATH", "")) if self._platform == "linux" else None
            cause = self._cause(program, wish.network) if program else "there is no bubblewrap (bwrap) here"
        if program is None or cause:
            if wish.use == "required":
                raise ToolRefusal(
                    f"Settings demand a sandbox for commands, and there is none: {cause}. Nothing was run.",
                    outcome="declined",
                )
            return Held(f"No sandbox: {cause}.")
        network = "with network" if wish.network else "without network"
        if self._platform == "darwin":
            profile = seatbelt.profile(roots, self._covered, network=wish.network)
            return Held(f"Sandbox (seatbelt): writes only in the workspace, {network}.", (program, "-p", profile))
        placeholders = hold(roots) if is_used else ()  # before the arguments, which name what is there
        arguments = bubblewrap.arguments(program, roots, self._covered, network=wish.network)
        return Held(
            f"Sandbox (bubblewrap): writes only in the workspace, {network}.",
            arguments,
            placeholders,
            tuple(path for root in roots if (path := pointer_away(root))) if is_used else (),
        )

    def _cause(self, program: str, network: bool) -> str:
        """Why a sandbox does not work here; empty if it does."""
        key = (program, network)
        if key not in self._causes:
            self._causes[key] = self._probe(program, network)
        return self._causes[key]

    def _probe(self, program: str, network: bool) -> str:
        arguments = bubblewrap.arguments(program, (), self._covered, network=network)
        try:
            tried = subprocess.run(
                [*arguments, "--", "true"],
                env=self._environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            return f"bubblewrap does not start ({type(fault).__name__})"
        if tried.returncode == 0:
            return ""
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        cause = said[-1][:200].rstrip(".") if said else f"exit code {tried.returncode}"
        hint = ""
        if any(word in cause for word in ("RTM_NEWADDR", "setting up uid map", "Permission denied", "No permissions")):
            hint = "; the system does not let programs make namespaces, on Ubuntu by AppArmor"
        return f"bubblewrap does not work here ({cause}{hint})"
