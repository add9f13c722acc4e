"""A slow stand-in for ripgrep, a program of its own: a pattern that takes for ever ends with its process.

Its input is a JSON object of options, a NUL, and the paths to search, each with a NUL behind it; or, with `text`, the
text itself. It writes what `rg --json` writes.
"""

import base64
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

MAX_BYTES = 20 * 1024 * 1024


def main() -> None:
    """Search until everything is read."""
    options, _, rest = sys.stdin.buffer.read().partition(b"\0")
    wish: dict[str, Any] = json.loads(options)
    pattern = re.escape(wish["pattern"]) if wish["is_literal"] else wish["pattern"]
    try:
        found = re.compile(pattern, 0 if wish["is_case_sensitive"] else re.IGNORECASE)
    except re.error as wrong:
        os.write(2, f"regex parse error: {wrong}".encode())
        sys.exit(2)
    if wish["text"]:
        search("<stdin>", rest, found, wish)
        return
    for path in filter(None, rest.split(b"\0")):
        data = read(path)
        if data is not None and b"\0" not in data[:8192]:
            search(os.fsdecode(path), data, found, wish)


def read(path: bytes) -> "bytes | None":
    """A regular file's bytes; `None` for anything else."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            return file.read() if os.fstat(file.fileno()).st_size <= MAX_BYTES else None
    except OSError:
        return None


def search(path: str, data: bytes, pattern: "re.Pattern[str]", wish: "dict[str, Any]") -> None:
    """Write the records of one file."""
    written = data.split(b"\n")
    if written[-1] == b"":
        written.pop()
    lines = [text_of(line) for line in written]
    records = list(matches(lines, pattern, wish))
    if records:
        write({"type": "begin", "data": {"path": {"text": path}}})
        for kind, number in records:
            line = lines[number]
            is_text = written[number] == line.encode()  # what is no UTF-8 is written as ripgrep writes it
            shown = {"text": line} if is_text else {"bytes": base64.b64encode(written[number]).decode()}
            data_of_line = {"path": {"text": path}, "lines": shown, "line_number": number + 1}
            write({"type": kind, "data": data_of_line})
        write({"type": "end", "data": {"path": {"text": path}}})


def text_of(line: bytes) -> str:
    """A line in UTF-8, or with a sign for each of its bytes."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def matches(lines: "list[str]", pattern: "re.Pattern[str]", wish: "dict[str, Any]") -> "Iterator[tuple[str, int]]":
    """Kinds and indexes of lines, in order, each once."""
    found = [index for index, line in enumerate(lines) if pattern.search(line.removesuffix("\r"))]
    if wish["per_file"]:
        found = found[: wish["per_file"]]
    matching = set(found)
    shown: set[int] = set()
    for index in found:
        shown.update(range(max(0, index - wish["before"]), min(len(lines), index + wish["after"] + 1)))
    for index in sorted(shown):
        yield ("match" if index in matching else "context"), index


def write(record: "dict[str, Any]") -> None:
    """Write one record, whole."""
    line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
    while line:
        line = line[os.write(1, line) :]


if __name__ == "__main__":
    main()
