"""Our own session files that leave this machine with marks in place of secrets, and that come back unchanged.

Whoever reads a file may write one that names its marks. So a mark in a file is a secret of ours only if the vault's own
key says that we wrote the file, all of it, and that nobody has changed it since: else an importer would put a person's
secrets into somebody else's sentences, to be sent to a model, to a tool or to the next reader. What such a file shows
again is what its chat showed before, and nothing but that.
"""

from __future__ import annotations

import re
from typing import Final, cast

import msgspec

from gemini_companion.adapters.vault.keys import Keys
from gemini_companion.adapters.vault.sealing import is_mac_of
from gemini_companion.engine.redaction.markers import has_markers

FIELD: Final = "mac"
"""Of `SessionExport`."""
_AT_THE_END: Final = re.compile(rb',"mac":"([0-9a-f:]{1,200})"\}\s*\Z')
_NEAR: Final = 300
"""Bytes at the end of a file that have it, where nothing but us wrote the file."""


def authentic(data: bytes, keys: Keys) -> bytes | None:
    """A session file without its field `mac`, if one of these keys made that for it, and it has markers or what is
    escaped.

    `None` for every other file, and for one that was changed; white space between its values is no change.
    """
    if f'"{FIELD}"'.encode() not in data or not has_markers(data):
        return None
    written = _AT_THE_END.search(data, max(0, len(data) - _NEAR))
    if written is not None and is_mac_of(document := data[: written.start()] + b"}", written[1].decode(), keys):
        return document  # as it was written: nothing of it need be read
    try:
        fields: object = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    mac: object = cast("dict[str, object]", fields).pop(FIELD, None)
    document = msgspec.json.encode(fields)
    return document if isinstance(mac, str) and is_mac_of(document, mac, keys) else None
