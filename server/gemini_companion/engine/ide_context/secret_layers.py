"""What stands behind escapes and encodings in a text, and where: the next layer, which may have another behind it.

Escapes of programming languages, of JSON, of addresses, of HTML and of mails, colours of terminals, base64 (also of
addresses, and in lines), base32 and hexadecimal digits; in these also what gzip, zlib, zip, bzip2 and xz packed, and
UTF-16. Whoever looks for something looks through `layers` with all that he has. Nothing here says what is a secret.

A layer has what changes alone, with what stands near it. Each is at most twice as long as the one before (what was
compressed has a bound of its own), and is made in time proportional to that.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from gemini_companion.engine.ide_context.token_runs import Sifted, Span, joined, places_of, sifted

DEPTH: Final = 3
"""Layers behind the text itself."""
WHOLE: Final = 16_384
"""Characters of a run that counts as a whole if something in it does. Of a longer one only the part counts."""

_APART: Final = "\n;\n"
"""Stands between pieces: nothing that assigns a value reaches across it."""

# -- escapes

_ESCAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "\\",
        re.compile(
            r"\\\\{0,63}+(?:[0-3][0-7]{2}|[nrtbfv0/\"'`$&=:]|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|\r?\n)"
        ),
    ),
    ("%", re.compile(r"%(?:25){0,8}[0-9A-Fa-f]{2}")),
    ("&", re.compile(r"&(?:amp;){0,8}(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-zA-Z]{2,8});")),
    ("\x1b", re.compile(r"\x1b\[[0-9;:?]{0,32}[A-Za-z]")),
)
"""By what each begins with. One that is escaped again and again is one: `\\\\n`, `%250A`, `&amp;quot;`."""
_PLUS: Final = 256
"""Characters from an escape of an address within which a `+` is a blank of a form."""
_BLANK: Final = re.compile(r"[ \n\"']")
_OF_MAIL: Final = re.compile(r"=(?:3D|(?<=[^\r\n]{60}=)\r?\n)")
"""Of quoted-printable: a sign `=`, and the end of a long line that goes on."""
_UNSEEN: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_BLANKS: Final = "\u00a0\u2002\u2003\u2007\u2008\u2009\u202f\u3000"
_SIGNS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": "\n", "v": "\n", "0": " "}
_BESIDE: Final = re.compile(r"[A-Za-z0-9+/_.~=-]{10}")
_IN_A_TOKEN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-.~=:@")
_TELLING: Final = tuple(
    word.encode()
    for word in (
        "pass",
        "pwd",
        "secret",
        "token",
        "credential",
        "key",
        "auth",
        "login",
        "cookie",
        "identified",
        "://",
        " -",
    )
)
_LONGEST_TELLING: Final = max(map(len, _TELLING))
_WORTH: Final = 1_024
"""Characters of a text for each escape in it from which on it has few."""
_FAR: Final = 160
"""Characters around an escape that go along."""
_DENSE: Final = 160
"""Characters of a text for each escape in it up to which it goes along as a whole: nearly all of it is near one."""
_NEAR: Final = 96
"""Characters from a telling word within which an escape may stand before what it is about."""

# -- encodings

_RUN: Final = re.compile(rb"[A-Za-z0-9+/_-]{20,}+={0,2}+")
_FOLDED: Final = re.compile(r"\r?\n[ \t>#*|]{0,64}+([A-Za-z0-9+/_-]++={0,2}+)(?=[\s\"'`,;)\]}]|\Z)")
_SHORTEST_FOLDED: Final = 40
_QUAD = "[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_ASCII: Final = re.compile(f"(?:{_QUAD}){{5}}")
"""Base64 of fifteen characters of ASCII, which one of a million random runs is."""
_HEXADECIMAL: Final = re.compile(r"(?:0?[xX])?([0-9A-Fa-f]{32,}+)")
"""SQL has `0x` before them, or an `x`."""
_BASE32: Final = re.compile(r"[A-Z2-7]{32,}+")
_PRINTABLE: Final = re.compile(rb"[\t\n\r -~]{16,}+")
_HEX_ASCII: Final = re.compile(r"(?:0[9AaDd]|[2-7][0-9A-Fa-f]){12}")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_INFLATED: Final = 1024 * 1024
"""Bytes that are looked at of what was compressed."""
_MEMORY: Final = 64 * 1024 * 1024
"""Bytes that xz may need for that."""


def _gzip(data: bytes) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(data, _INFLATED)


def _zlib(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, _INFLATED)


def _bzip2(data: bytes) -> bytes:
    import bz2

    return bz2.BZ2Decompressor().decompress(data, _INFLATED)


def _xz(data: bytes) -> bytes:
    import lzma

    return lzma.LZMADecompressor(memlimit=_MEMORY).decompress(data, _INFLATED)


def _zip(data: bytes) -> bytes:
    """What stands in the files of an archive."""
    import io
    import zipfile

    pieces: list[bytes] = []
    left = _INFLATED
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if left > 0 and not member.flag_bits & 1:  # which a closed one has
                with archive.open(member) as opened:
                    pieces.append(opened.read(left))
                left -= len(pieces[-1])
    return _APART.encode().join(pieces)


_PACKED: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "H4sI": _gzip,
    "1f8b08": _gzip,
    "UEsDB": _zip,
    "504b0304": _zip,
    "QlpoO": _bzip2,
    "425a68": _bzip2,
    "/Td6WFoA": _xz,
    "fd377a585a00": _xz,
    "eJ": _zlib,
    "eN": _zlib,
    "eA": _zlib,
    "eF": _zlib,
    "7801": _zlib,
    "785e": _zlib,
    "789c": _zlib,
    "78da": _zlib,
}
"""By how it begins in base64 and in hexadecimal digits."""
_PACKED_STARTS: Final = tuple(_PACKED)


_Piece: TypeAlias = tuple[int, int, int, int]
"""A part of a layer: where the part of the text before that it stands for begins and ends, and how many characters of
that stand for how many of the layer; 0 if the part is one whole.
"""


class Layer:
    """What a text says behind its escapes and encodings."""

    __slots__ = ("_groups", "_length", "_pieces", "_starts", "_texts", "text")

    def __init__(self) -> None:
        self.text = ""
        self._texts: list[str] = []
        self._length = 0
        self._pieces: list[_Piece] = []
        self._starts: list[int] = []
        self._groups: list[Span] = []

    def add(self, text: str, raw: Span, up: int = 1, down: int = 1) -> None:
        """Add a piece that belongs to the one before."""
        if not text:
            return
        self._pieces.append((raw[0], raw[1], up, down))
        self._starts.append(self._length)
        self._texts.append(text)
        self._length += len(text)

    def add_unescaped(self, text: str, window: Span, escapes: Iterable[tuple[int, int, str]]) -> None:
        """Add a part of the text before, with what these escapes in it stand for."""
        texts, pieces, starts, length = self._texts, self._pieces, self._starts, self._length
        done, last = window
        for start, end, sign in (*escapes, (last, last, "")):  # there may be ten thousand
            if start > done:
                pieces.append((done, start, 1, 1))
                starts.append(length)
                texts.append(text[done:start])
                length += start - done
            if sign:
                pieces.append((start, end, 0, 1))
                starts.append(length)
                texts.append(sign)
                length += 1
            done = end
        self._length = length

    def close(self) -> None:
        """End what belongs together."""
        start = self._groups[-1][1] + len(_APART) if self._groups else 0
        if self._length > start:
            self._groups.append((start, self._length))
            self._texts.append(_APART)
            self._length += len(_APART)

    def done(self) -> Layer | None:
        """The layer, if there is anything in it."""
        self.text = "".join(self._texts)
        return self if self._groups else None

    def raw(self, start: int, end: int) -> Iterator[Span]:
        """Where what stands in the layer's `text[start:end]` stands in the text before."""
        number = bisect_right(self._groups, (start, self._length + 1)) - 1
        for first, last in self._groups[max(0, number) :]:
            if first >= end:
                return
            inner_start, inner_end = max(start, first), min(end, last)
            if inner_start < inner_end:
                yield self._raw_start(inner_start), self._raw_end(inner_end)

    def _raw_start(self, place: int) -> int:
        number = bisect_right(self._starts, place) - 1
        raw_start, _, up, down = self._pieces[number]
        return raw_start + (place - self._starts[number]) // down * up

    def _raw_end(self, place: int) -> int:
        number = bisect_left(self._starts, place) - 1
        raw_start, raw_end, up, down = self._pieces[number]
        return min(raw_end, raw_start - (self._starts[number] - place) // down * up) if up else raw_end


def layers(text: str) -> Iterator[tuple[Sifted, Sequence[Layer]]]:
    """The text, and what is behind it; with each the layers that lead back to the text, the last one first."""
    back: list[Layer] = []
    while True:
        sift = sifted(text)
        yield sift, back
        layer = _behind(sift) if len(back) < DEPTH else None
        if layer is None:
            return
        text, back = layer.text, [layer, *back]


def raw_spans(start: int, end: int, back: Sequence[Layer]) -> list[Span]:
    """Where something stands in the text itself that stands in the last of these layers."""
    spans = [(start, end)]
    for layer in back:
        spans = [span for one in spans for span in layer.raw(*one)]
    return spans


def _behind(sift: Sifted) -> Layer | None:
    layer = Layer()
    _add_unescaped(layer, sift)
    _add_decoded(layer, sift)
    return layer.done()


def _add_unescaped(layer: Layer, sift: Sifted) -> None:
    """The text around those escapes that may stand between a secret and what finds it."""
    text = sift.text
    escapes = [
        (*found.span(), plain)
        for sign, pattern in _ESCAPES
        if sign in text
        for found in pattern.finditer(text)
        if (plain := _unescaped(found[0])) is not None
    ]
    if b"=3D" in sift.in_runs or b"uoted-printable" in sift.in_runs:
        escapes += [(*found.span(), "=" if found[0] == "=3D" else "") for found in _OF_MAIL.finditer(text)]
    escapes += [(place, place + 1, "") for place in places_of(sift.plain, b"\0")]  # UTF-16 that was read as bytes
    escapes += [(place, place + 1, " ") for place in _pluses(text, escapes)]
    if not text.isascii():
        for signs, plain in ((_UNSEEN, ""), (_BLANKS, " ")):
            escapes += [(place, place + 1, plain) for sign in signs for place in places_of(text, sign)]
    if not escapes:
        return
    escapes.sort()
    _add_windows(layer, sift, escapes)
    if "\x1b" in text:  # a colour begins a word, and it may also stand within one, as where `grep` shows what it found
        _add_windows(layer, sift, [(start, end, "" if text[start] == "\x1b" else sign) for start, end, sign in escapes])


def _pluses(text: str, escapes: Sequence[tuple[int, int, str]]) -> Iterator[int]:
    """Where a `+` stands for a blank, as it does beside `%0A`."""
    if "%" not in text or "+" not in text:
        return
    bounds = [(0, 0), *((start, end) for start, end, _ in escapes if text[start] == "%"), (len(text), len(text))]
    for (_, start), (end, _) in pairwise(bounds):
        pluses = list(places_of(text[start:end], "+"))
        if pluses:
            first = _BLANK.search(text, start, end)
            last = max(start, *(text.rfind(blank, start, end) for blank in " \n\"'"))
            behind = min(first.start() if first else end, start + _PLUS) if start else 0
            before = max(last, end - _PLUS) if end < len(text) else end
            yield from (start + plus for plus in pluses if start + plus < behind or start + plus > before)


def _add_windows(layer: Layer, sift: Sifted, escapes: Sequence[tuple[int, int, str]]) -> None:
    text = sift.text
    if len(escapes) * _DENSE > len(text):
        layer.add_unescaped(text, (0, len(text)), escapes)
        layer.close()
        return
    number = 0
    for start, end in joined(_windows(sift, escapes)):
        while number < len(escapes) and escapes[number][0] < start:
            number += 1
        first = number
        while number < len(escapes) and escapes[number][1] <= end:
            number += 1
        layer.add_unescaped(text, (start, end), escapes[first:number])
        layer.close()


def _windows(sift: Sifted, escapes: Sequence[tuple[int, int, str]]) -> Iterator[Span]:
    text = sift.text
    starts = sift.starts

    def around(start: int, end: int) -> Span:
        """So that no run of token characters is cut: half of one may look like something else."""
        start, end = max(0, start - _FAR), min(len(text), end + _FAR)
        before, after = bisect_right(starts, start) - 1, bisect_right(starts, end) - 1
        if before >= 0 and sift.runs[before][1] > start:
            start = sift.runs[before][0]
        if after >= 0 and sift.runs[after][1] > end:
            end = sift.runs[after][1]
        return start, end

    # To look around each of a few costs less than to look for all words in the whole text.
    is_few = len(escapes) * _WORTH < len(text)
    lower = b"" if is_few else sift.plain.lower()
    telling = sorted(place for word in _TELLING for place in places_of(lower, word))

    def is_told(start: int, end: int) -> bool:
        if is_few:
            base = max(0, start - _NEAR)
            near = sift.plain[base : end + _NEAR + _LONGEST_TELLING].lower()
            return any(0 <= near.find(word) < end + _NEAR - base for word in _TELLING)
        number = bisect_left(telling, start - _NEAR)
        return number < len(telling) and telling[number] < end + _NEAR

    for start, end, sign in escapes:
        if (
            (sign and _IN_A_TOKEN.issuperset(sign))
            or text[start] == "="  # a word may go on behind it
            or _BESIDE.match(text, end)
            or (start >= 10 and _BESIDE.match(text, start - 10, start))
            or is_told(start, end)
        ):
            yield around(start, end)


@lru_cache(256)
def _unescaped(escape: str) -> str | None:
    """What an escape stands for, which may be nothing; `None` if it is none."""
    sign = escape[0]
    if sign == "\\":
        body = escape.lstrip("\\")
        if body[0] in "uUx":
            return _character(int(body[1:].strip("{}"), 16))
        if body[0] in "\r\n":
            return ""  # the line goes on
        return _character(int(body, 8)) if len(body) == 3 else _SIGNS.get(body, body)
    if sign == "%":
        return _character(int(escape[-2:], 16))
    if sign == "&":
        body = escape.replace("amp;", "") if escape != "&amp;" else escape
        plain = html.unescape(body)
        return plain[0] if plain != body and len(plain) == 1 else None
    return " " if sign == "\x1b" and escape[-1] == "m" and escape[2:-1].strip("0;") else ""  # a colour begins a word


def _character(number: int) -> str:
    if number == 0:
        return ""  # UTF-16 that was read as bytes, its NULs written out
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else " "


def _add_decoded(layer: Layer, sift: Sifted) -> None:
    text, done = sift.text, 0
    for run in _RUN.finditer(sift.in_runs):
        start = sift.place(run.start())
        if start < done:
            continue
        end = done = start + len(run[0])
        lines = [(start, end)]
        if end - start >= _SHORTEST_FOLDED:
            lines += _folded(text, start, end)
            done = lines[-1][1]
        _add_run(layer, text, lines)


def _folded(text: str, start: int, end: int) -> Iterator[Span]:
    """The lines that go on what a run begins: as long as it is, but for the last one."""
    length = end - start
    while (line := _FOLDED.match(text, end)) is not None and len(line[1]) <= length:
        yield line.span(1)
        end = line.end()
        if len(line[1]) < length:
            return


def _add_run(layer: Layer, text: str, lines: Sequence[Span]) -> None:
    """What a run says, or the lines of one, if it is a text that somebody encoded."""
    encoded = "".join([text[start:end] for start, end in lines]).rstrip("=")
    whole = lines[0][0], lines[-1][1]
    digits = _HEXADECIMAL.fullmatch(encoded)
    if (digits[1].lower() if digits else encoded).startswith(_PACKED_STARTS):
        unpacked = _unpacked(encoded)
        if unpacked:
            layer.add(unpacked, whole, 0)
            layer.close()
            return
    if digits is not None:
        found = _HEX_ASCII.search(encoded, digits.start(1))
        if found is not None:
            offset = digits.start(1) + (found.start() - digits.start(1)) % 2
            _add_bytes(layer, _from_hex(encoded[offset:]), lines, offset, 2, 1)
            layer.close()
            return
    if _BASE32.fullmatch(encoded):
        data = _from_base32(encoded)
        if _PRINTABLE.fullmatch(data):
            layer.add(data.decode("ascii"), whole, 0)
            layer.close()
            return
    wide = _wide(encoded)
    if wide:
        layer.add(wide, whole, 0)
        layer.close()
        return
    found = _ASCII.search(encoded)
    if found is None:
        return
    _add_bytes(layer, _from_base64(encoded[found.start() % 4 :]), lines, found.start() % 4, 4, 3)
    layer.close()


def _wide(encoded: str) -> str:
    """What base64 of UTF-16 says, as PowerShell has it; nothing of anything else."""
    if encoded.count("A", 0, 128) * 5 < min(len(encoded), 128):
        return ""
    data = _from_base64(encoded)
    if data.count(0, 0, 64) * 5 < min(len(data), 64) * 2:
        return ""
    return data.lstrip(b"\xff\xfe").replace(b"\0", b"").decode("latin-1")


def _add_bytes(layer: Layer, data: bytes, lines: Sequence[Span], offset: int, up: int, down: int) -> None:
    """One character a byte, so that each has its place."""
    text = data.decode("latin-1")
    length = sum(end - start for start, end in lines)
    if length <= WHOLE or any((end - start) % up for start, end in lines[:-1]) or (offset and len(lines) > 1):
        layer.add(text, (lines[0][0], lines[-1][1]), 0)
        return
    done = 0
    for start, end in lines:
        count = -(-(end - start - offset) // up) * down
        layer.add(text[done : done + count], (start + offset, end), up, down)
        done += count


def decoded_whole(encoded: str) -> str | None:
    """The text that base64 stands for as a whole, one character a byte; `None` for a picture and the like."""
    if encoded.startswith(_PACKED_STARTS) and (unpacked := _unpacked(encoded)):
        return unpacked
    if wide := _wide(encoded.rstrip("=")):
        return wide
    found = _ASCII.search(encoded, 0, WHOLE)
    return _from_base64(encoded[found.start() % 4 :].rstrip("=")).decode("latin-1") if found is not None else None


def _from_base64(encoded: str) -> bytes:
    plain = encoded.translate(_URL_SAFE) if "-" in encoded or "_" in encoded else encoded
    if len(plain) % 4 == 1:
        plain = plain[:-1]
    try:
        return binascii.a2b_base64(plain + "=" * (-len(plain) % 4))
    except binascii.Error:
        return b""


def _from_hex(encoded: str) -> bytes:
    return bytes.fromhex(encoded[: len(encoded) // 2 * 2])


def _from_base32(encoded: str) -> bytes:
    try:
        return base64.b32decode(encoded + "=" * (-len(encoded) % 8))
    except binascii.Error:
        return b""


def _unpacked(encoded: str) -> str:
    """What was compressed before it was encoded; nothing if it was not."""
    digits = _HEXADECIMAL.fullmatch(encoded)
    known = digits[1].lower() if digits is not None else encoded
    data = _from_hex(known) if digits is not None else _from_base64(encoded.rstrip("="))
    unpack = next(unpack for start, unpack in _PACKED.items() if known.startswith(start))
    try:
        return unpack(data).decode("latin-1")
    except Exception:  # bytes that only begin like that: each packer has faults of its own, and some of Python's
        return ""
