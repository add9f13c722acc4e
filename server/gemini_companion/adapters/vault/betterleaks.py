"""Betterleaks' rules beside our own patterns: some hundred kinds of secrets, kept by those who keep the program.

It is a library of Go that is loaded when something is written for the first time. Where there is none for the platform
our own patterns stand alone, which `doctor` says.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from gemini_companion.engine.ide_context.secret_patterns import is_address, is_uuid, looks_invented
from gemini_companion.engine.ide_context.secrets import Secret

_log = logging.getLogger(__name__)

_ALLOWANCE: Final = "leaks:allow"
"""What a line may say to it to be passed over, which is nothing that a text may decide here."""


class Betterleaks:
    """A `Finder`. It never raises: what goes wrong is logged once, and from then on it finds nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scan: Callable[[str], list[Any]] | None = None
        self._is_tried = False

    @property
    def is_there(self) -> bool:
        """Whether it can be used; it is loaded for that."""
        return self._loaded() is not None

    def __call__(self, text: str) -> list[Secret]:
        """What it finds in a text."""
        scan = self._loaded()
        if scan is None:
            return []
        try:
            # It reads up to the first NUL, and no halves of characters.
            plain = text.replace("\0", " ").replace(_ALLOWANCE, "leaks-allow")
            try:
                findings = scan(plain)
            except UnicodeEncodeError:
                findings = scan(plain.encode(errors="replace").decode())
            found = {
                value: str(finding.rule_id)
                for finding in findings
                if (value := str(finding.match.value).strip()) and _counts(str(finding.rule_id), value)
            }
        except Exception as fault:
            _log.warning("Betterleaks failed (%s); our own patterns go on alone.", type(fault).__name__)
            self._scan = None
            return []
        return [secret for value, kind in found.items() for secret in _places(text, value, kind)]

    def _loaded(self) -> Callable[[str], list[Any]] | None:
        with self._lock:
            if not self._is_tried:
                self._is_tried = True
                try:
                    import betterleaks

                    betterleaks.scan_string("")
                    self._scan = betterleaks.scan_string
                except Exception as fault:  # no wheel, no library, one of another platform
                    _log.info("Betterleaks cannot be used (%s); our own patterns stand alone.", type(fault).__name__)
            return self._scan


def _counts(kind: str, value: str) -> bool:
    """Its rules of no issuer take names in code and numbers of resources for secrets: `password = credentials`."""
    return not kind.startswith("generic") or (
        looks_invented(value) and not is_uuid(value) and not is_address(value) and _OBJECT.fullmatch(value) is None
    )


_OBJECT: Final = re.compile(r"[0-9a-f]{24}")
"""What MongoDB numbers its documents by."""
_OF_A_DIGEST: Final = re.compile(
    r"(?i)(?:\b(?:h1|sha[0-9]{1,3}|md5)[:=-]"
    r"|(?:hash|digest|checksum|sha_?[0-9]{1,3}|md5|fingerprint|integrity|commit|etag|cache[-_ ]?key)"
    r"[\"'`]?[ \t]{0,8}(?:[:=]|=>|:=)[ \t]{0,8}[\"'`]?)\Z"
)
"""Stands before what a lock file has to compare a package with, and the like."""


def _places(text: str, value: str, kind: str) -> Iterator[Secret]:
    """Wherever the secret stands in the text; the library tells a line and a column of some of them."""
    start = text.find(value)
    is_generic = kind.startswith("generic")
    while start >= 0:
        if not is_generic or _OF_A_DIGEST.search(text, max(0, start - 48), start) is None:
            yield Secret(start, start + len(value), kind)
        start = text.find(value, start + len(value))
