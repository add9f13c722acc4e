"""The files that hooks and servers run: those that a word of their commands names.

A command of the model's may change such a file, and the hook or the server then runs it with the person's rights. So
these files are watched by the gate in `obeyed`, and what waits there is not run.

The words are read more widely than a shell would: whatever might name a file is looked at, for a file that is watched
without need costs nothing as long as no command changes it. What a program loads beside such a file is not known.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from glob import has_magic, iglob
from itertools import islice
from typing import Final

from gemini_companion.settings.obeyed import gate

_VARIABLE: Final = re.compile(r"\$(?:\w+|\{[^}$]{0,200}\})")
_WRITTEN_TO: Final = re.compile(r"""(?:&|\d{1,4})?>>?[|&]?\s*(?:"[^"]*"|'[^']*'|\\.|[^\s;|&()<>"'`\\])++""")
_RECORDS: Final = (".csv", ".db", ".jsonl", ".log", ".pid", ".sock", ".sqlite", ".sqlite3", ".tsv")
"""Endings of what programs write, and nobody runs: commands and hooks change it all day."""
_PIECE: Final = re.compile(r"[^\s'\"`;|&()<>=,:$]+")
_MOST_WORDS: Final = 200
_LONGEST_WORD: Final = 1_000
_LONGEST_LINE: Final = 50_000
_MOST_GLOBBED: Final = 200
_MODULE: Final = re.compile(r"\w+(?:\.\w+)*")
_OF_MODULE: Final = (".py", "/__main__.py", "/__init__.py")
_OF_SCRIPT: Final = (".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.mjs", "/index.cjs", "/index.ts", "/__main__.py")
"""What interpreters add to what they are given."""
_RECIPES: Final = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile", "rakefile"),
    "deno": ("deno.json", "deno.jsonc"),
}
"""Programs that run what a file says which they find by its name."""


def files_run(line: str, folders: Iterable[str]) -> tuple[str, ...]:
    """The files that may be run by a line of a shell that is started in one of the folders. Blocks."""
    return _files_run(line, tuple(dict.fromkeys(folders)))


def expect_run(lines: Iterable[str], folders: Sequence[str]) -> tuple[str, ...]:
    """Have the gate know the files of these lines; gives them back. Blocks."""
    found = tuple(dict.fromkeys(path for line in lines for path in files_run(line, folders)))
    for path in found:
        gate.expect(path)
    return found


def why_not_run(line: str, folders: Sequence[str]) -> str:
    """Why a line must not be run, in a few words: a command wrote what it would run. Empty if it may. Blocks."""
    for path in expect_run((line,), folders):
        if reason := gate.refusal_of(path):
            return f"{path}: {reason}"
    return ""


@lru_cache(maxsize=256)
def _words(line: str) -> tuple[str, ...]:
    plain = _VARIABLE.sub(" ", _WRITTEN_TO.sub(" ", line[:_LONGEST_LINE]))
    try:
        words = shlex.split(plain)
    except ValueError:
        words = []
    words += _PIECE.findall(plain)
    return tuple(
        dict.fromkeys(word for word in words if len(word) < _LONGEST_WORD and not word.lower().endswith(_RECORDS))
    )[:_MOST_WORDS]


def _files_run(line: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    words, found = _words(line), dict[str, None]()
    names = [name for word in words for name in _names(word)]
    # `cd hooks && ./check.sh`: a word may be a folder that another one is in.
    inner = [path for folder in folders for word in words if os.path.isdir(path := _joined(folder, word))]
    for base in dict.fromkeys((*folders, *inner, "/")):
        for name in names:
            path = _joined(base, name)
            if has_magic(os.path.basename(path)) and not has_magic(os.path.dirname(path)) and base in folders:
                found.update(dict.fromkeys(islice(iglob(path), _MOST_GLOBBED)))
            elif name in words or os.path.isfile(path):
                found[path] = None
    return tuple(path for path in found if _counts(path, folders) and not os.path.isdir(path))


def _counts(path: str, folders: Iterable[str]) -> bool:
    """Whether a file is in one of the folders; one in another workspace folder is known by now."""
    return _is_within(path, folders) or gate.is_obeyed(os.path.realpath(path))


def _names(word: str) -> Iterator[str]:
    """What a file may be called that a word stands for."""
    yield word
    yield from (word + more for more in _OF_SCRIPT)
    if _MODULE.fullmatch(word):
        yield from (word.replace(".", "/") + more for more in _OF_MODULE)
    if not word.startswith("-"):
        yield from _RECIPES.get(os.path.basename(word), ())
    elif len(word) > 2:  # `-r./x.js`
        yield word[2:]


def _joined(base: str, name: str) -> str:
    """Of `$GEMINI_PROJECT_DIR/x` only `/x` is left: that is looked for below the folder too."""
    name = os.path.expanduser(name)
    if os.path.isabs(name) and not _is_within(name, (base,)):
        name = name.lstrip("/")
    return os.path.normpath(os.path.join(base, name))


def _is_within(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is in one of the folders, by its names or by where it leads."""
    real = os.path.realpath(path)
    return any(
        one.startswith(folder.rstrip(os.sep) + os.sep)
        for folder in folders
        for one, folder in ((path, folder), (real, os.path.realpath(folder)))
    )
