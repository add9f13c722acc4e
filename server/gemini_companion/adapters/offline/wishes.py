"""What a prompt plainly asks to be done, as a call of a tool. Anything less than plain is a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.sessions.models.port import OpenDocument

_LONGEST: Final = 2_000
"""Characters past which a prompt is no plain wish, unless it brings the text of a file."""
_POLITE: Final = lazy(r"(?i)^(?:please |now |then |ok,? |and |can you |could you |would you |will you )+")
_QUOTED: Final = lazy(r"`([^`\n]{1,400})`|\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”")
_NAME: Final = lazy(r"^[A-Za-z_$][\w$.:]*$")
_ESCAPED: Final = lazy(r"\\(\W)")
_FENCE: Final = "```"

_THIS_FILE: Final = ("this file", "the file", "this", "here", "the open file", "the active file", "it")
_TESTS: Final = (
    "run the tests", "run tests", "run all tests", "run all the tests", "run the test suite", "run my tests",
    "test it", "run the tests again", "テストを実行して", "テストを実行してください",
)  # fmt: skip

_READS: Final = ("read the file ", "read file ", "read ", "open the file ", "print ", "cat ", "show me the file ")
_USES: Final = (("where is ", " used"), ("where is ", " called"), ("where are ", " used"), ("where's ", " used"))
_SEARCHES: Final = (
    "find all uses of ", "find uses of ", "find usages of ", "find all usages of ", "find every use of ", "who uses ",
    "who calls ", "find all references to ", "find references to ", "search for ", "grep for ", "grep ",
)  # fmt: skip
_LISTS: Final = (
    "list the files", "list files", "list all files", "what files are there", "which files are there", "ls",
)  # fmt: skip
_LISTS_OF: Final = ("list the files in ", "list files in ", "what files are in ", "what is in the folder ", "ls ")
_NAMED: Final = ("find files named ", "find files matching ", "find files called ", "find all files matching ")
_CHANGES: Final = (("rename ", " to ", True), ("replace ", " with ", False), ("change ", " to ", False))
"""How it begins, what stands between old and new, whether names are meant."""
_CREATES: Final = (
    "create a file ", "create the file ", "create a new file ", "create ", "write a file ", "write the file ",
)  # fmt: skip
_PROBLEMS_HERE: Final = (
    "what problems does this file have", "what is wrong with this file", "show the problems", "any problems here",
)  # fmt: skip
_PROBLEMS_OF: Final = ("what problems does ", "show the problems of ", "show the problems in ")

RUNNERS: Final[Mapping[str, str]] = {
    "package.json": "npm test",
    "pytest.ini": "python -m pytest -q",
    "pyproject.toml": "python -m pytest -q",
    "setup.py": "python -m pytest -q",
    "Cargo.toml": "cargo test",
    "go.mod": "go test ./...",
    "Makefile": "make test",
}
"""By a file at the top of the workspace, how its tests are run; the first that is there counts."""


class Wish(NamedTuple):
    """A call that a prompt asks for."""

    tool: str
    args: dict[str, Any]


class Rename(NamedTuple):
    """A name that a prompt wants changed, and in which file; `None` for the one that is open."""

    old: str
    new: str
    path: str | None
    whole_words: bool


def wish_of(
    prompt: str, tools: frozenset[str], documents: Sequence[OpenDocument], environment: str
) -> Wish | Rename | None:
    """The call that a prompt plainly asks for, of the tools that there are; `None` for a question.

    `environment` is the text about the workspace that went along: from it the tests' command is taken.
    """
    said, brought = _head_of(prompt.strip())
    if not said or len(said) > _LONGEST or "\n" in said:
        return None
    plain = _POLITE().sub("", said).rstrip(" .!?。").strip()
    active = next((document.path for document in documents if document.is_active), None)
    for read in _READERS:
        wish = read(plain, brought, active, environment)
        if isinstance(wish, Rename) or (wish is not None and wish.tool in tools):
            return wish if not isinstance(wish, Rename) or "replace" in tools else None
    return None


def renaming(rename: Rename, path: str, text: str) -> Wish | str:
    """The call that changes a name in a text, or why there is none: `missing`, or `part` where it is part of others."""
    if rename.old not in text:
        return "missing"
    if rename.whole_words and any(_is_in_a_word(text, place, len(rename.old)) for place in _places(text, rename.old)):
        return "part"
    args: dict[str, Any] = {
        "file_path": path,
        "instruction": f"Change {rename.old!r} to {rename.new!r}.",
        "old_string": rename.old,
        "new_string": rename.new,
    }
    if text.count(rename.old) > 1:
        args["allow_multiple"] = True
    return Wish("replace", args)


def plain_pattern(pattern: str) -> str:
    """What was searched for, as a person wrote it: the pattern that `wish_of` made, without its signs."""
    words = pattern.removeprefix(r"\b").removesuffix(r"\b")
    return _ESCAPED().sub(r"\1", words)


def _places(text: str, name: str) -> Iterator[int]:
    place = text.find(name)
    while place >= 0:
        yield place
        place = text.find(name, place + len(name))


def _is_in_a_word(text: str, place: int, length: int) -> bool:
    around = text[max(0, place - 1) : place] + text[place + length : place + length + 1]
    return any(character.isalnum() or character in "_$" for character in around)


def _head_of(prompt: str) -> tuple[str, str | None]:
    """What is asked, and the text that is brought in a fence behind it."""
    head, fence, rest = prompt.partition(_FENCE)
    if not fence:
        return prompt, None
    body = rest.partition("\n")[2]
    text, closing, _ = body.rpartition(_FENCE)
    return head.strip().rstrip(":").rstrip(), text if closing else body


def _tests(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    if plain.lower() not in _TESTS:
        return None
    names = {line.strip().rstrip("/") for line in environment.splitlines()}
    command = next((command for name, command in RUNNERS.items() if name in names), None)
    return Wish("run_shell_command", {"command": command, "description": "Run the tests"}) if command else None


def _command(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    low = plain.lower()
    if not low.startswith(("run ", "execute ", "実行")):
        return None
    if brought is not None and low in ("run this", "run", "execute this"):
        return Wish("run_shell_command", {"command": brought.strip()})
    line = _whole_quote(plain.partition(" ")[2])
    return Wish("run_shell_command", {"command": line}) if line else None


def _read(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    rest = _after(
        plain, ("read the file ", "read file ", "read ", "open the file ", "print ", "cat ", "show me the file ")
    )
    path = _path(rest, active, is_certain=False) if rest else None
    return Wish("read_file", {"file_path": path}) if path else None


def _used(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    low = plain.lower()
    name = next(
        (plain[len(start) : -len(end)] for start, end in _USES if low.startswith(start) and low.endswith(end)), None
    )
    rest = _after(plain, _SEARCHES)
    name = _unquoted(name if name is not None else rest or "")
    if not name or len(name) > 200:
        return None
    is_name = _NAME().match(name) is not None
    if not is_name and name == (rest or "") and " " in name:
        return None  # a sentence, not a name
    pattern = rf"\b{re.escape(name)}\b" if is_name else re.escape(name)
    return Wish("grep_search", {"pattern": pattern})


def _listed(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    if plain.lower() in _LISTS:
        return Wish("list_directory", {"dir_path": "."})
    folder = _after(plain, _LISTS_OF)
    if folder and (path := _path(folder, None, is_certain=True)):
        return Wish("list_directory", {"dir_path": path})
    named = _after(plain, _NAMED)
    return Wish("glob", {"pattern": _glob(_unquoted(named))}) if named else None


def _renamed(plain: str, brought: str | None, active: str | None, environment: str) -> Rename | None:
    for verb, middle, whole_words in _CHANGES:
        rest = _after(plain, (verb,))
        if rest is None:
            continue
        old, found, tail = _split(rest, middle)
        new, has_place, place = _split(tail, " in ")
        old, new = _unquoted(old), _unquoted(new)
        if not found or not old or not new or old == new:
            return None
        if whole_words and not (_NAME().match(old) and _NAME().match(new)):
            return None
        is_this = not has_place or place.lower().strip() in _THIS_FILE
        path = active if is_this else _path(place, active, is_certain=True)
        if path is None or (not has_place and not whole_words):
            return None
        return Rename(old, new, path, whole_words)
    return None


def _created(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    rest = _after(plain, _CREATES)
    if rest is None:
        return None
    rest = rest.removeprefix("called ").removeprefix("named ")
    place, has_text, text = _split(rest.removesuffix(" with") if brought is not None else rest, " with ")
    path = _path(place, None, is_certain=False)
    if path is None or "." not in path.rpartition("/")[2]:
        return None
    if brought is not None:
        return Wish("write_file", {"file_path": path, "content": brought})
    content = _whole_quote(_after(text, ("the content ", "the text ", "content ", "the line ", "text ")) or text)
    return Wish("write_file", {"file_path": path, "content": f"{content}\n"}) if has_text and content else None


def _problems(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    if plain.lower() in _PROBLEMS_HERE:
        return Wish("diagnostics", {"paths": [active]}) if active else None
    rest = _after(plain, _PROBLEMS_OF)
    path = _path(rest.removesuffix(" have"), active, is_certain=False) if rest else None
    return Wish("diagnostics", {"paths": [path]}) if path else None


def _recalled(plain: str, brought: str | None, active: str | None, environment: str) -> Wish | None:
    rest = _after(plain, ("recall what was said about ", "recall what we said about ", "recall "))
    return Wish("recall", {"query": _unquoted(rest)}) if rest else None


_READERS: Final[tuple[Callable[[str, str | None, str | None, str], Wish | Rename | None], ...]] = (
    _tests, _command, _renamed, _created, _read, _used, _listed, _problems, _recalled,
)  # fmt: skip


def _after(text: str, starts: Sequence[str]) -> str | None:
    """What follows one of these beginnings, whatever their case; the longest counts."""
    low = text.lower()
    start = max((start for start in starts if low.startswith(start)), key=len, default=None)
    return text[len(start) :].strip() or None if start is not None else None


def _split(text: str, middle: str) -> tuple[str, bool, str]:
    """Around the first `middle` outside of quotes."""
    open_quote = ""
    for place, character in enumerate(text):
        if open_quote:
            open_quote = "" if character == open_quote else open_quote
        elif character in '`"':
            open_quote = character
        elif text.startswith(middle, place):
            return text[:place].strip(), True, text[place + len(middle) :].strip()
    return text.strip(), False, ""


def _whole_quote(text: str) -> str | None:
    """What is quoted, if nothing but a quotation is there."""
    match = _QUOTED().fullmatch(text.strip())
    return next((group for group in match.groups() if group), None) if match else None


def _unquoted(text: str | None) -> str:
    """Without the quotes around it."""
    return _whole_quote(text or "") or (text or "").strip()


def _path(text: str, active: str | None, *, is_certain: bool) -> str | None:
    """The path that a text is; `is_certain` if only a path can stand there, else it must look like one."""
    name = _unquoted(text).removeprefix("@")
    if name.lower() in _THIS_FILE:
        return active
    if not name or not all(character.isalnum() or character in "_@.+-/~" for character in name) or ".." in name:
        return None
    return name if is_certain or "/" in name or "." in name else None


def _glob(name: str) -> str:
    return name if any(sign in name for sign in "*?[/") else f"**/{name}"
