"""Whatever reads text from outside takes time in proportion to the text, at its worst too."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

import pytest

from gemini_companion.adapters.offline.question import read_question
from gemini_companion.adapters.storage.search import conditions
from gemini_companion.engine.compression.answer import edited_snapshot, read_snapshot
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.facts.extract import condensed, facts_of
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.sentences import sentences
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.json_length import json_length
from gemini_companion.engine.ide_context.positions import count_line_breaks
from gemini_companion.engine.ide_context.secrets import find_secrets, mask_secrets
from gemini_companion.engine.prompts.attachments import excerpt
from gemini_companion.engine.prompts.mentions import mentions_in
from gemini_companion.engine.recall.excerpt import excerpt as excerpt_around
from gemini_companion.engine.recall.passages import passage_spans
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.engine.recall.words import indexed, spaced
from gemini_companion.engine.tokens.lexical import cut
from gemini_companion.protocol.codec import decode_body, is_too_deep
from gemini_companion.protocol.errors import RpcError
from gemini_companion.protocol.frames import FrameParser
from gemini_companion.sessions.interchange import decode_session_file
from gemini_companion.sessions.turn.prompt import slash_compression
from gemini_companion.sessions.turn.titles import one_line
from gemini_companion.settings.dotenv import parse_env
from gemini_companion.settings.jsonc import JsonFault, locate, parse
from tests.hostile.timing import cpu_seconds, may_exceed

SIZES: Final = (1 << 11, 1 << 13, 1 << 16)
LIMIT: Final = 1.0
"""Seconds for 64 Ki characters. What is linear takes 1 to 100 ms, what is quadratic seconds to minutes."""

TEXTS: Final = (
    *(
        "<!-- x\n",
        "<example>\n</example>\n",
        "<example>\n",
        "--- DEMO ---\n",
        "```\n",
        "```sh\n$ x\n```\n",
        "~~~",
        "`",
        "`a` ",
    ),
    *(
        "{",
        "[",
        '"',
        "\\",
        '{"a":',
        "[[",
        '["\\ud83d"],',
        "\\ud83d",
        "/*",
        "//\n",
        "data: {}\n\n",
        "1e9",
        "-",
        "\0",
        "\r",
    ),
    *(
        " ",
        "\n",
        "\t",
        " \n",
        "\r\n",
        "a",
        "a ",
        "a\n",
        "é",
        "\u0301",
        "あ",
        "。",
        ".",
        "...",
        "!",
        "? ",
        "a. ",
        "A. b",
    ),
    *(
        "@",
        '@"',
        "@a/",
        "/",
        "a/b.c:1 ",
        "C:\\a",
        "http://",
        "://a:b",
        "token=",
        "password: ",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----\n",
    ),
    *(
        "<state_snapshot>",
        "</state_snapshot>",
        "<scratchpad>",
        "</scratchpad>",
        "<overall_goal>",
        "<",
        "</",
        "< ",
        "&amp;",
    ),
    *(
        "Ann: you must never\n",
        "we decided to use a. ",
        "TODO: x\n",
        "- [x] a\n",
        "- [ ] a\n",
        "Error: x\n",
        "2026-01-01 ERROR a/b:1 [x]\n",
    ),
    *(
        "Content-Length: 1\r\n",
        "Content-Length: 1\r\n\r\n",
        "Content-Length: 99999999999\r\n\r\n",
        "x: ",
        "/compress ",
        "1,",
        "0x",
        "a@b ",
    ),
)
"""What is repeated: openers that are never closed, closers, runs of each kind of character, and what the readers look for."""


def raising(*faults: type[Exception]) -> Callable[[Callable[[str], object]], Callable[[str], None]]:
    def made(work: Callable[[str], object]) -> Callable[[str], None]:
        def run(text: str) -> None:
            with suppress(*faults):
                work(text)

        return run

    return made


def read_frames(text: str) -> None:
    """In pieces, as they come through a pipe."""
    parser, data = FrameParser(), text.encode()
    for start in range(0, len(data), 4_096):
        parser.feed(data[start : start + 4_096])
        while parser.next() is not None:
            pass


def facts(text: str) -> None:
    for role in ("user", "model"):
        facts_of(FactSource(0, Content(role=role, parts=({"text": text},)), 1))  # pyright: ignore[reportArgumentType]
    response: dict[str, Any] = {"functionResponse": {"name": "run_shell_command", "response": {"output": text}}}
    facts_of(FactSource(0, Content(role="user", parts=(response,)), 1))


def read_body(body: bytes) -> None:
    is_too_deep(body, decode_body(body))


READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "frames": read_frames,
    "message": raising(RpcError)(lambda text: read_body(text.encode())),
    "message with the text": raising(RpcError)(lambda text: read_body(b'{"a": "' + text.encode() + b'"}')),
    "settings": raising(JsonFault)(lambda text: locate(text, [("a",)]) if parse(text) else None),
    "variables": parse_env,
    "variables with the text": lambda text: parse_env(f"A={text}\nB='{text}\nC=\"{text}\n"),
    "settings with the text": raising(JsonFault)(lambda text: parse(json.dumps({"a": text}))),
    "session file": raising(InvalidInput)(lambda text: decode_session_file(text.encode(), "a.json")),
    "Gemini CLI session": raising(InvalidInput)(lambda text: decode_session_file(text.encode(), "a.jsonl")),
    "slash command": lambda text: slash_compression(({"text": f"/compress {text}x"},)),
    "mentions": mentions_in,
    "title": one_line,
    "facts": facts,
    "condensed": condensed,
    "sentences": sentences,
    "neutralise": neutralise,
    "snapshot in an answer": read_snapshot,
    "edited snapshot": edited_snapshot,
    "earlier snapshot": read_earlier,
    "secrets": find_secrets,
    "masks": mask_secrets,
    "token count": cut,
    "JSON length": lambda text: json_length(Content(role="user", parts=({"text": text},))),
    "search index": spaced,
    "recall passages": passage_spans,
    "recall index": indexed,
    "recall question": lambda text: parse_query(text * 2),
    "recall excerpt": lambda text: excerpt_around(text, ("retry", "é", "a")),
    "search query": lambda text: conditions(text[:10_000]),
    "excerpt": lambda text: excerpt(text, 400_000),
    "line breaks": count_line_breaks,
    "Unicode": lambda text: well_formed(text).encode(),
    "offline question": read_question,
}


def check(name: str, *, is_thorough: bool) -> None:
    """The longest text is tried where it is thorough, or where the shorter ones say that it may be too much."""
    read = READERS[name]
    for piece in TEXTS:
        for tail in ("", "\0~"):
            known: list[tuple[int, float]] = []
            for size in SIZES:
                if size == SIZES[-1] and not is_thorough and not may_exceed(LIMIT, size, *known):
                    continue
                text = piece * (size // len(piece)) + tail
                cost = cpu_seconds(lambda text=text: read(text), enough=LIMIT)
                known.append((size, cost))
                assert cost < LIMIT, f"{cost:.1f} s for {size} characters of {piece!r}"


@pytest.mark.parametrize("name", READERS)
def test_no_text_seems_to_cost_a_reader_more_than_its_length_says(name: str):
    check(name, is_thorough=False)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_the_worst_text_costs_a_reader_no_more_than_its_length_says(name: str):
    check(name, is_thorough=True)


def slowly(text: str) -> None:
    """What no reader may be: each character is looked for in all that came before it."""
    for end in range(0, len(text), 4):
        text.count("~", 0, end)


def test_a_reader_that_is_quadratic_is_tried_with_the_longest_text():
    costs = [(size, cpu_seconds(lambda size=size: slowly("a" * size))) for size in SIZES[:-1]]
    assert may_exceed(0.25, SIZES[-1] * 16, *costs)
    assert not may_exceed(0.25, SIZES[-1], (1 << 11, 0.0001), (1 << 13, 0.0004))
