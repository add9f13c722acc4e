"""What a client may state about itself in `initialize`."""

from __future__ import annotations

import msgspec


class InitializationOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`initializationOptions`. Everything is optional."""

    token: str | None = None
    trusted: bool | None = None
    """Whether the user trusts the workspace."""
    opt_out_events: tuple[str, ...] = ()
    """Event types that are not sent to this client; `compressionStatus` stands for its notification, `*` for all of
    them.
    """
    supports: tuple[str, ...] = ()
    """Requests that it answers: `confirmTool`, `openDiff`, `askUser`, `diagnostics`, `saveDocument`. `questionText`:
    it shows the `text` of a `confirmTool`.
    """
    client_name: str | None = None
