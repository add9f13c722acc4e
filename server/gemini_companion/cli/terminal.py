"""Untrusted text on a terminal: what a model or a file contains must not control it."""

from __future__ import annotations

import re
from typing import Final

_STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and newline, and marks of writing direction."""


def harmless(text: str) -> str:
    """The text with every character that could control a terminal shown as U+FFFD; line endings become newlines."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))


def on_one_line(text: str) -> str:
    """The same on one line, runs of white space as one space."""
    return " ".join(harmless(text).split())
