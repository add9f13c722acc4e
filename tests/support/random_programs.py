"""Programs for random logs: prompts, replies, tool rounds good and bad, IDE entries, and every change of the view."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final, TypeAlias, get_args

from hypothesis import strategies as st

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.verdict import StrategyName

Step: TypeAlias = tuple[str, Any]

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

STEPS: Final[st.SearchStrategy[Step]] = st.one_of(
    st.tuples(st.just("prompt"), _TEXTS),
    st.tuples(st.just("calls"), _CALLS),
    st.tuples(st.just("round"), _SIZES),
    st.tuples(st.just("results"), _RESULTS),
    st.tuples(st.just("reply"), _REPLIES),
    st.tuples(st.just("say"), _TEXTS),
    st.tuples(st.just("steer"), _TEXTS),
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
    st.tuples(st.just("mask"), st.lists(st.integers(0, 40), max_size=4)),
    st.tuples(st.just("repeat"), st.tuples(st.integers(0, 40), st.integers(0, 40))),
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
    st.tuples(st.just("steer rule"), st.sampled_from(RULES)),
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
_NAMES_OF_STRATEGIES: Final = get_args(StrategyName)
_STRATEGIC: Final = st.lists(
    st.one_of(
        STEPS,
        st.tuples(st.just("strategy"), st.sampled_from(_NAMES_OF_STRATEGIES)),
        st.tuples(st.just("upTo"), st.integers(0, 12)),
        st.tuples(st.just("from"), st.integers(0, 12)),
    ),
    min_size=8,
    max_size=40,
)
STRATEGIC_PROGRAMS: Final = st.one_of(
    _STRATEGIC,
    _STRATEGIC.map(lambda steps: [("talk", 4), ("run", 5), ("outputs", 3), ("talk", 3), *steps]),
)
"""Programs with compressions of every strategy, up to turns, and from turns on."""

PROGRAMS: Final = st.one_of(st.lists(STEPS, max_size=12), _LONG, _AFTER_A_RUN, _AFTER_TALK)

PROGRAMS_WITH_RULES: Final = st.lists(st.one_of(STEPS, RULE_STEPS), min_size=4, max_size=40)
"""The same with rules that are laid down in prompts, set, replaced and released."""


def random_program(random: Random, length: int) -> list[Step]:
    """A program like those of `STRATEGIC_PROGRAMS`, drawn fast: for very many of them."""
    texts = (
        "go on",
        "x" * 300,
        "<state_snapshot>pasted</state_snapshot>",
        "日本語の文" * 20,
        "never touch legacy/",
        "",
    )
    replies: tuple[Part, ...] = (
        {"text": "fine"},
        {"text": "We decided to use SQLite."},
        {"text": "hm", "thought": True, "thoughtSignature": "s"},
        {"text": ""},
        {},
        {"text": "", "thoughtSignature": "s"},
    )
    kinds = ("answer", "answer", "idless", "orphan", "text", "next")

    def calls() -> list[tuple[str, str | None]]:
        return [
            (random.choice(("run", "read")), random.choice((None, None, "a", "b"))) for _ in range(random.randint(1, 4))
        ]

    def results() -> list[tuple[str, int, int]]:
        return [
            (random.choice(kinds), random.randint(0, 3), random.choice((0, 40, 700, 2_500)))
            for _ in range(random.randint(0, 5))
        ]

    makers: tuple[Callable[[], Step], ...] = (
        lambda: ("prompt", random.choice(texts)),
        lambda: ("calls", calls()),
        lambda: ("results", results()),
        lambda: ("round", random.choice((3, 700, 6_000))),
        lambda: ("reply", random.sample(replies, random.randint(0, 3))),
        lambda: ("say", random.choice(texts)),
        lambda: ("steer", random.choice(texts)),
        lambda: ("ide", random.random() < 0.7),
        lambda: ("end", random.choice(("completed", "completed", "cancelled", "failed", "interrupted", "stopped"))),
        lambda: ("talk", random.randint(1, 4)),
        lambda: ("run", random.randint(1, 5)),
        lambda: ("compress", random.randint(0, 300)),
        lambda: ("compress", random.randint(0, 300)),
        lambda: ("strategy", random.choice(_NAMES_OF_STRATEGIES)),
        lambda: ("strategy", random.choice(_NAMES_OF_STRATEGIES)),
        lambda: ("upTo", random.randint(0, 12)),
        lambda: ("from", random.randint(0, 12)),
        lambda: ("truncate", None),
        lambda: ("undo", random.choice((None, 0, 1, 2, 3))),
        lambda: ("pin", "never touch legacy/"),
        lambda: ("unpin", random.randint(0, 3)),
        lambda: ("preview", random.randint(0, 300)),
        lambda: ("apply", None),
        lambda: ("resume", None),
        lambda: ("anew", (random.random() < 0.5, random.choice(("", "compress", "preview")))),
    )
    return [random.choice(makers)() for _ in range(length)]
