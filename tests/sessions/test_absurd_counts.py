"""Numbers that a provider or an imported log made up: no sequence of them keeps a session from going on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import ContextOverflow, ModelFault, TokenCountFailed
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.events import ContextWindowWillOverflow
from gemini_companion.sessions.models.port import ModelChunk
from tests.support.conversations import dialogue
from tests.support.examples import examples
from tests.support.scripted_model import snapshot_with
from tests.support.sessions import Studio

numbers = st.integers(-(2**63), 2**63) | st.integers(0, 3_000_000) | st.integers(0, 5_000)


def said(prompt_tokens: int, text: str = "Done.") -> ModelChunk:
    usage = Usage(prompt_tokens=prompt_tokens, total_tokens=prompt_tokens)
    return ModelChunk(parts=({"text": text},), finish_reason="STOP", usage=usage)


@given(st.lists(numbers, min_size=1, max_size=6), st.lists(numbers, max_size=8), st.sampled_from([1_048_576, 40_000]))
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_sequence_of_counts_locks_a_session(
    tmp_path: Path, used: list[int], counted: list[int], limit: int
) -> None:
    studio = Studio(tmp_path, token_limit_override=limit)
    session = await studio.load(dialogue(words=60))
    studio.model.count = lambda _: counted[0] if counted else 1_000
    for tokens in used:
        studio.model.streams = [said(tokens)]
        result = await studio.chat("go on")
        assert result.text == "Done."
    studio.model.count = lambda request: len(request.contents) * 1_000
    calls = len(studio.model.main())
    studio.model.counts = [number for number in counted if number > 0]
    await studio.compress()
    await studio.chat("and on")
    assert len(studio.model.main()) == calls + 1
    assert studio.heard.of(ContextWindowWillOverflow) == []
    assert session.token_count(session.choice()).tokens < limit
    await studio.app.close()


async def test_an_absurd_count_neither_compresses_nor_shows(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    before = session.token_count(session.choice()).tokens
    studio.model.streams = [said(10_000_000)]
    await studio.chat("go on")
    assert session.token_count(session.choice()).tokens < before + 1_000
    await studio.chat("and on")
    assert studio.model.kinds() == ["main", "main"]


async def test_counts_that_deny_what_a_compression_saves_do_not_prevent_it(studio: Studio) -> None:
    await studio.load(dialogue(words=60))
    studio.model.counts = [1_500, 4_000]
    result = await studio.compress()
    assert (result.status, result.token_count_source) == ("COMPRESSED", "estimate")


async def test_what_a_failed_compression_counted_is_known_afterwards(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    estimated = session.token_count(session.choice())
    assert estimated.source == "estimate"
    studio.model.default_answer = snapshot_with(" ".join(f"goal {number}" for number in range(30_000)))
    assert (await studio.compress()).status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    known = session.token_count(session.choice())
    assert known.source == "api"
    assert known.tokens == pytest.approx(estimated.tokens * 1.05, rel=0.02)


async def test_a_count_in_an_imported_log_is_not_believed_when_it_is_undone(studio: Studio) -> None:
    session = await studio.load(dialogue(words=60))
    before = session.token_count(session.choice()).tokens
    await studio.compress()
    (entry,) = session.history.in_force.values()
    absurd = msgspec.structs.replace(entry.result, original_token_count=10**15)
    session.history.in_force.add(msgspec.structs.replace(entry, result=absurd))
    result = await undo(session, client="c")
    assert result.new_token_count == pytest.approx(before, rel=0.1)
    assert (await studio.chat("go on")).text == "Done. "


# --- refusing a prompt


def words(count: int) -> str:
    return "word " * count


async def test_a_prompt_is_sent_when_the_provider_counts_that_it_fits(studio: Studio) -> None:
    studio.set(token_limit_override=3_000, compression_threshold=1.0)
    studio.model.counts = [2_999]
    assert (await studio.chat(words(3_000))).text == "Done. "
    assert len(studio.model.main()) == 1


@pytest.mark.parametrize("answer", [3_001, 10**12, ContextOverflow("too large")])
async def test_a_prompt_is_refused_when_estimate_and_provider_say_that_it_does_not_fit(
    studio: Studio, answer: int | ModelFault
) -> None:
    studio.set(token_limit_override=3_000, compression_threshold=1.0)
    studio.model.counts = [answer]
    assert (await studio.chat(words(3_000))).stopped == "contextWindowWillOverflow"
    assert studio.model.main() == []


async def test_where_the_provider_does_not_count_it_decides_itself(studio: Studio) -> None:
    studio.set(token_limit_override=3_000, compression_threshold=1.0)
    studio.model.counts = [TokenCountFailed("no such method")]
    assert (await studio.chat(words(3_000))).text == "Done. "


async def test_a_prompt_of_twice_the_window_is_not_even_counted(studio: Studio) -> None:
    studio.set(token_limit_override=3_000, compression_threshold=1.0)
    asked: list[Any] = []
    studio.model.count = lambda request: asked.append(request) or 1
    assert (await studio.chat(words(9_000))).stopped == "contextWindowWillOverflow"
    assert asked == []
