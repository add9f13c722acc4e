"""The second reader of a shell line: the grammar of bash, with a closed list of what may be in a plain one.

It also finds every command anywhere in a line, plain or not, for the rules that forbid.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from gemini_companion.tools.shell.programs import words_of
from gemini_companion.tools.shell.script import NotPlain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

_KINDS: Final = words_of(
    "program list pipeline command command_name subshell redirected_statement comment variable_name word "
    "number string string_content raw_string concatenation variable_assignment file_redirect file_descriptor "
    "heredoc_redirect heredoc_start heredoc_body heredoc_end simple_expansion special_variable_name"
)
_WORDS: Final = words_of("word number string raw_string concatenation variable_assignment simple_expansion")
_ENDS: Final = frozenset(("heredoc_start", "heredoc_end", "comment"))
_COMMANDS: Final = frozenset(("command", "declaration_command", "unset_command"))
_NAMES: Final = {
    "command_substitution": "it puts in what a command gives",
    "process_substitution": "it puts in what a command gives",
    "function_definition": "it defines a function",
    "declaration_command": "it declares variables, which can run commands",
    "unset_command": "it unsets variables, which can run commands",
    "test_command": "it tests in a way that can run commands",
    "negated_command": "it turns an exit code around",
    "expansion": "it puts in a variable",
    "arithmetic_expansion": "it calculates",
    "ansi_c_string": "it has a quote that writes signs as numbers",
    "brace_expression": "it expands braces",
    "compound_statement": "it groups commands",
}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)


class Tree:
    """A line, as the grammar sees it."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._bytes = line.encode("utf-8", "replace")
        self._root = _parser().parse(self._bytes).root_node
        self._position: dict[int, int] | None = None
        if len(self._bytes) != len(line):
            self._position = {}
            at = 0
            for index, sign in enumerate(line):
                self._position[at] = index
                at += len(sign.encode("utf-8", "replace"))
            self._position[at] = len(line)

    def shape(self) -> tuple[frozenset[tuple[int, int]], frozenset[int]]:
        """Where words and programs stand, as in `Script`. Raises `NotPlain` for anything out of the ordinary."""
        if self._root.has_error:
            raise NotPlain("it cannot be read as bash would read it")
        spans: set[tuple[int, int]] = set()
        programs: set[int] = set()
        stack = [self._root]
        while stack:
            node = stack.pop()
            if node.is_named and node.type not in _KINDS:
                raise NotPlain(_NAMES.get(node.type, f"it has something that is not judged ({node.type})"))
            if node.type == "command_name":
                programs.add(self._at(node.start_byte))
            if node.type in _ENDS or (node.type in _WORDS and _is_whole(node)):
                spans.add((self._at(node.start_byte), self._at(node.end_byte)))
            if node.type != "comment":
                stack.extend(node.children)
        return frozenset(spans), frozenset(programs)

    def commands(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Text and words of every command, those within others too. Words are freed of quotes as well as can be."""
        stack = [self._root]
        while stack:
            node = stack.pop()
            if node.type in _COMMANDS:
                words = tuple(
                    unquoted(_text(child))
                    for child in node.children
                    if child.type not in {"variable_assignment", "file_redirect", "heredoc_redirect"}
                )
                if words:
                    yield _text(node), words
            stack.extend(reversed(node.children))

    def _at(self, byte: int) -> int:
        return byte if self._position is None else self._position.get(byte, -1)


def programs_in(line: str) -> tuple[str, ...]:
    """What a line starts, as far as its words say; of a plain ASCII line, where nobody asks, nothing."""
    return () if line.isascii() else tuple(words[0] for _, words in Tree(line).commands())


def unquoted(text: str) -> str:
    """A word without its quotes and backslashes: what bash most likely makes of it."""
    if text.startswith("$'"):
        return _ESCAPE.sub(_sign, text[2:].rstrip("'"))
    return text.replace("'", "").replace('"', "").replace("\\", "")


def _sign(found: re.Match[str]) -> str:
    digits, wide, octal, other = found.groups()
    if digits or wide:
        return chr(int(digits or wide, 16))
    return chr(int(octal, 8) & 0xFF) if octal else str(other)


def _is_whole(node: Node) -> bool:
    """It is a word of its own, and no piece of one."""
    parent = node.parent
    return parent is not None and parent.type not in {"concatenation", "variable_assignment", "string"}


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
