"""What hidden calls did and gave: a line for each, and an index of the identifiers that stand nowhere else.

A later step of the work often needs an id, a path or a number that only an old output names. Where it stands the model
goes on without a call; whatever else the output says it gets back by `recall`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from gemini_companion.engine.facts.actions import CHANGES, Action, cleaned_output, verb_of
from gemini_companion.engine.facts.content_text import Named, names_in
from gemini_companion.engine.facts.extract import as_json, error_lines
from gemini_companion.engine.facts.patterns import ERROR_HINTS, hinted, lazy
from gemini_companion.engine.facts.statements import tokens_in

LINES_SHARE: Final = 0.65
"""Of the budget, what the lines may have; the index has the rest."""

_DIGIT: Final = lazy(r"\d")
_VERDICT: Final = lazy(r"(?i)\b\d+ (?:passed|failed|tests?|errors?|warnings?|problems?)\b|\bexit\b|\btotal\b")
_TARGETS: Final = (
    "file_path",
    "path",
    "absolute_path",
    "dir_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "name",
)
"""Arguments that say what a call is about, the most telling first."""
_LONGEST_TARGET: Final = 110
_LONGEST_LINE: Final = 160
_NOTHING: Final = Named((), short="")
_LEAST_WORTH: Final = 0.3


class Line(NamedTuple):
    """A line of the record."""

    at: int
    """Index of the content that it stands for."""
    text: str


class _Call(NamedTuple):
    action: Action
    target: str
    given: Named
    gave: Named


def lines_of_calls(
    actions: Sequence[Action],
    budget: float,
    *,
    named: Callable[[int, int], Named],
    standing: Collection[str],
    later: Mapping[str, int],
    end: int,
    is_old: int = 0,
    poll: Callable[[], None] = lambda: None,
) -> list[Line]:
    """What calls did, as far as the budget goes: those that changed something first, then the newest.

    Args:
        actions: In order, each with its result.
        budget: In tokens as `tokens_in` counts them.
        named: What is named in a part, by the index of its content and its own.
        standing: Names that stand elsewhere in the request.
        later: By name, the index of the last content that has it; behind `end` where the tail does.
        end: The index behind the last hidden content.
        is_old: How many of the first actions are named without what they gave.
        poll: Called for each; what it raises ends the work.
    """
    calls = [
        _Call(
            action,
            _target(action),
            named(action.index, action.part),
            named(action.result_index, action.result_part)
            if number >= is_old and action.result_index is not None
            else _NOTHING,
        )
        for number, action in enumerate(actions)
    ]
    groups: dict[tuple[str, str], list[int]] = {}
    for number, call in enumerate(calls):
        groups.setdefault((call.action.name, call.target), []).append(number)
    order = sorted(
        groups.values(), key=lambda numbers: (verb_of(calls[numbers[-1]].action) not in CHANGES, -numbers[-1])
    )
    texts: dict[int, str] = {}
    used, limit = 0.0, budget * LINES_SHARE
    for numbers in order:
        poll()
        call = calls[numbers[-1]]
        many = f" ×{len(numbers)}" if len(numbers) > 1 else ""
        short = call.gave.short
        target = "" if short and call.target and call.target in short else f" {call.target}"
        head = f"{call.action.name}{many}{target}".rstrip()
        if used + tokens_in(head) + 2 > limit:
            continue  # reading what it gave is most of the work
        room = max(24.0, min(90.0, limit / len(order)))
        result = [short] if short is not None else _telling(call, room, later)
        result = [line for line in result if line]
        for tail in (f" → {' / '.join(result)}", f" → {_cut(result[-1], 60)}" if result else "", ""):
            text = head + (tail if result else "")
            cost = tokens_in(text) + 2
            if used + cost <= limit:
                texts[numbers[-1]] = text
                used += cost
                break
    said = {*standing, *(name for text in texts.values() for name in names_in(text))}
    for number, names in _index(calls, budget - used, said, later, end, poll).items():
        texts[number] = f"{texts.get(number, calls[number].action.name)} | {' '.join(names)}"
    return [Line(calls[number].action.index, texts[number]) for number in sorted(texts)]


def _index(
    calls: Sequence[_Call],
    budget: float,
    standing: Collection[str],
    later: Mapping[str, int],
    end: int,
    poll: Callable[[], None],
) -> dict[int, list[str]]:
    """By the number of a call, the names of its output that stand nowhere else, in the order of the output."""
    keys = {key for call in calls for key in call.gave.keys}
    found: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = defaultdict(int)
    for number, call in enumerate(calls):
        poll()
        for place, name in enumerate(dict.fromkeys(chain(call.gave.names, call.given.names))):
            counts[name] += 1
            found[name] = number, place

    def worth(name: str) -> float:
        number, _ = found[name]
        return (
            2.0 * (later.get(name, 0) >= end)
            + 1 / counts[name]
            + 0.6 * (_DIGIT().search(name) is not None)
            + 0.4 * number / max(1, len(calls))
            - 0.01 * len(name)
            - 1.0 * name.isdigit()
        )

    names = (name for name in found if len(name) > (2 if name.isdigit() else 3) and name not in keys)
    chosen: dict[int, list[str]] = defaultdict(list)
    for name in sorted((name for name in names if name not in standing), key=worth, reverse=True):
        number, _ = found[name]
        cost = tokens_in(name) + 0.5 + (0 if number in chosen else 3)
        if cost > budget:
            break
        budget -= cost
        chosen[number].append(name)
    for listed in chosen.values():
        listed.sort(key=lambda name: found[name][1])
    return chosen


def _target(action: Action) -> str:
    for key in _TARGETS:
        if isinstance(value := action.args.get(key), str):
            return _cut(value, _LONGEST_TARGET)
    values = (value if isinstance(value, str) else as_json(value) for value in action.args.values())
    return _cut(", ".join(values), _LONGEST_TARGET)


def _telling(call: _Call, budget: float, later: Mapping[str, int]) -> list[str]:
    """The lines of an output that say most, in order: errors and verdicts, the last one, what is named again later."""
    output = cleaned_output(call.action)
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    errors = set(error_lines(output)) if hinted(output.lower(), ERROR_HINTS) else set[str]()
    at = call.action.result_index or call.action.index
    named_later = [name for name in call.gave.names if later.get(name, 0) > at]
    scored: list[tuple[float, int]] = []
    for number, line in enumerate(lines):
        echoed = 0
        if any(name in line for name in named_later):
            echoed = sum(1 for name in names_in(line[:400]) if later.get(name, 0) > at)
        score = (
            1.2 * (line in errors or _VERDICT().search(line[:400]) is not None)
            + 0.8 * (number == len(lines) - 1)
            + 0.5 * min(4, echoed)
            + 0.3 * (_DIGIT().search(line[:400]) is not None)
            - 0.02 * tokens_in(line)
        )
        if score > _LEAST_WORTH:
            scored.append((-score, number))
    kept: list[int] = []
    for _, number in sorted(scored):
        cost = tokens_in(_cut(lines[number], _LONGEST_LINE)) + 1
        if cost <= budget:
            budget -= cost
            kept.append(number)
    return [_cut(lines[number], _LONGEST_LINE) for number in sorted(kept)]


def _cut(text: str, most: int) -> str:
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
