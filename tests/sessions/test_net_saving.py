"""Fifty turns with a provider that caches prefixes: compressing saves tokens, or does not happen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.tokens.rates import ASSUMED, rates_of
from gemini_companion.sessions.compression_events import ChatCompressed
from tests.support.prefix_cache import Caching
from tests.support.sessions import Studio

TURNS = 50
RATES = rates_of("gemini-2.5-pro") or ASSUMED

SCRIPTS: dict[str, list[int]] = {
    "steady": [300] * TURNS,
    "slow": [40] * TURNS,
    "one large paste at the beginning": [6_000, *[60] * (TURNS - 1)],
    "one large paste late": [*[60] * 40, 6_000, *[60] * 9],
    "growing": [20 * number for number in range(1, TURNS + 1)],
    "bursts": [900 if number % 10 < 2 else 30 for number in range(TURNS)],
}
"""Words of each prompt."""

FULL = 0.8
"""Share of the window that a script fills without compression: past the threshold, and below the hard mark."""


async def run(path: Path, words: list[int], *, caches: bool, **settings: Any) -> tuple[int, int, int]:
    """What the script costs, how often it was compressed, and the tokens at the end."""
    studio = Studio(path, **settings)
    cache = Caching(studio, works=caches)
    studio.model.default_stream = "fine " * 20
    for number, count in enumerate(words):
        await studio.chat(f"question {number} " + "word " * count)
    session = await studio.session()
    tokens = session.token_count(session.choice()).tokens
    compressed = len(studio.heard.of(ChatCompressed))
    await studio.app.close()
    return cache.price(studio, RATES), compressed, tokens


@pytest.mark.parametrize("caches", [True, False], ids=["caching", "not caching"])
@pytest.mark.parametrize("name", SCRIPTS)
async def test_fifty_turns_cost_less_with_compression_or_are_not_compressed(
    tmp_path: Path, name: str, caches: bool
) -> None:
    words = SCRIPTS[name]
    without, _, tokens = await run(tmp_path / "off", words, caches=caches, compression_mode="off")
    window = round(tokens / FULL)
    with_it, compressed, _ = await run(tmp_path / "auto", words, caches=caches, token_limit_override=window)
    print(f"{name}: {without - with_it:+,} tokens net of {without:,}, compressed {compressed} times")
    assert with_it < without or compressed == 0
