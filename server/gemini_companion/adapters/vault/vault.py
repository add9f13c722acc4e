"""`Vault`: what is written goes through it, and what is read comes back through it.

It keeps no secrets itself: the store has them beside what needs them, closed with the vault's key, so that both are
written in one transaction.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from gemini_companion.adapters.keyrings import Keyring
from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.adapters.vault.exports import authentic
from gemini_companion.adapters.vault.keys import Key, Keys
from gemini_companion.adapters.vault.known import (
    Sought,
    found_again,
    pieces_again,
    places_in,
    sought_lines,
    whole_again,
)
from gemini_companion.adapters.vault.sealing import (
    STREAM,
    framed,
    is_sealed,
    mac_of,
    name_of,
    pieces_of,
    seal,
    unseal,
)
from gemini_companion.engine.ide_context.secret_patterns import SHORTEST_RUN
from gemini_companion.engine.ide_context.secrets import Secret
from gemini_companion.engine.redaction.documents import StandIn, redacted_document, unchanged
from gemini_companion.engine.redaction.finding import Finder, all_secrets
from gemini_companion.engine.redaction.markers import has_markers, marker, replaced, restored

_log = logging.getLogger(__name__)

_REMEMBERED: Final = 10_000
"""Secrets that are held in memory, so that what is read often is not opened each time."""
_SOUGHT_AGAIN: Final = 200
"""Lines of the newest secrets, which are looked for by what they are."""
_PLACES: Final = 50_000
"""Places in the newest secrets by which a piece of one is known; some seven megabytes at most."""
_LONGEST: Final = 64 * 1024
"""Characters of a secret that is held in memory; an attached file with secrets is one, and may be longer."""
_DIRECTORY: Final = "vault"


class Redacted(NamedTuple):
    """What may be written, and what must be on disk before it: by id, secrets closed with the vault's key."""

    data: bytes
    secrets: Mapping[str, bytes]
    is_changed: bool


class Vault:
    """The vault of a data directory. Nothing is read or made before it is needed; every method may block.

    `is_on` says whether secrets are kept out of what is written now; what was written is read either way. `notify` gets
    a sentence for people, on any thread.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str],
        *,
        is_on: Callable[[], bool] = lambda: True,
        notify: Callable[[str], None] = lambda message: None,
        keyring: Callable[[], Keyring | None] | None = None,
        finders: Sequence[Finder] | None = None,
    ) -> None:
        self.is_on = is_on
        self.keys = Keys(os.path.join(os.path.abspath(data_dir), _DIRECTORY), notify=notify, keyring=keyring)
        self.betterleaks = Betterleaks()
        self._finders: Sequence[Finder] = (self.known, *((self.betterleaks,) if finders is None else finders))
        self._notify = notify
        self._lock = threading.Lock()
        self._secrets: dict[str, str] = {}
        """By id."""
        self._pieces: deque[Sought] = deque(maxlen=_SOUGHT_AGAIN)
        """The newest of them, line by line."""
        self._whole: dict[str, None] = {}
        """All that are remembered and may stand for themselves, such as in a list of what was said."""
        self._places: dict[str, None] = {}
        """What pieces of the newest are known by."""
        self._is_told = False

    def has_key(self) -> bool:
        """Whether what is written now can be brought back; a key is made if there is none."""
        return self._key() is not None

    def document(self, data: bytes) -> Redacted:
        """A JSON document as it may be written while redaction is on. Without a key secrets are masked for good."""
        secrets: dict[str, bytes] = {}
        redacted = redacted_document(data, self._stand_in(secrets), self._finders)
        return Redacted(data if redacted is None else redacted, secrets, redacted is not None)

    def unchanged(self, documents: Iterable[object]) -> Iterator[bool]:
        """Whether `document` leaves each of these JSON values as it is; see `unchanged` of the engine."""
        return unchanged(documents, self._finders)

    def text(self, text: str) -> Redacted:
        """A text as it may be written, UTF-8. Without a key secrets are masked for good.

        While redaction is off the secrets stay, and what looks like a marker is escaped all the same.
        """
        secrets: dict[str, bytes] = {}
        found = all_secrets(text, self._finders) if self.is_on() else ()
        shown = replaced(text, found, self._stand_in(secrets))
        return Redacted(shown.encode(errors="replace"), secrets, shown != text)

    def exported(self, text: str) -> str:
        """A JSON document, or several, each in a line, as it may leave this machine: with markers for secrets."""
        if not self.is_on():
            return text
        try:
            return self._redacted(text).data.decode()
        except msgspec.DecodeError:
            lines = (self._redacted(line).data.decode() if line.strip() else line for line in text.split("\n"))
            return "\n".join(lines)

    def marked(self, document: bytes) -> bytes:
        """A JSON document as it may leave this machine, a piece of a session file for instance."""
        return self.document(document).data if self.is_on() else document

    def vouched(self, pieces: Iterable[bytes]) -> str | None:
        """What has `authentic_export` know a session file of these pieces again, as its field `mac`; `None` without a
        key.
        """
        key = self._key() if self.is_on() else None
        return mac_of(pieces, key) if key is not None else None

    def authentic_export(self, data: bytes) -> bytes | None:
        """A session file with markers that this vault's key wrote, and nobody has changed; `None` for any other.

        In such a file alone `restored` may bring secrets back.
        """
        return authentic(data, self.keys)

    def restored(self, data: bytes, sealed_of: Callable[[str], bytes | None], *, in_json: bool) -> bytes:
        """What was given to be written. `sealed_of` looks up what is kept under an id; unknown markers stay."""
        if not has_markers(data):
            return data

        def secret_of(secret_id: str) -> str | None:
            known = self._secrets.get(secret_id)
            if known is not None:
                return known
            sealed = sealed_of(secret_id)
            opened = self._opened(secret_id, sealed) if sealed is not None else None
            return self._remember(secret_id, opened) if opened is not None else None

        return restored(data, secret_of, in_json=in_json)

    def sealed(self, data: bytes, purpose: str) -> bytes | None:
        """The bytes closed as a whole; as they are while redaction is off; `None` if there is no key."""
        if not self.is_on():
            return data
        key = self._key()
        return seal(data, key, purpose) if key is not None else None

    def unsealed(self, data: bytes, purpose: str) -> bytes | None:
        """What was given to `sealed`; `None` if its key cannot be had or it is damaged."""
        return unseal(data, self.keys, purpose) if is_sealed(data) else data

    def writer(self, purpose: str) -> Callable[[bytes], bytes] | None:
        """Closes the pieces of a stream, in their order; as they are while redaction is off. `None` without a key."""
        if not self.is_on():
            return bytes
        key = self._key()
        return _SealedStream(key, purpose).piece if key is not None else None

    def unsealed_stream(self, data: bytes, purpose: str) -> bytes | None:
        """What was given to a stream, as far as its writer came; `None` if its key cannot be had."""
        if not data.startswith(STREAM):
            return data
        opened: list[bytes] = []
        for number, piece in enumerate(pieces_of(data)):
            plain = unseal(piece, self.keys, f"{purpose}:{number}")
            if plain is None:
                return None
            opened.append(plain)
        return b"".join(opened)

    def known(self, text: str) -> list[Secret]:
        """A `Finder`: what was a secret before is one wherever it comes again, also where nothing around it says so,
        or where an output was cut in the middle of it. Of the newest that this process has met.
        """
        with self._lock:
            latest = list(self._pieces)
            whole, places = self._whole, self._places
        return found_again(text, latest) + whole_again(text, whole) + pieces_again(text, places)

    def finder_of(self, sealed: Mapping[str, bytes]) -> Finder:
        """The same for these secrets, by id as a store keeps them; those that cannot be opened are left out."""
        opened = [self._opened(secret_id, closed) for secret_id, closed in sealed.items()]
        lines = [line for secret in opened if secret for line in sought_lines(secret)]
        return lambda text: found_again(text, lines)

    def _stand_in(self, secrets: dict[str, bytes]) -> StandIn:
        """Names secrets by markers and closes them into `secrets`."""

        def named(secret: str, kind: str) -> str:
            key = self._key()
            if key is None:
                return f"[masked: {kind}]"
            secret_id = name_of(secret, key)
            if secret_id not in secrets:
                secrets[secret_id] = seal(secret.encode("utf-8", "surrogatepass"), key, _purpose(secret_id))
                self._remember(secret_id, secret)
            return marker(kind, secret_id)

        return named

    def _redacted(self, document: str) -> Redacted:
        return self.document(document.encode("utf-8", "surrogatepass"))

    def _opened(self, secret_id: str, sealed: bytes) -> str | None:
        opened = unseal(sealed, self.keys, _purpose(secret_id))
        return opened.decode("utf-8", "surrogatepass") if opened is not None else None

    def _key(self) -> Key | None:
        try:
            return self.keys.current()
        except OSError as fault:
            _log.warning("There is no key for the vault: %s", fault)
            if not self._is_told:
                self._is_told = True
                why = fault.strerror or type(fault).__name__
                self._notify(
                    f"The vault of secrets cannot be used, for its key can be kept nowhere ({why}). Until it can,"
                    " secrets are masked for good where chats are stored, and what would need the vault is not kept."
                    " Look at the rights of the data folder."
                )
            return None

    def _remember(self, secret_id: str, secret: str) -> str:
        if len(secret) > _LONGEST:
            return secret
        with self._lock:
            if len(self._secrets) >= _REMEMBERED:
                oldest = self._secrets.pop(next(iter(self._secrets)))
                self._whole.pop(oldest.rstrip("="), None)
            if secret_id not in self._secrets:
                self._pieces.extend(sought_lines(secret))
                if len(secret) >= SHORTEST_RUN:
                    self._whole[secret.rstrip("=")] = None
                self._places.update(dict.fromkeys(places_in(secret)))
                while len(self._places) > _PLACES:
                    del self._places[next(iter(self._places))]
            self._secrets[secret_id] = secret
        return secret


class _SealedStream:
    """Closes the pieces of one stream, in their order."""

    def __init__(self, key: Key, purpose: str) -> None:
        self._key = key
        self._purpose = purpose
        self._number = 0

    def piece(self, data: bytes) -> bytes:
        """What is to be appended to the file for this piece."""
        closed = framed(seal(data, self._key, f"{self._purpose}:{self._number}"))
        self._number += 1
        return closed if self._number > 1 else STREAM + closed


def _purpose(secret_id: str) -> str:
    return f"secret:{secret_id}"
