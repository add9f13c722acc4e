"""Finding facts in contents, each word for word: rules, tasks, errors, paths, commands, symbols, numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any, Final, TypeAlias, cast

from gemini_companion.engine.facts import glance
from gemini_companion.engine.facts.fact import Fact, FactKind, FactSource
from gemini_companion.engine.facts.paths import paths_in, paths_of_argument
from gemini_companion.engine.facts.patterns import (
    COMMANDS,
    ERROR_HINTS,
    ERRORS,
    MARKED_TASKS,
    SHELL_FENCE,
    SYMBOLS,
    URLS,
    found,
    hinted,
    lazy,
    may_hold_symbol,
    numbers_in,
)
from gemini_companion.engine.facts.rules import is_decision, is_plan, is_rule, may_hold
from gemini_companion.engine.facts.sentences import (
    PIECE,
    example_spans,
    fenced_spans,
    has_code_heads,
    is_code,
    pasted_spans,
    pieces,
    prose_lines,
    sentence_spans,
    without_examples,
)
from gemini_companion.engine.history.part import call_of, is_plain_user, is_thought, response_of, response_text, text_of

_LOOKED_AT: Final = 65_536
"""Characters of one text that are looked at: of a longer one its head and its tail."""
_LONGEST_ERROR: Final = 400
"""Characters of an error's line; what is longer is data. In somebody's words, `_LONGEST_REPORT`."""
_LONGEST_REPORT: Final = 240
_LONGEST_RULE: Final = 1_000
_SHORT_HEADING: Final = 40
"""Characters below which what ends in a colon is a heading."""
_DEEPEST: Final = 32
"""Levels of nesting that are looked into in the arguments of a call."""
_COMMAND_KEYS: Final = ("command", "cmd", "shell_command", "bash_command", "commands", "script", "code", "input")
_COMMAND_COMPANIONS: Final = frozenset(
    "description dir_path directory cwd workdir working_directory timeout timeout_ms timeout_seconds "  # noqa: SIM905
    "is_background background "
    "explanation shell env restart run_in_background login".split()
)

_Found: TypeAlias = tuple[FactKind, str, bool, str]
"""A fact's kind, its text, whether it is only listed, and a directive's line."""

_SHELL_NAME: Final = lazy(
    r"(?i)shell|bash|terminal|command|powershell|console|(?<![a-z])(?:exec|execute|run|sh|zsh|cmd|process)(?![a-z])"
)
_SPEAKER: Final = lazy(
    r"(?:\[[^\]\n]{3,60}\][ \t]++)?(?!(?i:notes?|important|rules?|tasks?|todo|warning|remember|reminder|constraints?"
    r"|requirements?|hints?|tips?|goal|context|issue|error|question|answer|fyi|also|update|style|problem|output|result"
    r"|example|user|model|please)\b)(?P<name>[A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30})?):[ \t]++(?=\S)"
)


def facts_of(source: FactSource) -> list[Fact]:
    """The facts of one content, each text once per kind. Total: no content makes it raise."""
    facts: dict[tuple[FactKind, str], Fact] = {}
    by_user = is_plain_user(source.content)
    for part in source.content.parts:
        for kind, text, listed, line in _facts_of_part(part, by_user=by_user, ide_context=source.ide_context):
            if text:
                known = facts.get((kind, text))
                listed = listed and (known is None or known.listed)
                facts[kind, text] = Fact(kind, text, source.index, source.seq, listed, line)
    return list(facts.values())


def result_text(response: dict[str, Any]) -> str:
    """The text that a function response carries, or its JSON."""
    text = response_text(response)
    if text is not None:
        return text
    body: Any = response.get("response")
    if isinstance(body, dict) and len(fields := cast("dict[str, Any]", body)) == 1:
        only = next(iter(fields.values()))
        if isinstance(only, str):
            return only
    return as_json(cast("object", body)) if body else ""


def as_json(value: object) -> str:
    """`value` as JSON on one line, whatever it holds."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def speaker_of(text: str) -> tuple[str, int]:
    """The name that a transcript's line opens with (`Ann: …`), and where the words begin; empty and 0 if not."""
    match = _SPEAKER().match(text)
    return (match["name"], match.end()) if match else ("", 0)


def _ruled_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each line of the prose in `text` with the sentences in it that bind from now on; headings and code do not."""
    between_people = bool(speaker_of(text)[0])
    for low, high in prose_lines(text):
        if is_code(text, low, high):
            continue
        said = [text[start:end] for start, end in sentence_spans(text, low, high) if end - start <= _LONGEST_RULE]
        headless = (sentence for sentence in said if len(sentence) >= _SHORT_HEADING or sentence[-1] not in ":：")
        if rules := [sentence for sentence in headless if is_rule(sentence, between_people=between_people)]:
            yield text[low:high].strip(), rules


def error_lines(text: str) -> Iterator[str]:
    """The lines of `text` that say what went wrong, without the blanks around them and cut where too long.

    Code is none.
    """
    last = -1
    for match in ERRORS().finditer(text):
        start, end = match.span()
        if start < last:
            continue
        low = text.rfind("\n", 0, start + 1) + 1 if text[start : start + 1] != "\n" else start + 1
        high = text.find("\n", end)
        last = len(text) if high < 0 else high
        line = text[low : min(last, low + _LONGEST_ERROR)].strip()
        if line and line[0] not in "#*" and not is_code(line):
            yield line


def command_of(call: dict[str, Any]) -> str | None:
    """The whole command of a call to something like a shell, without line breaks at its end; `None` for other calls."""
    args: object = call.get("args")
    arguments = cast("dict[str, Any]", args) if isinstance(args, dict) else {}
    shell = _SHELL_NAME().search(str(call.get("name") or "")) is not None
    for key in _COMMAND_KEYS:
        bare = key in _COMMAND_KEYS[:4] and _COMMAND_COMPANIONS.issuperset(arguments.keys() - {key})
        value: object = arguments.get(key) if shell or bare else None
        if isinstance(value, list) and all(isinstance(word, str) for word in cast("list[Any]", value)):
            value = " ".join(cast("list[str]", value))
        if isinstance(value, str) and value.strip():
            return value.rstrip()
    return None


def fenced_commands(text: str) -> Iterator[str]:
    """The lines of fenced shell blocks; where some have a prompt, only those, without it.

    A line continued with a backslash is one.
    """
    for start, end, language in fenced_spans(text):
        if not SHELL_FENCE().fullmatch(language):
            continue
        body = text[start:end].split("\n")[1:]
        if body and body[-1].lstrip().startswith(("```", "~~~")):
            body.pop()
        prompts = any(line.lstrip().startswith("$ ") for line in body)
        held = ""
        for line in (*body, ""):
            if held or line.lstrip().startswith("$ ") or not prompts:
                held += f"\n{line}" if held else line.lstrip().removeprefix("$ ")
                if not line.endswith("\\"):
                    if held.strip() and not held.startswith("#"):
                        yield held.rstrip()
                    held = ""


def _facts_of_part(part: dict[str, Any], *, by_user: bool, ide_context: bool) -> Iterator[_Found]:
    if (text := text_of(part)) is not None:
        if ide_context:
            yield from _each("path", chain.from_iterable(map(paths_in, _bounded(text))), listed=True)
        elif not is_thought(part):
            yield from _said(text, by_user=by_user)
    elif (call := call_of(part)) is not None:
        if command := command_of(call):
            yield "command", command, False, ""
        for key, value in strings_in(call.get("args")):
            first, _, rest = value.partition("\n")
            yield from _each("path", paths_of_argument(key, first[:_LOOKED_AT]))
            yield from _each("url", addresses_in(first[:_LOOKED_AT]))
            yield from _each("number", numbers_in(first[:_LONGEST_RULE]))
            yield from _each("path", chain.from_iterable(map(paths_in, _bounded(rest))), listed=True)
    elif (response := response_of(part)) is not None:
        yield from _output(result_text(response))
    elif isinstance(code := part.get("executableCode"), dict):
        yield "command", str(cast("dict[str, Any]", code).get("code") or "").rstrip(), False, ""
    elif isinstance(result := part.get("codeExecutionResult"), dict):
        yield from _output(str(cast("dict[str, Any]", result).get("output") or ""))


def _each(kind: FactKind, texts: Iterable[str], *, listed: bool = False) -> Iterator[_Found]:
    return ((kind, text, listed, "") for text in texts)


def _output(text: str) -> Iterator[_Found]:
    """A tool's output: what went wrong counts, what it lists does not."""
    for piece in _bounded(text):
        yield from _each("path", paths_in(piece), listed=True)
        yield from _each("url", addresses_in(piece), listed=True)
        if hinted(piece.lower(), ERROR_HINTS):
            yield from _each("error", error_lines(piece))


def condensed(text: str, *, notes: bool = True) -> str:
    """The words of a message: in place of an example or a pasted text how long it is, and what went wrong in that."""
    text = without_examples(text) if notes else without_examples(text, "")
    kept: list[str] = []
    done = 0
    for low, high in pasted_spans(text):
        pasted = text[low:high].rstrip("\n")
        errors = "; ".join(dict.fromkeys(chain.from_iterable(map(error_lines, _bounded(pasted)))))
        note = f"({pasted.count(chr(10)) + 1:,} pasted lines{': ' if errors else ''}{errors[:_LONGEST_ERROR]})"
        kept += [text[done:low], note if notes else "", "\n"]
        done = high
    return ("".join(kept) + text[done:]).strip()


def _said(text: str, *, by_user: bool) -> Iterator[_Found]:
    """What a person or the model said; of an example only the paths, as listed; a pasted text is an output."""
    seen = glance.glance(text) if len(text) <= PIECE else None  # of more each piece for itself
    if seen is not None and not seen & glance.ANYTHING:
        return
    examples = example_spans(text) if seen is None or seen & glance.EXAMPLE else []
    pasted = pasted_spans(text) if not examples and _may_hold_paste(text, seen) else []
    spans, listings = frozenset(examples), frozenset(pasted)
    edges = [0, *(edge for span in examples or pasted for edge in span), len(text)]
    for low, high in pairwise(edges):
        if (low, high) in spans:
            yield from _each("path", chain.from_iterable(map(paths_in, _bounded(text[low:high]))), listed=True)
            continue
        if (low, high) in listings:
            yield from _output(text[low:high])
            yield from _each("command", chain.from_iterable(found(COMMANDS(), p) for p in _bounded(text[low:high])))
            continue
        for said in _halves(text[low:high]):
            yield from _sentences(said, glance.glance(said) if seen is None else seen, by_user=by_user)
        for piece in _bounded(text[low:high]):
            yield from _patterns(piece, glance.glance(piece) if seen is None else seen)


def _may_hold_paste(text: str, seen: int | None) -> bool:
    if seen is None or seen & glance.LISTING:
        return True
    return bool(seen & glance.CODE_HEAD) and has_code_heads(text)


def _sentences(text: str, seen: int, *, by_user: bool) -> Iterator[_Found]:
    """What its sentences say; `seen` is what a glance at it saw."""
    if by_user and seen & glance.RULE:
        for line, rules in _ruled_lines(text):
            for rule in rules:
                yield "directive", rule, False, line
    if seen & glance.PLAN:
        between_people = bool(speaker_of(text)[0])
        for low, high in prose_lines(text):
            for start, end in sentence_spans(text, low, high):
                sentence = text[start:end]
                if end - start <= _LONGEST_RULE and may_hold(sentence.lower()):
                    if is_plan(sentence) and not between_people:
                        yield "task", sentence, False, ""
                    elif is_decision(sentence):
                        yield "decision", sentence, False, ""
    if seen & glance.FENCE:
        yield from _each("command", fenced_commands(text))


def _patterns(text: str, seen: int) -> Iterator[_Found]:
    if seen & glance.PATH:
        yield from _each("path", paths_in(text))
    if seen & glance.COMMAND:
        yield from _each("command", found(COMMANDS(), text))
    if seen & glance.ERROR and hinted(text.lower(), ERROR_HINTS):
        yield from _each("error", (line for line in error_lines(text) if len(line) <= _LONGEST_REPORT))
    if seen & glance.TASK:
        yield from _each("task", found(MARKED_TASKS(), text))
    if seen & glance.URL:
        yield from _each("url", addresses_in(text))
    if seen & glance.NUMBER:
        yield from _each("number", numbers_in(text))
    for symbol in found(SYMBOLS(), text) if seen & glance.SYMBOL and may_hold_symbol(text) else ():
        if next(paths_in(symbol), None) is None:
            yield "symbol", symbol, False, ""


def addresses_in(text: str) -> Iterator[str]:
    """Addresses in `text`, without the punctuation behind them."""
    if "://" in text:
        yield from (url.rstrip(".,;:!?*_") for url in found(URLS(), text))


def _halves(text: str) -> tuple[str, ...]:
    """The text, or its head and its tail where it is too long."""
    return (text,) if len(text) <= _LOOKED_AT else (text[: _LOOKED_AT * 3 // 4], text[-_LOOKED_AT // 4 :])


def _bounded(text: str) -> Iterator[str]:
    """The same in pieces that are quick to search."""
    return chain.from_iterable(map(pieces, _halves(text)))


def strings_in(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with the name of the field that it stands in."""
    if isinstance(value, str):
        yield key, value
    elif depth < _DEEPEST:
        if isinstance(value, dict):
            for name, inner in cast("dict[str, Any]", value).items():
                yield from strings_in(inner, str(name), depth + 1)
        elif isinstance(value, list | tuple):
            for inner in cast("list[Any]", value):
                yield from strings_in(inner, key, depth + 1)
