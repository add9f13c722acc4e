"""The last events and warnings of a daemon in a file, for reports of bugs: also of one that hangs, or was killed.

The file has slots of one size, each a line of JSON, written round and round: first who the daemon is, then its events
without text, then lines of its log. A thread writes, so that a slow disk holds nobody up, and nothing is synced: what a
kill or a hanging event loop leaves behind is in the system's cache. Where it cannot be written there is none.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec

from gemini_companion.adapters.private_files import make_private_directory
from gemini_companion.adapters.storage.process import ProcessIdentity, SystemProcesses
from gemini_companion.engine.redaction import mask
from gemini_companion.sessions.observing.records import AnyRecord, plain
from gemini_companion.sessions.observing.ring import KEPT

SLOT: Final = 1_024
"""Bytes of a slot."""

LINES: Final = 100
"""Lines of the log that are kept, those of level WARNING and above."""

FILES: Final = 4
"""Files that are kept, the newest."""

_SUFFIX: Final = ".recent"
_MOST_QUEUED: Final = 1_000
_MOST_BYTES: Final = SLOT * (1 + KEPT + LINES)
_MOST_MESSAGE: Final = 600
"""Characters of a line of the log."""


class Recent(NamedTuple):
    """What a daemon's file has."""

    about: dict[str, Any]
    """Its version, process and times."""
    events: list[dict[str, Any]]
    """Oldest first."""
    lines: list[dict[str, Any]]
    """Of its log, oldest first."""
    is_running: bool | None
    """`None` where that cannot be known from here."""


class _Line(NamedTuple):
    """A line of the log."""

    values: dict[str, Any]


class RecentFile(logging.Handler):
    """Writes the last events, as an `Observer`, and the last warnings, as a handler of logging."""

    def __init__(self, directory: Path, about: dict[str, Any]) -> None:
        super().__init__(logging.WARNING)
        self.wants_text = False
        self._directory = directory
        self._about = about
        self._queue: queue.SimpleQueue[AnyRecord | _Line | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_on, name="recent events", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        logging.getLogger("gemini_companion").addHandler(self)
        self._thread.start()

    def take(self, record: AnyRecord) -> None:
        """Queue a record. Returns at once."""
        self._put(record)

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a line of the log; secrets in it are masked before it is written."""
        try:
            message = record.getMessage()
        except Exception:
            message = str(record.msg)
        line: dict[str, Any] = {
            "time": round(record.created * 1000),
            "level": record.levelname,
            "logger": record.name,
            "message": message[: 2 * _MOST_MESSAGE],  # cut once more when secrets are masked
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["at"] = _places(record.exc_info[2])
        self._put(_Line(line))

    def close(self) -> None:
        """End, with everything that was queued written, or without it after half a second. Called at exit too."""
        super().close()
        logging.getLogger("gemini_companion").removeHandler(self)
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(0.5)

    def _put(self, item: AnyRecord | _Line) -> None:
        if self._queue.qsize() < _MOST_QUEUED:
            self._queue.put(item)

    # --- in the thread

    def _write_on(self) -> None:
        try:
            make_private_directory(str(self._directory))
            self._sweep()
            me = SystemProcesses().me()
            path = self._directory / f"{time.time_ns() // 1_000_000:015d}-{me.pid}{_SUFFIX}"
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return self._discard()
        try:
            with open(descriptor, "r+b", buffering=0) as file:
                about = {**self._about, "process": msgspec.to_builtins(me), "began": time.time_ns() // 1_000_000}
                _write(file.fileno(), 0, about)
                self._write_all(file.fileno())
        except OSError:
            self._discard()

    def _write_all(self, descriptor: int) -> None:
        events = lines = 0
        while (item := self._queue.get()) is not None:
            if isinstance(item, _Line):
                line = {**item.values, "message": mask(item.values["message"])[:_MOST_MESSAGE]}
                _write(descriptor, 1 + KEPT + lines % LINES, {"n": lines, "line": line})
                lines += 1
            else:
                _write(descriptor, 1 + events % KEPT, {"n": events, "event": plain(item)})
                events += 1

    def _discard(self) -> None:
        while self._queue.get() is not None:
            pass

    def _sweep(self) -> None:
        for path in _files(self._directory)[FILES - 1 :]:
            if not _is_running(path):
                path.unlink(missing_ok=True)


def read_recent(directory: Path) -> list[Recent]:
    """What the last daemons left, the newest first. What cannot be read is left out."""
    found = (_read(path) for path in _files(directory))
    return [recent for recent in found if recent is not None]


def _files(directory: Path) -> list[Path]:
    try:
        names = sorted((name for name in os.listdir(directory) if name.endswith(_SUFFIX)), reverse=True)
    except OSError:
        return []
    return [directory / name for name in names]


def _write(descriptor: int, slot: int, value: dict[str, Any]) -> None:
    data = msgspec.json.encode(value)
    if len(data) >= SLOT:
        data = msgspec.json.encode(_shortened(value))[: SLOT - 1]
    os.lseek(descriptor, slot * SLOT, os.SEEK_SET)
    os.write(descriptor, data.ljust(SLOT - 1) + b"\n")


def _shortened(value: dict[str, Any]) -> dict[str, Any]:
    """The same with long texts cut, so that it fits a slot."""

    def cut(one: Any) -> Any:
        if isinstance(one, dict):
            return _shortened(cast("dict[str, Any]", one))
        return one[:120] if isinstance(one, str) else one

    return {key: cut(one) for key, one in value.items()}


def _read(path: Path) -> Recent | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return None
    slots = [_decoded(data[start : start + SLOT]) for start in range(0, len(data), SLOT)]
    about = slots[0] if slots else None
    if about is None:
        return None
    return Recent(about, _of("event", slots), _of("line", slots), _alive(about))


def _of(kind: str, slots: Iterable[dict[str, Any] | None]) -> list[dict[str, Any]]:
    def numbered() -> Iterator[tuple[int, dict[str, Any]]]:
        for slot in slots:
            if slot is not None and isinstance(slot.get(kind), dict) and isinstance(slot.get("n"), int):
                yield slot["n"], slot[kind]

    return [value for _, value in sorted(numbered(), key=lambda pair: pair[0])]


def _decoded(data: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return None


def _is_running(path: Path) -> bool:
    recent = _read(path)
    return recent is not None and recent.is_running is not False


def _alive(about: dict[str, Any]) -> bool | None:
    try:
        process = msgspec.convert(about.get("process"), ProcessIdentity)
    except msgspec.ValidationError:
        return False
    return SystemProcesses().is_alive(process)


def _places(traceback: Any) -> list[str]:
    """The innermost places of a traceback, without what stands there."""
    found: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append(f"{os.path.basename(code.co_filename)}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return found[-8:]
