"""Files that this program obeys, where a command may have written them: none counts before the person agrees.

Memory files, skills, agents, slash commands, settings, `.env` files and the system prompt are all read through two
functions, `reading.read_text` and `adapters.memory.opening.read_below`, and both ask the gate here. The rule: a content
that came about while a command ran does not count until somebody agrees to it, whoever wrote it. The person agrees in
answer to a question, by saving the file in their editor, or by changing it when no command runs; what our own tools
wrote with consent is agreed to.

    watch = gate.begin(paths, scopes)      # before a command starts: what the files are
    gate.end(watch, paths)                 # after it: what is another one is noted, and given back
    gate.refusal(path, data, size)         # at each reading: why this content does not count; empty if it does
    gate.agree(path, digest)               # it counts from now on

What is not agreed to is kept in a folder, a small file for each, and so is what the files were while a command runs: a
daemon that is started anew, or another one of the same user, knows it too. Threads may share a gate.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, Final, NamedTuple, cast

logger = logging.getLogger(__name__)

MOST_BYTES: Final = 2**20 + 1
"""Bytes of a file that a reader gives: more than any of them goes by, so that a question shows all that counts."""
_MOST_HASHED: Final = 2**28
"""Bytes of a program that are looked at; of what is behind them, when it was changed."""
_MOST_HELD: Final = 8 * 2**20
"""Bytes of files that are held while a command runs, so that a question can show what is different."""
_TRIES: Final = 20
"""Times that a path is looked up while somebody swaps its folders."""
_MOST_KNOWN: Final = 20_000
_MADE: Final = "made-"
_RUNNING: Final = "running-"

NOT_AGREED: Final = (
    "a command wrote it, and you have not agreed to it; look at it, and save it in your editor if it is to count"
)
MAYBE_MADE: Final = "it was written while a command runs, perhaps by that; it counts once you save it in the editor"


class Made(NamedTuple):
    """A file that this program would obey, and that is another one since a command began."""

    path: str
    """Absolute, the real one."""
    digest: str
    old: bytes | None
    """What it was; `None` if there was none, or if that is not known."""
    new: bytes
    """Its first `MOST_BYTES` bytes."""

    @property
    def can_be_shown(self) -> bool:
        """Whether these are all of it: nobody agrees to a text that they were not shown. What is no text is agreed to
        as such.
        """
        return len(self.new) < MOST_BYTES or b"\0" in self.new


@dataclass(slots=True)
class Watch:
    """What the files were when a command began."""

    name: str
    before: dict[str, str]
    """Digests by real paths."""
    scopes: tuple[str, ...]
    """Real paths of folders: a file below one that is not in `before` was not there."""
    held: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    led: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where names led that are links, or are behind one."""
    changed_ns: dict[str, int] = field(default_factory=dict[str, int], repr=False)
    """When the files were last changed, by what no program can set."""
    file: IO[str] | None = None
    """Locked for as long as the command may run."""

    def concerns(self, path: str, names: Iterable[str] = ()) -> bool:
        """Whether it says what a file was that was found by these names: of a link, also where it led."""
        return path in self.before or self._is_in_scope(path) or any(self._led_elsewhere(name, path) for name in names)

    def _led_elsewhere(self, name: str, path: str) -> bool:
        if name in self.led or name in self.before:
            return self.led.get(name, name) != path
        return name != path and self._is_in_scope(name) and os.path.islink(name)

    def _is_in_scope(self, path: str) -> bool:
        return any(path.startswith(scope.rstrip(os.sep) + os.sep) for scope in self.scopes)


def digest_of(data: bytes, size: int) -> str:
    """What tells one content from another, as far as its reader goes by it."""
    return hashlib.sha256(b"%d\0" % size + data[:MOST_BYTES]).hexdigest()


class Gate:
    """See the module. `on_changed` is called, on any thread, when other contents count than before."""

    def __init__(self) -> None:
        self.on_changed: Callable[[], None] = _nothing
        self._lock = threading.RLock()
        self._folder: str | None = None
        self._listed: frozenset[str] = frozenset()
        self._made: dict[str, str] = {}
        self._watches: dict[str, Watch] = {}
        self._agreed: set[tuple[str, str]] = set()
        self._known: set[str] = set()
        self._links: set[str] = set()
        """Names of known files that lead elsewhere."""
        self._was_refused = False

    def keep_in(self, folder: str) -> None:
        """Keep what is not agreed to in a folder, and take over what is there: also of commands that were cut short
        with their daemon. Blocks.
        """
        with self._lock:
            self._folder, self._listed = folder, frozenset()
            self._made, self._watches, self._agreed, self._known, self._links = {}, {}, set(), set(), set()
            self._look()

    def refusal(self, path: str | os.PathLike[str], data: bytes, size: int) -> str:
        """Why a content that was read does not count, in a few words; empty if it does. `size` is the whole file's."""
        real = _real(path)
        with self._lock:
            self._look()
            self._expect(path, real)
            if not self._made and not self._watches:
                return ""
            digest = digest_of(data, size)
            if size >= MOST_BYTES:  # what is behind the data counts for programs
                found = _read(real)
                if found is None or not found[1].startswith(digest):
                    return MAYBE_MADE
                digest = found[1]
            if (real, digest) in self._agreed:
                return ""
            if self._made.get(real) == digest:
                return NOT_AGREED
            names = (os.path.abspath(path),)
            watches = [watch for watch in self._watches.values() if watch.concerns(real, names)]
            if any(watch.before.get(real) != digest for watch in watches):
                self._was_refused = True
                return MAYBE_MADE
            if real in self._made and not watches:  # somebody changed it since, and no command runs: the person
                self._forget(real)
            return ""

    def refusal_of(self, path: str) -> str:
        """The same of a file that somebody else is going to read, a moment after this look. Blocks.

        So a file does not count either that was written since a command began and is by now as it was: that command
        may go on changing it to and fro.
        """
        found, changed_ns = _read(path), _changed_ns(path)
        if found is None:
            return ""
        if reason := self.refusal(path, found[0], found[2]):
            return reason
        real = _real(path)
        with self._lock:
            if (real, found[1]) in self._agreed:
                return ""
            is_touched = any(one.changed_ns.get(real, changed_ns) != changed_ns for one in self._watches.values())
        return MAYBE_MADE if is_touched else ""

    def expect(self, path: str) -> None:
        """A file would be read if it were there."""
        with self._lock:
            self._expect(path, _real(path))

    def _expect(self, path: str | os.PathLike[str], real: str) -> None:
        if len(self._known) < _MOST_KNOWN:
            self._known.add(real)
            if (name := os.path.abspath(path)) != real:
                self._links.add(name)

    def is_obeyed(self, path: str) -> bool:
        """Whether a file, by its real path, was read through the gate, or would have been."""
        with self._lock:
            return path in self._known

    def begin(self, paths: Iterable[str], scopes: Iterable[str]) -> Watch:
        """Note what files are before a command starts. Blocks."""
        with self._lock:
            name, known = f"{_RUNNING}{uuid.uuid4().hex}.json", self._known | self._links
        led: dict[str, str] = {}
        changed_ns: dict[str, int] = {}
        before: dict[str, str] = {}
        held: dict[str, bytes] = {}
        room = _MOST_HELD
        for path in {*paths, *known}:
            real, name_of_it = _real(path), os.path.abspath(path)
            if real != name_of_it:
                led[name_of_it] = real
            if real not in before and (found := _read(real)) is not None:
                before[real], changed_ns[real] = found[1], _changed_ns(real)
                if len(found[0]) <= room:
                    held[real], room = found[0], room - len(found[0])
        watch = Watch(name, before, tuple(_real(scope) for scope in scopes), held, led, changed_ns)
        with self._lock:
            for real in self._made:  # what was not agreed to before this one is not agreed to behind it
                watch.held.pop(real, None)
            self._keep_running(watch)
            self._watches[name] = watch
        return watch

    def end(
        self,
        watch: Watch,
        paths: Iterable[str],
        *,
        is_persons: Callable[[str, bytes], bool] = lambda path, data: False,
        goes_on: bool = False,
    ) -> tuple[Made, ...]:
        """What came about since commands began that is not agreed to, noted. Blocks.

        `is_persons` says of a path and a content whether the person wrote it. `goes_on`: what was started runs on.
        """
        with self._lock:
            watches = [one for one in self._watches.values() if one.file is not None or self._folder is None]
            known = self._known | self._links
        found: list[Made] = []
        names: dict[str, list[str]] = {}
        for path in {*paths, *known, *watch.before, *(path for one in watches for path in (*one.before, *one.led))}:
            names.setdefault(_real(path), []).append(os.path.abspath(path))
        for real in sorted(names):
            concerned = [
                one for one in {id(w): w for w in (*watches, watch)}.values() if one.concerns(real, names[real])
            ]
            if not concerned or (read := _read(real)) is None:
                continue
            digest = read[1]
            if all(one.before.get(real) == digest for one in concerned):
                continue
            with self._lock:
                if (real, digest) not in self._agreed:
                    if is_persons(real, read[0]):
                        self._forget(real)
                    else:
                        self._note(real, digest)
                        old = next((one.held[real] for one in concerned if real in one.held), None)
                        found.append(Made(real, digest, old, read[0]))
                for one in concerned:
                    one.before[real] = digest
                    one.led.update((name, real) for name in names[real] if name != real)
        with self._lock:
            if not goes_on:
                self._end_running(watch)
            was_refused, self._was_refused = self._was_refused, False
        if was_refused:
            self.on_changed()
        return tuple(found)

    def agree(self, path: str, digest: str) -> None:
        """A content counts from now on, and whoever was refused it is told to look again."""
        real = _real(path)
        with self._lock:
            self._agreed.add((real, digest))
            if self._made.get(real) == digest:
                self._forget(real)
        self.on_changed()

    def wrote(self, path: str | os.PathLike[str], is_it: Callable[[bytes], bool]) -> None:
        """We, or the person's editor, wrote a file as the person wanted it; `is_it` knows that content. Blocks."""
        real = _real(path)
        with self._lock:
            if not self._made and not self._watches:
                return
        found = _read(real, most=_MOST_HASHED)
        if found is not None and is_it(found[0]):
            self.agree(real, found[1])

    def waiting(self) -> tuple[Made, ...]:
        """The files that are as a command wrote them and are not agreed to, by path in order. Blocks."""
        with self._lock:
            self._look()
            made = dict(self._made)
        found: list[Made] = []
        for real, digest in sorted(made.items()):
            read = _read(real)
            if read is not None and read[1] == digest:
                found.append(Made(real, digest, None, read[0]))
        return tuple(found)

    # --- what is kept

    def _note(self, real: str, digest: str) -> None:
        self._made[real] = digest
        self._write(_name_of(real), {"path": real, "digest": digest})

    def _forget(self, real: str) -> None:
        if self._made.pop(real, None) is not None and self._folder is not None:
            with suppress(OSError):
                os.unlink(os.path.join(self._folder, _name_of(real)))
            self._listed = self._listed - {_name_of(real)}

    def _keep_running(self, watch: Watch) -> None:
        path = self._write(watch.name, {"before": watch.before, "scopes": watch.scopes, "led": watch.led})
        if path is not None:
            with suppress(OSError):
                watch.file = open(path, encoding="utf-8")  # noqa: SIM115 - it is held while the command runs
                _lock(watch.file)

    def _end_running(self, watch: Watch) -> None:
        self._watches.pop(watch.name, None)
        self._listed = self._listed - {watch.name}
        if watch.file is not None:
            watch.file.close()
        if self._folder is not None:
            with suppress(OSError):
                os.unlink(os.path.join(self._folder, watch.name))

    def _write(self, name: str, document: Mapping[str, object]) -> str | None:
        """Keep a document, whole or not at all. Where that fails, this process alone knows it."""
        if self._folder is None:
            return None
        path, aside = os.path.join(self._folder, name), os.path.join(self._folder, f".{uuid.uuid4().hex}")
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                json.dump(document, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        except OSError as fault:
            logger.warning("What a command wrote could not be kept in %s: %s", self._folder, fault)
            return None
        self._listed = self._listed | {name}
        return path

    def _look(self) -> None:
        """Take in what other daemons noted or took back since, and what one left that was killed."""
        if self._folder is None:
            return
        try:
            names = frozenset(name for name in os.listdir(self._folder) if name.endswith(".json"))
        except OSError:
            names = frozenset[str]()
        if names == self._listed:
            return
        gone, come, self._listed = self._listed - names, names - self._listed, names
        self._made = {real: digest for real, digest in self._made.items() if _name_of(real) not in gone}
        for name in gone & self._watches.keys():
            if self._watches[name].file is None:
                del self._watches[name]
        for name in come:
            path = os.path.join(self._folder, name)
            document = _document(path)
            if name.startswith(_MADE) and isinstance(document.get("path"), str):
                self._made[str(document["path"])] = str(document.get("digest"))
            elif name.startswith(_RUNNING):
                self._take_over(name, path, document)

    def _take_over(self, name: str, path: str, document: Mapping[str, Any]) -> None:
        before, scopes = document.get("before"), document.get("scopes")
        if not isinstance(before, dict) or not isinstance(scopes, list):
            return
        led = cast("dict[str, str]", document["led"]) if isinstance(document.get("led"), dict) else {}
        watch = Watch(name, dict(cast("dict[str, str]", before)), tuple(cast("list[str]", scopes)), led=dict(led))
        self._watches[name] = watch
        if not _is_locked(path):  # its daemon was killed, and its commands with it
            self.end(watch, ())


def _nothing() -> None:
    """Nobody wants to know."""


def _name_of(real: str) -> str:
    return f"{_MADE}{hashlib.sha256(os.fsencode(real)).hexdigest()[:40]}.json"


def _document(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _real(path: str | os.PathLike[str]) -> str:
    """As `os.path.realpath`, which raises where a link is swapped for a folder between its own two looks."""
    for _ in range(_TRIES):
        with suppress(OSError):
            return os.path.realpath(path)
    return os.path.realpath(path)


def _read(path: str, *, most: int = MOST_BYTES) -> tuple[bytes, str, int] | None:
    """The beginning of a regular file, the digest of all of it, and its size; `None` if there is none to be read."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES)
            digest = digest_of(data, status.st_size)
            if len(data) < MOST_BYTES:
                return data, digest, status.st_size
            behind, pieces, left = hashlib.sha256(), [data], _MOST_HASHED
            while left > 0 and (piece := file.read(MOST_BYTES)):
                behind.update(piece)
                left -= len(piece)
                if most > MOST_BYTES:
                    pieces.append(piece)
            if left <= 0:
                behind.update(b"%d" % status.st_ctime_ns)
        return b"".join(pieces), f"{digest}+{behind.hexdigest()}", status.st_size
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_ctime_ns
    except OSError:
        return 0


def _lock(file: IO[str]) -> None:
    try:
        import fcntl
    except ImportError:  # a system without: see `_is_locked`
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_locked(path: str) -> bool:
    """Whether the daemon that keeps a file still runs."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        with open(path, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


gate: Final = Gate()
"""The one of this process: whoever reads such a file asks it."""
