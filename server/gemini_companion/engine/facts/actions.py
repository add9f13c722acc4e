"""Calls with their results: whether they worked, which line says so, which files they touched, how to show them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from heapq import nlargest
from itertools import chain, pairwise
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.facts.extract import as_json, command_of, error_lines, result_text
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.paths import is_path_key, paths_of_argument
from gemini_companion.engine.facts.patterns import ERROR_HINTS, EXIT_CODE, hinted, lazy
from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.history.part import call_of, is_thought, response_of, text_of

Verb: TypeAlias = Literal["created", "changed", "deleted", "read", "ran"]
Status: TypeAlias = Literal["ok", "failed", "open"]

CHANGES: Final[frozenset[Verb | None]] = frozenset(("created", "changed", "deleted"))
"""What alters a file."""

_OUTPUT_LOOKED_AT: Final = 40_000
"""Characters of an output's head and of its tail that are looked at."""
_LONGEST_NOISE: Final = 500
_SHORT_ARGUMENT: Final = 80
_ISLANDS: Final = 4
"""Lines of a long output that are shown, with their neighbours."""

_DIRECTORY: Final = lazy(
    r"(?im)(?:^|\()(?:current (?:working )?directory|cwd|directory)(?: is)?:[ \t]*([^)\n]{1,1024})"
)
_NOISE: Final = lazy(
    r"\((?:Open file|Current directory): [^\n]*\)|bash-\$|\[File: [^\n]*\]|\(\d+ more lines (?:above|below)\)|-{20,}"
    r"|[^\n]{0,200}(?:[━█▏▎▍▌▋▊▉]{4}|[#=.>-]{12,80}[ \]|]{0,3}\d{1,3}(?:\.\d)?%|\d{1,3}(?:\.\d)?%[ |]{0,3}\[?["
    r"|#=>.█-]{4}|\d(?:\.\d)? ?[kMG]i?B/s)[^\n]{0,200}|(?:Downloading|Collecting|Requirement already satisfied"
    r"|Using cached|remote: (?:Counting|Compressing|Enumerating)|Receiving objects|Resolving deltas|Unpacking objects"
    r"|Fetching|Preparing metadata|Installing build)\b[^\n]{0,400}|[^\n]{0,200}(?:: started"
    r"|: finished with status '\w{1,20}'|\.\.\. ?done)"
)
"""Lines that an agent's shell adds to an output, and meters of progress."""
_LISTED: Final = lazy(r"\d{1,7}[:|\t]")
_FAILURE: Final = lazy(
    r"Traceback \(most recent|TIMED OUT|^FAILED |\b[1-9]\d* (?:failed|errors?)\b|npm ERR!|^error[\[:]|^fatal:"
    r"|NOT been applied",
    re.MULTILINE,
)
_EXCEPTION: Final = lazy(r"\b[A-Z]\w{0,60}(?:Error|Exception|Failure|Fault)\b|error[\[:]")
_VERDICT: Final = lazy(
    r"(?i)\b\d+ (?:passed|failed|tests?|errors?|warnings?|problems?)\b|\btests?:? [^\n]{0,80}(?:pass|fail|ok)|^ok\b"
    r"|\bsuccess|\bbuilt in\b|\bdone in\b|^file updated"
)
_OPEN_FILE: Final = lazy(r"\(Open file: (?P<path>[^)\n]{3,1024})\)")
_LOOKED_FOR: Final = lazy(r"[A-Za-z_][\w.]{3,60}|\d{2,9}")


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """A call of the model and its result."""

    index: int
    """Of the content that holds the call."""
    name: str
    args: dict[str, Any]
    command: str | None
    """The whole command string of a call to something like a shell."""
    why: str
    """What the model said just before it called."""
    output: str | None = None
    """What came back; `None` if nothing did in these contents."""
    result_index: int | None = None
    """Of the content that holds what came back."""
    part: int = 0
    """Of the call in its content."""
    result_part: int = 0
    """Of what came back in its own."""
    refused: bool = False
    """The response says itself that it is an error."""


class Outcome(msgspec.Struct, frozen=True):
    """What came of an action."""

    status: Status
    line: str
    """The line that says so, or the most telling line of the output; may be empty."""


class Touch(msgspec.Struct, frozen=True):
    """A file, and what an action did to it."""

    verb: Verb
    path: str


def read_actions(sources: Sequence[FactSource]) -> list[Action]:
    """Every call in order, with its result: the one with its id, else the next of its name, else the next."""
    actions: list[Action | None] = []
    open_calls: list[tuple[int, Action, str]] = []
    for source in sources:
        said = ""
        for number, part in enumerate(source.content.parts):
            if (text := text_of(part)) is not None:
                said = said if is_thought(part) else text
            elif (call := call_of(part)) is not None:
                args: object = call.get("args")
                action = Action(
                    index=source.index,
                    name=str(call.get("name") or ""),
                    args=cast("dict[str, Any]", args) if isinstance(args, dict) else {},
                    command=command_of(call),
                    why=said.strip(),
                    part=number,
                )
                open_calls.append((len(actions), action, str(call.get("id") or "")))
                actions.append(None)
            elif (response := response_of(part)) is not None and open_calls:
                slot, action, _ = open_calls.pop(_matching(open_calls, response))
                body: object = response.get("response")
                refused = isinstance(body, dict) and bool(cast("dict[str, Any]", body).get("error"))
                actions[slot] = msgspec.structs.replace(
                    action,
                    output=result_text(response),
                    result_index=source.index,
                    result_part=number,
                    refused=refused,
                )
    for slot, action, _ in open_calls:
        actions[slot] = action
    return [action for action in actions if action is not None]


def working_directory(actions: Sequence[Action]) -> str | None:
    """The directory that the newest output names as the current one."""
    for action in reversed(actions):
        for part in (action.output[-2_000:], action.output[:2_000]) if action.output else ():
            if matches := _DIRECTORY().findall(part):
                return str(matches[-1]).strip()
    return None


def call_name(action: Action) -> str:
    """The call in a few words: the first line of its command, or its name and its short arguments."""
    if action.command is not None:
        return first_line(action.command.strip())
    plain = ((key, _plain(value)) for key, value in action.args.items())
    short = (f"{key}={text}" for key, text in plain if len(text) <= _SHORT_ARGUMENT and "\n" not in text)
    return " ".join((action.name, ", ".join(short))).rstrip()


def call_text(action: Action, limit: int) -> str:
    """The call on one line, `name key=value, …`: strings as they are, each cut to `limit` characters."""
    shown = (f"{key}={head(_plain(value), limit)}" for key, value in action.args.items())
    return f"{action.name} {', '.join(shown)}".rstrip()


def first_line(text: str) -> str:
    """The first line, and how many follow."""
    first, _, rest = text.partition("\n")
    count = rest.count("\n") + 1
    return f"{first} … (+{count} line{'s' if count > 1 else ''})" if rest else first


def head(text: str, limit: int) -> str:
    """The first `limit` characters, and how many were left out."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … (+{len(text) - limit:,} characters)"


def cleaned_output(action: Action) -> str:
    """The output without shell frames and meters of progress; of a long one the head and the tail."""
    return cleaned(action.output or "")


def cleaned(output: str) -> str:
    """The same of an output that is read by itself."""
    if len(output) > 2 * _OUTPUT_LOOKED_AT:
        output = f"{output[:_OUTPUT_LOOKED_AT]}\n{output[-_OUTPUT_LOOKED_AT:]}"
    lines = (line.rstrip().rpartition("\r")[2] for line in output.split("\n"))
    return "\n".join(line for line in lines if len(line) > _LONGEST_NOISE or not _NOISE().fullmatch(line)).strip()


def outcome_of(action: Action) -> Outcome:
    """Whether it worked, going by exit codes, the response's own word, and errors that open or close the output."""
    if action.output is None:
        return Outcome("open", "")
    output = cleaned_output(action)
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    errors = [line for piece in pieces(output) if hinted(piece.lower(), ERROR_HINTS) for line in error_lines(piece)]
    if action.refused:
        return Outcome("failed", errors[0] if errors else next(iter(lines), ""))
    if failure := EXIT_CODE().search(output):
        real = [line for line in errors if not EXIT_CODE().search(line)]
        return Outcome("failed", f"{failure.group()}: {real[-1]}" if real else failure.group())
    looks = verb_of(action) == "read"  # a listing, a file, a search: text that may well be about errors
    if errors and not looks and (errors[0] in lines[:2] or _FAILURE().search(output)):
        named = [line for line in errors if _EXCEPTION().search(line)]
        return Outcome("failed", named[-1] if named else errors[0])
    return Outcome("ok", _summary(lines, ends=not looks))


def excerpt(output: str, limit: int, looked_for: Collection[str] = ()) -> str:
    """At most about `limit` characters of an output, line breaks kept: all of it, or the lines that matter.

    Those hold a word of `looked_for`, or say what went wrong; the first and the last line go along. Of a long line
    the part around the word is shown.
    """
    if len(output) <= limit:
        return output
    lines = output.split("\n")
    wanted = frozenset(looked_for)
    found = [wanted.intersection(_LOOKED_FOR().findall(line[:2_000])) for line in lines]
    common = Counter(chain.from_iterable(found))
    errors = set(error_lines(output[:_OUTPUT_LOOKED_AT])) if hinted(output.lower(), ERROR_HINTS) else set[str]()
    scores = [
        2.0 * (line.strip() in errors)
        + 0.8 * bool(_VERDICT().search(line[:400]))
        + sum(1 / common[word] for word in words)
        for line, words in zip(lines, found, strict=True)
    ]
    best = [place for place in nlargest(_ISLANDS, range(len(lines)), key=scores.__getitem__) if scores[place] > 0]
    near = [place + step for step in (0, -1, 1, -2, 2) for place in best] or range(len(lines))
    chosen: set[int] = set()
    room = limit
    for place in dict.fromkeys((0, len(lines) - 1, *near)):
        if 0 <= place < len(lines) and (cost := min(len(lines[place]), limit // 2) + 1) <= room:
            chosen.add(place)
            room -= cost
    shown: list[str] = []
    for before, place in pairwise((-1, *sorted(chosen), len(lines))):
        if place > before + 1:
            shown.append(f"… (+{place - before - 1} line{'s' if place - before > 2 else ''})")
        shown.extend(_around(line, limit // 2, wanted) for line in lines[place : place + 1])
    return "\n".join(shown)


def words_looked_for(text: str) -> frozenset[str]:
    """Identifiers and numbers of a text: what an output was read for."""
    return frozenset(word for word in _LOOKED_FOR().findall(text[:4_000]) if not word.isalpha() or not word.islower())


def touches(action: Action, outcome: Outcome) -> Iterator[Touch]:
    """The files that an action names, with what it did to them; a change that failed is none."""
    verb = verb_of(action)
    if verb is None or (verb in CHANGES and outcome.status == "failed"):
        return
    arguments = list(_arguments(action))
    called_so = [(key, value) for key, value in arguments if is_path_key(key)]
    named = [path for key, value in called_so or arguments for path in paths_of_argument(key, value[:16_384])]
    if not named and verb == "changed" and action.output:  # an editor that has the file open already
        named = [match["path"] for match in _OPEN_FILE().finditer(action.output[-2_000:])][-1:]
    yield from (Touch(verb, path) for path in dict.fromkeys(named))


def verb_of(action: Action) -> Verb | None:
    """What an action does to the files that it names; `None` if that cannot be told."""
    if action.command is not None:
        words = action.command.split(None, 2)
        while words and (words[0] in ("sudo", "time", "env") or "=" in words[0]):
            words = words[1:]
        program = words[0].rpartition("/")[2] if words else ""
        if program in ("sed", "perl") and " -i" in action.command:
            return "changed"
        if program in ("cat", "echo", "tee", "printf") and (">" in action.command or program == "tee"):
            return "created"
        return _PROGRAMS.get(program)
    return next((verb for pattern, verb in _TOOLS if pattern().search(action.name)), None)


def _matching(open_calls: Sequence[tuple[int, Action, str]], response: dict[str, Any]) -> int:
    identifier, name = response.get("id"), response.get("name")
    same_id = (n for n, (_, _, call_id) in enumerate(open_calls) if identifier and call_id == identifier)
    same_name = (n for n, (_, action, _) in enumerate(open_calls) if action.name == name)
    return next(chain(same_id, same_name), 0)


def _summary(lines: Sequence[str], *, ends: bool) -> str:
    """A short output whole, the verdict of a run, else the first and the last line; a listing is only counted."""
    if not lines:
        return ""
    plain = [line for line in lines if not _LISTED().match(line)]
    if not plain:
        return f"({len(lines)} numbered lines)" if len(lines) > 1 else lines[0] if lines[0][-1] not in ":|" else ""
    if verdict := next((line for line in reversed(plain[-12:]) if _VERDICT().search(line[:400])), ""):
        return verdict.partition(". ")[0] + ("." if ". " in verdict else "")
    joined = " ⏎ ".join(plain)
    if len(joined) <= 200:
        return joined
    if ends and len(plain) > 2:
        return f"{plain[0][:80]} … (+{len(plain) - 2} lines) … {plain[-1]}"
    return f"{plain[0]} … (+{len(plain) - 1} lines)"


def _around(line: str, limit: int, wanted: frozenset[str]) -> str:
    """A line, or the part of it around the first of the words."""
    if len(line) <= limit:
        return line
    place = next((found.start() for found in _LOOKED_FOR().finditer(line) if found.group() in wanted), 0)
    start = max(0, min(place - limit // 3, len(line) - limit))
    return f"{'… ' if start else ''}{line[start : start + limit]}{' …' if start + limit < len(line) else ''}"


def _arguments(action: Action) -> Iterator[tuple[str, str]]:
    if action.command is not None:
        yield "command", action.command.split("\n", 1)[0]
        return
    for key, value in action.args.items():
        if isinstance(value, str) and "\n" not in value:
            yield key, value
        elif isinstance(value, list):
            yield from ((key, item) for item in cast("list[object]", value) if isinstance(item, str))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else as_json(value)


_PROGRAMS: Final[dict[str, Verb]] = {
    program: verb
    for verb, programs in cast(
        "dict[Verb, str]",
        {
            "read": "cat head tail less more open view bat nl od hexdump xxd strings file stat wc ls tree find find_file "
            "grep rg ag ack awk search_file search_dir decompile disassemble goto scroll_up scroll_down diff type dir jq "
            "cut sort",
            "created": "touch mkdir create cp ln",
            "changed": "edit mv patch chmod chown sed insert str_replace apply_patch",
            "deleted": "rm rmdir unlink del",
            "ran": "python python3 node deno bun ruby perl php bash sh zsh java go cargo pytest make npm npx",
        },
    ).items()
    for program in programs.split()
}
"""What a program does to the files that its command line names."""
_TOOLS: Final[tuple[tuple[Any, Verb], ...]] = (
    (lazy(r"(?i)delete|remove|unlink"), "deleted"),
    (lazy(r"(?i)create|write|save|new_file|touch|mkdir"), "created"),
    (lazy(r"(?i)edit|replace|insert|patch|update|append|rename|move|modify"), "changed"),
    (lazy(r"(?i)read|open|view|cat|list|ls|glob|search|grep|find|show|get"), "read"),
)
