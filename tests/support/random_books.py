"""Random logs, as `Book`s: prompts, replies, rounds good and bad, IDE entries, turn ends, all changes of the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.rounds import finished_to
from tests.support.logs import Book, call, result
from tests.support.random_programs import Step

BUDGET: Final = 600
WINDOW: Final = 4_000
LIMIT: Final = 2_000
"""Outputs of random books: small enough to be quick, large enough to be cut."""

_WORK: Final = frozenset({"calls", "round", "run", "outputs", "results", "reply", "steer", "steer rule"})


def write(
    steps: list[Step],
    *,
    after_each: Callable[[Book, Step], None] | None = None,
    before_reached: Callable[[Book], None] | None = None,
) -> Book:
    """A book that these steps wrote. Steps that make no sense where they stand do nothing.

    `before_reached` is called before each compression up to a turn or from one on, with the book's `reach` set.
    """
    book = Book(budget=BUDGET, limit=LIMIT, window=WINDOW)
    for step in steps:
        _take(book, step, before_reached or (lambda _: None))
        if after_each is not None:
            after_each(book, step)
    return book


def _take(book: Book, step: Step, before_reached: Callable[[Book], None]) -> None:
    kind, argument = step
    if kind in ("upTo", "from"):
        book.reach = _reach(book, kind, argument)
        if book.reach is not None and not book.history.has_open_call():
            before_reached(book)
            book.compress("<state_snapshot>\n" + "r" * 50 + "\n</state_snapshot>")
        book.reach = None
        return
    if (
        kind not in ("results", "pin", "unpin", "rule", "replace", "release", "preview", "end")
        and book.history.has_open_call()
        and book.turn
    ):
        return  # sessions wait for the safe point
    match kind:
        case "prompt":
            if book.turn:
                book.end()
            book.prompt(argument)
        case "lay down":
            if book.turn:
                book.end()
            book.prompt(f"Build it; {argument}.")
            book.rule(argument, by_turn=book.turn)
        case "say":
            if book.turn:
                book.end()
            book.say(argument or "hello", "answer " * 20)
        case "talk":
            if book.turn:
                book.end()
            for number in range(argument):
                book.say(f"question {number} " * 12, f"answer {number} " * 20)
        case "ide":
            if not book.turn:
                book.ide("[editor]", epoch=book.history.epoch if argument else 0)
                book.prompt("look at this")
        case "end":
            if book.turn:
                finished = finished_to(book.entries, book.turn)
                book.end(argument, kept_to=None if argument in ("completed", "failed") else finished)
        case _ if kind in _WORK:
            if not book.turn:
                book.prompt("work")
            _take_content(book, kind, argument)
        case _:
            _change(book, kind, argument)


def _take_content(book: Book, kind: str, argument: Any) -> None:
    match kind:
        case "calls":
            book.reply(*(call(name, call_id, number=number) for number, (name, call_id) in enumerate(argument)))
        case "round":
            book.round(len(book.entries), "line " * (argument // 5) + "end")
        case "run" | "outputs":
            for number in range(argument):
                book.round(len(book.entries), "line " * (20 + number) if kind == "run" else f"{number} long " * 400)
        case "reply":
            book.reply(*argument)
        case "steer":
            book.steer(argument)
        case "steer rule":
            book.steer(f"And {argument}.")
            book.rule(argument, by_turn=book.turn)
        case _:
            _answer(book, argument)


def _answer(book: Book, answers: list[tuple[str, int, int]]) -> None:
    """Results for the newest calls, in one content or several, in any order, some of them missing, doubled, strange, or
    without an id.
    """
    last = next((item for item in reversed(book.history.items) if item.content.role == "model"), None)
    calls = [part["functionCall"] for part in last.content.parts if "functionCall" in part] if last else []
    parts: list[Part] = []
    for kind, number, size in answers:
        if kind == "next":
            book.results(*parts)
            parts = []
        elif kind == "text":
            parts.append({"text": "by the way"})
        elif kind == "orphan" or number >= len(calls):
            parts.append(result("run", "nobody", "o" * size))
        else:
            found = calls[number]
            parts.append(
                result(found["name"], found.get("id") if kind == "answer" else None, "r" * size, extra={"kept": True})
            )
    book.results(*parts)


def _change(book: Book, kind: str, argument: Any) -> None:
    history = book.history
    match kind:
        case "compress":
            book.compress("<state_snapshot>\n" + "s" * argument + "\n</state_snapshot>")
        case "strategy":
            book.strategy = argument
        case "truncate":
            book.truncate()
        case "mask" if places := book.results_shown:
            book.mask(*(places[number % len(places)] for number in argument))
        case "repeat" if (last := len(places := book.results_shown) - 1) > 0:
            book.repeat(places[argument[0] % (1 + argument[1] % last)], places[1 + argument[1] % last])
        case "undo" if history.in_force:
            ids = list(history.in_force)
            book.undo(None if argument is None else ids[argument % len(ids)])
        case "pin":
            book.pin(argument)
        case "unpin":
            pins = list(history.pins)
            book.unpin(pins[argument % len(pins)] if pins else "nothing")
        case "preview":
            book.preview("<state_snapshot>\n" + "p" * argument + "\n</state_snapshot>")
        case "apply" if history.preview is not None:
            if not is_stale(history, history.preview.compression, history.preview.base_seq):
                book.install(msgspec.structs.replace(history.preview.compression))
        case "rule":
            text, rule_state = argument
            book.rule(text, rule_state)
        case "replace":
            standing = history.standing
            book.rule(argument, replaces=standing[-1].constraint_id if standing else None)
        case "release":
            rules = [one.constraint_id for one in history.constraints.all() if one.source != "pin"]
            book.release(rules[argument % len(rules)] if rules else "nothing")
        case "resume":
            book.resume()
        case "anew" if (newest := history.newest_turn) is not None and not history.is_hidden(newest):
            if book.turn:
                book.end()
            answered, meanwhile = argument
            answer = "another answer" if answered else None
            book.anew("once more", answer, between=lambda: _change(book, meanwhile, 50))
        case _:
            pass


def _reach(book: Book, kind: str, number: int) -> tuple[int, int] | None:
    """Of a turn that no compression hides, as sessions find it; `None` for one that cannot be named."""
    history = book.history
    turns = list(dict.fromkeys(item.turn_id for item in history.sources))
    if not turns:
        return None
    turn = turns[number % len(turns)]
    if turn == book.turn or history.is_hidden(turn):
        return None
    seqs = [item.seq for item in history.sources if item.turn_id == turn]
    running = (item.seq for item in history.sources if item.turn_id == book.turn)
    return (1, max(seqs)) if kind == "upTo" else (min(seqs), min(running, default=history.version + 1) - 1)
