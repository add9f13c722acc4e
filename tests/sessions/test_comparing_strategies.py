"""Two strategies compared on real use."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import AttemptEntry, CompressionResult
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.compression.comparison import strategy_of
from gemini_companion.sessions.session import Session
from tests.support.sessions import Studio


def long_history() -> list[Content]:
    return [
        content
        for number in range(20)
        for content in (user_text(f"Question {number}: {'why ' * 200}"), model_text(f"Because of {number}."))
    ]


async def compressed_by_itself(studio: Studio, session: Session) -> StrategyName | None:
    result = (await studio.chat("Go on.", session_id=session.session_id)).compression
    assert result is not None
    assert result.status == "COMPRESSED"
    return result.strategy


async def test_every_other_automatic_compression_takes_the_second_strategy(tmp_path: Path) -> None:
    studio = Studio(tmp_path, compression_threshold=0.0, compression_compare="reserve")
    session = await studio.load(long_history())
    used: list[StrategyName] = []
    for _ in range(4):
        used.append(strategy_of(session, "auto"))
        stamp = session.stamp()
        result = CompressionResult(
            status="COMPRESSION_FAILED_EMPTY_SUMMARY",
            trigger="auto",
            original_token_count=9,
            new_token_count=9,
            token_count_source="estimate",
            model_calls=0,
            duration_ms=0,
            message="",
        )
        await session.append(
            lambda seq, stamp=stamp, result=result: AttemptEntry(
                **stamp, seq=seq, result=result, forced=False, token_count=9
            )
        )
    assert sorted(used[:2]) == ["record", "reserve"]
    assert used == used[:2] * 2


async def test_sessions_do_not_all_begin_with_the_same_strategy(tmp_path: Path) -> None:
    studio = Studio(tmp_path, compression_compare="reserve")
    sessions = [await studio.load(long_history()) for _ in range(20)]
    assert {strategy_of(session, "auto") for session in sessions} == {"record", "reserve"}


async def test_an_automatic_compression_uses_the_strategy_whose_turn_it_is_and_says_so(tmp_path: Path) -> None:
    studio = Studio(tmp_path, compression_threshold=0.0, compression_compare="semantic")
    sessions = [await studio.load(long_history()) for _ in range(8)]
    for session in sessions:
        expected = strategy_of(session, "auto")
        assert await compressed_by_itself(studio, session) == expected


@pytest.mark.parametrize("compare", [None, "reserve"])
async def test_a_compression_on_request_is_never_part_of_the_comparison(
    tmp_path: Path, compare: StrategyName | None
) -> None:
    studio = Studio(tmp_path, compression_compare=compare)
    sessions = [await studio.load(long_history()) for _ in range(8)]
    assert {strategy_of(session, "manual") for session in sessions} == {"record"}
