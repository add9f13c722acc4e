"""Our own session files that leave this machine with marks in place of secrets, and that come back unchanged.

Whoever reads a file may write one that names its marks. So a mark in a file is a secret of ours only if the vault's own
key says that we wrote the file, all of it, and that nobody has changed it since: else an importer would put a person's
secrets into somebody else's sentences, to be sent to a model, to a tool or to the next reader. What such a file shows
again is what its chat showed before, and nothing but that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from gemini_companion.adapters.vault.keys import Key, Keys
from gemini_companion.adapters.vault.sealing import is_mac_of, mac_of
from gemini_companion.engine.redaction.markers import has_markers

FIELD: Final = "mac"
"""Of `SessionExport`."""


def authenticated(document: bytes, key: Key) -> bytes:
    """A JSON object as `msgspec` writes it, with a field that says that it was written with this key."""
    fields = cast("Mapping[str, Any]", msgspec.json.decode(document))
    return msgspec.json.encode({**fields, FIELD: mac_of(msgspec.json.encode(fields), key)})


def authentic(data: bytes, keys: Keys) -> bytes | None:
    """What was given to `authenticated` with one of these keys, if it has markers or what is escaped.

    `None` for every other file, and for one that was changed; white space between its values is no change.
    """
    if f'"{FIELD}"'.encode() not in data or not has_markers(data):
        return None
    try:
        fields: object = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    mac: object = cast("dict[str, object]", fields).pop(FIELD, None)
    document = msgspec.json.encode(fields)
    return document if isinstance(mac, str) and is_mac_of(document, mac, keys) else None
