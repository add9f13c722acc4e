"""Whether a program that is known to only look does no more with the words it is given, and which files it looks at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gemini_companion.tools.shell.programs import FIND_TESTS, FIND_WORDS, Reader, Shows, words_of
from gemini_companion.tools.shell.script import NotPlain
from gemini_companion.tools.shell.verdict import Sought

_SED_LINE: Final = r"(?:[0-9]{1,9}|\$)"
_SED_PRINT: Final = re.compile(rf"{_SED_LINE}(?:,{_SED_LINE})?[pdq=]")
_SED_REPLACE: Final = re.compile(r"s([/|,#:@])(?:(?!\1)[^\\\n])*+\1(?:(?!\1)[^\\\n])*+\1[gIip0-9]{0,4}")
_PLAIN_GLOB: Final = re.compile(r"[A-Za-z0-9_.*?-]+")
_NO_PATTERN: Final = frozenset(("files", "type-list"))
"""Options of `rg` with which its first operand is a file too."""
_TEST_ONE: Final = words_of("-a -b -c -d -e -f -g -h -k -L -n -O -p -r -s -S -u -w -x -z")
_TEST_TWO: Final = words_of("= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a")


@dataclass(slots=True)
class LooksAt:
    """The files that a program looks at."""

    files: list[str] = field(default_factory=list[str])
    below: Sought | None = None
    """What it reads of each of them that is a folder, or of where it runs if it names none."""
    shows: Shows = "nothing"
    """What it puts out of that, and of its input."""


@dataclass(slots=True)
class _Parsed:
    files: list[str] = field(default_factory=list[str])
    operands: list[str] = field(default_factory=list[str])
    has_pattern: bool = False
    given: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Options in their order, without dashes, and their values."""

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.given}


def looked_at(reader: Reader, program: str, words: Sequence[str], accepted: int = 0) -> LooksAt:
    """The files that these words after the program's name have it look at.

    The first `accepted` words are allowed as they are, because a rule names them. Raises `NotPlain` for an option that
    is not known to only look.
    """
    if program == "find":
        return LooksAt(_find(words))
    if program == "test":
        return LooksAt(_test(words))
    if program == "printf":
        _printf(words)
    if reader.operands == "words" and not reader.flags and not reader.long:
        return LooksAt()
    parsed = _options(reader, program, words, accepted)
    operands = parsed.operands
    if program == "sed":
        _sed(words, operands, parsed.has_pattern)
    if program == "ls" and "L" in parsed.names and parsed.names & {"R", "recursive"}:
        raise NotPlain("`ls` follows the links that it meets, which may lead out of the workspace")
    if reader.operands == "none" and operands:
        raise NotPlain(f"`{program}` may do more than look with `{operands[0]}`")
    if reader.operands == "words":
        return LooksAt(parsed.files, shows=_shows(reader, program, words, parsed))
    if reader.operands == "pattern" and not parsed.has_pattern and not parsed.names & _NO_PATTERN:
        operands = operands[1:]
    if reader.most is not None and len(operands) > reader.most:
        raise NotPlain(f"`{program}` would write `{operands[reader.most]}`")
    enters = "*" in reader.enters or bool(parsed.names & reader.enters)
    sought = _sought(program, parsed) if enters else None
    return LooksAt(parsed.files + operands, sought, _shows(reader, program, words, parsed))


def _options(reader: Reader, program: str, words: Sequence[str], accepted: int) -> _Parsed:
    parsed = _Parsed()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            parsed.operands += words[at:]
            break
        if word == "-" or not word.startswith("-"):
            parsed.operands.append(word)
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name not in reader.long and at > accepted:
                raise NotPlain(f"`{program} --{name}` is not known to only look")
            parsed.has_pattern = parsed.has_pattern or name == "regexp"
            if name in reader.separate and not equals and at < len(words):
                value = words[at]
                at += 1
            parsed.given.append((name, value))
        elif reader.numbers and word[1:].isdigit():
            continue
        elif at <= accepted:
            parsed.given += [(flag, "") for flag in word[1:]]
        else:
            flag, attached = _cluster(reader, program, word)
            letters = word[1 : len(word) - len(attached)]
            parsed.given += [(letter, "") for letter in letters if letter != flag]
            if not flag:
                continue
            parsed.has_pattern = parsed.has_pattern or flag in "ef"
            if not attached and at < len(words):
                attached = words[at]
                at += 1
            parsed.given.append((flag, attached))
            if flag in reader.files:
                parsed.files.append(attached)
    return parsed


def _shows(reader: Reader, program: str, words: Sequence[str], parsed: _Parsed) -> Shows:
    if program == "sed":
        scripts = _sed_scripts(words, parsed.operands, parsed.has_pattern)
        return "lines" if all(_SED_PRINT.fullmatch(script) for script in scripts) else "forms"
    if parsed.names & reader.silent:
        return "nothing"
    is_coloured = {"color", "colour"}
    uncoloured = all(value in {"never", "auto"} for name, value in parsed.given if name in is_coloured)
    if parsed.names & (reader.forms - is_coloured if uncoloured else reader.forms):
        return "forms"
    return "lines" if reader.shows == "whole" and parsed.names else reader.shows


def _sought(program: str, parsed: _Parsed) -> Sought:
    """Which files it reads below a folder; more than it does where that is not certain."""
    if program == "rg":
        globs = [value for name, value in parsed.given if name in {"g", "glob", "iglob"} and value]
        out = tuple(glob[1:] for glob in globs if glob.startswith("!"))
        return Sought(
            included=_plain_globs(() if out else globs),
            excluded=_plain_globs(out if len(out) == len(globs) else ()),
            without_folders=_plain_globs(out if len(out) == len(globs) else ()),
            hidden=bool(globs),
        )
    included = [value for name, value in parsed.given if name == "include"]
    excluded = [value for name, value in parsed.given if name == "exclude"]
    return Sought(
        included=_plain_globs(() if excluded else included),
        excluded=_plain_globs(() if included else excluded),
        without_folders=_plain_globs([value for name, value in parsed.given if name == "exclude-dir"]),
        follows=bool(parsed.names & {"R", "dereference-recursive"}),
    )


def _plain_globs(globs: Sequence[str]) -> tuple[str, ...]:
    """The patterns, if each is one whose meaning is the same for every program; none otherwise."""
    return tuple(globs) if all(_PLAIN_GLOB.fullmatch(glob) for glob in globs) else ()


def _cluster(reader: Reader, program: str, word: str) -> tuple[str, str]:
    """The option with a value at the end of `-abc`, and what of the value is attached; empty if there is none."""
    for index, flag in enumerate(word[1:], 1):
        if flag in reader.valued:
            return flag, word[index + 1 :]
        if flag in reader.attached:
            return "", ""
        if flag not in reader.flags:
            raise NotPlain(f"`{program} -{flag}` is not known to only look")
    return "", ""


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


def _sed_scripts(words: Sequence[str], operands: Sequence[str], has_pattern: bool) -> Sequence[str]:
    if not has_pattern:
        return operands[:1]
    return [word for before, word in zip(("", *words), words, strict=False) if before in {"-e", "-ne", "-nE", "-ene"}]


def _sed(words: Sequence[str], operands: Sequence[str], has_pattern: bool) -> None:
    scripts = _sed_scripts(words, operands, has_pattern)
    if has_pattern and len(scripts) != sum(word.startswith("-") and "e" in word for word in words):
        raise NotPlain("`sed` has a script that is not known to only look")
    for script in scripts:
        if not (_SED_PRINT.fullmatch(script) or _SED_REPLACE.fullmatch(script)):
            raise NotPlain("`sed` has a script that is not known to only look")
