"""Commands that only run another one: `timeout 60 npm test` is judged as `npm test`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gemini_companion.tools.shell.programs import SHELLS, WRAPPERS
from gemini_companion.tools.shell.rules import name_of
from gemini_companion.tools.shell.script import NotPlain

HARMLESS_VARIABLES: Final = frozenset(("CI", "NO_COLOR"))


def unwrapped(argv: Sequence[str]) -> int:
    """Where the command begins that a line of words runs in the end: 0 if it wraps none. Raises `NotPlain`."""
    at = 0
    while at < len(argv) and (known := WRAPPERS.get(argv[at])) is not None:
        wrapper = argv[at]
        flags, valued, operands = known
        start = at
        at += 1
        while at < len(argv) and argv[at].startswith("-"):
            word = argv[at]
            at += 1
            if word == "--" and wrapper != "time":
                break
            if len(word) == 2 and word[1] in valued:
                at += 1
            elif len(word) != 2 or word[1] not in flags:
                raise NotPlain(f"`{wrapper} {word}` may do more than run a command")
        at += operands
        while wrapper == "env" and at < len(argv) and "=" in argv[at]:
            if not is_harmless_assignment(argv[at]):
                raise NotPlain(f"it sets {argv[at].partition('=')[0]}")
            at += 1
        if at >= len(argv):
            if start == 0 and wrapper != "env":
                raise NotPlain(f"`{wrapper}` has nothing to run")
            raise NotPlain("it shows the environment" if wrapper == "env" else f"`{wrapper}` has nothing to run")
    return at


def is_harmless_assignment(word: str) -> bool:
    """`CI=…` or `NO_COLOR=…`: no other variable may be set in front of a command."""
    return word.partition("=")[0] in HARMLESS_VARIABLES


def inner_lines(argv: Sequence[str]) -> Iterator[str]:
    """The texts among a command's words that a shell will read as lines: after `-c`, after `eval`, of `env -S`."""
    for at, word in enumerate(argv):
        name = name_of(word)
        if name in SHELLS | {"su", "script", "flock", "watch", "xterm"}:
            for before, text in zip(argv[at:], argv[at + 1 :], strict=False):
                if before.startswith("-") and not before.startswith("--") and "c" in before:
                    yield text
            if name == "watch":
                yield " ".join(argv[at + 1 :])
                return
        elif name in {"eval", "ssh", "trap", "coproc", "exec", "builtin"}:
            yield " ".join(argv[at + 1 :])
            yield from argv[at + 1 :]
            return  # what follows is in that text, and found there
        elif name == "env":
            for before, text in zip(argv[at:], argv[at + 1 :], strict=False):
                if before in {"-S", "--split-string"}:
                    yield text
