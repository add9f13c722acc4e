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

from gemini_companion.adapters.processes.plain_text import PlainText

HEAD: Final = 64_000
TAIL: Final = 256_000
"""Characters that are held."""
QUOTA: Final = 64_000_000
"""Bytes of a file."""


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
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._plain = PlainText()
        self._head = ""
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._left_out = 0
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
        text, watched = self._plain.feed(self._decoder.decode(data, final=is_last), is_last=is_last)
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
        gap = f"\n[… {self._left_out} characters left out …]\n"
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
            else:
                dropped = len(first)
            self._tail_length -= dropped
            self._left_out += dropped
