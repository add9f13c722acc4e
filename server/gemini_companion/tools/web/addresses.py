"""Which web addresses a text names, and which of them may be asked for."""

from __future__ import annotations

import ipaddress
import unicodedata
from typing import Final
from urllib.parse import SplitResult, urlsplit

MOST_ADDRESSES: Final = 20
LONGEST_ADDRESS: Final = 2_000
_SCHEMES: Final = ("https://", "http://")
_ENDS: Final = frozenset("<>\"'`“”‘’「」《》")
"""Signs that end an address in a text, beside blanks."""
_TRAILING: Final = ".,;:!?…。、！？*_~|"
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}
_PRIVATE_NAMES: Final = (
    *("localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain"),
    *("home.arpa", "test", "invalid", "example", "onion"),
)
"""Ends of names that lead nowhere on the public network."""


class UnfitAddress(Exception):
    """An address that is not asked for. `reason` ends a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def addresses_in(text: str) -> list[str]:
    """The addresses that a text names, in order, each once; they are not checked."""
    found: dict[str, None] = {}
    for word in _words(text):
        lowered = word.lower()
        starts = [place for scheme in _SCHEMES if (place := lowered.find(scheme)) >= 0]
        if starts:
            found[_without_tail(word[min(starts) :])] = None
    return list(found)


def host_of(address: str) -> str:
    """The host of an address that may be asked for. Raises `UnfitAddress` for every other."""
    if len(address) > LONGEST_ADDRESS:
        raise UnfitAddress(f"it is longer than {LONGEST_ADDRESS} characters")
    if any(character.isspace() or unicodedata.category(character)[0] == "C" for character in address):
        raise UnfitAddress("it has signs in it that no address has")
    parts = _split(address)
    if parts.scheme not in ("http", "https"):
        raise UnfitAddress("it is none of http or https")
    if "@" in parts.netloc or "\\" in address:
        raise UnfitAddress("it is written to be mistaken: it has a name or a backslash before the host")
    host = unicodedata.normalize("NFKC", parts.hostname or "").lower().replace("。", ".").rstrip(".")
    if not host or "%" in host or "@" in host or "/" in host:
        raise UnfitAddress("it has no host that could be read")
    _check_host(host)
    return host


def _words(text: str) -> list[str]:
    return "".join(" " if character in _ENDS else character for character in text).split()


def _without_tail(word: str) -> str:
    """The word without what belongs to the sentence around it."""
    end = len(word)
    counts = {sign: word.count(sign) for pair in _BRACKETS.items() for sign in pair}
    while end:
        last = word[end - 1]
        is_open = last in _BRACKETS and counts[last] > counts[_BRACKETS[last]]
        if last not in _TRAILING and not is_open:
            break
        if last in counts:
            counts[last] -= 1
        end -= 1
    return word[:end]


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - it is read lazily, and raises
    except ValueError:
        raise UnfitAddress("it cannot be read as an address") from None
    return parts


def _check_host(host: str) -> None:
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        number = None
    if number is not None:
        if isinstance(number, ipaddress.IPv6Address):
            number = number.ipv4_mapped or number.sixtofour or number
        if not number.is_global or number.is_multicast:
            raise UnfitAddress("it leads to this machine or into a private network")
        return
    labels = host.split(".")
    if labels[-1].isdigit() or labels[-1].startswith("0x"):  # browsers read 127.1, 0x7f000001 and 017700000001
        raise UnfitAddress("its host is a number in an unusual form")
    if len(labels) == 1 or any(host == name or host.endswith(f".{name}") for name in _PRIVATE_NAMES):
        raise UnfitAddress("it leads to this machine or into a private network")
    if not all(labels):
        raise UnfitAddress("it has no host that could be read")
