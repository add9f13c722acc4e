"""Whether a program that is known to only look does no more with the words it is given, and which files it looks at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gemini_companion.tools.shell.programs import FIND_TESTS, FIND_WORDS, Reader, words_of
from gemini_companion.tools.shell.script import NotPlain

_SED_LINE: Final = r"(?:[0-9]{1,9}|\$)"
_SED_PRINT: Final = re.compile(rf"{_SED_LINE}(?:,{_SED_LINE})?[pdq=]")
_SED_REPLACE: Final = re.compile(r"s([/|,#:@])(?:(?!\1)[^\\\n])*+\1(?:(?!\1)[^\\\n])*+\1[gIip0-9]{0,4}")
_TEST_ONE: Final = words_of("-a -b -c -d -e -f -g -h -k -L -n -O -p -r -s -S -u -w -x -z")
_TEST_TWO: Final = words_of("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a")


def files_of(reader: Reader, program: str, words: Sequence[str], accepted: int = 0) -> list[str]:
    """The files that these words after the program's name have it look at.

    The first `accepted` words are allowed as they are, because a rule names them. Raises `NotPlain` for an option that
    is not known to only look.
    """
    if program == "find":
        return _find(words)
    if program == "test":
        return _test(words)
    if program == "printf":
        _printf(words)
    if reader.operands == "words" and not reader.flags and not reader.long:
        return []
    files, operands, has_pattern = _options(reader, program, words, accepted)
    if program == "sed":
        _sed(words, operands, has_pattern)
    if reader.operands == "none" and operands:
        raise NotPlain(f"`{program}` may do more than look with `{operands[0]}`")
    if reader.operands == "words":
        return files
    if reader.operands == "pattern" and not has_pattern:
        operands = operands[1:]
    if reader.most is not None and len(operands) > reader.most:
        raise NotPlain(f"`{program}` would write `{operands[reader.most]}`")
    return files + operands


def _options(reader: Reader, program: str, words: Sequence[str], accepted: int) -> tuple[list[str], list[str], bool]:
    files: list[str] = []
    operands: list[str] = []
    has_pattern = False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            operands += words[at:]
            break
        if word == "-" or not word.startswith("-"):
            operands.append(word)
        elif word.startswith("--"):
            name, _, _ = word[2:].partition("=")
            if name not in reader.long and at > accepted:
                raise NotPlain(f"`{program} --{name}` is not known to only look")
            has_pattern = has_pattern or name == "regexp"
            if name in {"regexp", "max-depth", "max-count", "glob"} and "=" not in word:
                at += 1
        elif (reader.numbers and word[1:].isdigit()) or at <= accepted:
            continue
        else:
            value = _cluster(reader, program, word)
            if value is None:
                continue
            flag, attached = value
            has_pattern = has_pattern or flag in "ef"
            if not attached and at < len(words):
                attached = words[at]
                at += 1
            if flag in reader.files:
                files.append(attached)
    return files, operands, has_pattern


def _cluster(reader: Reader, program: str, word: str) -> tuple[str, str] | None:
    """The option with a value at the end of `-abc`, and what of the value is attached."""
    for index, flag in enumerate(word[1:], 1):
        if flag in reader.valued:
            return flag, word[index + 1 :]
        if flag in reader.attached:
            return None
        if flag not in reader.flags:
            raise NotPlain(f"`{program} -{flag}` is not known to only look")
    return None


def _find(words: Sequence[str]) -> list[str]:
    files: list[str] = []
    at = 0
    while at < len(words) and not words[at].startswith("-") and words[at] not in {"(", "!", ")", ","}:
        files.append(words[at])
        at += 1
    while at < len(words):
        word = words[at]
        if word in FIND_TESTS and at + 1 < len(words):
            if word in {"-newer", "-samefile"}:
                files.append(words[at + 1])
            at += 2
        elif word in FIND_WORDS:
            at += 1
        else:
            raise NotPlain(f"`find {word}` is not known to only look")
    return files


def _test(words: Sequence[str]) -> list[str]:
    """Few words only: with more, what is an operator depends on the rest."""
    rest = list(words)
    if rest[:1] == ["!"]:
        rest = rest[1:]
    if len(rest) == 2 and rest[0] in _TEST_ONE:
        return [] if rest[0] in {"-n", "-z"} else rest[1:]
    if len(rest) == 3 and rest[1] in _TEST_TWO:
        return [rest[0], rest[2]] if rest[1] in {"-nt", "-ot", "-ef"} else []
    if len(rest) <= 1:
        return []
    raise NotPlain("`test` may evaluate its words")


def _printf(words: Sequence[str]) -> None:
    if words and words[0].startswith("-") and words[0] != "--":
        raise NotPlain("`printf` may set a variable, which can run commands")
    formats = words[1] if len(words) > 1 and words[0] == "--" else (words[0] if words else "")
    if any("n" in piece.lstrip("0123456789.*#+- hlLjzt'")[:1] for piece in formats.split("%")[1:]):
        raise NotPlain("`printf` may set a variable, which can run commands")


def _sed(words: Sequence[str], operands: Sequence[str], has_pattern: bool) -> None:
    scripts = [
        word for before, word in zip(("", *words), words, strict=False) if before in {"-e", "-ne", "-nE", "-ene"}
    ]
    if has_pattern and len(scripts) != sum(word.startswith("-") and "e" in word for word in words):
        raise NotPlain("`sed` has a script that is not known to only look")
    for script in scripts if has_pattern else operands[:1]:
        if not (_SED_PRINT.fullmatch(script) or _SED_REPLACE.fullmatch(script)):
            raise NotPlain("`sed` has a script that is not known to only look")
