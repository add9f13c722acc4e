"""What holds a command back: bubblewrap on Linux, seatbelt on macOS, or nothing, and that is said."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gemini_companion.adapters.files.folder import held as folder_held
from gemini_companion.adapters.processes import bubblewrap, reaper, seatbelt
from gemini_companion.adapters.processes.disarming import Disarmer, Led, State, told, written_in
from gemini_companion.adapters.processes.disk_view import PLAIN, View, is_below, layered, mounts, single
from gemini_companion.adapters.processes.environment import Given, clean, given, program_finder
from gemini_companion.adapters.processes.git_folders import (
    HeldGit,
    Seen,
    Walks,
    is_in,
    meant_by,
    places_of,
    repositories_in,
    tops_of,
    worktree_of,
    worktrees_of,
)
from gemini_companion.adapters.processes.placeholders import Placeholder, hold, is_placeholder, links_in, remove_unused
from gemini_companion.adapters.processes.repositories import Repositories
from gemini_companion.adapters.processes.shared_space import SpaceFault, Spaces
from gemini_companion.adapters.processes.unfinished import Book, Known, Unfinished, mark_of
from gemini_companion.adapters.workspace.following import followed
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
    staged: tuple[tuple[str, str, tuple[tuple[str, str, bool], ...]], ...] = ()
    """Folders that the command may write into, the place where each is to be mounted first, and what is held in it: the
    path in it, what is seen there instead, and whether it is fixed.
    """
    namespaces: tuple[int, ...] = ()
    """Descriptors of what the command is to join before its sandbox is made; of this object."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the command gets."""
    is_apart: bool = False
    """It is to be kept from sockets without a file, since it is given this machine's network."""
    on_look: Callable[[], tuple[str, ...]] = tuple
    """Looks at what it has made so far; what was done about that, for the model and people."""
    on_end: Callable[[], tuple[str, ...]] = tuple
    """Does so for the last time."""

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
        on_end, self.on_end = self.on_end, tuple
        return on_end()


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """What of git is in a workspace before a command."""

    held: HeldGit
    missing: tuple[str, ...]
    """Files with settings that are not there."""
    seen: Seen
    told: tuple[str, ...] = ()
    """What was done at once about what others, that still run, had made."""
    fast: dict[tuple[str, str], object] = field(default_factory=dict[tuple[str, str], object])
    """What decides in the repositories that are held."""
    pins: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """What is held, by its path. Where something else has its place it is held no more: the system takes a mount away
    when somebody outside replaces what it is on, as the person's own `git config` and `git switch` do.
    """
    begun: int = 0
    """When that was, in nanoseconds; nothing is older than it where that is not known."""

    def had(self, link: str) -> bool:
        """Whether a link was there, in this very folder, before the command. Who moves one sets its time."""
        folder = os.path.dirname(link)
        with suppress(OSError):
            is_same = self.seen.linked.get(folder) == _number(os.lstat(folder))
            return is_same and os.lstat(link).st_ctime_ns < self.begun
        return False


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


class _Pins:
    """Descriptors of what is held while commands run, one for all of them: nothing else gets its number meanwhile."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], int] = {}
        self._users = Counter[tuple[int, int]]()

    def take(self, path: str) -> tuple[int, int]:
        """The device and the number of what has a path. Raises `OSError`."""
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        number = _number(os.fstat(descriptor))
        if number in self._open or len(self._open) >= _MOST_PINNED:
            os.close(descriptor)
        else:
            self._open[number] = descriptor
        if number not in self._open:
            raise OSError(errno.EMFILE, "too many are held", path)
        self._users[number] += 1
        return number

    def give_back(self, number: tuple[int, int]) -> None:
        """One command less needs it."""
        self._users[number] -= 1
        if not self._users[number]:
            del self._users[number]
            os.close(self._open.pop(number))


class Sandboxes:
    """Chooses sandboxes. Whether one works, and how, is tried out once."""

    def __init__(
        self, *, home: str, private: Sequence[str], environment: Mapping[str, str], platform: str, notes: str = ""
    ) -> None:
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
        self._told_partial: set[tuple[str, ...]] = set()
        """Workspaces of which it was said that not all of it is looked at."""
        self._looking = threading.Lock()
        self._pins = _Pins()
        self._running: list[_Look] = []
        """Those of the commands that run."""
        self._before: dict[tuple[str, str], object] = {}
        """What decided before any of them ran, and what has been judged since."""
        self._book = Book(notes)
        self._catching_up = threading.Lock()
        self._has_caught_up = False
        self._told_later: tuple[str, ...] = ()
        self._loose: dict[str, bool] = {}
        """By each `.git` below workspace folders: whether a command may delete it. It may if a command made it, or if
        it lies in a folder that another repository ignores. What it has git run is looked at when a command has ended.
        """
        self._trying = threading.Lock()
        self.spaces = Spaces(self._environment)

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        *,
        private: Sequence[str] = (),
        platform: str = sys.platform,
        notes: str = "",
    ) -> Sandboxes:
        """Those of a daemon with this environment. No command in one sees `private` folders and files. In the folder
        `notes`, daemons leave to the next one what it is to look at if they are killed.
        """
        home = environment.get("HOME") or os.path.expanduser("~")
        return cls(home=home, private=private, environment=environment, platform=platform, notes=notes)

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
                look = self._begin(roots) if is_used else None
                return Held(
                    f"{held}{given.said}",
                    (program, "-p", profile),
                    environment=given.variables,
                    on_look=lambda: self._disarmed(look) if look else (),
                    on_end=lambda: self._ended(look) if look else (),
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
        look = self._begin(roots)
        try:
            return self._held(way, wish, look, given, description, namespaces)
        except BaseException:
            self._ended(look)
            for one in namespaces:
                os.close(one)
            raise

    def _held(
        self, way: _Way, wish: SandboxWish, look: _Look, given: Given, description: str, namespaces: tuple[int, ...]
    ) -> Held:
        held, is_shared = look.held, bool(namespaces)
        placeholders = hold(held)  # before the arguments, which name what is there
        links = tuple(_to_put_back(held, links_in(held)))
        fixed = bubblewrap.holds(held)
        if lists := [made for root in held.roots if (made := _ignoring(root, placeholders))]:
            fixed += (bubblewrap.Hold(path, shown=made) for path, made in lists)
        is_staged = is_shared and reaper.can_stage()
        staged = _staged(held.places, [*fixed, *(bubblewrap.Hold(path) for path, _ in links)]) if is_staged else ()
        pinned = (*held.repositories, *(path for path, _ in links))
        # Nobody replaces a `commondir` but with the folder that it is in.
        pinned += tuple(path for path, is_fixed, _ in fixed if is_fixed and os.path.basename(path) != "commondir")
        with self._looking:
            for path in dict.fromkeys(pinned):
                with suppress(OSError):
                    look.pins[path] = self._pins.take(path)
        is_apart = is_shared and wish.network and reaper.can_set_apart()
        arguments = bubblewrap.arguments(
            way.program,
            held.roots,
            self._covered,
            network=wish.network,
            is_shared=is_shared,
            sources={folder: place for folder, place, _ in staged},
            home=self._home,
            programs=self._environment.get("PATH", "").split(os.pathsep),
            view=self._view(way) if is_shared else PLAIN,
            sockets=given.sockets,
            folders=given.folders,
            held=fixed,
        )
        variables = {**given.variables, **{name: "/tmp" for name in _TEMPORARY if name in given.variables}}

        def end() -> tuple[str, ...]:
            for _, made in lists:
                with suppress(OSError):
                    os.unlink(made)
            return self._ended(look)

        return Held(
            description,
            arguments,
            placeholders,
            () if staged else links,  # where it is mounted, only the person can have replaced one
            staged,
            namespaces,
            variables,
            is_apart,
            lambda: self._disarmed(look),
            end,
        )

    def _of_home(self, roots: Sequence[str]) -> str:
        return _OF_HOME if any(is_below(self._home, (root,)) for root in roots) else ""

    def _begin(self, roots: tuple[str, ...], *, was: Unfinished | None = None) -> _Look:
        """Look at what of git is in a workspace before a command, which `_ended` ends.

        Where commands run already, what is new there may be theirs: it is judged at once. So it is where they ran when
        their daemon was killed.
        """
        if was is None:
            self._catch_up()
        with self._looking:
            places, begun = places_of(roots), 0 if was else time.time_ns()
            others = [look.held for look in self._running]
            known = {folder for other in others for folder in other.repositories}
            absent = {path for look in self._running for path in look.missing}
            if was is not None:
                others.append(HeldGit(roots, places))
                known.update(was.held)
                self._before = {**{(kind, path): Known(mark) for kind, path, mark in was.before}, **self._before}
            used = [place for other in others for place in other.places]
            seen = self._walks.look(places, opens=bool(used))
            persons = list(map(self._repositories.persons, roots))
            held = HeldGit.of(
                roots,
                self._to_hold(roots, seen, used, was.held if was else ()),
                home=self._home,
                hooks=_joined(hooks for hooks, _ in persons),
                settings=_joined(settings for _, settings in persons),
            )
            theirs = {folder for folder in held.repositories if folder not in known and is_in(folder, used)}
            held = replace(held, repositories=tuple(one for one in held.repositories if one not in theirs))
            own = (os.path.join(folder, "config") for folder in held.repositories)
            missing = tuple(path for path in (*held.settings_files, *own) if not os.path.lexists(path))
            now, seen = self._state(held, missing, seen, opens=bool(used))
            new = {
                key: value
                for key, value in now.items()
                if key[1] in absent or any(other.may_change(*key) for other in others)
            }
            for key in [key for key in self._before if held.may_change(*key) and key not in now]:
                del self._before[key]
            self._before.update((key, value) for key, value in now.items() if key not in new)
            look = _Look(held, missing, seen, fast=dict(self._held_state(held)), begun=begun)
            told_later, self._told_later = self._told_later, ()
            look = replace(look, told=(*told_later, *self._judged(look, seen, new)))
            self._running.append(look)
            self._note()
            return look

    def _catch_up(self) -> None:
        """Look at what was left by daemons that were killed, before any command begins; the first one is told."""
        with self._catching_up:
            if self._has_caught_up:
                return
            self._has_caught_up = True
            told_later: tuple[str, ...] = ()
            for one in self._book.left():
                try:
                    told_later += self._ended(self._begin(tuple(filter(os.path.isdir, one.roots)), was=one))
                except Exception:  # no command of this daemon's is to fail by that
                    logger.exception("What was left in %s could not be looked at", ", ".join(one.roots))
            if told_later:
                logger.warning("After a daemon that was killed: %s", " ".join(told_later))
                self._told_later += told_later

    def _note(self) -> None:
        """Keep for the next daemon what it is to look at if this one is killed. The lock is held."""
        places = [place for look in self._running for place in look.held.places]
        marks = {key: mark_of(value) for key, value in self._before.items() if is_in(key[1], places)}
        self._book.write({look.held.roots: look.held.repositories for look in reversed(self._running)}, marks)

    def _state(self, held: HeldGit, missing: Sequence[str], seen: Seen, *, opens: bool) -> tuple[State, Seen]:
        # Those of submodules and worktrees were seen too: they look like repositories.
        every = repositories_in(held.places, (*seen.named, *seen.bare), None, is_deep=False)
        fast = set(held.repositories)
        loose = [one for one in every if one not in fast]
        gits = [one for one in seen.named if one not in held.gits]
        all_ = (*held.repositories, *loose)
        shared = [found.common for root in held.roots if (found := worktree_of(root))]
        tops = tuple(dict.fromkeys((*all_, *worktrees_of((*all_, *shared)))))
        written = self._disarmer.look_written(
            held.places, tops, seen.written((*tops, *shared)), seen.refs_of((*tops, *shared)), keeps=not opens
        )
        state = self._disarmer.look(held.places, loose, gits, missing, opens=opens)
        led = (place for value in state.values() if isinstance(value, Led) for place in value.places)
        trees = dict.fromkeys((*map(os.path.dirname, gits), *loose, *led))
        fixed = set(held.hook_folders) if held.hooks else ()
        hooks = [path for path in held.hooks_in(trees) if path not in fixed]
        state = {**state, **written, **self._disarmer.look(held.places, (), (), (), hooks)}
        return state, seen._replace(tops=frozenset(tops))

    def _to_hold(self, roots: Sequence[str], seen: Seen, used: Sequence[str], were: Sequence[str]) -> list[str]:
        """The `.git`s that no command may delete. Below `used` folders commands run that may have made what is new;
        not the repositories that `were` there before.
        """
        if self._platform == "darwin":  # its profile has names, and no list of what was found
            return [path for path in seen.named if os.path.dirname(path) in roots]
        gits = {os.path.dirname(path): path for path in seen.named}
        self._loose.update(
            (path, True)
            for path in seen.named
            if path not in self._loose
            and is_in(path, used)
            and os.path.dirname(path) not in roots
            and meant_by(path) not in were
        )
        around = {path: _around(os.path.dirname(path), roots, gits) for path in seen.named if path not in self._loose}
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
        return [path for path in seen.named if not self._loose[path] or os.path.dirname(path) in roots]

    def _disarmed(self, look: _Look) -> tuple[str, ...]:
        """What was done about what commands made of git. Raises nothing: they have run."""
        held = look.held
        try:
            with self._looking:
                seen = self._walks.look(held.places, after=look.seen, opens=True)
                made = set(seen.named).difference(look.seen.named, (os.path.join(one, ".git") for one in held.roots))
                self._loose.update(dict.fromkeys(made, True))
                now, seen = self._state(held, look.missing, seen, opens=True)
                return self._judged(look, seen, now)
        except Exception:
            logger.exception("What commands made of git in %s could not be looked at", ", ".join(held.roots))
            return told((), is_partial=True)

    def _judged(self, look: _Look, seen: Seen, now: State) -> tuple[str, ...]:
        """Disarm what is new since commands run, and take the rest in. The lock is held."""
        held = look.held
        new = {key: value for key, value in now.items() if not self._is_known(key, value)}
        new = self._without_old_links(look, seen, new)
        done, fine = self._disarmer.disarm(held.roots, held.places, new, self._before)
        rebases = {key: value for key, value in new.items() if key[0] == "todo"}
        listed = self._disarmer.noticed(held.roots, held.places, rebases, self._before)
        self._before.update(fine)
        is_told = held.roots in self._told_partial and (look.seen.hides or not seen.hides)
        if seen.is_partial:
            self._told_partial.add(held.roots)
        noticed, replaced = self._noticed(look)
        noticed += listed
        return told(done, noticed, replaced, is_partial=seen.is_partial and not is_told)

    def _without_old_links(self, look: _Look, seen: Seen, new: State) -> State:
        """Without links that were there before any command ran, where it is the folder around them that looks like a
        repository since: what goes is the file by which it does so.
        """
        kept = dict(new)
        for kind, path in new:
            if kind != "link" or (kind, path) in self._before:
                continue
            first = next((one for one in (*self._running, look) if is_in(path, one.held.places)), look)
            tops = [top for top in tops_of(path) if top in seen.tops]
            if first.had(path) and all(top in seen.bare and top not in first.seen.bare for top in tops):
                del kept[kind, path]
                kept.update((("target", os.path.join(top, "HEAD")), True) for top in tops)
        return kept

    def _held_state(self, held: HeldGit) -> State:
        settings = [path for path in held.settings_files if os.path.lexists(path)]
        return self._disarmer.look(held.places, held.repositories, (), settings)

    def _noticed(self, look: _Look) -> tuple[list[str], list[str]]:
        """What is new, and would run, of what was held and is not any more; and what else was replaced."""
        held = look.held
        off = [path for path, pin in look.pins.items() if _is_replaced(path, pin)]
        now = self._held_state(held)
        changed = {key: value for key, value in now.items() if look.fast.get(key) != value}
        new = {key: value for key, value in changed.items() if key[0] == "todo" or is_in(key[1], off)}
        noticed = self._disarmer.noticed(held.roots, held.places, new, look.fast)
        look.fast.update(changed)
        replaced = [path for path in off if not is_in(path, held.repositories)]
        for path in replaced:
            self._pins.give_back(look.pins.pop(path))
        return noticed, [written_in(path, held.roots) for path in replaced]

    def _is_known(self, key: tuple[str, str], value: object) -> bool:
        known = self._before.get(key)
        return known == value or (known is not None and mark_of(known) == mark_of(value))

    def _ended(self, look: _Look) -> tuple[str, ...]:
        """A command has ended."""
        try:
            return (*look.told, *self._disarmed(look))
        finally:
            with self._looking:
                self._running.remove(look)
                self._note()
                while look.pins:
                    self._pins.give_back(look.pins.popitem()[1])

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
_MOST_PINNED: Final = 500
"""Things whose replacement is noticed: each is a descriptor, and many a system lets a process have a thousand."""
_MOST_IGNORED: Final = 1_000_000
"""Bytes of a list of what a repository ignores."""


def _number(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _is_replaced(path: str, pin: tuple[int, int]) -> bool:
    """Whether something else has its place. Where nothing has it, or what stands there while commands run, nothing is
    obeyed.
    """
    with suppress(OSError):
        return _number(os.lstat(path)) != pin and not is_placeholder(path)
    return False


def _joined(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for each in lists for one in each))


def _to_put_back(held: HeldGit, links: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Links by paths without a link on their way; none that lies where no command writes."""
    for path, target in links:
        parent, name = os.path.split(path)
        parent = followed(parent)
        if is_in(parent, held.places):
            yield os.path.join(parent, name), target


def _staged(
    places: Sequence[str], held: Iterable[bubblewrap.Hold]
) -> tuple[tuple[str, str, tuple[tuple[str, str, bool], ...]], ...]:
    """What is held, by the innermost folder that it is in."""
    within: dict[str, list[tuple[str, str, bool]]] = {place: [] for place in places}
    for path, is_fixed, shown in held:
        if around := [place for place in places if is_in(path, (place,)) and path != place]:
            place = max(around, key=len)
            within[place].append((os.path.relpath(path, place), shown, is_fixed))
    return tuple((place, f"{bubblewrap.STAGED}/{at}", tuple(within[place])) for at, place in enumerate(places))


def _ignoring(root: str, placeholders: Sequence[Placeholder]) -> tuple[str, str] | None:
    """A repository's list of what it ignores, and a file to be seen in its place with the placeholders in it: `git
    clean` and `git stash -u` would fail to delete them.
    """
    names = [os.path.basename(one.path) for one in placeholders if os.path.dirname(one.path) == root]
    if not names:
        return None
    with suppress(OSError):
        with folder_held(root, (".git", "info")) as info, open(info.open_file("exclude"), "rb") as file:
            listed = file.read(_MOST_IGNORED)
        descriptor, made = tempfile.mkstemp(prefix="gemini-companion-ignored-")
        with open(descriptor, "wb") as file:
            file.write(listed + b"".join(b"\n/%s/" % os.fsencode(name) for name in names) + b"\n")
        return os.path.join(root, ".git", "info", "exclude"), made
    return None


def _around(folder: str, roots: Sequence[str], gits: Mapping[str, str]) -> str:
    """The `.git` of the repository that a folder lies in; empty for a workspace folder and the folders in it."""
    path = os.path.dirname(folder)
    if folder in roots or path in roots:
        return ""
    while path not in gits and path not in roots and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return gits.get(path, "")


def _described(wish: SandboxWish, way: _Way, *, is_shared: bool) -> str:
    """What the sandbox lets through, for people and models."""
    whose, among = ("of this chat", " but among this chat's commands") if is_shared else ("of its own", "")
    network = "with network" if wish.network else f"without network{among}"
    layers = "" if way.has_layers or not is_shared else " Sockets that other programs open later can be reached."
    if wish.network and not (is_shared and reaper.can_set_apart()):
        layers += " Sockets without a file, as X11 has, can be reached."
    return f"Sandbox (bubblewrap): writes only in the workspace and in a /tmp {whose}, {network}.{layers}"
