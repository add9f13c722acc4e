"""The first reader of a shell line: by hand, strict, of nothing but what is plain.

What bash would read differently from this is refused as not plain; `tree` is the second reader, and both must agree.
"""

from __future__ import annotations

from typing import Final

from gemini_companion.tools.shell.programs import words_of
from gemini_companion.tools.shell.script import (
    Chain,
    Command,
    Joint,
    Node,
    NotPlain,
    Pipeline,
    Redirect,
    Script,
    Subshell,
    Word,
)

MAX_DEPTH: Final = 20
MAX_COMMANDS: Final = 200
_METACHARACTERS: Final = " \t\n;&|<>()"
_RESERVED: Final = words_of(
    "if then else elif fi for while until do done case esac select function in coproc ! [[ ]] { }"
)
_REDIRECTS: Final = ("&>>", "&>", ">>", ">|", ">&", ">", "<<-", "<<", "<&", "<")
_NEVER_PLAIN: Final = ("<<<", "<>", "<(", ">(")
_PATTERN: Final = "a pattern, which stands for whatever file names it fits"


def scan(line: str) -> Script:
    """Read a line. Raises `NotPlain`."""
    reader = _Reader(line)
    body = reader.whole()
    return Script(body, frozenset(reader.spans), frozenset(reader.programs))


class _Reader:
    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._depth = 0
        self._commands = 0
        self._heredoc: tuple[str, bool, bool] | None = None  # its end; whether tabs go, whether it is taken literally
        self.spans: set[tuple[int, int]] = set()
        self.programs: set[int] = set()

    def whole(self) -> Node | None:
        self._blank_lines()
        if self._at >= len(self._line):
            return None
        body = self._chain()
        if self._at < len(self._line):
            raise NotPlain("a bracket is closed that was not opened")
        if self._heredoc:
            raise NotPlain("a text in the line has no end")
        return body

    def _chain(self) -> Node:
        first = self._pipeline()
        rest: list[tuple[Joint, Node]] = []
        while (joint := self._joint()) is not None:
            rest.append((joint, self._pipeline()))
        return Chain(first, tuple(rest)) if rest else first

    def _joint(self) -> Joint | None:
        self._blanks()
        for joint in ("&&", "||"):
            if self._line.startswith(joint, self._at):
                self._at += 2
                self._blank_lines()
                return joint
        if self._line.startswith("&", self._at):
            raise NotPlain("it leaves something running in the background")
        if self._line.startswith(";;", self._at):
            raise NotPlain("`;;` stands alone")
        if not self._line.startswith((";", "\n"), self._at):
            return None
        if self._line[self._at] == ";":
            self._at += 1
        self._blank_lines()
        return None if self._at >= len(self._line) or self._line[self._at] == ")" else ";"

    def _pipeline(self) -> Node:
        members = [self._member()]
        while True:
            self._blanks()
            if not self._line.startswith("|", self._at) or self._line.startswith("||", self._at):
                break
            self._at += 2 if self._line.startswith("|&", self._at) else 1
            self._blank_lines()
            members.append(self._member())
        return Pipeline(tuple(members)) if len(members) > 1 else members[0]

    def _member(self) -> Node:
        self._blanks()
        if not self._line.startswith("(", self._at):
            return self._command()
        if self._line.startswith("((", self._at):
            raise NotPlain("it calculates")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotPlain("it is nested too deeply")
        self._at += 1
        self._blank_lines()
        body = self._chain()
        if not self._line.startswith(")", self._at):
            raise NotPlain("a bracket is not closed")
        self._at += 1
        self._depth -= 1
        redirects: list[Redirect] = []
        self._blanks()
        while (redirect := self._redirect()) is not None:
            redirects.append(redirect)
            self._blanks()
        if self._at < len(self._line) and self._line[self._at] not in ";&|)\n":
            raise NotPlain("something follows a closing bracket")
        return Subshell(body, tuple(redirects))

    def _command(self) -> Command:
        self._commands += 1
        if self._commands > MAX_COMMANDS:
            raise NotPlain(f"it has more than {MAX_COMMANDS} parts")
        start = end = self._at
        assignments: list[Word] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._blanks()
            if self._at >= len(self._line) or self._line[self._at] in "\n;)|":
                break
            if (redirect := self._redirect()) is not None:
                redirects.append(redirect)
            elif self._line[self._at] in "&(":
                break
            else:
                word = self._word()
                self.spans.add((word.start, word.end))
                if not words and _is_assignment(self._line[word.start : word.end]):
                    assignments.append(word)
                else:
                    if not words:
                        self.programs.add(word.start)
                    words.append(word)
            end = self._at
        if self._line.startswith("(", self._at):
            raise NotPlain("it defines a function, or has a bracket where none belongs")
        if not words:
            raise NotPlain("it sets variables of the shell" if assignments else "a command is missing")
        if words[0].is_bare and words[0].value in _RESERVED:
            raise NotPlain(f"`{words[0].value}` is a word of the shell's own")
        return Command(tuple(assignments), tuple(words), tuple(redirects), start, end)

    def _redirect(self) -> Redirect | None:
        after = self._at
        while after < len(self._line) and self._line[after] in "0123456789":
            after += 1
        if self._line.startswith(_NEVER_PLAIN, after):
            raise NotPlain("it redirects in an unusual way")
        operator = next((sign for sign in _REDIRECTS if self._line.startswith(sign, after)), None)
        if operator is None or (after > self._at and operator.startswith("&")):
            return None
        self._at = after + len(operator)
        self._blanks(comments=False)
        if self._at >= len(self._line) or self._line[self._at] in _METACHARACTERS:
            raise NotPlain("a redirection leads nowhere")
        target = self._word()
        self.spans.add((target.start, target.end))
        if operator in {"<<", "<<-"}:
            if self._heredoc:
                raise NotPlain("it has several texts in the line")
            self._heredoc = (target.value, operator == "<<-", not target.is_bare)
            return Redirect(operator, target, is_inner=True)
        is_inner = operator in {">&", "<&"} and target.is_bare and target.value.isascii() and target.value.isdigit()
        if operator == "<&" and not is_inner:
            raise NotPlain("it redirects in an unusual way")
        return Redirect(operator, target, is_inner=is_inner)

    def _word(self) -> Word:
        start = self._at
        value: list[str] = []
        pattern: list[str] = []
        is_bare = is_pattern = True
        trouble = ""
        while self._at < len(self._line) and (sign := self._line[self._at]) not in _METACHARACTERS:
            read = len(value)
            found = ""
            if sign == "'":
                is_bare = False
                close = self._line.find("'", self._at + 1)
                if close < 0:
                    raise NotPlain("a quote is not closed")
                value.append(self._line[self._at + 1 : close])
                self._at = close + 1
            elif sign == '"':
                is_bare = False
                found = self._quoted(value)
            elif sign == "\\":
                is_bare = False
                if self._at + 1 >= len(self._line):
                    raise NotPlain("it ends with a backslash")
                value.append(self._line[self._at + 1])
                self._at += 2
            else:
                found = self._unquoted(sign, start)
                value.append(sign)
                self._at += 1
            trouble = found or trouble
            is_pattern = is_pattern and found in ("", _PATTERN) and sign != "["
            pattern.append(sign if found else "".join(f"\\{one}" for one in "".join(value[read:])))
        has_tilde = self._line[start] == "~"
        text = "".join(value)
        if has_tilde and not (self._line[start:].startswith("~/") or self._line[start : self._at] == "~"):
            trouble = "somebody's home folder"
        glob = "".join(pattern) if is_pattern and trouble and not has_tilde else ""
        return Word(text, start, self._at, is_bare, has_tilde, trouble, glob)

    def _unquoted(self, sign: str, start: int) -> str:
        if sign == "$":
            following = self._line[self._at + 1 : self._at + 2]
            if following and following in "({['\"":
                raise NotPlain("it puts in what a command, an expression or an unusual quote gives")
            return "a variable" if following and (following.isalnum() or following in "_?!#@*$-") else ""
        if sign in "*?[":
            return _PATTERN
        if sign in "{}":
            return "braces, which the shell may expand"
        if sign == "~" and self._at > start and self._line[self._at - 1] in "=:":
            return "a home folder within a word"
        return ""

    def _quoted(self, value: list[str]) -> str:
        trouble = ""
        self._at += 1
        while self._at < len(self._line) and (sign := self._line[self._at]) != '"':
            if sign == "\\" and self._line[self._at + 1 : self._at + 2] in ("$", "`", '"', "\\"):
                self._at += 1
                sign = self._line[self._at]
            elif sign == "$":
                following = self._line[self._at + 1 : self._at + 2]
                if following and following in "({[":
                    raise NotPlain("it puts in what a command or an expression gives")
                if following and (following.isalnum() or following in "_?!#@*$-"):
                    trouble = "a variable"
            value.append(sign)
            self._at += 1
        if self._at >= len(self._line):
            raise NotPlain("a quote is not closed")
        self._at += 1
        return trouble

    def _blanks(self, *, comments: bool = True) -> None:
        while self._at < len(self._line) and self._line[self._at] in " \t":
            self._at += 1
        begins = self._at == 0 or self._line[self._at - 1] in _METACHARACTERS
        if comments and begins and self._line.startswith("#", self._at):
            end = self._line.find("\n", self._at)
            end = len(self._line) if end < 0 else end
            self.spans.add((self._at, end))
            self._at = end

    def _blank_lines(self) -> None:
        while True:
            self._blanks()
            if self._at >= len(self._line) or self._line[self._at] != "\n":
                return
            self._at += 1
            if self._heredoc:
                self._heredoc_body(*self._heredoc)
                self._heredoc = None

    def _heredoc_body(self, wanted: str, drops_tabs: bool, is_literal: bool) -> None:
        while self._at < len(self._line):
            end = self._line.find("\n", self._at)
            end = len(self._line) if end < 0 else end
            text = self._line[self._at : end]
            if drops_tabs:
                text = text.lstrip("\t")
            if text == wanted:
                self.spans.add((end - len(text), end))
                self._at = end
                return
            if not is_literal and any(sign in text for sign in "$`\\"):
                raise NotPlain("a text in the line has variables or commands in it")
            self._at = end + 1
        raise NotPlain("a text in the line has no end")


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    name = name.removesuffix("+").partition("[")[0]
    return bool(equals) and name.isidentifier()
