"""The GGUF file that the settings name: what it holds, how much of it fits into memory, or why it cannot be used."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Final, TypeAlias

import msgspec

from gemini_companion.adapters.local.gguf import GgufFacts, NotGguf, read_facts
from gemini_companion.engine.errors import ModelUnavailable

CACHE_BYTES: Final = 1024**3
"""Memory that the context may take beside the weights, where `model.tokenLimit` sets no window."""

USUAL_WINDOW: Final = 32_768
"""Tokens of the context at most, where `model.tokenLimit` does not ask for more: on a processor a longer prompt takes
minutes to read.
"""

LEAST_WINDOW: Final = 2_048

ANSWER_SHARE: Final = 8
MOST_RESERVED: Final = 1_024
"""Of the window an eighth, at most so many tokens, is kept for the answer."""

BEYOND_BYTES: Final = 512 * 1024**2
"""Memory beside weights and context: the program, its buffers, the prompts that it remembers."""

HINT: Final = "Set `model.local` in your own settings file to the path of a GGUF file of a model tuned for chat."

_Signature: TypeAlias = tuple[str, int | None, int, int]


class LocalOptions(msgspec.Struct, frozen=True):
    """What the settings say: the file's absolute path, and how many tokens a request may have."""

    path: str | None = None
    token_limit: int | None = None


class LocalModel(msgspec.Struct, frozen=True, kw_only=True):
    """A file that can be run, and the window that it is run with."""

    path: str
    facts: GgufFacts
    window: int
    """Tokens of prompt and answer together."""
    changed_ns: int
    """When the file was written, so that another one in its place is loaded anew."""

    @property
    def token_limit(self) -> int:
        """Tokens that a request may have."""
        return self.window - min(MOST_RESERVED, self.window // ANSWER_SHARE)

    @property
    def title(self) -> str:
        """Its name for people, of at most 60 characters."""
        return printable(self.facts.name)[:60].strip() or stem(self.path)

    @property
    def memory_bytes(self) -> int:
        """Memory that it needs."""
        return self.facts.size + self.window * self.facts.cache_bytes_per_token + BEYOND_BYTES


class LocalFile:
    """The file of the present settings. Its head is read once, and again when the file changes: a millisecond."""

    def __init__(self, options: Callable[[], LocalOptions]) -> None:
        self._options = options
        self._known: tuple[_Signature, LocalModel | ModelUnavailable] | None = None

    @property
    def is_set(self) -> bool:
        """True if the settings name a file."""
        return self._options().path is not None

    @property
    def stem(self) -> str:
        """The file's name without its ending; empty if none is set."""
        path = self._options().path
        return stem(path) if path else ""

    def model(self) -> LocalModel:
        """What can be run. Raises `ModelUnavailable` with the reason why nothing can."""
        options = self._options()
        if options.path is None:
            raise ModelUnavailable("No model for this machine is set.", hint=HINT, retryable=False)
        try:
            status = os.stat(options.path)
            signature = (options.path, options.token_limit, status.st_mtime_ns, status.st_size)
        except (OSError, ValueError) as fault:
            raise _unreadable(options.path, fault) from None
        if self._known is None or self._known[0] != signature:
            self._known = signature, _read(options, status.st_mtime_ns)
        found = self._known[1]
        if isinstance(found, ModelUnavailable):
            raise ModelUnavailable(found.message, hint=found.hint, retryable=False)
        return found


def _read(options: LocalOptions, changed_ns: int) -> LocalModel | ModelUnavailable:
    path = options.path or ""
    try:
        facts = read_facts(path)
    except NotGguf as fault:
        return ModelUnavailable(f"{path} cannot be run: {fault}.", hint=HINT, retryable=False)
    except OSError as fault:
        return _unreadable(path, fault)
    return LocalModel(path=path, facts=facts, window=window_of(facts, options.token_limit), changed_ns=changed_ns)


def _unreadable(path: str, fault: OSError | ValueError) -> ModelUnavailable:
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    message = "There is no file" if isinstance(fault, FileNotFoundError) else f"This file cannot be read ({reason}):"
    return ModelUnavailable(f"{message} {path}.", hint=HINT, retryable=False)


def window_of(facts: GgufFacts, token_limit: int | None) -> int:
    """Tokens of the context: as many as asked for and the answer's, else the usual ones as far as memory goes."""
    if token_limit is not None:
        return min(facts.context_tokens, max(LEAST_WINDOW, token_limit + MOST_RESERVED))
    affordable = max(LEAST_WINDOW, CACHE_BYTES // facts.cache_bytes_per_token)
    return min(facts.context_tokens, USUAL_WINDOW, affordable)


def check_memory(model: LocalModel, available: int | None) -> None:
    """Raise `ModelUnavailable` if the model needs more memory than there is; `None` if that is not known.

    The system may write pages of the weights back to the file, so those count by half.
    """
    if available is None or model.memory_bytes - model.facts.size // 2 <= available:
        return
    raise ModelUnavailable(
        f"{model.title} needs about {_gigabytes(model.memory_bytes)} of memory, and {_gigabytes(available)} are free.",
        hint="Close other programs, set `model.tokenLimit` lower, or choose a smaller file.",
        retryable=False,
    )


def available_memory() -> int | None:
    """Bytes of memory that are free, as the system sees it; `None` where it does not say."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def printable(text: str) -> str:
    """A text from outside in one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def stem(path: str) -> str:
    """A file's name without its ending, of at most 60 characters."""
    return printable(PurePath(path).stem)[:60]


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB"
