"""Conversations that are built in, so that a bare installation has something to measure."""

from __future__ import annotations

import random
from typing import Final

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.evaluation.chance import seeded
from gemini_companion.evaluation.conversations import Conversation

_TOPICS: Final = ("parser", "billing", "search", "upload", "scheduler", "report", "cache", "login")
_VERBS: Final = ("mend", "rename", "split", "speed up", "document", "test")
_ERRORS: Final = (
    "KeyError: 'total'",
    "TimeoutError: read after 30 s",
    "AssertionError: 3 != 4",
    "ValueError: bad date",
)
_PLACES: Final = ("Lisbon", "Oslo", "Vienna", "Porto", "Ghent", "Turin")
_THINGS: Final = ("flight", "hotel", "train", "museum", "boat", "rental car")


def synthetic_corpus(count: int = 2, *, seed: int = 0) -> list[Conversation]:
    """So many conversations of two families: an agent at work on code, and a plain dialogue."""
    agents = [_conversation("coding", number, seed) for number in range(count)]
    return agents + [_conversation("dialogue", number, seed) for number in range(count)]


def _conversation(family: str, number: int, seed: int) -> Conversation:
    random_ = seeded("synthetic", family, number, seed)
    make = _coding_turn if family == "coding" else _dialogue_turn
    contents = [content for turn in range(24) for content in make(random_, turn)]
    return Conversation(name=f"synthetic/{family}/{number}", history=tuple(contents))


def _coding_turn(random_: random.Random, turn: int) -> list[Content]:
    topic, verb, error = random_.choice(_TOPICS), random_.choice(_VERBS), random_.choice(_ERRORS)
    path = f"src/{topic}/{random_.choice(_TOPICS)}_{random_.randrange(100)}.py"
    line = random_.randrange(10, 900)
    listing = "\n".join(
        f"{number:4d}  def step_{random_.randrange(1_000)}(value): return value + {number}" for number in range(12)
    )
    return [
        user_text(f"Please {verb} the {topic} in {path}; the run of {turn + 1} May broke there."),
        _call("read_file", {"path": path}, turn, 0),
        _result("read_file", f"# {path}\n{listing}", turn, 0),
        _call("run_shell_command", {"command": f"pytest tests/{topic} -q"}, turn, 1),
        _result("run_shell_command", f"{path}:{line}: {error}\n1 failed, {line} passed", turn, 1),
        model_text(
            f"{path} line {line} raised {error}. I made the {topic} check its input first; all {line + 1} tests of"
            f" tests/{topic} pass now."
        ),
    ]


def _dialogue_turn(random_: random.Random, turn: int) -> list[Content]:
    place, thing, price = random_.choice(_PLACES), random_.choice(_THINGS), random_.randrange(20, 900)
    return [
        user_text(
            f"For day {turn + 1} I would like a {thing} in {place}, for at most {price} euros. My sister comes along,"
            " and she would rather not get up before nine. What do you suggest?"
        ),
        model_text(
            f"In {place} there is a {thing} at {price - 7} euros with booking number {place[:2].upper()}"
            f"{random_.randrange(10_000, 99_999)}. It begins at {random_.randrange(9, 18)}:30, so nobody has to hurry. "
            "Shall I keep it for the two of you until tomorrow at noon?"
        ),
    ]


def _call(name: str, args: dict[str, str], turn: int, number: int) -> Content:
    return Content(role="model", parts=({"functionCall": {"name": name, "args": args, "id": f"c{turn}-{number}"}},))


def _result(name: str, output: str, turn: int, number: int) -> Content:
    response = {"name": name, "id": f"c{turn}-{number}", "response": {"output": output}}
    return Content(role="user", parts=({"functionResponse": response},))
