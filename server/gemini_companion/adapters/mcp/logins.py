"""What is kept of logins: tokens and registrations, by the server's address, in a file of ours (0600) or the keyring.

A token is found again by the very address alone that it was given for: no other server gets it, whatever its name is.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

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
    """All of it. Blocks on a small file, or on the keyring."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "mcp-logins.json"
        self._name = hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:12]

    def read(self, address: str) -> Kept:
        """What is kept for an address; nothing where it cannot be read."""
        ring = _keyring()
        if ring is not None:
            with suppress(Exception):  # one that is locked, or broken: the file has it, or nothing has
                if text := ring.get_password(_SERVICE, self._key(address)):
                    return msgspec.json.decode(text, type=Kept)
        return self._all().get(_digest(address), Kept())

    def write(self, address: str, kept: Kept) -> None:
        """Keep it, in place of what was. Raises `StorageFault`."""
        ring = _keyring()
        if ring is not None:
            with suppress(Exception):  # then it is kept in the file
                ring.set_password(_SERVICE, self._key(address), msgspec.json.encode(kept).decode())
                return
        write_own(self._file, msgspec.json.encode({**self._all(), _digest(address): kept}))

    def forget(self, address: str) -> None:
        """Delete what is kept for an address. Raises `StorageFault`."""
        ring = _keyring()
        if ring is not None:
            with suppress(Exception):  # there was none
                ring.delete_password(_SERVICE, self._key(address))
        held = self._all()
        if held.pop(_digest(address), None) is not None:
            write_own(self._file, msgspec.json.encode(held))

    def _all(self) -> dict[str, Kept]:
        try:
            return msgspec.json.decode(read_own(self._file), type=dict[str, Kept])
        except (OSError, msgspec.DecodeError):
            return {}

    def _key(self, address: str) -> str:
        return f"{self._name}:{_digest(address)}"


def _digest(address: str) -> str:
    return hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()


def _keyring() -> Any:
    """The keyring, where the package and a place to keep secrets are there; else `None`."""
    try:
        import keyring
        from keyring.backends.fail import Keyring as Nowhere
    except ImportError:
        return None
    found = keyring.get_keyring()
    return None if isinstance(found, Nowhere) or found.priority < 1 else found


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
