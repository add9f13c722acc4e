"""What the head of a GGUF file says of its model, read without loading anything.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The file is hostile until it is read: every length is
compared with the file's, and what does not fit raises `NotGguf`.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, cast

import msgspec

MAX_TEXT_BYTES: Final = 4 * 1024 * 1024
"""The longest text that is read; chat templates have some thousand bytes."""

MAX_ENTRIES: Final = 100_000
"""Metadata entries; real files have some dozen."""

MAX_ELEMENTS: Final = 4_000_000
"""Elements of a list; the largest vocabularies have some hundred thousand."""

_READ_INTEGERS: Final = 4_096
"""A list of so many integers is read (one for each layer); longer ones are passed over."""

_TEXT, _LIST = 8, 9
_FORMS: Final[Mapping[int, str]] = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_INTEGERS: Final = frozenset({0, 1, 2, 3, 4, 5, 10, 11})
_CONTROL, _USER_DEFINED = 3, 4
_TEMPLATE: Final = "tokenizer.chat_template"
_DEFAULT_TEMPLATE: Final = "<|im_start|> <|im_end|>"
"""What stands in the template that llama.cpp takes for a file without one."""
_MARK: Final = re.compile(r"<\|[^<>|\s]{1,60}\|>|\[/?[A-Z][A-Z_]{1,30}\]|<</?[A-Z]{2,20}>>")
"""What a template writes around a text, though it may be no token of the vocabulary."""
_LARGEST: Final = 2**40


class NotGguf(Exception):
    """The file is no GGUF file with a model in it; the message is the end of a sentence ("it is a text file")."""


class GgufFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model before it is loaded."""

    name: str
    """As its makers call it; empty if the file does not say."""
    architecture: str
    size: int
    """Bytes of the file."""
    context_tokens: int
    """The longest context that it was trained for."""
    cache_bytes_per_token: int
    """Bytes that each token of the context takes in memory beside the weights; 16-bit numbers."""


def read_facts(path: str) -> GgufFacts:
    """The facts of a file. Raises `NotGguf`, or `OSError` if it cannot be read. Reads some kB of most files."""
    with _opened(path) as (file, size):
        return _facts(dict(_entries(file, size, stop_at="tokenizer.")), size)


def read_control_tokens(path: str) -> tuple[str, ...]:
    """What steers the model (`<|im_end|>`), of at least two characters. Raises as `read_facts` does.

    The control tokens of its vocabulary, and what its chat template writes around a text. Tokens that its makers added
    for other ends, such as Gemma's for tags of HTML, are none. Reads the whole vocabulary: a tenth of a second for a
    large one.
    """
    with _opened(path) as (file, size):
        tokens, kinds = list[str](), list[int]()
        templates: list[str] = []
        for key, value in _entries(file, size, whole=("tokenizer.ggml.tokens", "tokenizer.ggml.token_type")):
            if key == "tokenizer.ggml.tokens" and isinstance(value, list):
                tokens = [str(item) for item in cast("list[object]", value)]
            elif key == "tokenizer.ggml.token_type" and isinstance(value, list):
                kinds = [item for item in cast("list[object]", value) if isinstance(item, int)]
            elif key.startswith(_TEMPLATE) and isinstance(value, str):
                templates.append(value)
        template = "\n".join(templates) or _DEFAULT_TEMPLATE
        steering = [
            token
            for token, kind in zip(tokens, kinds, strict=False)
            if len(token.strip()) > 1
            and (kind == _CONTROL or (kind == _USER_DEFINED and not token[0].isalnum() and token in template))
        ]
        return tuple(dict.fromkeys((*steering, *_MARK.findall(template))))


class _opened:
    """A regular file that begins like a GGUF file, and its size."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> tuple[BinaryIO, int]:
        status = os.stat(self._path)
        if stat.S_ISDIR(status.st_mode):
            raise NotGguf("it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise NotGguf("it is no regular file")
        self._file = open(self._path, "rb")
        return self._file, status.st_size

    def __exit__(self, *fault: object) -> None:
        self._file.close()


def _entries(
    file: BinaryIO, size: int, *, stop_at: str | None = None, whole: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """The metadata in order, lists other than short ones of integers as `None` unless they are wanted `whole`.

    Ends at the first key that begins with `stop_at`, once the architecture's own keys have come.
    """
    reader = _Reader(file, size)
    magic = file.read(4)
    if magic != b"GGUF":
        raise NotGguf("it does not begin as a GGUF file does" if magic else "it is empty")
    version = reader.number("I")
    if version not in (2, 3):
        raise NotGguf(f"it is of version {version}, and 2 and 3 can be read")
    tensors, entries = reader.number("Q"), reader.number("Q")
    if tensors > MAX_ENTRIES or entries > MAX_ENTRIES:
        raise NotGguf(f"its head is damaged: {tensors:,} tensors, {entries:,} entries")
    if tensors == 0:
        raise NotGguf("it has no weights in it")
    architecture = ""
    has_context = False
    for _ in range(entries):
        key = reader.text(limit=65_535)
        if stop_at is not None and has_context and key.startswith(stop_at):
            return
        value = reader.value(whole=key in whole)
        if key == "general.architecture" and isinstance(value, str):
            architecture = value
        has_context = has_context or (bool(architecture) and key == f"{architecture}.context_length")
        yield key, value


class _Reader:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def number(self, form: str) -> Any:
        data = self._file.read(struct.calcsize("<" + form))
        try:
            return struct.unpack("<" + form, data)[0]
        except struct.error:
            raise NotGguf("it ends in the middle of its head") from None

    def text(self, limit: int = MAX_TEXT_BYTES) -> str:
        length = self.number("Q")
        if length > limit or length > self._left():
            raise NotGguf(f"its head is damaged: a text of {length:,} bytes")
        return self._file.read(length).decode("utf-8", "replace")

    def value(self, *, whole: bool) -> Any:
        kind = self.number("I")
        if kind == _TEXT:
            return self.text()
        if kind != _LIST:
            return self.number(self._form(kind))
        kind, count = self.number("I"), self.number("Q")
        if count > MAX_ELEMENTS:
            raise NotGguf(f"its head is damaged: a list of {count:,} elements")
        if kind == _TEXT:
            if count * 8 > self._left():
                raise NotGguf("it ends in the middle of its head")
            if whole:
                return [self.text() for _ in range(count)]
            for _ in range(count):
                self._skip(self.number("Q"))
            return None
        form = f"{count}{self._form(kind)}"
        length = struct.calcsize("<" + form)
        if kind in _INTEGERS and (whole or count <= _READ_INTEGERS):
            data = self._file.read(length)
            if len(data) != length:
                raise NotGguf("it ends in the middle of its head")
            return list(struct.unpack("<" + form, data))
        self._skip(length)
        return None

    def _form(self, kind: int) -> str:
        form = _FORMS.get(kind)
        if form is None:
            raise NotGguf(f"its head is damaged: a value of kind {kind}")
        return form

    def _skip(self, length: int) -> None:
        if length > self._left():
            raise NotGguf("it ends in the middle of its head")
        self._file.seek(length, os.SEEK_CUR)

    def _left(self) -> int:
        return self._size - self._file.tell()


def _facts(values: Mapping[str, Any], size: int) -> GgufFacts:
    architecture = values.get("general.architecture")
    kind = values.get("general.type", "model")
    if not isinstance(architecture, str) or not architecture:
        raise NotGguf("it does not say what kind of model it is")
    if kind != "model":
        raise NotGguf(f"it holds no model, but {str(kind)[:40]!r}")

    def number(key: str) -> int | None:
        found = values.get(f"{architecture}.{key}")
        if isinstance(found, list):
            layers = cast("list[object]", found)
            found = max((item for item in layers if isinstance(item, int)), default=None)
        return found if isinstance(found, int) and 0 < found < _LARGEST else None

    context = number("context_length")
    if context is None:
        raise NotGguf("it does not say how long a context it takes, as a model that writes text does")
    heads = number("attention.head_count") or 1
    key_heads = number("attention.head_count_kv") or heads
    head_length = (number("embedding_length") or heads) // heads
    key_length = number("attention.key_length") or head_length
    value_length = number("attention.value_length") or head_length
    layers = number("block_count") or 1
    name = values.get("general.name")
    return GgufFacts(
        name=name if isinstance(name, str) else "",
        architecture=architecture,
        size=size,
        context_tokens=context,
        cache_bytes_per_token=max(1, 2 * layers * key_heads * (key_length + value_length)),
    )
