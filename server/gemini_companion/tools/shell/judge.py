"""Whether a shell line may run: its verdict, part by part.

A line is read twice, by hand (`scan`) and by bash's grammar (`tree`). Only what both read alike is judged by its parts;
anything else is asked about. What a rule forbids is looked for in every line, however it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.consent_texts import deceptive, visible
from gemini_companion.tools.shell.commands import CommandJudge, Flow
from gemini_companion.tools.shell.destroying import destroying
from gemini_companion.tools.shell.programs import INTERPRETERS, SHELLS
from gemini_companion.tools.shell.rules import CommandRules, name_of, suggestion
from gemini_companion.tools.shell.scan import MAX_COMMANDS, scan
from gemini_companion.tools.shell.script import Chain, Command, Node, NotPlain, Pipeline, Script, Subshell
from gemini_companion.tools.shell.tree import Tree, unquoted
from gemini_companion.tools.shell.verdict import Facts, Finding, LineVerdict, PartVerdict, worst
from gemini_companion.tools.shell.wrappers import inner_lines
from gemini_companion.tools.shell.written import WrittenBefore

MAX_BYTES: Final = 10_000
MAX_FOLDERS: Final = 8
"""Folders that a command may be in, after `cd`s that may have failed."""
_MAX_NESTED: Final = 3
_MAX_INNER: Final = 50_000
"""Characters of texts within a line that are looked into; with more, it is no line of anybody's."""


def judge(line: str, *, cwd: str, roots: Sequence[str], rules: Sequence[ToolRule], files: Facts) -> LineVerdict:
    """Judge a line that would run in `cwd`.

    `roots` are the real paths of the workspace folders. Takes time in proportion to the line, and reads nothing itself:
    what must be known of the disk, `files` knows.
    """
    verdict = _judged(line, cwd, roots, rules, files)
    if verdict.decision == "allow":
        own, named = CommandRules(rules), [part.argv for part in verdict.parts]
        rule = suggestion(_effective(named[0])) if len(named) == 1 else None
        by_rules = bool(named) and all(own.allows(_effective(argv)) is not None for argv in named)
        return msgspec.structs.replace(verdict, suggested=rule, by_rules=by_rules)
    if verdict.decision != "ask":
        return verdict
    asking = [part for part in verdict.parts if part.decision == "ask"]
    for part in asking[:1]:
        rule = suggestion(_effective(part.argv))
        if rule and _judged(line, cwd, roots, (*rules, rule), files).decision == "allow":
            return msgspec.structs.replace(verdict, suggested=rule)
    return verdict


def _judged(line: str, cwd: str, roots: Sequence[str], rules: Sequence[ToolRule], files: Facts) -> LineVerdict:
    shown = visible(line)
    if "\0" in line:
        reason = "it has a NUL in it, at which programs stop reading"
        return LineVerdict(decision="refuse", parts=(), reason=reason, shown=shown)
    own = CommandRules(rules, files)
    is_long = len(line.encode("utf-8", "replace")) > MAX_BYTES
    if is_long:
        found = worst([*own.found_roughly(line), Finding("ask", "it is too long to be judged")])
        return LineVerdict(decision=found.decision, parts=(), reason=found.reason, shown=shown)
    tree = Tree(line)
    everywhere = list(_Everywhere(cwd, roots, own, files).found(tree, line))
    parts: list[PartVerdict] = []
    whole: list[Finding] = []
    looks_in = ""
    try:
        script = _plain(line, tree)
    except NotPlain as unusual:
        whole += [Finding("ask", unusual.reason), *own.found_roughly(line)]
        parts = [
            PartVerdict(text=visible(text), argv=(), decision="ask", reason=unusual.reason)
            for text, _ in list(tree.commands())[:MAX_COMMANDS]
        ]
    else:
        written = WrittenBefore(files)
        commands = CommandJudge(own, roots, written)
        walk = _Walk(line, commands, written)
        if script.body is not None:
            walk.node(script.body, frozenset((cwd,)))
        parts = walk.parts
        whole = walk.findings
        looks_in = next(iter(commands.git_looks_in), "") if commands.only_looks else ""
    parts = [_at_worst(part, everywhere) for part in parts]
    findings = [Finding(part.decision, part.reason) for part in parts] + whole + [found for _, found in everywhere]
    total = worst(findings)
    if total.decision == "ask" and any(name_of(argv[0]) in SHELLS | INTERPRETERS for _, argv in tree.commands()):
        # What such a program is given may stand anywhere in the line: then the rule is named.
        total = Finding("ask", next((found.reason for found in own.found_roughly(line)), total.reason))
    looks_in = looks_in if total.decision == "allow" else ""
    return LineVerdict(decision=total.decision, parts=tuple(parts), reason=total.reason, shown=shown, looks_in=looks_in)


def _plain(line: str, tree: Tree) -> Script:
    """What both readers read alike. Raises `NotPlain`."""
    if found := deceptive(line):
        raise NotPlain(f"it has signs that cannot be seen, or that look like others: {', '.join(found)}")
    if "`" in line:
        raise NotPlain("it has a backtick, which runs commands almost anywhere")
    if "\\\n" in line:
        raise NotPlain("it continues words on the next line")
    script = scan(line)
    spans, programs = tree.shape()
    if spans != script.spans or programs != script.programs:
        raise NotPlain("it can be read in two ways")
    return script


class _Everywhere:
    """What is forbidden, or asked always, in any command of a line, those inside of others and of texts too."""

    def __init__(self, cwd: str, roots: Sequence[str], own: CommandRules, files: Facts) -> None:
        self._cwd = cwd
        self._roots = roots
        self._own = own
        self._files = files
        self._looked_into = 0

    def found(self, tree: Tree, line: str, depth: int = 0) -> Iterator[tuple[str, Finding]]:
        """The text of a command, and what is said of it."""
        for text, argv in tree.commands():
            yield from ((text, found) for found in self._own.found(argv, (self._cwd,)))
            if found := destroying(argv, self._cwd, self._roots, self._files):
                yield text, found
            for word in argv:
                if ours := _ours(word, self._cwd, self._files):
                    yield text, ours
            if depth < _MAX_NESTED:
                for inner in inner_lines(argv):
                    self._looked_into += len(inner) + 100
                    if self._looked_into > _MAX_INNER:
                        yield from self._too_many(text, argv)
                        return
                    yield from ((text, found) for _, found in self.found(Tree(inner), inner, depth + 1))
        if depth == 0:
            for word in line.replace(">", " ").replace("<", " ").split():
                if ours := _ours(unquoted(word), self._cwd, self._files):
                    yield "", ours

    def _too_many(self, text: str, argv: Sequence[str]) -> Iterator[tuple[str, Finding]]:
        yield from ((text, found) for found in self._own.found_roughly(" ".join(argv)))
        yield text, Finding("ask", "it has too many lines within lines")


def _ours(word: str, cwd: str, files: Facts) -> Finding | None:
    """Refuse a word that names what is ours, even where it cannot be told what is done with it."""
    for home in ("~", "$HOME", "${HOME}"):
        if word == home or word.startswith(home + "/"):
            word = files.home + word[len(home) :]
    name = word.rpartition("=")[2]
    if not name or len(name) > 4096 or ("/" not in name and not name.startswith(".")):
        return None
    path = name if name.startswith("/") else f"{cwd}/{name}"
    if files.path(path).is_ours:
        return Finding("refuse", f"{name} holds Gemini Companion's own settings, log or store")
    return None


def _at_worst(part: PartVerdict, everywhere: list[tuple[str, Finding]]) -> PartVerdict:
    said = [Finding(part.decision, part.reason), *(found for text, found in everywhere if text and text in part.text)]
    found = worst(said)
    return msgspec.structs.replace(part, decision=found.decision, reason=found.reason)


def _effective(argv: tuple[str, ...]) -> tuple[str, ...]:
    from gemini_companion.tools.shell.wrappers import unwrapped

    try:
        return argv[unwrapped(argv) :]
    except NotPlain:
        return ()


class _Walk:
    """Goes through a line as the shell would, and keeps in mind which folders each command may run in."""

    def __init__(self, line: str, commands: CommandJudge, files: WrittenBefore) -> None:
        self._line = line
        self._commands = commands
        self._files = files
        self._flow: Flow = Flow()
        self.parts: list[PartVerdict] = []
        self.findings: list[Finding] = []

    def node(self, node: Node, cwds: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Judge a node; the folders that the shell may be in after its success, and after its failure."""
        if len(cwds) > MAX_FOLDERS:
            self.findings.append(Finding("ask", "it cannot be said in which folder it runs"))
            cwds = frozenset(sorted(cwds)[:MAX_FOLDERS])
        match node:
            case Command():
                return self._command(node, cwds)
            case Pipeline():
                for member in node.members:  # all of them at once: what the last writes, the first may run
                    if isinstance(member, Command):
                        self._files.note(member.redirects, member.words, cwds)
                before = self._flow
                flow = Flow(before.is_fed, before.sources)
                for at, member in enumerate(node.members):
                    is_shown = before.is_shown and not self._is_counted(node.members[at:])
                    self._flow = flow = Flow(flow.is_fed, flow.sources, is_shown)
                    self.node(member, cwds)
                    flow = Flow(is_fed=True, sources=tuple(dict.fromkeys(flow.given)))
                before.given += flow.sources
                self._flow = before
                return cwds, cwds
            case Subshell():
                self._files.note(node.redirects, (), cwds)
                before = self._flow
                is_fed = before.is_fed or any(one.operator.startswith("<") for one in node.redirects)
                sources = (*before.sources, *self._commands.put_in(node.redirects, cwds))
                self._flow = Flow(is_fed, sources, before.is_shown, before.given)
                self.node(node.body, cwds)
                self._flow = before
                self.findings += self._commands.redirects(node.redirects, cwds)
                return cwds, cwds
            case Chain():
                return self._chain(node, cwds)

    def _is_counted(self, members: Sequence[Node]) -> bool:
        """Whether nothing of what the first of some commands puts out is shown behind: others of them only look, and
        one of these shows nothing of its input.
        """
        for at, member in enumerate(members):
            silent = self._commands.is_silent(member) if isinstance(member, Command) else None
            if silent is None:
                return False
            if silent and at:
                return True
        return False

    def _chain(self, node: Chain, cwds: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        success, failure = self.node(node.first, cwds)
        for joint, following in node.rest:
            if joint == "&&":
                success, failed = self.node(following, success)
                failure |= failed
            elif joint == "||":
                succeeded, failure = self.node(following, failure)
                success |= succeeded
            else:
                success, failure = self.node(following, success | failure)
        return success, failure

    def _command(self, node: Command, cwds: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        argv, found, entered = self._commands.judged(node, cwds, self._flow)
        self._files.note(node.redirects, node.words, cwds)
        text = visible(self._line[node.start : node.end])
        self.parts.append(PartVerdict(text=text, argv=argv, decision=found.decision, reason=found.reason))
        return (entered, cwds) if entered is not None else (cwds, cwds)
