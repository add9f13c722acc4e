"""What a command in a sandbox made of git, looked at when it has ended: what a person's own git would run is taken out.

No mount keeps a command from making a repository, nor from changing one that it may delete. So whatever of settings,
hooks and files that lead elsewhere is new since the command began is judged then. Settings that are not known to run
nothing go from the file; hooks, and what cannot be judged, get another name. Nothing is deleted but these settings, and
the result says how the person puts each back.

Other commands may still run, and write. So everything is opened from the workspace folder, without following a link.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shlex
import stat
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Final, NamedTuple

from gemini_companion.adapters.files.folder import Folder, held
from gemini_companion.adapters.processes.git_folders import is_in, is_settled, led_to, meant_by, named_in, open_up
from gemini_companion.adapters.processes.placeholders import FOLDERS, links_to
from gemini_companion.adapters.processes.repositories import STRATEGIES, Repositories, may_run, written
from gemini_companion.adapters.processes.unfinished import Known, mark_of
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.escapes import one_line

_SETTINGS: Final = ("config", "config.worktree")
_MOST_OF_SETTINGS: Final = 256_000
_MOST_OF_LIST: Final = 4_000_000
"""Bytes of the list of a rebase that are read: that of some ten thousand commits."""
_MOST_KEPT: Final = 16_000_000
"""Bytes of settings that one look keeps; of others a digest, by which they cannot be judged."""
_MOST_JUDGED: Final = 500
"""Files with settings that git is asked about after one command; others get another name."""
_MOST_HOOKS: Final = 1_000
_MOST_NAMES: Final = 100
"""Names in a row that are tried for what is moved aside, before one that nobody can take first."""
_PLAIN: Final = re.compile(r"[\w ./-]+")
"""A path that is read in one way."""
_MOST_SHOWN: Final = 20
_STRATEGY: Final = re.compile(rb"strategy\s*=([^\n]*)", re.IGNORECASE)
"""Wherever it stands: git takes a lone CR, and more, for a blank."""
_OF_PATCHES: Final = re.compile(
    rb"(?: '(?:-[Cp]\d+|--whitespace=[a-z-]+|--ignore-(?:whitespace|space-change)"
    rb"|--(?:directory|exclude|include)=[^'\n]+)')*\n?"
)
_REST_OF_INDEX: Final = "sharedindex."
_LOOKED_AT: Final = frozenset(("hooks", "config", "config.worktree", "commondir"))
"""Of a repository, what is looked at by itself, links among it."""
_MOST_LINKS: Final = 1_000
"""Links in a folder that git writes into; one with more gets another name."""
_MANY: Final = "many"
SECONDS_FOR_INDEXES: Final = 10.0
"""For asking git about indexes after one command; it may have made many, each of which takes long."""
_MOST_OF_REF: Final = 4_096
_MESSAGES: Final = ("MSG", "EDIT_DESCRIPTION", "EDITOBJ")
"""What the names of files end in that git writes messages into."""
_MOST_PLAIN: Final = 1_000_000
"""Files of branches that are kept in mind."""
_RESOLVED: Final = re.compile(rb"(?:[0-9a-f]{40,64}(?:\.\d+)?\t[^\0]+\0)*")
"""The list of files with conflicts, as git writes it."""
_STRAY: Final = re.compile(rb"(?:^|[\0/])(?:\.{0,2}|\.git)[\0/]", re.IGNORECASE)
"""In names with a NUL behind each: one that leads out of the work tree, or into a repository."""
ASIDE: Final = "disarmed"
"""What the names of hooks that no longer run end in."""
_OF_LARGE_FILES: Final = re.compile(
    rb"#!/bin/sh\n"
    rb'command -v git-lfs >/dev/null 2>&1 \|\| \{ (?:echo|printf) >&2 "(?:[^"$`\\\n]|\\n)*"; exit \d+; \}\n'
    rb'git lfs (?:pre-push|post-checkout|post-commit|post-merge) "\$@"\n?'
)
"""The whole of a hook that `git-lfs` writes into each clone: it runs the person's own program."""

State = Mapping[tuple[str, str], object]
"""What decides what git runs: `settings`, `leads` or `hook` with a path, and what tells that it is another: its text,
where it can be judged by that; of what leads elsewhere that as well.
"""


class Led(NamedTuple):
    """What leads git elsewhere."""

    text: object
    places: tuple[str, ...]
    """Where that is now, through all links, by all that it may be read as; an empty one if it is nowhere."""


class Todo(NamedTuple):
    """What a rebase that is under way, or its like, would run."""

    lines: tuple[bytes, ...]


class Disarmed(NamedTuple):
    """What was done, for people and models, and the line by which the person has it as it was."""

    what: str
    line: str
    is_done: bool = True


class Disarmer:
    """Looks at repositories before a command and after it."""

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories
        self._plain_refs: set[int] = set()
        """Digests of files that have nothing written elsewhere, as they were."""

    def look(
        self,
        places: Sequence[str],
        folders: Iterable[str],
        gits: Iterable[str],
        settings: Iterable[str],
        hooks: Iterable[str] = (),
        *,
        opens: bool = False,
    ) -> State:
        """What decides in repositories' `folders`, in what is named `.git` and leads to one, and in more files with
        `settings` and folders with `hooks`, all of it in `places`. With `opens` the folders are made so that they can
        be listed.
        """
        found: dict[tuple[str, str], object] = {}
        left = _MOST_KEPT

        def note_settings(opened: Folder, path: str) -> None:
            nonlocal left
            noted = dict(_of_settings(opened, path, left))
            found.update(noted)
            left -= sum(len(value) for value in noted.values() if isinstance(value, bytes))

        for folder in folders:
            for path in (folder, os.path.join(folder, "hooks")) if opens else ():
                with suppress(OSError):
                    open_up(path, os.lstat(path))
            with self._noting(found, folder), _opened(places, folder) as opened:
                for name in _SETTINGS:
                    if opened.status(name) is not None:
                        note_settings(opened, os.path.join(folder, name))
                if opened.status("commondir") is not None:
                    path = os.path.join(folder, "commondir")
                    found["leads", path] = Led(_text(opened, "commondir"), (followed(_led(path)),))
                found.update(_hooks(opened, "hooks"))
                found.update(_of_rebase(opened))
        for path in hooks:
            with suppress(OSError), _opened(places, os.path.dirname(path)) as opened:
                found.update(_hooks(opened, os.path.basename(path)))
        for path in gits:
            with suppress(OSError):
                status = os.lstat(path)
                if not stat.S_ISDIR(status.st_mode):
                    found["leads", path] = Led(status.st_mode, (meant_by(path),))
        for path in settings:
            with suppress(OSError), _opened(places, os.path.dirname(path)) as opened:
                if opened.status(os.path.basename(path)) is not None:
                    note_settings(opened, path)
        return found

    def look_written(
        self,
        places: Sequence[str],
        repositories: Collection[str],
        linked: Iterable[str],
        refs: Iterable[str],
        *,
        keeps: bool = False,
    ) -> State:
        """What decides where git writes: the indexes of repositories, which name files; in folders that git writes into
        the links, through which it does; and files that have it write where they say, however many there are: a bound
        would be met by others that a command makes.

        Where no command runs, it `keeps` in mind which files are plain: what one writes later sets their time.
        """
        found: dict[tuple[str, str], object] = {}
        if len(self._plain_refs) > _MOST_PLAIN:
            self._plain_refs.clear()
        for folder in linked:
            with suppress(OSError), _opened(places, folder) as opened:
                known = _LOOKED_AT if folder in repositories else ()
                links = (entry.name for entry in opened.scan() if entry.is_symlink() and not _is_spared(entry.name))
                most = None if folder in places else _MOST_LINKS + 1  # a workspace folder keeps its name
                names = list(islice((name for name in links if name not in known), most))
                if most and len(names) == most:
                    found["links", folder] = _MANY
                    continue
                for name in names:
                    target, path = opened.target(name), os.path.join(folder, name)
                    # Of these names git takes such a link for a branch's name.
                    is_branch = name == "HEAD" or f"{os.sep}refs{os.sep}" in path
                    if not is_branch or not target.startswith("refs/") or os.pardir in target:
                        found["link", path] = (target, *links_to(path))
        for folder in repositories:
            with suppress(OSError), _opened(places, folder) as opened:
                if opened.status("index") is not None:
                    entries = (entry.name for entry in opened.scan())
                    names = sorted(name for name in entries if name.lower().startswith(_REST_OF_INDEX))
                    every = tuple(_odd(opened, name) for name in ("index", *names))
                    found["index", os.path.join(folder, "index")] = every
                found.update(_strays(opened, places))
        for folder in dict.fromkeys((*repositories, *refs)):
            with suppress(OSError), _opened(places, folder) as opened:
                found.update(self._refs(opened, keeps=keeps))
        return found

    def _refs(self, opened: Folder, *, keeps: bool) -> Iterator[tuple[tuple[str, str], object]]:
        """The files in a folder by which a branch, or its like, is written elsewhere than below `refs`."""
        for entry in opened.scan():
            if entry.name.startswith(".") or not entry.is_file(follow_symlinks=False):
                continue  # no branch's name begins with a dot
            status, path = entry.stat(follow_symlinks=False), os.path.join(opened.path, entry.name)
            stamp = hash((path, status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns))
            if stamp in self._plain_refs:
                continue
            with suppress(OSError):
                descriptor = opened.open_file(entry.name)
                try:
                    text = os.read(descriptor, _MOST_OF_REF + 1)
                finally:
                    os.close(descriptor)
                # Git writes a message into what is there: by another name of that it would be a branch.
                if _is_astray(text) or (status.st_nlink > 1 and entry.name.upper().endswith(_MESSAGES)):
                    yield ("target", path), (text, status.st_nlink > 1)
                elif keeps and is_settled(status):
                    self._plain_refs.add(stamp)

    @staticmethod
    @contextmanager
    def _noting(found: dict[tuple[str, str], object], folder: str) -> Generator[None]:
        """A repository that cannot be opened is noted as a whole."""
        try:
            yield
        except OSError:
            with suppress(OSError):
                found["hook", folder] = os.lstat(folder)[:7]

    def disarm(
        self, roots: Sequence[str], places: Sequence[str], new: State, before: State
    ) -> tuple[list[Disarmed], State]:
        """Disarm what is new since `before`: what was done, and what of it may stay as it is. Raises nothing."""
        every: list[Disarmed] = []
        fine: dict[tuple[str, str], object] = {}
        left, until = _MOST_JUDGED, time.monotonic() + SECONDS_FOR_INDEXES
        for (kind, path), value in new.items():
            is_led_inside = isinstance(value, Led) and _stays_inside(path, value, places)
            is_judged = ("settings", path) in new and not _leads_anew(value, before.get((kind, path)))
            # A rebase is told: it may be the person's. Settings are judged, and what is led to inside is looked at.
            if kind == "todo" or (kind == "leads" and (is_judged or is_led_inside)):
                if kind == "todo" or is_led_inside:
                    fine[kind, path] = value
                continue
            shown = written_in(path, roots)
            done: list[Disarmed] = []
            is_fine = False
            for changes in (False, True):
                try:
                    with _opened(places, os.path.dirname(path), changes=changes) as folder:
                        if kind == "link":
                            done += _unlinked(folder, path, shown, value)
                        elif kind == "index":
                            done += self._index(folder, path, shown, is_late=time.monotonic() >= until)
                        elif kind == "gitdir" and meant_by(_led(path)) == folder.path:
                            pass  # `git worktree repair` writes elsewhere, and this one needs none: it may be theirs
                        elif kind in {"target", "gitdir"}:  # what begins with a dot is no branch
                            done += _moved(folder, path, shown, ".")
                        elif kind == "settings" and left > 0:
                            left -= 1
                            done += self._settings(folder, path, shown, places, value, before.get((kind, path)))
                        elif kind != "hook" or not self._is_persons(folder, path, value):
                            done += _moved(folder, path, shown)
                        is_fine = not done
                except PermissionError as fault:
                    if changes:
                        done += _left(path, shown, fault)
                    continue
                except OSError as fault:
                    done += _left(path, shown, fault)
                break
            every += done
            # What is judged is what was read then: a command that still runs may have written something else since.
            # Of an index only times are known, and what a command writes through memory sets none.
            if is_fine and kind not in {"link", "index"}:
                fine[kind, path] = value
        return every, fine

    def noticed(self, roots: Sequence[str], places: Sequence[str], new: State, before: State) -> list[str]:
        """What is new and would run, in words, where it may be the person's: nothing is done about it."""
        lines: list[str] = []
        for (kind, path), value in new.items():
            shown, old = written_in(path, roots), before.get((kind, path))
            if kind == "settings":
                found, known = (
                    self._repositories.settings_in(one) if isinstance(one, bytes) else None for one in (value, old)
                )
                data, held = value if isinstance(value, bytes) else b"", set(known or ())
                taken = [one for one in found or () if one not in held and _may_run(one, path, data, places)]
                lines += (f"{os.fsdecode(key)} in {shown}" for key, _ in taken)
                lines += [shown] if found is None else []
            elif isinstance(value, Todo):
                known = set(old.lines) if isinstance(old, Todo) else ()
                run = (line for line in value.lines if line not in known)
                lines += (f"`{os.fsdecode(line)}` in {shown} (git goes on with a rebase or its like)" for line in run)
            else:
                lines.append(shown)
        return lines

    def _settings(
        self, folder: Folder, path: str, shown: str, places: Sequence[str], data: object, old: object
    ) -> Iterator[Disarmed]:
        found = self._repositories.settings_in(data) if isinstance(data, bytes) else None
        if found is None or not isinstance(data, bytes):
            yield from _moved(folder, path, shown)
            return
        known = set(self._repositories.settings_in(old) or ()) if isinstance(old, bytes) else set[object]()
        taken = [one for one in found if one not in known and _may_run(one, path, data, places)]
        if not taken:
            return
        name = os.path.basename(path)
        new = _other_name(folder, name)
        try:
            with open(folder.open_new(new, 0o644), "wb") as file:
                gone = set(taken)
                file.write(written([one for one in found if one not in gone]))
        except OSError:  # the disk may be full
            with suppress(OSError):
                folder.delete(new)
            yield from _moved(folder, path, shown)
            return
        folder.replace(name, new)
        for key, value in taken:
            words = ("git", "config", "--file", shown, "--add", os.fsdecode(key), os.fsdecode(value or b"true"))
            yield Disarmed(f"{os.fsdecode(key)} is taken out of {shown}", shlex.join(words))

    def _index(self, folder: Folder, path: str, shown: str, *, is_late: bool) -> Iterator[Disarmed]:
        if folder.status(os.path.basename(path)) is None:
            return
        if not _is_readable(folder):
            yield from _moved(folder, path, shown)
            return
        names = None if is_late else self._repositories.names_in_index(folder.path)
        if names is None:
            why = "was not looked at" if is_late else "could not be looked at"
            what = f"{shown} {why} for files outside of the work tree"
            yield Disarmed(what, _line("rm", shown), is_done=False)
        elif _STRAY.search(names):
            yield from _moved(folder, path, shown)

    def _is_persons(self, folder: Folder, path: str, value: object) -> bool:
        """Whether a hook is of git-lfs, or from the person's own template of repositories."""
        name = os.path.basename(path)
        text = _text(folder, name)
        if not isinstance(text, bytes) or hashlib.sha256(text).digest() != value:
            return False
        if _OF_LARGE_FILES.fullmatch(text):
            return True
        template = self._repositories.template()
        if not template:
            return False
        with suppress(OSError), open(os.path.join(template, "hooks", name), "rb") as file:
            return file.read(_MOST_OF_SETTINGS + 1) == text
        return False


def told(
    done: Sequence[Disarmed], noticed: Sequence[str] = (), replaced: Sequence[str] = (), *, is_partial: bool = False
) -> tuple[str, ...]:
    """For the model and people, a line each."""
    lines: list[str] = []
    lines += (
        f"New while commands ran, and the user's own git would run it: {one_line(what)}. Tell the user: if it is"
        " neither theirs nor meant, it has to go before git is used there."
        for what in noticed[:_MOST_SHOWN]
    )
    lines += (
        f"{one_line(what)} was replaced while commands ran, so they could change it since. Tell the user to look at"
        " what has changed in it before an editor or git obeys that."
        for what in replaced[:_MOST_SHOWN]
    )
    if (more := len(noticed) + len(replaced) - len(lines)) > 0:
        lines.append(f"So it is with {more:,} more.")
    for one in sorted(done, key=lambda one: one.is_done)[:_MOST_SHOWN]:
        head, then = "Disarmed, for", "If the user wants it, they run"
        if not one.is_done:
            head, then = "Not disarmed, though", "Tell the user to delete it, and run"
        lines.append(
            f"{head} the user's own git would run it: {one_line(one.what)}. {then} in the workspace folder:"
            f" {one_line(one.line)}"
        )
    if len(done) > _MOST_SHOWN:
        are_left = sum(not one.is_done for one in done) > _MOST_SHOWN
        words = "So it is with, or disarmed are," if are_left else "Disarmed as well:"
        lines.append(f"{words} {len(done) - _MOST_SHOWN:,} more of the same kinds.")
    if is_partial:
        lines.append(
            "Not all folders could be looked through for repositories that it made: there are too many, or some cannot"
            " be listed. Look at what git would run before you use git in one of them."
        )
    return tuple(lines)


def _of_rebase(opened: Folder) -> Iterator[tuple[tuple[str, str], object]]:
    """The programs that a rebase, or its like, that is under way would run; its files, where they cannot be read."""
    for folder, name, programs in _SERIES:
        path = os.path.join(opened.path, folder)
        try:
            inner = opened.enter(folder)
            try:
                text = _text(inner, name, _MOST_OF_LIST)
            finally:
                inner.close()
        except FileNotFoundError:
            continue
        except OSError:  # git follows a link
            yield ("todo", path), _odd(opened, folder)
            continue
        path = os.path.join(path, name)
        if not isinstance(text, bytes):
            if text:  # there is one
                yield ("todo", path), text
        elif run := tuple(programs(text)):
            yield ("todo", path), Todo(run)


def _in_list(text: bytes) -> Iterator[bytes]:
    for words in (line.split(None, 1) for line in text.splitlines()):
        is_ref = words[0] in {b"update-ref", b"u"} if words else False
        if words and (words[0] in {b"exec", b"x"} or (is_ref and not words[-1].startswith(b"refs/"))):
            yield b" ".join(words)


def _strategy(text: bytes) -> Iterator[bytes]:
    """Git runs `git merge-NAME`, also of a folder below."""
    name = text.strip()
    if name and os.fsdecode(name) not in STRATEGIES:
        yield b"git merge-" + name


def _strategies(settings: bytes) -> Iterator[bytes]:
    for found in _STRATEGY.finditer(settings.replace(b"\\\n", b"")):
        yield from _strategy(found[1].strip(b'" \t\r'))


def _updated(text: bytes) -> Iterator[bytes]:
    """Of three lines the first one is the name of what git writes: a branch, or any file in the repository's folder."""
    names = dict.fromkeys(name for name in text.split(b"\n")[::3] if name)
    return (b"git update-ref " + name for name in names if not name.startswith(b"refs/") or b".." in name)


def _applied(text: bytes) -> Iterator[bytes]:
    """With other options than these git writes a file of any name."""
    if not _OF_PATCHES.fullmatch(text):
        yield b"git apply" + text


_SERIES: Final = (
    ("rebase-merge", "git-rebase-todo", _in_list),
    ("rebase-merge", "strategy", _strategy),
    ("rebase-merge", "update-refs", _updated),
    ("sequencer", "opts", _strategies),
    ("rebase-apply", "apply-opt", _applied),
)
"""The files of a series of commits that git goes on with which name programs, and these."""


def _is_readable(folder: Folder) -> bool:
    """Whether git can read the index of a repository without waiting for a pipe."""
    names = [entry.name for entry in folder.scan() if entry.name.lower().startswith(_REST_OF_INDEX)]
    head = folder.status("HEAD")
    others = [folder.status(name) for name in ("index", *names)]
    return (head is None or stat.S_ISREG(head.st_mode) or stat.S_ISLNK(head.st_mode)) and all(
        one is None or stat.S_ISREG(one.st_mode) for one in others
    )


def _is_spared(name: str) -> bool:
    """Whether git writes nothing of that name: Emacs locks a file by a link like `.#COMMIT_EDITMSG`."""
    return name.startswith(".#") or name == ".git" or name in FOLDERS


def _is_astray(text: bytes) -> bool:
    """Whether git, where it writes what has a branch's name, would write a file outside of `refs` by this text."""
    if not text.startswith(b"ref:"):
        return False
    target = text.removeprefix(b"ref:").lstrip(b" \t\r\n")
    return len(text) > _MOST_OF_REF or not target.startswith(b"refs/") or b".." in target


def _strays(opened: Folder, places: Sequence[str]) -> Iterator[tuple[tuple[str, str], object]]:
    """Other files of a repository that have git write where they say, if that is elsewhere."""
    if opened.status("MERGE_RR") is not None:
        text = _text(opened, "MERGE_RR")  # each of its names is looked up
        lines = text.split(b"\0") if isinstance(text, bytes) else []
        names = b"".join(line.partition(b"\t")[2] + b"\0" for line in lines if line)
        is_astray = not isinstance(text, bytes) or not _RESOLVED.fullmatch(text) or _STRAY.search(names)
        if is_astray or any(_is_behind_a_link(tree, names) for tree in _trees_of(opened)):
            yield ("target", os.path.join(opened.path, "MERGE_RR")), text
    above, name = os.path.split(opened.path)
    if os.path.basename(above) == "worktrees" and name and opened.status("gitdir") is not None:
        path = os.path.join(opened.path, "gitdir")
        led = led_to(path)
        tree = os.path.join(opened.path, led)
        if not (os.path.isabs(led) and led == led.rstrip() and is_in(followed(tree), places)):
            yield ("gitdir", path), (_text(opened, "gitdir"), followed(tree))


def _trees_of(opened: Folder) -> Iterator[str]:
    """Where the files of a repository may be, without links."""
    text = _text(opened, "config")
    led = [os.path.dirname(led_to(os.path.join(opened.path, "gitdir")))]
    led += _trees_in(text) if isinstance(text, bytes) else ()
    yield followed(os.path.dirname(opened.path))
    yield from (followed(os.path.join(opened.path, one)) for one in led if one)


def _is_behind_a_link(tree: str, names: bytes) -> bool:
    """Whether one of some names, with a NUL behind each, leads through a link: git would read another's file there."""
    paths = [os.path.join(tree, os.fsdecode(name)) for name in names.split(b"\0") if name]
    folders = set(map(os.path.dirname, paths))
    return any(followed(folder) != folder for folder in folders) or any(map(os.path.islink, paths))


def _hooks(opened: Folder, name: str) -> Iterator[tuple[tuple[str, str], object]]:
    """What would run, of what is in a folder with hooks."""
    status, path = opened.status(name), os.path.join(opened.path, name)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        yield ("hook", path), _odd(opened, name)
        return
    inner = opened.enter(name)
    try:
        for at, entry in enumerate(inner.scan()):
            if at >= _MOST_HOOKS:
                yield ("hook", path), _odd(opened, name)
                return
            if entry.name.endswith(".sample") or f".{ASIDE}" in entry.name:
                continue
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_mode & 0o111):
                text = _text(inner, entry.name)  # many may be long: only what tells it apart is kept
                is_text = isinstance(text, bytes)
                yield ("hook", os.path.join(path, entry.name)), hashlib.sha256(text).digest() if is_text else text
    finally:
        inner.close()


def _text(folder: Folder, name: str, most: int = _MOST_OF_SETTINGS) -> object:
    """The text of a file; where it cannot be judged by that, as a link or one that is too long, what tells it apart."""
    with suppress(OSError), open(folder.open_file(name), "rb") as file:
        data = file.read(most + 1)
        # By another name it could be changed where nobody looks.
        if len(data) <= most and os.fstat(file.fileno()).st_nlink == 1:
            return data
    return _odd(folder, name)


def _odd(folder: Folder, name: str) -> object:
    """What is another if a file, or what a link leads to, is."""
    found = [folder.status(name)]
    with suppress(OSError):
        found.append(os.stat(name, dir_fd=folder.descriptor))
    return tuple((one.st_dev, one.st_ino, one.st_size, one.st_mode, one.st_ctime_ns) for one in found if one)


def _of_settings(opened: Folder, path: str, most: int) -> Iterator[tuple[tuple[str, str], object]]:
    """A file with settings; and where it says that the work tree is, which a link may lead elsewhere later."""
    text = _text(opened, os.path.basename(path))
    kept = Known(mark_of(text)) if isinstance(text, bytes) and len(text) > most else text
    yield ("settings", path), kept
    trees = _trees_in(text) if isinstance(text, bytes) else ()
    if places := tuple(followed(os.path.join(os.path.dirname(path), one)) for one in trees):
        yield ("leads", path), Led(kept, places)


def _leads_anew(value: object, old: object) -> bool:
    """Whether what led elsewhere before leads to another place now: a link on the way may be another."""
    return isinstance(value, Led) and old is not None and (not isinstance(old, Led) or old.places != value.places)


def _stays_inside(path: str, led: Led, places: Sequence[str]) -> bool:
    """Whether what leads git elsewhere leads to what is looked at as well."""
    folder, name = os.path.split(path)
    if name == "commondir":
        # As a worktree has it. To what else it may lead, nobody can say who looks at what is there now.
        above, kind = os.path.split(os.path.dirname(folder))
        return isinstance(led.text, bytes) and led.places in {(folder,), (above,) if kind == "worktrees" else (folder,)}
    return all(is_in(place, places) for place in led.places)


def _trees_in(settings: bytes) -> dict[str, None]:
    """Where the text of a file with settings may say that the work tree is."""
    return dict.fromkeys(named for name, named in named_in(settings) if name == "worktree")


def _may_run(setting: tuple[bytes, bytes | None], path: str, data: bytes, places: Sequence[str]) -> bool:
    key, value = setting
    if key == b"core.worktree":
        # As a submodule has it. Elsewhere git would write, and read what it runs, where the command could not.
        text = os.fsdecode(value or b"")
        real = followed(os.path.join(os.path.dirname(path), text))
        # One that we read in another way than git is not looked at later.
        return _PLAIN.fullmatch(text) is None or not is_in(real, places) or text not in _trees_in(data)
    return may_run(key, value)


def _led(path: str) -> str:
    return os.path.join(os.path.dirname(path), led_to(path))


def written_in(path: str, roots: Sequence[str]) -> str:
    """A path as it is written in the workspace folder, where there is one."""
    return os.path.relpath(path, roots[0]) if len(roots) == 1 and is_in(path, roots) else path


def _line(program: str, *words: str, options: tuple[str, ...] = ()) -> str:
    """A line for a shell. A command may have made what is called like an option."""
    end = ("--",) if any(word.startswith("-") for word in words) else ()
    return shlex.join((program, *options, *end, *words))


def _left(path: str, shown: str, fault: OSError) -> Iterator[Disarmed]:
    """What could not be disarmed, if it is still there."""
    if os.path.lexists(path):
        what = f"{shown} could not be changed ({fault.strerror})"
        yield Disarmed(what, _line("rm", shown, options=("-rf",)), is_done=False)


def _unlinked(folder: Folder, path: str, shown: str, value: object) -> Iterator[Disarmed]:
    """Delete a link, if it is still that one. Where it leads may be another place by now."""
    name = os.path.basename(path)
    target = folder.target(name) if folder.status(name) is not None else ""
    if isinstance(value, tuple) and target and target == value[0]:
        folder.delete(name)
        line = _line("ln", target, shown, options=("-s",))
        yield Disarmed(f"the link {shown}, by which git writes elsewhere, is deleted", line)


def _moved(folder: Folder, path: str, shown: str, before: str = "") -> Iterator[Disarmed]:
    """Give something a name by which git does not find it, with some letters `before` it. Raises `OSError`."""
    name = os.path.basename(path)
    new = _other_name(folder, before + name)
    folder.replace(new, name)
    aside = os.path.join(os.path.dirname(shown), new)
    yield Disarmed(f"{shown} is {new} now", _line("mv", aside, shown))


def _other_name(folder: Folder, name: str) -> str:
    """A name that nothing has."""
    some = (f"{name}.{ASIDE}{number or ''}" for number in range(_MOST_NAMES))
    return next((one for one in some if folder.status(one) is None), f"{name}.{ASIDE}-{secrets.token_hex(8)}")


@contextmanager
def _opened(places: Sequence[str], path: str, *, changes: bool = False) -> Generator[Folder]:
    """A folder, opened name by name from the place that it is in. With `changes` the person may change it then."""
    root = max((place for place in places if is_in(path, (place,))), key=len, default="")
    if not root:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    parts = [part for part in os.path.relpath(path, root).split(os.sep) if part != os.curdir]
    with held(root, parts) as folder:
        if changes and folder.descriptor is not None:
            open_up(path, os.fstat(folder.descriptor), stat.S_IRWXU)
        yield folder
