"""Indexes without texts are undone by saying the same words again: when they become others, the number of the rules has
to rise, so that the indexes are made anew.
"""

from __future__ import annotations

import hashlib

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import PromptEntry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.recall.passages import entry_text, passage_spans
from gemini_companion.engine.recall.words import RULES_OF_WORDS, indexed, spaced
from tests.engine.tokens.measured_texts import SAMPLES

KNOWN = {1: "2a4d081b75641462"}
"""By the number of the rules: a digest of what is indexed of the entries below."""


def entries() -> list[PromptEntry | ReplyEntry | ToolResultEntry]:
    """Prompts in many scripts, long ones, thoughts and calls, results of several shapes."""
    texts = [sample.text for sample in SAMPLES]
    texts += ["camelCase utf8Text went ＦＵＬＬ ① été", "\n".join(texts) * 5, "x" * 5_000, ""]
    call = {"name": "run", "args": {"command": "ls", "deep": [{"a": "b"}, 1, None, "c"]}}
    answers = [{"output": "gone"}, {"error": "no"}, {"other": ["x", {"y": "z"}]}]
    parts = ({"text": "Hm.", "thought": True}, {"text": "So."}, {"functionCall": call})
    results = tuple({"functionResponse": {"name": "run", "response": answer}} for answer in answers)
    return [
        *(_prompt(Content(role="user", parts=({"text": text},))) for text in texts),
        ReplyEntry(id="e", seq=1, time=1, turn_id="t", content=Content(role="model", parts=parts)),
        ToolResultEntry(id="e", seq=1, time=1, turn_id="t", content=Content(role="user", parts=results)),
    ]


def _prompt(content: Content) -> PromptEntry:
    return PromptEntry(id="e", seq=1, time=1, turn_id="t", content=content)


def test_of_entries_those_words_are_indexed_that_the_rules_of_this_number_give() -> None:
    said: list[object] = []
    for entry in entries():
        text = entry_text(entry)
        said += [spaced(text), [indexed(text[start:end]) for start, end in passage_spans(text)]]
    digest = hashlib.sha256(repr(said).encode()).hexdigest()[:16]
    assert KNOWN.get(RULES_OF_WORDS) == digest, (
        f"Other words are indexed now ({digest}): raise `RULES_OF_WORDS`, and note the digest here."
    )
