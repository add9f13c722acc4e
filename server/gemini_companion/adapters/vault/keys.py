"""The vault's keys: in the system's keyring where there is one, else in a file that only its owner may read.

Which key is used now stands in `current`, beside the key files. A key that cannot be had is not replaced by another of
the same id: what it closed stays closed until it is back, and a new one is made for what comes.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from gemini_companion.adapters.keyrings import KEYRING_SECONDS, AskedKeyring, Keyring, KeyringFault
from gemini_companion.adapters.private_files import open_private_file, replace_private_file

SERVICE: Final = "gemini-companion"
"""What the keyring's entries are filed under."""

_CURRENT: Final = "current"
_KEY_BYTES: Final = 32
_ID: Final = re.compile(r"[0-9a-f]{16}")

Place: TypeAlias = Literal["keyring", "file"]


class Key(NamedTuple):
    """A key and its id, 16 hexadecimal digits."""

    id: str
    secret: bytes
    place: Place


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
        self._keyring = AskedKeyring(keyring, service=SERVICE, seconds=seconds)
        self._lock = threading.RLock()
        self._known: dict[str, Key | None] = {}
        self._now: Key | None = None

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
            replace_private_file(os.path.join(self.directory, f"{key_id}.key"), secret.hex().encode() + b"\n")
        replace_private_file(os.path.join(self.directory, _CURRENT), msgspec.json.encode(_Current(key_id, place)))
        return Key(key_id, secret, place)

    def _noted(self) -> _Current | None:
        try:
            with open_private_file(os.path.join(self.directory, _CURRENT)) as file:
                noted = msgspec.json.decode(file.read(4096), type=_Current)
        except (OSError, msgspec.DecodeError):
            return None
        return noted if _ID.fullmatch(noted.id) else None

    def _in_file(self, key_id: str) -> Key | None:
        try:
            with open_private_file(os.path.join(self.directory, f"{key_id}.key")) as file:
                return _key_of(key_id, file.read(4096).decode().strip(), "file")
        except (OSError, UnicodeDecodeError):
            return None

    def _in_keyring(self, key_id: str) -> Key | None:
        try:
            kept = self._keyring.get(_user(key_id))
        except KeyringFault:
            return None
        return _key_of(key_id, kept, "keyring") if kept is not None else None

    def _put_in_keyring(self, key_id: str, secret: bytes) -> bool:
        try:
            self._keyring.put(_user(key_id), secret.hex())
        except KeyringFault:
            return False
        return True


def _key_of(key_id: str, text: str, place: Place) -> Key | None:
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        return None
    return Key(key_id, secret, place) if len(secret) == _KEY_BYTES else None


def _user(key_id: str) -> str:
    return f"vault {key_id}"
