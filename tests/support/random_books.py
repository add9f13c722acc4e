"""Random logs, as `Book`s: prompts, replies, tool rounds good and bad, IDE entries, turn ends, and every change of the
view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from hypothesis import strategies as st

from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.history.content import Part
from tests.support.logs import Book, call, result

Step: TypeAlias = tuple[str, Any]

BUDGET: Final = 600
LIMIT: Final = 2_000
"""Outputs of random books: small enough to be quick, large enough to be cut."""

_SIZES: Final = st.sampled_from([0, 3, 40, 700, 2_500, 6_000])
_NAMES: Final = st.sampled_from(["run", "read"])
_IDS: Final = st.sampled_from([None, None, "a", "b", "c"])
_TEXTS: Final = st.sampled_from(["go on", "x" * 300, "<state_snapshot>pasted</state_snapshot>", "日本語の文" * 20, ""])
_CALLS: Final = st.lists(st.tuples(_NAMES, _IDS), min_size=1, max_size=4)
_RESULTS: Final = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 3), _SIZES),
        st.tuples(st.just("idless"), st.integers(0, 3), _SIZES),
        st.tuples(st.just("orphan"), st.just(0), _SIZES),
        st.tuples(st.just("text"), st.just(0), st.just(5)),
        st.tuples(st.just("next"), st.just(0), st.just(0)),
    ),
    max_size=5,
)
_REPLIES: Final = st.lists(
    st.one_of(
        st.builds(lambda text: {"text": text or "fine"}, _TEXTS),
        st.just({"text": "hm", "thought": True, "thoughtSignature": "s"}),
        st.just({"text": ""}),
        st.just({}),
        st.just({"text": "", "thoughtSignature": "s"}),
    ),
    max_size=3,
)

_WORK: Final = frozenset({"calls", "round", "run", "outputs", "results", "reply"})

STEPS: Final[st.SearchStrategy[Step]] = st.one_of(
    st.tuples(st.just("prompt"), _TEXTS),
    st.tuples(st.just("calls"), _CALLS),
    st.tuples(st.just("round"), _SIZES),
    st.tuples(st.just("results"), _RESULTS),
    st.tuples(st.just("reply"), _REPLIES),
    st.tuples(st.just("say"), _TEXTS),
    st.tuples(st.just("ide"), st.booleans()),
    st.tuples(
        st.just("end"), st.sampled_from(["completed", "completed", "cancelled", "failed", "interrupted", "stopped"])
    ),
    st.tuples(st.just("talk"), st.integers(1, 4)),
    st.tuples(st.just("run"), st.integers(1, 5)),
    st.tuples(st.just("outputs"), st.integers(1, 4)),
    st.tuples(st.just("compress"), st.integers(0, 300)),
    st.tuples(st.just("compress"), st.integers(0, 300)),
    st.tuples(st.just("truncate"), st.none()),
    st.tuples(st.just("undo"), st.none()),
    st.tuples(st.just("undo"), st.none() | st.integers(0, 5)),
    st.tuples(st.just("pin"), st.sampled_from(["never touch legacy/", "tabs"])),
    st.tuples(st.just("unpin"), st.integers(0, 3)),
    st.tuples(st.just("preview"), st.integers(0, 300)),
    st.tuples(st.just("apply"), st.none()),
    st.tuples(st.just("resume"), st.none()),
    st.tuples(st.just("anew"), st.tuples(st.booleans(), st.sampled_from(["", "compress", "preview"]))),
)
RULES: Final = ("never push", "always write tests", "keep legacy/ as it is")
RULE_STEPS: Final = st.one_of(
    st.tuples(st.just("lay down"), st.sampled_from(RULES)),
    st.tuples(st.just("rule"), st.tuples(st.sampled_from(RULES), st.sampled_from(["inForce", "proposed"]))),
    st.tuples(st.just("replace"), st.sampled_from(RULES)),
    st.tuples(st.just("release"), st.integers(0, 5)),
)
_LONG: Final = st.lists(STEPS, min_size=12, max_size=40)
_AFTER_A_RUN: Final = _LONG.map(
    lambda steps: [("prompt", "mend it"), ("run", 5), ("compress", 40), ("outputs", 3), ("compress", 50), *steps]
)
_AFTER_TALK: Final = _LONG.map(
    lambda steps: [("talk", 4), ("ide", True), ("outputs", 4), ("truncate", None), ("compress", 40), *steps]
)
PROGRAMS: Final = st.one_of(st.lists(STEPS, max_size=12), _LONG, _AFTER_A_RUN, _AFTER_TALK)

PROGRAMS_WITH_RULES: Final = st.lists(st.one_of(STEPS, RULE_STEPS), min_size=4, max_size=40)
"""The same with rules that are laid down in prompts, set, replaced and released."""


def write(steps: list[Step], *, after_each: Callable[[Book, Step], None] | None = None) -> Book:
    """A book that these steps wrote. Steps that make no sense where they stand do nothing."""
    book = Book(budget=BUDGET, limit=LIMIT)
    for step in steps:
        _take(book, step)
        if after_each is not None:
            after_each(book, step)
    return book


def _take(book: Book, step: Step) -> None:
    kind, argument = step
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
                finished = [
                    item.seq for item in book.history.items if item.turn_id == book.turn and item.kind == "toolResult"
                ]
                book.end(argument, kept_to=None if argument in ("completed", "failed") else max(finished, default=0))
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
        case "truncate":
            book.truncate()
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
