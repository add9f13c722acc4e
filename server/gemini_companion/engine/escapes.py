r"""Texts and names as a model is shown them: whole, with what may not go as it is written out as escapes of Python.

Blanks, joiners, private signs and whatever else a text has stay as they are, for an edit has to find them again.
Written out is what no request holds (NUL, halves of surrogate pairs), what begins a control sequence of a terminal, and
tags of Unicode outside of flags, which say to a model what no person sees. `\x1b[31m` says so as well as the sign does.
What was shown leads back: `read_back` has a name's signs again, `signs_back` a text's.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

_FLAG: Final = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
"""A region's, as England's: a black flag, its letters as tags, and their end."""
_WRITTEN_OUT: Final = "\x00\x1b\x90\x98\x9b-\x9f\ud800-\udfff\U000e0000-\U000e007f"
_ODD: Final = re.compile(f"[{_WRITTEN_OUT}]")
_ODD_OR_FLAG: Final = re.compile(f"{_FLAG}|[{_WRITTEN_OUT}]")
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_JSON_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in a JSON string: a surrogate pair, half of one (the group), or any other. Matched one after the other, so
that a backslash that is itself escaped never counts as the start of one.
"""
_OF_NAMES: Final = frozenset({"Cc", "Cs", "Zl", "Zp", "Cf"})
_STAYING: Final = "\u00ad\u200c\u200d"
"""A soft hyphen and the joiners, which names of some languages and emojis need."""


def for_model(text: str) -> str:
    """The text as a model is shown it."""
    if text.isascii() and "\0" not in text and "\x1b" not in text:
        return text
    if _ODD.search(text) is None:
        return text
    return _ODD_OR_FLAG.sub(lambda found: found[0] if len(found[0]) > 1 else _escaped(found[0]), joined(text))


def value_for_model(value: Any) -> Any:
    """A JSON value whose texts are as a model is shown them; the same one where nothing is to be written out."""
    if isinstance(value, str):
        return for_model(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        made = {for_model(name): value_for_model(held) for name, held in fields.items()}
        return fields if all(made.get(name) is held for name, held in fields.items()) else made
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        shown = [value_for_model(one) for one in items]
        if all(map(operator.is_, shown, items)):
            return items
        return tuple(shown) if isinstance(items, tuple) else shown
    return value


def joined(text: str) -> str:
    """The text with halves of surrogate pairs that belong together joined."""
    return re.sub("[\ud800-\udbff][\udc00-\udfff]", lambda pair: _pair(pair[0]), text)


def well_formed(text: str) -> str:
    """The text as UTF-8 can hold it: halves of surrogate pairs are joined where they belong together, else written
    out.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", lambda half: _escaped(half[0]), joined(text))
    return text


def json_with_whole_signs(data: bytes, instead: bytes | None = None) -> bytes:
    """JSON whose strings have half of a surrogate pair written out, as `well_formed` does, where they had its escape;
    or have an escape `instead`.
    """

    def whole(found: re.Match[bytes]) -> bytes:
        return found[0] if found[1] is None else b"\\\\" + found[1].lower() if instead is None else instead

    return _JSON_ESCAPE.sub(whole, data)


def signs_back(text: str) -> str:
    """A text with the signs that `for_model` wrote out."""
    return _ESCAPE.sub(lambda found: sign if _ODD.match(sign := _sign(found)) else found[0], text)


def bytes_back(text: str) -> str:
    r"""A text with the bytes that are no UTF-8, which `for_model` writes out as `\udce9`, as the halves they are."""
    return re.sub(r"\\u(dc[89a-f][0-9a-f])", lambda found: chr(int(found[1], 16)), text)


def one_line(name: str) -> str:
    """A name or a path as it is shown, on one line: line breaks, control signs, those that turn the direction of
    writing or show nothing, and bytes that are no text are written out.

    So is a backslash that would begin such an escape: no two names are shown alike.
    """
    if name.isascii() and name.isprintable() and "\\" not in name:
        return name
    flags = {at for flag in re.finditer(_FLAG, name) for at in range(*flag.span())}
    return "".join(
        _escaped(sign)
        if (at not in flags and _is_hidden(sign))
        or (sign == "\\" and (found := _ESCAPE.match(name, at)) and _goes_back(_sign(found)))
        else sign
        for at, sign in enumerate(name)
    )


def read_back(name: str) -> str:
    """The name or path that `one_line` shows so."""
    return _ESCAPE.sub(lambda found: sign if _goes_back(sign := _sign(found)) else found[0], name)


def _goes_back(sign: str) -> bool:
    return sign == "\\" or _is_hidden(sign)


def _is_hidden(sign: str) -> bool:
    return sign not in _STAYING and unicodedata.category(sign) in _OF_NAMES


def _sign(found: re.Match[str]) -> str:
    number = int(found[1] or found[2] or found[3], 16)
    return chr(number) if number <= 0x10FFFF else found[0]


def _escaped(sign: str) -> str:
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _pair(pair: str) -> str:
    return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
