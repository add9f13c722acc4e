"""A command's output as it comes: its head and tail in memory as plain text, the whole as it came in a private file up
to a quota.
"""

from __future__ import annotations

import codecs
import os
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from gemini_companion.adapters.processes.plain_text import LONGEST_LINE, PlainText
from gemini_companion.engine.edits.encoding import decoded
from gemini_companion.engine.tool_output.cutting import gap_of

HEAD: Final = 64_000
TAIL: Final = 256_000
"""Characters that are held."""
QUOTA: Final = 64_000_000
"""Bytes of a file."""


_ESCAPES: Final = "escapes"
"""In place of an encoding: bytes that are no UTF-8 are shown as escapes, for nothing says what they are."""
_HIGH: Final = bytes(range(0x80, 0x100))
_TELLING: Final = 3
"""Bytes that are no ASCII, of which fewer may be anything: they are shown as escapes."""
_SAMPLE: Final = 16_384
"""Bytes by which an encoding is guessed."""


class Lines:
    """The text of bytes that are UTF-8, but for lines in another encoding, which is guessed as that of files is.

    A line that has other signs of UTF-8 has its bytes that are none shown as escapes.
    """

    def __init__(self) -> None:
        self._held = b""
        self._encoding = ""

    @property
    def guessed(self) -> str:
        """In which encoding lines were read that are no UTF-8; empty if there were none, or it could not be guessed."""
        return "" if self._encoding == _ESCAPES else self._encoding

    def strange(self, data: bytes, *, is_last: bool = False) -> bytes:
        """The whole lines that `decode` would have to guess an encoding for, cut."""
        if self._encoding or (data.isascii() and not self._held):
            return b""
        whole = self._held + data
        try:
            codecs.utf_8_decode(whole, "strict", is_last)
        except UnicodeDecodeError:
            lines = whole[: self._end(whole, is_last=is_last)].splitlines(keepends=True)
            return b"".join(line for line in lines if _is_strange(line))[:_SAMPLE]
        return b""

    def guess(self, strange: bytes) -> None:
        """Settle the encoding by some of its lines, if they say enough. May take a moment."""
        if len(strange) - len(strange.translate(None, _HIGH)) < _TELLING:
            return
        found = decoded(strange)
        name = found.encoded.encoding if found is not None else ""
        self._encoding = _ESCAPES if name in ("", "utf-8", "latin-1", "iso8859-1") else name

    def decode(self, data: bytes, *, is_last: bool = False) -> str:
        """The text of more bytes. Of a line that is no UTF-8 nothing comes before its end."""
        if strange := self.strange(data, is_last=is_last):
            self.guess(strange)
        data, self._held = self._held + data, b""
        text, used = self._start(data, is_last=is_last)
        if used < 0:
            at = self._end(data, is_last=is_last)
            begun, used = self._start(data[at:], is_last=is_last)
            text = "".join(map(self._line, data[:at].splitlines(keepends=True))) + begun
            used = at + max(used, 0)
        self._held = data[used:]
        return text

    def _start(self, data: bytes, *, is_last: bool) -> tuple[str, int]:
        """The text and how many bytes it takes; -1 where they are no UTF-8."""
        try:
            return codecs.utf_8_decode(data, "strict", is_last)
        except UnicodeDecodeError:
            return "", -1

    def _end(self, data: bytes, *, is_last: bool) -> int:
        """Where the last whole line ends."""
        return len(data) if is_last or len(data) > LONGEST_LINE else max(data.rfind(b"\n"), data.rfind(b"\r")) + 1

    def _line(self, line: bytes) -> str:
        if self._encoding not in ("", _ESCAPES) and _is_strange(line):
            with suppress(UnicodeError):
                return line.decode(self._encoding)
        return line.decode("utf-8", "backslashreplace")


def _is_strange(line: bytes) -> bool:
    """Whether a line is no UTF-8, and has no sign of it."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("utf-8", "ignore").isascii()
    return False


class Output:
    """What a command has put out. `folder` is where a file is made when there is more than is held; `None`: none is.

    `closing` makes what its pieces are closed with on their way into the file, so that nobody else reads what a command
    said; `None` if they cannot be, and then no file is made.
    """

    def __init__(
        self,
        folder: str | None,
        *,
        head: int = HEAD,
        tail: int = TAIL,
        quota: int = QUOTA,
        closing: Callable[[], Callable[[bytes], bytes] | None] = lambda: bytes,
    ) -> None:
        self._closing = closing
        self._closed: Callable[[bytes], bytes] = bytes
        self._folder = folder
        self._head_limit = head
        self._tail_limit = tail
        self._quota = quota
        self.lines = Lines()
        self._plain = PlainText()
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._left_out = 0
        self._lines_out = 0  # line ends among them
        self._file: int | None = None
        self._written = 0
        self._first: list[bytes] = []  # all of it, as long as it may still fit
        self.total_bytes = 0
        self.spill_path: str | None = None
        self.spill_note = ""

    @property
    def repaints(self) -> int:
        """See `PlainText.repaints`."""
        return self._plain.repaints

    def add(self, data: bytes, *, is_last: bool = False) -> str:
        """Take in more; what of it is to be shown to those who watch, as plain text (`plain_text`)."""
        self.total_bytes += len(data)
        text, watched = self._plain.feed(self.lines.decode(data, is_last=is_last), is_last=is_last)
        self._hold(text)
        return watched

    def spill(self, data: bytes) -> None:
        """Write the same piece to the file, where it is needed. It may wait for the disk."""
        if self._folder is None or self.spill_note:
            return
        try:
            if self._file is None:
                self._first.append(data)
                if self.total_bytes <= self._head_limit + self._tail_limit:
                    return
                closed = self._closing()
                if closed is None:
                    self.spill_note = "it could not be kept without its secrets"
                    self._first = []
                    return
                self._closed = closed
                self._file, self.spill_path = tempfile.mkstemp(prefix="command-", suffix=".txt", dir=self._folder)
                data = b"".join(self._first)
                self._first = []
            room = self._quota - self._written
            left = memoryview(self._closed(data[:room]))
            while left:
                left = left[os.write(self._file, left) :]
            self._written += min(len(data), room)
            if len(data) > room:
                self.spill_note = f"recall gives its first {self._quota:,}, and this is its end"
        except OSError as fault:
            self.spill_note = f"the disk failed after {self._written:,} ({fault.strerror})"
            self._first = []

    def close(self) -> None:
        """No more will come."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def discard(self) -> None:
        """Delete the file, and make none any more."""
        self.spill_note = self.spill_note or "its output was not needed any more"
        self._first = []
        if self.spill_path is not None:
            with suppress(OSError):
                os.unlink(self.spill_path)
            self.spill_path = None

    def text(self) -> str:
        """Head and tail, and how much is missing between them; behind them, what is missing in the file too."""
        if not self._left_out:
            return self._head + "".join(self._tail) + self._plain.line
        gap = f"\n{gap_of(self._lines_out - 1)}\n" if self._lines_out > 1 else f"\n[… {self._left_out} characters …]\n"
        lost = (
            f"\n[Of its {self.total_bytes:,} bytes not all are kept: {self.spill_note}.]\n" if self.spill_note else ""
        )
        return self._head + gap + "".join(self._tail) + self._plain.line + lost

    def latest(self, characters: int) -> str:
        """The last characters so far."""
        text = "".join(self._tail) + self._plain.line
        return (self._head + text if not self._left_out else text)[-characters:] if characters > 0 else ""

    def _hold(self, text: str) -> None:
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += text[:room]
            text = text[room:]
        if not text:
            return
        self._tail.append(text)
        self._tail_length += len(text)
        while self._tail_length > self._tail_limit:
            first = self._tail.popleft()
            over = self._tail_length - self._tail_limit
            if len(first) > over:
                self._tail.appendleft(first[over:])
                dropped = over
                self._lines_out += first.count("\n", 0, over)
            else:
                dropped = len(first)
                self._lines_out += first.count("\n")
            self._tail_length -= dropped
            self._left_out += dropped
