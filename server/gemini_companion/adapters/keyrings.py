"""The system's keyring, asked so that nobody waits for it for ever. Every method blocks; any thread may call it."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from typing import Final, Protocol, TypeVar, cast

logger = logging.getLogger(__name__)

KEYRING_SECONDS: Final = 5.0
"""How long a keyring may take: one that is locked asks the person first."""

_T = TypeVar("_T")


class Keyring(Protocol):
    """The system's keyring. All three raise whatever they like."""

    def get_password(self, service: str, username: str) -> str | None:
        """The text filed under these names."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """File a text."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Delete the text filed under these names; raises where there is none."""
        ...


class KeyringFault(Exception):
    """There is no keyring, which is an absence, or it failed, or took too long."""

    def __init__(self, message: str, *, is_absence: bool = False) -> None:
        super().__init__(message)
        self.is_absence = is_absence


class AskedKeyring:
    """A keyring that is asked on a thread of its own: one that is locked shows a dialog and waits for the person.

    `find` gives the keyring, `None` where there is none. One that took longer than `seconds` is not asked again.
    """

    def __init__(
        self, find: Callable[[], Keyring | None] | None = None, *, service: str, seconds: float = KEYRING_SECONDS
    ) -> None:
        self._find = find or system_keyring
        self._service = service
        self._seconds = seconds
        self._is_silent = False

    def get(self, name: str) -> str | None:
        """The text filed under a name. Raises `KeyringFault`."""
        return self._asked(lambda keyring: keyring.get_password(self._service, name))

    def put(self, name: str, text: str) -> None:
        """File a text, and look whether it is there: some keep nothing. Raises `KeyringFault`."""

        def put(keyring: Keyring) -> str | None:
            keyring.set_password(self._service, name, text)
            return keyring.get_password(self._service, name)

        if self._asked(put) != text:
            raise KeyringFault("It does not keep what it is given.")

    def delete(self, name: str) -> None:
        """Delete what is filed under a name, if anything is. Raises `KeyringFault`."""

        def delete(keyring: Keyring) -> None:
            if keyring.get_password(self._service, name) is not None:
                keyring.delete_password(self._service, name)

        self._asked(delete)

    def _asked(self, question: Callable[[Keyring], _T]) -> _T:
        if self._is_silent:
            raise KeyringFault("It did not answer before.")
        answers: list[_T] = []
        faults: list[KeyringFault] = []

        def ask() -> None:
            try:
                keyring = self._find()
                if keyring is None:
                    faults.append(KeyringFault("There is none.", is_absence=True))
                else:
                    answers.append(question(keyring))
            except Exception as fault:  # any backend, in any state
                logger.info("The keyring did not answer (%s).", type(fault).__name__)
                faults.append(KeyringFault(f"It failed ({type(fault).__name__})."))

        asking = threading.Thread(target=ask, name="gemini-companion-keyring", daemon=True)
        asking.start()
        asking.join(self._seconds)
        if answers:
            return answers[0]
        if faults:
            raise faults[0]
        self._is_silent = True
        logger.warning("The keyring did not answer within %.0f s; a file is used.", self._seconds)
        raise KeyringFault("It did not answer in time.")


def system_keyring() -> Keyring | None:
    """The system's keyring; `None` where there can be none, which is told without loading what would look for it."""
    chosen = os.environ.get("PYTHON_KEYRING_BACKEND", "")
    if chosen in ("keyring.backends.fail.Keyring", "keyring.backends.null.Keyring"):
        return None
    if sys.platform.startswith("linux") and not chosen:
        bus = os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/nowhere"), "bus")
        if not os.environ.get("DBUS_SESSION_BUS_ADDRESS") and not os.path.exists(bus):
            return None
    try:
        import keyring
    except ImportError:
        return None
    found = keyring.get_keyring()
    return (
        cast("Keyring", found) if found.priority >= 1 else None
    )  # less is said of those that keep keys in a plain file, or nowhere
