"""Signs that a person does not see, or sees as something else, and secrets that a model is not shown."""

from __future__ import annotations

import unicodedata
from typing import Final

from gemini_companion.engine.ide_context.secrets import mask_secrets

_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters and signs that show nothing."""


def is_deceptive(sign: str) -> bool:
    """Control signs, those that turn the direction of writing, that have no width, or are blanks but not the blank."""
    if sign in " \t\n":
        return False
    return unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"} or (
        sign in _BLANK_LETTERS or "\ufe00" <= sign <= "\ufe0f"
    )


def deceptive(text: str) -> tuple[str, ...]:
    """The names of all such signs in a text, each once."""
    return tuple(dict.fromkeys(f"U+{ord(sign):04X}" for sign in text if is_deceptive(sign)))


def visible(text: str) -> str:
    r"""The text with such signs written out: `ls\u{00A0}-l`."""
    return "".join(f"\\u{{{ord(sign):04X}}}" if is_deceptive(sign) else sign for sign in text)


def without_secrets(text: str) -> str:
    """What a model is shown of a command's output: as `read_file` shows a text, and word of it where that differs.

    Takes some time with a long text, so not on the event loop.
    """
    masked, count = mask_secrets(text)
    if not count:
        return text
    lead = "" if masked.endswith("\n") else "\n"
    what = "One secret is" if count == 1 else f"{count} secrets are"
    return f"{masked}{lead}[{what} masked as [masked: …]; the command's own output has the value.]\n"
