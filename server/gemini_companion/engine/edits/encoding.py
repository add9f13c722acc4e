"""The bytes of a text file as text, and back again byte for byte.

What a file is written in is known by its byte order mark, because it is UTF-8, by what it says of itself in its first
lines, by what is declared for it (`.editorconfig`), or by the text that an editor has of it. Else it is guessed, by
charset-normalizer, and whoever writes it asks first. A few bytes that are no UTF-8 do not make another encoding of a
file that is UTF-8 everywhere else.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import msgspec

_MARKS: Final[tuple[tuple[bytes, str], ...]] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS: Final = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b") + b"\x7f"
_WITHOUT_CONTROLS: Final = dict.fromkeys(_CONTROLS)
_CONTROL_SHARE: Final = 0.02
"""A text in an unknown encoding with a larger share of control characters is taken for binary."""
_LOOKED_AT: Final = 65_536
LEGACY: Final = (
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254"),
    *("cp1255", "cp1256", "cp1257", "cp874", "iso8859_2", "iso8859_15", "cp866"),
)
"""What text files are in that are neither UTF-8 nor UTF-16: what is guessed is among these, of equally
likely ones the first."""
_VALID_TO_STRAY: Final = 9
"""Signs of several bytes, for each byte that is none, of what is still UTF-8: of pairs of letters in another encoding
at most every fifth happens to be such a sign, so that nine of ten never are.
"""
_STRAY: Final = re.compile("[\udc80-\udcff]")
_JIS: Final = re.compile(rb"\x1b\$[@B]")
"""Where ISO-2022-JP, which is all ASCII, begins to mean other signs."""
_ASCII: Final = bytes((*range(0x20, 0x7F), 9, 10, 13))
_WIDE: Final = frozenset({"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_SAID: Final = re.compile(
    rb"(?:coding|charset)(?:[ \t]{0,3}[:=][ \t]{0,3}[\"']?|[ \t]{1,3}[\"'])([A-Za-z0-9][A-Za-z0-9_.:-]{0,39})"
)
"""As editors, Python, XML, HTML and CSS have it: `coding: gbk`, `fileencoding=gbk`, `charset="gbk"`."""


class Encoded(msgspec.Struct, frozen=True, kw_only=True):
    """How a text is written down."""

    encoding: str = "utf-8"
    """The name of one of Python's codecs."""
    mark: bytes = b""
    """The byte order mark, if it has one."""
    is_guessed: bool = False
    """Nothing says that it is so."""
    has_strays: bool = False
    """It is UTF-8 but for single bytes, each of which is half of a surrogate pair in the text, as in names of files."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a file, its line endings as they are, without byte order mark."""

    text: str
    encoded: Encoded = Encoded()


def decoded(data: bytes, declared: str = "", *, otherwise: str = "") -> Text | None:
    """The whole file as text; `None` if it is no text. What comes back encodes to exactly these bytes.

    `declared` is the encoding that is said to be that of the file, from outside of it; the file's own word wins. Where
    nothing says it, it is read in the one that it has `otherwise`, or it is guessed.
    """
    mark, encoding = next((known for known in _MARKS if data.startswith(known[0])), (b"", None))
    if encoding is not None:
        text = _read(data[len(mark) :], encoding)
        return None if text is None else Text(text=text, encoded=Encoded(encoding=encoding, mark=mark))
    named = [known for name in (_said(data), declared) if (known := usable(name)) is not None]
    if b"\0" in data:
        return next(_texts(data, (name for name in named if name in _WIDE)), None) or _without_mark(data)
    named = [name for name in named if name not in _WIDE]
    try:
        text = data.decode("utf-8")
    except UnicodeError:
        pass
    else:  # ASCII is what is declared, for what may be written into it
        if _JIS.search(data) is not None:
            named.append("iso2022_jp")
        return (next(_texts(data, named), None) if data.isascii() else None) or Text(text=text)
    if (known := _with_strays(data, 1 if "utf-8" in named else _VALID_TO_STRAY)) is not None:
        return known
    if (known := next(_texts(data, named), None)) is not None:
        return known
    looked_at = data[:_LOOKED_AT]
    if len(looked_at) - len(looked_at.translate(None, _CONTROLS)) > _CONTROL_SHARE * len(looked_at):
        return None
    if otherwise:
        return next(_texts(data, (otherwise,)), None)
    guessed = next(_texts(data, (*_guesses(data), "latin-1")))
    return msgspec.structs.replace(guessed, encoded=msgspec.structs.replace(guessed.encoded, is_guessed=True))


def with_nuls(data: bytes) -> str | None:
    """A text in UTF-8 that would be one without its few NULs, as it is; `None` for any other."""
    text = decoded(data.replace(b"\0", b""))
    is_utf_8 = text is not None and text.encoded.encoding == "utf-8" and not text.encoded.mark
    if not is_utf_8 or data.count(b"\0") > 1 + len(data) // 50:
        return None
    return data.decode("utf-8", "surrogateescape")


def is_unknown(data: bytes) -> bool:
    """Whether the bytes alone do not say what they are written in: all ASCII, or no UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeError:
        return not data.startswith(tuple(mark for mark, _ in _MARKS))
    return False


def that_gives(data: bytes, text: str, more: Iterable[str] = ()) -> Encoded | None:
    """The encoding in which the bytes are this text, which an editor has of them; `None` where none is known."""
    wanted = text.replace("\r\n", "\n")
    for found in _texts(data, (*more, *LEGACY)):
        if found.text.replace("\r\n", "\n") == wanted:
            return found.encoded
    return None


def that_have(data: bytes, words: Iterable[str]) -> Iterator[Text]:
    """The file in each of the usual encodings in which one of these words stands in its bytes."""
    wanted = list(words)
    for name in LEGACY:
        for word in wanted:
            try:
                stands = word.encode(name) in data
            except UnicodeError:
                continue
            if stands:
                yield from _texts(data, (name,))
                break


@lru_cache(256)  # files name them
def usable(name: str) -> str | None:
    """The codec of an encoding's name; `None` for what is none, and for those in which ASCII is not ASCII."""
    if name.lower() in ("", "utf-8-bom", "utf-7", "unset") or _NAME.fullmatch(name) is None:
        return None
    try:
        known = codecs.lookup(name)
        if (
            known.name in _WIDE
            or _ASCII.decode(known.name).encode(known.name) == _ASCII == _ASCII.decode(known.name).encode()
        ):
            return known.name
    except (LookupError, UnicodeError, TypeError, AttributeError, ValueError):
        pass
    return None


def _said(data: bytes) -> str:
    """What a text says of its own encoding in its first two lines, or in the head of its markup."""
    head = data[:1_024]
    if not head.lstrip().startswith(b"<"):
        head = b"\n".join(head.split(b"\n")[:2])
    found = _SAID.search(head)
    return found[1].decode("ascii") if found else ""


def _guesses(data: bytes) -> Iterator[str]:
    """What the bytes may be written in, the likeliest first."""
    from charset_normalizer import from_bytes  # takes a while to be loaded, and few files need it

    sample = data[:_LOOKED_AT]
    if len(sample) < len(data):
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    matches = from_bytes(sample, cp_isolation=list(LEGACY), enable_fallback=False)
    ranked = [
        (match.chaos, -match.coherence, LEGACY.index(name))
        for match in matches
        for name in match.could_be_from_charset
        if name in LEGACY
    ]
    yield from (LEGACY[number] for _, _, number in sorted(ranked))


def _texts(data: bytes, names: Iterable[str]) -> Iterator[Text]:
    """The bytes in each of the encodings in which they are a text that encodes to them."""
    for name in names:
        if (text := _read(data, name)) is not None:
            yield Text(text=text, encoded=Encoded(encoding=name))


def of_new_text(text: str, declared: str = "") -> Encoded:
    """How a file that is made is written: as it says itself, as `.editorconfig` says of it, or as UTF-8."""
    said = usable(_said(text[:_LOOKED_AT].encode("utf-8", "replace")))
    if said in _WIDE and not text.startswith("<?xml"):
        said = None  # HTML and code that say so are not: what says it is ASCII
    if said is None and declared.lower() == "utf-8-bom":
        return Encoded(mark=codecs.BOM_UTF8)
    known = said or usable(declared) or "utf-8"
    if known not in _WIDE:
        return Encoded(encoding=known)
    known = known if known.endswith(("-le", "-be")) else f"{known}-le"  # the codec without it writes a mark of its own
    return Encoded(encoding=known, mark=next(mark for mark, name in _MARKS if name == known))


def of_changed_text(text: str, before: Text, declared: str = "") -> Encoded:
    """How a file's changed text is written: as it was, or as a new file where it says otherwise of itself than before.

    By its mark a file is known whatever it says, unless it says a new thing. UTF-8 that said a wrong thing stays UTF-8.
    """
    was = before.encoded
    old, new = (usable(_said(each[:_LOOKED_AT].encode("utf-8", "replace"))) for each in (before.text, text))
    if old == new or (new is None and was.mark) or (new in _WIDE and was.encoding in _WIDE):
        return was
    made = of_new_text(text, declared)
    if made.encoding == was.encoding:
        return msgspec.structs.replace(was, is_guessed=was.is_guessed and new is None)
    return made


def reads_back(data: bytes, text: str, encoded: Encoded, declared: str = "") -> bool:
    """Whether the bytes of a text are read as exactly that text, by whoever reads the file next.

    What was found from outside (an editor's text) counts where the bytes say nothing else; a guess has to come out the
    same again, for what was added is in it.
    """
    found = decoded(data, declared, otherwise="" if encoded.is_guessed else encoded.encoding)
    if found is None:
        return False
    mark = "" if encoded.mark or not found.encoded.mark else "\ufeff"  # a text that begins with its own
    return mark + found.text == text


def encode(text: str, encoded: Encoded) -> bytes:
    """The bytes of a text. Raises `UnicodeEncodeError` if the encoding has no bytes for one of its characters."""
    return encoded.mark + text.encode(encoded.encoding, "surrogateescape" if encoded.has_strays else "strict")


def _read(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
        return text if text.encode(encoding) == data else None
    except (UnicodeError, ValueError):
        return None


def _with_strays(data: bytes, least: int) -> Text | None:
    """UTF-8 with bytes that are none; `least` valid signs beyond ASCII for each of them."""
    text = data.decode("utf-8", "surrogateescape")
    strays = len(_STRAY.findall(text))
    valid = len(text) - len(text.encode("ascii", "ignore")) - strays
    looked_at = data[:_LOOKED_AT]
    has_controls = len(looked_at) - len(looked_at.translate(None, _CONTROLS)) > _CONTROL_SHARE * len(looked_at)
    if valid < least * strays or has_controls:
        return None
    return Text(text=text, encoded=Encoded(has_strays=True))


def _without_mark(data: bytes) -> Text | None:
    """UTF-16 without a mark: half of the bytes of a western text are NUL, all on one side."""
    if len(data) % 2:
        return None
    looked_at = data[:_LOOKED_AT]
    even, odd = looked_at[::2].count(0), looked_at[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    if min(even, odd) > 0 or max(even, odd) < 0.4 * (len(looked_at) / 2):
        return None
    text = _read(data, encoding)
    if text is None:
        return None
    start = text[:_LOOKED_AT]
    if len(start) - len(start.translate(_WITHOUT_CONTROLS)) > _CONTROL_SHARE * len(start):
        return None  # small numbers, two bytes each
    return Text(text=text, encoded=Encoded(encoding=encoding))
