"""What is kept of logins: tokens and registrations, by the server's address, in a file of ours (0600) or the keyring.

A token is found again by the very address alone that it was given for: no other server gets it, whatever its name is.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion.adapters.keyrings import KEYRING_SECONDS, AskedKeyring, Keyring, KeyringFault
from gemini_companion.adapters.mcp.choices import read_own, write_own
from gemini_companion.engine.errors import StorageFault

_SERVICE: Final = "gemini-companion-mcp"


class Kept(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """What is kept for one address."""

    tokens: dict[str, Any] | None = None
    """As the authorisation server gave them."""
    client: dict[str, Any] | None = None
    """Our registration there."""
    expires_at: float = 0.0
    """When the token ends, in seconds since 1970; 0 where nobody said."""
    authority: dict[str, Any] | None = None
    """What the authorisation server says of itself: where tokens are renewed."""
    resource: dict[str, Any] | None = None
    """What the server says of who gives out its tokens."""


class Logins:
    """All of it: one for all servers of a daemon. Blocks on a small file, or on the keyring.

    `keyring` gives the system's, `None` where there is none.
    """

    def __init__(
        self,
        folder: Path,
        *,
        keyring: Callable[[], Keyring | None] | None = None,
        seconds: float = KEYRING_SECONDS,
    ) -> None:
        self._file = folder / "mcp-logins.json"
        self._keyring = AskedKeyring(keyring, service=_SERVICE, seconds=seconds)
        self._lock = threading.Lock()
        """Two servers' logins may end at once; neither's is lost."""
        self._name = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:12]

    def read(self, address: str) -> Kept:
        """What is kept for an address; nothing where it cannot be read.

        The file goes before the keyring: it has only what the keyring did not take, which is newer than what it has.
        """
        found = self._all().get(_digest(address))
        if found is not None:
            return found
        with suppress(KeyringFault, msgspec.DecodeError):
            if text := self._keyring.get(self._key(address)):
                return msgspec.json.decode(text, type=Kept)
        return Kept()

    def write(self, address: str, kept: Kept) -> None:
        """Keep it, in place of what was. Raises `StorageFault`."""
        try:
            self._keyring.put(self._key(address), msgspec.json.encode(kept).decode())
        except KeyringFault:
            with self._lock:
                write_own(self._file, msgspec.json.encode({**self._all(), _digest(address): kept}))
        else:
            self._drop_from_file(address)

    def forget(self, address: str) -> None:
        """Delete what is kept for an address. Raises `StorageFault`."""
        self._drop_from_file(address)
        try:
            self._keyring.delete(self._key(address))
        except KeyringFault as fault:
            if not fault.is_absence:
                raise StorageFault(
                    "The keyring did not say whether the login is forgotten.",
                    hint="Unlock the keyring, then log out again.",
                ) from None

    def _drop_from_file(self, address: str) -> None:
        with self._lock:
            held = self._all()
            if held.pop(_digest(address), None) is not None:
                write_own(self._file, msgspec.json.encode(held))

    def _all(self) -> dict[str, Kept]:
        try:
            return msgspec.json.decode(read_own(self._file), type=dict[str, Kept])
        except msgspec.DecodeError:
            return {}

    def _key(self, address: str) -> str:
        return f"{self._name}:{_digest(address)}"


def _digest(address: str) -> str:
    return hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()


class StoredLogin:
    """The SDK's token storage for one address. `client_id` stands in place of a registration."""

    def __init__(self, logins: Logins, address: str, *, client_id: str, client_secret: str) -> None:
        self._logins = logins
        self._address = address
        self._client_id = client_id
        self._client_secret = client_secret
        self.authority: Callable[[], Any] = lambda: None
        """Gives what the SDK has found out about the authorisation server."""
        self.resource: Callable[[], Any] = lambda: None

    async def get_tokens(self) -> Any:
        """The tokens, as the SDK has them."""
        from mcp.shared.auth import OAuthToken

        kept = await asyncio.to_thread(self._logins.read, self._address)
        return _made(OAuthToken, kept.tokens)

    async def set_tokens(self, tokens: Any) -> None:
        """Keep tokens, and what is needed to renew them; a disk that fails costs the next start a login."""
        found = {"authority": self.authority(), "resource": self.resource()}
        await self._change(
            tokens=_plain(tokens),
            expires_at=time.time() + int(tokens.expires_in) if tokens.expires_in is not None else 0.0,
            **{name: _plain(value) for name, value in found.items() if value is not None},
        )

    async def kept(self) -> Kept:
        """All that is kept."""
        return await asyncio.to_thread(self._logins.read, self._address)

    async def get_client_info(self) -> Any:
        """Our registration."""
        from mcp.shared.auth import OAuthClientInformationFull

        if self._client_id:
            method = "client_secret_post" if self._client_secret else "none"
            return OAuthClientInformationFull(
                client_id=self._client_id,
                client_secret=self._client_secret or None,
                token_endpoint_auth_method=method,
                redirect_uris=None,
            )
        kept = await asyncio.to_thread(self._logins.read, self._address)
        return _made(OAuthClientInformationFull, kept.client)

    async def set_client_info(self, client_info: Any) -> None:
        """Keep a registration."""
        await self._change(client=_plain(client_info))

    async def _change(self, **fields: Any) -> None:
        def work() -> None:
            kept = self._logins.read(self._address)
            for name, value in fields.items():
                setattr(kept, name, value)
            try:
                self._logins.write(self._address, kept)
            except StorageFault:
                return

        await asyncio.to_thread(work)


def _plain(value: Any) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude_none=True)


def _made(kind: Any, fields: dict[str, Any] | None) -> Any:
    try:
        return kind.model_validate(fields) if fields else None
    except ValueError:
        return None
