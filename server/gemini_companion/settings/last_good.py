"""What each settings file last held, kept in private for the time in which the file cannot be read.

A file for each: the layer as JSON, with marks for secrets, and at which state of a broken file the person said that the
server goes on without it. A copy that is itself damaged counts for none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast
from zlib import crc32

from gemini_companion.settings.masking import MASK, masked
from gemini_companion.settings.objects import JsonObject

_FILE: Final = "file"
_GO_ON: Final = "goOn"
_LAYER: Final = "layer"
_STATE: Final = "state"
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_MOST_BYTES: Final = 1 << 22
_OTHERS: Final = re.compile(r"[^A-Za-z0-9]+")


class LastGood:
    """The copies in one folder. Blocks on small files; a folder that cannot be written keeps nothing."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = env

    def read(self, file: Path) -> JsonObject | None:
        """The layer that a file last held; `None` if that is not known."""
        layer = self._record(file).get(_LAYER)
        return cast("JsonObject", layer) if isinstance(layer, dict) else None

    def keep(self, file: Path, layer: JsonObject, state: str) -> None:
        """Have the copy of a file be this layer, which was read at that state of the file or later."""
        if state and self._record(file).get(_STATE) == state:
            return
        self._write(file, {_STATE: state, _LAYER: _without_secrets(layer, self._env)})

    def forget(self, file: Path) -> None:
        """Have no copy of a file that is gone."""
        with contextlib.suppress(OSError):
            os.unlink(self._place(file))

    def go_on(self, file: Path) -> None:
        """Go on without a file as it is now."""
        self._write(file, {_GO_ON: state_of(file)})

    def goes_on(self, file: Path) -> bool:
        """Whether the person said so of the file as it is."""
        return self._record(file).get(_GO_ON) == state_of(file)

    def _place(self, file: Path) -> Path:
        path = os.path.abspath(file)
        # Two may share a name: a record says whose it is. `hashlib` would load OpenSSL with every start.
        return self._folder / f"{crc32(os.fsencode(path)):08x}-{_OTHERS.sub('-', path)[-80:]}.json"

    def _record(self, file: Path) -> JsonObject:
        try:
            with self._place(file).open("rb") as copy:
                record: object = json.loads(copy.read(_MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        fields = cast("JsonObject", record) if isinstance(record, dict) else {}
        return fields if fields.get(_FILE) == _name(file) else {}

    def _write(self, file: Path, record: JsonObject) -> None:
        place = self._place(file)
        fresh = place.with_name(f".{place.name}.{os.getpid()}-{os.urandom(4).hex()}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(os.open(fresh, _FLAGS, 0o600), "wb") as out:
                out.write(json.dumps({_FILE: _name(file), **record}).encode())
                out.flush()
                os.fsync(out.fileno())
            os.replace(fresh, place)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(fresh)


def _name(file: Path) -> str:
    """The path as a text that JSON can have."""
    return os.fsencode(os.path.abspath(file)).decode("utf-8", "backslashreplace")


def state_of(file: Path) -> str:
    """What tells one state of a file from another; empty if there is none."""
    try:
        found = file.stat() if file.exists() else file.lstat()  # of a link to nothing, the link's own
    except (OSError, ValueError):
        return ""
    return f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"


def _without_secrets(layer: JsonObject, env: Mapping[str, str]) -> JsonObject:
    """The layer with a mark in the place of each text that is or holds a secret."""
    from gemini_companion.engine.redaction import mask  # slow, and seldom needed

    def marked(value: Any, shown: Any) -> Any:
        if isinstance(value, dict):
            fields = cast("JsonObject", value)
            return {key: marked(held, shown[key]) for key, held in fields.items() if mask(key) == key}
        if isinstance(value, list):
            return [marked(*pair) for pair in zip(cast("list[Any]", value), shown, strict=True)]
        return value if not isinstance(value, str) or (shown == value and mask(value) == value) else MASK

    return {key: marked(held, masked(key, held, env)) for key, held in layer.items()}
