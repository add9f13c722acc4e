"""Contents as the search for facts takes them, what hypothesis makes of them, and the snapshot of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from gemini_companion.engine.facts.extract import facts_of
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.history.content import Content, model_text, user_text

_SCRAPS = (
    *(
        "src/app/server.py",
        "start/end",
        "/etc/hosts",
        "C:\\work\\a.txt",
        "`npm test -- -w`",
        "$ make all",
        "Never push to main.",
        "必ず書いてください。",
    ),
    *(
        "ValueError: no",
        "error: expected ';'",
        "port 3000",
        "v1.2.3",
        "- [ ] write docs",
        "TODO: fix",
        "https://example.com/a.py?b=1",
        "e.g. this",
    ),
    *(
        "<state_snapshot>",
        "</key_knowledge>",
        "[1:56 pm on 8 May, 2023] Ann: ",
        "```sh",
        "```",
        "> quoted",
        "\n",
        "\n\n",
        " ",
        ". ",
        "? ",
        "! ",
    ),
    *("。", "- ", "1. ", "\t", "\ud800", "\x00"),
)
texts = st.lists(st.one_of(st.sampled_from(_SCRAPS), st.text(max_size=12)), max_size=14).map(" ".join)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("command", "path", "output", "x")), inner, max_size=3),
    ),
    max_leaves=6,
)
parts = st.one_of(
    texts.map(lambda text: {"text": text}),
    st.fixed_dictionaries(
        {"functionCall": st.fixed_dictionaries({"name": st.sampled_from(("bash", "edit")), "args": json_values})}
    ),
    st.fixed_dictionaries(
        {"functionResponse": st.fixed_dictionaries({"name": st.just("bash"), "response": json_values})}
    ),
    st.dictionaries(
        st.sampled_from(("text", "functionCall", "functionResponse", "thought", "executableCode")),
        json_values,
        max_size=3,
    ),
)
contents = st.builds(
    lambda role, parts: Content(role=role, parts=tuple(parts)),
    st.sampled_from(("user", "model")),
    st.lists(parts, max_size=3),
)


def sources_of(contents: Sequence[Content]) -> list[FactSource]:
    return [FactSource(index, content, index + 1) for index, content in enumerate(contents)]


sources = st.lists(contents, max_size=8).map(sources_of)


def call(command: str, name: str = "run_shell_command", **more: Any) -> Content:
    return Content(role="model", parts=({"functionCall": {"name": name, "args": {"command": command, **more}}},))


def tool(name: str, **args: Any) -> Content:
    return Content(role="model", parts=({"functionCall": {"name": name, "args": args}},))


def result(output: Any, name: str = "run_shell_command") -> Content:
    response = output if isinstance(output, dict) else {"output": output}
    return Content(role="user", parts=({"functionResponse": {"name": name, "response": response}},))


def chat(*turns: str) -> list[FactSource]:
    """User and model in turn."""
    return sources_of([(user_text if index % 2 == 0 else model_text)(text) for index, text in enumerate(turns)])


def count_words(text: str) -> float:
    """A stand-in for a token counter."""
    return len(text) / 4


def a_run(rounds: int) -> list[FactSource]:
    """An agent at work: a prompt, then commands and their outputs."""
    contents = [user_text("Fix the parser in src/parser.py. Never touch the lexer.")]
    for number in itertools.islice(itertools.count(), rounds):
        contents += [
            call(f"pytest tests/test_case_{number}.py -q"),
            result(f"{number} passed in 0.{number}s\n/project/tests/test_case_{number}.py"),
        ]
    return sources_of(contents)


def extract_facts(items: Sequence[FactSource]) -> list[Fact]:
    """Every fact of every content, in order."""
    return [fact for item in items for fact in facts_of(item)]


def snapshot_of(items: list[FactSource], budget: int = 2_000, previous: str | None = None, guidance: str = "") -> str:
    """Of all of them; `budget` in tokens of `count_words`."""
    return extractive_snapshot(
        items, previous=previous, budget_tokens=budget, count_text=count_words, guidance=guidance
    )


def section(snapshot: str, name: str) -> str:
    """What stands in one section."""
    match = re.search(rf"^<{name}>\n(.*?)\n</{name}>$", snapshot, re.DOTALL | re.MULTILINE)
    assert match
    return match[1]
