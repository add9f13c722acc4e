"""The vault's keys: in the system's keyring where there is one, else in a file that only its owner may read.

Which key is used now stands in `current`, beside the key files. A key that cannot be had is not replaced by another of
the same id: what it closed stays closed until it is back, and a new one is made for what comes.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, cast

import msgspec

_log = logging.getLogger(__name__)

SERVICE: Final = "gemini-companion"
"""What the keyring's entries are filed under."""

KEYRING_SECONDS: Final = 5.0
"""How long a keyring may take: one that is locked asks the person first."""

_CURRENT: Final = "current"
_KEY_BYTES: Final = 32
_ID: Final = re.compile(r"[0-9a-f]{16}")

Place: TypeAlias = Literal["keyring", "file"]


class Key(NamedTuple):
    """A key and its id, 16 hexadecimal digits."""

    id: str
    secret: bytes
    place: Place


class Keyring(Protocol):
    """The system's keyring. Both raise whatever they like."""

    def get_password(self, service: str, username: str) -> str | None:
        """The text filed under these names."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """File a text."""
        ...


class _Current(msgspec.Struct, frozen=True):
    id: str
    place: Place


class Keys:
    """The keys in a directory and a keyring. Every method blocks; any number of threads may call it.

    `keyring` gives the system's, `None` where there is none. `notify` gets a sentence for people.
    """

    def __init__(
        self,
        directory: str,
        *,
        notify: Callable[[str], None] = lambda message: None,
        keyring: Callable[[], Keyring | None] | None = None,
        seconds: float = KEYRING_SECONDS,
    ) -> None:
        self.directory = directory
        self._notify = notify
        self._keyring_of = keyring or system_keyring
        self._seconds = seconds
        self._lock = threading.RLock()
        self._known: dict[str, Key | None] = {}
        self._now: Key | None = None
        self._is_silent = False

    def current(self) -> Key:
        """The key for what is closed now; made if there is none. Raises `OSError` if it can be kept nowhere."""
        with self._lock:
            if self._now is None:
                self._now = self._found() or self._made()
                self._known[self._now.id] = self._now
            return self._now

    def by_id(self, key_id: str) -> Key | None:
        """An earlier key, or the one of now; `None` if it cannot be had."""
        if not _ID.fullmatch(key_id):
            return None
        with self._lock:
            if key_id not in self._known:
                self._known[key_id] = self._in_file(key_id) or self._in_keyring(key_id)
            return self._known[key_id]

    def place(self) -> Place | None:
        """Where the key of now lies; `None` if there is none yet. Nothing is made."""
        noted = self._noted()
        return noted.place if noted is not None else None

    def is_there(self) -> bool:
        """Whether the key of now can be had, or there is none yet. Nothing is made."""
        noted = self._noted()
        return noted is None or self.by_id(noted.id) is not None

    def _found(self) -> Key | None:
        noted = self._noted()
        if noted is None:
            return None
        key = self.by_id(noted.id)
        if key is None:
            self._notify(
                "The key of the vault of secrets is gone from"
                f" {'the keyring' if noted.place == 'keyring' else self.directory}. Secrets in earlier chats stay"
                " hidden behind their marks until it is back; what comes now has a new key."
            )
        return key

    def _made(self) -> Key:
        key_id, secret = os.urandom(8).hex(), os.urandom(_KEY_BYTES)
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        os.chmod(self.directory, 0o700)
        place: Place = "keyring" if self._put_in_keyring(key_id, secret) else "file"
        if place == "file":
            self._write(f"{key_id}.key", secret.hex().encode() + b"\n")
        self._write(_CURRENT, msgspec.json.encode(_Current(key_id, place)))
        return Key(key_id, secret, place)

    def _noted(self) -> _Current | None:
        try:
            with open(os.path.join(self.directory, _CURRENT), "rb") as file:
                noted = msgspec.json.decode(file.read(4096), type=_Current)
        except (OSError, msgspec.DecodeError):
            return None
        return noted if _ID.fullmatch(noted.id) else None

    def _in_file(self, key_id: str) -> Key | None:
        try:
            with open(os.path.join(self.directory, f"{key_id}.key"), "rb") as file:
                return _key_of(key_id, file.read(4096).decode().strip(), "file")
        except (OSError, UnicodeDecodeError):
            return None

    def _in_keyring(self, key_id: str) -> Key | None:
        kept = self._asked(lambda keyring: keyring.get_password(SERVICE, _user(key_id)))
        return _key_of(key_id, kept, "keyring") if kept is not None else None

    def _put_in_keyring(self, key_id: str, secret: bytes) -> bool:
        """Whether the keyring has it now, which is looked at: some keep nothing."""

        def put(keyring: Keyring) -> str | None:
            keyring.set_password(SERVICE, _user(key_id), secret.hex())
            return keyring.get_password(SERVICE, _user(key_id))

        return self._asked(put) == secret.hex()

    def _asked(self, question: Callable[[Keyring], str | None]) -> str | None:
        """What the keyring says; `None` if there is none, or if it takes too long, which is then not waited for again.

        It is asked on a thread of its own: one that is locked shows a dialog and waits for the person.
        """
        if self._is_silent:
            return None
        answer: list[str | None] = []

        def ask() -> None:
            try:
                keyring = self._keyring_of()
                answer.append(question(keyring) if keyring is not None else None)
            except Exception as fault:  # any backend, in any state
                _log.info("The keyring did not answer (%s).", type(fault).__name__)
                answer.append(None)

        asking = threading.Thread(target=ask, name="gemini-companion-keyring", daemon=True)
        asking.start()
        asking.join(self._seconds)
        if not answer:
            self._is_silent = True
            _log.warning("The keyring did not answer within %.0f s; a key file is used.", self._seconds)
            return None
        return answer[0]

    def _write(self, name: str, data: bytes) -> None:
        """Write a file completely or not at all, readable by its owner only. Raises `OSError`."""
        path = os.path.join(self.directory, name)
        aside = f"{path}.{os.urandom(4).hex()}"
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.replace(aside, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(aside)
            raise
        if hasattr(os, "O_DIRECTORY"):
            folder = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def system_keyring() -> Keyring | None:
    """The system's keyring; `None` where there can be none, which is told without loading what would look for it."""
    chosen = os.environ.get("PYTHON_KEYRING_BACKEND", "")
    if chosen in ("keyring.backends.fail.Keyring", "keyring.backends.null.Keyring"):
        return None
    if sys.platform.startswith("linux") and not chosen:
        bus = os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/nowhere"), "bus")
        if not os.environ.get("DBUS_SESSION_BUS_ADDRESS") and not os.path.exists(bus):
            return None
    import keyring

    found = keyring.get_keyring()
    return (
        cast("Keyring", found) if found.priority >= 1 else None
    )  # less is said of those that keep keys in a plain file, or nowhere


def _key_of(key_id: str, text: str, place: Place) -> Key | None:
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        return None
    return Key(key_id, secret, place) if len(secret) == _KEY_BYTES else None


def _user(key_id: str) -> str:
    return f"vault {key_id}"
