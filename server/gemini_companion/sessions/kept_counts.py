"""Sizes of contents, and what a session's number rests on, as they are kept beside their logs."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gemini_companion.engine.history.item import Counted
from gemini_companion.engine.tokens.ledger import LedgerMemory


class KeptCount(NamedTuple):
    """The size of a content, and of which bytes."""

    seq: int
    checksum: int
    """CRC-32 of the entry's JSON as it is read: if a secret does not come back, or a bit is lost, it is another one."""
    counted: Counted


class KeptTokens(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the API's counts had taught when a session's number was kept."""

    version: int
    """The newest entry of the log then."""
    epoch: int = 0
    """That of the view then; 0 where it was not kept yet, which is no view's."""
    rules: int
    """Those by which contents were counted (`RULES_OF_COUNTING`)."""
    memory: LedgerMemory
