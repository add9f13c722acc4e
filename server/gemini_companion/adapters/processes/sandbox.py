"""What holds a command back: bubblewrap on Linux, seatbelt on macOS, or nothing, and that is said."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from gemini_companion.adapters.processes import bubblewrap, reaper, seatbelt
from gemini_companion.adapters.processes.disarming import Disarmed, Disarmer, State, told
from gemini_companion.adapters.processes.disk_view import PLAIN, View, is_below, layered, mounts, single
from gemini_companion.adapters.processes.environment import Given, clean, given, program_finder
from gemini_companion.adapters.processes.git_folders import MOST_FOUND, HeldGit, Seen, Walks, repositories_in
from gemini_companion.adapters.processes.placeholders import Placeholder, hold, links_in, remove_unused
from gemini_companion.adapters.processes.repositories import Repositories
from gemini_companion.adapters.processes.shared_space import SpaceFault, Spaces
from gemini_companion.tools.ports import SandboxWish
from gemini_companion.tools.tool import ToolRefusal

logger = logging.getLogger(__name__)

PROBE_SECONDS: Final = 5.0
REAPER: Final = str(Path(reaper.__file__).resolve())

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
    """Whoever watches over the command is given their descriptors, and takes them away after it."""
    links: tuple[tuple[str, str], ...] = ()
    """Links that the command may not replace, and where they lead: whoever watches over it makes them again."""
    staged: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Folders with such links, the place where they are to be mounted first, and the links' paths in them."""
    namespaces: tuple[int, ...] = ()
    """Descriptors of what the command is to join before its sandbox is made; of this object."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the command gets."""
    on_end: Callable[[], tuple[str, ...]] = tuple
    """Looks at what it left; what was done about that, for the model and people."""

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
        for one in self.namespaces:
            os.close(one)
        self.namespaces = ()

    def release(self) -> tuple[str, ...]:
        """The command has ended, or was never started. Blocks; says what was done about what it left."""
        self.let_go()
        for one in self.placeholders:
            remove_unused(one.path)
        for path, target in self.links:
            reaper.put_back(path, target)
        return self.on_end()


class _Look(NamedTuple):
    """What of git is in a workspace folder before a command."""

    held: HeldGit
    missing: tuple[str, ...]
    """Files with settings that are not there."""
    seen: Seen
    state: State


@dataclass(frozen=True, slots=True)
class _Way:
    """How bubblewrap works here."""

    program: str
    cause: str = ""
    """Why it does not, and nothing does."""
    is_shared: bool = False
    """Commands of a chat can share a network and `/tmp`."""
    has_layers: bool = False
    """The disk can be shown in layers, in which no socket is."""


class Sandboxes:
    """Chooses sandboxes. Whether one works, and how, is tried out once."""

    def __init__(self, *, home: str, private: Sequence[str], environment: Mapping[str, str], platform: str) -> None:
        self._home = os.path.realpath(home)
        self._covered = (*(os.path.join(home, name) for name in CREDENTIALS), *private)
        self._own_environment = dict(environment)
        self._environment = clean(environment)
        self._platform = platform
        self._ways: dict[bool, _Way] = {}
        self._layers: dict[str, bool] = {}
        """By folder: whether it can be one."""
        self._walks = Walks(self._home)
        self._repositories = Repositories(self._environment, program_finder(environment))
        self._disarmer = Disarmer(self._repositories)
        self._told_partial: set[str] = set()
        """Workspace folders of which it was said that not all of it is looked at."""
        self._loose: dict[str, bool] = {}
        """By each `.git` below workspace folders: whether a command may delete it. It may if a command made it, or if
        it lies in a folder that another repository ignores. What it has git run is looked at when a command has ended.
        """
        self._trying = threading.Lock()
        self.spaces = Spaces(self._environment)

    @classmethod
    def of(
        cls, environment: Mapping[str, str], *, private: Sequence[str] = (), platform: str = sys.platform
    ) -> Sandboxes:
        """Those of a daemon with this environment. No command in one sees `private` folders and files."""
        home = environment.get("HOME") or os.path.expanduser("~")
        return cls(home=home, private=private, environment=environment, platform=platform)

    def choose(self, wish: SandboxWish, roots: tuple[str, ...], *, is_used: bool = True) -> Held:
        """The sandbox for a wish. Raises `ToolRefusal` where one is demanded and there is none.

        One that is not used for commands holds nothing: it is for its description, or for what makes nothing. Only a
        wish that names a chat shares anything with others, and then `Held.namespaces` are to be joined.
        """
        given = self._given(wish)
        if wish.use == "off":
            return self._without("settings turn it off", given)
        if self._platform == "darwin":
            program, cause = seatbelt.PROGRAM, "" if os.path.exists(seatbelt.PROGRAM) else "there is no sandbox-exec"
            if not cause:
                profile = seatbelt.profile(
                    roots, self._covered, network=wish.network, sockets=given.sockets, home=self._home
                )
                network = "with network" if wish.network else "without network"
                held = f"Sandbox (seatbelt): writes only in the workspace, {network}.{self._of_home(roots)}"
                looks = [self._look(root) for root in roots if is_used]
                return Held(
                    f"{held}{given.said}",
                    (program, "-p", profile),
                    environment=given.variables,
                    on_end=lambda: self._disarmed(looks, roots),
                )
        elif self._platform == "linux":
            way = self._way(wish.network)
            if not (cause := way.cause):
                return self._bubblewrap(way, wish, roots, given, is_used=is_used)
        else:
            cause = "there is no bubblewrap (bwrap) here"
        if wish.use == "required":
            raise ToolRefusal(
                f"Settings demand a sandbox for commands, and there is none: {cause}. Nothing was run.",
                outcome="declined",
            )
        return self._without(cause, given)

    def _without(self, cause: str, given: Given) -> Held:
        return Held(f"No sandbox: {cause}.{given.said}", environment=given.variables)

    def _given(self, wish: SandboxWish) -> Given:
        return given(self._own_environment, wish.environment, wish.without, sockets=wish.sockets)

    def _bubblewrap(self, way: _Way, wish: SandboxWish, roots: tuple[str, ...], given: Given, *, is_used: bool) -> Held:
        # What is below `/dev/shm` cannot be seen from where `/tmp` is shared.
        hides = any(is_below(path, (bubblewrap.SHARED,)) for path in (*roots, *given.sockets))
        is_shared = way.is_shared and not hides and bool(wish.chat)
        description = f"{_described(wish, way, is_shared=is_shared)}{self._of_home(roots)}{given.said}"
        if not is_used:
            plain = bubblewrap.arguments(way.program, roots, self._covered, network=wish.network)
            return Held(description, plain, environment=given.variables)
        try:
            namespaces = self.spaces.join(way.program, wish.chat, roots, network=wish.network) if is_shared else ()
        except SpaceFault as fault:
            raise ToolRefusal(f"The sandbox of this chat cannot be made: {fault}. Nothing was run.") from fault
        looks = [self._look(root) for root in roots]
        placeholders = hold(each.held for each in looks)  # before the arguments, which name what is there
        links = {each.held.root: tuple(links_in(each.held)) for each in looks}
        staged = tuple(
            (root, f"{bubblewrap.STAGED}/{at}", tuple(os.path.relpath(path, root) for path, _ in found))
            for at, (root, found) in enumerate(links.items())
            if found and is_shared
        )
        arguments = bubblewrap.arguments(
            way.program,
            roots,
            self._covered,
            network=wish.network,
            is_shared=is_shared,
            sources={root: place for root, place, _ in staged},
            home=self._home,
            programs=self._environment.get("PATH", "").split(os.pathsep),
            view=self._view(way) if is_shared else PLAIN,
            sockets=given.sockets,
            folders=given.folders,
            held=[each.held for each in looks],
        )
        variables = {**given.variables, **{name: "/tmp" for name in _TEMPORARY if name in given.variables}}
        lists = [made for root in roots if (made := _ignoring(root, placeholders))]
        arguments += tuple(word for exclude, made in lists for word in ("--ro-bind", made, exclude))

        def end() -> tuple[str, ...]:
            for _, made in lists:
                with suppress(OSError):
                    os.unlink(made)
            return self._disarmed(looks, roots)

        return Held(
            description,
            arguments,
            placeholders,
            tuple(link for root, found in links.items() for link in _to_put_back(root, found)),
            staged,
            namespaces,
            variables,
            end,
        )

    def _of_home(self, roots: Sequence[str]) -> str:
        return _OF_HOME if any(is_below(self._home, (root,)) for root in roots) else ""

    def _look(self, root: str) -> _Look:
        """What of git is in a workspace folder before a command."""
        seen = self._walks.look(root)
        hooks, settings = self._repositories.persons(root)
        held = HeldGit.of(root, self._to_hold(root, seen), is_home=root == self._home, hooks=hooks, settings=settings)
        own = (os.path.join(folder, "config") for folder in held.repositories)
        missing = tuple(path for path in (*held.settings_files, *own) if not os.path.lexists(path))
        return _Look(held, missing, seen, self._state(held, missing, seen, opens=False))

    def _state(self, held: HeldGit, missing: Sequence[str], seen: Seen, *, opens: bool) -> State:
        every = repositories_in(held.root, (*seen.named, *seen.bare), MOST_FOUND)
        fast = set(held.repositories)
        return self._disarmer.look(held.root, [one for one in every if one not in fast], missing, opens=opens)

    def _to_hold(self, root: str, seen: Seen) -> list[str]:
        """The `.git`s that no command may delete."""
        if self._platform == "darwin":  # its profile has names, and no list of what was found
            return [path for path in seen.named if os.path.dirname(path) == root]
        gits = {os.path.dirname(path): path for path in seen.named}
        around = {path: _around(os.path.dirname(path), root, gits) for path in seen.named if path not in self._loose}
        while around:  # the outer ones first: what lies in a repository that may be deleted may be too
            ready = [path for path, outer in around.items() if outer not in around]
            asked: dict[str, list[str]] = {}
            for path in ready:
                outer = around.pop(path)
                self._loose[path] = bool(outer) and self._loose[outer]
                if outer and not self._loose[path]:
                    asked.setdefault(os.path.dirname(outer), []).append(os.path.dirname(path))
            for folder, inner in asked.items():
                self._loose.update((gits[one], True) for one in self._repositories.ignored(folder, inner))
        return [path for path in seen.named if not self._loose[path]]

    def _disarmed(self, looks: Sequence[_Look], roots: Sequence[str]) -> tuple[str, ...]:
        """What was done about what a command made of git. Raises nothing: the command has run."""
        done: list[Disarmed] = []
        is_partial = False
        for before in looks:
            root = before.held.root
            try:
                seen = self._walks.look(root, after=before.seen)
                made = set(seen.named).difference(before.seen.named, (os.path.join(one, ".git") for one in roots))
                self._loose.update(dict.fromkeys(made, True))
                now = self._state(before.held, before.missing, seen, opens=True)
                done += self._disarmer.disarm(root, roots, now, before.state)
                if seen.is_partial and root not in self._told_partial:
                    self._told_partial.add(root)
                    is_partial = True
            except Exception:
                logger.exception("What a command made of git in %s could not be looked at", root)
                is_partial = True
        return told(done, is_partial=is_partial)

    def _view(self, way: _Way) -> View:
        """The disk in layers, if they work; a folder that has not been tried yet is."""
        if not way.has_layers:
            return PLAIN
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            mounted = mounts(file.read())
        view = layered(mounted, bubblewrap.NOTHING, lambda folder: self._layers.get(folder, True))
        with self._trying:
            new = [folder for folder in view.layers if folder not in self._layers]
            if not new:
                return view
            if not self._fault_of(way, view):
                self._layers.update(dict.fromkeys(new, True))
                return view
            for folder in new:
                self._layers[folder] = not self._fault_of(way, single(folder, bubblewrap.NOTHING))
        return layered(mounted, bubblewrap.NOTHING, lambda folder: self._layers.get(folder, True))

    def _way(self, network: bool) -> _Way:
        if network not in self._ways:
            with self._trying:
                self._ways.setdefault(network, self._tried(network))
        return self._ways[network]

    def _tried(self, network: bool) -> _Way:
        """The best way that works: with layers, with what chats share, at all."""
        programs = bubblewrap.find(self._environment.get("PATH", ""))
        for view, has_layers in ((single("/usr", bubblewrap.NOTHING), True), (PLAIN, False)):
            for program in programs:
                way = _Way(program, is_shared=True, has_layers=has_layers)
                if not self._fault_of(way, view, network=network):
                    return way
        cause = "there is no bubblewrap (bwrap) here"
        for program in programs:
            way = _Way(program)
            fault = self._fault_of(way, PLAIN, network=network)
            if not fault:
                return way
            cause = fault if cause.startswith("there is no") else cause
        return _Way("", cause)

    def _fault_of(self, way: _Way, view: View, *, network: bool = False) -> str:
        """Why a way does not work here; empty if it does."""
        arguments = bubblewrap.arguments(
            way.program, (), self._covered, network=network, is_shared=way.is_shared, view=view
        )
        descriptors: tuple[int, ...] = ()
        try:
            if way.is_shared:
                descriptors = self.spaces.make(way.program)
                joined = ",".join(map(str, descriptors))
                arguments = (sys.executable, "-I", "-S", REAPER, "--join", joined, *arguments)
            tried = subprocess.run(
                [*arguments, "--", "true"],
                env=self._environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=descriptors,
                timeout=PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired, SpaceFault) as fault:
            return f"bubblewrap does not start ({type(fault).__name__})"
        finally:
            for one in descriptors:
                os.close(one)
        if tried.returncode == 0:
            return ""
        said = tried.stderr.decode("utf-8", "replace").strip().splitlines()
        cause = said[-1][:200].rstrip(".") if said else f"exit code {tried.returncode}"
        hint = ""
        if any(word in cause for word in ("RTM_NEWADDR", "setting up uid map", "Permission denied", "No permissions")):
            hint = "; the system does not let programs make namespaces, on Ubuntu by AppArmor"
        return f"bubblewrap does not work here ({cause}{hint})"


_OF_HOME: Final = " In your home folder no names can be made, and what begins with a dot cannot be changed."
_TEMPORARY: Final = ("TMPDIR", "TEMP", "TMP")


def _to_put_back(root: str, links: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Links by paths without a link on their way; none that lies outside of the folder, where no command writes."""
    root = os.path.realpath(root)
    for path, target in links:
        parent, name = os.path.split(path)
        parent = os.path.realpath(parent)
        if parent == root or parent.startswith(root.rstrip("/") + "/"):
            yield os.path.join(parent, name), target


def _ignoring(root: str, placeholders: Sequence[Placeholder]) -> tuple[str, str] | None:
    """A repository's list of what it ignores, and a file to be seen in its place with the placeholders in it: `git
    clean` and `git stash -u` would fail to delete them.
    """
    exclude = os.path.join(root, ".git", "info", "exclude")
    names = [os.path.basename(one.path) for one in placeholders if os.path.dirname(one.path) == root]
    if not names or os.path.realpath(exclude) != exclude or not os.path.isfile(exclude):
        return None
    with suppress(OSError):
        with open(exclude, "rb") as file:
            listed = file.read()
        descriptor, made = tempfile.mkstemp(prefix="gemini-companion-ignored-")
        with open(descriptor, "wb") as file:
            file.write(listed + b"".join(b"\n/%s/" % os.fsencode(name) for name in names) + b"\n")
        return exclude, made
    return None


def _around(folder: str, root: str, gits: Mapping[str, str]) -> str:
    """The `.git` of the repository that a folder lies in; empty for a workspace folder and the folders in it."""
    path = os.path.dirname(folder)
    if root in {folder, path}:
        return ""
    while path not in gits and path != root:
        path = os.path.dirname(path)
    return gits.get(path, "")


def _described(wish: SandboxWish, way: _Way, *, is_shared: bool) -> str:
    """What the sandbox lets through, for people and models."""
    whose, among = ("of this chat", " but among this chat's commands") if is_shared else ("of its own", "")
    network = "with network" if wish.network else f"without network{among}"
    layers = "" if way.has_layers or not is_shared else " Sockets that other programs open later can be reached."
    return f"Sandbox (bubblewrap): writes only in the workspace and in a /tmp {whose}, {network}.{layers}"
