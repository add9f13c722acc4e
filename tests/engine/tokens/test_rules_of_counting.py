"""Sizes are stored: when contents get others, the number of the rules has to rise, so that the stored ones go."""

from __future__ import annotations

import hashlib

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.tokens.counters import RULES_OF_COUNTING
from gemini_companion.engine.tokens.ledger import TokenLedger
from tests.engine.tokens.measured_texts import SAMPLES

KNOWN = {1: "4dfc76ea0068604f"}
"""By the number of the rules: a digest of the sizes of the contents below."""


def contents() -> list[Content]:
    """Texts in many scripts, a long one, thoughts, calls, results, media of every kind, what nobody knows."""
    texts = [sample.text for sample in SAMPLES]
    media = ["image/png", "application/pdf", "audio/mp3", "audio/wav", "video/mp4", "text/csv", "application/x-other"]
    made = [Content(role="model", parts=({"text": text},)) for text in (*texts, " ".join(texts) * 40)]
    made += [Content(role="model", parts=({"text": text, "thought": True}, {"text": "So."})) for text in texts[:3]]
    made += [Content(role="user", parts=({"inlineData": {"mimeType": kind, "data": "QUJD" * 500}},)) for kind in media]
    made += [Content(role="user", parts=({"fileData": {"mimeType": kind, "fileUri": "gs://x"}},)) for kind in media]
    call = {"id": "c1", "name": "run", "args": {"command": "ls -l", "deep": [1, 2.5, None, True, {"a": "é"}]}}
    response = {"id": "c1", "name": "run", "response": {"output": texts[0]}, "parts": [{"text": texts[0]}]}
    return [
        *made,
        Content(role="model", parts=({"functionCall": call, "thoughtSignature": "abc"},)),
        Content(role="user", parts=({"functionResponse": response}, {"text": "And more."})),
        Content(role="model", parts=({"executableCode": {"language": "PYTHON", "code": "print(1)"}},)),
        Content(role="user"),
    ]


def test_contents_have_the_sizes_that_the_rules_of_this_number_give() -> None:
    ledger = TokenLedger()
    digest = hashlib.sha256(repr([tuple(ledger.measure(content)) for content in contents()]).encode()).hexdigest()[:16]
    assert KNOWN.get(RULES_OF_COUNTING) == digest, (
        f"Contents are counted differently now ({digest}): raise `RULES_OF_COUNTING`, and note the digest here."
    )
